//! The document of the desktop shell, in the window: a runtime that follows it, and one that breaks it in every way that it names.

use crate::driver::Driven;
use crate::world::{World, parlor, until};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

/// A runtime of the document that does what a message asks for, after the odd line that no shell may die of.
const RUNTIME: &str = r#"
import json, os, signal, sys
def say(**line):
    print(json.dumps({**line, "timestamp": 0}), flush=True)
def ended(*_):
    open("ended-well", "w").close()
    sys.exit(0)
signal.signal(signal.SIGTERM, ended)
print("the runtime looks for its model", file=sys.stderr, flush=True)
say(type="ready", version="1", capabilities=["streaming", "attachments"])
held = []
for text in sys.stdin:
    ask = json.loads(text)
    if ask["kind"] == "get_status":
        say(type="status", id=ask["id"], data={"state": "idle", "conversationLength": 0, "uptime": 0})
        continue
    if ask["kind"] != "user_message":
        say(type="done", id=ask["id"])
        continue
    words = ask["message"]
    if "silent" in words:
        continue
    if "junk" in words:
        sys.stdout.buffer.write(b"no json\n\xff\xfe\n{\n[]\n")
        sys.stdout.flush()
    if "stranger" in words:
        say(type="token", id="nobody-asked", token="lost words")
        say(type="done", id="nobody-asked")
    say(type="token", id=ask["id"], token="You said: ")
    if "die" in words:
        print("my last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9 if "killed" in words else 6)
    if "attached" in words:
        words += " " + " ".join(os.path.basename(one["path"]) + " " + one["mime"] for one in ask.get("attachments", []))
    if "fail" in words:
        say(type="error", id=ask["id"], error="this cannot be done")
        continue
    say(type="token", id=ask["id"], token=words)
    say(type="done", id=ask["id"])
    if "twice" in words:
        say(type="token", id=ask["id"], token=" and again")
        say(type="done", id=ask["id"])
        say(type="error", id=ask["id"], error="too late")
ended()
"#;

/// A world whose person has this runtime among their agents, and has agreed to its command.
fn with_runtime() -> World {
    let world = World::new();
    let program = world.path("runtime.py");
    std::fs::write(&program, RUNTIME).unwrap();
    with_agent(&world, "seed", "asst", &json!(["python3", program]));
    let agree = ["attach", "seed", "--yes", "--prompt", "hello"];
    let said = world.command(&parlor()).args(agree).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("You said: hello"), "{said:?}");
    world
}

/// Puts an agent into the person's settings.
fn with_agent(world: &World, name: &str, dialect: &str, command: &serde_json::Value) {
    let config = world.path("config/config.toml");
    let settings = std::fs::read_to_string(&config).unwrap();
    let agent = format!("\n[agents.{name}]\ncommand = {command}\ndialect = \"{dialect}\"\n");
    std::fs::write(&config, settings + &agent).unwrap();
}

/// Puts a line before all tables of the person's settings.
fn with_setting(world: &World, line: &str) {
    let config = world.path("config/config.toml");
    let settings = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{line}\n{settings}")).unwrap();
}

/// Begins a session with an agent.
fn begins_with(world: &World, window: &Driven, agent: &str, words: &str) {
    window.eval("location.hash = '#/new'");
    window.selects(".start-agent select", agent);
    window.begins(words, &world.path("project"));
}

fn begins(world: &World, window: &Driven, words: &str) {
    begins_with(world, window, "seed", words);
}

fn goes_on(window: &Driven, words: &str) {
    says(window, words);
    window.reads(&format!("You said: {words}"));
}

fn says(window: &Driven, words: &str) {
    // Such a runtime takes nothing while it answers; what came too early is in the composer again.
    until("the answer has ended", || {
        let stops =
            "return [...document.querySelectorAll('button')].some(one => one.innerText.trim() === 'Stop')";
        window.eval(stops) == json!(false)
    });
    window.puts("#composer", words);
    window.types("#composer", "\u{e007}");
}

#[test]
fn a_runtime_that_follows_the_document_answers_in_the_window() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "good morning");
    window.reads("You said: good morning");
    goes_on(&window, "and good night");
    says(&window, "fail now");
    window.reads("this cannot be done");
    goes_on(&window, "once more");
    // It has no way to ask, and acts by its own rules: the window says so.
    window.reads("it never asks");
    // It is told to end, and has time to.
    world.parlor(&["down", "--json"]);
    until("it has ended as it likes to", || world.path("project/ended-well").exists());
    until("it is gone", || !world.has("runtime.py"));
}

#[test]
fn junk_strangers_and_a_second_end_are_no_end_of_the_conversation() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "some junk");
    window.reads("You said: some junk");
    goes_on(&window, "a stranger");
    assert!(!window.text().contains("lost words"));
    goes_on(&window, "twice");
    goes_on(&window, "still here");
    let text = window.text();
    assert!(!text.contains("and again") && !text.contains("too late"), "{text}");
}

#[test]
fn what_the_runtime_says_on_stderr_and_what_cannot_be_read_is_a_log_that_opens() {
    let world = with_runtime();
    let window = world.window(&[]);
    begins(&world, &window, "some junk");
    window.reads("You said: some junk");
    says(&window, "/log");
    window.reads("stderr: the runtime looks for its model");
    window.reads("runtime said: no json");
}

#[test]
fn a_runtime_that_dies_in_an_answer_is_told_with_its_last_words_and_begun_again() {
    let world = with_runtime();
    let window = world.window(&[]);
    for (words, again) in [("die now", "alive again"), ("die killed", "alive once more")] {
        if words == "die now" {
            begins(&world, &window, words);
        } else {
            says(&window, words);
        }
        window.reads("The runtime went away in the middle");
        window.reads("my last words");
        goes_on(&window, again);
    }
}

#[test]
fn a_runtime_that_is_silent_is_given_up_after_the_time_that_the_person_set() {
    let world = with_runtime();
    with_setting(&world, "give_up_after_s = 2");
    let window = world.window(&[]);
    begins(&world, &window, "be silent");
    window.reads("said nothing for 2 seconds; the request was given up");
    goes_on(&window, "talk to me");
}

#[test]
fn our_own_agent_behind_the_documents_wire_asks_in_the_window() {
    for wire in ["asst", "nous"] {
        let world = World::new();
        let window = world.window(&[]);
        window.begins("list files", &world.path("project"));
        let mut session = String::new();
        until("a session", || {
            let at = window.eval("return location.hash");
            session = at.as_str().and_then(|at| at.strip_prefix("#/s/")).unwrap_or_default().to_owned();
            !session.is_empty()
        });
        // It is answered: a prompt in the middle of a run is refused on such wires.
        window.reads("Here is what is in");
        // A UI that has no word for questions, in the same session: over its pipes, or over a socket where its wire has two.
        let socket = world.path("ui.sock").display().to_string();
        let words = match wire {
            "asst" => vec!["relay", "--dialect", wire, &session],
            _ => vec!["serve", "--dialect", wire, "--socket", &socket, "--session", &session],
        };
        let mut ui = world
            .command(&parlor())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut says, hears): (Box<dyn Write>, Box<dyn Read>) = if wire == "asst" {
            (Box::new(ui.stdin.take().unwrap()), Box::new(ui.stdout.take().unwrap()))
        } else {
            until("it listens", || UnixStream::connect(&socket).is_ok());
            let stream = UnixStream::connect(&socket).unwrap();
            (Box::new(stream.try_clone().unwrap()), Box::new(stream))
        };
        let line = match wire {
            "asst" => json!({"id": "a", "kind": "user_message", "message": "write asked.txt: hi"}),
            _ => json!({"v": "1", "id": "a", "type": "prompt", "payload": {"text": "write asked.txt: hi"}}),
        };
        writeln!(says, "{line}").unwrap();
        window.reads("Allow once");
        assert!(!world.path("project/asked.txt").exists());
        window.presses("Allow once", || world.path("project/asked.txt").exists());
        let mut heard = BufReader::new(hears).lines();
        let ends = ["\"type\":\"done\"", "\"type\":\"result\""];
        assert!(heard.any(|line| line.is_ok_and(|line| ends.iter().any(|end| line.contains(end)))));
        drop(says);
        let _ = ui.kill();
        let _ = ui.wait();
    }
}
