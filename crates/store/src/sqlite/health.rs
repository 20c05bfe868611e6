//! Whether a store is whole, for `doctor` and before anything is mended. The file is only read, also while others write it.

use super::reading::{self, Losses};
use super::rescue::{self, Rescued};
use super::{access, place, read_only, trouble};
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
pub enum Look {
    /// At the pages and as many records as there is time for.
    Quick(Duration),
    /// At everything.
    Thorough,
}

/// How a store is.
#[derive(Debug)]
pub enum Health {
    /// There is none.
    Missing,
    /// No damage was found.
    Whole {
        /// How many sessions are in it.
        sessions: u64,
        /// How large it is.
        bytes: u64,
        /// Whether everything was looked at, or only a part.
        all: bool,
    },
    /// Something of it cannot be read.
    Damaged {
        /// What could be saved of it; `None` when a quick look has no time to count.
        losses: Option<Rescued>,
    },
    /// It cannot be looked at.
    Refused(StoreError),
}

impl SqliteStore {
    /// Looks at the store in `directory`; nothing in it is changed.
    pub fn examine(directory: &Path, look: Look) -> Health {
        let path = place::file(directory);
        match access::is_there(&path) {
            Ok(true) => {}
            Ok(false) => return Health::Missing,
            Err(why) => return Health::Refused(why),
        }
        let bytes = match std::fs::metadata(&path) {
            // One whose maker died before the first table.
            Ok(found) if found.len() == 0 => return Health::Missing,
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Health::Missing,
            Err(error) => return Health::Refused(trouble::io(&path, &error)),
        };
        let too_large = matches!(look, Look::Quick(_)) && bytes > MAX_COUNTED;
        match read_only::connect_to_ours(&path).and_then(|connection| sound(&connection, &path, look)) {
            Ok(Sound::Yes { sessions, all }) => Health::Whole { sessions, bytes, all },
            Ok(Sound::No) | Err(StoreError::Corrupt { .. }) if too_large => Health::Damaged { losses: None },
            Ok(Sound::No) | Err(StoreError::Corrupt { .. }) => damaged(&path, look),
            // Its first page may be what is damaged.
            Err(StoreError::Foreign { .. }) if !too_large => damaged(&path, look),
            Err(why) => Health::Refused(why),
        }
    }

    /// Whether `file` is the one that the store in `directory` is kept in.
    pub fn is_kept_in(directory: &Path, file: &Path) -> bool {
        rescue::is_store_in(directory, file)
    }
}

fn damaged(path: &Path, look: Look) -> Health {
    let until = match look {
        Look::Quick(limit) => Some(Instant::now() + limit),
        Look::Thorough => None,
    };
    match rescue::survey(path, until) {
        Ok(losses) => Health::Damaged { losses },
        Err(why) => Health::Refused(why),
    }
}

enum Sound {
    Yes { sessions: u64, all: bool },
    No,
}

fn sound(connection: &Connection, path: &Path, look: Look) -> Result<Sound, StoreError> {
    let looked = match look {
        Look::Thorough => check(connection, "PRAGMA integrity_check(1)", &|| false),
        Look::Quick(limit) => {
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
                let looked = check(connection, "PRAGMA quick_check(1)", &|| Instant::now() >= end);
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
    connection.query_row(count, [], |row| row.get(0)).map(super::number::nat)
}

/// Looks at the pages, then at every record until there is no more time.
fn check(connection: &Connection, pages: &str, is_over: &dyn Fn() -> bool) -> rusqlite::Result<Sound> {
    let said: String = connection.query_row(pages, [], |row| row.get(0))?;
    if said != "ok" {
        return Ok(Sound::No);
    }
    let sessions: Vec<(i64, String, String)> = connection
        .prepare("SELECT id, name, summary FROM sessions WHERE last_seq > 0")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let count = sessions.len() as u64;
    for (id, name, summary) in sessions {
        if is_over() {
            return Ok(Sound::Yes { sessions: count, all: false });
        }
        let Some(session) = SessionId::parse(&name) else { return Ok(Sound::No) };
        if record::decode::<SessionSummary>(&summary).is_err() {
            return Ok(Sound::No);
        }
        let mut losses = Losses::default();
        reading::events(connection, (id, &session), Seq(0), &mut losses, |_| true)?;
        // What a newer program wrote is no damage, and what a session has set aside before is told there.
        if losses.page || !losses.rows.is_empty() {
            return Ok(Sound::No);
        }
    }
    Ok(Sound::Yes { sessions: count, all: true })
}
