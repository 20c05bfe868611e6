//! Whether a store is whole, for `doctor` and before anything is mended. The file is only read, also while others write it.

use super::number::nat;
use super::reading::{self, Losses};
use super::rescue::{self, Rescued};
use super::{access, pages, place, read_only, trouble};
use crate::{SqliteStore, StoreError};
use domain::ids::{Seq, SessionId};
use domain::session::SessionSummary;
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The largest damaged file that a quick look goes through.
const MAX_COUNTED: u64 = 1024 * 1024 * 1024;

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// At the pages and as many records as there is time for, as long as it says.
    Quick(Duration),
    /// At everything.
    Thorough,
}

/// How a store is.
#[derive(Debug)]
pub enum Health {
    Missing,
    /// No damage was found.
    Whole {
        sessions: u64,
        /// How large it is.
        bytes: u64,
        /// Whether everything was looked at, or only a part.
        all: bool,
    },
    /// Something of it cannot be read.
    Damaged {
        /// What was found first, in words.
        first: String,
        /// What could be saved of it; `None` when a quick look has no time to count.
        losses: Option<Rescued>,
    },
    /// It cannot be looked at.
    Refused(StoreError),
}

impl SqliteStore {
    /// Looks at the store in `directory`; nothing in it is changed.
    pub fn examine(directory: &Path, look: CheckDepth) -> Health {
        let path = place::file(directory);
        let is_there = match access::is_there(&path) {
            Ok(is_there) => is_there,
            Err(why) => return Health::Refused(why),
        };
        if pages::is_orphaned(&path) {
            return damaged(&path, look, trouble::orphaned(&path).to_string());
        }
        if !is_there {
            return Health::Missing;
        }
        let bytes = match std::fs::metadata(&path) {
            // One whose maker died before the first table.
            Ok(found) if found.len() == 0 => return Health::Missing,
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Health::Missing,
            Err(error) => return Health::Refused(trouble::io(&path, &error)),
        };
        let too_large = matches!(look, CheckDepth::Quick(_)) && bytes > MAX_COUNTED;
        match read_only::connect_to_ours(&path).and_then(|connection| sound(&connection, &path, look)) {
            Ok(Sound::Yes { sessions, all }) => Health::Whole { sessions, bytes, all },
            Ok(Sound::No(first)) if too_large => Health::Damaged { first, losses: None },
            Err(StoreError::Corrupt { detail, .. }) if too_large => {
                Health::Damaged { first: detail, losses: None }
            }
            Ok(Sound::No(first)) => damaged(&path, look, first),
            Err(StoreError::Corrupt { detail, .. }) => damaged(&path, look, detail),
            // Its first page may be what is damaged.
            Err(StoreError::Foreign { .. }) if !too_large => {
                damaged(&path, look, "its header cannot be read".to_owned())
            }
            Err(why) => Health::Refused(why),
        }
    }

    /// Whether `file` is the one that the store in `directory` is kept in.
    pub fn is_kept_in(directory: &Path, file: &Path) -> bool {
        rescue::is_store_in(directory, file)
    }
}

fn damaged(path: &Path, look: CheckDepth, first: String) -> Health {
    let until = match look {
        CheckDepth::Quick(limit) => Some(Instant::now() + limit),
        CheckDepth::Thorough => None,
    };
    match rescue::survey(path, until) {
        Ok(losses) => Health::Damaged { first, losses },
        Err(why) => Health::Refused(why),
    }
}

/// Whether a file is sound, as far as it was looked at.
pub(super) enum Sound {
    Yes {
        sessions: u64,
        all: bool,
    },
    /// What was found first.
    No(String),
}

fn sound(connection: &Connection, path: &Path, look: CheckDepth) -> Result<Sound, StoreError> {
    let looked = match look {
        CheckDepth::Thorough => check(connection, &|| false),
        CheckDepth::Quick(limit) => {
            let (over, ended) = mpsc::sync_channel::<()>(1);
            let handle = connection.get_interrupt_handle();
            let end = Instant::now() + limit;
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    // Whoever drops the other end is done; then nobody has to be stopped.
                    if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                        handle.interrupt();
                    }
                });
                let looked = check(connection, &|| Instant::now() >= end);
                drop(over);
                looked
            })
        }
    };
    match looked {
        Ok(sound) => Ok(sound),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            let sessions = count(connection).map_err(|error| trouble::sqlite(path, &error))?;
            Ok(Sound::Yes { sessions, all: false })
        }
        Err(error) => Err(trouble::sqlite(path, &error)),
    }
}

fn count(connection: &Connection) -> rusqlite::Result<u64> {
    let count = "SELECT count(*) FROM sessions WHERE last_seq > 0";
    connection.query_row(count, [], |row| row.get(0)).map(nat)
}

/// Looks at the pages and what SQLite makes of them, then at every record until there is no more time. Only the whole check sees that an
/// index leads astray; it costs little more than the quick one, for the log has none.
pub(super) fn check(connection: &Connection, is_over: &dyn Fn() -> bool) -> rusqlite::Result<Sound> {
    // All of it as it stands now, whatever is written meanwhile.
    let transaction = connection.unchecked_transaction()?;
    let said: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return Ok(Sound::No(said));
    }
    let sessions: Vec<(i64, String, u64, String)> = transaction
        .prepare("SELECT id, name, last_seq, summary FROM sessions")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2).map(nat)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let count = sessions.iter().filter(|(_, _, last, _)| *last > 0).count() as u64;
    for (id, name, last, summary) in sessions {
        if is_over() {
            return Ok(Sound::Yes { sessions: count, all: false });
        }
        let Some(session) = SessionId::parse(&name) else {
            return Ok(Sound::No("the name of a conversation cannot be read".to_owned()));
        };
        if record::decode::<SessionSummary>(&summary).is_err() {
            return Ok(Sound::No(format!("what is listed of {session} cannot be read")));
        }
        if let Some(what) = missing(&transaction, (id, &session), Seq(last))? {
            return Ok(Sound::No(format!("{what} {session}")));
        }
    }
    Ok(Sound::Yes { sessions: count, all: true })
}

/// What of a session cannot be read, whose last event is `last`. What a newer program wrote is no damage, and what a session has done
/// without since it was mended is told there.
fn missing(
    connection: &Connection,
    session: (i64, &SessionId),
    last: Seq,
) -> rusqlite::Result<Option<&'static str>> {
    let (mut losses, mut end) = (Losses::default(), Seq(0));
    reading::events(connection, session, Seq(0), &mut losses, |event| {
        end = event.seq;
        true
    })?;
    if losses.page || !losses.rows.is_empty() {
        return Ok(Some("records cannot be read of"));
    }
    if losses.newer.is_some() {
        return Ok(None);
    }
    if last == Seq(0) && end > last {
        return Ok(Some("no list knows of the records of"));
    }
    let lost =
        losses.gaps.last().map_or(Seq(0), |(_, last)| *last).max(if end < last { last } else { Seq(0) });
    let is_missed = lost > Seq(0) && lost > reading::snapshot_at(connection, session)?;
    Ok(is_missed.then_some("records are missing of"))
}
