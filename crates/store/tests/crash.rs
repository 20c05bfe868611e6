//! `kill -9` at every record boundary and in the middle of writing. The writer is this test binary, started again as a child.

use crate::script::{ASK, fold, following, script, session};
use domain::grammar;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use store::{Durability, SqliteStore, Store, StoreError, recover};

const DIRECTORY: &str = "STORE_TEST_DIRECTORY";
const STEPWISE: &str = "STORE_TEST_STEPWISE";
/// How often the script is repeated in the child that nobody holds back.
const ROUNDS: u64 = 20;

/// The child: appends the script, acknowledging each event; does nothing when run as a test.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let stepwise = std::env::var_os(STEPWISE).is_some();
    let mut store = SqliteStore::at(Path::new(&directory)).unwrap();
    let mut input = std::io::stdin().lines();
    let mut out = std::io::stdout();
    for round in 0..if stepwise { 1 } else { ROUNDS } {
        let id = if round == 0 { session() } else { domain::ids::SessionId::from_number(round) };
        store.create(&id).unwrap();
        for event in script() {
            if stepwise {
                input.next().unwrap().unwrap();
            }
            let durability = if event.body.is_durable() { Durability::Now } else { Durability::Soon };
            store.append(&id, &[event], durability).unwrap();
            writeln!(out, "ack").unwrap();
            out.flush().unwrap();
        }
    }
    // Hold the lease until killed.
    let _ = input.next();
}

struct Writer {
    child: Child,
    acks: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Writer {
    fn start(directory: &Path, stepwise: bool) -> Writer {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::child", "--nocapture"]).env(DIRECTORY, directory);
        if stepwise {
            command.env(STEPWISE, "1");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let acks = BufReader::new(child.stdout.take().unwrap()).lines();
        Writer { child, acks }
    }

    fn let_one_step(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn ack(&mut self) {
        // The test runner's own lines come before; the first acknowledgement may share a line with its words.
        while !self.acks.next().unwrap().unwrap().ends_with("ack") {}
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Opens what the killed writer left, checks it against the script and makes it whole.
fn check_what_is_left(directory: &Path, acknowledged: usize) {
    let events = script();
    let mut store = SqliteStore::at(directory).unwrap();
    let opened = match store.open(&session()) {
        Err(StoreError::Unknown(_)) if acknowledged == 0 => return,
        opened => opened.unwrap(),
    };
    assert_eq!(opened.damage, None);
    let there = store.events(&session(), domain::ids::Seq(0), 10_000).unwrap();
    assert_eq!(there, events[..there.len()], "the log is the script's beginning");
    assert_eq!(opened.state, fold(&there));
    let durable = events[..acknowledged].iter().rposition(|event| event.body.is_durable());
    assert!(
        there.len() >= durable.map_or(0, |last| last + 1),
        "acknowledged {acknowledged}, found {}",
        there.len()
    );

    let recovery = recover(&opened.state);
    assert_eq!(recovery.resumable.is_some(), opened.state.ask(ASK).is_some());
    let closing = following(&opened.state, recovery.bodies);
    store.append(&session(), &closing, Durability::Now).unwrap();
    let whole = store.events(&session(), domain::ids::Seq(0), 10_000).unwrap();
    grammar::check_all(&whole).unwrap();
}

#[test]
fn killed_at_every_record_boundary() {
    for cut in 0..=script().len() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Writer::start(directory.path(), true);
        for _ in 0..cut {
            writer.let_one_step();
            writer.ack();
        }
        writer.kill();
        check_what_is_left(directory.path(), cut);
    }
}

#[test]
fn killed_in_the_middle_of_writing() {
    let length = script().len();
    for acknowledged in (1..=length * 2).step_by(3) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Writer::start(directory.path(), false);
        for _ in 0..acknowledged {
            writer.ack();
        }
        writer.kill();
        check_what_is_left(directory.path(), acknowledged.min(length));
    }
}

#[test]
fn a_living_writer_keeps_others_out_and_a_dead_one_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(directory.path(), true);
    writer.let_one_step();
    writer.ack();
    let mut store = SqliteStore::at(directory.path()).unwrap();
    let refused = store.open(&session());
    assert!(matches!(refused, Err(StoreError::Busy { pid, .. }) if pid == writer.child.id()), "{refused:?}");
    assert!(matches!(store.delete(&session()), Err(StoreError::Busy { .. })));
    // Reading is free.
    assert_eq!(store.load(&session()).unwrap().state, fold(&script()[..1]));
    writer.kill();
    assert_eq!(store.open(&session()).unwrap().state, fold(&script()[..1]));
}
