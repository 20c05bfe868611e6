//! A disk that takes nothing more. A limit on the size of files does what a full disk does, at the moment that the test chooses and
//! without the rights of root; a folder that a tool makes is no file, so whatever runs can be seen.

use crate::faults::{PARLOR, World, stderr};
use crate::release::talk::{Native, ended};
use rustix::process::{Pid, Resource, Rlimit};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const SESSION: &str = "sess-00000000abcd";
const STRIKE: &str =
    "model text \"I will.\" | tool bash {\"command\":\"mkdir again-$$\"}\n---\nmodel text \"Done.\"\n";
/// A file may not grow beyond this many bytes: not even one page of the log fits.
const NOTHING_FITS: u64 = 1_024;

/// Starts the program so that a write beyond the limit is an error and not a signal.
fn limited(world: &World, args: &[&str]) -> Command {
    let words = [&["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", PARLOR], args].concat();
    world.command("sh".as_ref(), &words)
}

fn serve(world: &World) -> Native {
    let args = ["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"];
    Native::start(limited(world, &args))
}

/// Lets the files of a program grow to `bytes`, or as they like.
fn limit(id: u32, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(id).unwrap());
    rustix::process::prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

fn is_asked(body: &Value) -> Option<Value> {
    body.get("ask_opened").cloned()
}

fn never(ask: &Value) -> Value {
    panic!("not to be answered here: {ask}")
}

fn allow(ui: &mut Native, ask: &Value) {
    let yes = json!({"allow": {"scope": "once", "digest": ask["kind"]["consent"]["digest"]}});
    ui.command(Some(SESSION), &json!({"answer": {"ask": ask["id"], "answer": yes}}));
}

/// A run that asks; then nothing more can be written, and the person says yes: what is asked then.
fn asked_twice(world: &World) -> (Native, Value, Value) {
    world.script(STRIKE);
    let mut ui = serve(world);
    ui.new_session(SESSION, "full");
    let first = ui.prompt(SESSION, &json!({"input": {"text": "strike"}}), never, is_asked);
    assert!(!first.to_string().contains("run twice"), "{first}");
    limit(ui.child.id(), Some(NOTHING_FITS));
    allow(&mut ui, &first);
    let second = ui.follow(SESSION, never, is_asked);
    let words = second["kind"]["consent"]["assessment"]["reasons"].to_string();
    assert!(words.contains("could run twice"), "{second}");
    assert_eq!(world.made("again-"), 0, "the yes that could not be written did nothing");
    assert!(ui.heard.iter().any(|line| line.contains("Not saved")), "the person is told");
    (ui, first, second)
}

#[test]
fn a_yes_that_could_not_be_written_does_not_act_twice_after_a_kill() {
    let world = World::new();
    let (ui, first, _) = asked_twice(&world);
    ui.kill();
    world.script("model text \"Done.\"\n");
    let mut ui = serve(&world);
    ui.command(None, &json!({"open_session": {"session": SESSION}}));
    // Asked again under the same id: nothing is known of the yes, and nothing was done by it.
    allow(&mut ui, &first);
    ui.follow(SESSION, never, ended);
    ui.leave();
    assert_eq!(world.made("again-"), 1);
}

#[test]
fn a_yes_in_spite_of_the_full_disk_acts_and_is_written_when_there_is_room() {
    let world = World::new();
    let (mut ui, _, second) = asked_twice(&world);
    allow(&mut ui, &second);
    ui.follow(SESSION, never, ended);
    assert_eq!(world.made("again-"), 1);
    limit(ui.child.id(), None);
    ui.until(|line| line.to_string().contains("Saved again").then_some(()));
    ui.kill();
    let shown = world.run(&["sessions", "export", SESSION, "-f", "jsonl"]);
    let log = String::from_utf8(shown.stdout).unwrap();
    assert!(log.contains("tool_started") && log.contains("run_ended"), "all of it is there: {log}");
}

#[test]
fn headless_it_is_denied_with_that_reason_whatever_was_allowed() {
    let world = World::new();
    assert!(world.run(&["run", "say hi"]).status.success(), "there is a store");
    world.script(STRIKE);
    // Room for what SQLite needs to open the file, not for a conversation.
    let script = "ulimit -f 66; trap '' XFSZ; exec \"$0\" \"$@\"";
    let args = ["-c", script, PARLOR, "run", "--model", "scripted/model.txt", "--allow", "all", "strike"];
    let denied = world.command("sh".as_ref(), &args).output().unwrap();
    assert_eq!((denied.status.code(), world.made("again-")), (Some(3), 0), "{}", stderr(&denied));
    let said = stderr(&denied);
    assert!(said.contains("not saved") && said.contains("could run twice"), "{said}");
    let args = [
        "-c",
        script,
        PARLOR,
        "run",
        "--ephemeral",
        "--model",
        "scripted/model.txt",
        "--allow",
        "all",
        "strike",
    ];
    let done = world.command("sh".as_ref(), &args).output().unwrap();
    assert_eq!((done.status.code(), world.made("again-")), (Some(0), 1), "{}", stderr(&done));
}

#[test]
fn on_a_wire_where_nobody_can_be_asked_it_is_denied_with_that_reason() {
    let world = World::new();
    let script = "model tool bash {\"command\":\"mkdir before\"}\n---\nmodel text \"There.\"\n---\n";
    world.script(&format!("{script}{STRIKE}"));
    let args =
        ["serve", "--dialect", "codelia", "--stdio", "--policy", "full", "--model", "scripted/model.txt"];
    let mut serve = limited(&world, &args);
    let mut serve = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, stdout) = (serve.stdin.take().unwrap(), serve.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines().map(Result::unwrap);
    let mut say = |line: &str| stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    let prompt = |id: u8| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"run.start","params":{{"input":{{"type":"text","text":"go"}}}}}}"#
        )
    };
    say(
        r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#,
    );
    say(&prompt(2));
    let over = |line: &str| line.contains("run.status") && line.contains("\"completed\"");
    assert!(lines.any(|line| over(&line)));
    assert_eq!(world.made("before"), 1, "what the mode allows runs");
    limit(serve.id(), Some(NOTHING_FITS));
    say(&prompt(3));
    let told: Vec<String> = lines.by_ref().take_while(|line| !over(line)).collect();
    assert_eq!(world.made("again-"), 0);
    assert!(
        told.iter().any(|line| line.contains("tool_result") && line.contains("could run twice")),
        "{told:#?}"
    );
    serve.kill().unwrap();
    serve.wait().unwrap();
}

#[test]
fn a_report_that_does_not_fit_is_not_taken_for_a_whole_one() {
    let world = World::new();
    drop(crate::faults::damage::fill(&world.path("data"), 2));
    for args in [&["sessions", "list", "--all"][..], &["doctor"], &["schema", "--dialect", "native"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a disk that is full");
        let said = world.parlor(args).stdout(full).stderr(Stdio::piped()).output().expect("it runs");
        assert_eq!(said.status.code(), Some(1), "{args:?}");
        let told = String::from_utf8_lossy(&said.stderr);
        assert!(told.contains("stdout could not be written"), "{args:?}: {told}");
    }
}
