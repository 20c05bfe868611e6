//! Writing: rows of the log and, in the same transaction, everything that is rebuilt from them.

use super::number::int;
use super::reading::key;
use crate::projection::{Change, FoundEntry, Projection};
use crate::rows::{self, Row};
use domain::event::Event;
use domain::ids::{Millis, SessionId};
use domain::state::State;
use rusqlite::{Connection, Result, params};

/// The entry number that stands for a session's title.
const TITLE: i64 = 0;

/// Appends `events` and what they change in the projections.
pub(super) fn append(
    connection: &Connection,
    (id, session): (i64, &SessionId),
    events: &[Event],
    projection: &mut Projection,
) -> Result<()> {
    let Some(last) = events.last() else { return Ok(()) };
    for row in rows::pack(session, events) {
        insert_row(connection, id, &row)?;
    }
    project(connection, id, events, projection)?;
    save_summary(connection, id, projection, last.seq.0)
}

/// Adds a row to the log. A row that is there already is an error: nothing is ever written over.
pub(super) fn insert_row(connection: &Connection, id: i64, row: &Row) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO log VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![key(id, row.first), int(row.last.0), row.version, row.form, row.crc, row.bytes])
        .map(drop)
}

fn project(connection: &Connection, id: i64, events: &[Event], projection: &mut Projection) -> Result<()> {
    let title = projection.summary().title.clone();
    for event in events {
        match projection.take(event) {
            Some(Change::Entry(entry)) => save_entry(connection, id, &entry)?,
            Some(Change::RunBegan) => {
                connection
                    .prepare_cached("INSERT OR IGNORE INTO runs VALUES (?1, ?2)")?
                    .execute(params![id, int(event.seq.0)])?;
            }
            None => {}
        }
    }
    let summary = projection.summary();
    if summary.title != title {
        save_text(connection, id, TITLE, (summary.updated_at, 0, 0), &summary.title)?;
    }
    Ok(())
}

fn save_entry(connection: &Connection, id: i64, entry: &FoundEntry) -> Result<()> {
    let place = (entry.at, int(entry.events.0.0), int(entry.events.1.0));
    save_text(connection, id, int(entry.id.0), place, &entry.text)
}

fn save_text(
    connection: &Connection,
    id: i64,
    entry: i64,
    (at, first, last): (Millis, i64, i64),
    text: &str,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO entries (session, entry, at, first, last) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (session, entry) DO UPDATE SET at = ?3, first = ?4, last = ?5",
        )?
        .execute(params![id, entry, int(at.0), first, last])?;
    let rowid: i64 = connection
        .prepare_cached("SELECT id FROM entries WHERE session = ?1 AND entry = ?2")?
        .query_row([id, entry], |row| row.get(0))?;
    connection.prepare_cached("DELETE FROM found WHERE rowid = ?1")?.execute([rowid])?;
    connection
        .prepare_cached("INSERT INTO found (rowid, text) VALUES (?1, ?2)")?
        .execute(params![rowid, text])
        .map(drop)
}

/// Writes what lists and searches show of the session, up to event `last`.
pub(super) fn save_summary(
    connection: &Connection,
    id: i64,
    projection: &Projection,
    last: u64,
) -> Result<()> {
    let summary = projection.summary();
    connection
        .prepare_cached(
            "UPDATE sessions SET last_seq = ?2, project = ?3, updated_at = ?4, summary = ?5 WHERE id = ?1",
        )?
        .execute(params![id, int(last), summary.project, int(summary.updated_at.0), record::encode(summary)])
        .map(drop)
}

/// Keeps a snapshot in the place of the one before.
pub(super) fn snapshot(
    connection: &Connection,
    (id, session): (i64, &SessionId),
    state: &State,
) -> Result<()> {
    insert_snapshot(connection, id, &rows::pack_state(session, state))
}

/// Keeps the row of a snapshot as it is.
pub(super) fn insert_snapshot(connection: &Connection, id: i64, row: &Row) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![id, int(row.first.0), row.version, row.form, row.crc, row.bytes])
        .map(drop)
}

/// Sets a row aside that cannot be read.
pub(super) fn set_aside(connection: &Connection, id: i64, first: domain::ids::Seq) -> Result<()> {
    let key = key(id, first);
    connection.execute(
        "INSERT INTO damaged SELECT ?1, ?2, last, version, form, crc, record FROM log WHERE key = ?3",
        params![id, int(first.0), key],
    )?;
    connection.execute("DELETE FROM log WHERE key = ?1", [key]).map(drop)
}

/// Makes the projections of a session anew from all its events.
pub(super) fn rebuild(
    connection: &Connection,
    (id, session): (i64, &SessionId),
    events: &[Event],
) -> Result<Projection> {
    forget_projections(connection, id)?;
    let mut projection = Projection::new(session);
    project(connection, id, events, &mut projection)?;
    save_summary(connection, id, &projection, events.last().map_or(0, |event| event.seq.0))?;
    Ok(projection)
}

fn forget_projections(connection: &Connection, id: i64) -> Result<()> {
    connection
        .execute("DELETE FROM found WHERE rowid IN (SELECT id FROM entries WHERE session = ?1)", [id])?;
    connection.execute("DELETE FROM entries WHERE session = ?1", [id])?;
    connection.execute("DELETE FROM runs WHERE session = ?1", [id]).map(drop)
}

/// Takes a session away. Its number is never used again, so a program that still thinks it writes it writes nothing.
pub(super) fn delete(connection: &Connection, id: i64) -> Result<()> {
    forget_projections(connection, id)?;
    let (from, to) = (key(id, domain::ids::Seq(0)), key(id, domain::ids::Seq(super::reading::MAX_SEQ)));
    connection.execute("DELETE FROM log WHERE key BETWEEN ?1 AND ?2", [from, to])?;
    connection.execute("DELETE FROM damaged WHERE session = ?1", [id])?;
    connection.execute("DELETE FROM snapshots WHERE session = ?1", [id])?;
    connection.execute("DELETE FROM leases WHERE session = ?1", [id])?;
    connection.execute("DELETE FROM sessions WHERE id = ?1", [id]).map(drop)
}
