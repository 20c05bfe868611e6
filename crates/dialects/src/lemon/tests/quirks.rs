//! One test for each deviation that is listed.

use super::super::quirks::QUIRKS;
use super::stage::{Runtime, Ui, kind, session};
use domain::ask::{Answer, Ask, AskKind};
use domain::command::{Command, Target};
use domain::event::{Body, Outcome};
use domain::ids::AskId;
use domain::signal::{Level, Signal};
use serde_json::{Value, json};

/// Names here and in the table are the same.
#[test]
fn every_quirk_has_a_test() {
    let here = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(here.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
}

fn confirm(stage: &mut Runtime) -> Value {
    let kind = AskKind::Confirm { message: "sure?".to_owned(), yes: None, no: None, danger: false };
    let ask = Ask { id: AskId(40), run: None, title: "Delete?".to_owned(), kind, deadline: None };
    stage.happen(Body::AskOpened(ask));
    stage.sent().pop().expect("a question")
}

#[test]
fn tuples_without_data() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.begin("go");
    assert_eq!(stage.sent()[0]["event"], json!({"type":"agent_start","data":[]}));
    for line in [
        r#"{"type":"event","event":{"type":"agent_start"}}"#,
        r#"{"type":"event","event":{"type":"agent_start","data":[]}}"#,
    ] {
        let mut ui = Ui::up();
        ui.hear(line);
        assert!(ui.state.open_run().is_some(), "{line}");
    }
}

#[test]
fn no_end_after_cancel() {
    for (kind, data) in [("canceled", json!(["reset"])), ("error", json!(["HTTP 500", null]))] {
        let mut ui = Ui::up();
        ui.event("agent_start", &json!([]));
        ui.event(kind, &data);
        assert!(ui.outcome().is_some(), "{kind}");
        ui.event("turn_end", &json!([{"role":"assistant","content":[]},[]]));
        ui.event("agent_end", &json!([[]]));
        assert_eq!(ui.state.runs.len(), 1, "{kind}");
    }
}

#[test]
fn warning_not_warn() {
    let signal = Signal::Notify { level: Level::Warning, text: "t".to_owned() };
    for (compat, word) in [("peer", "warning"), ("seed", "warn")] {
        let mut stage = Runtime::up(&[("compat", compat)]);
        stage.lines();
        stage.signal(&signal);
        assert_eq!(stage.sent()[0]["params"]["notify_type"], word);
        let mut ui = Ui::up();
        ui.hear(&json!({"type":"ui_notify","params":{"message":"t","notify_type":word}}).to_string());
        assert_eq!(ui.signals, std::slice::from_ref(&signal));
    }
}

#[test]
fn log_lines_on_stdout() {
    let mut ui = Ui::open();
    ui.hear("");
    ui.hear("12:00:00.000 [warning] UI response for unknown request");
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false}"#);
    assert_eq!(ui.drifts.len(), 1);
    assert!(crate::role::UiRole::abilities(&ui.role).is_some());
}

#[test]
fn reasons_as_arrays() {
    for (reason, code, message) in [
        (json!(["assistant_error", "HTTP 500"]), "assistant_error", "HTTP 500"),
        (json!("it broke"), "remote_error", "it broke"),
        (json!(["timeout"]), "timeout", "timeout"),
        (json!(null), "remote_error", "the runtime did not say why"),
    ] {
        let mut ui = Ui::up();
        ui.event("agent_start", &json!([]));
        ui.event("error", &json!([reason, null]));
        let Some(Outcome::Failed(failure)) = ui.outcome() else { panic!("not failed") };
        assert_eq!((failure.code.as_str(), failure.message.as_str()), (code, message));
    }
}

#[test]
fn plain_text_prompts() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    for line in ["fix the bug", "[WIP] look at it", "\"quoted\" words", "12 monkeys", "true story"] {
        stage.say(line);
        let (_, target, command) = stage.wanted().remove(0);
        assert_eq!(target, Target::Session(session(1)));
        assert!(matches!(command, Command::Prompt { input, .. } if input.text == line));
    }
    stage.say(r#"{"type":"prompt","text":"cut off"#);
    assert!(stage.wanted().is_empty());
    assert_eq!(stage.kinds(), ["error"]);
}

#[test]
fn two_namespaces() {
    for space in ["Elixir.Ai.Types", "Elixir.LemonAi.Types"] {
        let mut ui = Ui::up();
        ui.event("agent_start", &json!([]));
        let block = json!({"__struct__":format!("{space}.TextContent"),"type":"text","text":"hello","text_signature":null});
        let message = json!({"__struct__":format!("{space}.AssistantMessage"),"role":"assistant","content":[block],"stop_reason":"stop"});
        ui.event("message_end", &json!([message]));
        assert_eq!(ui.last_text(), "hello");
    }
}

#[test]
fn one_session_from_the_start() {
    let mut stage = Runtime::up(&[]);
    let ready = stage.sent().remove(0);
    assert_eq!(ready["active_session_id"], json!(session(1).as_str()));
    let mut ui = Ui::open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"primary_session_id":null,"active_session_id":null}"#);
    assert_eq!(ui.said()[0]["type"], "start_session");
}

#[test]
fn stays_silent() {
    let mut ui = Ui::up();
    ui.want(1, Command::ClearSession);
    assert!(ui.settled[0].1.is_ok());
    ui.want(2, Command::SaveSession { path: None, history: true });
    let key = *ui.timers().last().expect("a timer");
    ui.timer(key);
    assert!(ui.settled[1].1.is_ok());
}

#[test]
fn answers_that_cancel() {
    for (rest, answer) in [
        (r#""result":true,"error":null"#, Answer::Confirmed(true)),
        (r#""result":false,"error":null"#, Answer::Confirmed(false)),
        (r#""result":null,"error":null"#, Answer::Dismissed),
        (r#""result":null,"error":"cancelled""#, Answer::Dismissed),
        (r#""result":true,"error":"Overlay timed out""#, Answer::Dismissed),
        (r#""result":null"#, Answer::Dismissed),
        (r#""error":null"#, Answer::Dismissed),
        (r#""other":1"#, Answer::Dismissed),
        (r#""result":"yes""#, Answer::Dismissed),
        (r#""result":1"#, Answer::Dismissed),
    ] {
        let mut stage = Runtime::up(&[]);
        let id = confirm(&mut stage)["id"].clone();
        stage.say(&format!(r#"{{"type":"ui_response","id":{id},{rest}}}"#));
        let (_, _, command) = stage.wanted().remove(0);
        assert_eq!(command, Command::Answer { ask: AskId(40), answer }, "{rest}");
    }
}

#[test]
fn unknown_answers() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    stage.say(r#"{"type":"ui_response","id":"nobody","result":true,"error":null}"#);
    stage.say(r#"{"type":"ui_response","result":true,"error":null}"#);
    assert!(stage.lines().is_empty() && stage.wanted().is_empty());
    let id = confirm(&mut stage)["id"].clone();
    for _ in 0..2 {
        stage.say(&format!(r#"{{"type":"ui_response","id":{id},"result":true,"error":null}}"#));
    }
    assert_eq!(stage.wanted().len(), 1, "the second comes too late");
}

#[test]
fn reset_keeps_the_id() {
    let mut stage = Runtime::up(&[]);
    stage.say(r#"{"type":"reset"}"#);
    stage.lines();
    stage.begin("again");
    assert!(stage.sent().iter().all(|line| line["session_id"] == json!(session(1).as_str())));
}

#[test]
fn message_twice() {
    let mut stage = Runtime::up(&[]);
    stage.begin("go");
    let message = stage.step(20);
    stage.lines();
    stage.text(message, "hello");
    let sent = stage.sent();
    assert_eq!(kind(&sent[0]), "message_update");
    assert_eq!(sent[0]["event"]["data"][1], json!(["text_delta", 0, "hello"]));
}
