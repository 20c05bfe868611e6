//! The mounts by which a command has its session's temp in the place of the person's.
//!
//! Nothing of the person's temp is left but what the leash names: the workspace where it lies there, and what a setting shares. What may
//! only be read is mounted to be read only: a rule of Landlock for temp holds for everything below it. `/dev/shm` is the command's
//! alone. The folder of the session may hold whatever earlier commands put there, so no link in it is followed.

use super::{Leash, TEMP_PLACES};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, open, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount as mount_new, mount_bind_recursive};
use std::collections::BTreeMap;
use std::io::Result;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

/// Memory that programs share by name.
const MEMORY: &str = "/dev/shm";
const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Something of the person's temp that a command has all the same.
struct Kept {
    source: OwnedFd,
    folder: bool,
    writable: bool,
}

/// Puts the session's temp in the place of the person's, and back what the leash names of that.
pub(super) fn mount(leash: &Leash, temp: &Path) -> Result<()> {
    // Opened before anything is mounted over them.
    let mut own = Vec::new();
    for (place, name) in TEMP_PLACES {
        let Ok(place) = Path::new(place).canonicalize() else { continue };
        // Where a person shares all of it, or one is a link to the other, there is nothing to do.
        if !shared_whole(leash, &place) && !own.iter().any(|(_, known)| *known == place) {
            own.push((crate::exact::handle(&temp.join(name))?, place));
        }
    }
    let kept = kept(leash, &own);
    for (source, place) in &own {
        mount_bind_recursive(by_handle(source), place)?;
    }
    // The outer ones come first.
    for (place, found) in &kept {
        let at = match kept.keys().any(|outer| outer != place && place.starts_with(outer)) {
            true => crate::exact::handle(place)?,
            false => mount_point(place, found.folder, &own)?,
        };
        mount_bind_recursive(by_handle(&found.source), by_handle(&at))?;
        if !found.writable {
            super::private::lock(place)?;
        }
    }
    if !shared_whole(leash, Path::new(MEMORY)) && Path::new(MEMORY).is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount_new("tmpfs", MEMORY, "tmpfs", flags, c"mode=1777")?;
    }
    Ok(())
}

/// What commands call a path of the session's temp.
pub(super) fn named(temp: &Path, path: &Path) -> Option<PathBuf> {
    let name =
        |(place, name): &(&str, &str)| Some(Path::new(place).join(path.strip_prefix(temp.join(name)).ok()?));
    TEMP_PLACES.iter().find_map(name)
}

/// What one who only looks may read of it: all that the session's commands made there, nothing of what is mounted in it.
pub(super) fn granted(leash: &Leash) -> Vec<PathBuf> {
    let mounted: Vec<PathBuf> = named_places(leash).cloned().collect();
    let own = TEMP_PLACES.iter().filter_map(|(place, _)| Path::new(place).canonicalize().ok());
    own.filter(|place| !shared_whole(leash, place))
        .flat_map(|place| super::reading::around(&place, &mounted))
        .collect()
}

fn named_places(leash: &Leash) -> impl Iterator<Item = &PathBuf> {
    leash.writable.iter().chain(&leash.readable).chain(&leash.home)
}

/// Whether a path names something of the session's temp and not of the person's.
pub(super) fn is_own(leash: &Leash, path: &Path) -> bool {
    let places = TEMP_PLACES.iter().filter_map(|(place, _)| Path::new(place).canonicalize().ok());
    let mut replaced = places.filter(|place| leash.temp.is_some() && !shared_whole(leash, place));
    replaced.any(|place| path.starts_with(place)) && !named_places(leash).any(|named| path.starts_with(named))
}

fn shared_whole(leash: &Leash, place: &Path) -> bool {
    leash.writable.iter().any(|shared| place.starts_with(shared))
}

/// What the leash names of the person's temp, and where we stand: whoever runs a command there was asked.
fn kept(leash: &Leash, own: &[(OwnedFd, PathBuf)]) -> BTreeMap<PathBuf, Kept> {
    let in_temp = |place: &PathBuf| own.iter().any(|(_, temp)| place.starts_with(temp) && place != temp);
    let here = std::env::current_dir().ok();
    let found = named_places(leash).cloned().chain(here).filter(in_temp).filter_map(|place| {
        let source = crate::exact::handle(&place).ok()?;
        let kind = FileType::from_raw_mode(fstat(&source).ok()?.st_mode);
        let folder = kind == FileType::Directory;
        let writable = leash.writable.iter().any(|open| place.starts_with(open));
        // A link has taken the place of what was named: it cannot be mounted, and what it leads to was not named.
        (kind != FileType::Symlink).then_some((place, Kept { source, folder, writable }))
    });
    found.collect()
}

/// The kernel's name for what is open.
pub(super) fn by_handle(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

/// Something to mount on at a path of temp. What commands left in the way of it goes.
fn mount_point(place: &Path, folder: bool, own: &[(OwnedFd, PathBuf)]) -> Result<OwnedFd> {
    let temp = own.iter().map(|(_, temp)| temp).find(|temp| place.starts_with(temp));
    let top = temp.map_or(Path::new("/"), PathBuf::as_path);
    let mut here = open(top, STEP | OFlags::DIRECTORY, Mode::empty())?;
    let mut names = place.strip_prefix(top).unwrap_or(place).iter().peekable();
    while let Some(name) = names.next() {
        let wanted =
            if folder || names.peek().is_some() { FileType::Directory } else { FileType::RegularFile };
        let found = statat(&here, name, AtFlags::SYMLINK_NOFOLLOW);
        if found.map(|found| FileType::from_raw_mode(found.st_mode)) != Ok(wanted) {
            let _ = unlinkat(&here, name, AtFlags::empty());
            let new = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let made = match wanted {
                FileType::Directory => mkdirat(&here, name, Mode::RWXU),
                _ => openat(&here, name, new, Mode::RUSR).map(drop),
            };
            // Another command of the session may begin at the same moment.
            made.or_else(|why| if why == Errno::EXIST { Ok(()) } else { Err(why) })?;
        }
        let kind = if wanted == FileType::Directory { OFlags::DIRECTORY } else { OFlags::empty() };
        here = openat(&here, name, STEP | kind, Mode::empty())?;
    }
    Ok(here)
}
