//! Commands: what is read, what is refused and in which words, in which order answers come.

use super::stage::{COMMANDS, Stage};
use crate::nous::MAX_WAITING_LINES;
use domain::command::{
    Command, LibraryCommand, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
};
use domain::content::{Json, Usage};
use domain::event::{Compaction, Trigger};
use domain::ids::{EntryId, QueuedId, SessionId};
use domain::queue::{Mode, QueueKind};
use domain::session::{RunSummary, Stats};
use proptest::prelude::*;
use roles::{Lane, Line, RuntimeRole};
use serde_json::{Value, json};

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
        ("{not json", "invalid_json: "),
        ("", "invalid_json: "),
        ("[]", "invalid_json: a command is a JSON object"),
        ("123", "invalid_json: a command is a JSON object"),
        ("null", "missing_id"),
        ("{}", "missing_id"),
        (r#"{"id":"","type":"ping"}"#, "missing_id"),
        (r#"{"v":"1","id":"u","type":"no_such_command","payload":{}}"#, "invalid_command: no_such_command"),
        (r#"{"v":"1","id":"u","type":"agent_start","payload":{}}"#, "invalid_command: agent_start"),
        (r#"{"v":"2","id":"u","type":"ping"}"#, "invalid_version: expected 1, got 2"),
        (r#"{"v":1,"id":"u","type":"ping"}"#, "invalid_json: v must be a string"),
        (r#"{"v":"1","id":5,"type":"ping"}"#, "invalid_json: id must be a string"),
        (r#"{"v":"1","id":"u"}"#, "missing_type"),
        (r#"{"v":"1","id":"u","type":"ping","payload":[]}"#, "invalid_json: payload must be an object"),
    ] {
        let mut stage = Stage::ready();
        stage.say_on(COMMANDS, line);
        let answer = stage.answers().pop().expect("an answer");
        assert_eq!(answer["id"], "", "{line}");
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["type"], "error");
        assert_eq!(answer["error"]["code"], "invalid_command");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.starts_with(message), "{line}: {said}");
        assert_eq!(stage.ask("ping", json!({})), Some(ok("pong", json!({ "message": "pong" }))), "{line}");
    }
}

#[test]
fn payloads_are_checked() {
    for (kind, payload, message) in [
        ("prompt", json!({}), "text is required"),
        ("prompt", json!({ "text": "" }), "text is required"),
        ("prompt", json!({ "text": 5 }), "text is required"),
        ("prompt", json!({ "text": "   " }), "text is required"),
        ("prompt", json!({ "text": "x", "wait": "no" }), "wait must be a boolean"),
        ("prompt", json!({ "text": "x", "wait": null }), "wait must be a boolean"),
        ("prompt", json!({ "text": "x", "leaf_id": 5 }), "leaf_id must be a string"),
        ("steer", json!({}), "text is required"),
        ("follow_up", json!({}), "text is required"),
        ("set_active_tools", json!({}), "tools must be an array"),
        ("set_active_tools", json!({ "tools": "read" }), "tools must be an array"),
        ("set_active_tools", json!({ "tools": [1] }), "tools must be string array"),
        ("set_steering_mode", json!({}), "mode is required"),
        ("set_steering_mode", json!({ "mode": "" }), "mode is required"),
        ("set_steering_mode", json!({ "mode": "bogus" }), "mode must be one-at-a-time or all"),
        ("set_follow_up_mode", json!({ "mode": 5 }), "mode is required"),
        ("switch_session", json!({}), "session_id is required"),
        ("branch_session", json!({}), "session_id is required"),
        ("set_leaf", json!({}), "leaf_id is required"),
        ("compact_session", json!({ "instruction": 5 }), "instruction must be a string"),
        ("extension_command", json!({}), "name is required"),
    ] {
        let mut stage = Stage::ready();
        assert_eq!(
            stage.ask(kind, payload.clone()),
            Some(error("invalid_payload", message)),
            "{kind} {payload}"
        );
        assert!(stage.wanted.is_empty());
    }
}

#[test]
fn without_a_session_reads_are_empty_and_modes_wait_for_one() {
    let mut stage = Stage::new();
    let empty = json!({ "session_id": "", "messages": [] });
    assert_eq!(stage.ask("get_messages", json!({})), Some(ok("messages", empty)));
    assert_eq!(stage.ask("get_tree", json!({})), Some(ok("tree", json!({ "session_id": "", "nodes": [] }))));
    let taken = json!({ "command": "set_steering_mode", "mode": "all" });
    assert_eq!(stage.ask("set_steering_mode", json!({ "mode": "all" })), Some(ok("accepted", taken)));
    let state = stage.ask("get_state", json!({})).unwrap();
    let idle = json!({ "run_state": "idle", "run_id": "", "session_id": "", "steering_mode": "all",
        "follow_up_mode": "one-at-a-time", "pending_counts": { "steer": 0, "follow_up": 0 } });
    assert_eq!(state["payload"], idle);
    stage.attach();
    let (_, target, command) = stage.last();
    assert_eq!(*target, Target::Session(stage.session.clone()));
    assert_eq!(*command, Command::Queue(QueueCommand::SetMode { kind: QueueKind::Steer, mode: Mode::All }));
}

#[test]
fn nothing_runs_so_nothing_is_steered() {
    let mut stage = Stage::ready();
    for (kind, payload) in
        [("steer", json!({ "text": "x" })), ("follow_up", json!({ "text": "x" })), ("abort", json!({}))]
    {
        assert_eq!(stage.ask(kind, payload), Some(error("command_rejected", "no_active_run")));
    }
}

#[test]
fn sessions_are_made_switched_and_branched() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("new_session", json!({})), None);
    assert_eq!(stage.last().2, Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    let (session, receipt) = (stage.summary(), |session, parent| Ok(Receipt::Session { session, parent }));
    let answer = stage.settle(receipt(session.clone(), None));
    assert_eq!(answer, Some(ok("session", json!({ "session_id": "sess-0001", "active": true }))));

    assert_eq!(stage.ask("switch_session", json!({ "session_id": "sess-0002" })), None);
    let refusal = Refusal::new(RefusalKind::SessionUnknown, "there is no session sess-0002");
    let answer = stage.settle(Err(refusal));
    assert_eq!(answer, Some(error("session_not_found", "there is no session sess-0002")));
    let answer = stage.ask("switch_session", json!({ "session_id": "../../etc/passwd" })).unwrap();
    assert_eq!(answer["error"]["code"], "session_not_found");
    assert!(!answer.to_string().contains("passwd"));

    assert_eq!(stage.ask("branch_session", json!({ "session_id": "sess-0001" })), None);
    let answer = stage.settle(receipt(session, SessionId::parse("sess-0000"))).unwrap();
    assert_eq!(
        answer["payload"],
        json!({ "session_id": "sess-0001", "active": true, "parent_id": "sess-0000" })
    );
}

#[test]
fn a_prompt_without_a_session_makes_one_first() {
    let mut stage = Stage::new();
    assert_eq!(stage.ask("prompt", json!({ "text": "hello", "wait": false })), None);
    assert!(matches!(stage.last().2, Command::Library(LibraryCommand::New { .. })));
    let session = stage.summary();
    assert_eq!(stage.settle(Ok(Receipt::Session { session, parent: None })), None);
    let (_, target, command) = stage.last();
    assert_eq!(*target, Target::Session(stage.session.clone()));
    assert!(matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "hello"));
}

#[test]
fn tools_extensions_leaf_and_compaction_answer_in_their_shapes() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("set_active_tools", json!({ "tools": ["read", "nope"] })), None);
    let refusal = Refusal::new(RefusalKind::ToolUnknown, "there is no tool nope");
    assert_eq!(stage.settle(Err(refusal)), Some(error("command_rejected", "tool_not_registered: nope")));
    assert_eq!(stage.ask("set_active_tools", json!({ "tools": [] })), None);
    let taken = json!({ "command": "set_active_tools", "count": 0 });
    assert_eq!(stage.settle(Ok(Receipt::Done)), Some(ok("accepted", taken)));

    assert_eq!(stage.ask("extension_command", json!({ "name": "echo", "payload": { "text": "x" } })), None);
    let json = Json::verbatim(r#"{"echo":"x"}"#);
    assert_eq!(
        stage.settle(Ok(Receipt::Extension(json))),
        Some(ok("extension_result", json!({ "echo": "x" })))
    );
    assert_eq!(stage.ask("extension_command", json!({ "name": "nope" })), None);
    let refusal = Refusal::new(RefusalKind::ExtensionUnknown, "no");
    assert_eq!(
        stage.settle(Err(refusal)),
        Some(error("command_rejected", "extension_command_not_found: nope"))
    );

    assert_eq!(stage.ask("set_leaf", json!({ "leaf_id": "msg-7" })), None);
    assert_eq!(stage.last().2, Command::Session(SessionCommand::SetLeaf { leaf: Some(EntryId(7)) }));
    let leaf = json!({ "session_id": "sess-0001", "leaf_id": "msg-7" });
    assert_eq!(stage.settle(Ok(Receipt::Leaf(Some(EntryId(7))))), Some(ok("leaf", leaf)));
    assert_eq!(
        stage.ask("set_leaf", json!({ "leaf_id": "msg-nope" })),
        Some(error("command_rejected", "leaf_not_found"))
    );

    assert_eq!(stage.ask("compact_session", json!({ "instruction": "keep names" })), None);
    let compaction = Compaction {
        summary: "so far".into(),
        first_kept: Some(EntryId(5)),
        tokens_before: 2100,
        trigger: Trigger::Manual,
        usage: Usage::default(),
    };
    let answer = stage.settle(Ok(Receipt::Compacted { entry: EntryId(9), compaction })).unwrap();
    let payload = json!({ "session_id": "sess-0001", "summary": "so far", "first_kept_entry_id": "msg-5",
        "tokens_before": 2100, "trigger": "manual", "instruction": "keep names" });
    assert_eq!(answer, ok("compaction", payload));
    assert_eq!(stage.ask("compact_session", json!({})), None);
    let refusal = Refusal::new(RefusalKind::NothingToCompact, "too little");
    assert_eq!(stage.settle(Err(refusal)), Some(error("command_rejected", "nothing_to_compact")));
}

#[test]
fn steers_follow_ups_and_aborts_name_the_run() {
    let mut stage = Stage::ready();
    let (run, _) = stage.prompt();
    stage.start(run);
    for (kind, queue) in [("steer", QueueKind::Steer), ("follow_up", QueueKind::FollowUp)] {
        assert_eq!(stage.ask(kind, json!({ "text": "more" })), None);
        assert!(matches!(stage.last().2, Command::Queue(QueueCommand::Add { kind, .. }) if kind == queue));
        let receipt = Receipt::Queued { item: QueuedId(90), run };
        let taken = json!({ "command": kind, "run_id": "run-1" });
        assert_eq!(stage.settle(Ok(receipt)), Some(ok("accepted", taken)));
    }
    let busy = Some(error("command_rejected", "run_in_progress"));
    assert_eq!(stage.ask("prompt", json!({ "text": "again", "wait": false })), busy);
    assert_eq!(stage.ask("abort", json!({})), None);
    assert_eq!(stage.last().2, Command::Run(RunCommand::Cancel { run: Some(run), reason: None }));
    let answer = stage.settle(Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    assert_eq!(answer, Some(ok("accepted", json!({ "command": "abort", "run_id": "run-1" }))));
    assert_eq!(stage.ask("get_state", json!({})).unwrap()["payload"]["run_state"], "aborting");
    assert_eq!(stage.ask("abort", json!({})), Some(error("command_rejected", "no_active_run")));
    assert_eq!(stage.ask("steer", json!({ "text": "x" })), Some(error("command_rejected", "no_active_run")));
}

#[test]
fn answers_come_in_order_on_a_connection_and_others_do_not_wait() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("get_messages", json!({})), None);
    let first = stage.last().0;
    stage.say_on(COMMANDS, r#"{"v":"1","id":"second","type":"ping"}"#);
    assert!(stage.answers().is_empty(), "the second waits for the first");
    let other = Lane(4);
    stage.lane(other, true);
    stage.say_on(other, r#"{"v":"1","id":"other","type":"ping"}"#);
    assert_eq!(stage.answers().pop().unwrap()["id"], "other");
    assert_eq!(stage.last().0, first);
    let (state, session, board) = (stage.state.clone(), stage.session.clone(), Default::default());
    let view = roles::View { session: &session, state: &state, board: &board, current: true };
    stage.call(|role, cx| role.settled(cx, Some(view), first, Ok(Receipt::Stats(Stats::default()))));
    let ids: Vec<Value> = stage.answers().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, ["c", "second"]);
}

#[test]
fn a_read_that_is_shown_another_session_looks_again() {
    let mut stage = Stage::ready();
    assert_eq!(stage.ask("get_messages", json!({ "session_id": "sess-0002" })), None);
    let asked = stage.wanted.len();
    assert_eq!(stage.settle(Ok(Receipt::Stats(Stats::default()))), None);
    assert_eq!(stage.wanted.len(), asked + 1);
    assert_eq!(stage.last().1, Target::Session(SessionId::parse("sess-0002").unwrap()));
    stage.session = SessionId::parse("sess-0002").unwrap();
    stage.attach();
    let answer = stage.settle(Ok(Receipt::Stats(Stats::default()))).unwrap();
    assert_eq!(answer["payload"]["session_id"], "sess-0002");
    let state = stage.ask("get_state", json!({})).unwrap();
    assert_eq!(state["payload"]["session_id"], "sess-0001", "reading does not switch");
}

#[test]
fn too_much_is_refused_and_the_connection_lives() {
    let mut stage = Stage::ready();
    for _ in 0..150 {
        stage.say_on(COMMANDS, r#"{"v":"1","id":"p","type":"ping"}"#);
    }
    let answers = stage.answers();
    assert_eq!(answers.len(), 150);
    assert_eq!(answers.iter().filter(|answer| answer["ok"] == true).count(), 100);
    assert_eq!(answers[149]["error"]["code"], "command_rejected");
    stage.now += 60_000;
    assert_eq!(stage.ask("get_messages", json!({})), None);
    for _ in 0..=MAX_WAITING_LINES {
        stage.now += 100;
        stage.say_on(COMMANDS, r#"{"v":"1","id":"late","type":"ping"}"#);
    }
    let answers = stage.answers();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], "late");
    for (line, code) in
        [(Line::Overlong("{".into()), "invalid_command"), (Line::Garbled("?".into()), "invalid_command")]
    {
        let mut stage = Stage::ready();
        stage.call(|role, cx| role.line(cx, COMMANDS, line));
        assert_eq!(stage.answers()[0]["error"]["code"], code);
    }
}

proptest! {
    #[test]
    fn every_line_is_answered_or_asked_once(line in r#"(\{"v":"1","id":"[a-z]{0,2}","type":"(prompt|steer|get_tree|set_leaf|ping|x)","payload":\{("text":"a",)?"wait":(true|1),"tools":\[\]\}\})|.{0,40}"#) {
        let mut stage = Stage::ready();
        stage.say_on(COMMANDS, &line);
        prop_assert_eq!(stage.answers().len() + stage.wanted.len(), 1);
    }
}
