//! Temp of a session's own: the folders that its commands have in the place of `/tmp` and `/var/tmp`, where they have a view of the file
//! system of their own.
//!
//! Made when it is first needed, kept from one command to the next, and gone with the last handle; what a process that was killed left
//! behind goes when the next session makes one. Tools that name a path in temp mean the same files as commands do, so here is also
//! which file that is. What it is not: the mounts, which a guard makes (`sandbox/own_temp.rs`), and a bound on what is written there.

use crate::sandbox::{Guard, TEMP_PLACES};
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, open, openat, renameat, unlinkat};
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// How the folders are called, before what makes each another.
const PREFIX: &str = "parlor-temp-";
/// How often it is tried: another process may take a new folder for one that was left behind.
const MAX_TRIES: usize = 8;
/// Folders of others that are looked at when one is made.
const MAX_LEFT: usize = 256;
/// Folders within each other that are open at once while temp is taken away.
const MAX_DEPTH: usize = 64;
/// As everybody knows it from temp.
const MODE: u32 = 0o1777;

/// Whether a path is named as one of temp.
pub(crate) fn is_in(path: &Path) -> bool {
    TEMP_PLACES.iter().any(|(place, _)| path.starts_with(place))
}

/// Temp of a session. Cheap to clone; clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Temp(Arc<TempState>);

#[derive(Debug)]
struct TempState {
    guard: Guard,
    /// Where it is made unless the guard says otherwise.
    usual: PathBuf,
    made: OnceLock<std::result::Result<TempFolder, String>>,
}

/// A folder that is there, with one for each of the places.
#[derive(Debug)]
struct TempFolder {
    folder: PathBuf,
    /// Locked for as long as somebody uses it.
    held: OwnedFd,
}

impl Temp {
    /// Not made yet.
    pub(crate) fn new(guard: Guard, usual: &Path) -> Temp {
        Temp(Arc::new(TempState { guard, usual: usual.to_owned(), made: OnceLock::new() }))
    }

    /// The folder, made now if it was not; `None` where commands have no view of their own and share the person's temp.
    ///
    /// # Errors
    /// When there is nowhere to make it.
    pub(crate) fn make(&self) -> Result<Option<&Path>> {
        if self.0.guard.namespaces().is_err() {
            return Ok(None);
        }
        let make = || {
            let within = self.0.guard.temps().unwrap_or(&self.0.usual);
            // Work goes on where nothing can be kept.
            let made = TempFolder::within(within).or_else(|_| TempFolder::within(&std::env::temp_dir()));
            made.map_err(|why| format!("no temp folder can be made in {}: {why}", within.display()))
        };
        let made = self.0.made.get_or_init(make).as_ref();
        made.map(|made| Some(made.folder.as_path())).map_err(|why| Error::other(why.clone()))
    }

    fn folder(&self) -> Option<&Path> {
        self.0.made.get()?.as_ref().ok().map(|made| made.folder.as_path())
    }

    /// Whether a resolved path lies in it.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.folder().is_some_and(|folder| path.starts_with(folder))
    }

    /// The file that commands find at a path of temp, which has no `..`; `None` for every other path, and while there is no folder.
    pub(crate) fn behind(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folder()?;
        let inner =
            |(place, name): &(&str, &str)| Some(folder.join(name).join(path.strip_prefix(place).ok()?));
        TEMP_PLACES.iter().find_map(inner).map(|path| path.components().collect())
    }

    /// What commands call a path in it; `None` for every other path.
    pub(crate) fn name_of(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folder()?;
        let named = |(place, name): &(&str, &str)| {
            Some(Path::new(place).join(path.strip_prefix(folder.join(name)).ok()?))
        };
        TEMP_PLACES.iter().find_map(named).map(|path| path.components().collect())
    }
}

impl TempFolder {
    fn within(within: &Path) -> Result<TempFolder> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(within)?;
        let within = within.canonicalize()?;
        clear_left(&within);
        for _ in 0..MAX_TRIES {
            // What lies in it is open to everybody, as temp is; the folder around it, to nobody else.
            let own = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(&within)?;
            let Some(held) = hold(own.path()) else { continue };
            // Whoever took it for one that was left behind had it before.
            let is_ours = own.path().metadata().is_ok_and(|now| {
                rustix::fs::fstat(&held)
                    .is_ok_and(|ours| (ours.st_dev, ours.st_ino) == (now.dev(), now.ino()))
            });
            if !is_ours {
                continue;
            }
            for (_, name) in TEMP_PLACES {
                let place = own.path().join(name);
                std::fs::create_dir(&place)?;
                std::fs::set_permissions(&place, Permissions::from_mode(MODE))?;
            }
            return Ok(TempFolder { folder: own.keep(), held });
        }
        Err(Error::other("others delete it as soon as it is made"))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        clear(&self.held);
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Opens a folder and locks it; `None` where somebody else has it.
fn hold(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(folder, flags, Mode::empty()).ok()?;
    flock(&opened, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(opened)
}

/// Takes away what processes left behind that were killed.
fn clear_left(within: &Path) {
    let user = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(within).into_iter().flatten().flatten();
    let left = entries.filter(|entry| entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()));
    for entry in left.take(MAX_LEFT) {
        let path = entry.path();
        // Where others may write, theirs are not ours to take away.
        let is_ours = path.symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == user);
        if let Some(held) = is_ours.then(|| hold(&path)).flatten() {
            clear(&held);
            let _ = std::fs::remove_dir(&path);
        }
    }
}

/// Takes away all that lies in a folder, whatever commands made of it: folders that are shut, or deeper than any path is long. No link is
/// followed, and few files are open: what lies very deep is moved up and dealt with there. What does not go stays.
fn clear(top: &OwnedFd) {
    let mut moved = 0_u64;
    loop {
        let before = moved;
        let gone = names(top).iter().filter(|name| take_away(top, top, name, 0, &mut moved)).count();
        if gone == 0 && moved == before {
            return;
        }
    }
}

/// Takes away a file or a folder; whether it is gone.
fn take_away(top: &OwnedFd, above: &OwnedFd, name: &OsStr, depth: usize, moved: &mut u64) -> bool {
    if unlinkat(above, name, AtFlags::empty()).is_ok() {
        return true;
    }
    // Also to move a folder takes the right to write in it.
    let Ok(folder) = open_shut(above, name) else { return false };
    if depth > MAX_DEPTH {
        *moved += 1;
        return renameat(above, name, top, format!("{PREFIX}{moved}")).is_ok();
    }
    for inner in names(&folder) {
        take_away(top, &folder, &inner, depth + 1, moved);
    }
    unlinkat(above, name, AtFlags::REMOVEDIR).is_ok()
}

/// Opens a folder of another, also where a command shut it to its owner.
fn open_shut(above: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    crate::tree::open_up(&openat(above, name, flags | OFlags::PATH, Mode::empty())?)?;
    Ok(openat(above, name, flags | OFlags::RDONLY, Mode::empty())?)
}

/// What lies in a folder.
fn names(folder: &OwnedFd) -> Vec<OsString> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = openat(folder, ".", flags, Mode::empty()).and_then(Dir::new);
    let named = listed.into_iter().flatten().flatten();
    let named = named.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    named.filter(|name| !matches!(name.as_bytes(), b"." | b"..")).collect()
}
