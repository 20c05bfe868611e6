//! A copy of the store in another file, consistent, while it is written.
//!
//! The copy is made beside its place and takes its name when it is whole and synced: a disk that is full, or a copy that is interrupted,
//! never leaves half of one under that name, and a file that is there is never overwritten.

use super::{access, place, read_only, trouble};
use crate::{SqliteStore, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::io;
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// Copies the store in `directory` to `file`; how large the copy is.
    ///
    /// # Errors
    /// When there is such a file, the store cannot be read or is damaged, or the disk says no; nothing is left at `file` then.
    pub fn back_up(directory: &Path, file: &Path) -> Result<u64, StoreError> {
        if std::fs::symlink_metadata(file).is_ok() {
            return Err(StoreError::FileExists { path: file.to_owned() });
        }
        let store = place::file(directory);
        access::is_there(&store)?;
        let connection = read_only::connect_to_ours(&store)?;
        let unfinished = unfinished(file);
        let copied = copy(&connection, directory, &unfinished).and_then(|bytes| {
            name(&unfinished, file).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => StoreError::FileExists { path: file.to_owned() },
                _ => trouble::io(file, &error),
            })?;
            Ok(bytes)
        });
        if copied.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        copied
    }
}

fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

fn copy(connection: &Connection, directory: &Path, to: &Path) -> Result<u64, StoreError> {
    let on_disk = |error: io::Error| trouble::io(to, &error);
    let made = place::make_new(to).map_err(on_disk)?;
    connection.execute("VACUUM INTO ?1", [read_only::address(to, "")]).map_err(|error| {
        // Which of the two files it is about is known only where it must be the one that is read.
        let read = trouble::is_damage(&error);
        trouble::sqlite(if read { directory } else { to }, &error)
    })?;
    released(to).map_err(|error| trouble::sqlite(to, &error))?;
    made.sync_all().map_err(on_disk)?;
    made.metadata().map(|found| found.len()).map_err(on_disk)
}

/// Who writes the store writes nothing in its copy.
fn released(copy: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    connection.pragma_update_and_check(None, "journal_mode", "memory", |_| Ok(()))?;
    connection.execute("DELETE FROM leases", [])?;
    connection.close().map_err(|(_, error)| error)
}

/// Gives the finished copy its name, unless there is such a file by now.
fn name(unfinished: &Path, file: &Path) -> io::Result<()> {
    match std::fs::hard_link(unfinished, file) {
        Ok(()) => std::fs::remove_file(unfinished)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // A file system without links.
        Err(_) => std::fs::rename(unfinished, file)?,
    }
    place::sync_folder_of(file)
}
