//! record, replay and trace: what was said is written down, plays again, and can be looked at.

use crate::instruments::{CODELIA_HELLO, PARLOR, Spoken, codelia_prompt, output, parlor, stdout};
use std::path::Path;

const SECRET: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

/// A short conversation, written down in `talk.txt`; gives what the file says.
fn recorded(world: &Path) -> String {
    let args = [
        "record",
        "--dialect",
        "codelia",
        "--out",
        "talk.txt",
        "--",
        PARLOR,
        "serve",
        "--dialect",
        "codelia",
    ];
    let args: Vec<&str> = args.into_iter().chain(["--stdio", "--ephemeral"]).collect();
    let mut ui = Spoken::start(parlor(world, &args));
    ui.say(CODELIA_HELLO);
    ui.until(r#""id":"1""#);
    ui.bytes(b"\xff\xfe is no text\n");
    ui.say(&codelia_prompt("2", &format!("say hi {SECRET}")));
    ui.until(r#""completed""#);
    ui.bytes(b"{\"half");
    assert_eq!(ui.end(), Some(0), "the program's own exit code");
    std::fs::read_to_string(world.join("talk.txt")).unwrap()
}

#[test]
fn a_conversation_is_written_down_without_its_secrets_and_plays_again() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let text = recorded(world);
    assert!(text.contains("dialect codelia"), "{text}");
    assert!(text.contains(r#"> {"jsonrpc":"2.0","id":"1","method":"initialize""#), "{text}");
    assert!(text.lines().any(|line| line.starts_with('<') && line.contains("completed")), "{text}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("hex fffe"), "what is no text is kept byte by byte: {text}");
    assert!(text.contains("# the line above was not finished"), "{text}");

    let again = |prompt: &str| {
        let text = text.replace("say hi", prompt);
        // What a client does not finish, nobody answers.
        let text: Vec<&str> = text.lines().filter(|line| !line.contains("half")).collect();
        std::fs::write(world.join("again.txt"), text.join("\n") + "\n").unwrap();
        let args =
            ["replay", "again.txt", "--at-once", "--", PARLOR, "serve", "--dialect", "codelia", "--stdio"];
        output(world, &args.into_iter().chain(["--ephemeral"]).collect::<Vec<_>>())
    };
    let same = again("say hi");
    assert_eq!(same.status.code(), Some(0), "{}", stdout(&same));

    let taken = output(world, &["record", "--dialect", "codelia", "--out", "talk.txt", "--", PARLOR]);
    assert_eq!(taken.status.code(), Some(1), "a recording is never overwritten");
}

#[test]
fn sessions_that_came_since_do_not_stop_a_replay() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let serve = [PARLOR, "serve", "--dialect", "codelia", "--stdio"];
    let args = ["record", "--dialect", "codelia", "--out", "talk.txt", "--"];
    let mut ui = Spoken::start(parlor(world, &[&args[..], &serve].concat()));
    ui.say(CODELIA_HELLO);
    ui.until(r#""id":"1""#);
    ui.say(r#"{"jsonrpc":"2.0","id":"2","method":"session.list","params":{}}"#);
    assert!(ui.until(r#""id":"2""#).contains(r#""sessions":[]"#), "nothing is kept yet");
    assert_eq!(ui.end(), Some(0));
    assert!(std::fs::read_to_string(world.join("talk.txt")).unwrap().contains("\nhome /"));
    assert_eq!(output(world, &["run", "say first"]).status.code(), Some(0));
    let args = ["replay", "talk.txt", "--at-once", "--all", "--patience", "5", "--"];
    let again = output(world, &[&args[..], &serve].concat());
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));
    let args = ["replay", "talk.txt", "--at-once", "--exact", "--patience", "5", "--"];
    let exact = output(world, &[&args[..], &serve].concat());
    assert_eq!(exact.status.code(), Some(1), "the list has grown: {}", stdout(&exact));
}

#[test]
fn a_program_that_answers_differently_is_told_by_its_first_difference() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let text = "dialect codelia\n> {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"no.such\",\"params\":{}}\n\
        < {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n";
    std::fs::write(world.join("other.txt"), text).unwrap();
    let args = ["replay", "other.txt", "--at-once", "--patience", "5", "--", PARLOR, "serve", "--dialect"];
    let told =
        output(world, &args.into_iter().chain(["codelia", "--stdio", "--ephemeral"]).collect::<Vec<_>>());
    assert_eq!(told.status.code(), Some(1));
    assert!(stdout(&told).contains("-32601"), "what came instead is shown: {}", stdout(&told));
}

#[test]
fn a_recording_can_be_read_and_looked_at() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    recorded(world);
    let text = stdout(&output(world, &["trace", "talk.txt"]));
    assert!(text.contains("run") && text.contains("say hi"), "{text}");
    assert_eq!(output(world, &["trace", "talk.txt", "--html", "talk.html"]).status.code(), Some(0));
    let page = std::fs::read_to_string(world.join("talk.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    for outside in ["http://", "https://", "src=\"", "@import"] {
        assert!(!page.contains(outside), "the page needs nothing but itself: {outside}");
    }
    assert!(page.contains("say hi"));
    assert_eq!(output(world, &["trace", "nowhere.txt"]).status.code(), Some(1));
}
