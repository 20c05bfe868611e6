//! Looks at the place of a store before it is opened: is there a file that may be read, nothing, or something else?
//!
//! Always: nothing is opened. So nothing waits (opening a pipe would, for a writer), and no lock that SQLite has on the file is lost.

use super::pages::log_path;
use crate::StoreError;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// How many links are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Whether there is a file at `path`; `false` when nothing is there.
///
/// # Errors
/// When it, or the log beside it, may not be read or is no file, or its folder may not be entered or is no folder.
pub(super) fn is_there(path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        Ok(found) => {
            is_readable_file(path, &found)?;
            let log = log_path(path);
            if let Ok(found) = fs::metadata(&log) {
                is_readable_file(&log, &found)?;
            }
            Ok(true)
        }
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(false),
            io::ErrorKind::NotADirectory => Err(StoreError::NotAFolder { path: nearest(path) }),
            io::ErrorKind::PermissionDenied => Err(unreadable(&nearest(path))),
            _ => Err(StoreError::Disk { path: path.to_owned(), detail: error.to_string() }),
        },
    }
}

/// The nearest folder above `path` that can be seen. Where something below it cannot, it is the one that hides it; links are followed, for
/// the folder that a link lies in hides nothing.
pub(super) fn nearest(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let (above, below) = seen_and_unseen(&path);
        match fs::read_link(&below) {
            Ok(target) => path = above.join(target).join("."),
            Err(_) => return above,
        }
    }
    path
}

/// The lowest part of a path that can be seen, and the next one below it.
fn seen_and_unseen(path: &Path) -> (PathBuf, PathBuf) {
    let mut below = path;
    for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        if fs::metadata(above).is_ok() {
            return (above.to_owned(), below.to_owned());
        }
        below = above;
    }
    (PathBuf::from("."), below.to_owned())
}

fn is_readable_file(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    if !found.is_file() {
        return Err(StoreError::NotAFile { path: path.to_owned(), what: kind(found) });
    }
    if may_read(path) { Ok(()) } else { Err(unreadable(path)) }
}

fn unreadable(path: &Path) -> StoreError {
    let owner = fs::metadata(path).ok().and_then(|found| owner(&found));
    StoreError::Unreadable { path: path.to_owned(), owner: owner.unwrap_or_default() }
}

#[cfg(unix)]
fn may_read(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(not(unix))]
fn may_read(_path: &Path) -> bool {
    true
}

/// Whose it is, in words that follow a colon.
#[cfg(unix)]
fn owner(found: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    Some(match found.uid() {
        mine if mine == rustix::process::getuid().as_raw() => {
            format!("it is yours, but its mode is {:04o}", found.mode() & 0o7777)
        }
        0 => "it belongs to root".to_owned(),
        other => format!("it belongs to user {other}"),
    })
}

#[cfg(not(unix))]
fn owner(_found: &Metadata) -> Option<String> {
    None
}

#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "something else" }
}
