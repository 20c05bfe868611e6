//! Both roles: tables, quirks, long answers and the way there and back. Conversations are in the transcripts.

mod quirks;
mod roundtrip;
mod runtime;
mod seed;
mod streams;
mod ui;

use super::{LemonRuntime, LemonUi};
use domain::command::{Command, Receipt, SessionCommand};
use domain::ids::{MessageId, SessionId};
use domain::session::Stats;
use domain::tool::{ToolOutcome, ToolResult};
use roles::{Greeting, Hello};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, UiBench};

const CWD: &str = "/home/user/project";

fn session(number: u64) -> SessionId {
    SessionId::from_number(number)
}

/// Our server, greeted and not yet with a session.
fn opened(options: &[(&str, &str)]) -> RuntimeBench {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let model = Some(("scripted".to_owned(), "script".to_owned()));
    let greeting =
        Greeting { version: "0".to_owned(), cwd: CWD.to_owned(), model, options, ..Greeting::default() };
    let mut bench = RuntimeBench::open(LemonRuntime::new(), session(1), &greeting);
    bench.opened(CWD);
    bench
}

/// Our server with a session, which has just said ready.
fn up(options: &[(&str, &str)]) -> RuntimeBench {
    let mut bench = opened(options);
    bench.attach();
    let (ticket, _, command) = bench.command();
    assert_eq!(command, Command::Session(SessionCommand::Stats));
    bench.settle(ticket, Ok(Receipt::Stats(Stats::default())));
    bench
}

/// Our server whose greeting is read.
fn ready() -> RuntimeBench {
    let mut bench = up(&[]);
    bench.forget();
    bench
}

/// The same in the middle of a run, with the beginning of the model's message.
fn speaking() -> (RuntimeBench, MessageId) {
    let mut bench = ready();
    bench.begin("go");
    let (_, message) = bench.step();
    bench.forget();
    (bench, message)
}

/// A tool from its proposal in `message`, which it ends, to its own end.
fn read(bench: &mut RuntimeBench, message: MessageId, result: ToolResult) {
    let tool = bench.propose(message, "read", r#"{"path":"a.txt"}"#);
    bench.end_message(message);
    bench.run_tool(tool, ToolOutcome::Done, result);
}

/// The type of a line; of an event, its own.
fn kind(line: &Value) -> String {
    let of = if line["type"] == "event" { &line["event"]["type"] } else { &line["type"] };
    of.as_str().unwrap_or_default().to_owned()
}

/// The types of what was sent since the last look.
fn kinds(bench: &mut RuntimeBench) -> Vec<String> {
    bench.sent().iter().map(kind).collect()
}

/// Our client in front of a server that says nothing yet.
fn ui_open() -> UiBench {
    let hello = Hello { version: "0".to_owned(), cwd: CWD.to_owned(), ..Hello::default() };
    UiBench::open(LemonUi::new(), &hello)
}

/// Our client in front of a server of the first kind.
fn ui() -> UiBench {
    let mut bench = ui_open();
    bench.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    bench
}

fn event(bench: &mut UiBench, kind: &str, data: &Value) {
    bench.hear(&json!({"type":"event","event":{"type":kind,"data":data}}).to_string());
}
