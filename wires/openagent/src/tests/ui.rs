//! The client's side: handshake, every notification of the document, commands, and backends that misbehave.

use super::{ui_by_the_book, ui_query};
use crate::OpenagentUi;
use domain::ask::{AskKind, Preview, Risk};
use domain::command::{Command, ExportFormat, LibraryCommand, ListCommand, ListScope, Receipt};
use domain::content::{Part, Role};
use domain::event::Outcome;
use domain::prompt_text::{self, OwnEnd};
use domain::signal::UiContext;
use domain::state::EntryKind;
use roles::Hello;
use serde_json::json;
use testkit::bench::{UiBench, session, texts};

fn note(method: &str, params: &serde_json::Value) -> String {
    json!({"jsonrpc":"2.0","method":method,"params":params}).to_string()
}

#[test]
fn models_are_those_of_the_handshake() {
    let mut bench = ui_by_the_book();
    assert_eq!(bench.role.abilities().unwrap().name, "openagent 0.1.3");
    let ticket = bench.command(Command::List(ListCommand::Models { provider: None }));
    let Some(Ok(Receipt::Models { models, current })) = bench.settlement(ticket) else { panic!() };
    assert_eq!((models.len(), current.unwrap().name.as_str()), (2, "codellama-7b"));
}

/// A client of a conversation that is kept, after its first query.
fn after_the_first(keeps: bool) -> UiBench {
    let mut bench = UiBench::open(OpenagentUi::new(), &Hello { keeps, ..Hello::default() });
    let id = bench.sent()[0]["id"].clone();
    let server = json!({"status":"ready","server_info":{"name":"openagent","version":"1"},"capabilities":[]});
    bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":server}).to_string());
    ui_query(&mut bench);
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"success"})));
    // Who leaves when the run is told to be over must find the session again: its name comes first, where somebody keeps it.
    assert_eq!(bench.state.open_run().is_some(), keeps);
    bench
}

#[test]
fn a_run_is_over_without_a_name_when_the_backend_does_not_tell_it_or_goes() {
    let ends: [fn(&mut UiBench); 3] = [
        |bench| bench.wait(1_000),
        |bench| {
            let id = bench.sent()[0]["id"].clone();
            bench.hear(&json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"no"}}).to_string());
        },
        UiBench::gone,
    ];
    for end in ends {
        let mut bench = after_the_first(true);
        end(&mut bench);
        assert!(bench.state.open_run().is_none());
        let ended = bench.state.runs.last().unwrap().ended.clone();
        assert_eq!(ended.map(|(_, outcome)| outcome), Some(Outcome::Done), "it was done");
    }
}

#[test]
fn what_the_session_of_the_first_query_is_called_is_learnt_from_the_list() {
    assert!(after_the_first(false).sent().is_empty(), "nobody wants to know");
    let untitled = json!([]);
    let titled = |title: &str| json!([{"session_id":"conv-nightly","title":title}]);
    for (sessions, named) in [
        (titled("go"), true),
        (titled("g…"), true),
        (titled("go on"), false),
        (titled(""), false),
        (untitled, false),
    ] {
        let mut bench = after_the_first(true);
        let asked = bench.sent().remove(0);
        assert_eq!((&asked["method"], &asked["params"]), (&json!("session.list"), &json!({"limit":1})));
        let list = json!({"status":"success","sessions":sessions});
        bench.hear(&json!({"jsonrpc":"2.0","id":asked["id"],"result":list}).to_string());
        assert!(bench.state.open_run().is_none());
        let name = bench.role.session_name();
        assert_eq!(name.as_deref(), named.then_some("conv-nightly"), "{sessions}");
        bench.prompt("go");
        let id = bench.sent()[0]["id"].clone();
        let accepted = json!({"query_id":"q-10","status":"processing"});
        bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":accepted}).to_string());
        bench.hear(&note("stream.complete", &json!({"query_id":"q-10","status":"success"})));
        assert!(bench.sent().is_empty(), "it is asked once");
    }
}

#[test]
fn what_a_question_and_a_block_hold() {
    let mut bench = ui_by_the_book();
    ui_query(&mut bench);
    for block in [
        json!({"query_id":"q-9","block_id":"block-789","block":{"type":"code","language":"rust","content":"fn x() {}","metadata":{"file":"src/main.rs"}}}),
        json!({"query_id":"q-9","type":"diff","content":"-a\n+b","language":null}),
    ] {
        bench.hear(&note("stream.block", &block));
    }
    let (language, path) = (Some("rust".to_owned()), Some("src/main.rs".to_owned()));
    let code = Part::Code { language, text: "fn x() {}".into(), path };
    let parts: Vec<Part> = bench
        .state
        .entries
        .values()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == Role::Assistant => Some(message.parts.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(parts, [code, Part::Diff { path: None, text: "-a\n+b".into() }]);
    bench.hear(&note("tool.request_approval", &json!({"execution_id":"exec-456def","query_id":"q-9","tool":{"name":"file_write","description":"Write optimized code to src/main.rs","category":"file_system"},"arguments":{"path":"src/main.rs"},"preview":{"type":"diff","content":"--- a\n+++ b"},"risk_assessment":{"level":"critical","reasons":["Modifies existing file"],"reversible":true},"timeout":30})));
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert_eq!(ask.title, "Write optimized code to src/main.rs");
    assert_eq!(consent.assessment.risk, Risk::Critical);
    assert_eq!(consent.preview, Some(Preview::Diff { path: String::new(), text: "--- a\n+++ b".into() }));
    assert_eq!(ask.deadline.map(|at| at.since(bench.now)), Some(30_000));
    assert!(consent.rule.is_some(), "the document lets every choice be remembered");
}

#[test]
fn that_it_cannot_be_undone_is_only_said_where_the_backend_does() {
    for (told, reversible) in [(None, true), (Some(false), false), (Some(true), true)] {
        let mut bench = ui_by_the_book();
        ui_query(&mut bench);
        let mut request = json!({"execution_id":"exec-1","query_id":"q-9","tool_name":"file_write",
            "description":"Write a file","risk_level":"high"});
        if let Some(told) = told {
            request["risk_assessment"] = json!({"level":"high","reasons":[],"reversible":told});
        }
        bench.hear(&note("tool.request_approval", &request));
        let AskKind::Consent(consent) = &bench.state.asks[0].kind else { panic!("{:?}", bench.state.asks) };
        assert_eq!(consent.assessment.reversible, reversible, "{told:?}");
    }
}

#[test]
fn ends_of_every_kind() {
    for (complete, wanted) in [
        (json!({"query_id":"q-9","status":"cancelled"}), "Cancelled"),
        (json!({"query_id":"q-9","status":"timeout"}), "timeout"),
        (json!({"query_id":"q-9","status":"error","error":"CUDA"}), "CUDA"),
    ] {
        let mut bench = ui_by_the_book();
        ui_query(&mut bench);
        bench.hear(&note("stream.complete", &complete));
        let outcome = format!("{:?}", bench.outcome().unwrap());
        assert!(outcome.contains(wanted), "{outcome}");
    }
    let mut bench = ui_by_the_book();
    ui_query(&mut bench);
    bench.hear(&note("stream.error", &json!({"query_id":"q-9","error":{"code":-32001,"message":"Model failed","details":"CUDA out of memory"}})));
    let Some(Outcome::Failed(failure)) = bench.outcome() else { panic!() };
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("model_error", "Model failed"));
    assert_eq!(failure.hint.as_deref(), Some("CUDA out of memory"));
}

#[test]
fn sessions() {
    let mut bench = ui_by_the_book();
    let stored = session("2026-11-15_001307");
    let mut ask = |command: Command, result: serde_json::Value| {
        let ticket = bench.command(command);
        let sent = bench.sent().remove(0);
        bench.hear(&json!({"jsonrpc":"2.0","id":sent["id"],"result":result}).to_string());
        (sent, bench.settlement(ticket).unwrap())
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
    let delete = Command::Library(LibraryCommand::Delete { session: stored });
    let (_, deleted) = ask(delete, json!({"status":"error","error":"Failed to delete session"}));
    assert!(deleted.is_err());
    let load = Command::Library(LibraryCommand::Load { path: "/s.json".into() });
    let (sent, loaded) = ask(
        load,
        json!({"loaded":true,"session":{"id":"session-123","created":1696435000,"blocks_count":42,"messages_count":15}}),
    );
    assert_eq!(sent["params"], json!({"path":"/s.json"}));
    assert!(matches!(loaded, Ok(Receipt::Session { session, .. }) if session.messages == 15));
}

#[test]
fn a_loaded_session_is_told_once() {
    let mut bench = ui_by_the_book();
    let stored = session("2026-11-15_001307");
    for _ in 0..2 {
        let ticket = bench.command(Command::Library(LibraryCommand::Open { session: stored.clone() }));
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
            matches!(bench.settlement(ticket), Some(Ok(Receipt::Session { session: s, .. })) if s.id == stored)
        );
    }
    assert_eq!(bench.state.runs.len(), 2);
    assert_eq!(texts(&bench.state, Role::User), ["hello", "more"]);
    assert!(bench.state.open_run().is_none());
}

#[test]
fn an_error_of_the_stream_ends_the_query_with_or_without_a_complete() {
    for complete in [true, false] {
        let mut bench = ui_by_the_book();
        ui_query(&mut bench);
        bench.hear(&note("stream.error", &json!({"query_id":"q-9","error":{"code":-32000,"message":"Agent processing failed","details":"CUDA out of memory"}})));
        let Some(Outcome::Failed(failure)) = bench.outcome() else { panic!("{:?}", bench.outcome()) };
        assert_eq!(
            (failure.message.as_str(), failure.hint.as_deref()),
            ("Agent processing failed", Some("CUDA out of memory"))
        );
        if complete {
            bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"error"})));
        }
        assert_eq!(bench.state.runs.len(), 1);
        bench.prompt("again");
        assert_eq!(bench.sent().last().unwrap()["method"], "agent.query");
    }
}

#[test]
fn an_error_block_stands_in_its_place_and_gives_the_reason() {
    let mut bench = ui_by_the_book();
    ui_query(&mut bench);
    bench.hear(&note("stream.token", &json!({"query_id":"q-9","token":"before"})));
    bench.hear(&note("stream.block", &json!({"query_id":"q-9","type":"error","content":"disk full\n"})));
    bench.hear(&note("stream.token", &json!({"query_id":"q-9","token":"after"})));
    bench.hear(&note("stream.complete", &json!({"query_id":"q-9","status":"error"})));
    let entries: Vec<String> = bench
        .state
        .entries
        .values()
        .skip(1)
        .map(|entry| match &entry.kind {
            EntryKind::Message(message) => message.text(),
            EntryKind::Notice { text, .. } => format!("! {text}"),
            EntryKind::Compaction(_) => String::new(),
        })
        .collect();
    assert_eq!(entries, ["before", "! disk full", "after"]);
    let Some(Outcome::Failed(failure)) = bench.outcome() else { panic!() };
    assert_eq!(failure.message, "disk full", "told before, so that nobody says it twice");
}

#[test]
fn what_is_noted_about_a_block_and_which_model_answered() {
    let mut bench = ui_by_the_book();
    ui_query(&mut bench);
    bench.hear(&note(
        "stream.block",
        &json!({"query_id":"q-9","block":{"type":"code","language":"rust","content":"fn x() {}",
        "metadata":{"file":"src/main.rs","lines":"10-15","executable":true},
        "annotations":[{"line":1,"type":"suggestion","message":"This uses iterator adaptors"}]}}),
    ));
    let text = texts(&bench.state, Role::Assistant).concat();
    assert!(text.contains("line 1, suggestion: This uses iterator adaptors"), "{text}");
    assert!(text.contains("can be run as it stands"), "{text}");
    let paths: Vec<_> = bench
        .state
        .entries
        .values()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) => message.parts.iter().find_map(|part| match part {
                Part::Code { path, .. } => path.clone(),
                _ => None,
            }),
            _ => None,
        })
        .collect();
    assert_eq!(paths, ["src/main.rs:10-15"]);
    bench.hear(&note(
        "stream.complete",
        &json!({"query_id":"q-9","status":"success","metadata":{"model_used":"codellama-7b"}}),
    ));
    assert_eq!(bench.state.settings.model.as_ref().map(|model| model.name.as_str()), Some("codellama-7b"));
}

#[test]
fn where_the_person_works_goes_to_the_members_of_the_document() {
    let mut bench = ui_by_the_book();
    let notes = [
        "shell: fish",
        "ran: cargo test (failed with code 101)",
        "open file: b.rs",
        "recent output:\npanicked",
    ];
    bench.command(Command::UpdateContext(UiContext {
        cwd: Some("/p/sub".into()),
        active_file: Some("a.rs".into()),
        notes: notes.map(str::to_owned).to_vec(),
        size: Some((110, 36)),
        ..UiContext::default()
    }));
    let told = bench.sent().remove(0);
    assert_eq!(told["method"], "context.update");
    assert_eq!(
        told["params"],
        json!({"cwd":"/p/sub","shell":"fish","recent_commands":[{"command":"cargo test","exit_code":101}],
        "recent_output":"panicked","open_files":["a.rs","b.rs"],"terminal_size":{"cols":110,"rows":36}})
    );
    bench.command(Command::UpdateContext(UiContext::of_size(100, 30)));
    assert_eq!(bench.sent()[0]["params"], json!({"terminal_size":{"cols":100,"rows":30}}));
    bench.prompt("go");
    let context = bench.sent()[0]["params"]["context"].clone();
    assert_eq!((&context["cwd"], &context["shell"]), (&json!("/p/sub"), &json!("fish")));
    assert_eq!(context["open_files"], json!(["a.rs", "b.rs"]), "a resize takes nothing away");
}

#[test]
fn a_query_tells_the_commands_and_files_that_the_person_told_and_no_other() {
    let mut bench = ui_by_the_book();
    let context = |bench: &mut UiBench, text: &str| {
        bench.prompt(text);
        let sent = bench.sent().pop().unwrap();
        let id = format!("q-{}", sent["id"]);
        bench.hear(
            &json!({"jsonrpc":"2.0","id":sent["id"],"result":{"query_id":id,"status":"processing"}})
                .to_string(),
        );
        bench.hear(&note("stream.complete", &json!({"query_id":id,"status":"success"})));
        sent["params"]["context"].clone()
    };
    let plain = context(&mut bench, "hello");
    assert!(plain.get("recent_commands").is_none() && plain.get("open_files").is_none(), "{plain}");
    let ran =
        prompt_text::with_own_command("cargo test", OwnEnd::Code(101), "panicked", "why? see @src/a.rs");
    let told = context(&mut bench, &ran);
    assert_eq!(told["recent_commands"], json!([{"command":"cargo test","exit_code":101}]));
    assert_eq!(told["open_files"], json!(["src/a.rs"]));
    let stopped = prompt_text::with_own_command("sleep 9", OwnEnd::Stopped, "", "and now?");
    let told = context(&mut bench, &stopped);
    assert_eq!(
        told["recent_commands"],
        json!([{"command":"cargo test","exit_code":101},{"command":"sleep 9"}])
    );
    assert!(told.get("open_files").is_none(), "what was mentioned before is not open now");
}
