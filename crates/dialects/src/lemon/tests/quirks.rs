//! One test for each deviation that is listed.

use super::super::lower;
use super::super::quirks::QUIRKS;
use super::stage::{Runtime, Ui, allowed, kind, session};
use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Consent, Risk};
use domain::command::{Command, LibraryCommand, PromptOptions, Receipt, RunCommand, SessionCommand, Target};
use domain::content::{Input, Json, Part};
use domain::event::{AskEvent, Body, Finish, MessageEvent, Outcome, SessionEvent, ToolEvent};
use domain::ids::{AskId, ToolRunId};
use domain::session::Stats;
use domain::signal::{Level, Signal};
use domain::tool::{ToolOutcome, ToolResult};
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
    stage.happen(Body::Ask(AskEvent::Opened(ask)));
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
    assert!(roles::UiRole::abilities(&ui.role).is_some());
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
        assert!(matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == line));
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
    ui.want(1, Command::Session(SessionCommand::Clear));
    assert!(ui.settled[0].1.is_ok());
    ui.want(2, Command::Library(LibraryCommand::Save { path: None, history: true }));
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
    // What was reset is not counted, whatever the session keeps.
    stage.end(Outcome::Done);
    stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: None }));
    stage.effects();
    stage.say(r#"{"type":"stats"}"#);
    let ticket = stage.wanted().remove(0).0;
    stage.settle(ticket, Ok(Receipt::Stats(Stats { messages: 1, turns: 1, ..Stats::default() })));
    assert_eq!(stage.sent()[0]["stats"]["message_count"], 0);
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

#[test]
fn lines_of_64_kb() {
    let mut stage = Runtime::up(&[]);
    stage.begin("go");
    let message = stage.step(20);
    let args = Json::verbatim(json!({ "content": "é\"\n".repeat(40_000), "path": "a" }).to_string());
    let tool = ToolRunId(22);
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "write".to_owned(), args }));
    stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    stage.happen(Body::Tool(ToolEvent::Decided { tool, decision: allowed() }));
    stage.happen(Body::Tool(ToolEvent::Started { tool }));
    let result = ToolResult {
        text: format!("first{}last", "é\n".repeat(50_000)),
        parts: vec![Part::Diff { path: None, text: "+line\n".repeat(20_000) }],
        json: Some(Json::verbatim(json!({ "long": "x".repeat(50_000) }).to_string())),
        truncated: false,
    };
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    stage.end(Outcome::Done);
    let lines = stage.lines();
    let longest = lines.iter().map(String::len).max();
    assert!(longest < Some(64 * 1024), "{longest:?}");
    let ended = lines.iter().find(|line| line.contains("tool_execution_end")).expect("the end of the tool");
    let ended: Value = serde_json::from_str(ended).expect("JSON");
    let text = ended["event"]["data"][2]["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("first") && text.ends_with("last") && text.contains("not shown here"));
    let (kept, cut) = (json!("short"), json!({ "a": ["x".repeat(30_000)] }));
    assert_eq!(lower::arguments(&Json::verbatim(kept.to_string())).get(), kept.to_string());
    assert!(lower::arguments(&Json::verbatim(cut.to_string())).get().len() < 3_000);
}

#[test]
fn breaks_on_select() {
    for (line, method) in [(r#"{"type":"ping"}"#, "select"), (r#"{"type": "ping"}"#, "confirm")] {
        let mut stage = Runtime::up(&[]);
        stage.say(line);
        stage.lines();
        stage.begin("go");
        let message = stage.step(20);
        let (tool, name) = (ToolRunId(22), "bash".to_owned());
        stage.happen(Body::Tool(ToolEvent::Proposed {
            tool,
            message,
            name: name.clone(),
            args: Json::empty(),
        }));
        stage.lines();
        let consent = Consent {
            tool,
            name,
            args: Json::empty(),
            preview: None,
            assessment: Assessment { risk: Risk::High, reasons: Vec::new(), reversible: false },
            digest: ActionDigest("d".to_owned()),
            rule: Some("bash: ls".to_owned()),
            takes_reason: false,
        };
        let kind = AskKind::Consent(Box::new(consent));
        let ask = Ask { id: AskId(40), run: None, title: "Run?".to_owned(), kind, deadline: None };
        stage.happen(Body::Ask(AskEvent::Opened(ask)));
        let request = stage.sent().pop().expect("a question");
        assert_eq!(request["method"], method);
        stage.say(&format!(r#"{{"type":"ui_response","id":{},"result":true,"error":null}}"#, request["id"]));
        assert!(matches!(&stage.wanted()[0].2, Command::Answer { answer: Answer::Allow { .. }, .. }));
    }
}

#[test]
fn known_before_active() {
    let mut stage = Runtime::up(&[]);
    stage.lines();
    // One that the client asked to be at, and that it does not know.
    stage.say(r#"{"type":"set_active_session","session_id":"sess-000000000002"}"#);
    let ticket = stage.wanted().remove(0).0;
    stage.session = session(2);
    stage.begin("before");
    stage.end(Outcome::Done);
    stage.effects();
    stage.attach();
    assert!(stage.lines().is_empty(), "nothing is said of it yet");
    stage.settle(ticket, Ok(Receipt::Done));
    let kinds = stage.kinds();
    assert_eq!(kinds[..3], ["session_started", "active_session", "agent_start"]);
    assert_eq!(kinds.last().map(String::as_str), Some("agent_end"));
}

#[test]
fn past_is_told() {
    let mut stage = Runtime::opened(&[]);
    stage.begin("once");
    let message = stage.step(20);
    stage.text(message, "Let me see.");
    stage.tool(message, 22, ToolResult::text("alpha"));
    stage.end(Outcome::Done);
    stage.attach();
    let sent = stage.sent();
    let kinds: Vec<String> = sent.iter().map(kind).collect();
    let pair = ["message_start", "message_end"];
    let told = [["ready", "agent_start"].as_slice(), &pair, &pair, &pair, &["agent_end"]].concat();
    assert_eq!(kinds, told);
    assert_eq!(sent[0]["history"], true);
    let roles: Vec<&Value> = sent[2..8].iter().map(|line| &line["event"]["data"][0]["role"]).collect();
    assert_eq!(roles, ["user", "user", "assistant", "assistant", "tool_result", "tool_result"]);
    assert_eq!(sent[8]["event"]["data"], json!([[]]));

    // Our own UI takes it for what it is: what it wants waits for the end of it.
    let mut ui = Ui::open();
    ui.want(
        1,
        Command::Run(RunCommand::Prompt { input: Input::text("now"), options: PromptOptions::default() }),
    );
    for line in &sent[..8] {
        ui.hear(&line.to_string());
    }
    assert!(ui.said().is_empty() && ui.settled.is_empty());
    ui.hear(&sent[8].to_string());
    assert_eq!(ui.said()[0]["text"], "now");
    assert_eq!(ui.outcome(), Some(Outcome::Done));
    assert_eq!(ui.state.entries.len(), 2);
}
