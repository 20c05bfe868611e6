//! Commands: what is read, what is refused and in which words, in which order answers come.

use super::{COMMANDS, Core};
use crate::MAX_WAITING_LINES;
use domain::command::{Command, QueueCommand, Receipt, Target};
use domain::content::{Json, Usage};
use domain::event::{Body, Compaction, ContextEvent, Outcome, RunEvent, Trigger};
use domain::ids::EntryId;
use domain::queue::{Mode, QueueKind};
use domain::session::{RunSummary, Stats};
use proptest::prelude::*;
use roles::{Lane, Line};
use serde_json::{Value, json};
use testkit::bench::session;

fn error(code: &str, message: &str) -> Value {
    json!({ "v": "1", "id": "c", "type": "error", "payload": {}, "ok": false,
            "error": { "code": code, "message": message } })
}

fn ok(kind: &str, payload: Value) -> Value {
    json!({ "v": "1", "id": "c", "type": kind, "payload": payload, "ok": true })
}

#[test]
fn what_cannot_be_read_is_answered_with_an_empty_id() {
    for (line, message) in [
        ("", "invalid_json: "),
        (r#"{"id":"","type":"ping"}"#, "missing_id"),
        (r#"{"v":"1","id":"u","type":"agent_start","payload":{}}"#, "invalid_command: agent_start"),
    ] {
        let mut core = Core::ready();
        core.say_on(COMMANDS, line);
        let answer = core.answers().pop().expect("an answer");
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(""), &json!("invalid_command")),
            "{line}"
        );
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.starts_with(message), "{line}: {said}");
    }
}

#[test]
fn modes_wait_for_a_session() {
    let mut core = Core::new();
    let taken = json!({ "command": "set_steering_mode", "mode": "all" });
    assert_eq!(core.ask("set_steering_mode", json!({ "mode": "all" })), Some(ok("accepted", taken)));
    assert_eq!(core.ask("get_state", json!({})).unwrap()["payload"]["steering_mode"], "all");
    core.attach();
    let (_, target, command) = core.last();
    assert_eq!(target, Target::Session(core.session.clone()));
    assert_eq!(command, Command::Queue(QueueCommand::SetMode { kind: QueueKind::Steer, mode: Mode::All }));
}

#[test]
fn a_run_that_is_being_stopped_takes_nothing_more() {
    let mut core = Core::ready();
    let (run, _) = core.prompt(false);
    core.start(run, "hello");
    assert_eq!(core.ask("abort", json!({})), None);
    core.settle_last(Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    assert_eq!(core.ask("get_state", json!({})).unwrap()["payload"]["run_state"], "aborting");
    let gone = Some(error("command_rejected", "no_active_run"));
    assert_eq!(core.ask("abort", json!({})), gone);
    assert_eq!(core.ask("steer", json!({ "text": "x" })), gone);
}

#[test]
fn extensions_and_compactions_answer_in_their_shapes() {
    let mut core = Core::ready();
    assert_eq!(core.ask("extension_command", json!({ "name": "echo", "payload": { "text": "x" } })), None);
    let json = Json::verbatim(r#"{"echo":"x"}"#);
    let said = core.settle_last(Ok(Receipt::Extension(json)));
    assert_eq!(said, Some(ok("extension_result", json!({ "echo": "x" }))));
    assert_eq!(core.ask("compact_session", json!({ "instruction": "keep names" })), None);
    let compaction = Compaction {
        summary: "so far".into(),
        first_kept: Some(EntryId(5)),
        tokens_before: 2100,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    let answer = core.settle_last(Ok(Receipt::Compacted { entry: EntryId(9), compaction }));
    let payload = json!({ "session_id": "sess-0001", "summary": "so far", "first_kept_entry_id": "msg-5",
        "tokens_before": 2100, "trigger": "manual", "instruction": "keep names" });
    assert_eq!(answer, Some(ok("compaction", payload)));
}

#[test]
fn a_compaction_that_is_a_run_is_answered_at_its_end() {
    let compaction = Compaction {
        summary: String::new(),
        first_kept: None,
        tokens_before: 0,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    let payload = json!({ "session_id": "sess-0001", "summary": "", "first_kept_entry_id": "",
        "tokens_before": 0, "trigger": "manual" });
    let wanted = [
        (true, Outcome::Done, ok("compaction", payload)),
        (false, Outcome::Done, error("command_rejected", "nothing_to_compact")),
        (false, Outcome::Cancelled, error("command_rejected", "request_aborted")),
    ];
    for (left, outcome, answer) in wanted {
        let mut core = Core::ready();
        assert_eq!(core.ask("compact_session", json!({})), None);
        let run = core.mint_run();
        let receipt = Receipt::Started { session: core.session.clone(), run };
        assert_eq!(core.settle_last(Ok(receipt)), None, "it is under way");
        core.happen(Body::Run(RunEvent::Started { run }));
        if left {
            let (entry, compaction) = (EntryId(run.0 + 1), compaction.clone());
            core.happen(Body::Context(ContextEvent::Compacted { entry, parent: None, compaction }));
        }
        assert!(core.answers().is_empty());
        core.happen(Body::Run(RunEvent::Ended { run, outcome }));
        assert_eq!(core.answers(), [answer]);
        assert_eq!(core.ask("ping", json!({})).unwrap()["type"], "pong", "the connection goes on");
    }
}

#[test]
fn payloads_are_checked() {
    for (kind, payload, message) in [
        ("prompt", json!({ "text": "" }), "text is required"),
        ("prompt", json!({ "text": 5 }), "text is required"),
        ("follow_up", json!({}), "text is required"),
        ("set_active_tools", json!({}), "tools must be an array"),
        ("set_steering_mode", json!({}), "mode is required"),
        ("set_steering_mode", json!({ "mode": "" }), "mode is required"),
        ("set_follow_up_mode", json!({ "mode": 5 }), "mode is required"),
        ("branch_session", json!({}), "session_id is required"),
    ] {
        let mut core = Core::ready();
        assert_eq!(
            core.ask(kind, payload.clone()),
            Some(error("invalid_payload", message)),
            "{kind} {payload}"
        );
        assert!(core.wanted().is_empty());
    }
}

#[test]
fn answers_come_in_order_on_a_connection_and_others_do_not_wait() {
    let mut core = Core::ready();
    assert_eq!(core.ask("get_messages", json!({})), None);
    let first = core.last().0;
    core.say_on(COMMANDS, r#"{"v":"1","id":"second","type":"ping"}"#);
    assert!(core.answers().is_empty(), "the second waits for the first");
    let other = Lane(4);
    core.lane(other, true);
    core.say_on(other, r#"{"v":"1","id":"other","type":"ping"}"#);
    assert_eq!(core.answers().pop().unwrap()["id"], "other");
    assert_eq!(core.last().0, first);
    core.settle(first, Ok(Receipt::Stats(Stats::default())));
    let ids: Vec<Value> = core.answers().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, ["c", "second"]);
}

#[test]
fn a_read_that_is_shown_another_session_looks_again() {
    let mut core = Core::ready();
    assert_eq!(core.ask("get_messages", json!({ "session_id": "sess-0002" })), None);
    let asked = core.wanted().len();
    assert_eq!(core.settle_last(Ok(Receipt::Stats(Stats::default()))), None);
    assert_eq!(core.wanted().len(), asked + 1);
    assert_eq!(core.last().1, Target::Session(session("sess-0002")));
    core.session = session("sess-0002");
    core.attach();
    let answer = core.settle_last(Ok(Receipt::Stats(Stats::default()))).unwrap();
    assert_eq!(answer["payload"]["session_id"], "sess-0002");
    let state = core.ask("get_state", json!({})).unwrap();
    assert_eq!(state["payload"]["session_id"], "sess-0001", "reading does not switch");
}

#[test]
fn too_much_is_refused_and_the_connection_lives() {
    let mut core = Core::ready();
    for _ in 0..150 {
        core.say_on(COMMANDS, r#"{"v":"1","id":"p","type":"ping"}"#);
    }
    let answers = core.answers();
    assert_eq!(answers.len(), 150);
    assert_eq!(answers.iter().filter(|answer| answer["ok"] == true).count(), 100);
    assert_eq!(answers[149]["error"]["code"], "command_rejected");
    core.now.0 += 60_000;
    assert_eq!(core.ask("get_messages", json!({})), None);
    for _ in 0..=MAX_WAITING_LINES {
        core.now.0 += 100;
        core.say_on(COMMANDS, r#"{"v":"1","id":"late","type":"ping"}"#);
    }
    let answers = core.answers();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], "late");
    for (line, code) in
        [(Line::Overlong("{".into()), "invalid_command"), (Line::Garbled("?".into()), "invalid_command")]
    {
        let mut core = Core::ready();
        core.call(|role, cx| role.line(cx, COMMANDS, line));
        assert_eq!(core.answers()[0]["error"]["code"], code);
    }
}

proptest! {
    #[test]
    fn every_line_is_answered_or_asked_once(line in r#"(\{"v":"1","id":"[a-z]{0,2}","type":"(prompt|steer|get_tree|set_leaf|ping|x)","payload":\{("text":"a",)?"wait":(true|1),"tools":\[\]\}\})|.{0,40}"#) {
        let mut core = Core::ready();
        core.say_on(COMMANDS, &line);
        prop_assert_eq!(core.answers().len() + core.wanted().len(), 1);
    }
}
