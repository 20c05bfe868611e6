//! The tables, how a database gets them, and which databases are refused.
//!
//! Steps only go forward, and each says which programs may still use the tables after it: so a version and the one before it stand side by
//! side while nodes are replaced one by one. Only `log` and `head` are the truth; lists, search and snapshots can be rebuilt.

use crate::database::{CALL_WITHIN, Database, Link};
use crate::trouble::Trouble;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::StoreError;

/// How long the tables may be set up by somebody else meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// One step from an empty database to today's.
struct Step {
    /// The oldest format whose programs work with the tables after it.
    works_with: i32,
    sql: &'static str,
}

const STEPS: &[Step] = &[Step { works_with: 1, sql: include_str!("schema/1.sql") }];

/// The format that this version writes.
pub(crate) const FORMAT: i32 = STEPS.len() as i32;

const IS_THERE: &str = "SELECT to_regclass('parlor.format') IS NOT NULL";
const FOUND: &str = "SELECT step, works_with FROM parlor.format ORDER BY step DESC LIMIT 1";
const BEGIN: &str = "
    CREATE SCHEMA IF NOT EXISTS parlor;
    CREATE TABLE IF NOT EXISTS parlor.format (
        step integer PRIMARY KEY,
        works_with integer NOT NULL,
        at timestamptz NOT NULL DEFAULT now()
    );
    LOCK TABLE parlor.format IN ACCESS EXCLUSIVE MODE";

/// The format of a database, and the oldest that works with it; `None` where there is none of ours.
pub(crate) fn format(database: &Database) -> Result<Option<(i32, i32)>, StoreError> {
    database.read(|link| async move { found(&link).await })
}

async fn found(link: &Link) -> Result<Option<(i32, i32)>, tokio_postgres::Error> {
    let there = link.rows(IS_THERE, &[]).await?;
    if !there.first().is_some_and(|row| row.get::<_, bool>(0)) {
        return Ok(None);
    }
    let found = link.rows(FOUND, &[]).await?;
    Ok(found.first().map(|row| (row.get(0), row.get(1))))
}

/// Whether tables of this format, which programs from `works_with` on can use, are ours to use.
pub(crate) fn judge(place: &str, found: i32, works_with: i32) -> Result<(), StoreError> {
    if found > FORMAT && works_with > FORMAT {
        return Err(StoreError::NewerDatabase { place: place.to_owned(), found, known: FORMAT });
    }
    Ok(())
}

/// Brings the database up to today's format. Several may do it at once: one does, the others wait for it.
pub(crate) fn migrate(database: &Database) -> Result<(), StoreError> {
    let begun = Instant::now();
    loop {
        if let Some((found, works_with)) = format(database)?
            && (found >= FORMAT || judge(database.place(), found, works_with).is_err())
        {
            return judge(database.place(), found, works_with);
        }
        match database.call(PATIENCE, steps) {
            Ok(()) => {}
            // Somebody else was in the middle of the same.
            Err(Trouble::Lost(_) | Trouble::Again(_)) if begun.elapsed() < PATIENCE => database.pause(),
            Err(Trouble::Refused(_)) if is_being_made(database) && begun.elapsed() < PATIENCE => {
                database.pause();
            }
            Err(why) => return Err(why.told(database.place())),
        }
    }
}

/// Whether what we wanted to make is there by now: two that make the same at once are told that it is there already.
fn is_being_made(database: &Database) -> bool {
    let looked = database.call(CALL_WITHIN, |link| async move { found(&link).await });
    looked.is_ok_and(|found| found.is_some())
}

async fn steps(link: Arc<Link>) -> Result<(), tokio_postgres::Error> {
    let made = async {
        link.batch("BEGIN").await?;
        link.batch(BEGIN).await?;
        let have = link.rows(FOUND, &[]).await?.first().map_or(0, |row| row.get::<_, i32>(0));
        for (number, step) in (1..).zip(STEPS).filter(|(number, _)| *number > have) {
            link.batch(step.sql).await?;
            let works_with = step.works_with;
            link.batch(&format!(
                "INSERT INTO parlor.format (step, works_with) VALUES ({number}, {works_with})"
            ))
            .await?;
        }
        link.batch("COMMIT").await
    };
    let done = made.await;
    if done.is_err() {
        let _ = link.batch("ROLLBACK").await;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_and_the_one_before_it_stand_side_by_side() {
        for (found, works_with, is_ours) in [
            (FORMAT, 1, true),
            (FORMAT + 1, FORMAT, true),
            (FORMAT + 1, FORMAT + 1, false),
            (FORMAT + 7, FORMAT, true),
        ] {
            let judged = judge("postgres://h/d", found, works_with);
            assert_eq!(judged.is_ok(), is_ours, "{found} {works_with}");
        }
        for (before, step) in STEPS.iter().zip(STEPS.iter().skip(1)) {
            assert!(step.works_with >= before.works_with && step.works_with >= 1);
        }
        for (number, step) in (1..).zip(STEPS) {
            assert!(step.works_with <= number, "step {number} works with a version that is not there yet");
        }
    }
}
