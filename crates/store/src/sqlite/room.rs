//! Giving back the space of what was removed, a few pages at a time so that other programs can write in between.
//!
//! A file that was made by this version can be made shorter piece by piece. An older one has to be written anew once, which keeps other
//! writers waiting: that is done only where it is quick or nobody writes.

use super::SqliteStore;
use crate::StoreError;
use rusqlite::Connection;

/// Pages given back in one transaction: some milliseconds.
const PAGES: u32 = 256;
/// Pages of the search index that are tidied in one transaction.
const MERGED: u32 = 256;
/// How often the search index is tidied at most.
const MERGES: u32 = 4_096;
/// A file that was made before it could be made shorter is written anew when this many pages are free…
const WORTH_REWRITING: u32 = 256;
/// …and what stays is at most this many bytes, or nobody else writes.
const QUICKLY_REWRITTEN: u64 = 64 * 1024 * 1024;
/// Such a file knows no other way.
const NOT_SHRINKABLE: u32 = 0;

impl SqliteStore {
    /// Gives the space of removed sessions back to the disk; how many bytes are left free inside the file.
    ///
    /// # Errors
    /// When the disk fails. Nothing is lost then.
    pub fn give_back(&mut self) -> Result<u64, StoreError> {
        let alone = self.is_alone();
        let given = give_back(&self.connection, alone);
        self.surplus = false;
        self.done(given)
    }

    /// Gives a little back, if something was removed.
    pub(super) fn give_a_little_back(&mut self) {
        if !self.surplus {
            return;
        }
        let left = shrink(&self.connection).and_then(|()| free_pages(&self.connection));
        // It is for the next time then.
        self.surplus = left.is_ok_and(|left| left > 0) && is_shrinkable(&self.connection);
        if !self.surplus {
            // Without waiting for anybody.
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }

    /// Whether no other program writes a session.
    fn is_alone(&self) -> bool {
        let held = self
            .connection
            .prepare("SELECT owner, host, pid, started, expires FROM leases WHERE owner != ''");
        let others = held.and_then(|mut held| {
            let held = held.query_map([], |row| self.owner.is_held(row, 0))?;
            held.collect::<rusqlite::Result<Vec<bool>>>()
        });
        others.is_ok_and(|others| !others.contains(&true))
    }
}

fn give_back(connection: &Connection, alone: bool) -> rusqlite::Result<u64> {
    tidy_index(connection)?;
    let size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let mut left = free_pages(connection)?;
    if is_shrinkable(connection) {
        while left > 0 {
            shrink(connection)?;
            let now = free_pages(connection)?;
            if now >= left {
                break;
            }
            left = now;
        }
    } else if left >= WORTH_REWRITING
        && (alone || u64::from(pages - left) * u64::from(size) <= QUICKLY_REWRITTEN)
    {
        rewrite(connection)?;
        left = free_pages(connection)?;
    }
    cut(connection)?;
    Ok(u64::from(left) * u64::from(size))
}

/// Takes removed text out of the search index.
fn tidy_index(connection: &Connection) -> rusqlite::Result<()> {
    for _ in 0..MERGES {
        let before = connection.total_changes();
        connection.execute("INSERT INTO found (found, rank) VALUES ('merge', ?1)", [MERGED])?;
        // The statement itself counts as one.
        if connection.total_changes() - before < 2 {
            break;
        }
    }
    Ok(())
}

fn is_shrinkable(connection: &Connection) -> bool {
    let mode = connection.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, u32>(0));
    mode.is_ok_and(|mode| mode != NOT_SHRINKABLE)
}

fn free_pages(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "freelist_count", |row| row.get(0))
}

fn shrink(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    // Each step gives one page back.
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Writes the file anew, so that it can be made shorter from now on.
fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    super::schema::can_shrink(connection)?;
    // What is written meanwhile is as large as the store, and not for the memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    let written = connection.execute_batch("VACUUM");
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    written
}

/// The file itself becomes shorter when its log is folded in; a reader may delay that.
fn cut(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
