//! The tables, how a file gets them, and which files are refused.
//!
//! Only `log` is the truth; `sessions`, `entries`, `found`, `runs` and `snapshots` can be rebuilt from it.

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours ("Prlr").
const APPLICATION_ID: i32 = 0x5072_6c72;

/// The steps from an empty file to today's; a file's `user_version` is how many of them it has had.
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

/// Why a file is not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// It has a newer format.
    Newer(u32),
    /// It belongs to another program.
    Foreign,
    /// SQLite says no.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Refused {
        Refused::Sqlite(error)
    }
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

/// Whether a file with such a header is ours to read.
pub(super) fn judge(format: u32, application: u32) -> Result<(), Refused> {
    match (format, application) {
        (_, other) if i64::from(other) != i64::from(APPLICATION_ID) => Err(Refused::Foreign),
        (newer, _) if newer > FORMAT => Err(Refused::Newer(newer)),
        _ => Ok(()),
    }
}

/// The file's format; 0 when it is empty.
fn format(connection: &Connection) -> Result<u32, Refused> {
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (version, id, tables) {
        (0, 0, 0) => Ok(0),
        (_, id, _) if id != APPLICATION_ID => Err(Refused::Foreign),
        (newer, ..) if newer > FORMAT => Err(Refused::Newer(newer)),
        (known, ..) => Ok(known),
    }
}
