//! What is saved of a store whose file is damaged, what a copy holds, and what becomes of space that was given back.

use crate::script::{fold, following, said, script};
use domain::content::Role;
use domain::event::{Body, Event, NoteEvent, SessionEvent};
use domain::ids::SessionId;
use domain::state::{EntryKind, State};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{CheckDepth, Durability, Fate, Health, Listing, Rescued, SqliteStore, Store, StoreError};
use tempfile::TempDir;

pub(crate) const PAGE: usize = 4096;

pub(crate) fn id(number: u64) -> SessionId {
    SessionId::from_number(number)
}

/// What session `number` holds: the script, and a text that takes several pages, because nothing makes it shorter.
pub(crate) fn story(number: u64) -> Vec<Event> {
    let mut events = script();
    let noise: String = (0..6_000u64)
        .map(|at| {
            let mixed = (at + 7_000 * number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            char::from_u32(0x4e00 + (mixed % 20_000) as u32).unwrap_or('x')
        })
        .collect();
    let more = following(&fold(&events), said(900, Role::User, &format!("number {number} {noise}")));
    events.extend(more);
    events
}

pub(crate) fn fill(store: &mut SqliteStore, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        store.create(&id(number)).unwrap();
        for event in story(number) {
            store.append(&id(number), &[event], Durability::Now).unwrap();
        }
        store.close(&id(number)).unwrap();
    }
}

/// A closed store of `sessions` sessions, without a log.
pub(crate) fn kept(sessions: u64) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fill(&mut SqliteStore::at(directory.path()).unwrap(), 1..=sessions);
    assert!(!log(directory.path()).exists());
    directory
}

/// A closed store in which each session is one record: quickly made.
fn kept_quickly(sessions: u64) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    for number in 1..=sessions {
        store.create(&id(number)).unwrap();
        store.append(&id(number), &story(number), Durability::Now).unwrap();
        store.close(&id(number)).unwrap();
    }
    directory
}

pub(crate) fn file(directory: &Path) -> PathBuf {
    directory.join("sessions.db")
}

pub(crate) fn log(directory: &Path) -> PathBuf {
    directory.join("sessions.db-wal")
}

pub(crate) fn damage(directory: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = std::fs::read(file(directory)).unwrap();
    change(&mut bytes);
    std::fs::write(file(directory), &bytes).unwrap();
    bytes
}

pub(crate) fn thorough(directory: &Path) -> Health {
    SqliteStore::examine(directory, CheckDepth::Thorough)
}

/// Everything that the new store says is whole is as it was written; nothing is in it that never was.
pub(crate) fn is_honest(directory: &Path, rescued: &Rescued) {
    assert!(matches!(thorough(directory), Health::Whole { .. }), "{:?}", thorough(directory));
    let mut store = SqliteStore::at(directory).unwrap();
    for session in &rescued.sessions {
        let number = u64::from_str_radix(&session.session.as_str()[5..], 16).unwrap();
        let (events, all) = (story(number), story(number).len() as u64);
        match session.fate {
            Fate::Whole => {
                let found = store.load(&session.session).unwrap();
                assert!(found.state == fold(&events) && found.damage.is_none(), "{session:?}");
            }
            Fate::Partly => {
                assert_eq!(session.events + session.lost_events(), all, "{session:?}");
                let kept = store.events(&session.session, domain::ids::Seq(0), usize::MAX).unwrap();
                let (notice, kept) = kept.split_last().unwrap();
                assert!(kept.iter().all(|event| events.contains(event)));
                assert!(
                    matches!(&notice.body, Body::Note(NoteEvent::Noticed { code, .. }) if code == "store_damage")
                );
                let opened = store.open(&session.session).unwrap();
                assert_eq!(opened.damage, None, "it was told in the conversation");
                assert!(
                    notices(&opened.state).contains(&format!("{} of the records", session.lost_events()))
                );
            }
            Fate::Gone => assert!(store.load(&session.session).is_err()),
            Fate::There => unreachable!("the store was new"),
        }
    }
    let there = rescued.sessions.iter().filter(|session| session.fate != Fate::Gone).count();
    assert_eq!(store.list(&Listing::default()).unwrap().len(), there);
}

fn notices(state: &State) -> String {
    let texts = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { text, .. } => Some(text.as_str()),
        EntryKind::Message(_) | EntryKind::Compaction(_) => None,
    });
    texts.collect()
}

#[test]
fn a_file_that_was_cut_gives_everything_but_what_was_cut_off() {
    let directory = kept(16);
    let damaged = damage(directory.path(), |bytes| bytes.truncate(bytes.len() - PAGE));
    assert!(SqliteStore::at(directory.path()).is_err(), "SQLite does not read it");
    let Health::Damaged { losses: Some(counted), .. } = thorough(directory.path()) else {
        unreachable!("it is cut")
    };
    let rescued = SqliteStore::rescue(directory.path()).unwrap();
    assert_eq!(rescued.sessions.len(), 16);
    assert!(
        rescued.sessions.iter().filter(|session| session.fate == Fate::Whole).count() >= 15,
        "{rescued:?}"
    );
    let lost =
        |rescued: &Rescued| rescued.sessions.iter().map(store::RescuedSession::lost_events).sum::<u64>();
    assert_eq!(lost(&rescued), lost(&counted));
    is_honest(directory.path(), &rescued);
    assert_eq!(std::fs::read(rescued.aside.unwrap()).unwrap(), damaged, "the damaged file is kept as it was");
    let store = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(store.search("number 7", 10).unwrap().len(), 1, "it can be searched");
}

#[test]
fn a_lost_header_costs_no_record() {
    let directory = kept(5);
    damage(directory.path(), |bytes| bytes[..PAGE].fill(0));
    assert!(matches!(
        SqliteStore::at(directory.path()),
        Err(StoreError::Foreign { .. } | StoreError::Corrupt { .. })
    ));
    let rescued = SqliteStore::rescue(directory.path()).unwrap();
    assert!(rescued.sessions.iter().all(|session| session.fate == Fate::Whole && session.lost.is_empty()));
    assert_eq!((rescued.sessions.len(), rescued.strays), (5, 0));
    is_honest(directory.path(), &rescued);
}

#[test]
fn whichever_page_is_lost_the_rest_is_saved_and_the_loss_is_counted() {
    let clean = kept(3);
    let bytes = std::fs::read(file(clean.path())).unwrap();
    let mut lossy = 0;
    for at in 0..bytes.len() / PAGE {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(file(directory.path()), &bytes).unwrap();
        damage(directory.path(), |bytes| {
            bytes[at * PAGE..(at + 1) * PAGE].fill(if at % 2 == 0 { 0 } else { 0xa5 });
        });
        if matches!(thorough(directory.path()), Health::Whole { .. }) {
            // A page that held nothing.
            continue;
        }
        let rescued = SqliteStore::rescue(directory.path()).unwrap();
        assert_eq!(rescued.sessions.len(), 3, "page {at}: {rescued:?}");
        assert!(
            rescued.sessions.iter().filter(|session| session.fate == Fate::Whole).count() >= 1,
            "page {at}"
        );
        lossy += u64::from(rescued.sessions.iter().any(|session| session.lost_events() > 0));
        is_honest(directory.path(), &rescued);
    }
    assert!(lossy > 8, "{lossy}");
}

#[test]
fn what_stands_only_in_the_log_is_saved_up_to_its_last_whole_commit() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    fill(&mut store, 1..=3);
    let copied = tempfile::tempdir().unwrap();
    for (path, copy) in
        [(file(directory.path()), file(copied.path())), (log(directory.path()), log(copied.path()))]
    {
        std::fs::copy(path, copy).unwrap();
    }
    let whole = std::fs::metadata(log(copied.path())).unwrap().len();
    let saved = |cut: u64| {
        let directory = tempfile::tempdir().unwrap();
        std::fs::copy(file(copied.path()), file(directory.path())).unwrap();
        std::fs::copy(log(copied.path()), log(directory.path())).unwrap();
        std::fs::File::options()
            .write(true)
            .open(log(directory.path()))
            .unwrap()
            .set_len(whole - cut)
            .unwrap();
        let damaged = std::fs::read(log(directory.path())).unwrap();
        let rescued = SqliteStore::rescue(directory.path()).unwrap();
        if cut == 0 {
            is_honest(directory.path(), &rescued);
        }
        assert!(matches!(thorough(directory.path()), Health::Whole { .. }));
        let mut aside = rescued.aside.clone().unwrap().into_os_string();
        aside.push("-wal");
        assert_eq!(std::fs::read(aside).unwrap(), damaged, "the log is kept as it was");
        rescued.sessions.iter().map(|session| session.events).sum::<u64>()
    };
    let all = 3 * story(1).len() as u64;
    assert_eq!(saved(0), all);
    let cut = saved(whole / 2 + 11);
    assert!(cut > 0 && cut < all, "{cut}");
    assert_eq!(saved(1), all, "the last commit let go of the session");
}

/// SQLite itself says what a damaged log still holds.
#[test]
fn a_log_is_read_as_sqlite_reads_it_wherever_it_is_cut_or_changed() {
    let source = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(source.path()).unwrap();
    fill(&mut store, 1..=2);
    let (database, whole) =
        (std::fs::read(file(source.path())).unwrap(), std::fs::read(log(source.path())).unwrap());
    let frame = 24 + PAGE;
    let frames = (whole.len() - 32) / frame;
    let mut counts = std::collections::BTreeSet::new();
    for at in (0..frames).step_by(frames / 12) {
        for cut in [true, false] {
            let mut bytes = whole.clone();
            if cut {
                bytes.truncate(32 + at * frame);
            } else {
                bytes[32 + at * frame + 24 + 1_000] ^= 0x40;
            }
            let place = || {
                let directory = tempfile::tempdir().unwrap();
                std::fs::write(file(directory.path()), &database).unwrap();
                std::fs::write(log(directory.path()), &bytes).unwrap();
                directory
            };
            let theirs = place();
            let count = |directory: &Path| {
                let store = SqliteStore::at(directory).unwrap();
                let of = |number| {
                    store
                        .events(&id(number), domain::ids::Seq(0), usize::MAX)
                        .map_or(0, |events| events.len())
                };
                of(1) + of(2)
            };
            let expected = count(theirs.path());
            let ours = place();
            match SqliteStore::rescue(ours.path()) {
                Ok(rescued) => {
                    let saved: u64 = rescued.sessions.iter().map(|session| session.events).sum();
                    assert_eq!(saved, expected as u64, "frame {at}, cut: {cut}");
                }
                // Before the first table there is nothing to save.
                Err(why) => {
                    assert!(expected == 0 && matches!(why, StoreError::Foreign { .. }), "frame {at}: {why}");
                }
            }
            counts.insert(expected);
        }
    }
    assert!(counts.len() > 5, "{counts:?}");
}

#[test]
fn what_was_removed_does_not_come_back() {
    let directory = kept(6);
    // Pages that were given up keep what stood in them.
    let leave_copies = "PRAGMA secure_delete = OFF;
        CREATE TABLE spare (key INTEGER PRIMARY KEY, last INTEGER, version INTEGER, form INTEGER, crc INTEGER, record BLOB);
        INSERT INTO spare SELECT * FROM log; DROP TABLE spare;";
    Connection::open(file(directory.path())).unwrap().execute_batch(leave_copies).unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    store.delete(&id(3)).unwrap();
    drop(store);
    let rescued = SqliteStore::rescue(directory.path()).unwrap();
    assert!(rescued.sessions.iter().all(|session| session.session != id(3)));
    assert_eq!((rescued.sessions.len(), rescued.strays), (5, 0), "not as records of nobody either");
}

#[test]
fn a_file_of_somebody_else_or_of_a_later_parlor_is_left_alone() {
    let newer = kept(1);
    let later = "ALTER TABLE sessions ADD COLUMN tomorrow TEXT; PRAGMA user_version = 99";
    Connection::open(file(newer.path())).unwrap().execute_batch(later).unwrap();
    let bytes = damage(newer.path(), |bytes| bytes.truncate(bytes.len() - PAGE));
    assert!(matches!(SqliteStore::rescue(newer.path()), Err(StoreError::Newer { found: 99, .. })));

    let foreign = tempfile::tempdir().unwrap();
    Connection::open(file(foreign.path()))
        .unwrap()
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .unwrap();
    assert!(matches!(SqliteStore::rescue(foreign.path()), Err(StoreError::Foreign { .. })));
    let text = tempfile::tempdir().unwrap();
    std::fs::write(file(text.path()), "this is my shopping list, ".repeat(400)).unwrap();
    assert!(matches!(SqliteStore::rescue(text.path()), Err(StoreError::Foreign { .. })));

    assert_eq!(std::fs::read(file(newer.path())).unwrap(), bytes);
    for directory in [newer.path(), foreign.path(), text.path()] {
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn a_copy_is_consistent_for_its_owner_alone_and_can_be_written_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    fill(&mut store, 1..=3);
    let state = store.open(&id(2)).unwrap().state;
    let copies = tempfile::tempdir().unwrap();
    let copy = file(copies.path());
    let copied = SqliteStore::back_up(directory.path(), &copy).unwrap();
    assert_eq!(copied.damage, None);
    assert_eq!(copied.bytes, std::fs::metadata(&copy).unwrap().len());
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&copy).unwrap().permissions()) & 0o777,
        0o600
    );
    assert_eq!(std::fs::read_dir(copies.path()).unwrap().count(), 1, "nothing else is left");
    let refused = SqliteStore::back_up(directory.path(), &copy).unwrap_err();
    assert!(matches!(refused, StoreError::FileExists { .. }), "{refused}");

    assert!(matches!(thorough(copies.path()), Health::Whole { sessions: 3, all: true, .. }));
    let mut copied = SqliteStore::at(copies.path()).unwrap();
    assert_eq!(copied.open(&id(2)).unwrap().state, state, "who writes the store does not write its copy");
    // What is removed from the store comes back from the copy; what is there is left as it is.
    let more = following(&state, [Body::Session(SessionEvent::Renamed { title: "later".into() })]);
    store.append(&id(2), &more, Durability::Now).unwrap();
    store.delete(&id(1)).unwrap();
    let taken = store.take_in(&copy).unwrap();
    let fates: Vec<Fate> = taken.sessions.iter().map(|session| session.fate).collect();
    assert_eq!(fates, [Fate::Whole, Fate::There, Fate::There]);
    assert_eq!(store.load(&id(1)).unwrap().state, fold(&story(1)));
    assert_eq!(store.summary(&id(2)).unwrap().title, "later");
}

#[test]
fn a_look_is_bounded_and_changes_nothing() {
    let directory = kept(4);
    let before = std::fs::read(file(directory.path())).unwrap();
    let look = |limit| SqliteStore::examine(directory.path(), CheckDepth::Quick(limit));
    assert!(matches!(look(Duration::from_secs(60)), Health::Whole { sessions: 4, all: true, .. }));
    assert!(
        matches!(look(Duration::ZERO), Health::Whole { sessions: 4, all: false, .. }),
        "no time: said as such"
    );
    // Another program is in the middle of a commit.
    let writer = Connection::open(file(directory.path())).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM runs").unwrap();
    assert!(matches!(look(Duration::from_secs(60)), Health::Whole { sessions: 4, all: true, .. }));
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(std::fs::read(file(directory.path())).unwrap(), before);
    damage(directory.path(), |bytes| bytes[..PAGE].fill(0));
    assert!(matches!(look(Duration::from_secs(60)), Health::Damaged { losses: Some(_), .. }));
    assert!(matches!(look(Duration::ZERO), Health::Damaged { losses: None, .. }), "no time to count");
    let missing = tempfile::tempdir().unwrap();
    assert!(matches!(thorough(missing.path()), Health::Missing));
    assert_eq!(std::fs::read_dir(missing.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_record_is_damage_also_where_every_page_is_sound() {
    let directory = kept(2);
    let flip = "UPDATE log SET record = zeroblob(length(record)) WHERE key & 0xffffffffff = 5";
    Connection::open(file(directory.path())).unwrap().execute_batch(flip).unwrap();
    let Health::Damaged { losses: Some(losses), .. } = thorough(directory.path()) else {
        unreachable!("two are damaged")
    };
    assert_eq!(losses.sessions.iter().map(store::RescuedSession::lost_events).sum::<u64>(), 2);
    is_honest(directory.path(), &SqliteStore::rescue(directory.path()).unwrap());
}

#[test]
fn removing_gives_the_space_back_in_small_pieces() {
    // As it is made today, and as it was made before files could be made shorter.
    for old in [false, true] {
        let directory = kept_quickly(30);
        if old {
            Connection::open(file(directory.path()))
                .unwrap()
                .execute_batch("PRAGMA auto_vacuum = NONE; VACUUM")
                .unwrap();
        }
        let size = || std::fs::metadata(file(directory.path())).unwrap().len();
        let before = size();
        let mut store = SqliteStore::at(directory.path()).unwrap();
        for number in 1..=27 {
            store.delete(&id(number)).unwrap();
        }
        let left = store.give_back().unwrap();
        assert!(left < 64 * 1024, "{left}");
        assert!(size() * 5 < before, "old: {old}: {} of {before}", size());
        for number in 28..=30 {
            assert_eq!(store.load(&id(number)).unwrap().state, fold(&story(number)));
        }
        assert_eq!(store.search("number 29", 10).unwrap().len(), 1);
        drop(store);
        assert!(matches!(thorough(directory.path()), Health::Whole { sessions: 3, all: true, .. }));
        let mode: i64 = Connection::open(file(directory.path()))
            .unwrap()
            .pragma_query_value(None, "auto_vacuum", |row| row.get(0))
            .unwrap();
        assert_eq!(mode, 2, "from now on it can be made shorter piece by piece");
    }
}

#[test]
fn a_program_that_goes_on_gives_the_space_back_while_it_tends() {
    let directory = kept_quickly(60);
    let mut store = SqliteStore::at(directory.path()).unwrap();
    let size = || std::fs::metadata(file(directory.path())).unwrap().len();
    let other = Connection::open(file(directory.path())).unwrap();
    let free = || other.pragma_query_value(None, "freelist_count", |row| row.get::<_, u32>(0)).unwrap();
    for number in 1..=58 {
        store.delete(&id(number)).unwrap();
    }
    let (before, mut left) = (size(), vec![free()]);
    assert!(left[0] > 300, "{left:?}");
    while *left.last().unwrap() > 0 && left.len() < 40 {
        store.tend().unwrap();
        left.push(free());
        // Others can write in between.
        other.execute_batch("UPDATE leases SET fence = fence").unwrap();
    }
    assert!(left.windows(2).all(|two| two[0] - two[1] <= 256), "a little each time: {left:?}");
    assert_eq!(left.last(), Some(&0), "{left:?}");
    assert!(size() * 3 < before, "{} of {before}", size());
}

#[test]
fn a_list_does_without_a_row_that_cannot_be_read_and_recovery_makes_it_anew() {
    let directory = kept(3);
    let rubbish = "UPDATE sessions SET summary = CAST(x'ff00fe' AS TEXT) WHERE id = 2";
    Connection::open(file(directory.path())).unwrap().execute_batch(rubbish).unwrap();
    let listed =
        |directory: &Path| SqliteStore::at(directory).unwrap().list(&Listing::default()).unwrap().len();
    assert_eq!(listed(directory.path()), 2);
    let rescued = SqliteStore::rescue(directory.path()).unwrap();
    assert!(rescued.sessions.iter().all(|session| session.lost.is_empty()), "{rescued:?}");
    assert_eq!(listed(directory.path()), 3);
}

#[test]
fn what_root_mends_stays_its_owners() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let directory = kept(2);
    damage(directory.path(), |bytes| bytes.truncate(bytes.len() - PAGE));
    let file = directory.path().join("sessions.db");
    // Only root can give a file away; for everybody else it is theirs before and after.
    let _ = chown(&file, Some(65_534), Some(65_534));
    let owner = || std::fs::metadata(&file).map(|found| (found.uid(), found.gid())).unwrap();
    let before = owner();
    SqliteStore::rescue(directory.path()).unwrap();
    assert_eq!(owner(), before);
}
