//! Reading the log: what is good is given, what is damaged is named and passed over, as in every store.

use crate::database::Database;
use crate::statements;
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use store::StoreError;
use store::parts::{Chain, Losses, Row, Unreadable, follow, unpack, unpack_state};

/// Rows of a log that are read at once.
const PAGE: usize = 256;

/// Our numbers are unsigned, the database's are not; what is too large becomes the largest.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// As we keep it.
pub(crate) fn nat(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A session as the database knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) id: i64,
    pub(crate) last: Seq,
    pub(crate) chain: Chain,
}

/// The number of a session, and where its log ends.
pub(crate) fn known(database: &Database, session: &SessionId) -> Result<Known, StoreError> {
    let name = session.as_str().to_owned();
    let rows = database.read(move |link| {
        let name = name.clone();
        async move { link.rows(statements::KNOWN, &[&name]).await }
    })?;
    let row = rows.first().ok_or_else(|| StoreError::Unknown(session.clone()))?;
    let chain = chain(database, session, row.get(2))?;
    Ok(Known { id: row.get(0), last: Seq(nat(row.get(1))), chain })
}

/// The digest that stands at the head of a log.
pub(crate) fn chain(database: &Database, session: &SessionId, bytes: &[u8]) -> Result<Chain, StoreError> {
    Chain::read(bytes).ok_or_else(|| StoreError::Database {
        place: database.place().to_owned(),
        detail: format!("the digest at the head of session {session} is none"),
    })
}

/// Visits the events after `after`, in order, until `visit` says that it is enough.
pub(crate) fn events(
    database: &Database,
    (id, session): (i64, &SessionId),
    (after, end): (Seq, Option<Seq>),
    losses: &mut Losses,
    mut visit: impl FnMut(Event) -> bool,
) -> Result<(), StoreError> {
    let mut due = after.next();
    loop {
        let (from, most) = (int(due.0), int(PAGE as u64));
        let rows = database
            .read(move |link| async move { link.rows(statements::LOG, &[&id, &from, &most]).await })?;
        let is_end = rows.len() < PAGE;
        for row in rows {
            let row = log_row(&row);
            if row.last < due {
                continue;
            }
            if row.first > due {
                losses.gaps.push((due, Seq(row.first.0 - 1)));
            }
            due = row.last.next();
            match unpack(session, &row) {
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
        if is_end {
            if let Some(end) = end.filter(|end| *end >= due) {
                losses.gaps.push((due, end));
            }
            return Ok(());
        }
    }
}

fn log_row(row: &tokio_postgres::Row) -> Row {
    Row {
        first: Seq(nat(row.get(0))),
        last: Seq(nat(row.get(1))),
        version: small(row.get(2)),
        form: form(row.get(3)),
        crc: small(row.get(4)),
        bytes: row.get(5),
    }
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn form(number: i16) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// The newest snapshot; `None` when there is none or it is damaged, which costs only time.
fn snapshot(database: &Database, (id, session): (i64, &SessionId)) -> Result<Option<State>, StoreError> {
    let rows = database.read(move |link| async move { link.rows(statements::KEPT_STATE, &[&id]).await })?;
    let row = rows.first().map(|row| {
        let seq = Seq(nat(row.get(0)));
        let (version, crc) = (small(row.get(1)), small(row.get(3)));
        Row { first: seq, last: seq, version, form: form(row.get(2)), crc, bytes: row.get(4) }
    });
    Ok(row.and_then(|row| unpack_state(session, &row).ok()))
}

/// The session as it stands in the database: the snapshot and everything after, and where the snapshot stands. A log that ends before
/// `end` has lost what came after.
pub(crate) fn state(
    database: &Database,
    session: (i64, &SessionId),
    end: Option<Seq>,
    losses: &mut Losses,
) -> Result<(State, Seq), StoreError> {
    let mut state = snapshot(database, session)?.unwrap_or_default();
    let snapshot_at = state.seq;
    let mut unfit = 0;
    events(database, session, (snapshot_at, end), losses, |event| {
        unfit += u64::from(!follow(&mut state, &event));
        true
    })?;
    losses.unfit += unfit;
    Ok((state, snapshot_at))
}
