//! What the disk can do to us: damage, other programs, newer files, no room, no permission.

use crate::script::{fold, following, numbered, opened, said, script, session};
use domain::content::{Role, TextKind};
use domain::event::{Body, MessageEvent, Outcome, SessionEvent};
use domain::ids::{MessageId, Seq, SessionId};
use rusqlite::Connection;
use std::path::Path;
use store::{CheckDepth, Durability, Health, Listing, SqliteStore, Store, StoreError};
use tempfile::TempDir;

/// A store that holds the script, one event to a row, and is closed.
fn kept(snapshot_at: Option<usize>) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    store.create(&session()).unwrap();
    for (at, event) in script().iter().enumerate() {
        store.append(&session(), std::slice::from_ref(event), Durability::Now).unwrap();
        if snapshot_at == Some(at + 1) {
            store.snapshot(&session(), &fold(&script()[..=at])).unwrap();
        }
    }
    directory
}

fn file(directory: &Path) -> std::path::PathBuf {
    directory.join("sessions.db")
}

fn sql(directory: &Path, statement: &str) {
    Connection::open(file(directory)).unwrap().execute_batch(statement).unwrap();
}

/// Damages the row that holds event `seq`.
fn damage(directory: &Path, seq: u64) {
    sql(
        directory,
        &format!("UPDATE log SET record = zeroblob(length(record)) WHERE key & 0xffffffffff = {seq}"),
    );
}

#[test]
fn a_damaged_tail_is_set_aside_and_writing_goes_on() {
    let directory = kept(None);
    let events = script();
    let last = events.len() as u64;
    damage(directory.path(), last);
    damage(directory.path(), last - 1);
    let mut store = SqliteStore::at(directory.path()).unwrap();
    let found = store.open(&session()).unwrap();
    assert_eq!(found.state, fold(&events[..events.len() - 2]));
    let report = found.damage.unwrap();
    assert_eq!(report.lost, [(Seq(last - 1), Seq(last - 1)), (Seq(last), Seq(last))]);
    assert!(report.message.contains("2 of its events"), "{}", report.message);
    store.append(&session(), &events[events.len() - 2..], Durability::Now).unwrap();
    store.close(&session()).unwrap();
    let again = store.open(&session()).unwrap();
    assert_eq!((again.state, again.damage), (fold(&events), None));
}

#[test]
fn damage_in_the_middle_costs_what_is_damaged_and_is_told_once() {
    let directory = kept(None);
    damage(directory.path(), 5);
    let mut store = SqliteStore::at(directory.path()).unwrap();
    let found = store.open(&session()).unwrap();
    assert_eq!(found.damage.as_ref().unwrap().lost, [(Seq(5), Seq(5))]);
    assert_eq!(found.state.seq, fold(&script()).seq);
    assert_eq!(found.state.runs.len(), 1);
    let more = following(&found.state, [Body::Session(SessionEvent::Renamed { title: "still here".into() })]);
    store.append(&session(), &more, Durability::Now).unwrap();
    store.close(&session()).unwrap();
    assert_eq!(store.open(&session()).unwrap().damage, None);
}

#[test]
fn a_snapshot_covers_damage_before_it_and_a_damaged_snapshot_costs_nothing() {
    let directory = kept(Some(20));
    damage(directory.path(), 5);
    let store = SqliteStore::at(directory.path()).unwrap();
    let found = store.load(&session()).unwrap();
    assert_eq!((found.state, found.damage), (fold(&script()), None));

    let directory = kept(Some(20));
    sql(directory.path(), "UPDATE snapshots SET crc = crc + 1");
    let store = SqliteStore::at(directory.path()).unwrap();
    let found = store.load(&session()).unwrap();
    assert_eq!((found.state, found.damage), (fold(&script()), None));
}

#[test]
fn a_row_that_is_gone_is_noticed() {
    let directory = kept(Some(10));
    sql(directory.path(), "DELETE FROM log WHERE key & 0xffffffffff IN (11, 12, 20)");
    let store = SqliteStore::at(directory.path()).unwrap();
    let lost = store.load(&session()).unwrap().damage.unwrap().lost;
    assert_eq!(lost, [(Seq(11), Seq(12)), (Seq(20), Seq(20))]);
}

#[test]
fn garbage_in_the_file_never_panics_and_is_told_in_words() {
    let directory = kept(Some(20));
    sql(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    let clean = std::fs::read(file(directory.path())).unwrap();
    let page = 4096;
    for at in 0..clean.len() / page {
        let mut dirty = clean.clone();
        dirty[at * page + 20..(at + 1) * page].fill(0x5a);
        let damaged = tempfile::tempdir().unwrap();
        std::fs::write(file(damaged.path()), &dirty).unwrap();
        let said = match SqliteStore::at(damaged.path()) {
            Ok(mut store) => {
                let _ = store.list(&Listing::default());
                let _ = store.search("bridge", 5);
                match store.open(&session()) {
                    Ok(found) => found.damage.map(|damage| damage.message),
                    Err(error) => Some(error.to_string()),
                }
            }
            Err(error) => Some(error.to_string()),
        };
        if let Some(said) = said {
            assert!(!said.is_empty(), "page {at}");
        }
    }
}

#[test]
fn two_stores_never_write_one_session() {
    let directory = kept(None);
    let mut first = SqliteStore::at(directory.path()).unwrap();
    let mut second = SqliteStore::at(directory.path()).unwrap();
    let state = first.open(&session()).unwrap().state;
    assert!(matches!(second.open(&session()), Err(StoreError::Busy { .. })));
    assert!(matches!(second.create(&session()), Err(StoreError::Exists(_))));

    // The first sleeps through its lease, as from another host; the second takes over; the first wakes up.
    sql(directory.path(), "UPDATE leases SET host = 'elsewhere', expires = 1");
    second.open(&session()).unwrap();
    let more = following(&state, [Body::Session(SessionEvent::Renamed { title: "mine".into() })]);
    let refused = first.append(&session(), &more, Durability::Now);
    assert!(matches!(refused, Err(StoreError::NotOpen(_))), "{refused:?}");
    second.append(&session(), &more, Durability::Now).unwrap();
    assert_eq!(second.summary(&session()).unwrap().title, "mine");
    // Closing lets the first in again.
    second.close(&session()).unwrap();
    assert_eq!(first.open(&session()).unwrap().state.settings.title.as_deref(), Some("mine"));
}

#[test]
fn a_session_that_another_process_has_open_is_marked_in_lists() {
    let directory = kept(None);
    let mut first = SqliteStore::at(directory.path()).unwrap();
    let reader = first.reader().unwrap();
    let marks = || {
        let listed = reader.list(&Listing::default()).unwrap();
        (listed[0].elsewhere, reader.summary(&session()).unwrap().elsewhere)
    };
    first.open(&session()).unwrap();
    assert_eq!(marks(), (false, false), "it is open here");
    sql(
        directory.path(),
        "UPDATE leases SET host = 'elsewhere', expires = strftime('%s', 'now') * 1000 + 5000",
    );
    assert_eq!(marks(), (true, true));
    sql(directory.path(), "UPDATE leases SET expires = 1");
    assert_eq!(marks(), (false, false), "that process is gone");
}

/// Two writers that the file takes for one owner, as after a restored image of a machine: only the later one writes.
#[test]
fn a_writer_whose_fence_is_lower_writes_nothing() {
    let directory = kept(None);
    let mut early = SqliteStore::at(directory.path()).unwrap();
    let state = early.open(&session()).unwrap().state;
    let more = following(&state, [Body::Session(SessionEvent::Renamed { title: "early".into() })]);
    // The same owner has taken the session once more.
    sql(directory.path(), "UPDATE leases SET fence = fence + 1");
    let refused = early.append(&session(), &more, Durability::Now);
    assert!(matches!(refused, Err(StoreError::NotOpen(_))), "{refused:?}");
    assert_eq!(early.summary(&session()).unwrap().title, "fix the failing bridge");

    let mut late = SqliteStore::at(directory.path()).unwrap();
    sql(directory.path(), "UPDATE leases SET host = 'elsewhere', expires = 1");
    late.open(&session()).unwrap();
    let mut again = SqliteStore::at(directory.path()).unwrap();
    assert!(matches!(again.open(&session()), Err(StoreError::Busy { .. })));
    late.append(&session(), &more, Durability::Now).unwrap();
    assert_eq!(late.events(&session(), state.seq, 10).unwrap(), more);
}

#[test]
fn tending_writes_what_waits_and_notices_a_lost_lease() {
    let directory = kept(None);
    let mut first = SqliteStore::at(directory.path()).unwrap();
    let state = first.open(&session()).unwrap().state;
    let message = MessageId(900);
    let mut bodies = vec![Body::Message(MessageEvent::Started {
        message,
        parent: None,
        role: Role::Assistant,
        turn: None,
        step: None,
    })];
    bodies.push(Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: "half a".into() }));
    first.append(&session(), &following(&state, bodies), Durability::Soon).unwrap();
    let second = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(second.load(&session()).unwrap().state.seq, state.seq, "it waits in memory");
    first.tend().unwrap();
    assert_eq!(second.load(&session()).unwrap().state.seq.0, state.seq.0 + 2);
    sql(directory.path(), "UPDATE leases SET owner = 'another', fence = fence + 1");
    let after = second.load(&session()).unwrap().state;
    let end = Body::Message(MessageEvent::Ended { message, finish: domain::event::Finish::Complete });
    first.append(&session(), &following(&after, [end]), Durability::Soon).unwrap();
    assert!(matches!(first.tend(), Err(StoreError::NotOpen(_))));
}

#[test]
fn a_newer_file_and_a_foreign_file_are_refused_in_words() {
    let directory = kept(None);
    sql(directory.path(), "ALTER TABLE sessions ADD COLUMN tomorrow TEXT; PRAGMA user_version = 99");
    let refused = SqliteStore::at(directory.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 99, .. }), "{refused}");
    assert!(refused.hint().contains("update"), "{}", refused.hint());

    let foreign = tempfile::tempdir().unwrap();
    sql(foreign.path(), "CREATE TABLE bookmarks (url TEXT)");
    assert!(matches!(SqliteStore::at(foreign.path()), Err(StoreError::Foreign { .. })));

    let text = tempfile::tempdir().unwrap();
    std::fs::write(file(text.path()), "this is my shopping list, ".repeat(400)).unwrap();
    assert!(matches!(SqliteStore::at(text.path()), Err(StoreError::Foreign { .. })));
}

#[test]
fn lists_and_searches_do_without_the_log() {
    let directory = kept(None);
    sql(directory.path(), "DROP TABLE log; DROP TABLE snapshots;");
    let store = SqliteStore::at(directory.path()).unwrap();
    let listed = store.list(&Listing { search: Some("bridge".into()), ..Listing::default() }).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].title, "fix the failing bridge");
    assert!(store.load(&session()).is_err());
}

#[test]
fn lists_and_searches_are_made_anew_from_the_log() {
    let directory = kept(Some(10));
    let store = SqliteStore::at(directory.path()).unwrap();
    let before = (store.list(&Listing::default()).unwrap(), store.search("bridge", 10).unwrap());
    assert_eq!(before.1.len(), 2);
    sql(
        directory.path(),
        "DELETE FROM entries; DELETE FROM runs; INSERT INTO found (found) VALUES ('delete-all');
         UPDATE sessions SET summary = '?', updated_at = 0, last_seq = 0;",
    );
    drop(store);
    let damaged = SqliteStore::examine(directory.path(), CheckDepth::Thorough);
    assert!(matches!(damaged, Health::Damaged { .. }), "{damaged:?}");
    SqliteStore::rescue(directory.path()).unwrap();
    let store = SqliteStore::at(directory.path()).unwrap();
    assert_eq!((store.list(&Listing::default()).unwrap(), store.search("bridge", 10).unwrap()), before);
    assert_eq!(store.history(&session(), 1, 1_000).unwrap().events.len(), script().len() - 1);
}

#[test]
fn words_of_a_run_that_was_cut_off_are_found_before_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    store.create(&session()).unwrap();
    // In the middle of the answer.
    store.append(&session(), &script()[..12], Durability::Now).unwrap();
    let found = |store: &SqliteStore| store.search("let look", 10).unwrap();
    assert_eq!(found(&store), [], "it is being said");
    sql(directory.path(), "UPDATE leases SET host = 'elsewhere', expires = 1");
    let other = SqliteStore::at(directory.path()).unwrap();
    let hits = found(&other);
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert!(hits[0].snippet.starts_with("Let me look") && hits[0].session == session(), "{hits:?}");
    assert_eq!(other.search("bridge", 10).unwrap().len(), 1, "what is in the index is found as before");
    assert_eq!(other.search("let us", 10).unwrap(), []);
    let listed = other.list(&Listing::default()).unwrap();
    let ended = (listed[0].running, listed[0].outcome.as_deref());
    assert_eq!(ended, (false, Some(&Outcome::Interrupted)), "nobody ends it any more");
}

#[test]
fn no_room_is_told_harms_nothing_and_passes() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    store.create(&session()).unwrap();
    let events = script();
    store.append(&session(), &events[..10], Durability::Now).unwrap();
    store.limit_pages(Some(40)).unwrap();
    let noise: String = (0..400_000u32)
        .map(|n| char::from_u32(0x4e00 + n.wrapping_mul(7919) % 20_000).unwrap_or('x'))
        .collect();
    let big = following(&fold(&events[..10]), [Body::Session(SessionEvent::Renamed { title: noise })]);
    let refused = store.append(&session(), &big, Durability::Now).unwrap_err();
    assert!(matches!(refused, StoreError::Full { .. }), "{refused}");
    assert_eq!(store.load(&session()).unwrap().state, fold(&events[..10]));
    store.limit_pages(None).unwrap();
    store.append(&session(), &events[10..], Durability::Now).unwrap();
    assert_eq!(store.load(&session()).unwrap().state, fold(&events));
    assert_eq!(store.summary(&session()).unwrap().title, "fix the failing bridge");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().unwrap();
    let directory = base.path().join("a/b");
    let mut store = SqliteStore::at(&directory).unwrap();
    store.create(&session()).unwrap();
    store.append(&session(), &script(), Durability::Now).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_place_that_cannot_be_used_is_told_in_words() {
    let base = tempfile::tempdir().unwrap();
    let not_a_directory = base.path().join("file");
    std::fs::write(&not_a_directory, "").unwrap();
    let refused = SqliteStore::at(&not_a_directory.join("data")).unwrap_err();
    assert!(matches!(&refused, StoreError::NotAFolder { path } if *path == not_a_directory), "{refused:?}");
    assert!(!refused.hint().is_empty());
}

#[test]
fn many_tokens_take_little_room_and_a_snapshot_falls_due() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    let id = SessionId::from_number(5);
    store.create(&id).unwrap();
    let message = MessageId(1);
    let mut bodies = vec![opened()];
    bodies.extend(said(1, Role::Assistant, "").into_iter().take(1));
    bodies.extend((0..5_000).map(|n| {
        Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: format!("word{n} ") })
    }));
    let events = numbered(bodies);
    let mut due = 0;
    for event in &events {
        if store.append(&id, std::slice::from_ref(event), Durability::Soon).unwrap().snapshot_due {
            due += 1;
            store.snapshot(&id, &fold(&events[..event.seq.0 as usize])).unwrap();
        }
    }
    assert_eq!(due, 4);
    store.close(&id).unwrap();
    drop(store);
    let payload: usize = events.iter().map(|event| record::encode(event).len()).sum();
    let size = std::fs::metadata(file(directory.path())).unwrap().len() as usize;
    assert!(size < payload, "{size} of {payload}");
    let store = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(store.load(&id).unwrap().state, fold(&events));
}

#[test]
fn many_can_open_a_fresh_store_at_once_and_write_their_own_sessions() {
    let base = tempfile::tempdir().unwrap();
    let directory = base.path().join("data");
    std::thread::scope(|scope| {
        for number in 1..=8 {
            let directory = &directory;
            scope.spawn(move || {
                let mut store = SqliteStore::at(directory).unwrap();
                let id = SessionId::from_number(number);
                store.create(&id).unwrap();
                for event in script() {
                    store.append(&id, &[event], Durability::Now).unwrap();
                }
            });
        }
    });
    let store = SqliteStore::at(&directory).unwrap();
    assert_eq!(store.list(&Listing::default()).unwrap().len(), 8);
    for number in 1..=8 {
        assert_eq!(store.load(&SessionId::from_number(number)).unwrap().state, fold(&script()));
    }
}

#[test]
fn a_session_whose_program_died_before_its_first_event_is_not_there_and_can_be_made() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::at(directory.path()).unwrap());
    let summary = "INSERT INTO sessions (name, summary) VALUES ('sess-000000000abc', '{}')";
    sql(directory.path(), summary);
    let mut store = SqliteStore::at(directory.path()).unwrap();
    assert!(matches!(store.open(&session()), Err(StoreError::Unknown(_))));
    assert!(matches!(store.summary(&session()), Err(StoreError::Unknown(_))));
    store.create(&session()).unwrap();
    store.append(&session(), &script(), Durability::Now).unwrap();
    assert_eq!(store.load(&session()).unwrap().state, fold(&script()));
}

/// A program that slept through its lease knows nothing of what another one has written since.
#[test]
fn an_empty_session_that_another_took_over_is_not_taken_away_by_closing_it() {
    let directory = tempfile::tempdir().unwrap();
    let (id, events) = (session(), script());
    let mut slept = SqliteStore::at(directory.path()).unwrap();
    slept.create(&id).unwrap();
    let lost = "UPDATE leases SET owner = '', expires = 0, pid = 0";
    Connection::open(directory.path().join("sessions.db")).unwrap().execute_batch(lost).unwrap();
    let mut other = SqliteStore::at(directory.path()).unwrap();
    other.create(&id).unwrap();
    other.append(&id, &events, Durability::Now).unwrap();
    let _ = slept.close(&id);
    assert_eq!(other.load(&id).unwrap().state, fold(&events));
}
