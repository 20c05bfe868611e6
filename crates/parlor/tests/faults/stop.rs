//! A runtime that is told to stop: what is under way ends on the wire and in the record before the links close.

use crate::{World, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#;
const CODELIA: &str =
    r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"go"}}}"#;
const OPENAGENT_HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0.0","client_info":{"name":"t","version":"0"},"terminal_size":{"cols":80,"rows":24},"capabilities":["streaming"],"config":{}}}"#;
const OPENAGENT: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"stream":true}}}"#;
const NATIVE_HELLO: &str = r#"{"hello":{"protocol":1,"name":"t","version":"0","capabilities":["answers"]}}"#;
const NATIVE: &str = r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"go"}}}}}"#;
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

        let shown = world.run(&["sessions", "show"]);
        let text = stdout(&shown);
        assert!(!text.contains("under way"), "{dialect}: {text}{}", stderr(&shown));
        let log = world.run(&["sessions", "export", "-f", "jsonl"]);
        let log = stdout(&log);
        assert!(log.contains("\"run_ended\"") && log.contains("interrupted"), "{dialect}: {log}");
    }
}

#[test]
fn a_run_that_a_kill_cut_is_not_shown_as_under_way() {
    let world = World::new();
    world.script("model text \"Counting\" | pause forever\n");
    let mut run = world.parlor(&["run", "--model", "scripted/model.txt", "go"]);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    run.stdout.take().unwrap().read_exact(&mut [0; 8]).unwrap();
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
