//! bridge: as a filter between pipes and as a server; what it tells, what it refuses, and that it is found.

use crate::instruments::{CODELIA_HELLO, PARLOR, Spoken, codelia_prompt, output, parlor, serving, stdout};
use serde_json::Value;
use std::path::Path;
use testkit::ps_until;

#[test]
fn a_bridge_is_a_filter_between_pipes() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let args =
        ["bridge", "--from", "codelia", "--stdio", "--to", "lemon", "--record", "talk.txt", "--", PARLOR];
    let args = args.into_iter().chain(["serve", "--dialect", "lemon", "--stdio", "--ephemeral"]);
    let mut ui = Spoken::start(parlor(world, &args.collect::<Vec<_>>()));
    ui.say(CODELIA_HELLO);
    ui.until(r#""id":"1""#);
    ui.say(&codelia_prompt("2", "write b.txt: hi"));
    let ask = ui.until("ui.confirm.request");
    let ask: Value = serde_json::from_str(&ask).unwrap();
    ui.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"ok":true}}}}"#, ask["id"]));
    ui.until(r#""completed""#);
    assert_eq!(ui.end(), Some(0));
    assert_eq!(std::fs::read_to_string(world.join("b.txt")).unwrap().trim(), "hi");
    let (near, far) = ("talk.txt", "talk.runtime.txt");
    let read = |name: &str| std::fs::read_to_string(world.join(name)).unwrap();
    assert!(read(near).contains("run.start") && read(far).contains(r#""type":"prompt""#));
}

#[test]
fn a_bridge_serves_and_is_found_with_whoever_is_attached() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let args = ["bridge", "--from", "openagent", "--socket", "s", "--to", "nous", "--to-socket", "n"];
    let _runtime = serving(world, &["serve", "--dialect", "nous", "--socket", "n", "--ephemeral"]);
    ps_until(PARLOR, world, |all| all[0]["serving"] == "nous");
    let _bridge = serving(world, &args);
    let all = ps_until(PARLOR, world, |all| all[1]["serving"] == "bridge: openagent on nous");
    assert_eq!(all.as_array().map(Vec::len), Some(2), "what keeps nothing on disk is found too: {all}");
    let said = output(world, &["attach", "--dialect", "openagent", "--socket", "s", "--prompt", "say one"]);
    assert_eq!(stdout(&said).trim(), "one", "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn what_becomes_of_each_item_is_told_beforehand() {
    let world = tempfile::tempdir().unwrap();
    let report = |from: &str, to: &str| {
        stdout(&output(world.path(), &["bridge", "--from", from, "--to", to, "--report"]))
    };
    let same = report("native", "native");
    assert!(same.contains("exact") && !same.contains("refused") && !same.contains("dropped"), "{same}");
    let lossy = report("native", "asst");
    let head = lossy.find("what the person decides").unwrap();
    assert!(head < lossy.find("everything else").unwrap(), "what decides comes first: {lossy}");
    assert!(lossy.contains("emulated  cancel: over for the person"), "{lossy}");
    assert!(lossy.contains("denied with a reason"), "nothing is allowed by guess: {lossy}");
    assert!(lossy.contains("session list, history: answered from what Parlor keeps"), "{lossy}");
    let forgets = ["bridge", "--ephemeral", "--from", "native", "--to", "asst", "--report"];
    let forgets = stdout(&output(world.path(), &forgets));
    assert!(forgets.contains("refused   session list"), "{forgets}");
    let nowhere = output(world.path(), &["bridge", "--from", "codelia", "--to", "nous", "--stdio"]);
    assert_eq!(nowhere.status.code(), Some(2));
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// A codelia UI on a bridge to a runtime of this wire, with what the runtime was greeted to be able to.
fn codelia_on(world: &Path, far: &[&str]) -> (Spoken, Value) {
    let args = ["bridge", "--from", "codelia", "--stdio"].iter().chain(far).copied();
    let mut ui = Spoken::start(parlor(world, &args.collect::<Vec<_>>()));
    ui.say(CODELIA_HELLO);
    let greeted = json(&ui.until(r#""id":"1""#));
    (ui, greeted["result"]["server_capabilities"].clone())
}

/// One prompt, and from a new start: the list, the past, and the next prompt in that session.
fn resumes(world: &Path, far: &[&str]) -> Value {
    let (mut ui, capabilities) = codelia_on(world, far);
    ui.say(&codelia_prompt("2", "say alpha"));
    ui.until(r#""completed""#);
    assert_eq!(ui.end(), Some(0), "{far:?}");

    let (mut ui, _) = codelia_on(world, far);
    ui.say(r#"{"jsonrpc":"2.0","id":"2","method":"session.list","params":{"scope":"all"}}"#);
    let listed = json(&ui.until(r#""id":"2""#));
    let id = listed["result"]["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(listed["result"]["sessions"].as_array().map(Vec::len), Some(1), "{far:?}: {listed}");
    let about = format!(r#""params":{{"session_id":"{id}""#);
    ui.say(&format!(r#"{{"jsonrpc":"2.0","id":"3","method":"session.history",{about}}}}}"#));
    ui.until("say alpha");
    let history = json(&ui.until(r#""id":"3""#));
    assert!(history["result"]["runs"] == 1 && history["result"]["events_sent"] != 0, "{far:?}: {history}");
    let input = r#""input":{"type":"text","text":"say beta"}"#;
    ui.say(&format!(r#"{{"jsonrpc":"2.0","id":"4","method":"run.start",{about},{input}}}}}"#));
    let started = json(&ui.until(r#""id":"4""#));
    assert_eq!(started["result"]["session_id"], id.as_str(), "{far:?}: {started}");
    ui.until(r#""completed""#);
    let unknown = r#""params":{"session_id":"sess-000000000000""#;
    ui.say(&format!(r#"{{"jsonrpc":"2.0","id":"5","method":"run.start",{unknown},{input}}}}}"#));
    let refused = json(&ui.until(r#""id":"5""#));
    assert_eq!(refused["error"]["code"], -32004, "{far:?}: a session that is not there: {refused}");
    assert_eq!(ui.end(), Some(0), "{far:?}");

    let kept: Value = json(&stdout(&output(world, &["sessions", "list", "--all", "--json"])));
    // The runtime's own, and the bridge's record of it where the wire is not ours.
    let sessions = kept.as_array().unwrap();
    let theirs: Vec<&Value> = sessions.iter().filter(|session| !session["origin"].is_object()).collect();
    assert_eq!(theirs.len(), 1, "{far:?}: nothing went on elsewhere: {kept}");
    let known = sessions.iter().find(|session| session["id"] == id.as_str()).unwrap();
    for session in [theirs[0], known] {
        assert_eq!(session["messages"], 4, "{far:?}: {kept}");
    }
    capabilities
}

#[test]
fn a_session_goes_on_over_a_bridge_that_was_started_again() {
    for wire in ["native", "lemon", "codelia"] {
        let world = tempfile::tempdir().unwrap();
        let far = ["--to", wire, "--", PARLOR, "serve", "--dialect", wire, "--stdio"];
        let capabilities = resumes(world.path(), &far);
        // What the runtime behind it can do is announced, and nothing else.
        let can = wire != "lemon";
        assert_eq!(capabilities["supports_skills_list"], can, "{wire}: {capabilities}");
        assert_eq!(capabilities["supports_mcp_list"], can, "{wire}: {capabilities}");
    }
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let _far = serving(world, &["serve", "--dialect", "openagent", "--socket", "far"]);
    ps_until(PARLOR, world, |all| all[0]["serving"] == "openagent");
    let capabilities = resumes(world, &["--to", "openagent", "--to-socket", "far"]);
    assert_eq!(capabilities["supports_skills_list"], false, "{capabilities}");
}

#[test]
fn a_bridge_greets_with_the_model_behind_it() {
    for wire in ["native", "codelia", "lemon"] {
        let world = tempfile::tempdir().unwrap();
        let far = [PARLOR, "serve", "--dialect", wire, "--stdio", "--ephemeral"];
        let args = ["bridge", "--from", "lemon", "--stdio", "--to", wire, "--"];
        let args = args.into_iter().chain(far).collect::<Vec<_>>();
        let mut ui = Spoken::start(parlor(world.path(), &args));
        let ready = json(&ui.until(r#""type":"ready""#));
        assert_eq!(ready["model"]["provider"], "offline", "{wire}: {ready}");
        ui.end();
    }
}
