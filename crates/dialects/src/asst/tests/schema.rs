//! The schema names every message, and what is sent has the keys that it requires.

use super::{prompt, ready, runtime};
use crate::asst::schema;
use domain::command::Receipt;
use domain::event::{Failure, Outcome};
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
    let mut lines = runtime().sent();
    let mut bench = ready();
    prompt(&mut bench, "m1");
    let (step, message) = bench.step();
    bench.delta(message, "Hello");
    for (outcome, text) in [(ToolOutcome::Done, "x"), (ToolOutcome::Denied, "no")] {
        let tool = bench.propose(message, "ls", "{}");
        bench.run_tool(tool, outcome, ToolResult::text(text));
    }
    bench.end_step(step, Default::default());
    bench.end(Outcome::Done);
    prompt(&mut bench, "m2");
    bench.end(Outcome::Failed(Failure::new("x", "y")));
    bench.asked(r#"{"id":"s","kind":"get_status"}"#, Ok(Receipt::Stats(Stats::default())));
    lines.append(&mut bench.sent());
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
