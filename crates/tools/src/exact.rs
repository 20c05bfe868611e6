//! Files at exactly the path that was judged: no link is followed on the way to them.
//!
//! A path is resolved and judged first and used later. A command that runs meanwhile may put a link in the place of any folder of the
//! workspace; opening the path by its name would then lead somewhere else. Here each folder is opened from the one
//! above it, and a link on the way is an error. Paths must be resolved: absolute, without `..`, every link followed.

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

/// How often another name is tried for a file that is still being written.
const MAX_TRIES: u32 = 100;

/// How a folder on the way is opened: only to go on from there, where the system knows such a thing.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY;

/// A place for a file: its folder, held open, and its name there.
pub(crate) struct Spot {
    folder: OwnedFd,
    name: OsString,
}

/// Whether folders that are missing on the way are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fails,
    IsMade,
}

impl Spot {
    /// The place that a path names. Its folder must be there.
    pub(crate) fn find(path: &Path) -> io::Result<Spot> {
        Spot::reach(path, Missing::Fails)
    }

    /// The same; its folder is made where it is missing.
    pub(crate) fn make(path: &Path) -> io::Result<Spot> {
        Spot::reach(path, Missing::IsMade)
    }

    fn reach(path: &Path, missing: Missing) -> io::Result<Spot> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        Ok(Spot { folder: folder(above, STEP, missing)?, name: name.to_owned() })
    }

    /// Opens the file to be read. A pipe that nobody writes to keeps nobody waiting.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?.into())
    }

    /// Puts a file with this content there in one step, in the place of what is there. `still` is asked in the last moment.
    pub(crate) fn put<E>(
        &self,
        content: &[u8],
        permissions: Option<Permissions>,
        still: impl FnOnce(&Spot) -> Result<(), E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<(), E> {
        let (beside, mut file) = self.beside().map_err(&failed)?;
        let written = (|| {
            file.write_all(content).map_err(&failed)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions).map_err(&failed)?;
            }
            file.sync_all().map_err(&failed)?;
            still(self)?;
            renameat(&self.folder, &beside, &self.folder, &self.name).map_err(|error| failed(error.into()))
        })();
        if written.is_err() {
            let _ = unlinkat(&self.folder, &beside, AtFlags::empty());
        }
        written
    }

    /// A new file in the same folder, with a name that nobody has.
    fn beside(&self) -> io::Result<(OsString, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for number in 0..MAX_TRIES {
            let name = OsString::from(format!(".parlor-{}-{number}", std::process::id()));
            // The user's umask takes away from this.
            match openat(&self.folder, &name, flags, Mode::from_raw_mode(0o666)) {
                Err(Errno::EXIST) => {}
                opened => return Ok((name, opened?.into())),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Whether anything is there, also a link that leads nowhere.
    pub(crate) fn is_there(&self) -> bool {
        self.check().is_ok()
    }

    /// The same, with what the system says when it is not.
    pub(crate) fn check(&self) -> io::Result<()> {
        statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(())
    }

    /// What the system says of whatever is there.
    pub(crate) fn metadata(&self) -> io::Result<std::fs::Metadata> {
        let flags = STEP | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        File::from(openat(&self.folder, &self.name, flags, Mode::empty())?).metadata()
    }

    /// Where a link leads that is there.
    pub(crate) fn link(&self) -> io::Result<OsString> {
        let target = readlinkat(&self.folder, &self.name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Puts a link there in one step, in the place of a file or link.
    pub(crate) fn put_link(&self, target: &Path) -> io::Result<()> {
        for number in 0..MAX_TRIES {
            let beside = OsString::from(format!(".parlor-{}-{number}", std::process::id()));
            match symlinkat(target, &self.folder, &beside) {
                Err(Errno::EXIST) => continue,
                made => made?,
            }
            let moved = renameat(&self.folder, &beside, &self.folder, &self.name);
            if moved.is_err() {
                let _ = unlinkat(&self.folder, &beside, AtFlags::empty());
            }
            return Ok(moved?);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Takes a file or link away.
    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Takes an empty folder away.
    pub(crate) fn remove_folder(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Makes a folder, unless one is there.
    pub(crate) fn make_folder(&self) -> io::Result<()> {
        match mkdirat(&self.folder, &self.name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => self.opened_folder().map(drop),
            made => Ok(made?),
        }
    }

    /// Sets the permissions of a folder that is there.
    pub(crate) fn set_folder_mode(&self, mode: u32) -> io::Result<()> {
        File::from(self.opened_folder()?).set_permissions(Permissions::from_mode(mode))
    }

    fn opened_folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?)
    }

    /// What the permissions of the file are, if it is there.
    pub(crate) fn permissions(&self) -> Option<Permissions> {
        let found = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Permissions::from_mode(found.st_mode & 0o7777))
    }
}

/// Opens the file at a path to be read.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    Spot::find(path)?.open()
}

/// Copies a file, with its permissions, to exactly this path, in the place of a file that is there. Folders that are missing are made.
///
/// # Errors
/// When a link stands on the way, or the system says no.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let permissions = source.metadata()?.permissions();
    let spot = Spot::make(to)?;
    let (beside, mut file) = spot.beside()?;
    let copied = io::copy(&mut source, &mut file)
        .and_then(|_| file.set_permissions(permissions))
        .and_then(|()| Ok(renameat(&spot.folder, &beside, &spot.folder, &spot.name)?));
    if copied.is_err() {
        let _ = unlinkat(&spot.folder, &beside, AtFlags::empty());
    }
    copied
}

/// A handle on whatever is at a path, good for nothing but naming it to the kernel.
#[cfg(target_os = "linux")]
pub(crate) fn handle(path: &Path) -> io::Result<OwnedFd> {
    if path.parent().is_none() {
        return folder(path, STEP, Missing::Fails);
    }
    let spot = Spot::find(path)?;
    Ok(openat(&spot.folder, &spot.name, STEP | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a folder that is exactly this one: no link on the way is followed.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    folder(path, OFlags::RDONLY, Missing::Fails)
}

/// A handle of a folder, which needs no right to list it; no link is followed on the way.
#[cfg(target_os = "linux")]
pub(crate) fn folder_handle(path: &Path) -> io::Result<OwnedFd> {
    folder(path, STEP, Missing::Fails)
}

fn folder(path: &Path, last: OFlags, missing: Missing) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let names: Vec<&OsStr> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let how = |at: usize| flags | if at == names.len() { last } else { STEP };
    let mut here = openat(CWD, "/", how(0), Mode::empty())?;
    for (at, name) in names.iter().enumerate() {
        here = match openat(&here, *name, how(at + 1), Mode::empty()) {
            Err(Errno::NOENT) if missing == Missing::IsMade => {
                match mkdirat(&here, *name, Mode::from_raw_mode(0o777)) {
                    // Somebody else was quicker.
                    Err(Errno::EXIST) => {}
                    made => made?,
                }
                openat(&here, *name, how(at + 1), Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok(here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_is_followed_wherever_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("secret/deep")).unwrap();
        std::fs::write(base.join("secret/deep/key"), "SECRET").unwrap();
        std::fs::create_dir(base.join("work")).unwrap();
        symlink(base.join("secret"), base.join("work/d")).unwrap();
        symlink(base.join("secret/deep/key"), base.join("work/key")).unwrap();
        for path in ["work/key", "work/d/deep/key"] {
            assert!(open(&base.join(path)).is_err(), "{path}");
        }
        assert!(open_folder(&base.join("work/d")).is_err());
        assert!(open_folder(&base.join("work/d/deep")).is_err());
        assert!(Spot::make(&base.join("work/d/new/x")).is_err());
        assert!(!base.join("secret/new").exists());
        assert!(open(&base.join("secret/deep/key")).is_ok());
    }

    #[test]
    fn a_file_is_put_in_one_step_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let spot = Spot::make(&base.join("a/b/c")).unwrap();
        spot.put(b"one", Some(Permissions::from_mode(0o640)), |_| Ok(()), |error| error).unwrap();
        assert_eq!(spot.permissions().unwrap().mode(), 0o640);
        assert!(spot.put(b"two", None, |_| Err(io::ErrorKind::Other.into()), |error| error).is_err());
        assert_eq!(std::fs::read_to_string(base.join("a/b/c")).unwrap(), "one");
        assert_eq!(std::fs::read_dir(base.join("a/b")).unwrap().count(), 1);
    }
}
