//! Whether the files that are open are still the ones that a reader would find by their names.
//!
//! SQLite goes on writing into a file that was removed or replaced, and nobody will ever read that. So the names are compared
//! before every write that must last, which costs two system calls.

use crate::StoreError;
use std::path::{Path, PathBuf};

/// What names the log that is written ahead.
const LOG_SUFFIX: &str = "-wal";

/// A file apart from its name: its device and its number there.
pub(super) type FileId = (u64, u64);

/// The database and its log as they were when they were opened.
#[derive(Debug)]
pub(super) struct Presence {
    log_path: PathBuf,
    database: Option<FileId>,
    /// `None` until it is there: SQLite makes it with the first transaction.
    log: Option<FileId>,
}

impl Presence {
    /// As they are now, right after they were opened.
    pub(super) fn of(path: &Path) -> Presence {
        let mut log_path = path.as_os_str().to_owned();
        log_path.push(LOG_SUFFIX);
        let log_path = PathBuf::from(log_path);
        Presence { database: id(path), log: id(&log_path), log_path }
    }

    /// Looks whether both are where they were.
    pub(super) fn check(&mut self, path: &Path) -> Result<(), StoreError> {
        let log = id(&self.log_path);
        self.log = self.log.or(log);
        if id(path) == self.database && log == self.log {
            return Ok(());
        }
        Err(StoreError::Replaced { path: path.to_owned() })
    }
}

/// Which file has this name now.
#[cfg(unix)]
pub(super) fn id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Elsewhere a file that is open cannot be taken away.
#[cfg(not(unix))]
pub(super) fn id(_path: &Path) -> Option<FileId> {
    None
}
