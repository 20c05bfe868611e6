//! A runtime that dies, fails or asks when nobody is there: the person learns why, on the screen and without one, and can start it again.

use crate::instruments::{PARLOR, output, parlor, stdout};
use std::path::Path;
use std::process::Output;
use testkit::{Screen, stderr};

/// A runtime of codelia's wire in a few lines. It notes when a UI lets it ask for choices; files beside it say how it behaves: `dies`,
/// `fails`, `asks` (before the run, whatever the UI can) and `asks-in-run`.
const RUNTIME: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
event() { say "{\"jsonrpc\":\"2.0\",\"method\":\"agent.event\",\"params\":{\"run_id\":\"r1\",\"seq\":$1,\"event\":$2}}"; }
status() { say "{\"jsonrpc\":\"2.0\",\"method\":\"run.status\",\"params\":{\"run_id\":\"r1\",\"status\":\"$1\"$2}}"; }
pick() {
    say "{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"ui.pick.request\",\"params\":{$1\"title\":\"Choose a mode\",\"items\":[{\"id\":\"a\",\"label\":\"A\"}]}}"
    while read -r line; do case "$line" in *'"p1"'*) break;; esac; done
}
if [ -e dies ]; then
    echo "boom: no config" >&2
    exit 3
fi
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        case "$line" in *'"supports_pick":true'*) : > may-ask;; esac
        say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocol_version\":\"0\",\"server\":{\"name\":\"x\",\"version\":\"1\"},\"server_capabilities\":{\"supports_run_cancel\":true,\"supports_ui_requests\":true}}}"
        ;;
    *'"method":"run.start"'*)
        if [ -e asks ]; then pick; fi
        say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"run_id\":\"r1\",\"session_id\":\"s1\"}}"
        status running
        if [ -e fails ]; then
            status error ',"message":"the model server is down"'
            continue
        fi
        if [ -e asks-in-run ]; then pick '"run_id":"r1",'; fi
        event 0 '{"type":"final","content":"alpha words"}'
        status completed
        ;;
    *'"method"'*)
        if [ -n "$id" ]; then say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"method not found\"}}"; fi
        ;;
    esac
done
"#;

fn world(behaves: &[&str]) -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    std::fs::write(world.path().join("runtime.sh"), RUNTIME).unwrap();
    for word in behaves {
        std::fs::write(world.path().join(word), "").unwrap();
    }
    world
}

/// One prompt without a screen.
fn say(world: &Path, more: &[&str]) -> Output {
    let args = ["attach", "--dialect", "codelia", "--prompt", "hi"];
    output(world, &[&args, more, &["--", "sh", "runtime.sh"]].concat())
}

#[test]
fn the_screen_tells_why_a_runtime_died_and_starts_it_again() {
    let world = world(&["dies"]);
    let args = ["attach", "--dialect", "codelia", "--", "sh", "runtime.sh"];
    let mut terminal = Screen::start(&mut parlor(world.path(), &args));
    terminal.shows(&["the runtime is gone: it ended with code 3", "/restart", "boom: no config"]);
    terminal.send("/notices\r");
    terminal.shows(&["Recent messages", "it ended with code 3", "boom: no config"]);
    terminal.send("q");
    terminal.shows(&["✗ the runtime is gone"]);
    std::fs::remove_file(world.path().join("dies")).unwrap();
    terminal.send("/restart\r");
    terminal.shows(&["the runtime is back"]);
    terminal.send("hi\r");
    terminal.shows(&["alpha words"]);
    // One that is alive is ended and started anew, too.
    std::fs::write(world.path().join("dies"), "").unwrap();
    terminal.send("/restart\r");
    terminal.shows(&["the runtime is gone: it ended with code 3"]);
    terminal.send("\x04");
    assert!(terminal.finish(), "the person left");
    assert!(terminal.said("runtime: boom: no config"), "what is wrong stays when the screen is gone");
}

#[test]
fn without_a_screen_the_exit_and_the_last_words_are_told() {
    let world = world(&["dies"]);
    let said = say(world.path(), &[]);
    assert_eq!(said.status.code(), Some(1));
    let words = stderr(&said);
    assert!(words.contains("runtime: boom: no config"), "{words}");
    assert!(words.contains("the runtime ended with code 3"), "{words}");
}

#[test]
fn without_a_screen_the_error_of_the_run_is_told_once() {
    let world = world(&["fails"]);
    let said = say(world.path(), &[]);
    assert_eq!(said.status.code(), Some(1));
    let words = stderr(&said);
    assert_eq!(words.matches("error: the model server is down").count(), 1, "{words}");
    assert!(!words.contains("ended with"), "it did not end by itself: {words}");
}

#[test]
fn a_runtime_is_told_that_nobody_chooses_and_what_it_decides_alone_is_no_failure() {
    let quiet = world(&[]);
    let said = say(quiet.path(), &[]);
    assert_eq!((stdout(&said).trim(), said.status.code()), ("alpha words", Some(0)), "{}", stderr(&said));
    assert!(!quiet.path().join("may-ask").exists(), "nobody is there to choose");
    let asks = world(&["asks"]);
    let said = say(asks.path(), &[]);
    assert_eq!((stdout(&said).trim(), said.status.code()), ("alpha words", Some(0)), "{}", stderr(&said));
    let matters = world(&["asks-in-run"]);
    let said = say(matters.path(), &[]);
    assert_eq!(said.status.code(), Some(4), "the run asked and nobody answered: {}", stderr(&said));
}

#[test]
fn a_prompt_to_another_runtime_has_json_and_says_yes_to_what_was_allowed() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let ask = |more: &[&str]| {
        let args = ["attach", "--dialect", "codelia", "--prompt", "write a.txt: hi"];
        let serve = ["--", PARLOR, "serve", "--dialect", "codelia", "--stdio", "--ephemeral"];
        output(world, &[&args, more, &serve].concat())
    };
    let denied = ask(&["--json", "--allow", "other"]);
    assert_eq!(denied.status.code(), Some(3), "{}", stderr(&denied));
    assert!(!world.join("a.txt").exists());
    let last = stdout(&denied).lines().last().unwrap().to_owned();
    let last: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!((&last["result"]["outcome"], &last["result"]["exit_code"]), (&"denied".into(), &3.into()));
    let done = ask(&["--allow", "write"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert_eq!(std::fs::read_to_string(world.join("a.txt")).unwrap().trim(), "hi");
    let usage = output(world, &["attach", "--dialect", "codelia", "--json", "--", "true"]);
    assert_eq!(usage.status.code(), Some(2), "there is nothing to tell without a prompt");
}
