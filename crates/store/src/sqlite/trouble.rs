//! What SQLite and the file system say, in our words.

use crate::StoreError;
use rusqlite::{Error, ErrorCode};
use std::io;
use std::path::Path;

/// An error of SQLite about the file at `path`.
pub(super) fn sqlite(path: &Path, error: &Error) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            StoreError::ReadOnly { path }
        }
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, detail },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
        _ if is_lock(error) => StoreError::Locked { path },
        _ if is_damage(error) => StoreError::Corrupt { path, detail },
        // SQLite has no other word for a shared file that it could not make for want of room.
        Some(ErrorCode::SystemIoFailure) if is_full(&path) => StoreError::Full { path },
        _ => StoreError::Disk { path, detail },
    }
}

/// Whether another program holds the lock that it takes.
pub(super) fn is_lock(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Less room than this is none: what SQLite needs beside a store before it reads anything.
const NO_ROOM: u64 = 64 * 1024;

/// Whether the disk that a file lies on has no room for what SQLite puts beside it.
#[cfg(unix)]
pub(super) fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < NO_ROOM)
}

/// Elsewhere than on Unix nobody is asked how much room is left.
#[cfg(not(unix))]
pub(super) fn is_full(_path: &Path) -> bool {
    false
}

/// A store of which only the log is left.
pub(super) fn orphaned(path: &Path) -> StoreError {
    let path = super::place::real(path);
    let what = match std::fs::metadata(&path) {
        Ok(found) if found.len() == 0 => "it is empty",
        Ok(_) => "only its first bytes are left",
        Err(_) => "it is gone",
    };
    let detail = format!("{what}, while its log ({}) is there", super::pages::log_path(&path).display());
    StoreError::Corrupt { path, detail }
}

/// An error of the file system about `path`.
pub(super) fn io(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        _ => StoreError::Disk { path, detail: error.to_string() },
    }
}

/// Whether a page of the file is damaged, or holds what cannot stand there: what was read before is still good.
pub(super) fn is_damage(error: &Error) -> bool {
    match error {
        Error::Utf8Error(..)
        | Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..) => true,
        Error::SqliteFailure(failure, said) if failure.code == ErrorCode::Unknown => {
            said.as_deref().is_some_and(|said| OUT_OF_SHAPE.iter().any(|begin| said.starts_with(begin)))
        }
        other => other.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt),
    }
}

/// How SQLite begins to say that the tables are not as we made them, for which it has no code.
const OUT_OF_SHAPE: &[&str] = &[
    "invalid fts5 file format",
    "fts5:",
    "vtable constructor failed",
    "unsupported file format",
    "no such table",
    "no such column",
    "no such index",
];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_failure_on_a_disk_without_room_is_told_as_that() {
        let failed =
            || Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_SHMSIZE), None);
        // No file system has less room than this one.
        let full = sqlite(Path::new("/proc/sessions.db"), &failed());
        assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
        let place = tempfile::tempdir().expect("a place");
        let other = sqlite(&place.path().join("sessions.db"), &failed());
        assert!(matches!(other, StoreError::Disk { .. }), "{other:?}");
    }
}
