//! The fleet over real processes: who waits, who runs, who is done and who died, as `parlor ps --watch` and the terminal UI tell it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;
use testkit::{PATIENCE, Person, Running, Screen};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// Lines that may wait to be looked at.
const MAX_LINES: usize = 256;
/// Opens the fleet from anywhere.
const FLEET: &str = "\x1bo";

/// A terminal in which a session waits for a consent.
fn waiting(world: &Person) -> Screen {
    let mut terminal = Screen::start(&mut world.parlor("one", &[]));
    terminal.shows(&["asks first"]);
    terminal.send("run `touch made`\r");
    terminal.asks(&["touch made"]);
    terminal
}

fn serve(world: &Person, socket: &Path) -> Running {
    let socket = socket.display().to_string();
    let mut command = world.parlor("two", &["serve", "--dialect", "native", "--socket", &socket]);
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while !Path::new(&socket).exists() {
        assert!(Instant::now() < end, "it does not listen");
        std::thread::yield_now();
    }
    Running(child)
}

/// `parlor ps --watch --json`, and the newest row of each session or process that it told.
struct Watching {
    _child: Running,
    lines: mpsc::Receiver<Value>,
    newest: BTreeMap<String, Value>,
}

impl Watching {
    fn start(world: &Person) -> Watching {
        let mut command = world.parlor("two", &["ps", "--watch", "--json"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = mpsc::sync_channel(MAX_LINES);
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Watching { _child: Running(child), lines, newest: BTreeMap::new() }
    }

    /// Waits until some row is as it is wanted, and gives it.
    #[track_caller]
    fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(row) = self.newest.values().find(|row| wanted(row)) {
                return row.clone();
            }
            let left = end.saturating_duration_since(Instant::now());
            let row = self.lines.recv_timeout(left);
            assert!(row.is_ok(), "never {what}: {:?}", self.newest);
            let row: Value = row.unwrap();
            let name = row.get("session").unwrap_or(&row["pid"]).to_string();
            self.newest.insert(name, row);
        }
    }
}

#[test]
fn who_waits_who_runs_who_is_done_and_who_died_is_told() {
    let world = Person::new(PARLOR);
    std::fs::create_dir(world.path("one/.git")).unwrap();
    std::fs::write(world.path("one/.git/HEAD"), "ref: refs/heads/bridge\n").unwrap();
    let mut watching = Watching::start(&world);
    let waiting = waiting(&world);
    watching.until("waiting", |row| row["status"] == "waiting");
    let row = watching.until("its branch", |row| row["branch"] == "bridge");
    assert_eq!((row["title"].as_str(), row["status"].as_str()), (Some("run `touch made`"), Some("waiting")));
    assert_eq!(row["pid"].as_u64(), Some(u64::from(waiting.child().id())));
    assert!(row.get("cost_micros").is_none() && row.get("runtime").is_none(), "not known: {row}");

    let mut running = Screen::start(&mut world.parlor("two", &[]));
    running.shows(&["asks first"]);
    running.send("count to 200 slowly\r");
    let row = watching.until("running", |row| row["status"] == "running");
    assert_eq!(row["cwd"].as_str(), Some(world.path("two").canonicalize().unwrap().to_str().unwrap()));

    let socket = world.path("s");
    let mut serving = serve(&world, &socket);
    let socket = socket.display().to_string();
    let said = world.parlor("two", &["attach", "--socket", &socket, "--prompt", "say one"]).output().unwrap();
    assert!(said.status.success());
    watching.until("done", |row| row["status"] == "done" && row["title"] == "say one");

    // Killed outright, it says nothing any more; that is told, and what it left is gone.
    let pid = u64::from(serving.0.id());
    serving.0.kill().unwrap();
    serving.0.wait().unwrap();
    let row = watching.until("dead", |row| row["status"] == "dead");
    assert_eq!(row["pid"].as_u64(), Some(pid));
    assert!(!world.path(&format!("data/run/{pid}.sock")).exists());
    let kept = watching.until("kept", |row| row["title"] == "say one" && row.get("pid").is_none());
    assert_eq!(kept["status"], "done", "what it did is kept");

    // In the middle of a run: nothing is written any more, and all the same it is not told as running.
    rustix::process::kill_process(
        rustix::process::Pid::from_child(running.child()),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    watching
        .until("interrupted", |row| row["status"] == "interrupted" && row["title"] == "count to 200 slowly");

    // Where a question is open nothing was written for long: no file changes with the end of its program.
    rustix::process::kill_process(
        rustix::process::Pid::from_child(waiting.child()),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    watching.until("interrupted", |row| row["status"] == "interrupted" && row["title"] == "run `touch made`");
}

#[test]
fn a_session_is_answered_from_the_fleet_only_with_its_whole_question() {
    let world = Person::new(PARLOR);
    let mut waiting = waiting(&world);
    let mut terminal = Screen::start(&mut world.parlor("two", &[]));
    terminal.shows(&["asks first"]);
    terminal.send(FLEET);
    terminal.shows(&["Fleet · 1 waiting for you", "run `touch made`", "Enter shows the question"]);
    // Letters on the row are no answers; `n` would go on to the next that waits.
    terminal.send("ya");
    terminal.settles();
    assert!(!world.path("one/made").exists());
    waiting.asks(&["touch made"]);
    terminal.send("\r");
    // The board beside the list shows the question, too; it is answered in its session.
    terminal.until("the session", |screen| !screen.contents().contains("Fleet ·"));
    terminal.asks(&["touch made", "changes files", "y allow once"]);
    terminal.send("y");
    terminal.sees("the file is made", || world.path("one/made").exists());
    // The list is back by itself; closed, the person is where they were.
    terminal.shows(&["Fleet · 0 waiting for you"]);
    terminal.send("\x1b");
    terminal.until("home", |screen| !screen.contents().contains("Fleet ·"));
    terminal.shows(&["two", "ask anything"]);
    waiting.shows(&["ask anything"]);
    // What is said to a row is heard there, and what runs there is stopped after a second press.
    waiting.send("count to 200 slowly\r");
    terminal.send(FLEET);
    terminal.shows(&["Fleet · 0 waiting for you · 1 running", "x stop"]);
    terminal.send("sand be brief\r");
    waiting.shows(&["steers next: and be brief"]);
    terminal.send("x");
    terminal.shows(&["x again stops it"]);
    terminal.send("x");
    terminal.shows(&["0 running", "stopped"]);
}

#[test]
fn a_terminal_shows_a_table_that_changes_in_place() {
    let world = Person::new(PARLOR);
    let mut watching = Screen::start(&mut world.parlor("two", &["ps", "--watch"]));
    watching.shows(&["0 waiting for you", "No session yet"]);
    let mut waiting = waiting(&world);
    watching.shows(&["1 waiting for you", "waiting", "run `touch made`"]);
    waiting.send("n");
    watching.shows(&["0 waiting for you"]);
    let cleared = watching.bytes().windows(4).filter(|bytes| bytes == b"\x1b[2J").count();
    assert_eq!(cleared, 1, "the screen is drawn in place");
    watching.send("q");
    assert!(watching.finish());
    assert!(watching.echoes() || watching.said("\x1b[?1049l"), "the terminal is as it was");
}

#[test]
fn a_terminal_that_cannot_draw_is_told_in_lines() {
    let world = Person::new(PARLOR);
    let mut command = world.parlor("two", &["ps", "--watch"]);
    let mut watching = Screen::start(command.env("TERM", "dumb"));
    let _waiting = waiting(&world);
    watching.shows(&["waiting", "run `touch made`"]);
    assert!(!watching.said("\x1b"), "nothing is drawn");
}
