//! Two processes on one PostgreSQL, each with a data folder of its own, as on two machines: one dies or is cut off, the other goes on.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use testkit::postgres::Database;
use testkit::{Lines, PATIENCE, asked_first, in_world};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
const HELLO: &str = r#"{"hello":{"protocol":1,"name":"test","version":"1","capabilities":["answers"]}}"#;

/// A person's folders on one machine; the project is the same everywhere, as a shared checkout would be.
struct Machine<'a> {
    place: tempfile::TempDir,
    project: &'a Path,
    database: &'a Database,
}

impl<'a> Machine<'a> {
    fn new(project: &'a Path, database: &'a Database) -> Machine<'a> {
        let place = tempfile::tempdir().unwrap();
        asked_first(&place.path().join("config"));
        Machine { place, project, database }
    }

    fn parlor(&self, args: &[&str]) -> Command {
        let mut command = in_world(PARLOR, self.place.path(), args);
        command.current_dir(self.project).arg(format!("--store={}", self.database.address()));
        command.env("HOME", self.place.path()).env_remove("PGPASSFILE");
        command
    }

    /// An agent with a UI of ours, by the native wire.
    fn serve(&self) -> Lines {
        let args = ["serve", "--dialect", "native", "--stdio", "--model", "offline", "--policy", "ask"];
        let mut lines = Lines::start(&mut self.parlor(&args));
        lines.say(HELLO);
        lines
    }

    /// Something that ends, and what it printed.
    fn says(&self, args: &[&str]) -> String {
        let output = self.parlor(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn command(lines: &mut Lines, ticket: u64, what: Value) {
    lines.say(&json!({ "command": { "ticket": ticket, "what": what } }).to_string());
}

fn prompt(lines: &mut Lines, text: &str) {
    command(lines, 1, json!({ "prompt": { "input": { "text": text } } }));
}

/// The question that is asked, from the line that tells it.
fn asked(line: &str) -> Value {
    fn find(value: &Value) -> Option<Value> {
        match value {
            Value::Object(fields) => {
                fields.get("ask_opened").cloned().or_else(|| fields.values().find_map(find))
            }
            Value::Array(items) => items.iter().find_map(find),
            _ => None,
        }
    }
    find(&serde_json::from_str(line).unwrap()).unwrap()
}

fn allow(lines: &mut Lines, ask: &Value) {
    command(lines, 2, json!({ "answer": { "ask": ask["id"], "answer": { "allow": { "scope": "once" } } } }));
}

/// The session that a process has, by what the database tells.
fn session(database: &Database) -> String {
    database.sql("SELECT name FROM parlor.sessions")
}

/// Ends the leases, as the ten seconds would.
fn lapse(database: &Database) {
    database.sql("UPDATE parlor.lease SET until = now()");
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::yield_now();
    }
}

fn kill(lines: &Lines) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(lines.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_question_outlives_the_machine_that_asked_it_and_the_yes_counts_on_another() {
    let (database, project) = (Database::new(), tempfile::tempdir().unwrap());
    let (one, other) = (Machine::new(project.path(), &database), Machine::new(project.path(), &database));
    let mut first = one.serve();
    prompt(&mut first, "run `touch new.txt`");
    let ask = asked(&first.until("ask_opened"));
    let id = session(&database);
    kill(&first);
    // Its lease is good until it ends.
    let mut second = other.serve();
    command(&mut second, 1, json!({ "open_session": { "session": id } }));
    let refused = second.until("refusal");
    assert!(refused.contains("is open elsewhere") && refused.contains("within ten seconds"), "{refused}");
    lapse(&database);
    command(&mut second, 3, json!({ "open_session": { "session": id } }));
    let again = asked(&second.until("ask_opened"));
    assert_eq!(again["id"], ask["id"]);
    assert_eq!(again["kind"]["consent"]["digest"], ask["kind"]["consent"]["digest"]);
    assert!(!project.path().join("new.txt").exists());
    allow(&mut second, &again);
    second.until("run_ended");
    assert!(project.path().join("new.txt").exists());
    assert_eq!(database.sql("SELECT epoch FROM parlor.head"), "2");
    second.end();
    // It ended in order, so the lease is free; a third reads what both did.
    let told = Machine::new(project.path(), &database).says(&["sessions", "show", &id]);
    assert!(told.contains("touch new.txt"), "{told}");
}

#[test]
fn a_command_that_had_begun_on_a_machine_that_died_is_never_run_again() {
    let (database, project) = (Database::new(), tempfile::tempdir().unwrap());
    let (one, other) = (Machine::new(project.path(), &database), Machine::new(project.path(), &database));
    let mut first = one.serve();
    prompt(&mut first, "run `echo begun >> log.txt; sleep 600`");
    let ask = asked(&first.until("ask_opened"));
    allow(&mut first, &ask);
    let log = project.path().join("log.txt");
    wait_for("the command begins", || log.exists());
    let id = session(&database);
    kill(&first);
    lapse(&database);
    let mut second = other.serve();
    command(&mut second, 1, json!({ "open_session": { "session": id } }));
    second.until("attached");
    second.end();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "begun\n");
    let exported = Machine::new(project.path(), &database).says(&["sessions", "export", &id, "-f", "jsonl"]);
    assert!(exported.contains("\"unknown\""), "{exported}");
    assert!(exported.contains("\"interrupted\""), "{exported}");
    assert_eq!(exported.matches("\"tool_started\"").count(), 1);
}

#[test]
fn who_was_overtaken_stops_its_command_tells_its_ui_why_and_says_nothing_more() {
    let (database, project) = (Database::new(), tempfile::tempdir().unwrap());
    let one = Machine::new(project.path(), &database);
    let mut first = one.serve();
    prompt(&mut first, "run `echo $$ > pid.txt; sleep 600`");
    let ask = asked(&first.until("ask_opened"));
    allow(&mut first, &ask);
    let file = project.path().join("pid.txt");
    wait_for("the command begins", || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    // Another node has the session now, and writes in it.
    database.sql(
        "UPDATE parlor.lease SET node = 'n2', address = 'node two', epoch = epoch + 1, until = now() + interval '1 hour';
         UPDATE parlor.head SET epoch = epoch + 1",
    );
    let records = database.sql("SELECT count(*), max(last) FROM parlor.log");
    let told = first.until("has stopped here");
    assert!(told.contains("taken over by node two"), "{told}");
    // The command is known by what it wrote, in its own namespace of processes; that its end has come is seen from outside.
    let marker = project.path().display().to_string();
    wait_for("the command is stopped", || !is_at_work_in(&marker));
    assert_eq!(database.sql("SELECT count(*), max(last) FROM parlor.log"), records);
    let id = session(&database);
    command(&mut first, 9, json!({ "open_session": { "session": id } }));
    let refused = first.until("refusal");
    assert!(refused.contains("node two"), "{refused}");
}

/// Whether a `sleep 600` works in this folder.
fn is_at_work_in(folder: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let works =
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.display().to_string() == folder);
        works && line.starts_with(b"sleep\x00600")
    })
}

#[test]
fn conversations_move_to_the_database_and_back_record_by_record() {
    let (database, project) = (Database::new(), tempfile::tempdir().unwrap());
    let machine = Machine::new(project.path(), &database);
    let here = |args: &[&str]| {
        let mut command = in_world(PARLOR, machine.place.path(), args);
        let output = command.current_dir(project.path()).env("HOME", machine.place.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for word in ["one", "two", "three"] {
        here(&["run", "--model", "offline", &format!("say {word}")]);
    }
    let listed = |text: String| -> Vec<String> {
        let all: Value = serde_json::from_str(&text).unwrap();
        all.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    let before = listed(here(&["sessions", "list", "--json"]));
    assert_eq!(before.len(), 3);
    let exported = here(&["sessions", "export", &before[0], "-f", "jsonl"]);
    let address = database.address();
    here(&["sessions", "move", "--to", &address, &before[0]]);
    here(&["sessions", "move", "--to", &address]);
    assert_eq!(here(&["sessions", "list"]).lines().count(), 1, "nothing is left here");
    assert_eq!(listed(machine.says(&["sessions", "list", "--json"])), before);
    assert_eq!(machine.says(&["sessions", "export", &before[0], "-f", "jsonl"]), exported);
    assert!(machine.says(&["sessions", "search", "two"]).contains("two"));
    machine.says(&["run", "--model", "offline", "--resume", &before[0], "say four"]);
    machine.says(&["sessions", "move", "--to", "here"]);
    assert_eq!(listed(here(&["sessions", "list", "--json"])).len(), 3);
    assert!(here(&["sessions", "show", &before[0]]).contains("four"));
    assert_eq!(database.sql("SELECT count(*) FROM parlor.sessions"), "0");
}

#[test]
fn a_database_that_was_named_is_used_or_nothing_begins() {
    let (database, project) = (Database::new(), tempfile::tempdir().unwrap());
    let machine = Machine::new(project.path(), &database);
    let doctor = |machine: &Machine<'_>| {
        let output = machine.parlor(&["doctor"]).stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(doctor(&machine).contains("the first conversation makes its tables"));
    machine.says(&["run", "--model", "offline", "say hello"]);
    let told = doctor(&machine);
    assert!(told.contains("1 conversations, 0 of them open") && told.contains("PostgreSQL"), "{told}");
    assert!(!machine.place.path().join("data/sessions.db").exists(), "nothing was kept here");
    let refused = |args: &[&str]| {
        let mut command = in_world(PARLOR, machine.place.path(), args);
        let output = command.current_dir(project.path()).env("HOME", machine.place.path()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = database.address().replace(database.name(), "not_there");
    let run = ["run", "--model", "offline", "say hello", "--store"];
    assert!(refused(&[&run[..], &[&missing]].concat()).contains("not_there"));
    let secret = refused(&[&run[..], &["postgres://ada:hunter2@127.0.0.1/team"]].concat());
    assert!(secret.contains("PGPASSFILE") && !secret.contains("hunter2"), "{secret}");
    for words in [&["up"][..], &["web"], &["relay"], &["sessions", "backup", "x.db"]] {
        let told = refused(&[words, &["--store", &database.address()]].concat());
        assert!(told.contains("--store here"), "{words:?}: {told}");
    }
    // Named in the settings it is the same.
    let settings = machine.place.path().join("config/config.toml");
    std::fs::write(&settings, format!("policy = \"ask\"\nstore = \"{}\"\n", database.address())).unwrap();
    let mut listed = in_world(PARLOR, machine.place.path(), &["sessions", "list"]);
    let listed = listed.current_dir(project.path()).env("HOME", machine.place.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("hello"), "{listed:?}");
    assert!(refused(&["up"]).contains("--store here"));
}
