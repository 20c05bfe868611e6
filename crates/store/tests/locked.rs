//! Another program holds the lock that every write needs. That program is this test binary, started again as a child.

use crate::script::{numbered, opened, said};
use domain::content::Role;
use domain::event::Event;
use domain::ids::SessionId;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use store::{Contents, Durability, Listing, SqliteStore, Store, StoreError};

const FILE: &str = "STORE_TEST_LOCKED_FILE";
const DIRECTORY: &str = "STORE_TEST_LOCKED_DIRECTORY";

/// The child: holds the lock of a file from its word on until it hears one; does nothing when run as a test.
#[test]
fn holder() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    println!("held");
    std::io::stdin().lines().next();
    connection.execute_batch("ROLLBACK").unwrap();
    println!("free");
}

/// Another program; it does not outlive the test.
struct Other {
    child: Child,
    words: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Other {
    fn start(what: &str, key: &str, place: &Path) -> Other {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("locked::{what}"), "--nocapture"]).env(key, place);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let words = BufReader::new(child.stdout.take().unwrap()).lines();
        Other { child, words }
    }

    fn hears(&mut self, word: &str) {
        assert!(self.words.any(|line| line.unwrap().ends_with(word)), "it never says {word}");
    }

    fn say(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }
}

/// Another program that holds the lock of a file.
struct Holder(Other);

impl Holder {
    fn of(file: &Path) -> Holder {
        let mut other = Other::start("holder", FILE, file);
        other.hears("held");
        Holder(other)
    }

    fn let_go(&mut self) {
        self.0.say();
        self.0.hears("free");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn session() -> SessionId {
    SessionId::from_number(1)
}

/// A session of which something is kept, and what comes next in it.
fn begun(directory: &Path) -> (SqliteStore, Vec<Event>) {
    let mut store = SqliteStore::at(directory).unwrap();
    store.create(&session()).unwrap();
    let events =
        numbered([vec![opened()], said(1, Role::User, "first"), said(2, Role::User, "next")].concat());
    let (first, next) = events.split_at(4);
    store.append(&session(), first, Durability::Now).unwrap();
    (store, next.to_vec())
}

/// The files in which something stands aside.
fn aside(directory: &Path) -> usize {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("aside-")).count()
}

#[test]
fn who_never_waits_is_told_of_a_lock_at_once_and_reads_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = begun(directory.path());
    store.never_wait();
    let reader = store.reader().unwrap();
    let mut holder = Holder::of(store.path());
    // Twice: what met a lock may be asked for again.
    for _ in 0..2 {
        assert!(matches!(store.create(&SessionId::from_number(2)), Err(StoreError::Locked { .. })));
        assert!(matches!(store.delete(&session()), Err(StoreError::Locked { .. })));
    }
    assert_eq!(reader.list(&Listing::default()).unwrap().len(), 1);
    assert_eq!(reader.search("first", 10).unwrap().len(), 1);
    assert_eq!(reader.load(&session()).unwrap().state.seq.0, 4);
    holder.let_go();
    store.create(&SessionId::from_number(2)).unwrap();
    store.delete(&session()).unwrap();
    assert!(reader.list(&Listing::default()).unwrap().is_empty());
}

#[test]
fn what_must_last_stands_aside_until_the_lock_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, next) = begun(directory.path());
    store.never_wait();
    let reader = store.reader().unwrap();
    let (soon, now) = next.split_at(1);
    store.append(&session(), soon, Durability::Soon).unwrap();
    let mut holder = Holder::of(store.path());
    for event in now {
        store.append(&session(), std::slice::from_ref(event), Durability::Now).unwrap();
    }
    assert_eq!(store.load(&session()).unwrap().state.seq.0, 7);
    assert_eq!(reader.load(&session()).unwrap().state.seq.0, 4);
    assert!(aside(directory.path()) > 0);
    holder.let_go();
    store.tend().unwrap();
    assert_eq!(reader.load(&session()).unwrap().state, store.load(&session()).unwrap().state);
    assert_eq!(reader.search("next", 10).unwrap().len(), 1);
    drop((reader, store));
    assert_eq!(aside(directory.path()), 0);
}

/// The child: begins a session, and goes on with it when it hears a word; does nothing when run as a test.
#[test]
fn writer() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let (mut store, next) = begun(Path::new(&directory));
    store.never_wait();
    println!("begun");
    let mut words = std::io::stdin().lines();
    words.next();
    for event in &next {
        store.append(&session(), std::slice::from_ref(event), Durability::Now).unwrap();
    }
    println!("kept");
    // Holds the lease until it is killed.
    words.next();
}

#[test]
fn what_stood_aside_is_taken_in_by_whoever_opens_the_store_next() {
    let directory = tempfile::tempdir().unwrap();
    // One that has the store open all the time, and one that opens it afterwards.
    let mut early = SqliteStore::at(directory.path()).unwrap();
    for is_late in [false, true] {
        let mut writer = Other::start("writer", DIRECTORY, directory.path());
        writer.hears("begun");
        assert!(matches!(early.open(&session()), Err(StoreError::Busy { .. })));
        let mut holder = Holder::of(&directory.path().join("sessions.db"));
        writer.say();
        writer.hears("kept");
        drop(writer);
        assert_eq!(early.load(&session()).unwrap().state.seq.0, 4, "it could not be written yet");
        assert!(aside(directory.path()) > 0);
        holder.let_go();
        if is_late {
            let late = SqliteStore::at(directory.path()).unwrap();
            assert_eq!(late.load(&session()).unwrap().state.seq.0, 7);
            assert_eq!(late.search("next", 10).unwrap().len(), 1);
        } else {
            assert_eq!(early.open(&session()).unwrap().state.seq.0, 7);
        }
        assert_eq!(aside(directory.path()), 0);
        early.delete(&session()).unwrap();
    }
}

/// What a program that was killed left aside: of the session that `begun` makes its last three events, each in a row of its own.
fn left_aside(directory: &Path) -> std::path::PathBuf {
    let mut writer = Other::start("writer", DIRECTORY, directory);
    writer.hears("begun");
    let mut holder = Holder::of(&directory.join("sessions.db"));
    writer.say();
    writer.hears("kept");
    drop(writer);
    holder.let_go();
    let mut names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("aside-") && name.ends_with(".db")
    };
    names.find(is_it).unwrap()
}

/// How many events of the session there are once the store is opened, and what was put away.
fn reopened(directory: &Path) -> (u64, Vec<std::path::PathBuf>) {
    let store = SqliteStore::at(directory).unwrap();
    let away = SqliteStore::damaged_aside(directory);
    assert_eq!(store.put_away(), away, "it is told");
    (store.load(&session()).unwrap().state.seq.0, away)
}

#[test]
fn what_stood_aside_and_cannot_be_used_is_kept_and_told_and_what_comes_before_it_is_taken_in() {
    // The rows are of one event each: 5, 6 and 7.
    for (harm, taken) in [
        ("UPDATE aside SET crc = crc + 1 WHERE first = 6", 5),
        ("UPDATE aside SET crc = crc + 1 WHERE first = 5", 4),
        ("DELETE FROM aside WHERE first = 5", 4),
        ("DELETE FROM aside WHERE first = 6", 5),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let file = left_aside(directory.path());
        let rows = |file: &Path| -> i64 {
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.query_row("SELECT count(*) FROM aside", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(rows(&file), 3);
        rusqlite::Connection::open(&file).unwrap().execute_batch(harm).unwrap();
        let left = rows(&file);
        let (last, away) = reopened(directory.path());
        assert_eq!(last, taken, "{harm}");
        assert_eq!(away.len(), 1, "{harm}");
        assert_eq!(rows(&away[0]), left, "{harm}: all of it is kept");
        assert!(!file.exists(), "it is dealt with");
        // Once is enough, and it stays.
        let store = SqliteStore::at(directory.path()).unwrap();
        assert!(store.put_away().is_empty());
        assert_eq!(SqliteStore::damaged_aside(directory.path()), away);
    }
}

#[test]
fn who_opens_a_session_is_told_that_not_all_that_stood_aside_could_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let mut early = SqliteStore::at(directory.path()).unwrap();
    let file = left_aside(directory.path());
    let harm = "UPDATE aside SET crc = crc + 1 WHERE first = 6";
    rusqlite::Connection::open(&file).unwrap().execute_batch(harm).unwrap();
    let opened = early.open(&session()).unwrap();
    assert_eq!(opened.state.seq.0, 5);
    let message = opened.damage.expect("it is told").message;
    assert!(message.contains("damaged-1"), "{message}");
    assert_eq!(early.put_away(), SqliteStore::damaged_aside(directory.path()));
    assert_eq!(early.put_away().len(), 1);
}

#[test]
fn a_file_of_what_stood_aside_that_is_no_database_any_more_is_kept_and_told() {
    for has_log in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let file = left_aside(directory.path());
        if has_log {
            // As if the first pages of its log had been hit.
            let log = file.with_extension("db-wal");
            let mut bytes = std::fs::read(&log).unwrap();
            bytes[..200].fill(0xaa);
            std::fs::write(&log, bytes).unwrap();
        } else {
            // Its log is written to the file when the last one closes it.
            drop(
                rusqlite::Connection::open(&file).unwrap().execute_batch("DELETE FROM aside WHERE first = 0"),
            );
        }
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[..100].fill(0xaa);
        std::fs::write(&file, &bytes).unwrap();
        let (last, away) = reopened(directory.path());
        assert_eq!((last, away.len()), (4, 1), "{has_log}");
        assert_eq!(std::fs::read(&away[0]).unwrap(), bytes);
        let log = std::path::PathBuf::from(format!("{}-wal", away[0].display()));
        assert_eq!(log.exists(), has_log, "its log goes with it");
        assert!(!file.exists());
    }
}

#[test]
fn who_waits_is_served_when_the_lock_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, next) = begun(directory.path());
    let mut holder = Holder::of(store.path());
    let writing = std::thread::spawn(move || store.append(&session(), &next, Durability::Now).map(|_| store));
    holder.let_go();
    assert_eq!(writing.join().unwrap().unwrap().load(&session()).unwrap().state.seq.0, 7);
}

#[test]
fn a_session_that_a_lock_keeps_from_being_closed_loses_nothing_and_is_closed_later() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, next) = begun(directory.path());
    store.never_wait();
    store.append(&session(), &next, Durability::Soon).unwrap();
    let mut holder = Holder::of(store.path());
    assert!(matches!(store.tend(), Err(StoreError::Locked { .. })));
    assert!(matches!(store.close(&session()), Err(StoreError::Locked { .. })));
    let mut other = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(other.load(&session()).unwrap().state.seq.0, 4);
    holder.let_go();
    store.close(&session()).unwrap();
    assert_eq!(
        other.open(&session()).unwrap().state.seq.0,
        7,
        "what waited is written, and it may be opened"
    );
}

#[test]
fn contents_are_read_while_another_waits_to_keep_some() {
    let directory = tempfile::tempdir().unwrap();
    let contents = Contents::at(directory.path()).unwrap();
    let content = |text: &str| vec![(text.to_owned(), text.as_bytes().to_vec())];
    contents.keep(content("before")).unwrap();
    contents.set_prints(b"/w", Vec::new(), Vec::new()).unwrap();
    let mut holder = Holder::of(&directory.path().join("contents.db"));
    std::thread::scope(|scope| {
        let (tell, waits) = std::sync::mpsc::sync_channel(1);
        let (contents, content) = (&contents, &content);
        let keeping = scope.spawn(move || {
            tell.send(()).unwrap();
            contents.keep(content("while it is locked"))
        });
        waits.recv().unwrap();
        // Again and again: the other one must have come to the lock by then.
        for _ in 0..100 {
            assert_eq!(contents.content("before").unwrap().as_deref(), Some(&b"before"[..]));
            contents.prints(b"/w", &mut |_, _, _| panic!("there are none")).unwrap();
            assert!(contents.steps("s").unwrap().is_empty());
        }
        // Who starts now is not kept waiting either.
        assert_eq!(Contents::at(directory.path()).unwrap().content("before").unwrap().unwrap(), b"before");
        assert!(!keeping.is_finished(), "kept while the file is locked");
        holder.let_go();
        keeping.join().unwrap().unwrap();
    });
    assert!(contents.content("while it is locked").unwrap().is_some());
}
