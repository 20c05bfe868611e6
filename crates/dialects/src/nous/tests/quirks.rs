//! One test per quirk, of the same name.

use super::stage::{COMMANDS, EVENTS, Stage};
use super::ui::Bench;
use crate::nous::quirks::QUIRKS;
use domain::command::{Command, LibraryCommand, Receipt, RefusalKind, RunCommand};
use domain::event::{Body, Outcome, RunEvent};
use domain::ids::RunId;
use domain::session::RunSummary;
use roles::{Lane, RuntimeRole, TimerKey};
use serde_json::json;

#[test]
fn every_quirk_has_a_test() {
    let tests = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
}

#[test]
fn subscribes_after_the_answer() {
    let mut stage = Stage::new();
    stage.attach();
    let (run, _) = stage.prompt();
    stage.talk(run, "quick");
    assert!(stage.heard().is_empty());
    stage.lane(EVENTS, true);
    let types = stage.types();
    assert_eq!((types[0].as_str(), types[types.len() - 1].as_str()), ("agent_start", "agent_end"));
    assert!(stage.timers.is_empty(), "nobody is waited for any more");
    // Beside another subscriber: a run that goes on is told from its beginning.
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    stage.heard();
    stage.lane(Lane(5), true);
    assert_eq!(stage.types(), ["agent_start", "turn_start", "message_start", "message_end"]);
    stage.step(turn);
    stage.call(|role, cx| role.timer(cx, TimerKey(1)));
    stage.heard();
    stage.lane(Lane(7), true);
    assert!(stage.heard().is_empty(), "later only what happens from then on");
}

#[test]
fn a_quick_run_is_kept_beside_a_standing_subscriber() {
    let mut stage = Stage::ready();
    stage.now += 5000;
    let (run, _) = stage.prompt();
    stage.talk(run, "quick");
    assert_eq!(stage.types().last().map(String::as_str), Some("agent_end"));
    stage.lane(Lane(5), true);
    assert_eq!(stage.types().first().map(String::as_str), Some("agent_start"), "told to whoever prompted");
    // That one is done, though its connection may still be there when the next prompt comes.
    let (run, _) = stage.prompt();
    stage.talk(run, "quick too");
    stage.heard();
    stage.lane(Lane(7), true);
    assert_eq!(stage.types().first().map(String::as_str), Some("agent_start"));
    // Who subscribed with the prompt has heard it: a newcomer came for the next run.
    stage.lane(Lane(9), true);
    let (run, _) = stage.prompt();
    stage.talk(run, "heard");
    stage.heard();
    stage.lane(Lane(11), true);
    assert!(stage.heard().is_empty());
}

#[test]
fn finished_runs_stay_past() {
    let mut stage = Stage::new();
    stage.attach();
    let (run, _) = stage.prompt();
    stage.talk(run, "unheard");
    let (run, _) = stage.prompt();
    stage.talk(run, "heard");
    stage.lane(EVENTS, true);
    assert!(stage.heard().iter().all(|event| event["payload"]["run_id"] == "run-2"));
    // It closes at the end of a run and comes again with its next prompt.
    stage.lane(EVENTS, false);
    stage.lane(EVENTS, true);
    let (run, _) = stage.prompt();
    stage.talk(run, "heard by one");
    stage.heard();
    stage.lane(Lane(5), true);
    assert!(stage.heard().is_empty());
    stage.lane(EVENTS, false);
    stage.lane(Lane(5), false);
    let (run, _) = stage.prompt();
    stage.happen(Body::Run(RunEvent::Started { run }));
    stage.call(|role, cx| role.timer(cx, TimerKey(1)));
    stage.lane(Lane(7), true);
    assert!(stage.heard().is_empty(), "after 300 ms nothing is kept");
}

#[test]
fn decode_errors_lose_the_id() {
    let mut stage = Stage::ready();
    stage.say_on(COMMANDS, r#"{"v":"2","id":"mine","type":"ping"}"#);
    assert_eq!(stage.answers()[0]["id"], "");
    let mut bench = Bench::greeted();
    bench.command(Command::Run(RunCommand::Compact { instruction: None }));
    bench.answer_raw(r#"{"v":"1","id":"","type":"error","payload":{},"ok":false,"error":{"code":"invalid_command","message":"invalid_command: compact_session"}}"#);
    let refusal = bench.settled.pop().unwrap().1.unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Remote { code: "invalid_command".into() });
}

#[test]
fn version_is_a_string() {
    let mut stage = Stage::ready();
    stage.say_on(COMMANDS, r#"{"v":1,"id":"a","type":"ping"}"#);
    stage.say_on(COMMANDS, r#"{"v":"1","id":"b","type":"ping"}"#);
    stage.say_on(COMMANDS, r#"{"id":"c","type":"ping"}"#);
    let oks: Vec<bool> = stage.answers().iter().map(|answer| answer["ok"] == true).collect();
    assert_eq!(oks, [false, true, true]);
}

#[test]
fn keys_of_any_case() {
    let mut stage = Stage::ready();
    stage.say_on(COMMANDS, "  {\"V\":\"1\",\"ID\":\"upper\",\"TYPE\":\"ping\",\"Payload\":{}}  \r");
    let answer = stage.answers().pop().unwrap();
    assert_eq!((answer["id"].as_str(), answer["type"].as_str()), (Some("upper"), Some("pong")));
}

#[test]
fn messages_without_an_end() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    let turn = stage.start(run);
    stage.step(turn);
    stage.end(Outcome::Cancelled);
    assert!(stage.types().contains(&"message_end".to_owned()));
    let mut bench = Bench::greeted();
    for (kind, payload) in [
        ("agent_start", json!({ "run_id": "run-1" })),
        ("turn_start", json!({ "run_id": "run-1", "turn_id": "1" })),
        (
            "message_start",
            json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a", "role": "assistant" }),
        ),
        ("message_update", json!({ "run_id": "run-1", "turn_id": "1", "message_id": "a", "delta": "half" })),
        (
            "warning",
            json!({ "run_id": "run-1", "turn_id": "1", "code": "provider_aborted", "message": "request_aborted" }),
        ),
        ("turn_end", json!({ "run_id": "run-1", "turn_id": "1" })),
        ("agent_end", json!({ "run_id": "run-1" })),
    ] {
        bench.event(kind, payload);
    }
    assert!(bench.state.open_messages().is_empty());
    assert_eq!(bench.state.runs[0].ended.as_ref().unwrap().1, Outcome::Cancelled);
}

#[test]
fn tool_results_twice() {
    let mut bench = Bench::greeted();
    let run = "run-1";
    for (kind, payload) in [
        ("message_start", json!({ "run_id": run, "message_id": "a", "role": "assistant" })),
        ("tool_execution_start", json!({ "run_id": run, "tool_call_id": "t", "tool_name": "read" })),
        ("tool_execution_update", json!({ "run_id": run, "tool_call_id": "t", "delta": "alpha" })),
        ("tool_execution_end", json!({ "run_id": run, "tool_call_id": "t" })),
        ("message_update", json!({ "run_id": run, "message_id": "a", "delta": "alpha" })),
        ("tool_execution_start", json!({ "run_id": run, "tool_call_id": "u", "tool_name": "read" })),
        ("warning", json!({ "run_id": run, "code": "tool_execution_error", "message": "no such file" })),
        ("tool_execution_end", json!({ "run_id": run, "tool_call_id": "u" })),
        ("message_update", json!({ "run_id": run, "message_id": "a", "delta": "tool_error: no such file" })),
        ("message_update", json!({ "run_id": run, "message_id": "a", "delta": "said" })),
        ("agent_end", json!({ "run_id": run })),
    ] {
        bench.event(kind, payload);
    }
    assert_eq!(bench.texts(), ["said"]);
    let results: Vec<_> = bench.state.tools.values().map(|tool| tool.result.clone().unwrap().text).collect();
    assert_eq!(results, ["alpha", "no such file"]);
}

#[test]
fn waiting_runs_are_invisible() {
    let mut stage = Stage::ready();
    stage.ask("prompt", json!({ "text": "sync" }));
    let run = RunId::mint(&stage.ids);
    let session = stage.session.clone();
    stage.settle(Ok(Receipt::Started { session, run }));
    stage.start(run);
    let other = Lane(4);
    stage.lane(other, true);
    stage.say_on(other, r#"{"v":"1","id":"s","type":"get_state"}"#);
    assert_eq!(stage.answers()[0]["payload"]["run_state"], "running");
    stage.say_on(other, r#"{"v":"1","id":"x","type":"abort"}"#);
    let answer = stage.settle(Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    assert_eq!(answer.unwrap()["type"], "accepted");
}

#[test]
fn unknown_leaf() {
    let mut stage = Stage::ready();
    let answer = stage.ask("prompt", json!({ "text": "x", "leaf_id": "msg-nope" })).unwrap();
    assert_eq!(answer["error"]["message"], "leaf_not_found");
    assert_eq!(stage.ask("get_messages", json!({ "leaf_id": "msg-99" })), None);
    let answer = stage.settle(Ok(Receipt::Stats(Default::default()))).unwrap();
    assert_eq!(answer["error"]["message"], "leaf_not_found");
}

#[test]
fn branch_parent_alias() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("branch_session", json!({ "parent_id": "sess-0001" })), None);
    assert!(
        matches!(&stage.last().2, Command::Library(LibraryCommand::Branch { session: Some(id), .. }) if *id == stage.session)
    );
}

#[test]
fn no_handshake() {
    let mut stage = Stage::new();
    stage.lane(Lane(6), true);
    stage.lane(Lane(6), false);
    stage.say_on(EVENTS, "bytes on the event socket are ignored");
    assert!(stage.sent.is_empty() && stage.wanted.is_empty());
}
