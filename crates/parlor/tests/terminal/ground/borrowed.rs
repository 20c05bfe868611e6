//! What a project or a UI of another family brings along, on the built program: its settings grant nothing, its tools run in the UI, and
//! its person's own commands are kept as theirs.

use crate::hostile::bench::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A codelia UI that speaks by hand.
struct Talk {
    runtime: Child,
    say: ChildStdin,
    hear: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn new(world: &World, args: &[&str]) -> Talk {
        let mut command = world.parlor(&[args, &["serve", "--dialect", "codelia", "--stdio"]].concat());
        let mut runtime =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let hear = BufReader::new(runtime.stdout.take().unwrap()).lines();
        let mut talk = Talk { say: runtime.stdin.take().unwrap(), runtime, hear };
        let able = json!({"supports_confirm": true, "supports_prompt": true, "supports_pick": true});
        let client = json!({"name": "t", "version": "0"});
        talk.ask(
            "1",
            "initialize",
            &json!({"protocol_version": "0", "client": client, "ui_capabilities": able}),
        );
        talk.until(|line| line["id"] == "1");
        talk
    }

    fn send(&mut self, line: &Value) {
        writeln!(self.say, "{line}").unwrap();
    }

    fn ask(&mut self, id: &str, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn answer(&mut self, to: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": to["id"], "result": result}));
    }

    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.hear.next().expect("the runtime is gone").unwrap();
            let line: Value = serde_json::from_str(&line).unwrap();
            if wanted(&line) {
                return line;
            }
        }
    }

    fn prompt(&mut self, text: &str, tools: &Value) {
        self.ask("p", "run.start", &json!({"input": {"type": "text", "text": text}, "tools": tools}));
    }

    fn over(&mut self) {
        self.until(|line| line["method"] == "run.status" && line["params"]["status"] == "completed");
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.runtime.kill();
        let _ = self.runtime.wait();
    }
}

#[test]
fn a_projects_own_list_of_what_is_allowed_grants_nothing() {
    let world = World::new(None);
    world.folder("project/.codelia");
    let allow = json!([{"tool": "shell", "command": "touch"}, {"tool": "bash"}, {"tool": "shell"}, {"tool": "write"}]);
    let settings = json!({"version": 1, "permissions": {"allow": allow}, "approvalMode": "full-access"});
    world.put("project/.codelia/config.json", settings.to_string());
    for call in [r#"call bash {"command":"touch granted"}"#, r#"call write {"path":"granted","content":"x"}"#]
    {
        let mut talk = Talk::new(&world, &[]);
        talk.prompt(call, &json!([]));
        let question = talk.until(|line| line["method"] == "ui.confirm.request");
        assert!(!world.path("project/granted").exists());
        talk.answer(&question, &json!({"ok": false, "reason": "no"}));
        talk.over();
        assert!(!world.path("project/granted").exists(), "{call}");
    }
}

#[test]
fn a_tool_of_the_ui_is_performed_by_the_ui() {
    let world = World::new(None);
    let mut talk = Talk::new(&world, &[]);
    let tools = json!([{"name": "show_file", "description": "Shows", "parameters": {"type": "object"}}]);
    talk.prompt(r#"call show_file {"file":"a.txt"}"#, &tools);
    let question = talk.until(|line| line["method"] == "ui.confirm.request");
    talk.answer(&question, &json!({"ok": true}));
    let call = talk.until(|line| line["method"] == "client.tool.call");
    assert_eq!(
        (&call["params"]["name"], &call["params"]["arguments"]["file"]),
        (&json!("show_file"), &json!("a.txt"))
    );
    talk.answer(&call, &json!({"ok": true, "result": "it was shown"}));
    let result = talk.until(|line| line["params"]["event"]["type"] == "tool_result");
    assert_eq!(result["params"]["event"]["result"], "it was shown");
    talk.over();
}

#[test]
fn the_persons_own_command_runs_unasked_but_not_against_the_mode() {
    let world = World::new(None);
    let mut talk = Talk::new(&world, &[]);
    talk.ask("s", "shell.exec", &json!({"command": "echo mine > own; cat own; exit 2"}));
    let ran = talk.until(|line| line["id"] == "s");
    assert_eq!(
        (&ran["result"]["stdout"], &ran["result"]["exit_code"]),
        (&json!("mine\n"), &json!(2)),
        "{ran}"
    );
    assert_eq!(world.get("project/own"), "mine\n");
    let mut talk = Talk::new(&world, &["--policy", "read-only"]);
    talk.ask("s", "shell.exec", &json!({"command": "echo mine > other"}));
    let refused = talk.until(|line| line["id"] == "s");
    assert!(refused["error"]["message"].as_str().unwrap().contains("read-only"), "{refused}");
    assert!(!world.path("project/other").exists());
}
