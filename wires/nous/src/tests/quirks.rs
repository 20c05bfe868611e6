//! One test per quirk, of the same name.

use super::{COMMANDS, Client, Core, EVENTS};
use crate::quirks::QUIRKS;
use domain::command::{Command, LibraryCommand, Receipt, RefusalKind, RunCommand};
use domain::event::{Body, Outcome, RunEvent};
use domain::session::RunSummary;
use roles::{Lane, TimerKey};
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
    let mut core = Core::new();
    core.attach();
    core.run("quick");
    assert!(core.heard().is_empty());
    core.lane(EVENTS, true);
    let types = core.types();
    assert_eq!((types[0].as_str(), types[types.len() - 1].as_str()), ("agent_start", "agent_end"));
    assert!(core.link.timers.is_empty(), "nobody is waited for any more");
    // Beside another subscriber: a run that goes on is told from its beginning.
    let (run, _) = core.prompt(false);
    core.start(run, "hello");
    core.heard();
    core.lane(Lane(5), true);
    assert_eq!(core.types(), ["agent_start", "turn_start", "message_start", "message_end"]);
    core.step();
    core.fire(TimerKey(1));
    core.heard();
    core.lane(Lane(7), true);
    assert!(core.heard().is_empty(), "later only what happens from then on");
}

#[test]
fn a_quick_run_is_kept_beside_a_standing_subscriber() {
    let mut core = Core::ready();
    core.now.0 += 5000;
    core.run("quick");
    assert_eq!(core.types().last().map(String::as_str), Some("agent_end"));
    core.lane(Lane(5), true);
    assert_eq!(core.types().first().map(String::as_str), Some("agent_start"), "told to whoever prompted");
    // That one is done, though its connection may still be there when the next prompt comes.
    core.run("quick too");
    core.heard();
    core.lane(Lane(7), true);
    assert_eq!(core.types().first().map(String::as_str), Some("agent_start"));
    // Who subscribed with the prompt has heard it: a newcomer came for the next run.
    core.lane(Lane(9), true);
    core.run("heard");
    core.heard();
    core.lane(Lane(11), true);
    assert!(core.heard().is_empty());
}

#[test]
fn finished_runs_stay_past() {
    let mut core = Core::new();
    core.attach();
    core.run("unheard");
    core.run("heard");
    core.lane(EVENTS, true);
    assert!(core.heard().iter().all(|event| event["payload"]["run_id"] == "run-2"));
    // It closes at the end of a run and comes again with its next prompt.
    core.lane(EVENTS, false);
    core.lane(EVENTS, true);
    core.run("heard by one");
    core.heard();
    core.lane(Lane(5), true);
    assert!(core.heard().is_empty());
    core.lane(EVENTS, false);
    core.lane(Lane(5), false);
    let (run, _) = core.prompt(false);
    core.happen(Body::Run(RunEvent::Started { run }));
    core.fire(TimerKey(1));
    core.lane(Lane(7), true);
    assert!(core.heard().is_empty(), "after 300 ms nothing is kept");
}

#[test]
fn decode_errors_lose_the_id() {
    let mut core = Core::ready();
    core.say_on(COMMANDS, r#"{"v":"2","id":"mine","type":"ping"}"#);
    assert_eq!(core.answers()[0]["id"], "");
    let mut bench = Client::greeted();
    bench.command(Command::Run(RunCommand::Compact { instruction: None }));
    bench.hear(r#"{"v":"1","id":"","type":"error","payload":{},"ok":false,"error":{"code":"invalid_command","message":"invalid_command: compact_session"}}"#);
    assert_eq!(bench.refused(), RefusalKind::Remote { code: "invalid_command".into() });
}

#[test]
fn version_is_a_string() {
    let mut core = Core::ready();
    core.say_on(COMMANDS, r#"{"v":1,"id":"a","type":"ping"}"#);
    core.say_on(COMMANDS, r#"{"v":"1","id":"b","type":"ping"}"#);
    core.say_on(COMMANDS, r#"{"id":"c","type":"ping"}"#);
    let oks: Vec<bool> = core.answers().iter().map(|answer| answer["ok"] == true).collect();
    assert_eq!(oks, [false, true, true]);
}

#[test]
fn keys_of_any_case() {
    let mut core = Core::ready();
    core.say_on(COMMANDS, "  {\"V\":\"1\",\"ID\":\"upper\",\"TYPE\":\"ping\",\"Payload\":{}}  \r");
    let answer = core.answers().pop().unwrap();
    assert_eq!((answer["id"].as_str(), answer["type"].as_str()), (Some("upper"), Some("pong")));
}

#[test]
fn messages_without_an_end() {
    let mut core = Core::ready();
    let (run, _) = core.prompt(false);
    core.start(run, "hello");
    core.step();
    core.end(Outcome::Cancelled);
    assert!(core.types().contains(&"message_end".to_owned()));
    let mut bench = Client::greeted();
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
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
}

#[test]
fn tool_results_twice() {
    let mut bench = Client::greeted();
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
    let mut core = Core::ready();
    let (run, _) = core.prompt(true);
    core.start(run, "sync");
    let other = Lane(4);
    core.lane(other, true);
    core.say_on(other, r#"{"v":"1","id":"s","type":"get_state"}"#);
    assert_eq!(core.answers()[0]["payload"]["run_state"], "running");
    core.say_on(other, r#"{"v":"1","id":"x","type":"abort"}"#);
    let answer = core.settle_last(Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    assert_eq!(answer.unwrap()["type"], "accepted");
}

#[test]
fn unknown_leaf() {
    let mut core = Core::ready();
    let answer = core.ask("prompt", json!({ "text": "x", "leaf_id": "msg-nope" })).unwrap();
    assert_eq!(answer["error"]["message"], "leaf_not_found");
    assert_eq!(core.ask("get_messages", json!({ "leaf_id": "msg-99" })), None);
    let answer = core.settle_last(Ok(Receipt::Stats(Default::default()))).unwrap();
    assert_eq!(answer["error"]["message"], "leaf_not_found");
}

#[test]
fn branch_parent_alias() {
    let mut core = Core::ready();
    assert_eq!(core.ask("branch_session", json!({ "parent_id": "sess-0001" })), None);
    assert!(
        matches!(core.last().2, Command::Library(LibraryCommand::Branch { session: Some(id), .. }) if id == core.session)
    );
}

#[test]
fn no_handshake() {
    let mut core = Core::new();
    core.lane(Lane(6), true);
    core.lane(Lane(6), false);
    core.say_on(EVENTS, "bytes on the event socket are ignored");
    assert!(core.is_silent());
}
