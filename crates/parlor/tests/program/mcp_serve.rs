//! Parlor as an MCP server: what another agent can do with its sessions, and what it cannot.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use testkit::in_world;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// Another agent, as the client.
struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Agent {
    /// `before` stands in front of the program, such as a guard.
    fn start(world: &Path, before: &[&str], flags: &[&str]) -> Agent {
        let serve = [&["mcp", "serve", "--model", "offline"][..], flags].concat();
        let args = if before.is_empty() { serve } else { [before, &[PARLOR], &serve[..]].concat() };
        let mut command = in_world(PARLOR, world, &args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut agent = Agent { input: child.stdin.take(), child, output, next: 0 };
        let hello = agent.ask("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
        assert_eq!(hello["result"]["serverInfo"]["name"], "parlor", "{hello}");
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(
                self.output.read_line(&mut line).unwrap(),
                0,
                "it ended before the answer to {method}"
            );
            let value: Value = serde_json::from_str(&line).unwrap();
            if value["id"] == id {
                return value;
            }
        }
    }

    /// What a tool gave, or the words of why not.
    fn call(&mut self, name: &str, arguments: Value) -> Result<Value, String> {
        let answer = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let result = &answer["result"];
        match result["isError"].as_bool() {
            Some(false) => Ok(result["structuredContent"].clone()),
            _ => Err(format!(
                "{}{}",
                result["content"][0]["text"].as_str().unwrap_or_default(),
                answer["error"]["message"]
            )),
        }
    }

    /// Says something in a new session, and waits until it is over.
    fn run(&mut self, prompt: &str) -> Value {
        let begun = self.call("begin", json!({ "prompt": prompt })).unwrap();
        loop {
            let told = self.call("wait", json!({"session": begun["session"], "seconds": 30})).unwrap();
            if told["state"] != "at_work" {
                return told;
            }
        }
    }

    fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn another_agent_begins_speaks_waits_and_reads() {
    let world = tempfile::tempdir().unwrap();
    std::fs::write(world.path().join("seen.txt"), "hello").unwrap();
    let mut agent = Agent::start(world.path(), &[], &[]);
    let told = agent.run("list files");
    assert_eq!(told["state"], "done", "{told}");
    let session = told["session"].clone();
    let read = agent.call("read", json!({ "session": session })).unwrap();
    assert_eq!(read["entries"][0]["who"], "person", "{read}");
    assert!(read.to_string().contains("seen.txt") || told.to_string().contains("seen.txt"), "{read} {told}");
    assert!(agent.call("say", json!({"session": session, "text": "list files"})).is_ok());
    let told = agent.call("wait", json!({ "session": session })).unwrap();
    assert_eq!(told["state"], "done", "{told}");
    let later = agent
        .call("read", json!({"session": session, "from": read["entries"].as_array().unwrap().len()}))
        .unwrap();
    assert_eq!(later["entries"][0]["text"], "list files", "{later}");
    assert_eq!(agent.leave(), Some(0));
}

#[test]
fn the_mode_is_the_persons_and_no_word_of_a_client_widens_it() {
    for (settings, written) in
        [(None, false), (Some("policy = \"auto-edit\"\n"), true), (Some("policy = \"read-only\"\n"), false)]
    {
        let world = tempfile::tempdir().unwrap();
        if let Some(settings) = settings {
            std::fs::create_dir(world.path().join("config")).unwrap();
            std::fs::write(world.path().join("config/config.toml"), settings).unwrap();
        }
        let mut agent = Agent::start(world.path(), &[], &[]);
        for (name, arguments, why) in [
            ("begin", json!({"prompt": "x", "policy": "full"}), "has no argument"),
            ("begin", json!({"prompt": "x", "cwd": "/"}), "has no argument"),
            ("answer", json!({"session": "x", "answer": "yes"}), "no tool"),
            ("say", json!({"session": "somebody-elses", "text": "x"}), "begun here"),
            ("read", json!({"session": "../../x"}), "begun here"),
            ("say", json!({"session": 7, "text": "x"}), "is a text"),
        ] {
            let refused = agent.call(name, arguments).unwrap_err();
            assert!(refused.contains(why), "{name}: {refused}");
        }
        let told = agent.run("write note.txt: hi");
        assert_ne!(told["state"], "asks_its_person", "nobody of the person's is there: {told}");
        assert_eq!(world.path().join("note.txt").exists(), written, "{settings:?}: {told}");
        agent.leave();
    }
}

/// What a command of our own agent starts is held by what holds the command, and looks only, whatever it says.
#[test]
fn what_an_agents_command_starts_only_looks_whatever_mode_it_names() {
    let world = tempfile::tempdir().unwrap();
    let own = std::process::id().to_string();
    let guard = ["__guard", "--parent", &own, "--rw", "/", "--net", "--"];
    let mut agent = Agent::start(world.path(), &guard, &["--policy", "full", "--ephemeral"]);
    let told = agent.run("write note.txt: hi");
    assert!(!world.path().join("note.txt").exists(), "{told}");
    agent.leave();
    // The same without a guard, as the person starts it.
    let mut agent = Agent::start(world.path(), &[], &["--policy", "full", "--ephemeral"]);
    let told = agent.run("write note.txt: hi");
    assert!(world.path().join("note.txt").exists(), "{told}");
    agent.leave();
}

#[test]
fn calls_go_on_side_by_side_and_one_that_is_called_off_is_over() {
    let world = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(world.path(), &[], &[]);
    let bad = ["{", "[]", "\u{0}", "{\"id\": {}, \"method\": \"ping\"}"];
    for line in bad {
        writeln!(agent.input.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        agent.output.read_line(&mut answer).unwrap();
        assert!(
            serde_json::from_str::<Value>(&answer).unwrap()["error"]["code"].is_i64(),
            "{line}: {answer}"
        );
    }
    let session = agent.run("list files")["session"].clone();
    assert!(agent.call("wait", json!({"session": session, "seconds": 0})).is_ok());
    assert_eq!(agent.ask("ping", &json!({}))["result"], json!({}));
    agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}));
    assert_eq!(agent.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len(), 4);
    assert_eq!(agent.leave(), Some(0));
}
