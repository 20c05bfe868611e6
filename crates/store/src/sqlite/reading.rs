//! Reading the log: what is good is given, what is damaged is named and passed over.

use super::number::{int, nat};
use super::trouble;
use crate::contract::Damage;
pub(super) use crate::losses::{Losses, follow, newer};
use crate::rows::{self, Row, Unreadable};
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use rusqlite::{Connection, OptionalExtension, Result, params};

/// Bits of a log key that number the event; the rest number the session.
pub(super) const SEQ_BITS: u32 = 40;
/// The largest event number a key can hold.
pub(super) const MAX_SEQ: u64 = (1 << SEQ_BITS) - 1;

/// The key of the row that begins with `seq`.
pub(super) fn key(session: i64, seq: Seq) -> i64 {
    (session << SEQ_BITS) | int(seq.0.min(MAX_SEQ))
}

/// Says that not all that stood beside the store of a session could be written to it.
pub(super) fn not_all_aside() -> Damage {
    let message =
        "its last events waited in a file beside the store, and not all of them could be read; the file is kept (`aside-….db.damaged-1`)"
            .to_owned();
    Damage { lost: Vec::new(), unfit: 0, message }
}

/// Visits the events after `after`, in order, until `visit` says that it is enough.
pub(super) fn events(
    connection: &Connection,
    (id, session): (i64, &SessionId),
    after: Seq,
    losses: &mut Losses,
    mut visit: impl FnMut(Event) -> bool,
) -> Result<()> {
    let from = first_key(connection, id, after)?;
    let mut statement = connection.prepare_cached(
        "SELECT key, last, version, form, crc, record FROM log WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
    )?;
    let mut found = statement.query(params![from, key(id, Seq(MAX_SEQ))])?;
    let mut due = after.next();
    loop {
        let row = match found.next() {
            Ok(Some(row)) => log_row(row),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        let row = match row {
            Ok(row) => row,
            Err(error) if trouble::is_damage(&error) => {
                losses.page = true;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if row.first > due {
            losses.gaps.push((due, Seq(row.first.0 - 1)));
        }
        due = row.last.next();
        match rows::unpack(session, &row) {
            Ok(events) => {
                for event in events.into_iter().filter(|event| event.seq > after) {
                    if !visit(event) {
                        return Ok(());
                    }
                }
            }
            Err(Unreadable::Damaged(_)) => losses.rows.push((row.first, row.last)),
            Err(Unreadable::Newer(what)) => losses.newer = losses.newer.take().or(Some(what)),
        }
    }
}

/// The key of the row that holds the event after `after`, or of the next one.
fn first_key(connection: &Connection, id: i64, after: Seq) -> Result<i64> {
    let wanted = key(id, after.next());
    let before = connection
        .prepare_cached("SELECT key, last FROM log WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1")?
        .query_row(params![key(id, Seq(0)), wanted], |row| Ok((row.get(0)?, nat(row.get(1)?))))
        .optional()?;
    Ok(match before {
        Some((before, last)) if Seq(last) > after => before,
        Some(_) | None => wanted,
    })
}

fn log_row(row: &rusqlite::Row<'_>) -> Result<Row> {
    let key: i64 = row.get(0)?;
    Ok(Row {
        first: Seq(nat(key) & MAX_SEQ),
        last: Seq(nat(row.get(1)?)),
        version: row.get(2)?,
        form: row.get(3)?,
        crc: row.get(4)?,
        bytes: row.get(5)?,
    })
}

/// The newest snapshot; `None` when there is none or it is damaged, which costs only time.
fn snapshot(connection: &Connection, (id, session): (i64, &SessionId)) -> Result<Option<State>> {
    let row = connection
        .prepare_cached("SELECT seq, version, form, crc, record FROM snapshots WHERE session = ?1")?
        .query_row([id], |row| {
            let seq = Seq(nat(row.get(0)?));
            let (version, form, crc, bytes) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok(Row { first: seq, last: seq, version, form, crc, bytes })
        })
        .optional();
    match row {
        Ok(row) => Ok(row.and_then(|row| rows::unpack_state(session, &row).ok())),
        Err(error) if trouble::is_damage(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The event that the snapshot stands at; 0 when there is none that can be read.
pub(super) fn snapshot_at(connection: &Connection, session: (i64, &SessionId)) -> Result<Seq> {
    Ok(snapshot(connection, session)?.map_or(Seq(0), |state| state.seq))
}

/// The session as it stands on disk: the snapshot and everything after.
pub(super) fn state(
    connection: &Connection,
    session: (i64, &SessionId),
    losses: &mut Losses,
) -> Result<(State, Seq)> {
    let mut state = snapshot(connection, session)?.unwrap_or_default();
    let snapshot_at = state.seq;
    let mut unfit = 0;
    events(connection, session, snapshot_at, losses, |event| {
        unfit += u64::from(!follow(&mut state, &event));
        true
    })?;
    losses.unfit += unfit;
    Ok((state, snapshot_at))
}
