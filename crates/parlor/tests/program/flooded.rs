//! The built program between hostile peers, in every wire: a runtime that sends rubbish and never stops, a UI that does the same. No
//! panic, no hang, bounded memory; whoever behaves is served as if nothing happened.
//!
//! Nobody plays a runtime by hand here: a real one stands behind a go-between, which adds what is hostile to what it says.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod go_between;
mod rubbish;

use go_between::{GoBetween, Mischief};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::in_world;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
const DIALECTS: [&str; 7] = ["native", "codelia", "nous", "lemon", "openagent", "asst", "acp"];
/// What the model is asked to say, which says that the conversation went well.
const WORD: &str = "survived";
/// The most that the program may have held in memory. A debug build holds about 40 MB by itself.
const MAX_MEMORY_KB: u64 = 250 * 1024;
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program in a world of its own.
fn parlor(world: &Path, args: &[&str]) -> Command {
    let mut command = in_world(PARLOR, world, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A program that goes on until the test is over.
struct Serving {
    child: Child,
    socket: PathBuf,
}

impl Serving {
    fn start(world: &Path, socket: &str, args: &[&str]) -> Serving {
        let mut command = parlor(world, args);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let serving = Serving { child, socket: world.join(socket) };
        until_there(&serving.socket);
        serving
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until somebody listens there.
fn until_there(socket: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while UnixStream::connect(socket).is_err() {
        assert!(Instant::now() < deadline, "nobody listens at {}", socket.display());
        std::thread::yield_now();
    }
}

/// A runtime of ours behind a socket.
fn runtime(world: &Path, dialect: &str) -> Serving {
    let args = ["serve", "--dialect", dialect, "--socket", "r", "--ephemeral", "--model", "offline/offline"];
    Serving::start(world, "r", &args)
}

/// The most that a process has held in memory so far, in KB; 0 where the system does not tell.
fn most_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

/// Asks the model over a socket to say the word; what was said, and what the program complained of.
fn converse(world: &Path, dialect: &str, socket: &str, between: Option<&GoBetween>) -> (String, String) {
    let prompt = format!("say {WORD}");
    let args = ["attach", "--dialect", dialect, "--socket", socket, "--prompt", &prompt];
    let child = parlor(world, &args).spawn().unwrap();
    if let Some(between) = between {
        between.watch(child.id());
    }
    let output = child.wait_with_output().unwrap();
    let (out, err) = (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned());
    let tail: String = err.chars().rev().take(600).collect::<Vec<_>>().into_iter().rev().collect();
    let said = String::from_utf8_lossy(&out).trim().to_owned();
    let head: String = said.chars().take(200).collect();
    assert!(output.status.success(), "{dialect}: {:?} {head:?} {tail}", output.status);
    (said, err)
}

#[test]
fn a_runtime_that_sends_rubbish_is_understood_where_it_makes_sense() {
    for dialect in DIALECTS {
        let world = tempfile::tempdir().unwrap();
        let world = world.path();
        let _runtime = runtime(world, dialect);
        let between = GoBetween::start(world, "r", "s", dialect == "nous", Mischief::Rubbish);
        let (said, err) = converse(world, dialect, "s", Some(&between));
        assert_eq!(said, WORD, "{dialect}");
        assert!(!err.contains("panicked"), "{dialect}: {err}");
        let (played, most) = between.end();
        assert!(played, "{dialect}: the go-between never got its turn");
        assert!(most < MAX_MEMORY_KB, "{dialect}: {most} KB");
    }
}

#[test]
fn a_runtime_that_never_stops_costs_no_memory_and_is_heard_to_its_end() {
    flooded_by_runtimes(&DIALECTS[..4]);
}

/// The wires are shared out: each is flooded for several seconds.
#[test]
fn a_runtime_that_never_stops_costs_no_memory_on_the_other_wires_either() {
    flooded_by_runtimes(&DIALECTS[4..]);
}

fn flooded_by_runtimes(wires: &[&str]) {
    for dialect in wires {
        let dialect = *dialect;
        let world = tempfile::tempdir().unwrap();
        let world = world.path();
        let _runtime = runtime(world, dialect);
        let between = GoBetween::start(world, "r", "s", dialect == "nous", Mischief::Flood);
        let (_, err) = converse(world, dialect, "s", Some(&between));
        assert!(!err.contains("panicked"), "{dialect}: {err}");
        let (played, most) = between.end();
        assert!(played, "{dialect}: the go-between never got its turn");
        assert!(most < MAX_MEMORY_KB, "{dialect}: {most} KB");
    }
}

#[test]
fn a_bridge_between_hostile_peers_serves_whoever_behaves() {
    for dialect in DIALECTS {
        let world = tempfile::tempdir().unwrap();
        let world = world.path();
        let _runtime = runtime(world, dialect);
        let between = GoBetween::start(world, "r", "s", dialect == "nous", Mischief::Rubbish);
        let args = ["bridge", "--from", dialect, "--socket", "b", "--to", dialect, "--to-socket", "s"];
        let bridge = Serving::start(world, "b", &args);
        between.watch(bridge.child.id());
        // On lemon's wire a line of plain words is a prompt like any other.
        let all = rubbish::lines()
            .into_iter()
            .filter(|line| dialect != "lemon" || !line.starts_with(rubbish::WORDS));
        hostile_ui(&bridge.socket, dialect, all.collect());
        let (said, err) = converse(world, dialect, "b", None);
        assert_eq!(said, WORD, "{dialect}: {err}");
        let (played, most) = between.end();
        assert!(played, "{dialect}: the go-between never got its turn");
        assert!(most < MAX_MEMORY_KB, "{dialect}: {most} KB");
    }
}

#[test]
fn a_hundred_thousand_lines_of_a_ui_are_answered_or_refused_and_the_next_ui_is_served() {
    for dialect in DIALECTS {
        let world = tempfile::tempdir().unwrap();
        let world = world.path();
        let runtime = runtime(world, dialect);
        let line = ui_line(dialect);
        let many: Vec<u8> = line.as_bytes().repeat(100_000);
        hostile_ui(&runtime.socket, dialect, vec![many]);
        let (said, err) = converse(world, dialect, "r", None);
        assert_eq!(said, WORD, "{dialect}: {err}");
        let most = most_memory(runtime.child.id());
        assert!(most < MAX_MEMORY_KB, "{dialect}: {most} KB");
    }
}

/// Something that a UI of this wire may ask for at any time.
fn ui_line(dialect: &str) -> &'static str {
    match dialect {
        "native" => "{\"command\":{\"ticket\":1,\"what\":\"list_tools\"}}\n",
        "codelia" => "{\"jsonrpc\":\"2.0\",\"id\":\"9\",\"method\":\"model.list\"}\n",
        "nous" => "{\"v\":\"1\",\"id\":\"c\",\"type\":\"ping\",\"payload\":{}}\n",
        "lemon" => "{\"type\":\"ping\"}\n",
        "acp" => "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/list\",\"params\":{}}\n",
        "openagent" => "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session.list\",\"params\":{}}\n",
        _ => "{\"id\":\"a\",\"kind\":\"get_status\"}\n",
    }
}

/// A UI that says all of it and reads what comes, until it has said everything or is cut off.
fn hostile_ui(socket: &Path, dialect: &str, what: Vec<Vec<u8>>) {
    let mut stream = UnixStream::connect(socket).unwrap();
    let mut reading = stream.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        let mut heard = 0;
        while let Ok(count @ 1..) = reading.read(&mut buffer) {
            heard += count;
        }
        heard
    });
    for bytes in what {
        // Being cut off is an answer too.
        if stream.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let deadline = Instant::now() + PATIENCE;
    while !reader.is_finished() {
        assert!(Instant::now() < deadline, "{dialect}: the hub does not let go of a UI that has left");
        std::thread::yield_now();
    }
    reader.join().unwrap();
}
