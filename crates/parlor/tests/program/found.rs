//! A serving process is found without a port: `parlor ps` lists it, `parlor attach --session` reaches it, and it leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Running, in_world, ps_until};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

fn parlor(world: &Path, args: &[&str]) -> Command {
    let mut command = in_world(PARLOR, world, args);
    command.stderr(Stdio::null());
    command
}

fn said(world: &Path, args: &[&str]) -> String {
    String::from_utf8(parlor(world, args).output().unwrap().stdout).unwrap()
}

#[test]
fn a_live_session_is_listed_and_attached_to_by_its_id() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let socket = world.join("s").display().to_string();
    let serve = parlor(world, &["serve", "--dialect", "native", "--socket", &socket]).spawn().unwrap();
    let mut serving = Running(serve);
    ps_until(PARLOR, world, |all| all[0]["serving"] == "native");
    assert_eq!(said(world, &["attach", "--socket", &socket, "--prompt", "say one"]).trim(), "one");
    let all =
        ps_until(PARLOR, world, |all| all[0]["sessions"][0]["uis"].as_array().is_some_and(Vec::is_empty));
    let session = all[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(said(world, &["attach", "--session", &session, "--prompt", "say two"]).trim(), "two");
    let nowhere =
        parlor(world, &["attach", "--session", "sess-ffffffffffff", "--prompt", "x"]).status().unwrap();
    assert_eq!(nowhere.code(), Some(1));

    // Killed outright, it leaves its files; whoever looks next removes them.
    serving.0.kill().unwrap();
    serving.0.wait().unwrap();
    ps_until(PARLOR, world, |all| all.as_array().is_some_and(Vec::is_empty));
    assert_eq!(std::fs::read_dir(world.join("data/run")).unwrap().count(), 0);
}

#[test]
fn the_first_line_of_a_client_tells_its_wire() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let socket = world.join("s").display().to_string();
    let serve = parlor(world, &["serve", "--dialect", "auto", "--socket", &socket]).spawn().unwrap();
    let _serving = Running(serve);
    for dialect in ["native", "codelia", "openagent", "nous"] {
        let prompt = format!("say {dialect}");
        let heard = said(world, &["attach", "--dialect", dialect, "--socket", &socket, "--prompt", &prompt]);
        assert_eq!(heard.trim(), dialect);
    }
}
