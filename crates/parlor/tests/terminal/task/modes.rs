//! The mode that a session begins in, by how it is begun: what the screen says of it, and what then is asked. The whole table is a test
//! of `host::mode`; here the built program is held to it.

use crate::task::Project;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Person, Running, Screen};

/// What the one line at the first start begins with.
const NEW: &str = "in a project it works in the sandbox without asking";
const OFFLINE: &[&str] = &["--model", "offline/offline"];

/// Whether this kernel can hold commands: everything is asked where it cannot.
fn holds() -> bool {
    tools::sandbox::status().can_hold().is_ok()
}

/// The word of the status line.
fn usual() -> &'static str {
    if holds() { "runs in the sandbox" } else { "asks first" }
}

/// Starts the screen, waits for the word of its mode, and leaves it; whether the new default was told.
#[track_caller]
fn begins(command: &mut Command, mode: &str) -> bool {
    let mut screen = Screen::start(command);
    screen.shows(&["shows all keys", "model   ", mode]);
    let told = screen.contents().contains(NEW);
    screen.send("\x04");
    assert!(screen.finish());
    told
}

#[test]
fn the_terminal_works_in_a_project_unasked_and_says_so_once() {
    let project = Project::newcomer();
    let mut screen = Screen::start(&mut project.bare(OFFLINE));
    screen.shows(&["shows all keys", usual()]);
    if holds() {
        screen.shows(&["runs in the sandbox of this project, asks before anything leaves it", NEW]);
        screen.shows(&["/mode ask", "policy = \"ask\"", "config.toml"]);
    }
    screen.send("\x04");
    assert!(screen.finish());
    assert!(!begins(&mut project.bare(OFFLINE), usual()), "it was told already");
}

#[test]
fn plain_lines_tell_the_new_default_too() {
    let project = Project::newcomer();
    let plain = |project: &Project| {
        let mut command = project.bare(&["--plain"]);
        let child = command.args(OFFLINE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut child = Running(child);
        let mut stdin = child.0.stdin.take().unwrap();
        writeln!(stdin, "say farewell").unwrap();
        // Whoever has answered has told before what there is to know.
        let mut stdin = Some(stdin);
        let mut said = String::new();
        for line in BufReader::new(child.0.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if line.contains("farewell") {
                drop(stdin.take());
            }
            said.push_str(&line);
        }
        said
    };
    assert_eq!(plain(&project).contains(NEW), holds());
    assert!(!plain(&project).contains(NEW));
}

#[test]
fn what_was_said_before_stays_as_it_was() {
    let set = Project::new();
    assert!(!begins(&mut set.bare(OFFLINE), "asks first"), "it is set so");
    let typed = Project::newcomer();
    assert!(!begins(typed.bare(OFFLINE).args(["--policy", "ask"]), "asks first"), "it was typed so");
    // Home is no project.
    let home = Project::newcomer();
    assert!(!begins(home.bare(OFFLINE).current_dir(home.path("home")), "asks first"));
}

#[test]
fn a_kept_session_keeps_its_mode() {
    let project = Project::newcomer();
    // As every session began before.
    let mut screen = Screen::start(project.bare(OFFLINE).args(["--policy", "ask"]));
    screen.shows(&["shows all keys", "asks first"]);
    screen.send("say hello\r");
    // In the prompt, and in the answer.
    screen
        .until("the answer", |screen| screen.count("hello") == 2 && !screen.contents().contains("Esc stops"));
    screen.send("\x04");
    assert!(screen.finish());
    let mut screen = Screen::start(project.bare(OFFLINE).arg("--continue"));
    screen.shows(&["hello", "asks first"]);
    assert!(!screen.said(NEW), "nothing is new in it");
    screen.send("\x04");
    assert!(screen.finish());
}

#[test]
fn nobody_else_begins_to_work_unasked() {
    let project = Project::newcomer();
    let ran = project.bare(OFFLINE).args(["run", "run `touch new.txt`"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(!project.path("work/new.txt").exists());
    let mut serve = project.bare(OFFLINE);
    assert_eq!(mode_of(serve.args(["serve", "--dialect", "native", "--stdio"])), None);
    // A room that another machine has started here.
    let world = newcomer();
    assert_eq!(mode_of(&mut world.parlor("one", &["relay"])), None);
}

#[test]
fn a_proposed_rule_says_how_many_questions_it_would_have_answered() {
    for (flags, keeps) in [(&[][..], true), (&["--ephemeral"], false)] {
        let project = Project::new();
        let mut screen = Screen::start(project.bare(OFFLINE).args(flags));
        screen.shows(&["shows all keys", "asks first"]);
        for _ in 0..2 {
            screen.send("run `touch new.txt`\r");
            screen.asks(&["$ touch new.txt", "exactly this command", "y allow once"]);
            screen.send("y");
            screen.until("it ran", |screen| !screen.contents().contains("y allow once"));
        }
        assert_eq!(screen.said("would have answered"), keeps, "{}", screen.contents());
        screen.send("run `touch new.txt`\r");
        screen.asks(&["$ touch new.txt", "y allow once"]);
        let contents = screen.contents().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(contents.contains("would have answered 2 of the 2 questions"), keeps, "{contents}");
        assert_eq!(project.path("data/rules").exists(), keeps);
    }
}

/// The mode that a new session is set to on stdin and stdout of a program, where it is set at all.
fn mode_of(command: &mut Command) -> Option<Value> {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    let mut stdin = child.0.stdin.take().unwrap();
    let hello =
        json!({"hello": {"protocol": 1, "revision": 2, "name": "test", "version": "1", "capabilities": []}});
    let begin = json!({"command": {"ticket": 1, "what": {"new_session": {}}}});
    writeln!(stdin, "{hello}\n{begin}").unwrap();
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let attached = lines.find_map(|line| line.get("attached").cloned()).unwrap();
    let replay = attached["replay"].as_array().unwrap();
    assert!(replay.iter().any(|event| event.pointer("/1/session_opened").is_some()), "{attached}");
    replay.iter().find_map(|event| event.pointer("/1/policy_chosen/policy").cloned())
}

/// Somebody who has set nothing, and may have a server.
fn newcomer() -> Person {
    let world = Person::new(Path::new(env!("CARGO_BIN_EXE_parlor")));
    std::fs::remove_file(world.path("config/config.toml")).unwrap();
    world
}

#[test]
fn a_room_of_the_terminal_begins_as_the_terminal_does() {
    let world = newcomer();
    world.up();
    let mut screen = Screen::start(&mut world.parlor("one", &[]));
    screen.shows(&["goes on when this terminal is closed", "shows all keys", usual()]);
    assert_eq!(screen.contents().contains(NEW), holds());
    screen.send("\x04");
    assert!(screen.finish());
}
