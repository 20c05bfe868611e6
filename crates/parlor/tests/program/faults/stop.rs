//! A runtime that is told to stop: what is under way ends on the wire and in the record before the links close.

use crate::faults::{PARLOR, World, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::Running;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#;
const CODELIA: &str =
    r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"go"}}}"#;
const OPENAGENT_HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0.0","client_info":{"name":"t","version":"0"},"terminal_size":{"cols":80,"rows":24},"capabilities":["streaming"],"config":{}}}"#;
const OPENAGENT: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"stream":true}}}"#;
const NATIVE_HELLO: &str = r#"{"hello":{"protocol":1,"name":"t","version":"0","capabilities":["answers"]}}"#;
const NATIVE: &str = r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"go"}}}}}"#;
const NOUS: &str =
    "{\"v\":\"1\",\"id\":\"1\",\"type\":\"prompt\",\"payload\":{\"text\":\"go\",\"wait\":false}}\n";
const LEMON: &str = r#"{"type":"prompt","text":"go"}"#;

#[test]
fn told_to_stop_a_runtime_ends_its_runs_on_the_wire_and_in_the_record() {
    for (dialect, says, begun, ended, signal) in [
        ("native", &[NATIVE_HELLO, NATIVE][..], "Counting", &["run_ended", "interrupted"][..], Signal::TERM),
        ("codelia", &[HELLO, CODELIA], "running", &["run.status", "error"], Signal::TERM),
        ("openagent", &[OPENAGENT_HELLO, OPENAGENT], "Counting", &["stream.complete"], Signal::HUP),
        ("lemon", &[LEMON], "Counting", &["agent_end"], Signal::INT),
    ] {
        let world = World::new();
        world.script("model text \"Counting\" | pause forever\n");
        let args = ["serve", "--dialect", dialect, "--stdio", "--model", "scripted/model.txt"];
        let mut serve = world.parlor(&args);
        let mut serve =
            serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = serve.stdin.take().unwrap();
        let mut lines = BufReader::new(serve.stdout.take().unwrap()).lines().map(Result::unwrap);
        for line in says {
            stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        assert!(lines.any(|line| line.contains(begun)), "{dialect} begins");
        kill_process(Pid::from_child(&serve), signal).unwrap();
        let rest: Vec<String> = lines.collect();
        let told = rest.iter().any(|line| ended.iter().all(|word| line.contains(word)));
        assert!(told, "{dialect} was told nothing of the end: {rest:#?}");
        assert!(serve.wait().unwrap().success(), "{dialect}");

        is_over_in_the_record(&world, dialect, &["interrupted"]);
    }
}

/// That the newest run is over in the record, with one of these outcomes.
#[track_caller]
fn is_over_in_the_record(world: &World, what: &str, outcomes: &[&str]) {
    let shown = world.run(&["sessions", "show"]);
    let text = stdout(&shown);
    assert!(!text.contains("under way"), "{what}: {text}{}", stderr(&shown));
    let log = stdout(&world.run(&["sessions", "export", "-f", "jsonl"]));
    let ended = log.lines().rfind(|line| line.contains("\"run_ended\""));
    let fits = |line: &str| outcomes.iter().any(|outcome| line.contains(outcome));
    assert!(ended.is_some_and(fits), "{what}: {log}");
}

/// A world with a model that never comes to an end, and a program in it.
fn endless(args: &[&str]) -> (World, Running) {
    let world = World::new();
    world.script("model text \"Counting\" | pause forever\n");
    let mut command = world.parlor(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    (world, Running(child))
}

fn lines(read: impl Read) -> impl Iterator<Item = String> {
    BufReader::new(read).lines().map_while(Result::ok)
}

#[test]
fn nous_told_to_stop_ends_its_runs_on_the_wire_and_in_the_record() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (world, mut serve) =
            endless(&["serve", "--dialect", "nous", "--model", "scripted/model.txt", "--socket", "s"]);
        let mut said = lines(serve.0.stderr.take().unwrap());
        assert!(said.any(|line| line.contains("serving nous")));
        let mut commands = UnixStream::connect(world.project("s")).unwrap();
        let mut events = lines(UnixStream::connect(world.project("s.events")).unwrap());
        commands.write_all(NOUS.as_bytes()).unwrap();
        assert!(events.any(|line| line.contains("Counting")));
        kill_process(Pid::from_child(&serve.0), signal).unwrap();
        let rest: Vec<String> = events.collect();
        assert!(rest.iter().any(|line| line.contains("agent_end")), "nothing is told of the end: {rest:#?}");
        assert!(serve.0.wait().unwrap().success());
        is_over_in_the_record(&world, "nous", &["interrupted"]);
    }
}

#[test]
fn asst_told_twice_to_stop_ends_its_runs_on_the_wire_and_in_the_record() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (world, mut serve) =
            endless(&["serve", "--dialect", "asst", "--stdio", "--model", "scripted/model.txt"]);
        let mut said = lines(serve.0.stderr.take().unwrap());
        let mut heard = lines(serve.0.stdout.take().unwrap());
        let mut input = serve.0.stdin.take().unwrap();
        input.write_all(b"{\"id\":\"m1\",\"kind\":\"user_message\",\"message\":\"go\"}\n").unwrap();
        assert!(heard.any(|line| line.contains("Counting")));
        kill_process(Pid::from_child(&serve.0), signal).unwrap();
        assert!(said.any(|line| line.contains("finished first")), "it is said that it finishes");
        kill_process(Pid::from_child(&serve.0), signal).unwrap();
        let rest: Vec<String> = heard.collect();
        assert!(rest.iter().any(|line| line.contains("m1")), "nothing is told of the end: {rest:#?}");
        assert!(serve.0.wait().unwrap().success());
        is_over_in_the_record(&world, "asst", &["interrupted"]);
    }
}

#[test]
fn a_bridge_that_is_told_to_stop_ends_its_runs_on_both_wires() {
    for signal in [Signal::TERM, Signal::HUP] {
        let runtime = [PARLOR, "serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"];
        let bridge = ["bridge", "--from", "lemon", "--stdio", "--to", "native", "--"];
        let (world, mut bridge) = endless(&[&bridge[..], &runtime].concat());
        let mut heard = lines(bridge.0.stdout.take().unwrap());
        let mut input = bridge.0.stdin.take().unwrap();
        assert!(heard.any(|line| line.contains("ready")));
        input.write_all(format!("{LEMON}\n").as_bytes()).unwrap();
        // Before its first word nobody would know whether the runtime has begun.
        assert!(heard.any(|line| line.contains("Counting")));
        kill_process(Pid::from_child(&bridge.0), signal).unwrap();
        let rest: Vec<String> = heard.collect();
        let told = |line: &String| line.contains("agent_end");
        assert!(rest.iter().any(told), "nothing is told of the end: {rest:#?}");
        assert!(bridge.0.wait().unwrap().success());
        // The runtime behind it was told too, and has written how it ended.
        is_over_in_the_record(&world, "bridge", &["cancelled", "interrupted"]);
    }
}

#[test]
fn a_headless_run_that_is_told_to_stop_is_cancelled_in_the_record_and_says_so() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let (world, mut run) = endless(&["run", "--json", "--model", "scripted/model.txt", "go"]);
        assert!(lines(run.0.stdout.as_mut().unwrap()).any(|line| line.contains("Counting")));
        kill_process(Pid::from_child(&run.0), signal).unwrap();
        assert_eq!(run.0.wait().unwrap().code(), Some(code));
        is_over_in_the_record(&world, "run", &["cancelled"]);
    }
}

#[test]
fn a_run_that_a_kill_cut_is_not_shown_as_under_way() {
    let world = World::new();
    world.script("model text \"Counting\" | pause forever\n");
    let mut run = world.parlor(&["run", "--model", "scripted/model.txt", "go"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let shown = || stdout(&world.run(&["sessions", "show"]));
    // What streams is written soon; each look is a process of its own, so nothing has to be slept.
    let begun = Instant::now();
    while !shown().contains("Counting") {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is never written: {}", shown());
    }
    assert!(shown().contains("(under way)"), "as long as somebody runs it: {}", shown());
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(shown().contains("Counting") && !shown().contains("under way"), "{}", shown());
    assert!(shown().contains("(cut off)"), "{}", shown());
}

#[test]
fn who_waits_for_a_runtime_that_never_greets_can_be_told_to_stop() {
    let world = World::new();
    let heard = world.path("heard");
    rustix::fs::mkfifoat(rustix::fs::CWD, &heard, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let silent = format!("read line; echo > '{}'; exec sleep 600", heard.display());
    let args = ["attach", "--dialect", "codelia", "--prompt", "hi", "--", "sh", "-c", &silent];
    let attach = world
        .parlor(&args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has been greeted, and says nothing.
    std::fs::read(&heard).unwrap();
    kill_process(Pid::from_child(&attach), Signal::TERM).unwrap();
    let left = attach.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(143), "{}", stderr(&left));
    // The handshake may take half a minute: whoever waited for it to fail would say so.
    assert!(!stderr(&left).contains("30 s"), "{}", stderr(&left));
}
