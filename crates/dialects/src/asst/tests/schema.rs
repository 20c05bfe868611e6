//! The schema names every message, and what is sent has the keys that it requires.

use super::stage::Stage;
use crate::asst::schema;
use domain::command::Receipt;
use domain::event::{Cause, Failure, Outcome};
use domain::session::Stats;
use domain::tool::{ToolOutcome, ToolResult};
use serde_json::Value;

fn assert_fits(schema: &Value, line: &Value) {
    let kind = line["type"].as_str().unwrap();
    let shape =
        schema["$defs"].get(format!("response.{kind}")).unwrap_or_else(|| panic!("{kind} is unknown"));
    let requires = |shape: &Value, value: &Value| {
        for key in shape["required"].as_array().into_iter().flatten() {
            assert!(value.get(key.as_str().unwrap()).is_some(), "{kind} lacks {key}: {value}");
        }
    };
    requires(shape, line);
    if let Some(data) = line.get("data") {
        requires(&shape["properties"]["data"], data);
    }
}

#[test]
fn what_is_sent_has_the_keys_that_are_required() {
    let schema = schema();
    let mut stage = Stage::new();
    let mut lines = std::mem::take(&mut stage.sent);
    stage = Stage::ready();
    let run = stage.prompt("m1");
    let turn = stage.turn(run, Cause::Prompt);
    let (step, message) = stage.step(turn);
    stage.delta(message, "Hello");
    stage.tool(message, "ls", ToolOutcome::Done, ToolResult::text("x"));
    stage.tool(message, "ls", ToolOutcome::Denied, ToolResult::text("no"));
    stage.end_step(step, message);
    stage.end(Outcome::Done);
    stage.prompt("m2");
    stage.end(Outcome::Failed(Failure::new("x", "y")));
    stage.say(r#"{"id":"s","kind":"get_status"}"#);
    let ticket = stage.wanted.last().unwrap().0;
    stage.settle(ticket, Ok(Receipt::Stats(Stats::default())));
    lines.append(&mut stage.sent);
    let mut kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["done", "error", "ready", "status", "token", "tool_result", "tool_use"]);
    for line in &lines {
        assert_fits(&schema, line);
    }
    for kind in ["user_message", "clear_history", "get_status"] {
        assert!(schema["$defs"].get(format!("request.{kind}")).is_some());
    }
}
