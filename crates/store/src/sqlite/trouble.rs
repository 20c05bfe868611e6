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
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        _ if is_damage(error) => StoreError::Corrupt { path, detail },
        _ => StoreError::Disk { path, detail },
    }
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
        other => other.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt),
    }
}
