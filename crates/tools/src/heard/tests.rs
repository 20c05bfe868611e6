//! What a call is taken as. What comes of it in files is in the table of calls (`tests/it/calls.rs`).

use super::*;
use crate::ToolContext;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError};
use serde_json::json;
use std::sync::Arc;

/// A tool of somebody else.
struct Other(&'static str);

impl Tool for Other {
    fn spec(&self) -> Spec {
        Spec { name: self.0.into(), description: "x".into(), schema: json!({}), read_only: true }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan::reading(self.0, args, place, ""))
    }

    fn run(&self, _: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::cancelled() })
    }
}

fn heard(toolbox: &Toolbox, name: &str, args: Value) -> (String, Value) {
    let heard = toolbox.hear(name, CallArgs::Value(args), Path::new("/w"));
    match (heard.said, heard.unclear) {
        (CallArgs::Value(args), None) => (heard.name, args),
        (said, unclear) => (heard.name, json!([format!("{said:?}"), unclear])),
    }
}

#[test]
fn names_of_others_reach_ours_and_their_arguments_too() {
    let toolbox = Toolbox::standard();
    for (name, args, ours, wants) in [
        ("functions.bash", json!({"command": "ls"}), "bash", json!({"command": "ls"})),
        (
            "shell",
            json!({"command": ["bash", "-lc", "ls"], "timeout_ms": 1500}),
            "bash",
            json!({"command": "ls", "timeout": 2}),
        ),
        (
            "Bash",
            json!({"command": "ls", "timeout": 120_000}),
            "bash",
            json!({"command": "ls", "timeout": 120}),
        ),
        (
            "bash",
            json!({"command": "ls", "timeout": 1200}),
            "bash",
            json!({"command": "ls", "timeout": 1200}),
        ),
        (
            "read_file",
            json!({"filePath": "a", "startLine": 3, "endLine": 5}),
            "read",
            json!({"path": "a", "offset": 3, "limit": 3}),
        ),
        (
            "str_replace_based_edit_tool",
            json!({"command": "view", "path": "a", "view_range": [2, -1]}),
            "read",
            json!({"path": "a", "offset": 2}),
        ),
        (
            "Grep",
            json!({"pattern": "x", "output_mode": "files_with_matches", "-i": true, "-A": 2}),
            "grep",
            json!({"pattern": "x", "files_only": true, "ignore_case": true, "context": 2}),
        ),
        ("BashOutput", json!({"bash_id": "job-1"}), "bash_jobs", json!({"id": "job-1", "action": "read"})),
        ("update_plan", json!({"plan": "[{\"step\": \"a\"}]"}), "todo", json!({"items": [{"step": "a"}]})),
        (
            "Write",
            json!({"arguments": {"file_path": "a", "content": "b"}}),
            "write",
            json!({"path": "a", "content": "b"}),
        ),
    ] {
        assert_eq!(heard(&toolbox, name, args.clone()), (ours.to_owned(), wants), "{name} {args}");
    }
}

#[test]
fn a_name_that_another_tool_has_is_that_tools() {
    let mut toolbox = Toolbox::standard();
    for name in ["Read", "fs__run_command", "apply_patch"] {
        toolbox.add_foreign(Arc::new(Other(name)));
    }
    for (name, args) in [
        ("Read", json!({"file_path": "a"})),
        ("run_command", json!({"command": ["ls"]})),
        ("apply_patch", json!({"patch": "x"})),
        ("unknown", json!({"file_path": "a"})),
    ] {
        assert_eq!(heard(&toolbox, name, args.clone()), (name.to_owned(), args), "{name}");
    }
    let line = json!({"command": "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE"});
    assert_eq!(
        heard(&toolbox, "bash", line.clone()),
        ("bash".to_owned(), line),
        "the patches of another tool are its own"
    );
    assert_eq!(heard(&toolbox, "READ_FILE", json!({"path": "a"})).0, "read");
}

#[test]
fn what_is_switched_off_stays_off() {
    let mut toolbox = Toolbox::standard();
    toolbox.activate(&["read", "bash", "edit", "write"].map(str::to_owned));
    assert!(toolbox.reach("apply_patch").is_none(), "who chose tools did not choose this one");
    toolbox.activate(&["read".to_owned(), "bash".to_owned()]);
    let line = json!({"command": "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE"});
    assert_eq!(heard(&toolbox, "bash", line.clone()), ("bash".to_owned(), line));
    assert!(toolbox.reach("apply_patch").is_none() && toolbox.reach("write").is_none());
    assert_eq!(heard(&toolbox, "Write", json!({"path": "a"})).0, "write", "so that it is told to be off");
}

#[test]
fn a_patch_as_a_command_is_the_tool_for_patches_only_where_it_stands() {
    let toolbox = Toolbox::standard();
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    let line = format!("apply_patch <<'E'\n{patch}E");
    let taken = ("apply_patch".to_owned(), json!({ "input": patch }));
    for args in [
        json!({"command": line}),
        json!({"command": line, "workdir": "/w", "unsandboxed": true, "reason": "x"}),
        json!({"command": ["apply_patch", patch]}),
        json!({"command": ["bash", "-lc", line], "workdir": "."}),
    ] {
        assert_eq!(heard(&toolbox, "shell", args.clone()), taken, "{args}");
    }
    for args in [json!({"command": line, "workdir": "sub"}), json!({"command": line, "background": true})] {
        assert_eq!(heard(&toolbox, "bash", args.clone()), ("bash".to_owned(), args));
    }
    let raw = |text: &str| toolbox.hear("apply_patch", CallArgs::Text(text.to_owned()), Path::new("/w"));
    assert_eq!(raw(patch).said, CallArgs::Value(json!({ "input": patch })));
    let cut = patch.trim_end().trim_end_matches("*** End Patch");
    assert_eq!(raw(cut).said, CallArgs::Text(cut.to_owned()), "what was cut off is not whole");
}

#[test]
fn what_has_two_readings_says_what_to_write() {
    let toolbox = Toolbox::standard();
    for (name, args, told) in [
        ("Read", json!({"path": "a", "file_path": "b"}), "say different things"),
        (
            "str_replace_editor",
            json!({"command": "insert", "path": "a", "insert_line": 1}),
            "there is no `insert`",
        ),
        ("str_replace_editor", json!({"path": "a"}), "`command` is view"),
        ("Grep", json!({"pattern": "a", "multiline": true}), "in one line"),
        ("bash", json!({"command": ["ls", 3]}), "one line of text"),
        ("bash", json!({"command": "apply_patch <<E\n+$x\nE"}), "call apply_patch itself"),
        ("WriteFile", json!({"path": "a", "content": "b", "mode": "append"}), "use edit"),
        (
            "search_and_replace",
            json!({"path": "a", "search": "a.", "replace": "b", "use_regex": true}),
            "plain text",
        ),
    ] {
        let heard = toolbox.hear(name, CallArgs::Value(args.clone()), Path::new("/w"));
        let why = heard.unclear.unwrap_or_default();
        assert!(why.contains(told), "{name} {args}: {why:?}");
    }
}

#[test]
fn a_call_of_what_was_found_is_a_call_of_that_tool() {
    let mut toolbox = Toolbox::standard();
    toolbox.add_foreign(Arc::new(Other("mcp__a__b")));
    toolbox.add_foreign(Arc::new(Other("mcp__a__off")));
    let call = json!({"name": "mcp__a__b", "arguments": {"x": 1}});
    assert_eq!(heard(&toolbox, CALL_FOUND, call.clone()).0, CALL_FOUND, "nothing stands apart");
    toolbox.add(Arc::new(Other(CALL_FOUND)));
    toolbox.set_apart(["mcp__a__b".to_owned(), "mcp__a__off".to_owned()]);
    toolbox.activate(&["mcp__a__b".into(), CALL_FOUND.into(), "read".into()]);
    for (args, wants) in [
        (call, json!({"x": 1})),
        (json!({"name": "mcp__a__b"}), json!({})),
        (json!({"name": "mcp__a__b", "arguments": "{\"x\": 2}"}), json!({"x": 2})),
    ] {
        assert_eq!(heard(&toolbox, CALL_FOUND, args), ("mcp__a__b".to_owned(), wants));
    }
    assert_eq!(heard(&toolbox, "mcp__a__b", json!({"x": 3})), ("mcp__a__b".to_owned(), json!({"x": 3})));
    // Neither what is ours, nor what was switched off, nor what is not there.
    for name in ["bash", "mcp__a__off", "mcp__a__c", CALL_FOUND] {
        let (called, why) = heard(&toolbox, CALL_FOUND, json!({"name": name, "arguments": {}}));
        assert_eq!(called, CALL_FOUND, "{name}");
        assert!(why[1].as_str().unwrap().contains("is to be found"), "{why}");
    }
}
