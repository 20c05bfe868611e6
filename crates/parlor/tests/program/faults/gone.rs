//! A UI that is gone, and a runtime that is dead before it says a word: `bridge`, `attach` and `serve` end, within bounds, and leave
//! nothing behind.

use crate::faults::{World, stdout};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// What a UI of each wire says first, up to where it would wait for an answer; the last line sets a run to work, where that can be said
/// without having heard anything.
const UIS: [(&str, &[&str]); 6] = [
    (
        "codelia",
        &[
            r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#,
            r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"go"}}}"#,
        ],
    ),
    ("lemon", &[r#"{"type":"prompt","text":"go"}"#]),
    (
        "openagent",
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0.0","client_info":{"name":"t","version":"0"},"terminal_size":{"cols":80,"rows":24},"capabilities":["streaming"],"config":{}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"stream":true}}}"#,
        ],
    ),
    ("asst", &[r#"{"id":"m1","kind":"user_message","message":"go"}"#]),
    (
        "acp",
        &[
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp","mcpServers":[]}}"#,
        ],
    ),
    (
        "native",
        &[
            r#"{"hello":{"protocol":1,"name":"t","version":"0","capabilities":["answers"]}}"#,
            r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"go"}}}}}"#,
        ],
    ),
];

/// The wires of runtimes that are programs; nous has two sockets.
const RUNTIMES: [&str; 6] = ["codelia", "lemon", "openagent", "asst", "acp", "native"];

/// How many programs run at once: most of their time they wait.
const AT_ONCE: usize = 12;

/// A program that is spoken with; it does not outlive the test.
struct Spoken {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
}

impl Spoken {
    fn start(world: &World, args: &[&str]) -> Spoken {
        let mut command = world.parlor(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Spoken { child, stdin, stdout }
    }

    /// Says lines; to one that is gone already nothing.
    fn say(&mut self, lines: &[&str]) {
        for line in lines {
            let _ = self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Reads up to a line with this in it.
    #[track_caller]
    fn until(&mut self, text: &str) {
        let mut lines = BufReader::with_capacity(1, self.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains(text)), "closed before {text}");
    }

    /// All that is still said.
    fn rest(&mut self) -> String {
        let mut text = String::new();
        self.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// Goes away, as a program that was killed.
    fn leave(&mut self) {
        (self.stdin, self.stdout) = (None, None);
    }

    /// Waits for its end, for as long as a test may take; gives its code.
    fn ended(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a UI's stdin is still open when its runtime ends.
const STDINS: [bool; 2] = [true, false];

/// Does something for every pair of wires, several at once.
fn for_all_pairs(cell: impl Fn(&str, &[&str], &str) + Sync) {
    let pairs = UIS.iter().flat_map(|(from, says)| RUNTIMES.iter().map(move |to| (*from, *says, *to)));
    let left = Mutex::new(pairs);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((from, says, to)) = left.lock().unwrap().next() else { return };
                    cell(from, says, to);
                }
            });
        }
    });
}

/// A runtime that says junk or nothing, tells its number through a pipe, and takes no notice of the end of its stdin.
fn mute(world: &World, junk: &str) -> String {
    assert!(Command::new("mkfifo").arg(world.project("pid")).status().unwrap().success());
    let path = world.project("mute.sh");
    std::fs::write(&path, format!("{junk}\necho $$ > pid\nexec sleep 1000\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Its number, once it is there.
fn number(world: &World) -> Pid {
    let text = std::fs::read_to_string(world.project("pid")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

#[test]
fn a_runtime_that_is_dead_before_it_greets_is_told_in_the_uis_words_and_ends_the_bridge() {
    for_all_pairs(|from, says, to| {
        for stays_open in STDINS {
            let what = format!("{from} on {to}, stdin open: {stays_open}");
            let world = World::new();
            // It is alive until all was said to the bridge.
            assert!(Command::new("mkfifo").arg(world.project("die")).status().unwrap().success());
            let dies = "read -r _ < die; echo 'boom: no config' >&2; exit 3";
            // Both ends are ours, so that opening it waits for nobody.
            let mut die = OpenOptions::new().read(true).write(true).open(world.project("die")).unwrap();
            let args = ["bridge", "--from", from, "--stdio", "--to", to, "--", "sh", "-c", dies];
            let mut ui = Spoken::start(&world, &args);
            ui.say(says);
            // Nobody has to leave first, and who has said its last word still hears.
            if !stays_open {
                ui.stdin = None;
            }
            die.write_all(b"now\n").unwrap();
            let (heard, code) = (ui.rest(), ui.ended());
            assert!(heard.contains("ended with code 3"), "{what}: {heard}");
            assert!(heard.contains("boom: no config"), "{what}: {heard}");
            assert_eq!(code, Some(1), "{what}: {heard}");
            for greeting in [r#""type":"ready","cwd""#, r#""protocolVersion""#, r#""protocol_version""#] {
                assert!(!heard.contains(greeting), "{what} as if all were well: {heard}");
            }
        }
    });
}

#[test]
fn a_program_of_another_wire_is_named_to_the_ui_and_ends_the_bridge() {
    for_all_pairs(|from, says, to| {
        // What is next in the list; the last has a greeting that the first takes no notice of.
        let other = RUNTIMES.iter().skip_while(|wire| **wire != to).nth(1).unwrap_or(&"lemon");
        let what = format!("{from} on {to}, which is {other}");
        let world = World::new();
        let (program, serve) = (env!("CARGO_BIN_EXE_parlor"), ["serve", "--dialect", other, "--stdio"]);
        let args = [&["bridge", "--from", from, "--stdio", "--to", to, "--", program], &serve[..]].concat();
        let mut ui = Spoken::start(&world, &args);
        ui.say(says);
        let (heard, code) = (ui.rest(), ui.ended());
        // Two that greet by the same method refuse each other's greeting and do not say what they are.
        match heard.split_once("as a runtime of ").and_then(|(_, named)| named.split_once(" does")) {
            Some((names, meant)) => assert!(names.contains(other) && meant.contains(to), "{what}: {heard}"),
            None => assert!(heard.contains("initialize"), "{what}: {heard}"),
        }
        assert_eq!(code, Some(1), "{what}: {heard}");
    });
}

/// How a runtime at a socket is gone before it greets.
#[derive(Debug, Clone, Copy)]
enum Goes {
    /// It closes what it has read (FIN).
    Closes,
    /// It dies with what was said to it unread (RST).
    Resets,
}

#[test]
fn a_runtime_at_a_socket_that_closes_or_resets_before_it_greets_ends_the_bridge_too() {
    for (from, says) in UIS {
        for (goes, stays_open) in
            [Goes::Closes, Goes::Resets].into_iter().flat_map(|goes| STDINS.map(|stdin| (goes, stdin)))
        {
            let what = format!("{from}, {goes:?}, stdin open: {stays_open}");
            let world = World::new();
            let socket = world.project("s");
            let listener = UnixListener::bind(&socket).unwrap();
            let args = [
                "bridge",
                "--from",
                from,
                "--stdio",
                "--to",
                "codelia",
                "--to-socket",
                socket.to_str().unwrap(),
            ];
            let mut ui = Spoken::start(&world, &args);
            ui.say(says);
            if !stays_open {
                ui.stdin = None;
            }
            let (mut runtime, _) = listener.accept().unwrap();
            let mut first = [0; 1];
            runtime.read_exact(&mut first).unwrap();
            if matches!(goes, Goes::Closes) {
                runtime.set_nonblocking(true).unwrap();
                let mut rest = Vec::new();
                let _ = runtime.read_to_end(&mut rest);
            }
            drop((runtime, listener));
            let (heard, code) = (ui.rest(), ui.ended());
            assert!(heard.contains("gone") || heard.contains("ended before it was ready"), "{what}: {heard}");
            assert_eq!(code, Some(1), "{what}: {heard}");
        }
    }
}

#[test]
fn a_bridge_ends_with_its_ui_whatever_the_runtime_does() {
    for junk in ["", "echo junk"] {
        for_all_pairs(|from, says, to| {
            let what = format!("{from} on {to}, {junk:?}");
            let world = World::new();
            let runtime = mute(&world, junk);
            let args = ["bridge", "--from", from, "--stdio", "--to", to, "--", "sh", &runtime];
            let mut ui = Spoken::start(&world, &args);
            ui.say(says);
            let pid = number(&world);
            ui.leave();
            assert_eq!(ui.ended(), Some(0), "{what}");
            assert!(test_kill_process(pid).is_err(), "its runtime is left: {what}");
        });
    }
}

/// A codelia runtime that begins a run, never ends it, and keeps what it hears.
const SILENT: &str = r#"
say() { printf '%s\n' "$1"; }
while read -r line; do
    printf '%s\n' "$line" >> heard
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocol_version\":\"0\",\"server\":{\"name\":\"x\",\"version\":\"1\"},\"server_capabilities\":{\"supports_run_cancel\":true,\"supports_ui_requests\":true}}}";;
    *'"method":"run.start"'*)
        say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"run_id\":\"r1\",\"session_id\":\"s1\"}}"
        say '{"jsonrpc":"2.0","method":"run.status","params":{"run_id":"r1","status":"running"}}'
        say '{"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":0,"event":{"type":"text","content":"Counting"}}}';;
    *'"method":"run.cancel"'*) ;;
    *'"method"'*) if [ -n "$id" ]; then say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}"; fi;;
    esac
done
echo over >> heard
"#;

/// By what a UI of this wire sees that its run goes on; codelia's existing UIs get a text when it is whole.
fn begun(wire: &str) -> &str {
    if wire == "codelia" { "\"running\"" } else { "Counting" }
}

fn heard(world: &World) -> String {
    std::fs::read_to_string(world.project("heard")).unwrap_or_default()
}

#[test]
fn the_run_of_a_ui_that_is_gone_is_cancelled_at_a_silent_runtime() {
    for (from, says) in UIS.iter().filter(|(from, _)| *from != "acp") {
        let world = World::new();
        std::fs::write(world.project("silent.sh"), SILENT).unwrap();
        let args = ["bridge", "--from", from, "--stdio", "--to", "codelia", "--", "sh", "silent.sh"];
        let mut ui = Spoken::start(&world, &args);
        ui.say(says);
        ui.until(begun(from));
        ui.leave();
        assert_eq!(ui.ended(), Some(0));
        let heard = heard(&world);
        assert!(heard.contains("run.cancel") && heard.ends_with("over\n"), "{from}: {heard}");
    }
}

#[test]
fn a_bridge_whose_ui_is_gone_still_ends_at_once_when_it_is_told_to() {
    let world = World::new();
    let runtime = mute(&world, "");
    let mut ui = Spoken::start(
        &world,
        &["bridge", "--from", "lemon", "--stdio", "--to", "lemon", "--", "sh", &runtime],
    );
    let pid = number(&world);
    ui.say(&[r#"{"type":"prompt","text":"go"}"#, r#"{"type":"ping"}"#]);
    ui.until("pong");
    // Its end of stdin alone: somebody may still read.
    ui.stdin = None;
    kill_process(Pid::from_child(&ui.child), Signal::TERM).unwrap();
    assert_eq!(ui.ended(), Some(0));
    assert!(test_kill_process(pid).is_err());
}

#[test]
fn a_prompt_whose_reader_is_gone_ends_on_a_silent_runtime() {
    let world = World::new();
    std::fs::write(world.project("silent.sh"), SILENT).unwrap();
    let mut said = Spoken::start(
        &world,
        &["attach", "--dialect", "codelia", "--json", "--prompt", "go", "--", "sh", "silent.sh"],
    );
    said.until("Counting");
    said.leave();
    assert_eq!(said.ended(), Some(129));
    let heard = heard(&world);
    assert!(heard.contains("run.cancel"), "{heard}");
}

#[test]
fn the_run_of_a_ui_that_is_gone_is_cancelled_in_the_record() {
    for (from, says) in UIS.iter().filter(|(from, _)| *from != "acp") {
        let world = World::new();
        world.script("model text \"Counting\" | pause forever\n");
        let mut ui =
            Spoken::start(&world, &["serve", "--dialect", from, "--stdio", "--model", "scripted/model.txt"]);
        ui.say(says);
        ui.until(begun(from));
        ui.leave();
        assert_eq!(ui.ended(), Some(0));
        let log = stdout(&world.run(&["sessions", "export", "-f", "jsonl"]));
        let ended = log.lines().rfind(|line| line.contains("\"run_ended\""));
        assert!(ended.is_some_and(|line| line.contains("cancelled")), "{from}: {log}");
    }
}

/// A codelia UI at which questions can be answered.
fn asking() -> String {
    UIS[0].1[0].replace(r#""client":"#, r#""ui_capabilities":{"supports_confirm":true},"client":"#)
}

#[test]
fn a_question_that_is_open_when_the_ui_goes_is_asked_again_when_the_session_is_opened() {
    let world = World::new();
    world.script("model tool write {\"path\":\"a.txt\",\"content\":\"hi\"}\n---\nmodel text \"after\"\n");
    let hello = asking();
    let serve = ["serve", "--dialect", "codelia", "--stdio", "--model", "scripted/model.txt"];
    let mut ui = Spoken::start(&world, &serve);
    ui.say(&[&hello, UIS[0].1[1]]);
    ui.until("ui.confirm.request");
    ui.leave();
    assert_eq!(ui.ended(), Some(0));
    assert!(!world.project("a.txt").exists());
    let id = stdout(&world.run(&["sessions", "list", "--json"]));
    let id: serde_json::Value = serde_json::from_str(&id).unwrap();
    let id = id[0]["id"].as_str().unwrap();
    let native =
        ["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt", "--session", id];
    let mut again = Spoken::start(&world, &native);
    again.say(&[UIS[5].1[0]]);
    again.until("ask_opened");
}

#[test]
fn what_is_asked_after_the_last_word_of_a_ui_is_denied_and_the_run_told_to_its_end() {
    let world = World::new();
    let says = "model text \"Counting\" | pause 2s | tool write {\"path\":\"a.txt\",\"content\":\"hi\"}\n";
    world.script(&format!("{says}---\nmodel text \"denied and over\"\n"));
    let hello = asking();
    let mut ui =
        Spoken::start(&world, &["serve", "--dialect", "codelia", "--stdio", "--model", "scripted/model.txt"]);
    ui.say(&[&hello, UIS[0].1[1]]);
    ui.until(begun("codelia"));
    ui.stdin = None;
    let heard = ui.rest();
    assert!(!heard.contains("ui.confirm.request"), "nobody can answer: {heard}");
    assert!(heard.contains("denied and over") && heard.contains(r#""completed""#), "{heard}");
    assert_eq!(ui.ended(), Some(0));
    assert!(!world.project("a.txt").exists());
}
