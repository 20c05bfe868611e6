//! The official TypeScript library of the Agent Client Protocol as an independent peer, in both directions: its client on our agent, and
//! our UI on its agent. `cargo xtask test` installs it and says where it is.

use crate::task::Project;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

/// Where the library is, where it was installed.
const LIBRARY: &str = "PARLOR_ACP_SDK";

fn library() -> Option<OsString> {
    std::env::var_os(LIBRARY)
}

fn script(name: &str) -> String {
    format!("{}/tests/terminal/task/peers/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What the library's client saw of our agent in a whole session, by what it did.
fn session(project: &Project, library: &OsString) -> Vec<Value> {
    let parlor = project.bare(&[]);
    let mut client = Command::new("node");
    client.arg(script("client.mjs")).arg(env!("CARGO_BIN_EXE_parlor")).arg("acp");
    client.env(LIBRARY, library).current_dir(project.path("work")).stdin(Stdio::null());
    for (name, value) in parlor.get_envs() {
        match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_client_on_the_official_library_has_a_whole_session_with_our_agent() {
    let Some(library) = library() else { return };
    let project = Project::new();
    let seen = session(&project, &library);
    let of = |what: &str| seen.iter().find(|seen| seen["what"] == what).ok_or(what).unwrap();
    // It offers no terminal, so the way in is one that the agent answers by itself.
    assert_eq!((&of("initialize")["version"], &of("initialize")["auth"]), (&json!(1), &json!([null])));
    assert_eq!(of("new")["options"], json!(["mode", "model", "effort"]));
    let ends: Vec<&Value> = ["text", "allowed", "rejected", "form", "cancelled", "after"]
        .map(|what| &of(what)["stopReason"])
        .to_vec();
    assert_eq!(json!(ends), json!(["end_turn", "end_turn", "end_turn", "end_turn", "cancelled", "end_turn"]));
    for what in ["allowed", "rejected", "cancelled"] {
        assert_eq!(of(what)["permissions"].as_array().unwrap().len(), 1, "{what}");
    }
    let written = project.path("work/a.txt");
    assert_eq!(of("allowed")["writes"], json!([written]), "through the client");
    assert!(!written.exists(), "the client saves");
    assert_eq!(json!([of("rejected")["writes"], of("cancelled")["writes"]]), json!([[], []]));
    assert_eq!(of("form")["forms"], json!([1]));
    assert_eq!((&of("list")["count"], &of("list")["same"]), (&json!(1), &json!(true)));
    let told = of("load")["text"].as_str().unwrap();
    assert!(told.contains("one two three") && told.contains("You answered:"), "{told}");
    assert!(of("load")["diffs"].as_u64().unwrap() > 0);
    assert_eq!(of("exit")["code"], 0);
}

/// Our UI, without a screen, on the library's agent.
fn attach(project: &Project, library: &OsString, args: &[&str]) -> Output {
    let agent = script("agent.mjs");
    let command = [&["attach", "--dialect", "acp"], args, &["--", "node", agent.as_str()]].concat();
    project.bare(&command).env(LIBRARY, library).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn our_ui_drives_an_agent_on_the_official_library() {
    let Some(library) = library() else { return };
    let project = Project::new();
    let said = |args: &[&str]| {
        let output = attach(&project, &library, args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), out.trim().to_owned(), err.into_owned())
    };
    let (code, out, _) = said(&["--prompt", "hello"]);
    assert_eq!((code, out.as_str()), (Some(0), "one two three"));
    let (code, out, err) = said(&["--prompt", "edit"]);
    assert_eq!((code, out.as_str()), (Some(3), "left alone"), "{err}");
    assert!(err.contains("denied: Edit a.txt"), "{err}");
    let (code, out, err) = said(&["--allow", "all", "--prompt", "edit"]);
    assert_eq!((code, out.as_str()), (Some(0), "edited"), "{err}");
    // One of its own sessions, which it tells again before it goes on.
    let (code, out, _) = said(&["--session", "theirs-old", "--prompt", "hello"]);
    assert_eq!((code, out.as_str()), (Some(0), "one two three"));
    let kept = project.bare(&["sessions", "search", "an answer of before"]).output().unwrap();
    let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(kept.contains("answer of before"), "its past is kept: {kept}");
    let (_, events, _) = said(&["--json", "--allow", "all", "--prompt", "edit"]);
    assert!(events.contains("-old") && events.contains("+new"), "a diff: {events}");
    let ids = |line: Option<&str>| {
        line.and_then(|line| Some(line.split_once("sess-")?.1.split_once('"')?.0.to_owned()))
    };
    let (header, result) = (ids(events.lines().next()), ids(events.lines().last()));
    assert!(header.is_some() && header == result, "the header names the session of the result: {events}");
}

#[test]
fn an_agent_on_the_official_library_has_files_and_commands_done_by_us() {
    let Some(library) = library() else { return };
    let project = Project::new();
    std::fs::write(project.path("work/notes"), "howdy\n").unwrap();
    let said = |args: &[&str]| {
        let output = attach(&project, &library, args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), out.trim().to_owned(), err.into_owned())
    };
    let made = project.path("work/made");
    let (code, out, err) = said(&["--prompt", "files"]);
    assert_eq!((code, out.as_str(), made.exists()), (Some(3), "howdy refused", false), "{err}");
    let (code, out, err) = said(&["--policy", "auto-edit", "--prompt", "files"]);
    assert_eq!((code, out.as_str()), (Some(0), "howdy wrote"), "{err}");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "HOWDY\n");
    let (code, out, err) = said(&["--prompt", "command"]);
    assert_eq!((code, out.as_str()), (Some(0), "from terminal 0"), "{err}");
    // Nobody is there to fill it in.
    let (code, out, err) = said(&["--prompt", "form"]);
    assert_eq!((code, out.as_str()), (Some(4), "form decline"), "{err}");
}

#[test]
fn an_agent_on_the_official_library_is_stopped_by_a_signal_to_us() {
    let Some(library) = library() else { return };
    let project = Project::new();
    let agent = script("agent.mjs");
    let args = ["attach", "--dialect", "acp", "--json", "--prompt", "wait", "--", "node", agent.as_str()];
    let mut command = project.bare(&args);
    let mut ui = command.env(LIBRARY, &library).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(ui.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.contains("waiting")), "it waits");
    let id = rustix::process::Pid::from_child(&ui);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let last = lines.last().unwrap_or_default();
    assert_eq!(ui.wait().unwrap().code(), Some(130), "{last}");
    assert!(last.contains("cancelled"), "{last}");
}
