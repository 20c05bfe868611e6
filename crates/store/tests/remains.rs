//! Damage around the records: only the log is left, the header lies, an index leads astray. What the records are counts, and nobody else's
//! file is touched.

use crate::damage::{PAGE, damage, file, fill, id, is_honest, kept, log, story, thorough};
use domain::ids::Seq;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use store::{Fate, Health, RescuedSession, SqliteStore, Store, StoreError};
use tempfile::TempDir;

/// A store of which everything stands in the log.
fn all_in_the_log(sessions: u64) -> TempDir {
    let source = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(source.path()).unwrap();
    fill(&mut store, 1..=sessions);
    let copied = tempfile::tempdir().unwrap();
    for part in [file, log] {
        std::fs::copy(part(source.path()), part(copied.path())).unwrap();
    }
    copied
}

fn sql(directory: &Path, batch: &str) {
    Connection::open(file(directory)).unwrap().execute_batch(batch).unwrap();
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

fn is_damaged(directory: &Path) -> bool {
    matches!(thorough(directory), Health::Damaged { .. })
}

#[test]
fn a_store_of_which_only_the_log_is_left_is_damaged_and_its_log_is_never_removed() {
    for left in [None, Some(0), Some(1), Some(15), Some(100), Some(511)] {
        let directory = all_in_the_log(3);
        let place = file(directory.path());
        match left {
            None => std::fs::remove_file(&place).unwrap(),
            Some(length) => {
                std::fs::File::options().write(true).open(&place).unwrap().set_len(length).unwrap();
            }
        }
        let (before, kept_log) = (names(directory.path()), std::fs::read(log(directory.path())).unwrap());
        assert!(SqliteStore::is_at(directory.path()).unwrap(), "{left:?}");
        for refused in [
            SqliteStore::at(directory.path()).map(drop),
            SqliteStore::to_read(directory.path()).map(drop),
            SqliteStore::back_up(directory.path(), &directory.path().join("copy.db")).map(drop),
        ] {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, StoreError::Corrupt { .. }), "{left:?}: {refused}");
            assert!(refused.hint().contains("sessions recover"));
        }
        assert!(is_damaged(directory.path()), "{left:?}: {:?}", thorough(directory.path()));
        assert_eq!(names(directory.path()), before, "{left:?}: nothing is made");
        assert!(std::fs::read(log(directory.path())).unwrap() == kept_log, "{left:?}");
        let other = tempfile::tempdir().unwrap();
        let taken = SqliteStore::at(other.path()).unwrap().take_in(&place).unwrap();
        assert_eq!(taken.sessions.len(), 3, "{left:?}");
        let rescued = SqliteStore::rescue(directory.path()).unwrap();
        assert!(rescued.sessions.iter().all(|session| session.fate == Fate::Whole), "{left:?}: {rescued:?}");
        assert_eq!(rescued.sessions.len(), 3, "{left:?}");
        is_honest(directory.path(), &rescued);
        let mut aside = rescued.aside.unwrap().into_os_string();
        aside.push("-wal");
        assert!(std::fs::read(aside).unwrap() == kept_log, "{left:?}: the log is kept as it was");
    }
}

#[test]
fn a_log_that_nobody_can_read_is_put_aside_and_a_new_store_begun() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(log(directory.path()), "rubbish").unwrap();
    assert!(is_damaged(directory.path()));
    assert!(matches!(SqliteStore::at(directory.path()), Err(StoreError::Corrupt { .. })));
    let rescued = SqliteStore::rescue(directory.path()).unwrap();
    assert_eq!((rescued.sessions.len(), rescued.strays), (0, 0));
    assert_eq!(std::fs::read(directory.path().join("sessions.db.damaged-1-wal")).unwrap(), b"rubbish");
    assert!(matches!(thorough(directory.path()), Health::Whole { sessions: 0, .. }));
    // A short file of somebody else is no store, whatever lies beside it.
    let notes = tempfile::tempdir().unwrap();
    std::fs::write(file(notes.path()), "my notes").unwrap();
    std::fs::write(log(notes.path()), "rubbish").unwrap();
    assert!(matches!(SqliteStore::rescue(notes.path()), Err(StoreError::Foreign { .. })));
    assert_eq!(std::fs::read(file(notes.path())).unwrap(), b"my notes");
    assert_eq!(names(notes.path()).len(), 2);
    // An empty file without a log is a store that was never begun.
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(file(empty.path()), "").unwrap();
    assert!(!SqliteStore::is_at(empty.path()).unwrap() && matches!(thorough(empty.path()), Health::Missing));
    SqliteStore::at(empty.path()).unwrap();
}

/// Where the header keeps how SQLite lists the tables, the format, and whose file it is.
const SCHEMA_FORMAT: usize = 44;
const PAGE_SIZE: usize = 16;
const RESERVED: usize = 20;
const FORMAT: usize = 60;
const APPLICATION: usize = 68;

#[test]
fn a_store_is_known_by_what_is_in_it_whatever_its_header_says() {
    for (at, bytes, cut) in [
        (APPLICATION, [0, 0, 0, 0], 0),
        (APPLICATION, *b"Prlz", 0),
        (APPLICATION, *b"Prlz", PAGE),
        (FORMAT, [0x73, 0, 0, 1], 0),
        (FORMAT, [0, 0, 0, 88], 0),
        (FORMAT, [0, 0, 0, 0], 0),
        (SCHEMA_FORMAT, [0, 0, 0, 9], 0),
        (PAGE_SIZE, [0x20, 0, 1, 1], 0),
        (RESERVED, [0x40, 0x40, 0x20, 0x20], 0),
        (FORMAT, [0xff, 0xff, 0xff, 0xff], PAGE),
    ] {
        let directory = kept(2);
        damage(directory.path(), |file| {
            file[at..at + 4].copy_from_slice(&bytes);
            file.truncate(file.len() - cut);
        });
        if let Err(refused) = SqliteStore::at(directory.path()) {
            assert!(matches!(refused, StoreError::Corrupt { .. }), "{at} {bytes:?}: {refused}");
        } else {
            assert!(at < FORMAT, "what SQLite makes of it is met later");
        }
        assert!(is_damaged(directory.path()), "{at} {bytes:?}");
        let rescued = SqliteStore::rescue(directory.path()).unwrap();
        let lost: u64 = rescued.sessions.iter().map(RescuedSession::lost_events).sum();
        assert!(rescued.sessions.len() == 2 && (lost == 0 || cut > 0), "{at} {bytes:?}: {rescued:?}");
        is_honest(directory.path(), &rescued);
    }
}

#[test]
fn a_later_store_and_somebody_elses_file_are_told_from_a_damaged_header() {
    let later = "ALTER TABLE sessions ADD COLUMN tomorrow TEXT; PRAGMA user_version = 2";
    let foreign = "CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO sessions VALUES (1, 'sess-000000000001')";
    for (batch, is_later) in [(later, true), (foreign, false)] {
        let directory = if is_later { kept(1) } else { tempfile::tempdir().unwrap() };
        sql(directory.path(), batch);
        let before = std::fs::read(file(directory.path())).unwrap();
        for refused in [
            SqliteStore::at(directory.path()).map(drop),
            SqliteStore::rescue(directory.path()).map(drop),
            SqliteStore::to_read(directory.path()).map(drop),
        ] {
            let refused = refused.unwrap_err();
            let fits = match &refused {
                StoreError::Newer { found: 2, known: 1, .. } => is_later,
                StoreError::Foreign { .. } => !is_later,
                _ => false,
            };
            assert!(fits, "{refused}");
        }
        assert!(matches!(thorough(directory.path()), Health::Refused(_)));
        assert!(std::fs::read(file(directory.path())).unwrap() == before, "not a byte is changed");
        let beside = |path: &PathBuf| path.to_string_lossy().contains("sessions.db.");
        assert!(!names(directory.path()).iter().any(beside), "nothing is left beside it");
    }
}

#[test]
fn an_index_that_is_damaged_costs_no_record_and_is_made_anew() {
    for batch in [
        "DELETE FROM found_config",
        "DELETE FROM found_data",
        "DELETE FROM found_idx; DELETE FROM found_docsize",
        "DELETE FROM entries",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'found_config'",
    ] {
        let directory = kept(2);
        sql(directory.path(), batch);
        let searched = SqliteStore::at(directory.path()).and_then(|store| store.search("number", 10));
        if let Err(why) = searched {
            assert!(matches!(why, StoreError::Corrupt { .. }), "{batch}: {why}");
        }
        let rescued = SqliteStore::rescue(directory.path()).unwrap();
        assert!(rescued.sessions.iter().all(|session| session.fate == Fate::Whole), "{batch}: {rescued:?}");
        is_honest(directory.path(), &rescued);
        assert_eq!(
            SqliteStore::at(directory.path()).unwrap().search("number", 10).unwrap().len(),
            2,
            "{batch}"
        );
    }
    let directory = kept(2);
    sql(directory.path(), "DELETE FROM found_config");
    let Health::Damaged { first, losses: Some(losses) } = thorough(directory.path()) else {
        unreachable!("its index is damaged")
    };
    assert!(first.contains("fts5"), "{first}");
    assert!(losses.sessions.len() == 2 && losses.sessions.iter().all(|session| session.lost.is_empty()));
}

#[test]
fn records_that_are_missing_and_an_index_of_other_rows_are_seen() {
    let last = story(1).len();
    for batch in [
        format!("DELETE FROM log WHERE key & 0xffffffffff = {last}"),
        "DELETE FROM log WHERE key & 0xffffffffff = 7".to_owned(),
        "UPDATE sessions SET last_seq = 0 WHERE id = 1".to_owned(),
    ] {
        let directory = kept(2);
        sql(directory.path(), &batch);
        assert!(is_damaged(directory.path()), "{batch}");
        is_honest(directory.path(), &SqliteStore::rescue(directory.path()).unwrap());
    }
    // One index in the place of another: each page of it is sound.
    let directory = kept(2);
    let root = |name: &str| -> usize {
        let of = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        Connection::open(file(directory.path()))
            .unwrap()
            .query_row(of, [name], |row| row.get::<_, u32>(0))
            .unwrap() as usize
    };
    let (to, from) = (root("sessions_by_time"), root("sessions_by_project"));
    damage(directory.path(), |bytes| {
        bytes.copy_within((from - 1) * PAGE..from * PAGE, (to - 1) * PAGE);
    });
    let quick =
        SqliteStore::examine(directory.path(), store::CheckDepth::Quick(std::time::Duration::from_secs(60)));
    assert!(matches!(quick, Health::Damaged { .. }), "{quick:?}");
    is_honest(directory.path(), &SqliteStore::rescue(directory.path()).unwrap());
}

#[test]
fn a_copy_of_damaged_records_says_what_is_damaged_in_it() {
    let directory = kept(2);
    sql(
        directory.path(),
        "UPDATE log SET record = zeroblob(length(record)) WHERE key & 0xffffffffff IN (5, 6)",
    );
    let copies = tempfile::tempdir().unwrap();
    let copied = SqliteStore::back_up(directory.path(), &file(copies.path())).unwrap();
    let damage = copied.damage.unwrap();
    let lost: Vec<_> = damage.sessions.iter().map(|session| session.lost.clone()).collect();
    assert_eq!(lost, [[(Seq(5), Seq(6))], [(Seq(5), Seq(6))]]);
    assert_eq!(std::fs::metadata(file(copies.path())).unwrap().len(), copied.bytes);
    let index = kept(1);
    sql(index.path(), "DELETE FROM found_config");
    let copied = SqliteStore::back_up(index.path(), &copies.path().join("index.db")).unwrap();
    assert!(copied.damage.unwrap().sessions.iter().all(|session| session.lost.is_empty()));
}

#[test]
fn a_copy_names_the_folder_that_is_not_there_and_clears_what_a_killed_one_left() {
    let directory = kept(1);
    let copies = tempfile::tempdir().unwrap();
    let refused = SqliteStore::back_up(directory.path(), &copies.path().join("none/copy.db")).unwrap_err();
    assert!(
        matches!(&refused, StoreError::NoFolder { path } if *path == copies.path().join("none")),
        "{refused}"
    );
    let copy = copies.path().join("copy.db");
    for name in [
        "copy.db.4242.part",
        "copy.db.4242.part-journal",
        "copy.db.x.part",
        "other.db.4242.part",
        "copy.db.4243.part",
    ] {
        std::fs::write(copies.path().join(name), "half").unwrap();
    }
    // One that is being made.
    let held = std::fs::File::open(copies.path().join("copy.db.4243.part")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    SqliteStore::back_up(directory.path(), &copy).unwrap();
    let left: Vec<String> = names(copies.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["copy.db", "copy.db.4243.part", "copy.db.x.part", "other.db.4242.part"]);
    assert_eq!(
        SqliteStore::at(directory.path()).unwrap().load(&id(1)).unwrap().state.seq,
        Seq(story(1).len() as u64)
    );
}
