//! The client's side: handshake, every notification of the document, commands, and backends that misbehave.

use super::bench::UiBench;
use domain::ask::{Answer, AskKind, Preview, Risk, Scope};
use domain::command::{
    Command, ExportFormat, LibraryCommand, ListCommand, ListScope, PromptOptions, Receipt, RefusalKind,
    RunCommand, SessionCommand,
};
use domain::content::{Input, Part, Role};
use domain::event::{Body, Outcome, RunEvent};
use domain::ids::SessionId;
use domain::session::SessionSummary;
use domain::signal::Signal;
use domain::state::{EntryKind, State};
use domain::tool::{ToolOutcome, ToolPhase};
use roles::{LinkEffect, Reason, UiEffect, UiRole};
use serde_json::json;

fn note(method: &str, params: &serde_json::Value) -> String {
    json!({"jsonrpc":"2.0","method":method,"params":params}).to_string()
}

#[test]
fn handshake() {
    let mut bench = UiBench::new();
    let early = bench.command(Command::Run(RunCommand::Prompt {
        input: Input::text("early"),
        options: PromptOptions::default(),
    }));
    let sent = bench.sent();
    assert_eq!(sent.len(), 1, "commands wait for the handshake");
    assert_eq!(sent[0]["params"]["protocol_version"], "1.0.0");
    assert_eq!(sent[0]["params"]["client_info"], json!({"name":"parlor","version":"1.2.3"}));
    assert_eq!(sent[0]["params"]["terminal_size"], json!({"cols":100,"rows":30}));
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"status":"ready","server_info":{"name":"openagent","version":"0.1.3"},"capabilities":[],"models":[{"name":"codellama-7b","type":"code","loaded":true}]}}"#);
    assert_eq!(bench.sent()[0]["method"], "agent.query");
    assert!(bench.settled(early).is_none());
    assert_eq!(bench.role.abilities().unwrap().name, "openagent 0.1.3");
    let ticket = bench.command(Command::List(ListCommand::Models { provider: None }));
    let Some(Ok(Receipt::Models { models, current })) = bench.settled(ticket) else { panic!() };
    assert_eq!((models.len(), current.unwrap().name.as_str()), (1, "codellama-7b"));
}

#[test]
fn a_backend_that_cannot_be_spoken_with() {
    let unusable = |bench: &UiBench| {
        bench
            .effects
            .iter()
            .any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Close(Reason::Unusable(why))) if !why.is_empty()))
    };
    let mut bench = UiBench::new();
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: version"}}"#);
    assert!(unusable(&bench));
    let ticket = bench.command(Command::List(ListCommand::Models { provider: None }));
    assert!(matches!(bench.settled(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::Lost));
    let mut bench = UiBench::new();
    bench.timer(1);
    assert!(unusable(&bench));
}

#[test]
fn a_simple_query() {
    let mut bench = UiBench::by_the_book();
    let ticket = bench.query();
    assert_eq!(bench.settled(ticket), Some(Ok(Receipt::Done)));
    bench.hear(&note(
        "agent.thinking",
        &json!({"query_id":"q-9","phase":"analyzing","message":"Analyzing..."}),
    ));
    bench.hear(&note(
        "stream.token",
        &json!({"query_id":"q-9","token":"The ls","index":0,"metadata":{"type":"text","confidence":0.95}}),
    ));
    bench.hear(&note(
        "stream.tokens",
        &json!({"query_id":"q-9","tokens":[{"token":" com","index":1},{"token":"mand","index":2}]}),
    ));
    bench.hear(&note("stream.block", &json!({"query_id":"q-9","block_id":"block-789","block":{"type":"code","language":"rust","content":"fn x() {}","metadata":{"file":"src/main.rs","lines":"10-15","diff":false,"executable":true},"annotations":[{"line":1,"type":"suggestion","message":"ok"}]}})));
    bench.hear(&note(
        "stream.block",
        &json!({"query_id":"q-9","type":"diff","content":"-a\n+b","language":null}),
    ));
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"success","metadata":{"total_tokens":150,"tokens_per_second":25.5,"tools_executed":["file_read"],"model_used":"codellama-7b","duration_ms":5880}})));
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    assert_eq!(bench.state.usage.output, 150);
    let parts: Vec<Part> = bench
        .state
        .entries
        .values()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Message(m) if m.role == Role::Assistant => Some(m.parts.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let code = Part::Code {
        language: Some("rust".into()),
        text: "fn x() {}".into(),
        path: Some("src/main.rs".into()),
    };
    let diff = Part::Diff { path: None, text: "-a\n+b".into() };
    assert_eq!(parts, [Part::Text("The ls command".into()), code, diff]);
    assert!(bench.effects.contains(&UiEffect::Signal(Signal::Working(Some("Analyzing...".into())))));
    assert!(bench.effects.contains(&UiEffect::Signal(Signal::Working(None))));
    assert_eq!(prompted(&bench.state).as_deref(), Some("go"));
}

#[test]
fn tools_as_the_document_has_them() {
    let mut bench = UiBench::by_the_book();
    bench.query();
    bench.hear(&note("tool.request_approval", &json!({"execution_id":"exec-456def","query_id":"q-9","tool":{"name":"file_write","description":"Write optimized code to src/main.rs","category":"file_system"},"arguments":{"path":"src/main.rs"},"preview":{"type":"diff","content":"--- a\n+++ b"},"risk_assessment":{"level":"critical","reasons":["Modifies existing file"],"reversible":true},"timeout":30})));
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert_eq!(
        (ask.title.as_str(), consent.name.as_str()),
        ("Write optimized code to src/main.rs", "file_write")
    );
    assert_eq!(consent.assessment.risk, Risk::Critical);
    assert_eq!(consent.preview, Some(Preview::Diff { path: String::new(), text: "--- a\n+++ b".into() }));
    assert_eq!(ask.deadline.map(|at| at.since(bench.now)), Some(30_000));
    assert!(consent.rule.is_some(), "the document lets every choice be remembered");
    bench.answer(Answer::Allow { scope: Scope::Always, digest: None });
    let sent = bench.sent();
    assert_eq!(
        sent[0]["params"],
        json!({"execution_id":"exec-456def","approved":true,"options":{"remember_choice":true,"apply_to_similar":false}})
    );
    bench.hear(&json!({"jsonrpc":"2.0","id":sent[0]["id"],"result":{"status":"approved","execution_id":"exec-456def"}}).to_string());
    bench.hear(&note("tool.progress", &json!({"execution_id":"exec-456def","progress":{"percentage":45,"status":"processing","message":"Analyzing 15 files..."}})));
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.status, Some((Some(45), "Analyzing 15 files...".into())));
    bench.hear(&note("tool.complete", &json!({"execution_id":"exec-456def","status":"success","result":{"output":"File written successfully","files_modified":["src/main.rs"],"duration_ms":125}})));
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Done));
    // Said twice, or too late: nothing happens.
    bench.hear(&note("tool.complete", &json!({"execution_id":"exec-456def","status":"error","result":{}})));
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"success"})));
    bench.hear(&note("tool.progress", &json!({"execution_id":"exec-456def","progress":{}})));
    assert_eq!(bench.state.tools.len(), 1);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
}

#[test]
fn a_rejected_tool_is_denied_whether_or_not_the_backend_says_so() {
    for says in [true, false] {
        let mut bench = UiBench::by_the_book();
        bench.query();
        bench.hear(&note("tool.request_approval", &json!({"execution_id":"e1","query_id":"q-9","tool":{"name":"x"},"risk_assessment":{"level":"low"}})));
        bench.answer(Answer::Deny { reason: None });
        let id = bench.sent()[0]["id"].clone();
        bench.hear(
            &json!({"jsonrpc":"2.0","id":id,"result":{"status":"rejected","execution_id":"e1"}}).to_string(),
        );
        if says {
            bench.hear(&note(
                "tool.complete",
                &json!({"execution_id":"e1","status":"rejected","result":{"output":"no"}}),
            ));
        }
        bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"success"})));
        let tool = bench.state.tools.values().next().unwrap();
        assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Denied));
        assert_eq!(bench.outcome(), Some(Outcome::Done));
    }
}

#[test]
fn ends_of_every_kind() {
    for (complete, wanted) in [
        (json!({"query_id":"q-9","status":"cancelled"}), "Cancelled"),
        (json!({"query_id":"q-9","status":"timeout"}), "timeout"),
        (json!({"query_id":"q-9","status":"error","error":"CUDA"}), "CUDA"),
    ] {
        let mut bench = UiBench::by_the_book();
        bench.query();
        bench.hear(&note("stream.complete", &complete));
        let outcome = format!("{:?}", bench.outcome().unwrap());
        assert!(outcome.contains(wanted), "{outcome}");
    }
    let mut bench = UiBench::by_the_book();
    bench.query();
    bench.hear(&note("stream.error", &json!({"query_id":"q-9","error":{"code":-32001,"message":"Model failed","details":"CUDA out of memory"}})));
    assert_eq!(bench.outcome(), None, "the end is still to come");
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"error"})));
    let Some(Outcome::Failed(failure)) = bench.outcome() else { panic!() };
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("model_error", "Model failed"));
    assert_eq!(failure.hint.as_deref(), Some("CUDA out of memory"));
}

#[test]
fn cancelling() {
    let mut bench = UiBench::by_the_book();
    bench.query();
    let ticket = bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    let sent = bench.sent();
    assert_eq!(sent[0]["params"], json!({"query_id":"q-9"}));
    bench.hear(
        &json!({"jsonrpc":"2.0","id":sent[0]["id"],"result":{"cancelled":true,"query_id":"q-9"}}).to_string(),
    );
    assert!(matches!(bench.settled(ticket), Some(Ok(Receipt::Cancelling { .. }))));
    assert_eq!(bench.outcome(), None);
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"cancelled"})));
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
    let ticket = bench.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    assert!(matches!(bench.settled(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::NoRun));
}

#[test]
fn a_stream_that_begins_before_the_answer() {
    let mut bench = UiBench::by_the_book();
    let ticket = bench.command(Command::Run(RunCommand::Prompt {
        input: Input::text("go"),
        options: PromptOptions::default(),
    }));
    bench.hear(&note("stream.token", &json!({"query_id":"q-5","token":"early"})));
    bench.hear(&note("stream.complete", &json!({"query_id":"q-5","status":"success"})));
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"query_id":"q-5","status":"processing"}}"#);
    assert_eq!(bench.settled(ticket), Some(Ok(Receipt::Done)));
    assert_eq!((bench.text().as_str(), bench.state.runs.len()), ("early", 1));
    assert_eq!(prompted(&bench.state).as_deref(), Some("go"));
}

#[test]
fn sessions() {
    let mut bench = UiBench::by_the_book();
    let session = SessionId::parse("2026-11-15_001307").unwrap();
    let mut ask = |command: Command, result: serde_json::Value| {
        let ticket = bench.command(command);
        let sent = bench.sent().remove(0);
        bench.hear(&json!({"jsonrpc":"2.0","id":sent["id"],"result":result}).to_string());
        (sent, bench.settled(ticket).unwrap())
    };
    let list = Command::Library(LibraryCommand::List {
        scope: ListScope::All,
        limit: Some(3),
        search: Some("HELLO".into()),
    });
    let item = |title: &str| json!({"session_id":"2026-11-15_001307","title":title,"created_at":"2026-11-15T00:13:07Z","updated_at":"2026-11-15T00:13:08Z","message_count":4,"total_tokens":43});
    let (sent, listed) =
        ask(list, json!({"status":"success","sessions":[item("hello there"), item("other")]}));
    assert_eq!(sent["params"], json!({"limit":3}));
    assert!(matches!(listed, Ok(Receipt::Sessions(sessions)) if sessions.len() == 1));
    let save = Command::Library(LibraryCommand::Save { path: Some("/s.json".into()), history: true });
    let (_, saved) = ask(save, json!({"saved":true,"path":"/s.json","size":45632}));
    assert_eq!(saved, Ok(Receipt::Saved { path: "/s.json".into(), size: 45632 }));
    let export = Command::Library(LibraryCommand::Export { session: None, format: ExportFormat::Markdown });
    let (_, exported) = ask(export, json!({"status":"success","format":"markdown","content":"# x"}));
    assert_eq!(exported, Ok(Receipt::Exported { format: ExportFormat::Markdown, text: "# x".into() }));
    let delete = Command::Library(LibraryCommand::Delete { session });
    let (_, deleted) = ask(delete, json!({"status":"error","error":"Failed to delete session"}));
    assert!(deleted.is_err());
    let load = Command::Library(LibraryCommand::Load { path: "/s.json".into() });
    let (sent, loaded) = ask(
        load,
        json!({"loaded":true,"session":{"id":"session-123","created":1696435000,"blocks_count":42,"messages_count":15}}),
    );
    assert_eq!(sent["params"], json!({"path":"/s.json"}));
    assert!(matches!(loaded, Ok(Receipt::Session { session, .. }) if session.messages == 15));
    let open = Command::Library(LibraryCommand::Open { session: SessionId::parse("nope-nope").unwrap() });
    let (_, unknown) = ask(open, json!({"status":"error","error":"Session nope not found"}));
    assert!(matches!(unknown, Err(refusal) if refusal.kind == RefusalKind::SessionUnknown));
}

#[test]
fn a_loaded_session_is_told_once() {
    let mut bench = UiBench::by_the_book();
    let session = SessionId::parse("2026-11-15_001307").unwrap();
    for _ in 0..2 {
        let ticket = bench.command(Command::Library(LibraryCommand::Open { session: session.clone() }));
        let id = bench.sent()[0]["id"].clone();
        let message = |role: &str, content: &str| json!({"role":role,"content":content,"timestamp":"2026-11-15T00:13:07","token_count":null});
        let messages = [
            message("user", "hello"),
            message("assistant", "hi"),
            message("tool", "x"),
            message("user", "more"),
        ];
        bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":{"status":"success","session_id":"2026-11-15_001307","message_count":4,"messages":messages}}).to_string());
        assert!(
            matches!(bench.settled(ticket), Some(Ok(Receipt::Session { session: s, .. })) if s.id == session)
        );
    }
    assert_eq!(bench.state.runs.len(), 2);
    assert_eq!(prompted(&bench.state).as_deref(), Some("more"));
    assert!(bench.state.open_run().is_none());
}

#[test]
fn what_this_wire_cannot_do_is_refused() {
    let mut bench = UiBench::by_the_book();
    for command in [
        Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }),
        Command::Session(SessionCommand::Clear),
        Command::Run(RunCommand::Compact { instruction: None }),
        Command::Session(SessionCommand::SetModel { provider: None, name: "x".into() }),
        Command::List(ListCommand::Servers),
    ] {
        let ticket = bench.command(command);
        assert!(
            matches!(bench.settled(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::Unsupported)
        );
    }
    bench.query();
    let ticket = bench.command(Command::Run(RunCommand::Prompt {
        input: Input::text("again"),
        options: PromptOptions::default(),
    }));
    assert!(matches!(bench.settled(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::Busy));
}

#[test]
fn suggestions_and_words_we_do_not_know() {
    let mut bench = UiBench::by_the_book();
    bench.hear(&note(
        "suggestion.inline",
        &json!({"suggestion":"cargo test","confidence":0.87,"source":"command_history","context":"why"}),
    ));
    let wanted = Signal::Suggestion {
        text: "cargo test".into(),
        confidence: 870,
        source: "command_history".into(),
        context: Some("why".into()),
    };
    assert_eq!(bench.effects, [UiEffect::Signal(wanted)]);
    bench.effects.clear();
    for line in [
        "not json at all",
        r#"{"jsonrpc":"2.0","method":"voice.input","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"stream.token","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
    ] {
        bench.hear(line);
        assert!(
            matches!(bench.effects.as_slice(), [UiEffect::Link(LinkEffect::Drift(_))]),
            "{line}: {:?}",
            bench.effects
        );
        bench.effects.clear();
    }
    bench.hear(r#"{"jsonrpc":"2.0","id":5,"method":"ui.ask","params":{}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32601);
}

#[test]
fn a_backend_that_dies_settles_everything() {
    let mut bench = UiBench::by_the_book();
    let prompt = bench.command(Command::Run(RunCommand::Prompt {
        input: Input::text("go"),
        options: PromptOptions::default(),
    }));
    let list = bench.command(Command::Library(LibraryCommand::List {
        scope: ListScope::All,
        limit: None,
        search: None,
    }));
    bench.close();
    for ticket in [prompt, list] {
        assert!(matches!(bench.settled(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::Lost));
    }
    assert!(!bench.events.iter().any(|event| matches!(event.body, Body::Run(RunEvent::Started { .. }))));
}

/// The last thing that the person said.
fn prompted(state: &State) -> Option<String> {
    SessionSummary::of(&SessionId::from_number(1), state).last_prompt
}
