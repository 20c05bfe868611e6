//! The roles on the bench: tables, quirks and properties. What a conversation can show is in the transcripts.

mod brought;
mod edges;
mod errands;
mod judged;
mod menus;
mod patience;
mod quirks;
mod runtime;
mod sessions;
mod ui;

use super::{AcpRuntime, AcpUi};
use domain::command::{Command, LibraryCommand, ListCommand, Receipt};
use domain::event::{Body, SessionEvent};
use domain::ids::SessionId;
use domain::port::Ticket;
use domain::session::{ModelEntry, ModelRef, SkillList};
use roles::{FolderNames, Greeting, Hello};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, UiBench, session, summary};

fn greeting() -> Greeting {
    let model = Some(("north".to_owned(), "large".to_owned()));
    let folders = FolderNames(linked);
    Greeting { version: "0".to_owned(), cwd: "/w".to_owned(), model, folders, ..Greeting::default() }
}

/// The disk of these tests: `/linked` leads to `/w`.
fn linked(folder: &str) -> String {
    if folder == "/linked" { "/w".to_owned() } else { folder.to_owned() }
}

fn here() -> SessionId {
    session("sess-0001")
}

/// An agent that nobody greeted.
fn agent() -> RuntimeBench {
    RuntimeBench::open(AcpRuntime::new(), here(), &greeting())
}

/// A client with these capabilities greets.
fn greeted(capabilities: Value) -> RuntimeBench {
    let mut bench = agent();
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    bench.say(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":params}).to_string());
    assert_eq!(bench.sent()[0]["result"]["protocolVersion"], 1);
    bench
}

/// A model that takes an effort, and one that does not.
fn models() -> Vec<ModelEntry> {
    let entry = |name: &str, thinks: bool| ModelEntry {
        model: ModelRef { provider: "north".to_owned(), name: name.to_owned() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
        thinks: Some(thinks),
    };
    vec![entry("large", true), entry("plain", false)]
}

/// Settles what was asked for beside the session itself: the models and the skills.
fn settle_lists(bench: &mut RuntimeBench) {
    for (ticket, _, command) in bench.commands() {
        match command {
            Command::List(ListCommand::Models { .. }) => {
                let receipt = Receipt::Models { models: models(), current: None };
                bench.settle(ticket, Ok(receipt));
                settle_lists(bench);
            }
            Command::List(ListCommand::Skills { .. }) => {
                bench.settle(ticket, Ok(Receipt::Skills(SkillList::default())));
            }
            other => panic!("not a list: {other:?}"),
        }
    }
}

/// A client that has a session: `sess-0001`, in `/w`.
fn up(capabilities: Value) -> RuntimeBench {
    let mut bench = greeted(capabilities);
    let params = json!({"cwd":"/w","mcpServers":[]});
    bench.say(&json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":params}).to_string());
    let ticket = one(
        &mut bench,
        |command| matches!(command, Command::Library(LibraryCommand::New { cwd: Some(cwd), .. }) if cwd == "/w"),
    );
    let opened = SessionEvent::Opened { cwd: "/w".to_owned(), project: "/w".to_owned(), parent: None };
    bench.miss(Body::Session(opened));
    bench.attach();
    bench.settle(ticket, Ok(Receipt::Session { session: summary(&here()), parent: None }));
    settle_lists(&mut bench);
    let sent = bench.sent();
    assert_eq!(sent[0]["result"]["sessionId"], "sess-0001", "{sent:?}");
    bench
}

/// The only command that is wanted, which is of this kind.
fn one(bench: &mut RuntimeBench, is: impl Fn(&Command) -> bool) -> Ticket {
    let wanted = bench.commands();
    assert_eq!(wanted.len(), 1, "{wanted:?}");
    assert!(is(&wanted[0].2), "{wanted:?}");
    wanted[0].0
}

/// The updates that were said, each by its kind.
fn updates(sent: &[Value]) -> Vec<&str> {
    sent.iter().filter_map(|line| line["params"]["update"]["sessionUpdate"].as_str()).collect()
}

/// A client of ours whose agent has answered with a session.
fn client() -> UiBench {
    client_of(json!({"protocolVersion":1,"agentCapabilities":{"loadSession":true,
        "promptCapabilities":{"image":true,"embeddedContext":true},"sessionCapabilities":{"list":{},"resume":{}}},
        "agentInfo":{"name":"goose","version":"1"}}))
}

fn client_of(greeting: Value) -> UiBench {
    let hello = Hello { version: "0".to_owned(), cwd: "/w".to_owned(), ..Hello::default() };
    let mut bench = UiBench::open(AcpUi::new(), &hello);
    bench.hear(&json!({"jsonrpc":"2.0","id":1,"result":greeting}).to_string());
    bench.hear(&json!({"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}).to_string());
    let sent = bench.sent();
    assert_eq!(sent[0]["method"], "initialize");
    assert_eq!(sent[1]["method"], "session/new");
    bench
}

/// Something that the agent tells of its session.
fn told(update: Value) -> String {
    json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"theirs-1","update":update}})
        .to_string()
}
