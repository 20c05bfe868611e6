//! What a runtime still says when its input is over or when it is told to stop: everything that was asked for.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use testkit::in_world;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

fn serve(world: &Path, dialect: &str) -> Child {
    in_world(PARLOR, world, &["serve", "--dialect", dialect, "--stdio", "--model", "offline/offline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Pipes lines into a runtime, as a shell does, and gives all that it says.
fn piped(dialect: &str, lines: &[&str]) -> Vec<String> {
    let world = tempfile::tempdir().unwrap();
    let mut child = serve(world.path(), dialect);
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{}\n", lines.join("\n")).as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn has(lines: &[String], parts: &[&str]) -> bool {
    lines.iter().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn lines_piped_into_codelia_are_all_answered_and_the_run_is_told_to_its_end() {
    let said = piped(
        "codelia",
        &[
            r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"}}}"#,
            r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"count to 10 slowly"}}}"#,
            r#"{"jsonrpc":"2.0","id":"3","method":"mcp.list"}"#,
            r#"{"jsonrpc":"2.0","id":"4","method":"skills.list"}"#,
            r#"{"jsonrpc":"2.0","id":"5","method":"model.list"}"#,
            r#"{"jsonrpc":"2.0","id":"6","method":"session.list"}"#,
        ],
    );
    for id in 1..=6 {
        assert!(has(&said, &[&format!(r#""id":"{id}","result""#)]), "no answer to {id}: {said:#?}");
    }
    assert!(has(&said, &[r#""type":"final""#, "10."]), "{said:#?}");
    assert!(said.last().unwrap().contains(r#""status":"completed""#), "{said:#?}");
}

#[test]
fn a_question_that_nobody_can_answer_any_more_is_denied_and_the_run_ends() {
    let said = piped(
        "codelia",
        &[
            r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},"ui_capabilities":{"supports_confirm":true}}}"#,
            r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"count to 5 slowly then run `touch a.txt`"}}}"#,
        ],
    );
    assert!(!has(&said, &["ui.confirm.request"]), "nobody could answer: {said:#?}");
    assert!(has(&said, &["nobody"]) && has(&said, &[r#""status":"completed""#]), "{said:#?}");
}

#[test]
fn messages_piped_into_asst_are_all_done() {
    let said = piped(
        "asst",
        &[
            r#"{"id":"m1","kind":"user_message","message":"count to 5 slowly"}"#,
            r#"{"id":"m2","kind":"user_message","message":"say hello"}"#,
        ],
    );
    assert!(has(&said, &[r#""type":"done","id":"m1""#]), "{said:#?}");
    assert!(has(&said, &[r#""type":"done","id":"m2""#]), "{said:#?}");
}

#[cfg(unix)]
#[test]
fn asst_told_to_stop_finishes_what_is_under_way() {
    let world = tempfile::tempdir().unwrap();
    let mut child = serve(world.path(), "asst");
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    input
        .write_all(b"{\"id\":\"m1\",\"kind\":\"user_message\",\"message\":\"count to 20 slowly\"}\n")
        .unwrap();
    assert!(output.any(|line| line.contains(r#""type":"token""#)));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let rest: Vec<String> = output.collect();
    assert!(rest.last().unwrap().contains(r#""type":"done","id":"m1""#), "{rest:#?}");
    assert!(child.wait().unwrap().success());
    drop(input);
}

#[test]
fn what_the_mode_denies_without_a_question_is_in_the_exit_code() {
    let world = tempfile::tempdir().unwrap();
    let run = |policy: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(["--ephemeral", "--model", "offline", "--policy", policy, "run", "write q.txt: hi"]);
        command.current_dir(world.path()).env("PARLOR_DATA_DIR", world.path().join("data"));
        command.env("PARLOR_CONFIG_DIR", world.path().join("config")).stdin(Stdio::null());
        command.output().unwrap().status.code()
    };
    assert_eq!(run("read-only"), Some(3));
    assert!(!world.path().join("q.txt").exists());
    assert_eq!(run("auto-edit"), Some(0));
    assert!(world.path().join("q.txt").exists());
}
