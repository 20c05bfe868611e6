//! What can be read of a damaged store, in a new one.
//!
//! The usual store is replaced: the new file is finished and synced first, then takes the name in one step; the damaged one keeps
//! everything under a name of its own. Whenever that is interrupted, the name leads to the old store or to the new one. Nobody else
//! can have the file open meanwhile: SQLite's own locks say so, and an old connection that closes later would take the new log away.
//! Any other file is only read, and gives the sessions that are not there yet.

use super::pages::{is_orphaned, log_path};
use super::salvage::{Salvage, SalvagedRows, SessionFacts};
use super::{access, place, read_only, reading, schema, session, trouble, writing};
use crate::projection::Projection;
use crate::rows;
use crate::{SqliteStore, StoreError};
use domain::event::{Body, Event, NoteEvent};
use domain::ids::{EntryId, Seq, SessionId};
use domain::signal::Level;
use domain::state::State;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a new store is called while it is made.
const UNFINISHED: &str = ".recovering-";
/// What a damaged store is called, with a number.
const DAMAGED: &str = ".damaged-";
/// How many damaged stores are kept beside each other at most.
const MAX_DAMAGED: u32 = 1_000;

/// What became of the sessions of a damaged store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rescued {
    /// Each session that was found, oldest first.
    pub sessions: Vec<RescuedSession>,
    /// Records that belong to no session that is known.
    pub strays: u64,
    /// Where the damaged file is now; `None` when it is where it was.
    pub aside: Option<PathBuf>,
}

/// What became of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RescuedSession {
    pub session: SessionId,
    /// Its title; empty when it is lost.
    pub title: String,
    /// What was done with it.
    pub fate: Fate,
    /// How many of its events could be read.
    pub events: u64,
    /// The numbers of those that could not, as first and last.
    pub lost: Vec<(Seq, Seq)>,
}

/// What was done with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is in the store, as it was.
    Whole,
    /// It is in the store with gaps, and says so.
    Partly,
    /// The store has one of this name, which was left as it is.
    There,
    /// Nothing of it could be read.
    Gone,
}

impl RescuedSession {
    /// The sum of the gaps.
    pub fn lost_events(&self) -> u64 {
        self.lost.iter().map(|(first, last)| last.0 - first.0 + 1).sum()
    }
}

impl SqliteStore {
    /// Makes a new store of what can be read of the one in `directory`, and puts it in its place.
    ///
    /// # Errors
    /// When somebody has the store open, it is not ours, or the disk fails; the store is as it was then.
    pub fn rescue(directory: &Path) -> Result<Rescued, StoreError> {
        // Where the name is a link, the file that it leads to is replaced.
        let path = place::real(&place::file(directory));
        let on_disk = |error: io::Error| trouble::io(&path, &error);
        // Of a store that is gone the log may be left. An empty file in its place is what can be locked.
        let is_gone = is_orphaned(&path) && !path.exists();
        if is_gone {
            place::make_new(&path).map_err(on_disk)?;
        }
        let old = File::options().read(true).write(true).open(&path).map_err(on_disk)?;
        let rescued = replace(&path, &old);
        if rescued.is_err() && is_gone {
            // As it was.
            let _ = std::fs::remove_file(&path);
        }
        rescued
    }

    /// Takes the sessions of another file in that are not here yet, as far as they can be read.
    ///
    /// # Errors
    /// When the file is not a session store or cannot be read, or the disk fails; sessions that were taken in before that stay.
    pub fn take_in(&mut self, file: &Path) -> Result<Rescued, StoreError> {
        access::is_there(file)?;
        let salvage = Salvage::of(file).map_err(|error| trouble::io(file, &error))?;
        is_ours(file, &salvage)?;
        let taken = rescue_all(&mut self.connection, &salvage, session::Sync::Later).and_then(|taken| {
            // On disk once, for all of them.
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
            Ok(taken)
        });
        self.done(taken)
    }
}

/// Makes a new store of what can be read of the one at `path`, which is open as `old`, and puts it in its place.
fn replace(path: &Path, old: &File) -> Result<Rescued, StoreError> {
    let on_disk = |error: io::Error| trouble::io(path, &error);
    if !lock(old).map_err(on_disk)? {
        let pids = Salvage::of(path).map_err(on_disk)?.writers.into_iter().collect();
        return Err(StoreError::InUse { path: path.to_owned(), pids });
    }
    let salvage = Salvage::of(path).map_err(on_disk)?;
    is_ours(path, &salvage)?;
    forget_unfinished(path);
    let unfinished = beside(path, &format!("{UNFINISHED}{}", std::process::id()));
    let made = make(&unfinished, &salvage).and_then(|rescued| {
        let aside = swap(path, old, &unfinished, &salvage).map_err(on_disk)?;
        Ok(Rescued { aside: Some(aside), ..rescued })
    });
    if made.is_err() {
        forget_unfinished(path);
    }
    made
}

/// What would become of the sessions in a file; nothing is made. `None` when that is not known in time.
pub(super) fn survey(path: &Path, until: Option<Instant>) -> Result<Option<Rescued>, StoreError> {
    let salvage = Salvage::of(path).map_err(|error| trouble::io(path, &error))?;
    is_ours(path, &salvage)?;
    let mut rescued = Rescued { strays: salvage.strays(), ..Rescued::default() };
    for (id, known) in salvage.sessions() {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        let found = salvage.found(id, &known.name);
        let fate = if found.is_empty() { Fate::Gone } else { Fate::Whole };
        rescued.sessions.push(report(known, &found, fate));
    }
    Ok(Some(rescued))
}

/// Whether it is, or was, a store that we may read: by its header and what is in it; where there is no header, a session in it says yes,
/// and so does a log that was left alone.
fn is_ours(path: &Path, salvage: &Salvage) -> Result<(), StoreError> {
    let judged = match salvage.header() {
        Some(header) => schema::judge(header.format, header.application, salvage.tables()),
        None if salvage.sessions().is_empty() && !salvage.pages().is_orphaned() => {
            Err(schema::Refused::Foreign)
        }
        None => Ok(()),
    };
    match judged {
        Ok(()) | Err(schema::Refused::Damaged(_)) => Ok(()),
        Err(refused) => Err(read_only::schema_trouble(path, refused)),
    }
}

/// Keeps every other program out; `false` when one is in.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    use rustix::io::Errno;
    match rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
fn lock(_file: &File) -> io::Result<bool> {
    Ok(true)
}

/// A file beside another whose name goes on with `suffix`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes what an interrupted attempt has left. Only the holder of the lock makes one.
fn forget_unfinished(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let mut begin: OsString = name.to_owned();
    begin.push(UNFINISHED);
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        if entry.file_name().as_encoded_bytes().starts_with(begin.as_encoded_bytes()) {
            // It is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A new store at `path`, on disk when this returns.
fn make(path: &Path, salvage: &Salvage) -> Result<Rescued, StoreError> {
    let file = place::make_new(path).map_err(|error| trouble::io(path, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let made = Connection::open_with_flags(path, flags).and_then(|connection| {
        // Nobody looks at it before it is finished and synced, so it needs no log and no sync of its own.
        connection.pragma_update_and_check(None, "journal_mode", "memory", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        schema::can_shrink(&connection)?;
        Ok(connection)
    });
    let mut connection = made.map_err(|error| trouble::sqlite(path, &error))?;
    schema::migrate(&mut connection).map_err(|refused| read_only::schema_trouble(path, refused))?;
    let rescued = rescue_all(&mut connection, salvage, session::Sync::ByItsMaker).and_then(|rescued| {
        connection.close().map_err(|(_, error)| error)?;
        Ok(rescued)
    });
    let rescued = rescued.map_err(|error| trouble::sqlite(path, &error))?;
    file.sync_all().map_err(|error| trouble::io(path, &error))?;
    Ok(rescued)
}

/// Puts the new file in the place of the old one; where the old one is now.
fn swap(path: &Path, old: &File, new: &Path, salvage: &Salvage) -> io::Result<PathBuf> {
    let aside = keep_aside(path)?;
    // The log must be gone before the new file is there, or it would be taken for its log. So what it holds goes to the old file first.
    salvage.pages().fold_log(old)?;
    for part in ["-wal", "-shm"] {
        match std::fs::rename(beside(path, part), beside(&aside, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    place::sync_folder_of(path)?;
    same_owner(old, new)?;
    std::fs::rename(new, path)?;
    place::sync_folder_of(path)?;
    Ok(aside)
}

/// Root may mend what is another's: it stays theirs.
#[cfg(unix)]
fn same_owner(old: &File, new: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let (old, made) = (old.metadata()?, std::fs::metadata(new)?);
    if (old.uid(), old.gid()) == (made.uid(), made.gid()) {
        return Ok(());
    }
    std::os::unix::fs::chown(new, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn same_owner(_old: &File, _new: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives the damaged file a second name that nothing else has.
fn keep_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MAX_DAMAGED {
        let aside = beside(path, &format!("{DAMAGED}{number}"));
        if ["-wal", "-shm"].iter().any(|part| beside(&aside, part).exists()) {
            continue;
        }
        match std::fs::hard_link(path, &aside) {
            Ok(()) => return Ok(aside),
            // An attempt that was interrupted has made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && place::is_same(path, &aside) => {
                return Ok(aside);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("there are {MAX_DAMAGED} damaged stores beside it already; remove some")))
}

fn rescue_all(
    connection: &mut Connection,
    salvage: &Salvage,
    sync: session::Sync,
) -> rusqlite::Result<Rescued> {
    let mut rescued = Rescued { strays: salvage.strays(), ..Rescued::default() };
    for (id, known) in salvage.sessions() {
        let found = salvage.found(id, &known.name);
        let fate = session::in_transaction(connection, sync, |transaction| put(transaction, known, &found))?;
        rescued.sessions.push(report(known, &found, fate));
    }
    Ok(rescued)
}

/// Writes what was found of a session, with everything that is made from it.
fn put(connection: &Connection, known: &SessionFacts, found: &SalvagedRows) -> rusqlite::Result<Fate> {
    let name = &known.name;
    if found.is_empty() {
        return Ok(Fate::Gone);
    }
    let there = connection.query_row("SELECT 1 FROM sessions WHERE name = ?1", [name.as_str()], |_| Ok(()));
    if there.optional()?.is_some() {
        return Ok(Fate::There);
    }
    let summary = record::encode(Projection::new(name).summary());
    connection.execute("INSERT INTO sessions (name, summary) VALUES (?1, ?2)", [name.as_str(), &summary])?;
    let id = connection.last_insert_rowid();
    for row in &found.rows {
        writing::insert_row(connection, id, row)?;
    }
    if let Some(snapshot) = &found.snapshot {
        writing::insert_snapshot(connection, id, snapshot)?;
    }
    let mut losses = reading::Losses::default();
    let (mut state, _) = reading::state(connection, (id, name), &mut losses)?;
    let whole = losses.is_empty() && known.last.is_none_or(|last| state.seq >= last);
    if !whole && losses.newer.is_none() {
        let notice = notice(&mut state, known, found);
        for row in rows::pack(name, std::slice::from_ref(&notice)) {
            writing::insert_row(connection, id, &row)?;
        }
        // So that the damage is not met again.
        writing::snapshot(connection, (id, name), &state)?;
    }
    let mut events = Vec::new();
    reading::events(connection, (id, name), Seq(0), &mut reading::Losses::default(), |event| {
        events.push(event);
        true
    })?;
    writing::rebuild(connection, (id, name), &events)?;
    let last = found.rows.last().map_or(state.seq, |row| row.last.max(state.seq));
    writing::save_summary(connection, id, &Projection::of(name, &state), last.0)?;
    Ok(if whole { Fate::Whole } else { Fate::Partly })
}

/// The word in the conversation that something of it is gone.
fn notice(state: &mut State, known: &SessionFacts, found: &SalvagedRows) -> Event {
    let lost: u64 = report(known, found, Fate::Partly).lost_events();
    let body = Body::Note(NoteEvent::Noticed {
        entry: EntryId(state.last_id + 1),
        parent: state.leaf,
        run: state.open_run().map(|run| run.id),
        level: Level::Warning,
        code: "store_damage".to_owned(),
        text: format!(
            "The store was damaged: {lost} of the records of this conversation are lost; everything else is there."
        ),
    });
    let event = Event { seq: state.seq.next(), at: state.updated_at, body };
    reading::follow(state, &event);
    event
}

fn report(known: &SessionFacts, found: &SalvagedRows, fate: Fate) -> RescuedSession {
    let mut lost = Vec::new();
    let mut due = Seq(1);
    for row in &found.rows {
        if row.first > due {
            lost.push((due, Seq(row.first.0 - 1)));
        }
        due = row.last.next();
    }
    if let Some(last) = known.last.filter(|last| *last >= due) {
        lost.push((due, last));
    }
    let events = found.rows.iter().map(|row| row.last.0 - row.first.0 + 1).sum();
    RescuedSession { session: known.name.clone(), title: known.title.clone(), fate, events, lost }
}

/// Whether a file is the one that the store in `directory` is kept in.
pub(super) fn is_store_in(directory: &Path, file: &Path) -> bool {
    place::is_same(&place::file(directory), file) || log_path(&place::file(directory)) == file
}
