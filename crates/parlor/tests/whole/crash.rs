//! `kill -9` at every record of a run, and at any instant under load: nothing that was told is lost, no tool runs twice, every
//! stream stays lawful, and what was asked is asked again.
//!
//! The program that dies is this test binary as a child, with the real hub, agent and store. `cargo xtask test --slow` kills at
//! more instants.

mod after;
mod child;
pub(crate) mod stage;

use after::Seen;
use child::{LOAD, PLACE, RECORDS};
use domain::ids::SessionId;
use stage::{KeptEvents, Random};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Children at once; they wait for each other's words.
const AT_ONCE: usize = 4;
/// The fewest records that the run must have.
const POINTS: u64 = 300;
/// Random instants, and with `--slow`.
const INSTANTS: u64 = 300;
const SLOW_INSTANTS: u64 = 3_000;

fn start(place: &Path, records: Option<u64>) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "crash::child::child", "--nocapture", "--test-threads=1"]).env(PLACE, place);
    if let Some(records) = records {
        command.env(RECORDS, records.to_string());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("this program starts");
    let out = BufReader::new(child.stdout.take().expect("its stdout"));
    (child, out)
}

/// Takes a line of the child, if it is a whole one about an event.
fn hear(line: &str, told: &mut KeptEvents) -> bool {
    // The test runner's own words may stand before the first.
    let Some((session, event)) = line.split_once("told ").and_then(|(_, rest)| rest.split_once(' ')) else {
        return false;
    };
    let (Some(session), Some(event)) = (SessionId::parse(session), event.strip_suffix('\n')) else {
        return false;
    };
    let seq = event.strip_prefix("{\"seq\":").and_then(|rest| rest.split(',').next()?.parse().ok());
    told.entry(session).or_default().insert(seq.expect("an event"), event.to_owned());
    true
}

/// Memory where there is some: a killed program leaves the same in both, and a disk would only be slower.
fn place() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a place")
}

/// Does `work` for each number, some at once.
fn each(numbers: u64, work: impl Fn(u64) -> Seen + Sync) -> Seen {
    let (next, all) = (AtomicU64::new(0), Mutex::new(Seen::default()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers {
                        return;
                    }
                    let seen = work(number);
                    let mut all = all.lock().expect("no test panicked");
                    *all = all.plus(seen);
                }
            });
        }
    });
    all.into_inner().expect("no test panicked")
}

fn killed_after(records: u64) -> (Seen, bool) {
    let place = place();
    let (mut child, mut out) = start(place.path(), Some(records));
    let (mut told, mut line) = (KeptEvents::new(), String::new());
    while out.read_line(&mut line).is_ok_and(|length| length > 0) {
        hear(&line, &mut told);
        line.clear();
    }
    let ended = child.wait().expect("it ends").success();
    let session = SessionId::from_number(1);
    (after::check(place.path(), &[session], &told, &format!("killed after record {records}")), ended)
}

#[test]
fn killed_at_every_record() {
    let (whole, ended) = killed_after(u64::MAX);
    assert!(ended && whole.asked_again == 0, "a run that nobody kills ends");
    let ends = AtomicU64::new(u64::MAX);
    // Past the last record nobody dies: that is how the length of the run is known.
    let seen = each(POINTS * 2, |records| {
        if records > ends.load(Ordering::Relaxed) {
            return Seen::default();
        }
        let (seen, ended) = killed_after(records);
        if ended {
            ends.fetch_min(records, Ordering::Relaxed);
        }
        seen
    });
    let length = ends.load(Ordering::Relaxed);
    assert!((POINTS..POINTS * 2).contains(&length), "the run has {length} records");
    assert!(seen.asked_again >= 6 && seen.unknown >= 12, "{seen:?}");
    eprintln!("{length} kill points: {seen:?}");
}

#[test]
fn killed_at_any_instant_under_load() {
    let instants = if std::env::var_os("PARLOR_SLOW").is_some() { SLOW_INSTANTS } else { INSTANTS };
    let sessions: Vec<SessionId> = (1..=LOAD.0).map(SessionId::from_number).collect();
    let seen = each(instants, |number| {
        let mut random = Random(number);
        let place = place();
        let (mut child, mut out) = start(place.path(), None);
        let (mut told, mut line) = (KeptEvents::new(), String::new());
        let lines = random.below(150);
        let mut heard = 0;
        while heard < lines && out.read_line(&mut line).is_ok_and(|length| length > 0) {
            heard += u64::from(hear(&line, &mut told));
            line.clear();
        }
        for _ in 0..random.below(200_000) {
            std::hint::spin_loop();
        }
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        while out.read_line(&mut line).is_ok_and(|length| length > 0) {
            hear(&line, &mut told);
            line.clear();
        }
        after::check(place.path(), &sessions, &told, &format!("instant {number}, after {heard} events"))
    });
    assert!(seen.interrupted > instants / 4 && seen.asked_again > 0, "{seen:?}");
    eprintln!("{instants} instants: {seen:?}");
}
