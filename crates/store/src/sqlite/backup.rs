//! A copy of the store in another file, consistent, while it is written.
//!
//! The copy is made beside its place and takes its name when it is whole and synced: a disk that is full, or a copy that is interrupted,
//! never leaves half of one under that name, and a file that is there is never overwritten. What an interrupted attempt left is
//! removed by the next one to the same name. A copy of damaged records is a copy of the damage, and says so.

use super::{access, health, place, read_only, rescue, trouble};
use crate::{Rescued, SqliteStore, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How the name of an unfinished copy ends, behind the process that makes it.
const UNFINISHED: &str = ".part";

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// How large it is.
    pub bytes: u64,
    /// What is damaged in the store, and so in the copy; `None` when nothing is.
    pub damage: Option<Rescued>,
}

impl SqliteStore {
    /// Copies the store in `directory` to `file`.
    ///
    /// # Errors
    /// When there is such a file, the store cannot be read or its pages are damaged, or the disk fails; nothing is left at `file` then.
    pub fn back_up(directory: &Path, file: &Path) -> Result<Copied, StoreError> {
        if std::fs::symlink_metadata(file).is_ok() {
            return Err(StoreError::FileExists { path: file.to_owned() });
        }
        let folder = place::folder_of(file);
        if !folder.is_dir() {
            return Err(StoreError::NoFolder { path: folder.to_owned() });
        }
        let store = place::file(directory);
        access::is_there(&store)?;
        let connection = read_only::connect_to_ours(&store)?;
        forget_unfinished(file);
        let unfinished = unfinished(file);
        let copied = copy(&connection, &store, &unfinished, file).and_then(|copied| {
            name(&unfinished, file).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => StoreError::FileExists { path: file.to_owned() },
                _ => trouble::io(file, &error),
            })?;
            Ok(copied)
        });
        if copied.is_err() {
            forget(&unfinished);
        }
        copied
    }
}

fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}{UNFINISHED}", std::process::id()));
    name.into()
}

/// Removes what interrupted attempts to make this copy have left. One that is being made is held by its maker.
fn forget_unfinished(file: &Path) {
    let Some(name) = file.file_name() else { return };
    let mut begin: OsString = name.to_owned();
    begin.push(".");
    let entries = std::fs::read_dir(place::folder_of(file)).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let process = name
            .as_encoded_bytes()
            .strip_prefix(begin.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(UNFINISHED.as_bytes()));
        let is_ours = process.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_ours && is_file && File::open(entry.path()).is_ok_and(|left| hold(&left)) {
            forget(&entry.path());
        }
    }
}

/// Removes an unfinished copy and what SQLite put beside it. What stays is in nobody's way.
fn forget(unfinished: &Path) {
    let mut journal = unfinished.as_os_str().to_owned();
    journal.push("-journal");
    let _ = std::fs::remove_file(journal);
    let _ = std::fs::remove_file(unfinished);
}

/// Marks an unfinished copy as one that is being made; `false` when somebody else makes it.
#[cfg(unix)]
fn hold(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn hold(_file: &File) -> bool {
    true
}

fn copy(connection: &Connection, store: &Path, to: &Path, file: &Path) -> Result<Copied, StoreError> {
    let on_disk = |error: io::Error| trouble::io(file, &error);
    let made = place::make_new(to).map_err(on_disk)?;
    hold(&made);
    connection.execute("VACUUM INTO ?1", [read_only::address(to, "")]).map_err(|error| {
        // Which of the two files it is about is known only where it must be the one that is read.
        let read = trouble::is_damage(&error);
        trouble::sqlite(if read { store } else { file }, &error)
    })?;
    let whole = released(to).map_err(|error| trouble::sqlite(file, &error))?;
    made.sync_all().map_err(on_disk)?;
    let damage = if whole { None } else { rescue::survey(to, None)? };
    let bytes = made.metadata().map(|found| found.len()).map_err(on_disk)?;
    Ok(Copied { bytes, damage })
}

/// Who writes the store writes nothing in its copy. Whether everything in the copy can be read.
fn released(copy: &Path) -> rusqlite::Result<bool> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    connection.pragma_update_and_check(None, "journal_mode", "memory", |_| Ok(()))?;
    connection.execute("DELETE FROM leases", [])?;
    let whole = match health::check(&connection, &|| false) {
        Ok(health::Sound::Yes { .. }) => true,
        Ok(health::Sound::No(_)) => false,
        Err(error) if trouble::is_damage(&error) => false,
        Err(error) => return Err(error),
    };
    connection.close().map_err(|(_, error)| error)?;
    Ok(whole)
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
