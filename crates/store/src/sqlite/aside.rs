//! What must be on disk while another program holds the lock of the database: a small database of this store's own beside it, synced with
//! every batch.
//!
//! It is no second log. What stands in it waits in memory to be written where it belongs, and is taken out again then. It is read only
//! where a program died in between: by whoever opens that session next, or the store. What stands aside of a session counts as far as it
//! follows its log without a gap; who opens it has its lease (`lease`), so that nobody else can have written there since.

use super::lease::Owner;
use super::number::{int, nat};
use super::rows::{self, Row};
use super::session::Writer;
use super::{SqliteStore, place, presence, trouble};
use crate::{Store as _, StoreError};
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use rusqlite::{Connection, OpenFlags, Result, params};
use std::path::{Path, PathBuf};

/// How the names of such files begin and end; in between stands whose it is.
const BEGIN: &str = "aside-";
const END: &str = ".db";
/// What SQLite puts beside a file.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

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

    /// Writes what a store that is gone had put aside of a session; we have its lease.
    pub(super) fn take_in_aside(
        &mut self,
        session: &SessionId,
        (id, fence): (i64, i64),
    ) -> Result<(), StoreError> {
        for left in Left::beside(&self.path, self.aside.as_ref()) {
            let (_, last) = self.known(session)?;
            // What cannot be read stays where it is.
            let Ok(events) = left.events(session, last) else { continue };
            if !events.is_empty() {
                let mut writer = Writer::anew(session, (id, fence), last);
                let taken = writer.write_now(&mut self.connection, &self.owner, session, &events);
                if !self.done(taken)? {
                    return Err(StoreError::NotOpen(session.clone()));
                }
            }
            left.take_out(session);
            left.tidy();
        }
        Ok(())
    }

    /// The same for all sessions that nobody writes.
    pub(super) fn take_in_all_aside(&mut self) {
        for left in Left::beside(&self.path, None) {
            for session in left.sessions() {
                match self.open(&session) {
                    Ok(_) => drop(self.close(&session)),
                    // It was taken away since.
                    Err(StoreError::Unknown(_)) => left.take_out(&session),
                    Err(StoreError::Locked { .. }) => return,
                    // Somebody writes it, and has that in memory too; or nobody can, and it stays where it is.
                    Err(_) => {}
                }
            }
            left.tidy();
        }
    }
}

/// A file that some other store put something aside in.
struct Left {
    path: PathBuf,
    connection: Connection,
}

impl Left {
    /// What was left beside a database; `own` is not meant.
    fn beside(database: &Path, own: Option<&Aside>) -> Vec<Left> {
        let Ok(entries) = std::fs::read_dir(place::folder_of(database)) else { return Vec::new() };
        let paths = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let name = name.to_str()?;
            (name.starts_with(BEGIN) && name.ends_with(END)).then(|| entry.path())
        });
        let others = paths.filter(|path| own.is_none_or(|own| own.path != *path));
        others.filter_map(|path| connect(&path).ok().map(|connection| Left { path, connection })).collect()
    }

    /// The sessions of which something stands there.
    fn sessions(&self) -> Vec<SessionId> {
        let names = self.connection.prepare("SELECT DISTINCT session FROM aside").and_then(|mut names| {
            names.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<String>>>()
        });
        names.unwrap_or_default().iter().filter_map(|name| SessionId::parse(name)).collect()
    }

    /// What follows event `last` of a session without a gap.
    fn events(&self, session: &SessionId, last: Seq) -> Result<Vec<Event>> {
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
        let (mut events, mut due) = (Vec::new(), last.next());
        for row in found {
            let Ok(more) = rows::unpack(session, &row?) else { break };
            for event in more {
                if event.seq == due {
                    due = due.next();
                    events.push(event);
                }
            }
        }
        Ok(events)
    }

    /// What stood there of a session is where it belongs, or not wanted any more.
    fn take_out(&self, session: &SessionId) {
        let _ = take_out(&self.connection, session);
    }

    /// Takes the file away if nothing stands there and nobody will put anything there.
    fn tidy(self) {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let tag = name.trim_start_matches(BEGIN).trim_end_matches(END);
        if self.sessions().is_empty() && Owner::is_gone(tag) {
            let Left { path, connection } = self;
            drop(connection);
            remove(&path);
        }
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(crate::contract::LOCK_PATIENCE)?;
    Ok(connection)
}

fn take_out(connection: &Connection, session: &SessionId) -> Result<()> {
    connection.prepare_cached("DELETE FROM aside WHERE session = ?1")?.execute([session.as_str()]).map(drop)
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    for end in BESIDE {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        let _ = std::fs::remove_file(PathBuf::from(beside));
    }
}
