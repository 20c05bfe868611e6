//! Another program holds the lock that every write to the store needs, or writes as fast as it can. That program is this test binary,
//! started again as a child.

use crate::faults::{PARLOR, World};
use domain::event::{Body, Event, SessionEvent};
use domain::ids::{Millis, Seq, SessionId};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use store::{Durability, SqliteStore, Store as _};

/// What the child does, and where.
const HOLDS: &str = "PARLOR_TEST_HOLDS";
const WRITES: &str = "PARLOR_TEST_WRITES";
/// How long a lock is held: ordinary for a program that writes much.
const LOCK: Duration = Duration::from_secs(1);
/// How often that is tried on a machine so slow that a lock becomes a long one.
const TRIES: usize = 10;
/// How long two programs write beside each other, and with `--slow`.
const RUSH: Duration = Duration::from_secs(5);
const SLOW_RUSH: Duration = Duration::from_secs(60);
/// How long a line may take; far more than any does.
const PATIENCE: Duration = Duration::from_secs(60);

/// The child: holds the lock until it hears a word, or writes until its input ends. Does nothing when run as a test.
#[test]
fn another_program() {
    if let Some(file) = std::env::var_os(HOLDS) {
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let since = Instant::now();
        println!("begun");
        std::io::stdin().lines().next();
        std::thread::sleep(LOCK.saturating_sub(since.elapsed()));
        connection.execute_batch("ROLLBACK").unwrap();
        println!("{}", since.elapsed().as_millis());
    }
    if let Some(directory) = std::env::var_os(WRITES) {
        let mut store = SqliteStore::at(Path::new(&directory)).unwrap();
        let session = SessionId::from_number(0xabc);
        store.create(&session).unwrap();
        let (over, ends) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || {
            std::io::stdin().lines().next();
            over.send(())
        });
        println!("begun");
        let mut written = 0;
        while ends.try_recv().is_err() {
            written += 1;
            let body = match written {
                1 => SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None },
                _ => SessionEvent::Renamed { title: format!("{written}") },
            };
            let event = Event { seq: Seq(written), at: Millis(written), body: Body::Session(body) };
            store.append(&session, &[event], Durability::Now).unwrap();
        }
        println!("{written}");
    }
}

struct Other {
    child: Child,
    words: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(what: &str, place: &Path) -> Other {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "faults::locked::another_program", "--nocapture"]).env(what, place);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let words = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut other = Other { child, words };
        assert!(other.words.any(|line| line.unwrap().ends_with("begun")));
        other
    }

    /// Lets it end; the number that it says then.
    fn end(mut self) -> u64 {
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
        self.words.find_map(|line| line.unwrap().parse().ok()).unwrap()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A runtime on a socket, for several UIs.
struct Runtime {
    child: Child,
    world: World,
}

impl Runtime {
    fn start() -> Runtime {
        let world = World::new();
        let args = ["serve", "--dialect", "native", "--model", "offline/offline", "--socket", "s"];
        let mut command = world.command(PARLOR.as_ref(), &args);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("serving native")));
        std::thread::spawn(move || said.for_each(drop));
        Runtime { child, world }
    }

    /// A UI with a session of its own, in which something was said.
    fn ui(&self, id: &str, first: &str) -> Ui {
        let stream = UnixStream::connect(self.world.project("s")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut ui = Ui { stream, lines, heard: Vec::new(), session: id.to_owned(), ticket: 0 };
        let hello = json!({"protocol": 1, "name": "t", "version": "0", "capabilities": ["answers"]});
        ui.say(&json!({ "hello": hello }));
        ui.command(&json!({"new_session": {"title": id, "id": id}}));
        ui.send(&json!({"prompt": {"input": {"text": first}}}));
        ui
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Ui {
    stream: UnixStream,
    lines: std::io::Lines<BufReader<UnixStream>>,
    heard: Vec<String>,
    session: String,
    ticket: u64,
}

impl Ui {
    fn say(&mut self, line: &Value) {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn send(&mut self, what: &Value) -> u64 {
        self.ticket += 1;
        let target = json!({"session": self.session});
        let target = if what.get("new_session").is_some() { json!("current") } else { target };
        self.say(&json!({"command": {"ticket": self.ticket, "target": target, "what": what}}));
        self.ticket
    }

    fn until<T>(&mut self, wanted: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            let line = self.lines.next().unwrap().unwrap();
            let value = serde_json::from_str(&line).unwrap();
            self.heard.push(line);
            if let Some(found) = wanted(&value) {
                return found;
            }
        }
    }

    fn settled(&mut self, ticket: u64) -> Value {
        self.until(|line| (line["settled"]["ticket"] == ticket).then(|| line["settled"]["with"].clone()))
    }

    fn command(&mut self, what: &Value) -> Value {
        let ticket = self.send(what);
        let with = self.settled(ticket);
        assert!(with["refusal"].is_null(), "{what}: {with}");
        with["receipt"].clone()
    }

    fn list(&mut self) {
        let listed = self.command(&json!({"list_sessions": {"scope": "all"}}));
        assert!(listed.to_string().contains(&self.session), "{listed}");
    }

    fn happens(&mut self, what: &str) -> Value {
        self.until(|line| line.pointer("/event/event/body")?.get(what).cloned())
    }

    fn was_told_of_trouble(&self) -> bool {
        self.heard.iter().any(|line| line.contains("ot saved"))
    }
}

fn allow(ask: &Value) -> Value {
    let yes = json!({"allow": {"scope": "once", "digest": ask["kind"]["consent"]["digest"]}});
    json!({"answer": {"ask": ask["id"], "answer": yes}})
}

/// A runtime with three sessions that were said something in, one of which waits for an answer, and a UI that looks.
fn begun() -> (Runtime, [Ui; 4], Value) {
    let runtime = Runtime::start();
    let mut uis = [
        runtime.ui("sess-00000000000a", "say one"),
        runtime.ui("sess-00000000000b", "run `touch made`"),
        runtime.ui("sess-00000000000c", "say one"),
        runtime.ui("sess-00000000000d", "say one"),
    ];
    let ask = uis[1].happens("ask_opened");
    for at in [0, 2, 3] {
        uis[at].happens("run_ended");
    }
    (runtime, uis, ask)
}

fn prompt(text: &str) -> Value {
    json!({"prompt": {"input": {"text": text}}})
}

/// What sessions do while another program holds the lock: a prompt in one, an answer in another, lists and a prompt in others.
fn beside_a_lock(runtime: &Runtime, uis: &mut [Ui; 4], ask: &Value) {
    let [first, asked, other, looking] = uis;
    let begun = first.send(&prompt("say while it is locked"));
    looking.list();
    other.command(&prompt("say this too"));
    other.happens("run_ended");
    asked.command(&allow(ask));
    asked.happens("run_ended");
    assert_eq!(runtime.world.made("made"), 1, "what was allowed has run");
    first.settled(begun);
    first.happens("run_ended");
    looking.list();
}

#[test]
fn beside_a_lock_of_a_second_nobody_waits_is_asked_or_denied() {
    for _ in 0..TRIES {
        let (runtime, mut uis, ask) = begun();
        let lock = Other::start(HOLDS, &runtime.world.path("data/sessions.db"));
        // All of this while it is held: it is let go only after that.
        beside_a_lock(&runtime, &mut uis, &ask);
        let held = Duration::from_millis(lock.end());
        assert!(held >= LOCK);
        if held >= store::LOCK_PATIENCE {
            // So slow a machine makes a long lock of a short one.
            continue;
        }
        for ui in &mut uis {
            ui.command(&prompt("say after it"));
            ui.happens("run_ended");
            assert!(!ui.was_told_of_trouble(), "{:#?}", ui.heard);
        }
        let asks = uis[1].heard.iter().filter(|line| line.contains("ask_opened")).count();
        assert_eq!(asks, 1, "asked once");
        return;
    }
    panic!("no lock was a short one");
}

#[test]
fn what_was_told_beside_a_lock_is_there_after_a_kill() {
    for _ in 0..TRIES {
        let (mut runtime, mut uis, ask) = begun();
        let lock = Other::start(HOLDS, &runtime.world.path("data/sessions.db"));
        beside_a_lock(&runtime, &mut uis, &ask);
        runtime.child.kill().unwrap();
        runtime.child.wait().unwrap();
        if Duration::from_millis(lock.end()) >= store::LOCK_PATIENCE {
            continue;
        }
        for (session, said) in [
            ("sess-00000000000a", "say while it is locked"),
            ("sess-00000000000c", "say this too"),
            ("sess-00000000000b", "tool_started"),
        ] {
            let log = runtime.world.run(&["sessions", "export", session, "-f", "jsonl"]);
            let log = String::from_utf8(log.stdout).unwrap();
            assert!(log.contains(said) && log.contains("run_ended"), "{session}: {log}");
        }
        let left = std::fs::read_dir(runtime.world.path("data")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("aside")), "{left:?}");
        return;
    }
    panic!("no lock was a short one");
}

#[test]
fn beside_a_program_that_writes_as_fast_as_it_can_everybody_is_served() {
    let slow = std::env::var_os("PARLOR_SLOW").is_some();
    let rush = if slow { SLOW_RUSH } else { RUSH };
    let (runtime, mut uis, ask) = begun();
    let other = Other::start(WRITES, &runtime.world.path("data"));
    let until = Instant::now() + rush;
    uis[1].command(&allow(&ask));
    uis[1].happens("run_ended");
    let mut runs = 0;
    while Instant::now() < until {
        for ui in &mut uis {
            ui.command(&prompt("say this"));
        }
        for ui in &mut uis {
            ui.happens("run_ended");
            ui.list();
            runs += 1;
        }
    }
    let written = other.end();
    assert!(written > 1 && runs > 1, "{written} records there, {runs} runs here");
    assert_eq!(runtime.world.made("made"), 1);
    for ui in &uis {
        assert!(!ui.was_told_of_trouble(), "{:#?}", ui.heard.last());
        assert!(ui.heard.iter().filter(|line| line.contains("ask_opened")).count() <= 1);
    }
}
