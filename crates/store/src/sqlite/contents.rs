//! Contents of files by their digests, and what sessions did to files: what it takes to take that back. One SQLite file beside the
//! sessions, for its owner alone.
//!
//! It is not the truth about anything: who deletes the file loses undo, and nothing else. It does not know what a step says, nor what a
//! print means; it knows which contents they use. Invariants: a content that a step or a print uses stays; what nothing uses is collected;
//! past [`MAX_KEPT`] the steps
//! that are the oldest, over all sessions, make room, and those that remain stay whole.

use super::trouble;
use crate::contract::LOCK_PATIENCE;
use crate::error::StoreError;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Bytes of contents, as they are stored. Past it old steps make room.
pub const MAX_KEPT: u64 = 2 * 1024 * 1024 * 1024;
/// How long a workspace that nobody works in is remembered file by file.
const FORGOTTEN: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How long a content that nothing uses yet waits for a step that does.
const RECENT: Duration = Duration::from_secs(15 * 60);
/// Contents shorter than this are stored as they are: packing would not pay.
const WORTH_PACKING: usize = 256;
/// A packed content must not unfold to more than this: it may be damaged.
const MAX_UNPACKED: u64 = 64 * 1024 * 1024;
/// How long to wait before another program's lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// The file's name in the data directory.
const FILE: &str = "contents.db";
/// The form of the tables. A file of another form is begun anew: it holds nothing that cannot be missed.
const FORMAT: i32 = 1;

const TABLES: &str = "
    CREATE TABLE contents (digest TEXT NOT NULL UNIQUE, form INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
    -- What was asked to be kept a moment ago: a step that uses it is about to be written.
    CREATE TABLE recent (digest TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE steps (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        step TEXT NOT NULL,
        UNIQUE (session, name)
    ) STRICT;
    CREATE TABLE uses (step INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (step, digest)) STRICT, WITHOUT ROWID;
    CREATE INDEX uses_by_digest ON uses (digest);
    CREATE TABLE roots (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, at INTEGER NOT NULL) STRICT;
    CREATE TABLE prints (
        root INTEGER NOT NULL,
        path BLOB NOT NULL,
        stamp TEXT NOT NULL,
        image TEXT NOT NULL,
        digest TEXT,
        PRIMARY KEY (root, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX prints_by_digest ON prints (digest);
    CREATE TABLE size (kept INTEGER NOT NULL) STRICT;
    INSERT INTO size VALUES (0);
";

/// One file of a workspace as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPrint {
    pub path: Vec<u8>,
    pub stamp: String,
    pub image: String,
    /// The content that it uses.
    pub digest: Option<String>,
}

/// Contents by their digests, and who uses them.
#[derive(Debug)]
pub struct Contents {
    path: PathBuf,
    /// Held for as long as something is read or written, and not while another program's lock is waited for.
    connection: Mutex<Connection>,
    most: u64,
    /// How long such a lock is waited for.
    patience: Duration,
}

impl Contents {
    /// Opens or makes the file in `directory`.
    ///
    /// # Errors
    /// When the directory or the file cannot be used.
    pub fn at(directory: &Path) -> Result<Contents, StoreError> {
        let path = directory.join(FILE);
        super::place::prepare(directory, &path)?;
        let opened = open(&path).or_else(|why| {
            // Damaged, or of another time: it is begun anew.
            if !is_useless(&why) {
                return Err(why);
            }
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(directory.join(format!("{FILE}{end}")));
            }
            let _ = super::place::prepare(directory, &path);
            open(&path)
        });
        let connection = opened.map_err(|error| trouble::sqlite(&path, &error))?;
        Ok(Contents { path, connection: Mutex::new(connection), most: MAX_KEPT, patience: LOCK_PATIENCE })
    }

    /// The same for whoever waits for another program's lock otherwise, or not at all.
    #[must_use]
    pub(super) fn with_patience(self, patience: Duration) -> Contents {
        Contents { patience, ..self }
    }

    #[cfg(test)]
    fn in_memory() -> Result<Contents, StoreError> {
        let path = PathBuf::from(":memory:");
        let made = Connection::open_in_memory().and_then(|connection| make(&connection).map(|()| connection));
        let connection = made.map_err(|error| trouble::sqlite(&path, &error))?;
        Ok(Contents { path, connection: Mutex::new(connection), most: MAX_KEPT, patience: LOCK_PATIENCE })
    }

    /// The same with another bound.
    #[must_use]
    pub fn at_most(self, most: u64) -> Contents {
        Contents { most, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done<T>(&self, done: rusqlite::Result<T>) -> Result<T, StoreError> {
        done.map_err(|error| trouble::sqlite(&self.path, &error))
    }

    /// Writes, as often as it takes while another program has the file locked: who reads or writes here meanwhile does not wait for that.
    fn write<T>(
        &self,
        mut write: impl FnMut(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        loop {
            let written = write(&mut self.lock());
            if !written.as_ref().is_err_and(trouble::is_lock) || begun.elapsed() >= self.patience {
                return self.done(written);
            }
            std::thread::sleep(LOCK_PAUSE);
        }
    }

    /// Keeps contents. What is there already costs nothing.
    ///
    /// # Errors
    /// When the disk says no, or there is no room even without old steps.
    pub fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), StoreError> {
        if contents.is_empty() {
            return Ok(());
        }
        let known = self.write(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut known = Vec::with_capacity(contents.len());
            let mut wait = transaction.prepare_cached("INSERT OR REPLACE INTO recent VALUES (?1, ?2)")?;
            for (digest, _) in &contents {
                wait.execute(params![digest, now()])?;
                known.push(is_kept(&transaction, digest)?);
            }
            drop(wait);
            transaction.commit()?;
            Ok(known)
        })?;
        // Packed before anybody is kept waiting.
        let new = contents.into_iter().zip(known).filter(|(_, known)| !known);
        let packed: Vec<(String, i64, Vec<u8>)> =
            new.map(|((digest, bytes), _)| pack(digest, bytes)).collect();
        let added: u64 = packed.iter().map(|(.., bytes)| bytes.len() as u64).sum();
        if packed.is_empty() {
            return Ok(());
        }
        let kept = self.write(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let has_room = make_room(&transaction, added, self.most)?;
            if has_room {
                let mut insert =
                    transaction.prepare_cached("INSERT OR IGNORE INTO contents VALUES (?1, ?2, ?3)")?;
                let mut size = 0;
                for (digest, form, bytes) in &packed {
                    size += insert.execute(params![digest, form, bytes])? * bytes.len();
                }
                drop(insert);
                grow(&transaction, i64::try_from(size).unwrap_or(i64::MAX))?;
            }
            transaction.commit()?;
            Ok(has_room)
        })?;
        if kept { Ok(()) } else { Err(StoreError::Full { path: self.path.clone() }) }
    }

    /// A content by its digest.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let found = {
            let connection = self.lock();
            let found = connection.prepare_cached("SELECT form, bytes FROM contents WHERE digest = ?1");
            let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
            self.done(found.and_then(|mut found| found.query_row([digest], row).optional()))?
        };
        Ok(found.and_then(|(form, bytes)| unpack(form, bytes)))
    }

    /// Hands out what was last seen of a workspace, in the order of the paths: each path, stamp and image.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn prints(&self, root: &[u8], take: &mut dyn FnMut(&[u8], &str, &str)) -> Result<(), StoreError> {
        let connection = self.lock();
        let mut read = || {
            match connection.execute("UPDATE roots SET at = ?2 WHERE path = ?1", params![root, now()]) {
                // It is noted the next time.
                Err(error) if trouble::is_lock(&error) => {}
                noted => drop(noted?),
            }
            let mut found = connection.prepare_cached(
                "SELECT prints.path, stamp, image FROM prints JOIN roots ON prints.root = roots.id \
                 WHERE roots.path = ?1 ORDER BY prints.path",
            )?;
            let mut rows = found.query([root])?;
            while let Some(row) = rows.next()? {
                let (path, stamp, image) = (row.get_ref(0)?, row.get_ref(1)?, row.get_ref(2)?);
                take(path.as_blob()?, stamp.as_str()?, image.as_str()?);
            }
            Ok(())
        };
        self.done(read())
    }

    /// Takes in what is seen of a workspace now, and where nothing is any more. One whose content is not kept is not taken in.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_prints(
        &self,
        root: &[u8],
        seen: Vec<StoredPrint>,
        gone: Vec<Vec<u8>>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT INTO roots (path, at) VALUES (?1, ?2) ON CONFLICT (path) DO UPDATE SET at = ?2",
                params![root, now()],
            )?;
            let id: i64 =
                transaction.query_row("SELECT id FROM roots WHERE path = ?1", [root], |row| row.get(0))?;
            let mut put =
                transaction.prepare_cached("INSERT OR REPLACE INTO prints VALUES (?1, ?2, ?3, ?4, ?5)")?;
            let mut drop_one =
                transaction.prepare_cached("DELETE FROM prints WHERE root = ?1 AND path = ?2")?;
            for print in &seen {
                let is_whole = match &print.digest {
                    Some(digest) => is_kept(&transaction, digest)?,
                    None => true,
                };
                if is_whole {
                    put.execute(params![id, print.path, print.stamp, print.image, print.digest])?;
                } else {
                    drop_one.execute(params![id, print.path])?;
                }
            }
            for path in &gone {
                drop_one.execute(params![id, path])?;
            }
            drop((put, drop_one));
            transaction.commit()
        })
    }

    /// The steps of a session, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn steps(&self, session: &str) -> Result<Vec<String>, StoreError> {
        let connection = self.lock();
        let read = (|| {
            let mut found =
                connection.prepare_cached("SELECT step FROM steps WHERE session = ?1 ORDER BY id")?;
            found.query_map([session], |row| row.get(0))?.collect()
        })();
        self.done(read)
    }

    /// Writes a step down, in the place of what it was before. It is on disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written, or one of the contents that it uses is not kept.
    pub fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), StoreError> {
        self.write(|connection| {
            // What is written to the log before this is synced with it: the contents that the step uses.
            connection.pragma_update(None, "synchronous", "FULL")?;
            let written = put_step(connection, (session, name), step, uses);
            let _ = connection.pragma_update(None, "synchronous", "NORMAL");
            written
        })
    }

    /// Forgets a session, and what nobody else uses of what it kept.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget(&self, session: &str) -> Result<(), StoreError> {
        self.write(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let steps: Vec<i64> = {
                let mut steps = transaction.prepare("SELECT id FROM steps WHERE session = ?1")?;
                steps.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
            };
            for step in steps {
                drop_step(&transaction, step)?;
            }
            transaction.commit()?;
            // So that contents do not stay in the file or in its log: here readers are waited for as well.
            connection.busy_timeout(self.patience)?;
            let given =
                connection.execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
            connection.busy_timeout(Duration::ZERO)?;
            given
        })
    }

    /// Bytes of contents, as they are stored.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn kept(&self) -> Result<u64, StoreError> {
        self.done(size(&self.lock()))
    }
}

/// Whether there is such a file in a data directory.
pub(super) fn is_at(directory: &Path) -> bool {
    directory.join(FILE).exists()
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(LOCK_PATIENCE)?;
    make(&connection)?;
    // From here on whoever writes waits outside.
    connection.busy_timeout(Duration::ZERO)?;
    match forget_old(&connection) {
        // Another program forgets it, or this one the next time.
        Err(error) if trouble::is_lock(&error) => {}
        forgotten => forgotten?,
    }
    Ok(connection)
}

/// Forgets the workspaces that nobody has worked in for long.
fn forget_old(connection: &Connection) -> rusqlite::Result<()> {
    let old = now().saturating_sub(i64::try_from(FORGOTTEN.as_secs()).unwrap_or(0));
    connection.execute("DELETE FROM prints WHERE root IN (SELECT id FROM roots WHERE at < ?1)", [old])?;
    if connection.execute("DELETE FROM roots WHERE at < ?1", [old])? > 0 {
        collect(connection)?;
    }
    Ok(())
}

fn make(connection: &Connection) -> rusqlite::Result<()> {
    let format: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if format == 0 {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update_and_check(None, "secure_delete", "FAST", |_| Ok(()))?;
    match format {
        0 => connection
            .execute_batch(&format!("BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORMAT}; COMMIT")),
        FORMAT => Ok(()),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}

fn is_useless(why: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(why, rusqlite::Error::InvalidQuery)
        || matches!(why.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

fn is_kept(connection: &Connection, digest: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM contents WHERE digest = ?1")?.exists([digest])
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .query_row("SELECT kept FROM size", [], |row| row.get::<_, i64>(0))
        .map(|size| size.max(0).cast_unsigned())
}

fn grow(connection: &Connection, by: i64) -> rusqlite::Result<()> {
    connection.execute("UPDATE size SET kept = kept + ?1", [by]).map(drop)
}

/// Writes a step down, if all the contents that it uses are kept.
fn put_step(
    connection: &mut Connection,
    (session, name): (&str, &str),
    step: &str,
    uses: &[&str],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id: i64 = transaction.query_row(
        "INSERT INTO steps (session, name, step) VALUES (?1, ?2, ?3) \
         ON CONFLICT (session, name) DO UPDATE SET step = ?3 RETURNING id",
        [session, name, step],
        |row| row.get(0),
    )?;
    transaction.execute("DELETE FROM uses WHERE step = ?1", [id])?;
    let mut put = transaction.prepare_cached("INSERT INTO uses VALUES (?1, ?2)")?;
    for digest in uses {
        if !is_kept(&transaction, digest)? {
            return Err(rusqlite::Error::QueryReturnedNoRows);
        }
        put.execute(params![id, digest])?;
    }
    drop(put);
    transaction.commit()
}

/// Makes room for contents; `false` when there is none even without any step.
fn make_room(connection: &Connection, added: u64, most: u64) -> rusqlite::Result<bool> {
    if size(connection)? + added <= most {
        return Ok(true);
    }
    collect(connection)?;
    while size(connection)? + added > most {
        let oldest = connection.prepare_cached("SELECT id FROM steps ORDER BY id LIMIT 1")?;
        let oldest: Option<i64> = { oldest }.query_row([], |row| row.get(0)).optional()?;
        let Some(oldest) = oldest else {
            // Other workspaces are looked at anew when somebody works there again.
            let others =
                "DELETE FROM prints WHERE root NOT IN (SELECT id FROM roots ORDER BY at DESC LIMIT 1)";
            connection.execute(others, [])?;
            collect(connection)?;
            return Ok(size(connection)? + added <= most);
        };
        drop_step(connection, oldest)?;
    }
    Ok(true)
}

/// Takes a step away, and the contents that nothing else uses.
fn drop_step(connection: &Connection, step: i64) -> rusqlite::Result<()> {
    let mut uses = connection.prepare_cached("SELECT digest FROM uses WHERE step = ?1")?;
    let uses: Vec<String> = uses.query_map([step], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    connection.execute("DELETE FROM uses WHERE step = ?1", [step])?;
    connection.execute("DELETE FROM steps WHERE id = ?1", [step])?;
    let mut freed: i64 = 0;
    for digest in uses {
        let unused = format!("DELETE FROM contents WHERE digest = ?1 AND {UNUSED} RETURNING length(bytes)");
        let size =
            connection.prepare_cached(&unused)?.query_row([digest], |row| row.get::<_, i64>(0)).optional()?;
        freed += size.unwrap_or(0);
    }
    grow(connection, -freed)
}

/// A content that no step and no print uses.
const UNUSED: &str = "NOT EXISTS (SELECT 1 FROM uses WHERE uses.digest = contents.digest) \
                      AND NOT EXISTS (SELECT 1 FROM prints WHERE prints.digest = contents.digest)";

/// Takes away what nothing uses, and nothing is about to use.
fn collect(connection: &Connection) -> rusqlite::Result<()> {
    let old = now().saturating_sub(i64::try_from(RECENT.as_secs()).unwrap_or(0));
    connection.execute("DELETE FROM recent WHERE at < ?1", [old])?;
    let unused = format!(
        "DELETE FROM contents WHERE {UNUSED} \
         AND NOT EXISTS (SELECT 1 FROM recent WHERE recent.digest = contents.digest)"
    );
    connection.execute(&unused, [])?;
    let left = "UPDATE size SET kept = (SELECT coalesce(sum(length(bytes)), 0) FROM contents)";
    connection.execute(left, []).map(drop)
}

fn pack(digest: String, bytes: Vec<u8>) -> (String, i64, Vec<u8>) {
    if bytes.len() >= WORTH_PACKING {
        let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
        if encoder.write_all(&bytes).is_ok()
            && let Ok(packed) = encoder.finish()
            && packed.len() < bytes.len()
        {
            return (digest, 1, packed);
        }
    }
    (digest, 0, bytes)
}

fn unpack(form: i64, bytes: Vec<u8>) -> Option<Vec<u8>> {
    if form == 0 {
        return Some(bytes);
    }
    let mut content = Vec::new();
    DeflateDecoder::new(bytes.as_slice()).take(MAX_UNPACKED).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
