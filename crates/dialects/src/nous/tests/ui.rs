//! The UI role against what a core says.

use super::Client;
use crate::bench::texts;
use domain::command::{Command, QueueCommand, Receipt, RefusalKind, RunCommand, SessionCommand};
use domain::content::{Input, Part, Role};
use domain::event::Cause;
use domain::queue::QueueKind;
use roles::Lane;
use serde_json::json;

#[test]
fn a_leaf_is_named_as_the_core_names_it() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "session_id": "sess-1794" }));
    let said = json!({ "type": "message", "id": "msg-2", "role": "user", "text": "hi", "run_id": "run-1" });
    bench.reply("messages", json!({ "session_id": "sess-1794", "messages": [said] }));
    let leaf = bench.state.leaf;
    let ticket = bench.command(Command::Session(SessionCommand::SetLeaf { leaf }));
    assert_eq!(bench.last()["payload"], json!({ "leaf_id": "msg-2" }));
    bench.reply("leaf", json!({ "session_id": "sess-1794", "leaf_id": "msg-2" }));
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Leaf(leaf))));
}

#[test]
fn a_picture_alone_cannot_be_said() {
    let mut bench = Client::greeted();
    let picture = Part::Image { mime: "image/png".into(), base64: "aa".into() };
    let input = Input { text: String::new(), attachments: vec![picture] };
    bench.command(Command::Run(RunCommand::Prompt { input, options: Default::default() }));
    assert_eq!(bench.refused(), RefusalKind::Invalid);
}

#[test]
fn a_past_that_is_told_while_a_run_is_under_way_does_not_end_it() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "session_id": "sess-1794" }));
    let asked = bench.last();
    assert_eq!(asked["type"], "get_messages");
    bench.prompt("hello");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1", "session_id": "sess-1794" }));
    let open = bench.state.open_run().map(|run| run.id);
    assert!(open.is_some());
    // The answer was made after the prompt had come, so its words are in it.
    let said =
        json!({ "type": "message", "id": "msg-1", "role": "user", "text": "hello", "run_id": "run-1" });
    let payload = json!({ "session_id": "sess-1794", "messages": [said] });
    bench.answer_to(&asked["id"], "messages", payload);
    assert_eq!(bench.state.open_run().map(|run| run.id), open);
}

#[test]
fn steers_come_before_follow_ups_and_keep_their_words() {
    let mut bench = Client::greeted();
    bench.prompt("go");
    bench.reply("accepted", json!({ "command": "prompt", "run_id": "run-1" }));
    for (kind, name, text) in [(QueueKind::FollowUp, "follow_up", "then"), (QueueKind::Steer, "steer", "now")]
    {
        bench.command(Command::Queue(QueueCommand::Add { kind, input: Input::text(text) }));
        assert_eq!(bench.last()["type"], name);
        bench.reply("accepted", json!({ "command": name, "run_id": "run-1" }));
    }
    bench.event("agent_start", json!({ "run_id": "run-1" }));
    for turn in ["1", "2", "3"] {
        bench.event("turn_start", json!({ "run_id": "run-1", "turn_id": turn }));
        let (user, model) = (format!("u{turn}"), format!("a{turn}"));
        bench.event("message_start", json!({ "run_id": "run-1", "message_id": user, "role": "user" }));
        bench.event("message_end", json!({ "run_id": "run-1", "message_id": user }));
        bench.event("message_update", json!({ "run_id": "run-1", "message_id": model, "delta": turn }));
        bench.event("turn_end", json!({ "run_id": "run-1", "turn_id": turn }));
    }
    bench.event("agent_end", json!({ "run_id": "run-1" }));
    assert_eq!(texts(&bench.state, Role::User), ["go", "now", "then"]);
    let causes: Vec<Cause> = bench.state.runs[0].turns.iter().map(|turn| turn.cause).collect();
    assert_eq!(causes, [Cause::Prompt, Cause::Steer, Cause::FollowUp]);
}

#[test]
fn refusals_are_told_in_our_words() {
    for (code, message, kind) in [
        ("command_rejected", "run_in_progress", RefusalKind::Busy),
        ("command_rejected", "no_active_run", RefusalKind::NoRun),
        ("command_rejected", "tool_not_registered: x", RefusalKind::ToolUnknown),
        ("command_rejected", "nothing_to_compact", RefusalKind::NothingToCompact),
        ("session_not_found", "stat", RefusalKind::SessionUnknown),
        ("timeout", "too slow", RefusalKind::TimedOut),
        ("provider_error", "x", RefusalKind::Remote { code: "provider_error".into() }),
    ] {
        let mut bench = Client::greeted();
        bench.prompt("go");
        bench.refuse(code, message);
        assert_eq!(bench.refused(), kind);
    }
}

#[test]
fn nonsense_is_drift_and_nothing_more() {
    let mut bench = Client::greeted();
    for line in [
        "{",
        "[]",
        "{}",
        r#"{"type":"x","ok":true,"id":"parlor-99"}"#,
        r#"{"type":"x","ok":true,"id":"other"}"#,
    ] {
        bench.hear(line);
        bench.hear_on(Lane::EVENTS, line);
    }
    bench.event("brand_new", json!({ "run_id": "run-1" }));
    bench.event("message_update", json!({ "delta": "who?" }));
    assert!(bench.settled.is_empty() && bench.link.closed.is_none());
}

#[test]
fn an_answer_that_cannot_be_read_is_drift() {
    let mut bench = Client::new();
    bench.reply("pong", json!({ "message": "pong" }));
    bench.reply("state", json!({ "run_state": 7 }));
    let told: Vec<&str> = bench.link.drifts.iter().map(|drift| drift.place.as_str()).collect();
    assert_eq!(told, ["state"]);
}
