//! What must be on disk while another program holds the lock of the database: a small database of this store's own beside it, synced with
//! every batch.
//!
//! It is no second log. What stands in it waits in memory to be written where it belongs, and is taken out again then. It is read only
//! where a program died in between: by whoever opens that session next, or the store. What stands aside of a session counts as far as it
//! follows its log without a gap; who opens it has its lease (`lease`), so that nobody else can have written there since.
//!
//! What cannot be read, or does not follow, is never removed: it is kept under another name (`aside-….db.damaged-1`), and told.

use super::lease::Owner;
use super::number::{int, nat};
use super::session::Writer;
use super::{SqliteStore, place, presence, trouble};
use crate::contract::Fence;
use crate::rows::{self, Row};
use crate::{Store as _, StoreError};
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Result, params};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How the names of such files begin and end; in between stands whose it is.
const BEGIN: &str = "aside-";
const END: &str = ".db";
/// What SQLite puts beside a file.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// What is put behind the name of one of which something cannot be used, with a number; and the most of them.
const DAMAGED: &str = ".damaged-";
const MAX_DAMAGED: u32 = 1_000;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS aside (
    session TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, version INTEGER NOT NULL, form INTEGER NOT NULL,
    crc INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (session, first)) STRICT";

/// The file of one store.
#[derive(Debug)]
pub(super) struct Aside {
    path: PathBuf,
    connection: Connection,
    id: Option<presence::FileId>,
}

impl Aside {
    /// Makes the file of this owner in `directory`.
    pub(super) fn make(directory: &Path, owner: &Owner) -> std::result::Result<Aside, StoreError> {
        let path = directory.join(format!("{BEGIN}{}{END}", owner.tag()));
        let made = place::make_new(&path).and_then(|_| place::sync_folder_of(&path));
        made.map_err(|error| trouble::io(&path, &error))?;
        let opened = connect(&path).and_then(|connection| {
            connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute_batch(TABLE)?;
            Ok(connection)
        });
        let connection = opened.map_err(|error| trouble::sqlite(&path, &error))?;
        Ok(Aside { id: presence::id(&path), path, connection })
    }

    /// Puts events of a session aside. They are on disk when this returns `true`.
    pub(super) fn put(&mut self, session: &SessionId, events: &[Event]) -> bool {
        let put = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            for row in rows::pack(session, events) {
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO aside VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
                    .execute(params![
                        session.as_str(),
                        int(row.first.0),
                        int(row.last.0),
                        row.version,
                        row.form,
                        row.crc,
                        row.bytes
                    ])?;
            }
            transaction.commit()
        };
        presence::id(&self.path) == self.id && put(&mut self.connection).is_ok()
    }

    /// What stood aside of a session is where it belongs, or not wanted any more.
    pub(super) fn take_out(&self, session: &SessionId) {
        // What stays is old, and counts for nobody.
        let _ = take_out(&self.connection, session);
    }

    /// Takes the file away: nothing in it is wanted any more.
    pub(super) fn remove(self) {
        let Aside { path, connection, .. } = self;
        drop(connection);
        remove(&path);
    }
}

impl SqliteStore {
    /// Puts aside what cannot be written for a lock; whether it is on disk now.
    pub(super) fn put_aside(&mut self, session: &SessionId, events: &[Event]) -> bool {
        let Some(writer) = self.writers.get_mut(session) else { return false };
        if !writer.may_put_aside() {
            return false;
        }
        if self.aside.is_none() {
            self.aside = Aside::make(place::folder_of(&self.path), &self.owner).ok();
        }
        let Some(aside) = &mut self.aside else { return false };
        let is_put = aside.put(session, &writer.not_aside(events));
        if is_put {
            writer.put_aside(events);
        }
        is_put
    }

    /// Takes out what stood aside and is written by now.
    pub(super) fn clear_aside(&mut self) {
        let Some(aside) = &self.aside else { return };
        for (session, writer) in &mut self.writers {
            if writer.is_over_aside() {
                aside.take_out(session);
            }
        }
    }

    /// Writes what a store that is gone had put aside of a session; we have its lease. `false` when not all of it could be used.
    pub(super) fn take_in_aside(
        &mut self,
        session: &SessionId,
        (id, fence): (i64, Fence),
    ) -> Result<bool, StoreError> {
        let mut is_all = true;
        for left in AsideFile::beside(&self.path, self.aside.as_ref()) {
            let (_, last) = self.known(session)?;
            // What cannot be read now stays where it is.
            let Ok(found) = left.events(session, last) else { continue };
            if !found.events.is_empty() {
                let mut writer = Writer::anew(session, (id, fence), last);
                let taken = writer.write_now(&mut self.connection, &self.owner, session, &found.events);
                if !self.done(taken)? {
                    return Err(StoreError::NotOpen(session.clone()));
                }
            }
            if !found.is_all {
                is_all = false;
                // Before anything is taken out. Where no copy can be made, all of it stays.
                let Ok(copy) = left.copy() else { continue };
                self.damaged_aside.push(copy);
            }
            left.take_out(session);
            left.tidy();
        }
        Ok(is_all)
    }

    /// The same for all sessions that nobody writes.
    pub(super) fn take_in_all_aside(&mut self) {
        for left in AsideFile::beside(&self.path, None) {
            let names = left.names().unwrap_or_default();
            for session in names.iter().filter_map(|name| SessionId::parse(name)) {
                match self.open(&session) {
                    Ok(_) => drop(self.close(&session)),
                    // It was taken away since.
                    Err(StoreError::Unknown(_)) => left.take_out(&session),
                    Err(StoreError::Locked { .. }) => return,
                    // Somebody writes it, and has that in memory too; or nobody can, and it stays where it is.
                    Err(_) => {}
                }
            }
            if left.is_damaged() {
                self.damaged_aside.extend(left.put_away());
            } else {
                left.tidy();
            }
        }
    }

    /// Where this store has put what stood aside and could not be used.
    pub fn put_away(&self) -> &[PathBuf] {
        &self.damaged_aside
    }

    /// What stood aside in `directory` and could not be used, for as long as nobody has removed it.
    pub fn damaged_aside(directory: &Path) -> Vec<PathBuf> {
        let is_meant = |name: &str| {
            let number = name.rsplit_once(DAMAGED).filter(|(name, _)| name.ends_with(END));
            number.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
        };
        let mut found = beginning(directory, is_meant);
        found.sort();
        found
    }
}

/// What of a session follows its log, and whether that is all that stands there of it.
struct AsideEvents {
    events: Vec<Event>,
    is_all: bool,
}

/// A file that some other store put something aside in.
struct AsideFile {
    path: PathBuf,
    connection: Connection,
}

impl AsideFile {
    /// What was left beside a database; `own` is not meant.
    fn beside(database: &Path, own: Option<&Aside>) -> Vec<AsideFile> {
        let paths = beginning(place::folder_of(database), |name| name.ends_with(END)).into_iter();
        let others = paths.filter(|path| own.is_none_or(|own| own.path != *path));
        others
            .filter_map(|path| connect_to_left(&path).ok().map(|connection| AsideFile { path, connection }))
            .collect()
    }

    /// The names of the sessions of which something stands there.
    fn names(&self) -> Result<Vec<String>> {
        if self.is_unused()? {
            return Ok(Vec::new());
        }
        let mut names = self.connection.prepare("SELECT DISTINCT session FROM aside")?;
        names.query_map([], |row| row.get(0))?.collect()
    }

    /// Whether its maker died before anything could be put there.
    fn is_unused(&self) -> Result<bool> {
        let has_table =
            self.connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'aside'")?.exists([])?;
        // What cannot be read of a log looks as if it had never been written.
        let log = std::fs::metadata(with_end(&self.path, "-wal"));
        Ok(!has_table && log.map_or(0, |log| log.len()) == 0)
    }

    /// Whether something there can be read by nobody. What cannot be read only now is no damage.
    fn is_damaged(&self) -> bool {
        let looked = self.names().and_then(|names| {
            let said: String =
                self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            Ok(said != "ok" || names.iter().any(|name| SessionId::parse(name).is_none()))
        });
        looked.unwrap_or_else(|error| is_damage(&error))
    }

    /// What follows event `last` of a session without a gap, up to the first that cannot be read.
    fn events(&self, session: &SessionId, last: Seq) -> Result<AsideEvents> {
        let (mut events, mut due) = (Vec::new(), last.next());
        if self.is_unused()? {
            return Ok(AsideEvents { events, is_all: true });
        }
        let mut found = self.connection.prepare(
            "SELECT first, last, version, form, crc, record FROM aside WHERE session = ?1 ORDER BY first",
        )?;
        let found = found.query_map([session.as_str()], |row| {
            Ok(Row {
                first: Seq(nat(row.get(0)?)),
                last: Seq(nat(row.get(1)?)),
                version: row.get(2)?,
                form: row.get(3)?,
                crc: row.get(4)?,
                bytes: row.get(5)?,
            })
        })?;
        for row in found {
            let row = match row {
                Err(error) if !is_damage(&error) => return Err(error),
                row => row,
            };
            let Some(more) = row.ok().and_then(|row| rows::unpack(session, &row).ok()) else {
                return Ok(AsideEvents { events, is_all: false });
            };
            for event in more {
                if event.seq > due {
                    return Ok(AsideEvents { events, is_all: false });
                }
                if event.seq == due {
                    due = due.next();
                    events.push(event);
                }
            }
        }
        Ok(AsideEvents { events, is_all: true })
    }

    /// Keeps a copy of all that stands there, under another name.
    fn copy(&self) -> std::result::Result<PathBuf, StoreError> {
        let (path, file) = free_name(&self.path).map_err(|error| trouble::io(&self.path, &error))?;
        // SQLite takes no name that is not UTF-8 here.
        let name = path.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(path.clone()));
        let copied = name.and_then(|name| self.connection.execute("VACUUM INTO ?1", [name]));
        let copied = copied.map_err(|error| trouble::sqlite(&self.path, &error)).and_then(|_| {
            let synced = file.sync_all().and_then(|()| place::sync_folder_of(&path));
            synced.map_err(|error| trouble::io(&path, &error))
        });
        if copied.is_err() {
            // It is not whole, and what it was made from is there.
            remove(&path);
        }
        copied.map(|()| path)
    }

    /// Gives the file another name if nobody will put anything there any more: nobody could use what stands in it.
    fn put_away(self) -> Option<PathBuf> {
        let AsideFile { path, connection } = self;
        if !is_left(&path) {
            return None;
        }
        drop(connection);
        let (away, _) = free_name(&path).ok()?;
        if std::fs::rename(&path, &away).is_err() {
            remove(&away);
            return None;
        }
        for end in BESIDE {
            let _ = std::fs::rename(with_end(&path, end), with_end(&away, end));
        }
        let _ = place::sync_folder_of(&away);
        Some(away)
    }

    /// What stood there of a session is where it belongs, or not wanted any more.
    fn take_out(&self, session: &SessionId) {
        let _ = take_out(&self.connection, session);
    }

    /// Takes the file away if nothing stands there and nobody will put anything there.
    fn tidy(self) {
        if self.names().is_ok_and(|names| names.is_empty()) && is_left(&self.path) && !self.is_damaged() {
            let AsideFile { path, connection } = self;
            drop(connection);
            remove(&path);
        }
    }
}

/// Whether the maker of a file is gone for sure.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Owner::is_gone(name.trim_start_matches(BEGIN).trim_end_matches(END))
}

/// The files in a folder whose names begin as ours do, and are meant.
fn beginning(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        let name = name.to_str()?;
        (name.starts_with(BEGIN) && is_meant(name)).then(|| entry.path())
    });
    paths.collect()
}

/// Whether an error says that something is damaged, and not that it cannot be read now.
fn is_damage(error: &rusqlite::Error) -> bool {
    trouble::is_damage(error) || error.sqlite_error_code() == Some(ErrorCode::NotADatabase)
}

/// Makes an empty file whose name says that `path` is damaged, and that nothing else has.
fn free_name(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 1..=MAX_DAMAGED {
        let away = with_end(path, &format!("{DAMAGED}{number}"));
        if BESIDE.iter().any(|end| with_end(&away, end).exists()) {
            continue;
        }
        match place::make_new(&away) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (away, file)),
        }
    }
    Err(io::Error::other(format!("there are {MAX_DAMAGED} damaged files beside it already; remove some")))
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(crate::contract::LOCK_PATIENCE)?;
    Ok(connection)
}

/// A connection that leaves the log of a file as it is when it is closed: it may be damaged.
fn connect_to_left(path: &Path) -> Result<Connection> {
    let connection = connect(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

fn take_out(connection: &Connection, session: &SessionId) -> Result<()> {
    connection.prepare_cached("DELETE FROM aside WHERE session = ?1")?.execute([session.as_str()]).map(drop)
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    for end in BESIDE {
        let _ = std::fs::remove_file(with_end(path, end));
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
