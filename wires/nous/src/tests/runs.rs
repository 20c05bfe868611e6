//! Runs as a subscriber hears them, on every path.

use super::{Core, EVENTS};
use domain::event::{Body, Failure, Outcome, ToolEvent};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use serde_json::{Value, json};

/// Every start has its end, children first, on every path.
fn assert_balanced(events: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let id = |key: &str| event["payload"][key].as_str().unwrap_or_default().to_owned();
        let name = match kind {
            "agent_start" | "agent_end" => id("run_id"),
            "turn_start" | "turn_end" => format!("turn {}", id("turn_id")),
            "message_start" | "message_end" | "message_update" => id("message_id"),
            "tool_execution_start" | "tool_execution_end" | "tool_execution_update" => id("tool_call_id"),
            _ => continue,
        };
        if kind.ends_with("_start") {
            assert!(!open.contains(&name), "{name} twice");
            open.push(name);
        } else if kind.ends_with("_end") {
            let at =
                open.iter().position(|other| *other == name).unwrap_or_else(|| panic!("{name} never began"));
            open.remove(at);
        } else {
            assert!(open.contains(&name), "{name} is not open");
        }
    }
    assert!(open.is_empty(), "{open:?} stayed open");
}

#[test]
fn every_ending_is_balanced_and_says_why() {
    let failed = Outcome::Failed(Failure::new("model_error", "overloaded").hint("try later"));
    for (outcome, kind, code) in [
        (failed, "error", "provider_error"),
        (Outcome::Cancelled, "warning", "provider_aborted"),
        (Outcome::Interrupted, "error", "provider_error"),
        (Outcome::Lost, "error", "provider_error"),
    ] {
        let mut core = Core::ready();
        let (run, _) = core.prompt(false);
        core.start(run, "hello");
        let (_, message) = core.step();
        core.delta(message, "half a");
        let tool = core.propose(message, "bash", "{}");
        core.start_tool(tool);
        core.end(outcome.clone());
        let heard = core.heard();
        assert_balanced(&heard);
        assert!(heard.iter().any(|e| e["type"] == kind && e["payload"]["code"] == code), "{outcome:?}");
        assert_eq!(heard.last().unwrap()["type"], "agent_end");
        let state = core.ask("get_state", json!({})).unwrap();
        assert_eq!(state["payload"]["run_state"], "idle");
    }
}

#[test]
fn output_of_a_tool_comes_before_its_failure() {
    let mut core = Core::ready();
    let (run, _) = core.prompt(false);
    core.start(run, "hello");
    let (_, message) = core.step();
    let tool = core.propose(message, "bash", "{}");
    core.start_tool(tool);
    core.happen(Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output("out\n".into()) }));
    core.end_tool(tool, ToolOutcome::Failed, ToolResult::text("exit 1"));
    core.end(Outcome::Done);
    let heard = core.heard();
    assert_balanced(&heard);
    assert!(heard.iter().zip(1..).all(|(event, number)| event["id"] == format!("evt-{number}")), "{heard:?}");
    assert_eq!(heard[0]["ts"], "2024-10-27T03:33:20.000Z");
    let said: Vec<_> = heard.iter().filter(|event| event["payload"]["tool_call_id"] == "tool-6").collect();
    let deltas: Vec<_> = said.iter().filter_map(|event| event["payload"]["delta"].as_str()).collect();
    assert_eq!(deltas, ["out\n", "tool_error: exit 1"]);
    let failed = &said[2]["payload"];
    assert_eq!((&failed["code"], &failed["message"]), (&json!("tool_execution_error"), &json!("exit 1")));
}

#[test]
fn who_waits_is_answered_with_all_events_and_others_after_it() {
    let mut core = Core::ready();
    let (run, early) = core.prompt(true);
    assert_eq!(early, None);
    core.say_on(super::COMMANDS, r#"{"v":"1","id":"next","type":"ping"}"#);
    assert!(core.answers().is_empty());
    core.start(run, "hello");
    core.talk("all of it");
    core.end(Outcome::Done);
    let answers = core.answers();
    assert_eq!((&answers[0]["type"], &answers[1]["id"]), (&json!("result"), &json!("next")));
    let events = answers[0]["payload"]["events"].as_array().unwrap();
    let turn = json!({ "type": "turn_start", "run_id": "run-1", "turn": 1, "ts": events[1]["ts"] });
    assert_eq!((&events[0]["type"], &events[1]), (&json!("agent_start"), &turn));
    assert_eq!(events.last().unwrap()["type"], "agent_end");
    assert_eq!(core.types().len(), 10, "subscribers hear it too");
}

#[test]
fn a_session_that_runs_already_is_taken_up_from_its_beginning() {
    let mut core = Core::new();
    core.lane(EVENTS, true);
    // Nobody is attached yet: the hub tells this role nothing of what happens here.
    let mut before = Core::new();
    std::mem::swap(&mut core.role, &mut before.role);
    core.begin("hello");
    let (step, message) = core.step();
    core.delta(message, "half");
    std::mem::swap(&mut core.role, &mut before.role);
    core.forget();
    core.attach();
    core.delta(message, " more");
    core.end_step(step, Default::default());
    core.end(Outcome::Done);
    let heard = core.heard();
    assert_balanced(&heard);
    let text: String = heard.iter().filter_map(|event| event["payload"]["delta"].as_str()).collect();
    assert_eq!(text, "half more");
}

#[test]
fn a_stopped_tool_is_an_error_an_inactive_one_has_its_code_and_only_what_never_ran_is_skipped() {
    let inactive = format!("{}: ls. There are: read.", domain::tool::NOT_ACTIVE);
    for (outcome, starts, text, code) in [
        (ToolOutcome::Cancelled, true, "stopped", "tool_execution_error"),
        (ToolOutcome::Cancelled, false, "not run", "tool_execution_skipped"),
        (ToolOutcome::Skipped, false, "not run", "tool_execution_skipped"),
        (ToolOutcome::Failed, false, inactive.as_str(), "tool_not_active"),
        (ToolOutcome::Failed, true, "broke", "tool_execution_error"),
    ] {
        let mut core = Core::ready();
        core.begin("go");
        let (_, message) = core.step();
        let tool = core.propose(message, "ls", "{}");
        if starts {
            core.start_tool(tool);
        }
        core.heard();
        core.end_tool(tool, outcome.clone(), ToolResult::text(text));
        let heard = core.heard();
        let warning = heard.iter().find(|event| event["type"] == "warning").unwrap();
        assert_eq!(warning["payload"]["code"], code, "{outcome:?} {starts}");
    }
}

#[test]
fn a_blank_prompt_is_an_error_of_the_session_and_none_at_all_one_of_the_payload() {
    let mut core = Core::ready();
    let blank = core.ask("prompt", json!({ "text": "   " })).unwrap();
    assert_eq!(blank["error"]["code"], "session_error");
    let none = core.ask("prompt", json!({})).unwrap();
    assert_eq!(none["error"]["code"], "invalid_payload");
}
