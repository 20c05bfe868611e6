//! Places that can be seen a second time: where a mount shows a folder, or a part of it, under another path.
//!
//! Names only, read from the kernel's list of mounts. Whether two paths are the same place is decided by the file system itself.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Mounts that are looked at; a machine with more has them made by programs, of files that are nobody's secrets.
const MAX_MOUNTS: usize = 8192;
/// The list for this very thread, which may have a view of its own.
const LIST: &str = "/proc/thread-self/mountinfo";

/// What makes a file or folder the same one, whatever it is called.
pub(crate) fn identity(place: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(place).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// A part of a file system, and where it can be seen.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: OsString,
    part: PathBuf,
    at: PathBuf,
}

/// Whether something is mounted at a folder or below it; yes where that cannot be told.
pub(crate) fn mounted_below(folder: &Path) -> bool {
    let Ok(list) = std::fs::read(LIST) else { return true };
    read(&list).iter().any(|mount| mount.at.starts_with(folder))
}

/// Where else these places, or parts of them, can be seen.
pub(super) fn again(places: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mounts = read(&std::fs::read(LIST).unwrap_or_default());
    let seen = places.iter().flat_map(|place| others(place, &mounts));
    let same = |(source, other): &(PathBuf, PathBuf)| {
        source != other && identity(other).is_some_and(|found| identity(source) == Some(found))
    };
    seen.filter(same).map(|(_, other)| other).filter(|other| !places.contains(other)).collect()
}

/// Pairs of the place, or of something in it, and where a mount may show that.
fn others(place: &Path, mounts: &[Mount]) -> Vec<(PathBuf, PathBuf)> {
    // What was mounted last on the same place is what is seen.
    let holding = mounts.iter().filter(|mount| place.starts_with(&mount.at));
    let Some(holding) = holding.max_by_key(|mount| mount.at.as_os_str().len()) else { return Vec::new() };
    let Ok(below) = place.strip_prefix(&holding.at) else { return Vec::new() };
    let inner = holding.part.join(below);
    let shown = |mount: &Mount| match (inner.strip_prefix(&mount.part), mount.part.strip_prefix(&inner)) {
        (Ok(rest), _) => Some((place.to_owned(), joined(&mount.at, rest))),
        (_, Ok(rest)) => Some((joined(place, rest), mount.at.clone())),
        _ => None,
    };
    mounts.iter().filter(|mount| mount.device == holding.device).filter_map(shown).collect()
}

/// Without the slash that joining nothing leaves behind.
fn joined(place: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { place.to_owned() } else { place.join(rest) }
}

/// Reads the list: number, parent, device, part, place, and more that is not needed.
fn read(list: &[u8]) -> Vec<Mount> {
    let mount = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let mut next = || fields.next().map(unescaped);
        Some(Mount { device: next()?, part: next()?.into(), at: next()?.into() })
    };
    list.split(|byte| *byte == b'\n').take(MAX_MOUNTS).filter_map(mount).collect()
}

/// Spaces and the like are written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|code| std::str::from_utf8(code).ok());
        match digits.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_below_a_folder_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        assert!(mounted_below(Path::new("/")));
        assert!(!mounted_below(&folder.path().canonicalize().unwrap()) || !Path::new(LIST).exists());
    }

    #[test]
    fn a_place_is_found_wherever_a_mount_shows_it_or_a_part_of_it() {
        let list = br"21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
22 21 8:2 / /home rw - ext4 /dev/sda2 rw
23 21 8:2 /u /opt/a\040home rw - ext4 /dev/sda2 rw
24 21 8:2 /u/.ssh/keys /srv/keys rw - ext4 /dev/sda2 rw
25 21 8:1 /u /wrong rw - ext4 /dev/sda1 rw
26 21 8:2 /other /else rw - ext4 /dev/sda2 rw
";
        let found = others(Path::new("/home/u/.ssh"), &read(list));
        let found: Vec<_> =
            found.iter().map(|(one, two)| (one.to_str().unwrap(), two.to_str().unwrap())).collect();
        let wanted = [
            ("/home/u/.ssh", "/home/u/.ssh"),
            ("/home/u/.ssh", "/opt/a home/.ssh"),
            ("/home/u/.ssh/keys", "/srv/keys"),
        ];
        assert_eq!(found, wanted);
    }

    /// In a view of this thread's own, which only root gets without more.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_real_mount_shows_it_again() {
        use nix::sched::{CloneFlags, unshare};
        use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["home/.ssh", "again", "hidden/.ssh"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        let places = BTreeSet::from([base.join("home/.ssh")]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(again(&places), Vec::<PathBuf>::new());
                if unshare(CloneFlags::CLONE_NEWNS).is_err() {
                    return;
                }
                mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
                mount_bind(base.join("home"), base.join("again")).unwrap();
                assert_eq!(again(&places), [base.join("again/.ssh")]);
                // What lies over it now is another place.
                mount_bind(base.join("hidden"), base.join("again")).unwrap();
                assert_eq!(again(&places), Vec::<PathBuf>::new());
            });
        });
    }
}
