//! One session, several UIs: each in its own wire, each with its role, and the run goes on when all have left.

use crate::instruments::{CODELIA_HELLO, PARLOR, Spoken, codelia_prompt, output, parlor, serving, stdout};
use std::path::Path;
use testkit::ps_until;

/// The id of the only session that is kept.
fn kept_session(world: &Path) -> String {
    let list = output(world, &["sessions", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&stdout(&list)).unwrap();
    let first = list.get(0).or_else(|| list.pointer("/sessions/0")).unwrap();
    first["id"].as_str().unwrap().to_owned()
}

#[test]
fn uis_of_several_wires_share_the_session_that_is_served() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    assert_eq!(stdout(&output(world, &["run", "say first"])).trim(), "first");
    let session = kept_session(world);
    let args =
        ["serve", "--session", &session, "--dialect", "codelia", "--dialect", "openagent", "--socket", "s"];
    let _serving = serving(world, &args);
    ps_until(PARLOR, world, |all| all[0]["serving"] == "codelia, openagent");
    for (dialect, socket) in [("codelia", "s.codelia"), ("openagent", "s.openagent")] {
        let prompt = format!("say {dialect}");
        let said = output(world, &["attach", "--dialect", dialect, "--socket", socket, "--prompt", &prompt]);
        assert_eq!(stdout(&said).trim(), dialect, "{}", String::from_utf8_lossy(&said.stderr));
    }
    let short = session.trim_start_matches("sess-");
    let said = output(world, &["attach", "--session", &short[..short.len() - 2], "--prompt", "say native"]);
    assert_eq!(stdout(&said).trim(), "native", "{}", String::from_utf8_lossy(&said.stderr));
    let told = stdout(&output(world, &["sessions", "show", &session]));
    for word in ["first", "codelia", "openagent", "native"] {
        assert!(told.contains(word), "{word} belongs to the one conversation: {told}");
    }
}

#[test]
fn a_run_goes_on_when_every_ui_has_left() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let _serving = serving(world, &["serve", "--dialect", "codelia", "--socket", "s"]);
    ps_until(PARLOR, world, |all| all[0]["serving"] == "codelia");
    let mut ui = Spoken::start(parlor(world, &["__relay", "s"]));
    ui.say(CODELIA_HELLO);
    ui.until(r#""id":"1""#);
    ui.say(&codelia_prompt("2", "count to 20 slowly"));
    ui.until(r#""running""#);
    drop(ui);
    let running = |all: &serde_json::Value| all[0]["sessions"][0]["running"].clone();
    let alone = |all: &serde_json::Value| all[0]["sessions"][0]["uis"].as_array().is_some_and(Vec::is_empty);
    let all = ps_until(PARLOR, world, |all| alone(all) && running(all) == false);
    let session = all[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    let told = stdout(&output(world, &["sessions", "show", &session]));
    assert!(told.contains("20"), "it counted to its end: {told}");
}

#[test]
fn who_only_watches_may_not_prompt_and_who_approves_may_answer() {
    for (role, may) in [("observer", false), ("approver", false), ("controller", true)] {
        let world = tempfile::tempdir().unwrap();
        let world = world.path();
        let args = ["serve", "--dialect", "codelia", "--stdio", "--ephemeral", "--role", role];
        let mut ui = Spoken::start(parlor(world, &args));
        ui.say(CODELIA_HELLO);
        ui.until(r#""id":"1""#);
        ui.say(&codelia_prompt("2", "say hi"));
        let answer = ui.until(r#""id":"2""#);
        assert_eq!(answer.contains("run_id"), may, "{role}: {answer}");
        let all = ps_until(PARLOR, world, |all| all[0]["serving"] == "codelia");
        assert!(all[0]["sessions"].is_array(), "{all}");
    }
}
