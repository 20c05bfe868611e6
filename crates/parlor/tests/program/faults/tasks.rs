//! Sub-agents when the program is killed: what was told of them is in the record.

use crate::faults::{World, stderr, stdout};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use testkit::Running;

const HELLO: &str = r#"{"hello":{"protocol":1,"name":"t","version":"0","capabilities":["answers"]}}"#;
const PROMPT: &str = r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"go"}}}}}"#;
/// Sub-agents of the session, as many in a round as work at once: the last round hangs when the program is killed.
const ROUNDS: usize = 7;
const EACH: usize = 8;

/// Answers are dealt in the order in which they are asked for: it does not matter whose of a round takes which.
fn script() -> String {
    let mut script = String::new();
    for round in 0..ROUNDS {
        let task = |one| format!("tool task {{\"agent\":\"explore\",\"prompt\":\"task {round}.{one}\"}}");
        script.push_str(&format!("model {}\n---\n", (0..EACH).map(task).collect::<Vec<_>>().join(" | ")));
        script.push_str(&"model usage in=10 out=5 | tool ls {\"path\":\".\"}\n---\n".repeat(EACH));
        let end = if round + 1 < ROUNDS { "text \"found\"" } else { "pause forever" };
        script.push_str(&format!("model usage in=10 out=5 | {end}\n---\n").repeat(EACH));
    }
    script
}

#[test]
fn nothing_that_was_told_of_fifty_sub_agents_is_lost_by_a_kill() {
    let world = World::new();
    world.script(&script());
    let args = ["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"];
    let mut serve = world.parlor(&args);
    let mut serve =
        Running(serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut stdin = serve.0.stdin.take().unwrap();
    for line in [HELLO, PROMPT] {
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    let wanted = ROUNDS * EACH;
    let (mut told, mut ended) = (0, 0);
    for line in BufReader::new(serve.0.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        told += line.matches(r#"ls .\n"#).count();
        ended += line.matches(r#""text":"found""#).count();
        if told >= wanted {
            break;
        }
    }
    assert_eq!((told, ended), (wanted, (ROUNDS - 1) * EACH));
    serve.0.kill().unwrap();
    serve.0.wait().unwrap();
    let kept = stdout(&world.run(&["sessions", "export", "--format", "jsonl"]));
    // Each call that was told as over stands there as one that began, and each result as it was told.
    let begun = kept.matches(r#""message":"ls .""#).count();
    assert!(begun >= told, "{begun} of {told}");
    assert_eq!(kept.matches(r#""text":"found""#).count(), ended);
    let shown = stdout(&world.run(&["sessions", "show"]));
    assert!(!shown.contains("under way"), "{shown}");
    // What those cost that hang is billed: an answer of each that works.
    let last = kept.rsplit(r#"{"step_billed""#).next().unwrap();
    assert!(last.contains(r#""usage":{"input":80,"output":40}"#), "{last}");
}

#[test]
fn what_nobody_allows_a_sub_agent_ends_a_headless_run_as_what_nobody_allows_the_agent() {
    let write = "tool write {\"path\":\"made\",\"content\":\"1\"}";
    let of_sub = format!(
        "model tool task {{\"agent\":\"general\",\"prompt\":\"make it\"}}\n---\nmodel {write}\n---\nmodel text \"tried\"\n---\nmodel text \"over\"\n"
    );
    let own = format!("model {write}\n---\nmodel text \"over\"\n");
    for script in [own, of_sub] {
        for (allow, code) in [(&[][..], Some(3)), (&["--allow", "write"][..], Some(0))] {
            let world = World::new();
            world.script(&script);
            let said = world.run(&[&["run", "--model", "scripted/model.txt"], allow, &["go"]].concat());
            let told = stderr(&said);
            assert_eq!(said.status.code(), code, "{script}: {told}");
            assert_eq!(told.contains("(allow it with --allow write)"), code == Some(3), "{told}");
            assert!(stdout(&said).contains("over"), "the model goes on: {}", stdout(&said));
            assert_eq!(world.made("made"), usize::from(code == Some(0)), "{script}");
        }
    }
}
