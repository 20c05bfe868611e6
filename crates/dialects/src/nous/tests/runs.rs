//! Runs as a subscriber hears them, on every path.

use super::stage::{COMMANDS, EVENTS, Stage};
use domain::command::Receipt;
use domain::event::{Body, Cause, Failure, Finish, MessageEvent, Outcome, QueueEvent, RunEvent, ToolEvent};
use domain::ids::{QueuedId, RunId};
use domain::queue::QueueKind;
use domain::session::{RunSummary, Stats};
use domain::tool::{Progress, ToolOutcome};
use expect_test::expect;
use serde_json::{Value, json};

/// One line per event: type and what it carries, run and turn left out.
fn short(events: &[Value]) -> String {
    let lines = events.iter().map(|event| {
        let mut payload = event["payload"].as_object().unwrap().clone();
        let run = payload.remove("run_id").unwrap_or_default();
        let turn = payload.remove("turn_id").map_or(String::new(), |turn| format!(" {turn}"));
        format!(
            "{} {}{turn} {}\n",
            event["type"].as_str().unwrap(),
            run.as_str().unwrap_or("-"),
            Value::Object(payload)
        )
    });
    lines.collect()
}

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
fn a_plain_run() {
    let mut stage = Stage::ready();
    let (run, answer) = stage.prompt();
    assert_eq!(answer["type"], "accepted");
    assert_eq!(
        answer["payload"],
        json!({ "command": "prompt", "run_id": "run-1", "session_id": "sess-0001" })
    );
    stage.talk(run, "hi there");
    let heard = stage.heard();
    expect![[r#"
        agent_start run-1 {}
        turn_start run-1 "1" {}
        message_start run-1 "1" {"message_id":"user-1","role":"user"}
        message_end run-1 "1" {"message_id":"user-1"}
        message_start run-1 "1" {"message_id":"assistant-2","role":"assistant"}
        message_update run-1 "1" {"delta":"hi there","message_id":"assistant-2"}
        status run-1 "1" {"message":"provider_usage: input=11 output=7 total=18"}
        message_end run-1 "1" {"message_id":"assistant-2"}
        turn_end run-1 "1" {}
        agent_end run-1 {}
    "#]]
    .assert_eq(&short(&heard));
    assert_balanced(&heard);
    assert_eq!(heard[0]["id"], "evt-1");
    assert_eq!(heard[0]["v"], "1");
    assert_eq!(heard[0]["ts"], "2026-11-15T00:16:09.000Z");
    let (_, answer) = stage.prompt();
    assert_eq!(answer["payload"]["run_id"], "run-2");
    assert_eq!(answer["payload"]["leaf_id"], format!("msg-{}", stage.leaf().0));
}

#[test]
fn tools_stand_inside_the_one_message_of_a_turn() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    let (step, message) = stage.step(turn);
    stage.delta(message, "Looking.");
    let (read, bash) = (stage.propose(message, "read"), stage.propose(message, "bash"));
    let write = stage.propose(message, "write");
    stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    stage.run_tool(read);
    stage.end_tool(read, ToolOutcome::Done, "alpha");
    stage.run_tool(bash);
    stage.happen(Body::Tool(ToolEvent::Progress { tool: bash, progress: Progress::Output("out\n".into()) }));
    stage.end_tool(bash, ToolOutcome::Failed, "exit 1");
    stage.end_tool(write, ToolOutcome::Skipped, "Skipped due to queued user message.");
    stage.happen(Body::Run(RunEvent::StepEnded { step, usage: Default::default() }));
    let (step, message) = stage.step(turn);
    stage.delta(message, "Done.");
    stage.end_step(step, message);
    stage.end(Outcome::Done);
    let heard = stage.heard();
    assert_balanced(&heard);
    expect![[r#"
        message_start run-1 "1" {"message_id":"assistant-2","role":"assistant"}
        message_update run-1 "1" {"delta":"Looking.","message_id":"assistant-2"}
        tool_execution_start run-1 "1" {"tool_call_id":"tool-6","tool_name":"read"}
        tool_execution_update run-1 "1" {"delta":"alpha","tool_call_id":"tool-6","tool_name":"read"}
        tool_execution_end run-1 "1" {"tool_call_id":"tool-6","tool_name":"read"}
        tool_execution_start run-1 "1" {"tool_call_id":"tool-7","tool_name":"bash"}
        tool_execution_update run-1 "1" {"delta":"out\n","tool_call_id":"tool-7","tool_name":"bash"}
        warning run-1 "1" {"code":"tool_execution_error","message":"exit 1","tool_call_id":"tool-7"}
        tool_execution_update run-1 "1" {"delta":"tool_error: exit 1","tool_call_id":"tool-7","tool_name":"bash"}
        tool_execution_end run-1 "1" {"tool_call_id":"tool-7","tool_name":"bash"}
        tool_execution_start run-1 "1" {"tool_call_id":"tool-8","tool_name":"write"}
        warning run-1 "1" {"code":"tool_execution_skipped","message":"Skipped due to queued user message.","tool_call_id":"tool-8"}
        tool_execution_update run-1 "1" {"delta":"tool_error: Skipped due to queued user message.","tool_call_id":"tool-8","tool_name":"write"}
        tool_execution_end run-1 "1" {"tool_call_id":"tool-8","tool_name":"write"}
        status run-1 "1" {"message":"provider_stop_reason: tool_use"}
        status run-1 "1" {"message":"await_next: continue_with_tool_results"}
        message_update run-1 "1" {"delta":"\n\nDone.","message_id":"assistant-2"}
        status run-1 "1" {"message":"provider_usage: input=11 output=7 total=18"}
        message_end run-1 "1" {"message_id":"assistant-2"}
    "#]]
    .assert_eq(&short(&heard[4..heard.len() - 2]));
}

#[test]
fn one_run_has_several_turns_and_the_state_counts_what_waits() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    let (step, message) = stage.step(turn);
    let item = QueuedId::mint(&stage.ids);
    let input = domain::content::Input::text("focus");
    stage.happen(Body::Queue(QueueEvent::Added { item, kind: QueueKind::Steer, input, by: None }));
    let state = stage.ask("get_state", json!({})).unwrap();
    assert_eq!(state["payload"]["pending_counts"], json!({ "steer": 1, "follow_up": 0 }));
    assert_eq!(state["payload"]["run_id"], "run-1");
    stage.end_step(step, message);
    stage.happen(Body::Run(RunEvent::TurnEnded { turn }));
    stage.happen(Body::Queue(QueueEvent::Left { item, leaving: domain::event::Leaving::Taken }));
    let turn = stage.turn(run, Cause::Steer, "focus");
    let (step, message) = stage.step(turn);
    stage.delta(message, "ok");
    stage.end_step(step, message);
    stage.end(Outcome::Done);
    let heard = stage.heard();
    assert_balanced(&heard);
    assert_eq!(heard.iter().filter(|event| event["type"] == "turn_start").count(), 2);
    assert_eq!(heard.iter().filter(|event| event["type"] == "agent_start").count(), 1);
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
        let mut stage = Stage::ready();
        let (run, _) = stage.prompt();
        let turn = stage.start(run);
        let (_, message) = stage.step(turn);
        stage.delta(message, "half a");
        let tool = stage.propose(message, "bash");
        stage.run_tool(tool);
        stage.end(outcome.clone());
        let heard = stage.heard();
        assert_balanced(&heard);
        assert!(heard.iter().any(|e| e["type"] == kind && e["payload"]["code"] == code), "{outcome:?}");
        assert_eq!(heard.last().unwrap()["type"], "agent_end");
        let state = stage.ask("get_state", json!({})).unwrap();
        assert_eq!(state["payload"]["run_state"], "idle");
    }
}

#[test]
fn an_abort_is_told_before_the_turn_ends() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    stage.step(turn);
    stage.ask("abort", json!({}));
    stage.settle(Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    stage.heard();
    stage.end(Outcome::Cancelled);
    assert_eq!(stage.types(), ["warning", "message_end", "turn_end", "agent_end"]);
}

#[test]
fn a_waiting_prompt_is_answered_after_its_run() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("prompt", json!({ "text": "sync" })), None);
    let run = RunId::mint(&stage.ids);
    let session = stage.session.clone();
    assert_eq!(stage.settle(Ok(Receipt::Started { session, run })), None);
    stage.say_on(COMMANDS, r#"{"v":"1","id":"next","type":"ping"}"#);
    assert!(stage.answers().is_empty());
    stage.talk(run, "all of it");
    let answers = stage.answers();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["type"], "result");
    assert_eq!(answers[0]["payload"]["output"], "all of it");
    assert_eq!(answers[0]["payload"]["session_id"], "sess-0001");
    let events = answers[0]["payload"]["events"].as_array().unwrap();
    assert_eq!(events[0]["type"], "agent_start");
    assert_eq!(
        events[1],
        json!({ "type": "turn_start", "run_id": "run-1", "turn": 1, "ts": events[1]["ts"] })
    );
    assert_eq!(events.last().unwrap()["type"], "agent_end");
    assert_eq!(answers[1]["id"], "next");
    assert_eq!(stage.types().len(), 10, "subscribers hear it too");
}

#[test]
fn a_waiting_prompt_that_fails_is_an_error_with_its_cause() {
    let mut stage = Stage::ready();
    stage.ask("prompt", json!({ "text": "sync" }));
    let run = RunId::mint(&stage.ids);
    let session = stage.session.clone();
    stage.settle(Ok(Receipt::Started { session, run }));
    stage.start(run);
    stage.end(Outcome::Failed(Failure::new("model_error", "overloaded")));
    let error = stage.answers().pop().unwrap()["error"].clone();
    let expected =
        json!({ "code": "provider_error", "message": "provider request failed", "cause": "overloaded" });
    assert_eq!(error, expected);
}

#[test]
fn messages_and_tree_restore_the_conversation_with_what_is_being_said() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    stage.talk(run, "first");
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    let (_, message) = stage.step(turn);
    stage.delta(message, "half a");
    assert_eq!(stage.ask("get_messages", json!({})), None);
    let answer = stage.settle(Ok(Receipt::Stats(Stats::default()))).unwrap();
    let messages = answer["payload"]["messages"].as_array().unwrap();
    let texts: Vec<_> =
        messages.iter().map(|m| (m["role"].as_str().unwrap(), m["text"].as_str().unwrap())).collect();
    assert_eq!(
        texts,
        [("user", "hello"), ("assistant", "first"), ("user", "hello"), ("assistant", "half a")]
    );
    assert_eq!(messages[0]["type"], "message");
    assert_eq!(messages[0].get("parent_id"), None);
    assert_eq!(messages[1]["parent_id"], messages[0]["id"]);
    assert_eq!(messages[1]["run_id"], "run-1");
    assert_eq!(messages[1]["turn_kind"], "prompt");
    assert_eq!(messages[3]["partial"], true);
    assert_eq!(answer["payload"]["leaf_id"], messages[3]["id"]);
    assert_eq!(stage.ask("get_messages", json!({ "leaf_id": messages[1]["id"] })), None);
    let answer = stage.settle(Ok(Receipt::Stats(Stats::default()))).unwrap();
    assert_eq!(answer["payload"]["messages"].as_array().unwrap().len(), 2);
    assert_eq!(stage.ask("get_tree", json!({})), None);
    let tree = stage.settle(Ok(Receipt::Stats(Stats::default()))).unwrap();
    let nodes = tree["payload"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 4);
    assert_eq!(
        nodes[0],
        json!({ "id": messages[0]["id"], "parent_id": "", "role": "user", "snippet": "hello" })
    );
}

#[test]
fn a_session_that_runs_already_is_taken_up_from_its_beginning() {
    let mut stage = Stage::new();
    stage.lane(EVENTS, true);
    let run = RunId::mint(&stage.ids);
    // Nobody is attached yet: the hub tells this role nothing of what happens here.
    let mut before = Stage::new();
    std::mem::swap(&mut stage.role, &mut before.role);
    let turn = stage.start(run);
    let (step, message) = stage.step(turn);
    stage.delta(message, "half");
    std::mem::swap(&mut stage.role, &mut before.role);
    stage.sent.clear();
    stage.attach();
    stage.delta(message, " more");
    stage.end_step(step, message);
    stage.end(Outcome::Done);
    let heard = stage.heard();
    assert_balanced(&heard);
    let text: String = heard.iter().filter_map(|event| event["payload"]["delta"].as_str()).collect();
    assert_eq!(text, "half more");
}
