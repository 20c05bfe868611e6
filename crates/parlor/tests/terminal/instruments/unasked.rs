//! `attach --policy read-only` and `--require-consent` without a screen, on a runtime that acts by itself: the run is stopped at the first
//! thing that is not known to only look, on every wire that could have asked, and the exit code says so.

use crate::instruments::{PARLOR, output};
use std::path::Path;
use std::process::Output;

/// Wires over which a runtime can ask for consent, and whether `read-only` can be asked for there.
const WIRES: [(&str, bool); 5] =
    [("codelia", true), ("lemon", true), ("openagent", true), ("acp", true), ("native", false)];

/// Looks, then writes, and much later writes again.
const ACTS: &str = r#"model tool read {"path":"model.txt"}
---
model tool write {"path":"first.txt","content":"hi"}
---
model pause 60s | tool write {"path":"second.txt","content":"hi"}
"#;
const LOOKS: &str = r#"model tool read {"path":"model.txt"}
---
model text "seen"
"#;

/// A prompt to a runtime of this wire that asks nobody.
fn say(world: &Path, wire: &str, flags: &[&str], script: &str) -> Output {
    std::fs::write(world.join("model.txt"), script).unwrap();
    let attach = ["attach", "--dialect", wire, "--prompt", "go", "--json"];
    let serve = ["--", PARLOR, "serve", "--dialect", wire, "--stdio", "--ephemeral", "--policy", "full"];
    output(world, &[&attach, flags, &serve, &["--model", "scripted/model.txt"]].concat())
}

#[test]
fn a_flag_that_holds_a_runtime_to_asking_stops_one_that_acts_by_itself() {
    for (wire, read_only) in WIRES {
        let held: &[&[&str]] = if read_only {
            &[&["--require-consent"], &["--policy", "read-only"]]
        } else {
            &[&["--require-consent"]]
        };
        for flags in held {
            let world = tempfile::tempdir().unwrap();
            let said = say(world.path(), wire, flags, ACTS);
            let words = String::from_utf8_lossy(&said.stdout).into_owned();
            let told = String::from_utf8_lossy(&said.stderr).into_owned();
            assert_eq!(said.status.code(), Some(3), "{wire} {flags:?}: {words}{told}");
            let last = words.lines().last().unwrap_or_default();
            assert!(last.contains("acted without asking (write)"), "{wire} {flags:?}: {last}");
            assert!(told.contains("acted without asking (write)"), "{wire} {flags:?}: {told}");
            assert!(!world.path().join("second.txt").exists(), "{wire} {flags:?}");
            let looked = say(world.path(), wire, flags, LOOKS);
            let told = String::from_utf8_lossy(&looked.stderr).into_owned();
            assert_eq!(looked.status.code(), Some(0), "{wire} {flags:?}: what only looks is free: {told}");
        }
        let world = tempfile::tempdir().unwrap();
        let free = ACTS.replace("pause 60s", "text \"on\"");
        let said = say(world.path(), wire, &[], &free);
        assert_eq!(
            said.status.code(),
            Some(0),
            "{wire} without a flag: {}",
            String::from_utf8_lossy(&said.stderr)
        );
        assert!(world.path().join("second.txt").exists(), "{wire}");
    }
}

/// A codelia runtime that asks with a plain confirm that no tool call announced, and does it where it is told yes.
const ASKS_PLAINLY: &str = r#"
say() { printf '%s\n' "$1"; }
status() { say "{\"jsonrpc\":\"2.0\",\"method\":\"run.status\",\"params\":{\"run_id\":\"r1\",\"status\":\"$1\"}}"; }
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*) say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocol_version\":\"0\",\"server\":{\"name\":\"x\",\"version\":\"1\"},\"server_capabilities\":{\"supports_run_cancel\":true,\"supports_ui_requests\":true}}}";;
    *'"method":"run.start"'*)
        say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"run_id\":\"r1\",\"session_id\":\"s1\"}}"
        status running
        say '{"jsonrpc":"2.0","id":"c1","method":"ui.confirm.request","params":{"run_id":"r1","title":"Drop the table?","message":"all of it","danger_level":"danger","allow_remember":true,"allow_reason":true,"confirm_label":"Drop it"}}'
        while read -r line; do case "$line" in *'"c1"'*) break;; esac; done
        printf '%s\n' "$line" > answer
        say '{"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":0,"event":{"type":"final","content":"well"}}}'
        status completed;;
    *'"method"'*) if [ -n "$id" ]; then say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}"; fi;;
    esac
done
"#;

#[test]
fn read_only_says_no_to_a_question_that_no_tool_call_announced() {
    let world = tempfile::tempdir().unwrap();
    std::fs::write(world.path().join("asks.sh"), ASKS_PLAINLY).unwrap();
    let attach = ["attach", "--dialect", "codelia", "--policy", "read-only", "--prompt", "go"];
    let said = output(world.path(), &[&attach[..], &["--", "sh", "asks.sh"]].concat());
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(3), "{told}");
    assert!(told.contains("denied: Drop the table? (read-only)"), "{told}");
    let answer = std::fs::read_to_string(world.path().join("answer")).unwrap();
    assert!(answer.contains(r#""ok":false"#), "{answer}");
}
