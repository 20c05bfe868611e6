//! The tables, how a file gets them, and which files are refused.
//!
//! Only `log` is the truth; `sessions`, `entries`, `found`, `runs` and `snapshots` can be rebuilt from it.

use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;

/// Marks a file as ours ("Prlr").
const APPLICATION_ID: u32 = 0x5072_6c72;

/// The steps from an empty file to today's; a file's `user_version` is how many of them it has had. Each step changes the tables: that
/// tells a later format from a damaged number.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        last_seq INTEGER NOT NULL DEFAULT 0,
        project TEXT NOT NULL DEFAULT '',
        updated_at INTEGER NOT NULL DEFAULT 0,
        summary TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_time ON sessions (updated_at);
    CREATE INDEX sessions_by_project ON sessions (project, updated_at);

    -- key = session's id * 2^40 + number of the first event: one b-tree, in the order in which it is read.
    CREATE TABLE log (
        key INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        version INTEGER NOT NULL,
        form INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        record BLOB NOT NULL
    ) STRICT;

    -- Rows of the log that could not be read, set aside so that their numbers are free.
    CREATE TABLE damaged (
        session INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        version INTEGER NOT NULL,
        form INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        record BLOB NOT NULL
    ) STRICT;

    CREATE TABLE snapshots (
        session INTEGER PRIMARY KEY,
        seq INTEGER NOT NULL,
        version INTEGER NOT NULL,
        form INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        record BLOB NOT NULL
    ) STRICT;

    CREATE TABLE runs (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;

    -- entry 0 stands for the session's title.
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        entry INTEGER NOT NULL,
        at INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        UNIQUE (session, entry)
    ) STRICT;
    CREATE VIRTUAL TABLE found USING fts5 (text, content='', contentless_delete=1, detail='none');

    CREATE TABLE leases (
        session INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        fence INTEGER NOT NULL
    ) STRICT;
"];

/// The format that this version writes.
pub(super) const FORMAT: u32 = MIGRATIONS.len() as u32;
/// No later format has a number beyond this: it is a damaged one.
const MAX_FORMAT: u32 = 1_000;
/// What the search index and SQLite itself keep: other versions of SQLite may make them otherwise.
const NOT_OURS: &[&str] = &["found_", "sqlite_"];

/// Why a file is not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// It has a newer format.
    Newer(u32),
    /// It belongs to another program.
    Foreign,
    /// It is ours, and its header does not say so: the text says what it says.
    Damaged(String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Refused {
        Refused::Sqlite(error)
    }
}

/// What a file holds, whatever its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables {
    /// Exactly the tables of today's format.
    Ours,
    /// All of these and others, or other columns; or records of sessions.
    Alike,
    /// Something else.
    Strange,
}

/// A table or index by its name, and what it was made with.
pub(super) type Made = BTreeMap<String, String>;

impl Tables {
    /// Compares them with those that our migrations make.
    pub(super) fn of(made: &Made) -> Tables {
        let Ok(ours) = Connection::open_in_memory().and_then(|connection| {
            for step in MIGRATIONS {
                connection.execute_batch(step)?;
            }
            made_in(&connection)
        }) else {
            return Tables::Strange;
        };
        let counts = |name: &&String| !NOT_OURS.iter().any(|begin| name.starts_with(begin));
        if ours.keys().filter(counts).any(|name| !made.contains_key(name)) {
            return Tables::Strange;
        }
        let is_same = made.keys().filter(counts).all(|name| made.get(name) == ours.get(name));
        if is_same { Tables::Ours } else { Tables::Alike }
    }
}

/// The tables and indexes of a file.
fn made_in(connection: &Connection) -> rusqlite::Result<Made> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let made = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    made.collect()
}

/// Brings the file up to today's format.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Refused> {
    let found = format(connection)?;
    if found == FORMAT {
        return Ok(());
    }
    // Alone: another program may be migrating the same file.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let found = format(&transaction)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}

/// Lets a file that is empty, or is written anew, be made shorter a few pages at a time.
pub(super) fn can_shrink(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")
}

/// Whether the file has today's format.
pub(super) fn is_ours(connection: &Connection) -> Result<(), Refused> {
    match format(connection)? {
        FORMAT => Ok(()),
        _ => Err(Refused::Foreign),
    }
}

/// Whether a file with such a header and such tables is ours to use. What is in it counts for more than two numbers of its header.
pub(super) fn judge(format: u32, application: u32, tables: Tables) -> Result<(), Refused> {
    let is_marked = application == APPLICATION_ID;
    let header =
        || Refused::Damaged(format!("its header says format {format} of program {application:#010x}"));
    match (tables, format) {
        (Tables::Strange, _) if !is_marked => Err(Refused::Foreign),
        (Tables::Strange | Tables::Alike, newer) if newer > FORMAT && newer <= MAX_FORMAT => {
            Err(Refused::Newer(newer))
        }
        (Tables::Ours, format) if format != FORMAT => Err(header()),
        (_, 1..=FORMAT) if is_marked => Ok(()),
        _ => Err(header()),
    }
}

/// The file's format; 0 when it is empty.
pub(super) fn format(connection: &Connection) -> Result<u32, Refused> {
    // All of it at one moment: another program may be making the tables.
    let _moment = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let version: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0))
        .map(i32::cast_unsigned)?;
    let id: u32 = connection
        .pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))
        .map(i32::cast_unsigned)?;
    if (version, id) == (FORMAT, APPLICATION_ID) {
        return Ok(FORMAT);
    }
    let made = made_in(connection)?;
    if (version, id) == (0, 0) && made.is_empty() {
        return Ok(0);
    }
    judge(version, id, Tables::of(&made)).map(|()| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A later format is told from a damaged number by its tables.
    #[test]
    fn every_step_changes_the_tables() {
        let connection = Connection::open_in_memory().unwrap();
        let mut before = Made::new();
        for step in MIGRATIONS {
            connection.execute_batch(step).unwrap();
            let made = made_in(&connection).unwrap();
            assert_ne!(made, before);
            before = made;
        }
        assert_eq!(Tables::of(&before), Tables::Ours);
    }

    #[test]
    fn what_is_in_a_file_counts_for_more_than_its_header() {
        let ours = APPLICATION_ID;
        let judged = |format, application, tables| match judge(format, application, tables) {
            Ok(()) => "ours",
            Err(Refused::Newer(_)) => "newer",
            Err(Refused::Foreign) => "foreign",
            Err(Refused::Damaged(_)) => "damaged",
            Err(Refused::Sqlite(_)) => "?",
        };
        for (format, application, tables, wanted) in [
            (FORMAT, ours, Tables::Ours, "ours"),
            (FORMAT, ours, Tables::Strange, "ours"),
            (FORMAT + 1, ours, Tables::Alike, "newer"),
            (FORMAT + 1, ours, Tables::Strange, "newer"),
            (FORMAT + 1, 0, Tables::Alike, "newer"),
            (FORMAT + 1, ours, Tables::Ours, "damaged"),
            (MAX_FORMAT + 1, ours, Tables::Alike, "damaged"),
            (0, ours, Tables::Ours, "damaged"),
            (FORMAT, 0, Tables::Ours, "damaged"),
            (FORMAT, 7, Tables::Alike, "damaged"),
            (0, 0, Tables::Ours, "damaged"),
            (FORMAT, 0, Tables::Strange, "foreign"),
            (FORMAT + 1, 7, Tables::Strange, "foreign"),
        ] {
            assert_eq!(judged(format, application, tables), wanted, "{format} {application} {tables:?}");
        }
    }
}
