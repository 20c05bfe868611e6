//! The tables: what was frozen is there, and contract tests find it where they look.

use crate::tables::COMMANDS;
use serde_json::{Value, json};

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
    let schema: Value = serde_json::from_str(include_str!("../schema.json")).unwrap();
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
