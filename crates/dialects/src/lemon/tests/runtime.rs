//! Our server as a client meets it: the greeting, each command, each way a run can go.

use super::stage::{CWD, Runtime, kind, session, summary};
use domain::command::{
    Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
};
use domain::content::{Input, Json, TextKind, Usage};
use domain::event::{Body, Failure, Finish, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{Millis, RunId, StepId, ToolRunId, TurnId};
use domain::session::{ModelEntry, ModelRef, RunSummary, Stats};
use domain::signal::{Level, Place, Signal};
use domain::tool::{ToolOutcome, ToolResult};
use expect_test::expect;
use roles::{Line, LinkEffect, Reason, RuntimeEffect, RuntimeRole};
use serde_json::{Value, json};

fn ready(stage: &mut Runtime) -> Value {
    stage.sent().remove(0)
}

#[test]
fn ready_names_the_session_that_is_there() {
    let mut stage = Runtime::up(&[]);
    let id = session(1).to_string();
    let wanted = json!({
        "type": "ready", "cwd": CWD, "model": {"provider": "scripted", "id": "script"}, "debug": false, "ui": true,
        "primary_session_id": id, "active_session_id": id, "protocol_version": 1,
    });
    assert_eq!(stage.sent(), [wanted]);
}

#[test]
fn without_ui_nothing_is_asked_or_signalled() {
    let mut stage = Runtime::up(&[("no-ui", "true")]);
    assert_eq!(ready(&mut stage)["ui"], false);
    assert_eq!(stage.role.can_answer(), roles::Answers::NONE);
    stage.signal(&Signal::Working(Some("busy".to_owned())));
    assert!(stage.sent().is_empty());
}

#[test]
fn with_debug_a_word_follows() {
    let mut stage = Runtime::up(&[("debug", "true")]);
    let sent = stage.sent();
    assert_eq!(sent[0]["debug"], true);
    assert_eq!(sent[1]["type"], "debug");
}

#[test]
fn every_command_of_the_document() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    let here = || Target::Session(session(1));
    for (line, wanted) in [
        (
            r#"{"type":"prompt","text":"hi"}"#,
            Command::Run(RunCommand::Prompt { input: Input::text("hi"), options: Default::default() }),
        ),
        (r#"{"type":"abort"}"#, Command::Run(RunCommand::Cancel { run: None, reason: None })),
        (r#"{"type":"reset"}"#, Command::Session(SessionCommand::Clear)),
        (r#"{"type":"save"}"#, Command::Library(LibraryCommand::Save { path: None, history: true })),
        (r#"{"type":"stats"}"#, Command::Session(SessionCommand::Stats)),
    ] {
        stage.say(line);
        let (ticket, target, command) = stage.wanted().remove(0);
        assert_eq!((target, command), (here(), wanted), "{line}");
        stage.settle(ticket, Ok(Receipt::Done));
        stage.lines();
    }
    stage.say(r#"{"type":"ping"}"#);
    stage.say(r#"{"type":"debug"}"#);
    assert_eq!(
        stage.lines(),
        [r#"{"type":"pong"}"#, r#"{"type":"debug","message":"debug command received"}"#]
    );
    stage.say(r#"{"type":"quit"}"#);
    let id = session(1);
    assert_eq!(
        stage.lines(),
        [format!(r#"{{"type":"event","session_id":"{id}","event":{{"type":"quit","data":[]}}}}"#)]
    );
    assert!(stage.effects().contains(&RuntimeEffect::Link(LinkEffect::Close(Reason::Quit))));
}

#[test]
fn receipts_and_refusals_of_those() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    let busy = Err(Refusal::new(RefusalKind::Busy, "a run is under way"));
    let broken = || Err(Refusal::new(RefusalKind::Storage, "the disk is full").hint("make room"));
    let saved = Ok(Receipt::Saved { path: "/s.json".to_owned(), size: 3 });
    let cancelling = Ok(Receipt::Cancelling { run: RunSummary { run: RunId(1), outcome: None } });
    let stats = Ok(Receipt::Stats(Stats { messages: 4, turns: 2, ..Stats::default() }));
    let id = session(1).to_string();
    for (line, with, reply) in [
        (
            r#"{"type":"prompt","text":"hi"}"#,
            busy,
            json!([{"type":"error","message":":already_streaming","session_id":id}]),
        ),
        (
            r#"{"type":"prompt","text":"hi"}"#,
            broken(),
            json!([{"type":"error","message":"the disk is full (make room)","session_id":id}]),
        ),
        (r#"{"type":"abort"}"#, cancelling, json!([])),
        (r#"{"type":"abort"}"#, Err(Refusal::new(RefusalKind::NoRun, "no run")), json!([])),
        (r#"{"type":"reset"}"#, Ok(Receipt::Leaf(None)), json!([])),
        (
            r#"{"type":"save"}"#,
            saved,
            json!([{"type":"save_result","ok":true,"path":"/s.json","session_id":id}]),
        ),
        (
            r#"{"type":"save"}"#,
            broken(),
            json!([{"type":"save_result","ok":false,"error":"the disk is full (make room)","session_id":id}]),
        ),
        (
            r#"{"type":"stats"}"#,
            stats,
            json!([{"type":"stats","session_id":id,"stats":{
            "session_id":id,"message_count":0,"turn_count":0,"is_streaming":false,"cwd":CWD,
            "model":{"provider":"scripted","id":"script"},"thinking_level":"off"}}]),
        ),
    ] {
        stage.say(line);
        let (ticket, _, _) = stage.wanted().remove(0);
        stage.settle(ticket, with);
        assert_eq!(Value::from(stage.sent()), reply, "{line}");
    }
}

#[test]
fn bad_input_is_answered_and_the_link_lives() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    let deep = format!("{{\"type\":\"ping\",\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for line in [
        "{",
        "{}",
        "[1]",
        "\"x\"",
        "null",
        "7",
        r#"["ping"]"#,
        r#"{"type":7}"#,
        r#"{"type":"prompt"}"#,
        r#"{"type":"prompt","text":5}"#,
        r#"{"type":"kanban"}"#,
        r#"{"type":"prompt","text":"#,
    ] {
        stage.say(line);
        assert_eq!(stage.lines(), [r#"{"type":"error","message":"unknown command"}"#], "{line}");
        assert!(stage.wanted().is_empty(), "{line}");
    }
    for line in [Line::Text(deep), Line::Overlong("{".to_owned()), Line::Garbled("\u{fffd}".to_owned())] {
        stage.line(line);
        assert_eq!(stage.kinds(), ["error"]);
    }
    stage.say("   ");
    stage.say("");
    assert!(stage.lines().is_empty());
    stage.say(r#"{"type":"ping"}"#);
    assert_eq!(stage.kinds(), ["pong"]);
}

#[test]
fn more_than_a_hundred_commands_a_second_are_refused() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    for _ in 0..150 {
        stage.say(r#"{"type":"ping"}"#);
    }
    let kinds = stage.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "pong").count(), 100);
    assert_eq!(kinds.last().map(String::as_str), Some("error"));
    stage.now += 1_000;
    stage.say(r#"{"type":"ping"}"#);
    assert_eq!(stage.kinds(), ["pong"]);
}

#[test]
fn commands_about_sessions() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.say(r#"{"type":"list_running_sessions"}"#);
    let id = session(1).to_string();
    let model = json!({"provider":"scripted","id":"script"});
    assert_eq!(
        stage.sent(),
        [json!({"type":"running_sessions","error":null,
        "sessions":[{"session_id":id,"cwd":CWD,"is_streaming":false,"model":model}]})]
    );

    stage.say(r#"{"type":"list_sessions"}"#);
    let (ticket, _, _) = stage.wanted().remove(0);
    stage.settle(ticket, Ok(Receipt::Sessions(vec![summary(&session(1))])));
    assert_eq!(
        stage.sent(),
        [json!({"type":"sessions_list","error":null,
        "sessions":[{"path":id,"id":id,"timestamp":2,"cwd":CWD,"title":"a title"}]})]
    );

    stage.say(r#"{"type":"list_models"}"#);
    let (ticket, _, _) = stage.wanted().remove(0);
    let entry = |provider: &str, name: &str| ModelEntry {
        model: ModelRef { provider: provider.to_owned(), name: name.to_owned() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
    };
    let models = vec![entry("z", "b"), entry("a", "x"), entry("z", "a")];
    stage.settle(ticket, Ok(Receipt::Models { models, current: None }));
    assert_eq!(
        stage.sent(),
        [json!({"type":"models_list","error":null,"providers":[
        {"id":"a","models":[{"id":"x","name":"x"}]},
        {"id":"z","models":[{"id":"a","name":"a"},{"id":"b","name":"b"}]}]})]
    );
}

#[test]
fn a_second_session_is_started_and_put_in_front() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.say(r#"{"type":"start_session","cwd":"/other","model":"p:m"}"#);
    let (ticket, _, command) = stage.wanted().remove(0);
    assert_eq!(
        command,
        Command::Library(LibraryCommand::New { cwd: Some("/other".to_owned()), title: None, id: None })
    );
    stage.session = session(2);
    stage.attach();
    assert!(stage.lines().is_empty(), "the first stays active until the client says otherwise");
    stage.settle(ticket, Ok(Receipt::Session { session: summary(&session(2)), parent: None }));
    let (ticket, target, command) = stage.wanted().remove(0);
    assert_eq!(target, Target::Session(session(2)));
    assert_eq!(
        command,
        Command::Session(SessionCommand::SetModel { provider: Some("p".to_owned()), name: "m".to_owned() })
    );
    stage.settle(ticket, Ok(Receipt::Done));
    let id = session(2).to_string();
    assert_eq!(
        stage.sent(),
        [json!({"type":"session_started","session_id":id,"cwd":CWD,"model":{"provider":"p","id":"m"}})]
    );
    stage.say(&format!(r#"{{"type":"set_active_session","session_id":"{id}"}}"#));
    let (ticket, _, _) = stage.wanted().remove(0);
    stage.settle(ticket, Ok(Receipt::Session { session: summary(&session(2)), parent: None }));
    assert_eq!(stage.sent(), [json!({"type":"active_session","session_id":id})]);
    stage.say("typed by hand");
    assert_eq!(stage.wanted().remove(0).1, Target::Session(session(2)));

    stage.say(&format!(r#"{{"type":"close_session","session_id":"{id}"}}"#));
    let (ticket, _, command) = stage.wanted().remove(0);
    assert_eq!(command, Command::Session(SessionCommand::Close));
    let gone = session(2);
    let mut effects = Vec::new();
    stage.role.detached(&mut roles::Cx { now: Millis(1), effects: &mut effects }, &gone);
    assert!(effects.is_empty());
    stage.settle(ticket, Ok(Receipt::Done));
    assert_eq!(
        stage.sent(),
        [
            json!({"type":"session_closed","session_id":id,"reason":"normal"}),
            json!({"type":"active_session","session_id":null})
        ]
    );
    stage.say(r#"{"type":"stats"}"#);
    assert_eq!(stage.sent(), [json!({"type":"error","message":"no active session"})]);
}

#[test]
fn sessions_that_are_not_there() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    for (line, reply) in [
        (
            r#"{"type":"prompt","text":"x","session_id":"sess-nowhere"}"#,
            r#"{"type":"error","message":"session not found","session_id":"sess-nowhere"}"#,
        ),
        (
            r#"{"type":"close_session","session_id":"sess-nowhere"}"#,
            r#"{"type":"session_closed","session_id":"sess-nowhere","reason":"not_found"}"#,
        ),
        (
            r#"{"type":"close_session"}"#,
            r#"{"type":"error","message":"session_id required for close_session"}"#,
        ),
        (
            r#"{"type":"set_active_session"}"#,
            r#"{"type":"error","message":"session_id required for set_active_session"}"#,
        ),
        (
            r#"{"type":"set_active_session","session_id":"../x"}"#,
            r#"{"type":"error","message":"session not found","session_id":"../x"}"#,
        ),
        (
            r#"{"type":"start_session","model":"nocolon"}"#,
            r#"{"type":"error","message":"invalid model: nocolon (write it as provider:id)"}"#,
        ),
        (
            r#"{"type":"set_config","key":"nothing","value":true}"#,
            r#"{"type":"error","message":"unknown config key: nothing"}"#,
        ),
    ] {
        stage.say(line);
        assert_eq!(stage.lines(), [reply], "{line}");
    }
    stage.say(r#"{"type":"set_config","key":"codex_auto_approve","value":true}"#);
    stage.say(r#"{"type":"get_config"}"#);
    let state =
        r#"{"type":"config_state","config":{"claude_skip_permissions":false,"codex_auto_approve":true}}"#;
    assert_eq!(stage.lines(), [state, state]);
    stage.say(r#"{"type":"start_session","session_file":"/tmp/elsewhere/talk.json"}"#);
    stage.say(r#"{"type":"start_session","session_file":"sess-000000000009"}"#);
    let wanted: Vec<Command> = stage.wanted().into_iter().map(|(_, _, command)| command).collect();
    let load = Command::Library(LibraryCommand::Load { path: "/tmp/elsewhere/talk.json".to_owned() });
    assert_eq!(wanted, [load, Command::Library(LibraryCommand::Open { session: session(9) })]);
}

#[test]
fn a_run_with_a_tool_has_the_order_of_the_document() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.begin("look");
    let message = stage.step(20);
    stage.happen(Body::Message(MessageEvent::Delta {
        message,
        kind: TextKind::Thought,
        text: "hm".to_owned(),
    }));
    stage.tool(message, 22, ToolResult::text("alpha"));
    let used = Usage { input: 10, output: 5, ..Usage::default() };
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(20), usage: used }));
    let message = stage.step(30);
    stage.text(message, "done");
    stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(30), usage: used }));
    stage.happen(Body::Run(RunEvent::TurnEnded { turn: TurnId(11) }));
    stage.end(Outcome::Done);
    let sent = stage.sent();
    let kinds: Vec<String> = sent.iter().map(kind).collect();
    expect![[r#"
        agent_start turn_start message_start message_end message_start message_update message_update message_end
        tool_execution_start ui_working tool_execution_end message_start message_end ui_working turn_end turn_start
        message_start message_update message_end turn_end agent_end"#]]
    .assert_eq(&wrapped(&kinds));
    let events: Vec<&Value> = sent.iter().filter(|line| line["type"] == "event").collect();
    assert!(
        events.iter().enumerate().all(|(at, line)| line["event_seq"] == json!(at)),
        "numbered from 0, by one"
    );
    assert!(events.iter().all(|line| line["session_id"] == json!(session(1).as_str())));
    let ends: Vec<&Value> = events
        .iter()
        .copied()
        .filter(|line| kind(line) == "message_end" && line["event"]["data"][0]["role"] == "assistant")
        .collect();
    assert_eq!(ends[0]["event"]["data"][0]["usage"], Value::Null, "not known before the tools have run");
    assert_eq!(ends[0]["event"]["data"][0]["stop_reason"], "tool_use");
    assert_eq!(
        ends[1]["event"]["data"][0]["usage"]["input"], 20,
        "and then told with the next, so that the sum is right"
    );
    let last = &events[events.len() - 1]["event"]["data"][0];
    let roles: Vec<&Value> = last.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool_result", "assistant"]);
}

/// Words in lines of a bearable length.
fn wrapped(words: &[String]) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in words {
        if width + word.len() > 110 {
            (text, width) = (text + "\n", 0);
        } else if width > 0 {
            (text, width) = (text + " ", width + 1);
        }
        text += word;
        width += word.len();
    }
    text
}

#[test]
fn an_end_always_comes() {
    let failure = Failure::new("model_error", "HTTP 529").hint("try later");
    for (outcome, words) in [
        (Outcome::Done, vec!["agent_end"]),
        (Outcome::Cancelled, vec!["canceled", "agent_end"]),
        (Outcome::Failed(failure), vec!["error", "agent_end"]),
        (Outcome::Interrupted, vec!["error", "agent_end"]),
        (Outcome::Lost, vec!["error", "agent_end"]),
    ] {
        let mut stage = Runtime::up(&[]);
        stage.begin("go");
        let message = stage.step(20);
        stage.text(message, "half");
        stage.lines();
        stage.end(outcome);
        assert_eq!(stage.kinds(), [["message_end", "turn_end"].as_slice(), &words].concat());
    }
}

#[test]
fn a_run_that_fails_before_the_model_spoke_is_balanced_too() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.begin("go");
    stage.end(Outcome::Failed(Failure::new("no_model", "there is no model")));
    let sent = stage.sent();
    let kinds: Vec<String> = sent.iter().map(kind).collect();
    assert_eq!(
        kinds,
        ["agent_start", "turn_start", "message_start", "message_end", "turn_end", "error", "agent_end"]
    );
    assert_eq!(sent[5]["event"]["data"], json!(["there is no model", null]));
}

#[test]
fn a_denied_tool_has_both_ends() {
    let mut stage = Runtime::up(&[]);
    stage.begin("go");
    let message = stage.step(20);
    let (tool, args) = (ToolRunId(22), Json::empty());
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".to_owned(), args }));
    stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    stage.lines();
    stage.happen(Body::Tool(ToolEvent::Ended {
        tool,
        outcome: ToolOutcome::Denied,
        result: ToolResult::text("Permission denied."),
    }));
    let sent = stage.sent();
    let kinds: Vec<String> = sent.iter().map(kind).collect();
    assert_eq!(kinds, ["tool_execution_start", "tool_execution_end", "message_start", "message_end"]);
    assert_eq!(sent[1]["event"]["data"][3], true);
}

#[test]
fn what_was_missed_is_told_once() {
    let mut stage = Runtime::up(&[]);
    stage.begin("go");
    let message = stage.step(20);
    stage.text(message, "half");
    stage.lines();
    stage.missed(Body::Message(MessageEvent::Delta {
        message,
        kind: TextKind::Text,
        text: " more".to_owned(),
    }));
    stage.now += 100;
    stage.attach();
    let sent = stage.sent();
    assert_eq!(sent.iter().map(kind).collect::<Vec<_>>(), ["message_update"]);
    assert_eq!(sent[0]["event"]["data"][0]["content"][0]["text"], "half more");
    for body in stage.state.close_run(Outcome::Done) {
        stage.missed(body);
    }
    stage.attach();
    assert_eq!(stage.kinds(), ["message_update", "message_end", "turn_end", "agent_end"]);
    stage.attach();
    assert!(stage.lines().is_empty());
}

#[test]
fn a_client_that_comes_in_the_middle_hears_the_run_from_its_beginning() {
    let mut stage = Runtime::opened(&[]);
    stage.missed(Body::Run(RunEvent::Started { run: RunId(10) }));
    stage.missed(Body::Run(RunEvent::TurnStarted {
        run: RunId(10),
        turn: TurnId(11),
        cause: domain::event::Cause::Prompt,
    }));
    stage.attach();
    assert_eq!(stage.kinds(), ["ready", "agent_start", "turn_start"]);
}

#[test]
fn signals_have_the_exact_shapes() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    let status = |text: Option<&str>| Signal::Status { key: "k".to_owned(), text: text.map(str::to_owned) };
    let widget = |lines: &[&str]| Signal::Widget {
        key: "w".to_owned(),
        lines: lines.iter().map(|&l| l.to_owned()).collect(),
        place: Place::Below,
    };
    for (signal, line) in [
        (
            Signal::Notify { level: Level::Success, text: "t".to_owned() },
            r#"{"type":"ui_notify","params":{"message":"t","notify_type":"success"}}"#,
        ),
        (status(Some("t")), r#"{"type":"ui_status","params":{"key":"k","text":"t"}}"#),
        (status(None), r#"{"type":"ui_status","params":{"key":"k","text":null}}"#),
        (
            widget(&["a", "b"]),
            r#"{"type":"ui_widget","params":{"key":"w","content":"a\nb","opts":{"position":"below"}}}"#,
        ),
        (
            widget(&[]),
            r#"{"type":"ui_widget","params":{"key":"w","content":null,"opts":{"position":"below"}}}"#,
        ),
        (Signal::Working(Some("t".to_owned())), r#"{"type":"ui_working","params":{"message":"t"}}"#),
        (Signal::Working(None), r#"{"type":"ui_working","params":{"message":null}}"#),
        (Signal::Title("t".to_owned()), r#"{"type":"ui_set_title","params":{"title":"t"}}"#),
        (Signal::EditorText("t".to_owned()), r#"{"type":"ui_set_editor_text","params":{"text":"t"}}"#),
    ] {
        stage.signal(&signal);
        assert_eq!(stage.lines(), [line]);
    }
}

#[test]
fn a_reset_in_the_middle_of_a_run_stops_it_first() {
    let mut stage = Runtime::up(&[]);
    stage.begin("go");
    stage.lines();
    stage.say(r#"{"type":"reset"}"#);
    assert!(matches!(stage.wanted()[..], [(_, _, Command::Run(RunCommand::Cancel { .. }))]));
    stage.end(Outcome::Cancelled);
    let sent = stage.sent();
    let canceled = sent.iter().find(|line| kind(line) == "canceled").expect("it says so");
    assert_eq!(canceled["event"]["data"], json!(["reset"]));
    assert!(matches!(stage.wanted()[..], [(_, _, Command::Session(SessionCommand::Clear))]));
}

#[test]
fn what_was_asked_before_a_quit_is_answered_first() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.say(r#"{"type":"save"}"#);
    stage.say(r#"{"type":"quit"}"#);
    let (ticket, _, _) = stage.wanted().remove(0);
    assert!(stage.lines().is_empty());
    stage.settle(ticket, Ok(Receipt::Saved { path: "/s.json".to_owned(), size: 3 }));
    assert_eq!(stage.kinds(), ["save_result", "quit"]);
    assert!(stage.effects().contains(&RuntimeEffect::Link(LinkEffect::Close(Reason::Quit))));
}
