//! Our client as a server meets it: what a transcript cannot show of it, and what servers leave out.

use super::{event, ui, ui_open};
use domain::ask::{Answer, AskKind};
use domain::command::{Command, RefusalKind, SessionCommand};
use domain::event::Outcome;
use domain::signal::{Level, Signal};
use domain::tool::{ToolOutcome, ToolPhase};
use serde_json::{Value, json};

fn text(text: &str) -> Value {
    json!([{"type":"text","text":text}])
}

#[test]
fn commands_wait_until_the_server_is_ready() {
    let mut ui = ui_open();
    ui.prompt("early");
    assert!(ui.sent().is_empty() && ui.role.abilities().is_none());
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert_eq!(ui.sent(), [json!({"type":"prompt","text":"early"})]);
    let abilities = ui.role.abilities().expect("known");
    assert!(abilities.cancel && abilities.consent && !abilities.sessions);
}

#[test]
fn what_happens_in_another_session_is_not_ours() {
    let mut ui = ui_open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true,"active_session_id":"sess-one","primary_session_id":"sess-one"}"#);
    ui.hear(r#"{"type":"event","session_id":"sess-two","event_seq":0,"event":{"type":"agent_start"}}"#);
    assert!(ui.state.runs.is_empty());
}

#[test]
fn a_question_has_a_deadline_and_one_answer_in_its_own_type() {
    let mut ui = ui();
    let fruit = json!({"title":"Pick","options":[{"label":"Seven","value":7,"description":null}],"opts":{}});
    ui.hear(&json!({"type":"ui_request","id":"u-1","method":"select","params":fruit}).to_string());
    let ask = ui.state.asks.first().cloned().expect("an ask");
    assert_eq!(ask.deadline.map(|at| at.since(ui.now)), Some(30_000));
    let answer = Answer::Chosen(vec!["7".to_owned()]);
    ui.command(Command::Answer { ask: ask.id, answer: answer.clone() });
    assert_eq!(ui.sent(), [json!({"type":"ui_response","id":"u-1","result":7,"error":null})]);
    ui.command(Command::Answer { ask: ask.id, answer });
    assert!(ui.sent().is_empty() && ui.settled[1].1.is_err(), "answered once");
}

#[test]
fn a_tool_whose_end_never_came_ends_with_its_message() {
    let mut ui = ui();
    event(&mut ui, "agent_start", &json!([]));
    event(&mut ui, "tool_execution_start", &json!(["call_1", "read", {}]));
    event(
        &mut ui,
        "message_end",
        &json!([{"role":"tool_result","tool_call_id":"call_1","tool_name":"read","content":text("no"),"is_error":true}]),
    );
    let tool = ui.state.tools.values().next().expect("a tool");
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Failed));
}

#[test]
fn errors_that_nobody_waits_for_are_shown() {
    let mut ui = ui();
    ui.hear(r#"{"type":"error","message":"stdin closed"}"#);
    assert_eq!(ui.signals, [Signal::Notify { level: Level::Error, text: "stdin closed".to_owned() }]);
}

#[test]
fn odd_lines_are_counted_and_harm_nobody() {
    let mut ui = ui();
    let odd = [
        "[warning] log line",
        "[1]",
        r#"{"a":1}"#,
        r#"{"type":"weather"}"#,
        r#"{"type":"event"}"#,
        r#"{"type":"event","event":{"type":"message_end","data":[]}}"#,
        r#"{"type":"event","event":{"type":"tool_execution_start","data":[7]}}"#,
        r#"{"type":"event","event":{"type":"novel","data":[]}}"#,
        r#"{"type":"ui_request","id":7}"#,
    ];
    for line in odd {
        ui.hear(line);
    }
    assert_eq!(ui.link.drifts.len(), odd.len());
    ui.hear("");
    event(&mut ui, "agent_start", &json!([]));
    assert_eq!(ui.link.drifts.len(), odd.len());
    assert!(ui.state.open_run().is_some());
}

#[test]
fn a_consent_of_our_own_server_is_one_again() {
    let mut ui = ui();
    event(&mut ui, "agent_start", &json!([]));
    let hint = json!({"consent":{"tool_call_id":"tool-7","tool_name":"bash","risk":"high","reasons":["it writes"],"reversible":false}});
    ui.hear(&json!({"type":"ui_request","id":"u-1","method":"confirm","params":{"title":"Run?","message":"$ ls","opts":hint}}).to_string());
    let ask = ui.state.asks.first().cloned().expect("an ask");
    assert!(matches!(&ask.kind, AskKind::Consent(consent) if consent.name == "bash"));
    ui.command(Command::Answer { ask: ask.id, answer: Answer::Deny { reason: None } });
    assert_eq!(ui.sent()[0]["result"], false);
}

#[test]
fn a_server_that_starts_again_is_taken_up_anew() {
    let mut ui = ui();
    ui.prompt("restart");
    event(&mut ui, "agent_start", &json!([]));
    ui.command(Command::Session(SessionCommand::Stats));
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert_eq!(ui.outcome(), Some(Outcome::Lost));
    assert!(matches!(&ui.settled[1], (_, Err(refusal)) if refusal.kind == RefusalKind::Lost));
    assert!(matches!(&ui.signals[0], Signal::Notify { text, .. } if text.contains("started again")));
    ui.sent();
    ui.prompt("again");
    assert_eq!(ui.sent()[0]["text"], "again");
}
