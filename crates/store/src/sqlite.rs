//! The embedded store: one SQLite file (WAL) in the data directory, for its owner alone.
//!
//! Events that must last are committed with a sync; streaming text waits in memory for the next commit or [`Store::tend`]. Lists and
//! searches read projections that are written in the same transaction as the log. Any number of programs may have the file open; each session
//! has one writer (see `lease`).

mod access;
mod aside;
mod backup;
mod begun;
mod cells;
mod contents;
mod health;
mod lease;
mod number;
mod pages;
mod place;
mod presence;
mod read_only;
mod reading;
mod rescue;
mod room;
mod salvage;
mod schema;
mod session;
mod trouble;
mod writing;

pub use backup::Copied;
pub use contents::{Contents, MAX_KEPT, StoredPrint};
pub use health::{CheckDepth, Health};
pub use rescue::{Fate, Rescued, RescuedSession};

use crate::contract::{
    Appended, Durability, Fence, LOCK_PATIENCE, Listing, MAX_FOUND, Opened, SearchHit, Store,
};
use crate::error::StoreError;
use crate::projection::{Change, Projection};
use crate::words::{Words, snippet};
use aside::Aside;
use domain::command::History;
use domain::event::Event;
use domain::ids::{EntryId, Seq, SessionId};
use domain::session::{FoundWords, SessionSummary};
use domain::state::{EntryKind, State};
use lease::{Owner, Taken};
use number::{int, nat};
use presence::Presence;
use reading::Losses;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};
use session::{FoundPlace, Writer};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait before a file that is being set up by another is opened again.
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// How long a store that is opened may be locked: it may just be recovered, and nobody else waits for this yet.
const OPEN_PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes that the write-ahead log keeps between commits.
const JOURNAL_LIMIT: i64 = 16 * 1024 * 1024;
/// How often a file that is replaced while it is opened is opened anew.
const OPENINGS: u32 = 3;
/// Statements kept prepared.
const STATEMENTS: usize = 64;

/// Sessions in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Connection,
    owner: Owner,
    writers: BTreeMap<SessionId, Writer>,
    presence: Presence,
    /// Whether something was removed whose space is still to be given back.
    surplus: bool,
    /// How long a call waits for another program's lock.
    patience: Duration,
    /// Where what must be on disk stands meanwhile; made when it is needed.
    aside: Option<Aside>,
    /// Where what others had put aside was put, as far as it could not be used.
    damaged_aside: Vec<PathBuf>,
}

impl SqliteStore {
    /// Opens the store in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// When the directory or the file cannot be used, or the file is damaged, another program's or of a newer version. Where the file is gone
    /// and its log is there, nothing is made either: that would be the end of the log.
    pub fn at(directory: &Path) -> Result<SqliteStore, StoreError> {
        let path = place::file(directory);
        if pages::is_orphaned(&path) {
            return Err(trouble::orphaned(&path));
        }
        place::prepare(directory, &path)?;
        for _ in 0..OPENINGS {
            let before = presence::id(&path);
            let opened = open_patiently(&path);
            if presence::id(&path) != before {
                continue;
            }
            let connection = opened?;
            let kept = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
            kept.map_err(|error| trouble::sqlite(&path, &error))?;
            let mut store = SqliteStore::on(path, connection);
            store.take_in_all_aside();
            return Ok(store);
        }
        Err(StoreError::Replaced { path })
    }

    /// Opens the store in `directory` read-only, also where nothing can be written. What would write is refused.
    ///
    /// # Errors
    /// When there is none, or the file cannot be read, or is another program's or of another version.
    pub fn to_read(directory: &Path) -> Result<SqliteStore, StoreError> {
        let path = place::file(directory);
        access::is_there(&path)?;
        let connection = read_only::connect_to_ours(&path)?;
        Ok(SqliteStore::on(path, connection))
    }

    fn on(path: PathBuf, connection: Connection) -> SqliteStore {
        let (owner, presence) = (Owner::new(), Presence::of(&path));
        SqliteStore {
            path,
            connection,
            owner,
            writers: BTreeMap::new(),
            presence,
            surplus: false,
            patience: LOCK_PATIENCE,
            aside: None,
            damaged_aside: Vec::new(),
        }
    }

    /// Whether there is a store in `directory`, or what is left of one; nothing is made, and nothing is waited for.
    ///
    /// # Errors
    /// When that may not be looked at, or something else stands in its place.
    pub fn is_at(directory: &Path) -> Result<bool, StoreError> {
        let path = place::file(directory);
        // One that is empty was made, and its maker died before the first table.
        let is_there =
            access::is_there(&path)? && std::fs::metadata(&path).is_ok_and(|found| found.len() > 0);
        Ok(is_there || pages::is_orphaned(&path))
    }

    /// Whether there is no room for what is to be kept in `directory`.
    pub fn is_out_of_room(directory: &Path) -> bool {
        trouble::is_full(&place::file(directory))
    }

    /// The database file, for messages about it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the file grow to this many pages at most, `None` for as many as there can be.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn limit_pages(&self, pages: Option<u32>) -> Result<(), StoreError> {
        let pages = pages.unwrap_or(u32::MAX - 1);
        self.done(self.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())))
    }

    /// The sessions that a program has open, this one or another, each with the number of its process.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn holders(&self) -> Result<BTreeMap<SessionId, u32>, StoreError> {
        self.done(session::holders(&self.connection, &self.owner))
    }

    fn done<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| trouble::sqlite(&self.path, &error))
    }

    fn wait_for_locks(&mut self, patience: Duration) {
        self.patience = patience;
        // It only notes a number.
        let _ = self.connection.busy_timeout(patience);
    }

    /// The number and the last event of a session.
    fn find(&self, session: &SessionId) -> Result<Option<(i64, Seq)>, StoreError> {
        let found = self.connection.prepare_cached("SELECT id, last_seq FROM sessions WHERE name = ?1");
        let found = found.and_then(|mut statement| {
            statement.query_row([session.as_str()], |row| Ok((row.get(0)?, Seq(nat(row.get(1)?))))).optional()
        });
        self.done(found)
    }

    fn known(&self, session: &SessionId) -> Result<(i64, Seq), StoreError> {
        self.find(session)?.ok_or_else(|| StoreError::Unknown(session.clone()))
    }

    /// Events of this session that wait to be written.
    fn waiting(&self, session: &SessionId) -> &[Event] {
        self.writers.get(session).map_or(&[], Writer::waiting)
    }

    /// Takes the lease of a session in a transaction of its own.
    fn lease(&mut self, session: &SessionId, id: i64) -> Result<Fence, StoreError> {
        let (owner, path) = (&self.owner, &self.path);
        let taken = (|| {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let taken = owner.take(&transaction, id)?;
            transaction.commit()?;
            Ok(taken)
        })();
        match taken.map_err(|error| trouble::sqlite(path, &error))? {
            Taken::Granted(fence) => Ok(fence),
            Taken::HeldBy(pid) => Err(StoreError::Busy { session: session.clone(), pid }),
        }
    }

    fn read_state(&self, session: &SessionId, id: i64) -> Result<(State, Seq, Losses), StoreError> {
        let mut losses = Losses::default();
        let read = reading::state(&self.connection, (id, session), &mut losses);
        let (state, snapshot_at) = self.done(read)?;
        Ok((state, snapshot_at, losses))
    }

    /// The first sessions that hold the words, each with the text around them.
    fn first_found(
        &self,
        words: &Words,
        project: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let query = self.done(begun::lazy_query(&self.connection, words))?;
        let found = session::found(&self.connection, &self.owner, (&query, project), limit.min(MAX_FOUND));
        let mut sessions = Vec::new();
        for (mut session, newest) in self.done(found)? {
            // Where the log is damaged, that it was said there is known all the same.
            let said = newest.and_then(|FoundPlace { id, entry, at, events }| {
                let text = self.text_of(&session.id, id, entry, events).ok()?;
                Some(FoundWords { text: snippet(&text, words), at, entry })
            });
            session.found = said.map(Box::new);
            sessions.push(session);
        }
        sessions.sort_by_key(|session| Reverse(session.updated_at));
        Ok(sessions)
    }

    /// The text of an entry that was found.
    fn text_of(
        &self,
        session: &SessionId,
        id: i64,
        entry: EntryId,
        events: (Seq, Seq),
    ) -> Result<String, StoreError> {
        let (first, last) = events;
        if first == Seq(0) {
            return Ok(self
                .load(session)?
                .state
                .entries
                .get(&entry)
                .map_or_else(String::new, |entry| text_of(entry)));
        }
        let mut projection = Projection::new(session);
        let mut text = String::new();
        let read = reading::events(
            &self.connection,
            (id, session),
            Seq(first.0 - 1),
            &mut Losses::default(),
            |event| {
                if let Some(Change::Entry(found)) = projection.take(&event)
                    && found.id == entry
                {
                    text = found.text;
                }
                event.seq < last
            },
        );
        self.done(read)?;
        Ok(text)
    }
}

/// Opens the file, also while others do. Two that turn a fresh file into one with a log would wait for each other, so SQLite refuses one
/// of them at once, whatever its patience.
fn open_patiently(path: &Path) -> Result<Connection, StoreError> {
    let begun = Instant::now();
    loop {
        match open(path) {
            Err(StoreError::Locked { .. }) if begun.elapsed() < OPEN_PATIENCE => {
                std::thread::sleep(BUSY_PAUSE);
            }
            opened => return opened,
        }
    }
}

/// Opens the file and brings it up to today's format. Closed again at once, it leaves the log alone: while we waited for a lock the file
/// may have been replaced, and the log with this name is another's then.
fn open(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.busy_timeout(OPEN_PATIENCE)?;
        Ok(connection)
    });
    let mut connection = opened.map_err(|error| trouble::sqlite(path, &error))?;
    // Before anything of it is changed: it may be another's.
    schema::format(&connection).map_err(|refused| read_only::schema_trouble(path, refused))?;
    place::keep_private(path).map_err(|error| trouble::io(path, &error))?;
    set_up(&connection).map_err(|error| trouble::sqlite(path, &error))?;
    schema::migrate(&mut connection).map_err(|refused| read_only::schema_trouble(path, refused))?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
        schema::can_shrink(connection)?;
    }
    // On a file system that cannot do it the old journal stays, which is slower and as safe.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update_and_check(None, "secure_delete", "FAST", |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", JOURNAL_LIMIT, |_| Ok(()))
}

fn text_of(entry: &domain::state::Entry) -> String {
    match &entry.kind {
        EntryKind::Message(message) => message.text(),
        EntryKind::Compaction(compaction) => compaction.summary.clone(),
        EntryKind::Notice { text, .. } => text.clone(),
    }
}

impl Store for SqliteStore {
    fn never_wait(&mut self) {
        self.wait_for_locks(Duration::ZERO);
    }

    fn reader(&self) -> Option<Box<dyn Store>> {
        // Without a log beside the file, who reads and who writes would keep each other waiting.
        let mode = self.connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
        if mode.ok()? != "wal" {
            return None;
        }
        let connection = read_only::connect_beside(&self.path).ok()?;
        Some(Box::new(SqliteStore::on(self.path.clone(), connection)))
    }

    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        // One that was made and never written may be made again.
        let id = match self.find(session)? {
            Some((_, last)) if last > Seq(0) => return Err(StoreError::Exists(session.clone())),
            Some((id, _)) => id,
            None => {
                let summary = record::encode(Projection::new(session).summary());
                let inserted = self
                    .connection
                    .execute(
                        "INSERT INTO sessions (name, summary) VALUES (?1, ?2)",
                        [session.as_str(), &summary],
                    )
                    .map(|_| self.connection.last_insert_rowid());
                self.done(inserted)?
            }
        };
        let fence = self.lease(session, id)?;
        self.writers.insert(session.clone(), Writer::new(id, fence, Seq(0), Projection::new(session)));
        Ok(())
    }

    fn fence(&self, session: &SessionId) -> Option<Fence> {
        self.writers.get(session).map(|writer| writer.fence)
    }

    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        if self.writers.contains_key(session) {
            return self.load(session);
        }
        let (id, last) = self.known(session)?;
        let fence = self.lease(session, id)?;
        let is_all = self.take_in_aside(session, (id, fence))?;
        let (state, snapshot_at, losses) = self.read_state(session, id)?;
        if last == Seq(0) && state.seq == Seq(0) && losses.is_empty() {
            // Its program died between making it and the first event: there is nothing to go on with.
            let _ = self.owner.release(&self.connection, id, fence);
            return Err(StoreError::Unknown(session.clone()));
        }
        if let Some(what) = &losses.newer {
            // Neither damage nor ours to go on with: whoever wrote it can.
            let _ = self.owner.release(&self.connection, id, fence);
            return Err(StoreError::NewerSession { session: session.clone(), what: reading::newer(what) });
        }
        if losses.page {
            let _ = self.owner.release(&self.connection, id, fence);
            let detail = format!("a page of session {session} cannot be read");
            return Err(StoreError::Corrupt { path: self.path.clone(), detail });
        }
        let projection = Projection::of(session, &state);
        let mut writer = Writer::new(id, fence, state.seq, projection);
        writer.snapshot_at = snapshot_at;
        if losses.can_be_mended() {
            let mended = writer.mend(&mut self.connection, session, &state, &losses);
            self.done(mended)?;
        }
        self.writers.insert(session.clone(), writer);
        Ok(Opened { state, damage: losses.report().or_else(|| (!is_all).then(reading::not_all_aside)) })
    }

    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        durability: Durability,
    ) -> Result<Appended, StoreError> {
        let not_open = || StoreError::NotOpen(session.clone());
        let writer = self.writers.get_mut(session).ok_or_else(not_open)?;
        writer.check_numbers(session, events)?;
        if durability == Durability::Now {
            self.presence.check(&self.path)?;
        }
        let appended = match durability {
            Durability::Now => writer.write_now(&mut self.connection, &self.owner, session, events),
            Durability::Soon => writer.write_soon(&mut self.connection, &self.owner, session, events),
        };
        match appended {
            Ok(true) => Ok(Appended { snapshot_due: writer.snapshot_due() }),
            Ok(false) => {
                self.writers.remove(session);
                Err(not_open())
            }
            // Who waits for locks has waited.
            Err(error) if trouble::is_lock(&error) && durability == Durability::Now => {
                if self.patience.is_zero() && self.put_aside(session, events) {
                    return Ok(Appended::default());
                }
                Err(trouble::sqlite(&self.path, &error))
            }
            Err(error) => Err(trouble::sqlite(&self.path, &error)),
        }
    }

    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        let not_open = || StoreError::NotOpen(session.clone());
        let writer = self.writers.get_mut(session).ok_or_else(not_open)?;
        if state.seq != writer.end() {
            let (session, expected, got) = (session.clone(), writer.end(), state.seq);
            return Err(StoreError::OutOfOrder { session, expected, got });
        }
        let kept = writer.snapshot(&mut self.connection, &self.owner, session, state);
        if kept.map_err(|error| trouble::sqlite(&self.path, &error))? { Ok(()) } else { Err(not_open()) }
    }

    fn tend(&mut self) -> Result<(), StoreError> {
        self.presence.check(&self.path)?;
        let mut first = None;
        let mut lost = Vec::new();
        for (session, writer) in &mut self.writers {
            match writer.tend(&mut self.connection, &self.owner, session) {
                Ok(true) => {}
                Ok(false) => lost.push(session.clone()),
                Err(error) => {
                    let why = trouble::sqlite(&self.path, &error);
                    // The others would meet the same lock.
                    let is_locked = matches!(why, StoreError::Locked { .. });
                    first = first.or(Some(why));
                    if is_locked {
                        break;
                    }
                }
            }
        }
        self.clear_aside();
        for session in lost {
            self.writers.remove(&session);
            first = first.or(Some(StoreError::NotOpen(session)));
        }
        self.give_a_little_back();
        first.map_or(Ok(()), Err)
    }

    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let Some(mut writer) = self.writers.remove(session) else { return Ok(()) };
        let closed = writer.close(&mut self.connection, &self.owner, session);
        let closed = self.done(closed);
        if let Err(StoreError::Locked { .. }) = closed {
            self.writers.insert(session.clone(), writer);
        } else if writer.is_over_aside()
            && let Some(aside) = &self.aside
        {
            aside.take_out(session);
        }
        closed
    }

    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        let (id, _) = self.known(session)?;
        let (mut state, _, losses) = self.read_state(session, id)?;
        for event in self.waiting(session) {
            reading::follow(&mut state, event);
        }
        Ok(Opened { state, damage: losses.report() })
    }

    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let (id, _) = self.known(session)?;
        let mut events = Vec::new();
        if limit == 0 {
            return Ok(events);
        }
        let read = reading::events(&self.connection, (id, session), after, &mut Losses::default(), |event| {
            events.push(event);
            events.len() < limit
        });
        self.done(read)?;
        let room = limit - events.len();
        let waiting = self.waiting(session).iter().filter(|event| event.seq > after);
        events.extend(waiting.take(room).cloned());
        Ok(events)
    }

    fn history(
        &self,
        session: &SessionId,
        max_runs: usize,
        max_events: usize,
    ) -> Result<History, StoreError> {
        let (id, stored) = self.known(session)?;
        let last = self.waiting(session).last().map_or(stored, |event| event.seq);
        let wanted = int(max_runs as u64).saturating_add(1);
        let starts = self
            .connection
            .prepare_cached("SELECT seq FROM runs WHERE session = ?1 ORDER BY seq DESC LIMIT ?2");
        let starts = starts.and_then(|mut statement| {
            let starts = statement.query_map([id, wanted], |row| Ok(Seq(nat(row.get(0)?))))?;
            starts.collect::<rusqlite::Result<Vec<Seq>>>()
        });
        let starts = self.done(starts)?;
        let runs = starts.len().min(max_runs);
        let Some(first) = runs.checked_sub(1).map(|oldest| starts[oldest]) else {
            return Ok(History { runs: 0, events: Vec::new(), truncated: !starts.is_empty() });
        };
        let newest = Seq(last.0.saturating_sub(max_events as u64));
        let after = Seq(first.0 - 1).max(newest);
        let events = self.events(session, after, max_events)?;
        Ok(History { runs: runs as u64, events, truncated: after >= first || starts.len() > runs })
    }

    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        let words = listing.search.as_deref().map(Words::of);
        if words.as_ref().is_some_and(Words::is_empty) {
            return Ok(Vec::new());
        }
        if let Some((words, limit)) = words.as_ref().zip(listing.limit) {
            return self.first_found(words, listing.project.as_deref(), limit);
        }
        let listed = session::list(&self.connection, &self.owner, listing, words.as_ref().map(begun::query));
        self.done(listed)
    }

    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        let summary = session::summary(&self.connection, &self.owner, session);
        self.done(summary)?.ok_or_else(|| StoreError::Unknown(session.clone()))
    }

    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let words = Words::of(text);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let limit = limit.min(MAX_FOUND);
        let mut found = Vec::new();
        for hit in self.done(session::hits(&self.connection, &begun::query(&words), limit))? {
            let text = self.text_of(&hit.session, hit.id, hit.entry, hit.events)?;
            found.push(SearchHit {
                session: hit.session,
                title: hit.title,
                entry: hit.entry,
                at: hit.at,
                snippet: snippet(&text, &words),
            });
        }
        for cut in self.done(session::cut_off(&self.connection, &self.owner))? {
            let state = self.load(&cut.id)?.state;
            let open = state.open_messages().into_iter().filter_map(|open| state.entries.get(&open.into()));
            let said = open.map(|entry| (entry, text_of(entry))).filter(|(_, text)| words.all_in(text));
            found.extend(said.map(|(entry, text)| SearchHit {
                session: cut.id.clone(),
                title: cut.title.clone(),
                entry: entry.id,
                at: entry.at,
                snippet: snippet(&text, &words),
            }));
        }
        found.sort_by_key(|hit| Reverse(hit.at));
        found.truncate(limit);
        Ok(found)
    }

    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let (id, _) = self.known(session)?;
        let fence = self.lease(session, id)?;
        if let Some(writer) = self.writers.get_mut(session) {
            writer.fence = fence;
        }
        // First what it kept of files: once it is gone, nobody knows that there is something to forget.
        if let Some(directory) = self.path.parent().filter(|directory| contents::is_at(directory)) {
            Contents::at(directory)?.with_patience(self.patience).forget(session.as_str())?;
        }
        let deleted = (|| {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            writing::delete(&transaction, id)?;
            transaction.commit()
        })();
        // One that could not be taken away stays as it is, open where it was.
        self.done(deleted)?;
        self.writers.remove(session);
        if let Some(aside) = &self.aside {
            aside.take_out(session);
        }
        self.surplus = true;
        // So that its text does not stay in the write-ahead log; another reader may keep it there a little longer.
        let tidied = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.done(tidied)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.wait_for_locks(LOCK_PATIENCE);
        let mut is_all_written = true;
        for (session, mut writer) in std::mem::take(&mut self.writers) {
            // Nobody is left to tell; what was acknowledged is on disk.
            let closed = writer.close(&mut self.connection, &self.owner, &session);
            is_all_written &= closed.is_ok();
            if closed.is_err_and(|error| trouble::is_lock(&error)) {
                // Whoever holds it was waited for.
                self.wait_for_locks(Duration::ZERO);
            }
        }
        if let Some(aside) = self.aside.take().filter(|_| is_all_written) {
            aside.remove();
        }
    }
}
