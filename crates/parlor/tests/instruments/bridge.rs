//! bridge: as a filter between pipes and as a server; what it tells, what it refuses, and that it is found.

use crate::{CODELIA_HELLO, PARLOR, Serving, Spoken, codelia_prompt, output, parlor, ps_until, stdout};

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
    let ask: serde_json::Value = serde_json::from_str(&ask).unwrap();
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
    let _runtime = Serving::start(world, &["serve", "--dialect", "nous", "--socket", "n", "--ephemeral"]);
    ps_until(world, |all| all[0]["serving"] == "nous");
    let _bridge = Serving::start(world, &args);
    let all = ps_until(world, |all| all[1]["serving"] == "bridge: openagent on nous");
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
    let nowhere = output(world.path(), &["bridge", "--from", "codelia", "--to", "nous", "--stdio"]);
    assert_eq!(nowhere.status.code(), Some(2));
}
