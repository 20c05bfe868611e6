//! A later release against this one: what cannot be understood is refused with both versions named and what to do, and is left as it is;
//! what can be agreed on is spoken.

use crate::release::talk::{Native, ended};
use crate::release::v0_1_0::RELEASE;
use crate::release::{PARLOR, parlor, program, stderr, stdout};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Output, Stdio};

const OURS: &str = env!("CARGO_PKG_VERSION");

fn names_both(output: &Output, theirs: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(theirs), "{theirs}: {said}");
    assert!(said.contains("update") && !said.contains("panicked"), "{said}");
}

#[test]
fn a_store_of_a_later_release_is_refused_and_left_as_it_is() {
    let world = RELEASE.inherited();
    let world = world.path();
    let file = world.join("data/sessions.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    let later = "ALTER TABLE sessions ADD COLUMN tomorrow TEXT; PRAGMA user_version = 7; PRAGMA wal_checkpoint(TRUNCATE);";
    connection.execute_batch(later).unwrap();
    drop(connection);
    let before = std::fs::read(&file).unwrap();
    for act in [
        &["sessions", "list"][..],
        &["sessions", "show", "a001"],
        &["sessions", "search", "bridge"],
        &["sessions", "export", "a001"],
        &["sessions", "rm", "a001", "--yes"],
        &["sessions", "rename", "a001", "other"],
        &["--continue", "run", "say hi"],
    ] {
        let refused = parlor(world, act);
        names_both(&refused, "format 7");
        assert!(stderr(&refused).contains(&format!("({OURS}) knows formats up to 1")), "{act:?}");
    }
    let goes_on = parlor(world, &["run", "say hi"]);
    assert_eq!((goes_on.status.code(), stdout(&goes_on).trim()), (Some(0), "hi"));
    assert!(stderr(&goes_on).contains("nothing will be kept"), "{}", stderr(&goes_on));
    assert!(std::fs::read(&file).unwrap() == before, "not a byte was changed");
}

#[test]
fn an_export_of_a_later_release_is_refused() {
    let world = RELEASE.inherited();
    let lines = RELEASE.fixture("exports/sess-00000000b002.jsonl");
    let saved = RELEASE.fixture("exports/saved.json");
    for (text, theirs) in [
        (lines.replacen("\"version\":1", "\"version\":9", 1), "format 9"),
        (lines.replacen("\"records\":1", "\"records\":9", 1), "format 9"),
        (saved.replacen("\"version\": 1", "\"version\": 9", 1), "format 9"),
    ] {
        let file = world.path().join("project/later");
        std::fs::write(&file, text).unwrap();
        let refused = parlor(world.path(), &["sessions", "import", "later"]);
        names_both(&refused, theirs);
        assert!(stderr(&refused).contains("known up to 1"), "{}", stderr(&refused));
    }
}

#[test]
fn a_later_native_ui_and_this_runtime_speak_the_older_protocol() {
    let world = RELEASE.inherited();
    std::fs::write(world.path().join("project/model.txt"), "model text \"Hello.\"\n").unwrap();
    let args = ["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"];
    let serve = program(Path::new(PARLOR), world.path(), &args);
    let hello = json!({"hello": {"protocol": 2, "revision": 5, "name": "parlor", "version": "9.0.0",
        "capabilities": ["hash", "answers", "telepathy"], "mood": "good"}});
    let mut ui = Native::greeting(serve, &hello);
    let protocol = ui.until(|line| line.get("hello").map(|hello| hello["protocol"].clone()));
    assert_eq!(protocol, 1);
    // What only later ones say is refused by name, and the link lives on.
    ui.say(&json!({"command": {"ticket": 77, "what": {"dance": {}}}}));
    let error = ui.until(|line| line.get("error").cloned());
    assert!(error["ticket"] == 77 && error["message"].to_string().contains("dance"), "{error}");
    ui.say(&json!({"gesture": {}}));
    let error = ui.until(|line| line.get("error").cloned());
    assert!(error["message"].to_string().contains("gesture"), "{error}");
    ui.new_session("sess-000000000123", "later");
    let done =
        ui.prompt("sess-000000000123", &json!({"input": {"text": "hi"}}), |_| json!("dismissed"), ended);
    assert_eq!(done, "done");
    ui.leave();
}

#[test]
fn a_native_ui_that_is_too_old_is_told_both_protocols() {
    let world = RELEASE.inherited();
    let serve = program(Path::new(PARLOR), world.path(), &["serve", "--dialect", "native", "--stdio"]);
    let mut ui = Native::greeting(serve, &json!({"hello": {"protocol": 0, "version": "0.0.1"}}));
    let error = ui.until(|line| line.get("error").cloned());
    let said = error.to_string();
    assert!(
        error["about"] == "hello" && said.contains("protocol 0") && said.contains("oldest is 1"),
        "{said}"
    );
    assert!(said.contains("update the UI"), "{said}");
    assert_eq!(ui.line(), None, "the link is closed");
}

/// Our UI on a runtime that says `lines` once it has heard a line; what the UI then says and does.
fn attached_to(dialect: &str, lines: &str) -> Output {
    let world = RELEASE.inherited();
    let door = UnixListener::bind(world.path().join("project/s")).unwrap();
    let args = ["attach", "--dialect", dialect, "--socket", "s", "--prompt", "hi"];
    let mut attach = program(Path::new(PARLOR), world.path(), &args);
    let attach = attach.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut link, _) = door.accept().unwrap();
    let mut heard = String::new();
    BufReader::new(link.try_clone().unwrap()).read_line(&mut heard).unwrap();
    link.write_all(lines.as_bytes()).unwrap();
    attach.wait_with_output().unwrap()
}

#[test]
fn a_native_runtime_that_is_too_old_or_finds_us_too_old_ends_it_with_both_versions() {
    let older = "{\"hello\":{\"protocol\":0,\"name\":\"parlor\",\"version\":\"0.0.1\"}}\n";
    let refused = attached_to("native", older);
    names_both(&refused, "protocol 0");
    assert!(stderr(&refused).contains("the oldest we speak is 1"), "{}", stderr(&refused));
    let later = "{\"error\":{\"about\":\"hello\",\"message\":\"protocol 1 is no longer spoken; the oldest is 2\",\"hint\":\"update the UI\"}}\n";
    let refused = attached_to("native", later);
    names_both(&refused, "protocol 1 is no longer spoken; the oldest is 2");
}

#[test]
fn a_runtime_of_another_version_of_a_foreign_wire_is_told_with_both() {
    let error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"protocol version 1.0.0 is not supported; use 2.0.0; update the client\"}}\n";
    names_both(&attached_to("openagent", error), "version 1.0.0 is not supported; use 2.0.0");
}
