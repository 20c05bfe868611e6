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
