//! The tables hold: every row is there, every line that the role sends has the keys that they require.

use super::Core;
use crate::nous::schema;
use crate::nous::tables::{COMMANDS, EVENTS, Key};
use domain::command::Receipt;
use domain::event::Outcome;
use domain::session::Stats;
use domain::tool::ToolOutcome;
use serde_json::{Value, json};

fn assert_keys(of: &str, payload: &Value, required: &[Key], optional: &[Key]) {
    for (key, kind) in required {
        let value = payload.get(key).unwrap_or_else(|| panic!("{of} lacks {key}: {payload}"));
        assert_type(of, key, kind, value);
    }
    for (key, kind) in optional {
        if let Some(value) = payload.get(key) {
            assert_type(of, key, kind, value);
        }
    }
}

fn assert_type(of: &str, key: &str, kind: &str, value: &Value) {
    let fits = match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other}"),
    };
    assert!(fits, "{of}.{key} should be a {kind}: {value}");
}

#[test]
fn the_frozen_commands_are_there() {
    let frozen: Vec<_> = COMMANDS.iter().filter(|row| row.frozen).map(|row| row.name).collect();
    assert_eq!(
        frozen,
        [
            "prompt",
            "steer",
            "follow_up",
            "abort",
            "get_state",
            "get_messages",
            "new_session",
            "switch_session",
            "branch_session",
            "set_active_tools",
            "set_steering_mode",
            "set_follow_up_mode",
            "extension_command",
            "ping"
        ]
    );
    let schema = schema();
    assert_eq!(schema["commands"]["prompt"]["payload"]["required"], json!(["text"]));
    assert_eq!(
        schema["commands"]["prompt"]["responses"]["accepted"]["required"],
        json!(["command", "run_id"])
    );
    let state = &schema["commands"]["get_state"]["responses"]["state"]["required"];
    let keys = ["run_state", "run_id", "session_id", "steering_mode", "follow_up_mode", "pending_counts"];
    assert_eq!(*state, json!(keys));
    assert_eq!(schema["events"].as_object().unwrap().len(), 13);
    assert!(schema["$defs"].as_object().unwrap().len() > 40);
}

#[test]
fn what_is_sent_has_the_keys_that_are_required() {
    let mut stage = Core::ready();
    let (run, answer) = stage.prompt(false);
    let answer = answer.unwrap();
    let row = |name: &str| COMMANDS.iter().find(|row| row.name == name).unwrap();
    assert_keys(
        "accepted",
        &answer["payload"],
        row("prompt").answers[0].required,
        row("prompt").answers[0].optional,
    );
    stage.start(run, "hello");
    let (step, message) = stage.step();
    stage.delta(message, "text");
    let tool = stage.propose(message, "bash", "{}");
    stage.start_tool(tool);
    stage.end_tool(tool, ToolOutcome::Failed, domain::tool::ToolResult::text("exit 1"));
    stage.end_step(step, Default::default());
    stage.end(Outcome::Lost);
    for event in stage.heard() {
        let name = event["type"].as_str().unwrap();
        let row = EVENTS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row for {name}"));
        assert_keys(name, &event["payload"], row.required, row.optional);
        for key in ["v", "id", "type", "payload", "ts"] {
            assert!(event.get(key).is_some(), "{name} lacks {key}");
        }
    }
    for (name, receipt) in [
        ("get_messages", Some(Receipt::Stats(Stats::default()))),
        ("get_tree", Some(Receipt::Stats(Stats::default()))),
        ("get_state", None),
        ("ping", None),
    ] {
        let at_once = stage.ask(name, json!({}));
        let answer = match receipt {
            Some(receipt) => stage.settle_last(Ok(receipt)).unwrap(),
            None => at_once.unwrap(),
        };
        let row = row(name).answers[0];
        assert_eq!(answer["type"], row.kind);
        assert_keys(name, &answer["payload"], row.required, row.optional);
    }
}
