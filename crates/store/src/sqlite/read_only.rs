//! Reading a store that cannot, or must not, be written: nothing in the file or its log is changed.
//!
//! SQLite reads a file that is shared through a small file beside it. Where that cannot be made (a folder that nothing can be written to),
//! a file without a log is read as one that does not change, and one with a log is put together in memory.

use super::pages::{Pages, is_orphaned, log_path};
use super::{schema, trouble};
use crate::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// How long a reader waits for a lock; readers seldom meet one.
const PATIENCE: Duration = Duration::from_millis(500);
/// The largest store that is put together in memory.
const MAX_IN_MEMORY: u64 = 256 * 1024 * 1024;

/// Opens the file at `path` for reading.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    if is_orphaned(path) {
        return Err(trouble::orphaned(path));
    }
    let refused = match shared(path) {
        Ok(connection) => return Ok(connection),
        Err(error) => error,
    };
    match refused.sqlite_error_code() {
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure,
        ) => {}
        _ => return Err(trouble::sqlite(path, &refused)),
    }
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    if length(&log_path(path)) == 0 {
        return still(path).map_err(|error| unreadable(path, &error));
    }
    if length(path) + length(&log_path(path)) > MAX_IN_MEMORY {
        let limit = MAX_IN_MEMORY >> 20;
        let detail = format!(
            "its folder cannot be written, and it is larger than the {limit} MB that are read into memory then"
        );
        return Err(StoreError::Disk { path: path.to_owned(), detail });
    }
    let pages = Pages::open(path).map_err(|error| trouble::io(path, &error))?;
    in_memory(&pages.in_one_piece()).map_err(|error| trouble::sqlite(path, &error))
}

/// Opens the file and looks whether it is a store of ours.
pub(super) fn connect_to_ours(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    schema::is_ours(&connection).map_err(|refused| schema_trouble(path, refused))?;
    Ok(connection)
}

/// Opens a file that this program writes, for reading beside that. What lies there is read as it changes, or not at all.
pub(super) fn connect_beside(path: &Path) -> rusqlite::Result<Connection> {
    let connection = shared(path)?;
    connection.set_prepared_statement_cache_capacity(super::STATEMENTS);
    Ok(connection)
}

/// A file that is not taken, in our words.
pub(super) fn schema_trouble(path: &Path, refused: schema::Refused) -> StoreError {
    let path = path.to_owned();
    match refused {
        schema::Refused::Newer(found) => StoreError::Newer { path, found, known: schema::FORMAT },
        schema::Refused::Foreign => StoreError::Foreign { path },
        schema::Refused::Damaged(detail) => StoreError::Corrupt { path, detail },
        schema::Refused::Sqlite(error) => trouble::sqlite(&path, &error),
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI
}

fn shared(path: &Path) -> rusqlite::Result<Connection> {
    probed(Connection::open_with_flags(address(path, ""), flags())?)
}

fn still(path: &Path) -> rusqlite::Result<Connection> {
    probed(Connection::open_with_flags(address(path, "?immutable=1"), flags())?)
}

fn in_memory(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(rusqlite::MAIN_DB, bytes, bytes.len(), true)?;
    probed(connection)
}

/// Reads something, for opening alone does not look at the file.
fn probed(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn unreadable(path: &Path, error: &rusqlite::Error) -> StoreError {
    match trouble::sqlite(path, error) {
        StoreError::ReadOnly { path } => StoreError::Disk { path, detail: "it cannot be read".to_owned() },
        other => other,
    }
}

/// A file's name as SQLite takes it, whatever its bytes are.
pub(super) fn address(path: &Path, options: &str) -> String {
    let mut address = "file:".to_owned();
    for byte in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte));
            }
            other => {
                // Writing to a string does not fail.
                let _ = write!(address, "%{other:02x}");
            }
        }
    }
    address + options
}
