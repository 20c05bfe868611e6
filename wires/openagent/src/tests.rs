//! Both roles: tables, quirks, noise, and held to the fidelity table. Conversations are in the transcripts.

mod mirror;
mod noise;
mod quirks;
mod requests;
mod runtime;
mod seed;
mod ui;

use super::{OpenagentRuntime, OpenagentUi, quirks as listed};
use domain::ask::{AskKind, Assessment, Consent, Preview, Risk};
use domain::command::{Command, Receipt, RunCommand};
use domain::ids::{AskId, Millis, RunId, ToolRunId};
use domain::port::Ticket;
use domain::session::ModelRef;
use roles::{Greeting, Hello};
use serde_json::Value;
use testkit::bench::{RuntimeBench, UiBench, session};

const HOME: &str = "sess-0123abcd";
const SIDE: &str = "sess-5678efab";

#[test]
fn every_quirk_has_its_test() {
    let tests = include_str!("tests/quirks.rs");
    for quirk in listed::QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "no test for {}", quirk.name);
    }
}

/// Our backend, which nobody has greeted.
fn runtime() -> RuntimeBench {
    let greeting = Greeting {
        version: "1.2.3".into(),
        cwd: "/p".into(),
        model: Some(("offline".into(), "echo".into())),
        models: [("offline", "echo"), ("anthropic", "claude")].map(|(p, n)| (p.into(), n.into())).to_vec(),
        ..Greeting::default()
    };
    let mut bench = RuntimeBench::open(OpenagentRuntime::new(), session(HOME), &greeting);
    bench.model = Some(ModelRef { provider: "offline".into(), name: "echo".into() });
    bench
}

/// Our backend and a client that follows the document.
fn by_the_book() -> RuntimeBench {
    greeted(
        r#"{"protocol_version":"1.0.0","client_info":{"name":"seedling","version":"1.0.0"},"capabilities":
           ["streaming","blocks","syntax_highlighting","tool_approval","session_persistence"]}"#,
    )
}

/// Our backend and the existing client.
fn terminal() -> RuntimeBench {
    greeted(
        r#"{"protocol_version":"1.0.0","client_info":{"name":"openagent-terminal","version":"0.1.0"},
           "terminal_size":{"cols":80,"rows":24},"capabilities":["streaming","blocks","syntax_highlighting"]}"#,
    )
}

fn greeted(params: &str) -> RuntimeBench {
    let mut bench = runtime();
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    bench.say(&line.replace('\n', " "));
    assert_eq!(bench.sent()[0]["result"]["status"], "ready");
    bench
}

/// Asks, and lets the run begin at home.
fn query(bench: &mut RuntimeBench) -> RunId {
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go"}}"#);
    let (ticket, _, command) = bench.command();
    assert!(matches!(command, Command::Run(RunCommand::Prompt { .. })), "{command:?}");
    bench.attach();
    start(bench, ticket)
}

/// Lets the run of a prompt begin where things happen.
fn start(bench: &mut RuntimeBench, ticket: Ticket) -> RunId {
    let run = bench.mint_run();
    bench.settle(ticket, Ok(Receipt::Started { session: bench.session.clone(), run }));
    bench.start(run, "go");
    run
}

/// What a person is asked before a file is written.
fn consent(bench: &mut RuntimeBench, tool: ToolRunId, risk: Risk) -> AskKind {
    AskKind::Consent(Box::new(Consent {
        preview: Some(Preview::Diff { path: "a.rs".into(), text: "--- a\n+++ b\n".into() }),
        assessment: Assessment {
            risk,
            reasons: vec!["changes a file".into()],
            reversible: true,
            unrated: false,
        },
        rule: Some("write in this project".into()),
        ..bench.consent(tool)
    }))
}

fn may_it_write(bench: &mut RuntimeBench, tool: ToolRunId, risk: Risk) -> AskId {
    let kind = consent(bench, tool, risk);
    let deadline = Millis(bench.now.0 + 30_000);
    bench.ask_until("Write a.rs", kind, Some(deadline))
}

/// A query of a client that follows the document, and the tool that waits for its approval.
fn awaiting() -> (RuntimeBench, ToolRunId, AskId) {
    let mut bench = by_the_book();
    query(&mut bench);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "write", "{}");
    let ask = may_it_write(&mut bench, tool, Risk::High);
    (bench, tool, ask)
}

/// Our client in front of a backend that says nothing yet.
fn ui() -> UiBench {
    let hello =
        Hello { version: "1.2.3".into(), cwd: "/p".into(), size: Some((100, 30)), ..Hello::default() };
    UiBench::open(OpenagentUi::new(), &hello)
}

/// Our client in front of a backend that follows the document.
fn ui_by_the_book() -> UiBench {
    ui_greeted(
        r#"{"status":"ready","server_info":{"name":"openagent","version":"0.1.3"},"capabilities":["streaming"],
           "models":[{"name":"codellama-7b","type":"code","loaded":true},{"name":"mistral-7b","type":"chat","loaded":false}]}"#,
    )
}

/// Our client in front of the existing backend.
fn existing() -> UiBench {
    ui_greeted(
        r#"{"status":"ready","server_info":{"name":"openagent-terminal-backend","version":"0.1.0"},
           "capabilities":["streaming","blocks","tool_execution"]}"#,
    )
}

fn ui_greeted(result: &str) -> UiBench {
    let mut bench = ui();
    bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).replace('\n', " "));
    assert!(bench.role.abilities().is_some());
    bench.forget();
    bench
}

/// Asks, and gives the query its name.
fn ui_query(bench: &mut UiBench) -> Ticket {
    let ticket = bench.prompt("go");
    let id = bench.sent()[0]["id"].clone();
    bench.hear(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"query_id":"q-9","status":"processing"}}}}"#
    ));
    ticket
}

/// Notifications by their method.
fn methods(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| line["method"].as_str().unwrap_or("response").to_owned()).collect()
}
