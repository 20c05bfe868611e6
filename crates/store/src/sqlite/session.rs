//! One session that is being written, and sessions as lists and searches see them.

use super::lease::{self, LEASE_MS, Owner};
use super::number::{int, nat};
use super::reading::{self, Losses};
use super::{trouble, writing};
use crate::contract::Fence;
use crate::contract::{LOCK_PATIENCE, Listing};
use crate::error::StoreError;
use crate::projection::Projection;
use domain::event::{Body, Event, MessageEvent, Outcome, ToolEvent};
use domain::ids::{EntryId, Millis, Seq, SessionId};
use domain::session::SessionSummary;
use domain::state::State;
use domain::tool::Progress;
use rusqlite::{Connection, OptionalExtension, Result, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::time::Instant;

/// Most events that wait in memory.
const WAITING_EVENTS: usize = 256;
/// Most text that waits in memory, in bytes.
const WAITING_BYTES: usize = 64 * 1024;
/// A snapshot is due after this many events…
const SNAPSHOT_EVERY: u64 = 1024;
/// …and not before the log has grown by this part of itself, so that large sessions are not written again and again.
const SNAPSHOT_PART: u64 = 64;

/// Most sessions that were cut off in a run which a search looks through itself.
const CUT_OFF: u32 = 64;

/// A session that this store writes.
#[derive(Debug)]
pub(super) struct Writer {
    id: i64,
    pub(super) fence: Fence,
    /// The last event on disk.
    last: Seq,
    waiting: Vec<Event>,
    waiting_bytes: usize,
    /// `None` after a failed write, until it is made anew.
    projection: Option<Projection>,
    pub(super) snapshot_at: Seq,
    renewed: Millis,
    /// The last event that stands aside, 0 for none.
    aside: Seq,
    /// Since when another program's lock is in the way.
    locked: Option<Instant>,
}

/// Whether a commit is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    Now,
    Later,
    /// By whoever made the file, when it is finished.
    ByItsMaker,
}

/// Writes answer `false` when the session is no longer ours to write.
type WriteResult = Result<bool>;

impl Writer {
    pub(super) fn new(id: i64, fence: Fence, last: Seq, projection: Projection) -> Writer {
        Writer {
            id,
            fence,
            last,
            waiting: Vec::new(),
            waiting_bytes: 0,
            projection: Some(projection),
            snapshot_at: Seq(0),
            renewed: lease::now(),
            aside: Seq(0),
            locked: None,
        }
    }

    /// The same for a session of which nothing but its last event is known.
    pub(super) fn anew(session: &SessionId, (id, fence): (i64, Fence), last: Seq) -> Writer {
        Writer { projection: None, ..Writer::new(id, fence, last, Projection::new(session)) }
    }

    /// Whether something may be put aside: for as long as a lock is ordinary.
    pub(super) fn may_put_aside(&mut self) -> bool {
        self.locked.get_or_insert_with(Instant::now).elapsed() < LOCK_PATIENCE
    }

    /// What is neither on disk nor aside, with `events`: what stands aside must follow the log without a gap.
    pub(super) fn not_aside(&self, events: &[Event]) -> Vec<Event> {
        self.waiting.iter().filter(|event| event.seq > self.aside).chain(events).cloned().collect()
    }

    /// `events` stand aside, and wait to be written.
    pub(super) fn put_aside(&mut self, events: &[Event]) {
        self.waiting.extend_from_slice(events);
        self.aside = self.end();
    }

    /// Whether something stands aside that is written by now; it is asked once.
    pub(super) fn is_over_aside(&mut self) -> bool {
        let is_over = self.aside > Seq(0) && self.aside <= self.last;
        if is_over {
            self.aside = Seq(0);
        }
        is_over
    }

    /// Events that were taken and are in no row yet.
    pub(super) fn waiting(&self) -> &[Event] {
        &self.waiting
    }

    /// The last event that was appended, on disk or waiting.
    pub(super) fn end(&self) -> Seq {
        self.waiting.last().map_or(self.last, |event| event.seq)
    }

    /// Whether so many events came since the last snapshot that opening would be slow without another.
    pub(super) fn snapshot_due(&self) -> bool {
        let grown = self.end().0.saturating_sub(self.snapshot_at.0);
        grown >= SNAPSHOT_EVERY.max(self.snapshot_at.0 / SNAPSHOT_PART)
    }

    /// Refuses events that do not follow the last one without a gap.
    pub(super) fn check_numbers(
        &self,
        session: &SessionId,
        events: &[Event],
    ) -> std::result::Result<(), StoreError> {
        let mut due = self.end().next();
        for event in events {
            if event.seq != due || due.0 > reading::MAX_SEQ {
                let (session, got) = (session.clone(), event.seq);
                return Err(StoreError::OutOfOrder { session, expected: due, got });
            }
            due = due.next();
        }
        Ok(())
    }

    /// Writes what waits and `events`, synced.
    pub(super) fn write_now(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
        events: &[Event],
    ) -> WriteResult {
        let waited = self.waiting.len();
        self.waiting.extend_from_slice(events);
        let written = self.flush(connection, owner, session, Sync::Now);
        if written.is_err() {
            self.waiting.truncate(waited);
        }
        written
    }

    /// Lets `events` wait; writes when much waits.
    pub(super) fn write_soon(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
        events: &[Event],
    ) -> WriteResult {
        let (waited, bytes) = (self.waiting.len(), self.waiting_bytes);
        self.waiting.extend_from_slice(events);
        self.waiting_bytes += events.iter().map(weight).sum::<usize>();
        if self.waiting.len() < WAITING_EVENTS && self.waiting_bytes < WAITING_BYTES {
            return Ok(true);
        }
        let written = self.flush(connection, owner, session, Sync::Later);
        if written.is_err() {
            self.waiting.truncate(waited);
            self.waiting_bytes = bytes;
        }
        written
    }

    fn flush(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
        sync: Sync,
    ) -> WriteResult {
        let Some(end) = self.waiting.last().map(|event| event.seq) else { return Ok(true) };
        // What stands aside lasts already, and is taken out once it is written here.
        let sync = if self.aside > self.last { Sync::Now } else { sync };
        // What comes of an attempt that never began is nothing: who only met a lock need not read everything anew.
        let projected = in_transaction(connection, sync, |transaction| {
            if !owner.holds(transaction, self.id, self.fence)? {
                return Ok(None);
            }
            let mut projection = match self.projection.take() {
                Some(projection) => projection,
                None => {
                    let (state, _) = reading::state(transaction, (self.id, session), &mut Losses::default())?;
                    Projection::of(session, &state)
                }
            };
            writing::append(transaction, (self.id, session), &self.waiting, &mut projection)?;
            Ok(Some(projection))
        })?;
        let ours = projected.is_some();
        if ours {
            self.projection = projected;
            self.last = end;
            self.locked = None;
            self.waiting.clear();
            self.waiting_bytes = 0;
        }
        Ok(ours)
    }

    /// Writes the state beside the log, so that opening need not fold everything; `false` if the session is another's by now.
    pub(super) fn snapshot(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
        state: &State,
    ) -> WriteResult {
        if !self.flush(connection, owner, session, Sync::Later)? {
            return Ok(false);
        }
        let ours = in_transaction(connection, Sync::Later, |transaction| {
            if !owner.holds(transaction, self.id, self.fence)? {
                return Ok(false);
            }
            writing::snapshot(transaction, (self.id, session), state)?;
            Ok(true)
        })?;
        if ours {
            self.snapshot_at = state.seq;
        }
        Ok(ours)
    }

    /// Renews the lease in good time and writes what waits; `false` if the session is another's by now.
    pub(super) fn tend(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
    ) -> WriteResult {
        let now = lease::now();
        let aged = now.since(self.renewed) >= LEASE_MS / 3 || now < self.renewed;
        if aged {
            if !owner.renew(connection, self.id, self.fence)? {
                return Ok(false);
            }
            self.renewed = now;
        }
        self.flush(connection, owner, session, Sync::Later)
    }

    /// Writes what waits and lets go; a session without any event leaves nothing behind.
    pub(super) fn close(
        &mut self,
        connection: &mut Connection,
        owner: &Owner,
        session: &SessionId,
    ) -> Result<()> {
        let flushed = self.flush(connection, owner, session, Sync::Now);
        if flushed.as_ref().is_err_and(trouble::is_lock) {
            // It stays ours: it is closed again, or with the program.
            return flushed.map(drop);
        }
        let left = in_transaction(connection, Sync::Later, |transaction| {
            if self.last == Seq(0) && owner.holds(transaction, self.id, self.fence)? {
                return writing::delete(transaction, self.id);
            }
            owner.release(transaction, self.id, self.fence)
        });
        flushed.and(left)
    }

    /// Sets damaged rows aside and keeps a snapshot, so that the damage is not met again.
    pub(super) fn mend(
        &mut self,
        connection: &mut Connection,
        session: &SessionId,
        state: &State,
        losses: &Losses,
    ) -> Result<()> {
        in_transaction(connection, Sync::Now, |transaction| {
            for (first, _) in &losses.rows {
                writing::set_aside(transaction, self.id, *first)?;
            }
            writing::snapshot(transaction, (self.id, session), state)?;
            let last = "UPDATE sessions SET last_seq = ?2 WHERE id = ?1";
            transaction.execute(last, [self.id, int(state.seq.0)]).map(drop)
        })?;
        self.snapshot_at = state.seq;
        Ok(())
    }
}

/// Writes all or nothing, and as durably as `sync` says.
pub(super) fn in_transaction<T>(
    connection: &mut Connection,
    sync: Sync,
    write: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let level = match sync {
        Sync::Now => "FULL",
        Sync::Later => "NORMAL",
        Sync::ByItsMaker => "OFF",
    };
    connection.pragma_update(None, "synchronous", level)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = write(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// About how much text an event brings.
fn weight(event: &Event) -> usize {
    match &event.body {
        Body::Message(MessageEvent::Delta { text, .. }) => text.len(),
        Body::Tool(ToolEvent::Progress {
            progress: Progress::Output(text) | Progress::Replace(text),
            ..
        }) => text.len(),
        _ => 0,
    }
}

const SUMMARY: &str = "SELECT s.summary, l.owner, l.host, l.pid, l.started, l.expires
    FROM sessions s LEFT JOIN leases l ON l.session = s.id";

/// Something was said, done or told in it, or it was named: a session that was only opened is in no list.
const IS_TOUCHED: &str = "(EXISTS (SELECT 1 FROM entries e WHERE e.session = s.id)
    OR EXISTS (SELECT 1 FROM runs r WHERE r.session = s.id))";

/// Sessions, newest first.
pub(super) fn list(
    connection: &Connection,
    owner: &Owner,
    listing: &Listing,
    query: Option<String>,
) -> Result<Vec<SessionSummary>> {
    let of_project = if listing.project.is_some() { "s.project = ?1" } else { "?1 IS NULL" };
    let found = if query.is_some() {
        "s.id IN (SELECT session FROM entries WHERE id IN (SELECT rowid FROM found WHERE found MATCH ?2))"
    } else {
        "?2 IS NULL"
    };
    let sql = format!(
        "{SUMMARY} WHERE s.last_seq > 0 AND {IS_TOUCHED} AND {of_project} AND {found}
         ORDER BY s.updated_at DESC, s.id DESC LIMIT ?3"
    );
    let limit = listing.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![listing.project, query, limit], |row| summary_of(owner, row))?;
    rows.filter_map(Result::transpose).collect()
}

/// One session in short.
pub(super) fn summary(
    connection: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<SessionSummary>> {
    let row = connection
        .prepare_cached(&format!("{SUMMARY} WHERE s.name = ?1 AND s.last_seq > 0"))?
        .query_row([session.as_str()], |row| summary_of(owner, row))
        .optional()?;
    Ok(row.flatten())
}

/// The sessions that a program has open, each with the number of its process.
pub(super) fn holders(connection: &Connection, owner: &Owner) -> Result<BTreeMap<SessionId, u32>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.name, l.pid, l.owner, l.host, l.pid, l.started, l.expires
         FROM leases l JOIN sessions s ON s.id = l.session WHERE l.owner != ''",
    )?;
    let rows = statement.query_map([], |row| {
        let name: String = row.get(0)?;
        let pid = row.get(1)?;
        Ok(SessionId::parse(&name).filter(|_| owner.is_held(row, 2).unwrap_or(false)).map(|id| (id, pid)))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// `None` when what is kept cannot be read, which a recovery mends.
fn summary_of(owner: &Owner, row: &rusqlite::Row<'_>) -> Result<Option<SessionSummary>> {
    let kept = row.get_ref(0)?.as_str().ok().map(record::decode::<SessionSummary>);
    let Some(Ok(mut summary)) = kept else { return Ok(None) };
    // A run whose program is gone is not under way, whatever its log says.
    if summary.running && !owner.is_held(row, 1)? {
        (summary.running, summary.outcome) = (false, Some(Box::new(Outcome::Interrupted)));
    }
    summary.elsewhere = owner.is_held_elsewhere(row, 1)?;
    Ok(Some(summary))
}

/// The newest sessions whose program died in the middle of a run: what was said there last is in no index until they are opened.
pub(super) fn cut_off(connection: &Connection, owner: &Owner) -> Result<Vec<SessionSummary>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SUMMARY} WHERE s.last_seq > 0 AND instr(s.summary, '\"running\":true') ORDER BY s.updated_at DESC LIMIT ?1"
    ))?;
    let rows = statement.query_map([CUT_OFF], |row| {
        let kept = row.get_ref(0)?.as_str().ok().map(record::decode::<SessionSummary>);
        let Some(Ok(summary)) = kept else { return Ok(None) };
        Ok((summary.running && !owner.is_held(row, 1)?).then_some(summary))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// A place in the log where all words were found.
pub(super) struct Hit {
    pub(super) session: SessionId,
    pub(super) id: i64,
    pub(super) title: String,
    pub(super) entry: EntryId,
    pub(super) at: Millis,
    pub(super) events: (Seq, Seq),
}

/// The newest entries that hold a word for each word of the query.
pub(super) fn hits(connection: &Connection, query: &str, limit: usize) -> Result<Vec<Hit>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.name, s.id, s.summary, e.entry, e.at, e.first, e.last
         FROM entries e JOIN sessions s ON s.id = e.session
         WHERE e.id IN (SELECT rowid FROM found WHERE found MATCH ?1) AND e.entry > 0
         ORDER BY e.at DESC, e.id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![query, int(limit as u64)], |row| {
        let name: String = row.get(0)?;
        let summary: String = row.get(2)?;
        let title = record::decode::<SessionSummary>(&summary).map_or_else(|_| String::new(), |s| s.title);
        Ok(SessionId::parse(&name).map(|session| (session, title)).map(|(session, title)| {
            Ok(Hit {
                session,
                id: row.get(1)?,
                title,
                entry: EntryId(nat(row.get(3)?)),
                at: Millis(nat(row.get(4)?)),
                events: (Seq(nat(row.get(5)?)), Seq(nat(row.get(6)?))),
            })
        }))
    })?;
    rows.filter_map(Result::transpose).map(|hit| hit?).collect()
}

/// The entry of a session in which words were found, and the events that made it.
pub(super) struct FoundPlace {
    pub(super) id: i64,
    pub(super) entry: EntryId,
    pub(super) at: Millis,
    pub(super) events: (Seq, Seq),
}

/// The first `limit` sessions in which the words of the query stand, those first in which they were said last, each with the newest
/// entry that holds them; `None` where only its title does. No more of the index is read than that takes, however many there are.
pub(super) fn found(
    connection: &Connection,
    owner: &Owner,
    (query, project): (&str, Option<&str>),
    limit: usize,
) -> Result<Vec<(SessionSummary, Option<FoundPlace>)>> {
    let mut summaries =
        connection.prepare_cached(&format!("{SUMMARY} WHERE s.id = ?1 AND s.last_seq > 0"))?;
    let mut statement = connection.prepare_cached(
        "SELECT e.session, e.entry, e.at, e.first, e.last FROM found CROSS JOIN entries e ON e.id = found.rowid
         WHERE found MATCH ?1 ORDER BY found.rowid DESC",
    )?;
    let mut rows = statement.query([query])?;
    let mut all: Vec<(SessionSummary, Option<FoundPlace>)> = Vec::new();
    // Where each session stands in the list; those of other projects stand nowhere.
    let mut places: BTreeMap<i64, Option<usize>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (id, entry) = (row.get::<_, i64>(0)?, nat(row.get(1)?));
        let place = match places.get(&id) {
            Some(place) => *place,
            None if all.len() == limit => break,
            None => {
                let summary = summaries.query_row([id], |row| summary_of(owner, row)).optional()?.flatten();
                let summary = summary.filter(|summary| project.is_none_or(|of| summary.project == of));
                let place = summary.map(|summary| {
                    all.push((summary, None));
                    all.len() - 1
                });
                places.insert(id, place);
                place
            }
        };
        // Entry 0 is the title.
        if let Some((_, newest @ None)) = place.and_then(|place| all.get_mut(place))
            && entry > 0
        {
            *newest = Some(FoundPlace {
                id,
                entry: EntryId(entry),
                at: Millis(nat(row.get(2)?)),
                events: (Seq(nat(row.get(3)?)), Seq(nat(row.get(4)?))),
            });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::RunEvent;
    use domain::ids::RunId;

    #[test]
    fn an_event_past_the_numbers_that_a_key_holds_is_refused() {
        let session = SessionId::from_number(1);
        let event = |seq| Event { seq, at: Millis(1), body: Body::Run(RunEvent::Started { run: RunId(1) }) };
        let last = Seq(reading::MAX_SEQ);
        let near = Writer::new(1, Fence(1), Seq(last.0 - 1), Projection::new(&session));
        assert!(near.check_numbers(&session, &[event(last)]).is_ok());
        let refused = near.check_numbers(&session, &[event(last), event(last.next())]);
        assert!(matches!(refused, Err(StoreError::OutOfOrder { got, .. }) if got == last.next()));
    }
}
