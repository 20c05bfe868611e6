//! What a person types into a question for a secret, and whoever reads the log of the wire afterwards.

use crate::hostile::bench::{as_each_user, wait_until};
use serde_json::json;
use std::fs;
use std::io::Read;
use std::process::Stdio;

#[test]
fn a_secret_is_not_in_the_log_of_the_wire() {
    const SECRET: &str = "hunter2-of-tonight";
    as_each_user(|world| {
        let mut serving = world.serve_with(&["--log-wire"]);
        let mut ui = world.ui(&serving.socket);
        ui.begin("ask", &json!({"kind": "text", "title": "Password?", "secret": true}));
        ui.answer(&json!({"entered": SECRET}));
        let ran = ui.end(true);
        assert_eq!(ran.outcome, "done", "{ran:?}");
        serving.child.kill().unwrap();
        let mut log = String::new();
        serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("RECV") && log.contains("Password?"), "{log}");
        assert!(!log.contains(SECRET), "{log}");
    });
}

#[test]
fn a_line_that_cannot_be_read_is_told_of_without_what_it_says() {
    const SECRET: &str = "hunter2-of-tonight";
    as_each_user(|world| {
        let mut serving = world.serve(&[]);
        let mut ui = world.ui(&serving.socket);
        ui.begin("ask", &json!({"kind": "text", "title": "Password?", "secret": true}));
        let ask = ui.asked()["id"].clone();
        // A UI that has the form of an answer wrong, in every way that is told in other words.
        for wrong in [json!({"text": SECRET}), json!(SECRET), json!({SECRET: 1}), json!({"allow": SECRET})] {
            ui.command(json!({"answer": {"ask": ask, "answer": wrong}}));
        }
        ui.command(json!({"answer": {"ask": ask, "answer": {"entered": SECRET}}}));
        let ran = ui.end(true);
        assert_eq!(ran.outcome, "done", "{ran:?}");
        serving.child.kill().unwrap();
        let mut log = String::new();
        serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("drift at line: it cannot be read ("), "{log}");
        assert!(!log.contains(SECRET), "{log}");
    });
}

/// What the kernel says of a process: how large a picture of its memory may be, now and at most.
fn core_limit(pid: u32) -> Option<String> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max core file size"))?;
    Some(line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_crash_leaves_no_picture_of_our_memory() {
    as_each_user(|world| {
        let parlor = world.parlor(&[]);
        let mut command = world.program("sh");
        // As large as it may be, whatever the machine says.
        command.args(["-c", "ulimit -c $(ulimit -H -c) && exec \"$0\" \"$@\""]).arg(parlor.get_program());
        command.args(["--model", "offline", "serve", "--dialect", "native", "--stdio"]);
        let mut serving = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let pid = serving.id();
        wait_until("no picture is made", || core_limit(pid).as_deref() == Some("0 0"));
        drop(serving.stdin.take());
        assert!(serving.wait().unwrap().success());
    });
}

#[test]
fn kept_keys_are_closed_to_commands_and_to_tools() {
    const KEY: &str = "hunter2-of-tonight";
    as_each_user(|world| {
        let keys = json!({"version": 1, "keys": {"openai": {"key": KEY, "address": "http://127.0.0.1:1"}}});
        world.put("data/keys.json", keys.to_string());
        let file = world.path("data/keys.json").display().to_string();
        let held = |wish: &str, allow: &str| {
            let output = world
                .parlor(&["--policy", "full", "run", "--allow", allow, "--json", wish])
                .output()
                .unwrap();
            let said = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(!said.contains(KEY), "{wish}: {said}");
            said
        };
        let said = held(&format!("run `cat {file}; echo it-ran-$?`"), "bash");
        assert!(said.contains("it-ran-1"), "{said}");
        held(&format!("run `cp -r {} . ; cat data/* ; echo it-ran`", world.path("data").display()), "bash");
        held(&format!("read {file}"), "read");
    });
}
