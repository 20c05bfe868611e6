//! One test for each deviation that is listed.

use super::super::lower;
use super::super::quirks::QUIRKS;
use super::{event, kind, kinds, opened, read, ready, session, speaking, ui, ui_open, up};
use domain::ask::{Answer, AskKind, Assessment, Consent, Risk};
use domain::command::{Command, LibraryCommand, Receipt, RunCommand, SessionCommand, Target};
use domain::content::{Json, Part};
use domain::event::{Body, Outcome, SessionEvent};
use domain::ids::AskId;
use domain::session::Stats;
use domain::signal::{Level, Signal};
use domain::tool::{ToolOutcome, ToolResult};
use roles::Answers;
use serde_json::{Value, json};
use testkit::bench::RuntimeBench;

/// Names here and in the table are the same.
#[test]
fn every_quirk_has_a_test() {
    let here = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(here.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
}

fn confirm(stage: &mut RuntimeBench) -> (AskId, Value) {
    let kind = AskKind::Confirm { message: "sure?".to_owned(), yes: None, no: None, danger: false };
    let ask = stage.ask("Delete?", kind);
    (ask, stage.sent().pop().expect("a question")["id"].clone())
}

#[test]
fn tuples_without_data() {
    let mut stage = ready();
    stage.begin("go");
    assert_eq!(stage.sent()[0]["event"], json!({"type":"agent_start","data":[]}));
    for line in [
        r#"{"type":"event","event":{"type":"agent_start"}}"#,
        r#"{"type":"event","event":{"type":"agent_start","data":[]}}"#,
    ] {
        let mut ui = ui();
        ui.hear(line);
        assert!(ui.state.open_run().is_some(), "{line}");
    }
}

#[test]
fn no_end_after_cancel() {
    for (kind, data) in [("canceled", json!(["reset"])), ("error", json!(["HTTP 500", null]))] {
        let mut ui = ui();
        event(&mut ui, "agent_start", &json!([]));
        event(&mut ui, kind, &data);
        assert!(ui.outcome().is_some(), "{kind}");
        event(&mut ui, "turn_end", &json!([{"role":"assistant","content":[]},[]]));
        event(&mut ui, "agent_end", &json!([[]]));
        assert_eq!(ui.state.runs.len(), 1, "{kind}");
    }
}

#[test]
fn warning_not_warn() {
    let signal = Signal::Notify { level: Level::Warning, text: "t".to_owned() };
    for (compat, word) in [("peer", "warning"), ("seed", "warn")] {
        let mut stage = up(&[("compat", compat)]);
        stage.lines();
        stage.signal(&signal);
        assert_eq!(stage.sent()[0]["params"]["notify_type"], word);
        let mut ui = ui();
        ui.hear(&json!({"type":"ui_notify","params":{"message":"t","notify_type":word}}).to_string());
        assert_eq!(ui.signals, std::slice::from_ref(&signal));
    }
}

#[test]
fn log_lines_on_stdout() {
    let mut ui = ui_open();
    ui.hear("");
    ui.hear("12:00:00.000 [warning] UI response for unknown request");
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false}"#);
    assert_eq!(ui.link.drifts.len(), 1);
    assert!(ui.role.abilities().is_some());
}

#[test]
fn reasons_as_arrays() {
    for (reason, code, message) in [
        (json!(["assistant_error", "HTTP 500"]), "assistant_error", "HTTP 500"),
        (json!("it broke"), "remote_error", "it broke"),
        (json!(["timeout"]), "timeout", "timeout"),
        (json!(null), "remote_error", "the runtime did not say why"),
    ] {
        let mut ui = ui();
        event(&mut ui, "agent_start", &json!([]));
        event(&mut ui, "error", &json!([reason, null]));
        let Some(Outcome::Failed(failure)) = ui.outcome() else { panic!("not failed") };
        assert_eq!((failure.code.as_str(), failure.message.as_str()), (code, message));
    }
}

#[test]
fn plain_text_prompts() {
    let mut stage = ready();
    for line in ["fix the bug", "[WIP] look at it", "\"quoted\" words", "12 monkeys", "true story"] {
        stage.say(line);
        let (_, target, command) = stage.command();
        assert_eq!(target, Target::Session(session(1)));
        assert!(matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == line));
    }
    stage.say(r#"{"type":"prompt","text":"cut off"#);
    assert!(stage.commands().is_empty());
    assert_eq!(kinds(&mut stage), ["error"]);
}

#[test]
fn two_namespaces() {
    for space in ["Elixir.Ai.Types", "Elixir.LemonAi.Types"] {
        let mut ui = ui();
        event(&mut ui, "agent_start", &json!([]));
        let block = json!({"__struct__":format!("{space}.TextContent"),"type":"text","text":"hello","text_signature":null});
        let message = json!({"__struct__":format!("{space}.AssistantMessage"),"role":"assistant","content":[block],"stop_reason":"stop"});
        event(&mut ui, "message_end", &json!([message]));
        assert_eq!(ui.texts().pop().unwrap(), "hello");
    }
}

#[test]
fn one_session_from_the_start() {
    let mut stage = up(&[]);
    let ready = stage.sent().remove(0);
    assert_eq!(ready["active_session_id"], "100000000000", "the varying part of sess-000000000001 first");
    let mut ui = ui_open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"primary_session_id":null,"active_session_id":null}"#);
    assert_eq!(ui.sent()[0]["type"], "start_session");
}

#[test]
fn stays_silent() {
    let mut ui = ui();
    ui.command(Command::Session(SessionCommand::Clear));
    assert!(ui.settled[0].1.is_ok());
    ui.command(Command::Library(LibraryCommand::Save { path: None, history: true }));
    ui.wait(11_000);
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
        let mut stage = ready();
        let (ask, id) = confirm(&mut stage);
        stage.say(&format!(r#"{{"type":"ui_response","id":{id},{rest}}}"#));
        let (_, _, command) = stage.command();
        assert_eq!(command, Command::Answer { ask, answer }, "{rest}");
    }
}

#[test]
fn unknown_answers() {
    let mut stage = ready();
    stage.say(r#"{"type":"ui_response","id":"nobody","result":true,"error":null}"#);
    stage.say(r#"{"type":"ui_response","result":true,"error":null}"#);
    assert!(stage.lines().is_empty() && stage.commands().is_empty());
    let (_, id) = confirm(&mut stage);
    for _ in 0..2 {
        stage.say(&format!(r#"{{"type":"ui_response","id":{id},"result":true,"error":null}}"#));
    }
    assert_eq!(stage.commands().len(), 1, "the second comes too late");
}

#[test]
fn reset_keeps_the_id() {
    let mut stage = up(&[]);
    stage.say(r#"{"type":"reset"}"#);
    stage.lines();
    stage.begin("again");
    assert!(stage.sent().iter().all(|line| line["session_id"] == "100000000000"));
    // What was reset is not counted, whatever the session keeps.
    stage.end(Outcome::Done);
    stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: None }));
    stage.forget();
    let stats = Stats { messages: 1, turns: 1, ..Stats::default() };
    stage.asked(r#"{"type":"stats"}"#, Ok(Receipt::Stats(stats)));
    assert_eq!(stage.sent()[0]["stats"]["message_count"], 0);
}

#[test]
fn message_twice() {
    let (mut stage, message) = speaking();
    stage.delta(message, "hello");
    let sent = stage.sent();
    assert_eq!(kind(&sent[0]), "message_update");
    assert_eq!(sent[0]["event"]["data"][1], json!(["text_delta", 0, "hello"]));
}

#[test]
fn lines_of_64_kb() {
    let (mut stage, message) = speaking();
    let args = Json::verbatim(json!({ "content": "é\"\n".repeat(40_000), "path": "a" }).to_string());
    let tool = stage.propose(message, "write", args.as_str());
    stage.end_message(message);
    stage.start_tool(tool);
    let result = ToolResult {
        text: format!("first{}last", "é\n".repeat(50_000)),
        parts: vec![Part::Diff { path: None, text: "+line\n".repeat(20_000) }],
        json: Some(Json::verbatim(json!({ "long": "x".repeat(50_000) }).to_string())),
        truncated: false,
    };
    stage.end_tool(tool, ToolOutcome::Done, result);
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
    let asked = |stage: &mut RuntimeBench| {
        stage.begin("go");
        let (_, message) = stage.step();
        let tool = stage.propose(message, "bash", "{}");
        let assessment =
            Assessment { risk: Risk::High, reasons: Vec::new(), reversible: false, unrated: false };
        let rule = Some("bash: ls".to_owned());
        let consent = Consent { assessment, rule, takes_reason: false, ..stage.consent(tool) };
        stage.ask("Run?", AskKind::Consent(Box::new(consent)));
        stage.sent().pop().expect("a line")
    };
    let mut stage = up(&[]);
    stage.say(r#"{"type":"ping"}"#);
    let request = asked(&mut stage);
    assert_eq!(request["method"], "select");
    stage.say(&format!(r#"{{"type":"ui_response","id":{},"result":true,"error":null}}"#, request["id"]));
    let answer = stage.command().2;
    assert!(
        matches!(answer, Command::Answer { answer: Answer::Dismissed, .. }),
        "only an option counts: {answer:?}"
    );

    // Who only writes blanks as it does is another.
    let mut stage = ready();
    stage.say(r#"{"type": "ping"}"#);
    stage.say(r#"{"type": "prompt", "text": "go"}"#);
    stage.forget();
    assert!(stage.role.can_answer().consent);
    assert_eq!(asked(&mut stage)["method"], "select");

    // The other one is told, and nobody is asked through it: what it says of a question is not its person's word.
    let its = r#"{"type": "abort", "session_id": null}"#;
    let mut stage = ready();
    assert!(stage.role.can_answer().consent);
    stage.say(its);
    assert_eq!(stage.role.can_answer(), Answers::NONE);
    let told = stage.sent();
    assert_eq!(told.iter().map(kind).collect::<Vec<_>>(), ["ui_notify"]);
    assert_eq!(told[0]["params"]["notify_type"], "warning");
    let text = told[0]["params"]["message"].as_str().expect("words");
    assert!(text.contains("is asked nothing") && text.contains("--policy"), "{text}");
    assert!(text.contains("--option asked=always"), "{text}");
    stage.say(its);
    stage.say(r#"{"type": "ping"}"#);
    assert_eq!(kinds(&mut stage), ["pong"], "it is told once");
    let mut told_otherwise = up(&[("asked", "always")]);
    told_otherwise.say(its);
    assert!(told_otherwise.role.can_answer().consent);
    let line = asked(&mut stage);
    assert_eq!(line["type"], "ui_notify");
    assert!(line["params"]["message"].as_str().is_some_and(|text| text.contains("\"Run?\" was not asked")));
    // A question from before it was recognised: it answers that too.
    let mut stage = ready();
    let (_, id) = confirm(&mut stage);
    stage.say(&format!(r#"{{"type": "ui_response", "id": {id}, "result": true, "error": null}}"#));
    assert!(stage.commands().is_empty(), "its yes counts for nothing");
}

#[test]
fn known_before_active() {
    let mut stage = ready();
    // One that the client asked to be at, and that it does not know.
    stage.say(r#"{"type":"set_active_session","session_id":"sess-000000000002"}"#);
    let ticket = stage.command().0;
    stage.session = session(2);
    stage.begin("before");
    stage.end(Outcome::Done);
    stage.forget();
    stage.attach();
    assert!(stage.lines().is_empty(), "nothing is said of it yet");
    stage.settle(ticket, Ok(Receipt::Done));
    let told = kinds(&mut stage);
    assert_eq!(told[..3], ["session_started", "active_session", "agent_start"]);
    assert_eq!(told.last().map(String::as_str), Some("agent_end"));
}

#[test]
fn past_is_told() {
    let mut stage = opened(&[]);
    stage.begin("once");
    let (_, message) = stage.step();
    stage.delta(message, "Let me see.");
    read(&mut stage, message, ToolResult::text("alpha"));
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
    let mut ui = ui_open();
    ui.prompt("now");
    for line in &sent[..8] {
        ui.hear(&line.to_string());
    }
    assert!(ui.sent().is_empty() && ui.settled.is_empty());
    ui.hear(&sent[8].to_string());
    assert_eq!(ui.sent()[0]["text"], "now");
    assert_eq!(ui.outcome(), Some(Outcome::Done));
    assert_eq!(ui.state.entries.len(), 2);
}

#[test]
fn asks_before_it_begins() {
    let mut ui = ui();
    let prompt = ui.prompt("ask me");
    ui.hear(r#"{"type":"ui_request","id":"u-1","method":"confirm","params":{"title":"Sure?","message":"","opts":{}}}"#);
    assert!(ui.settlement(prompt).is_some_and(|with| with.is_ok()));
}

#[test]
fn signal_after_quit() {
    let mut stage = ready();
    stage.say(r#"{"type":"quit"}"#);
    stage.wait(1_200);
    assert_eq!(stage.link.closed, None);
    stage.wait(400);
    assert!(stage.link.closed.is_some());
}
