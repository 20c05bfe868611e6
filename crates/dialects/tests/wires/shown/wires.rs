//! Every wire with a question put to it: what was said, and the question as its UI draws it.

use super::screens::{self, Question};
use domain::ask::{AskKind, Consent};
use domain::command::{Command, ListCommand, Receipt, RunCommand};
use domain::session::{SkillList, Stats};
use roles::{Greeting, RuntimeRole};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, session};

/// What came of a question.
pub(super) struct Told {
    pub(super) question: Option<Question>,
    /// Everything that was said and logged, in one piece.
    pub(super) said: String,
    /// The hub was told that this UI cannot be asked.
    pub(super) unanswerable: bool,
}

pub(super) struct Wire {
    /// The dialect, and which UI.
    pub(super) name: &'static str,
    /// Whether the wire has consents.
    pub(super) asks: bool,
    /// Whether it has other questions.
    pub(super) asks_all: bool,
    /// Whether the peer is told everything, whatever its length.
    pub(super) lossless: bool,
    /// A session with a client that has said who it is.
    open: fn() -> RuntimeBench,
    /// The question as its UI draws it.
    draw: fn(&[Value]) -> Option<Question>,
}

impl Wire {
    /// A run asks the person; about a tool once it has proposed that.
    pub(super) fn ask(&self, title: &str, kind: &AskKind) -> Told {
        let (bench, sent) = self.put(title, kind);
        let mut said = String::new();
        sent.iter().for_each(|line| strings(line, &mut said));
        said.push_str(&bench.link.logs.concat());
        Told { question: (self.draw)(&sent), said, unanswerable: !bench.unanswerable.is_empty() }
    }

    /// The same, with the session that waits for an answer and what was sent.
    pub(super) fn put(&self, title: &str, kind: &AskKind) -> (RuntimeBench, Vec<Value>) {
        let mut bench = (self.open)();
        if bench.state().open_run().is_none() {
            bench.begin("go");
        }
        let (_, message) = bench.step();
        let kind = match kind {
            AskKind::Consent(consent) => {
                let tool = bench.propose(message, &consent.name, consent.args.as_str());
                AskKind::Consent(Box::new(Consent { tool, ..*consent.clone() }))
            }
            kind => kind.clone(),
        };
        bench.forget();
        bench.ask(title, kind);
        let sent = bench.sent();
        (bench, sent)
    }
}

pub(super) const WIRES: &[Wire] = &[
    Wire { name: "lemon, pi", asks: true, asks_all: true, lossless: false, open: lemon, draw: screens::pi },
    Wire {
        name: "codelia, terminal UI",
        asks: true,
        asks_all: true,
        lossless: false,
        open: codelia,
        draw: screens::codelia,
    },
    Wire {
        name: "openagent, terminal",
        asks: true,
        asks_all: false,
        lossless: false,
        open: openagent,
        draw: screens::openagent,
    },
    Wire {
        name: "acp, editor",
        asks: true,
        asks_all: true,
        lossless: false,
        open: acp,
        draw: screens::editor,
    },
    Wire { name: "native", asks: true, asks_all: true, lossless: true, open: native, draw: told },
    Wire { name: "nous", asks: false, asks_all: false, lossless: false, open: nous, draw: told },
    Wire { name: "asst", asks: false, asks_all: false, lossless: false, open: asst, draw: told },
];

fn open(role: impl RuntimeRole + 'static) -> RuntimeBench {
    let greeting = Greeting { version: "0".to_owned(), cwd: "/w".to_owned(), ..Greeting::default() };
    let mut bench = RuntimeBench::open(role, session("sess-0123abcd"), &greeting);
    bench.opened("/w");
    bench
}

/// The client begins a run.
fn prompt(bench: &mut RuntimeBench, line: &Value) {
    bench.say(&line.to_string());
    let (ticket, _, command) = bench.command();
    assert!(matches!(command, Command::Run(RunCommand::Prompt { .. })), "{command:?}");
    let run = bench.mint_run();
    bench.settle(ticket, Ok(Receipt::Started { session: bench.session.clone(), run }));
    bench.start(run, "go");
}

/// The texts of a line, as they are read there.
fn strings(json: &Value, into: &mut String) {
    match json {
        Value::String(text) => into.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => members.values().for_each(|member| strings(member, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn lemon() -> RuntimeBench {
    let mut bench = open(lemon::LemonRuntime::new());
    bench.attach();
    for (ticket, ..) in bench.commands() {
        bench.settle(ticket, Ok(Receipt::Stats(Stats::default())));
    }
    bench
}

fn codelia() -> RuntimeBench {
    let mut bench = open(codelia::CodeliaRuntime::new());
    let capabilities = json!({"supports_confirm":true,"supports_prompt":true,"supports_pick":true});
    let client = json!({"name":"codelia-tui","version":"0"});
    let params = json!({"protocol_version":"0","client":client,"ui_capabilities":capabilities});
    bench.say(&json!({"id":"1","method":"initialize","params":params}).to_string());
    bench.attach();
    bench
}

fn openagent() -> RuntimeBench {
    let mut bench = open(openagent::OpenagentRuntime::new());
    let client = json!({"name":"openagent-terminal","version":"0.1.0"});
    let params =
        json!({"protocol_version":"1.0.0","client_info":client,"capabilities":["streaming","blocks"]});
    bench.say(&json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":params}).to_string());
    bench.attach();
    prompt(&mut bench, &json!({"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go"}}));
    bench
}

fn acp() -> RuntimeBench {
    let mut bench = open(acp::AcpRuntime::new());
    let params = json!({"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}});
    bench.say(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":params}).to_string());
    let params = json!({"cwd":"/w","mcpServers":[]});
    bench.say(&json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":params}).to_string());
    bench.attach();
    let here = testkit::bench::summary(&bench.session);
    loop {
        let commands = bench.commands();
        if commands.is_empty() {
            break;
        }
        for (ticket, _, command) in commands {
            let receipt = match command {
                Command::List(ListCommand::Models { .. }) => {
                    Receipt::Models { models: Vec::new(), current: None }
                }
                Command::List(ListCommand::Skills { .. }) => Receipt::Skills(SkillList::default()),
                _ => Receipt::Session { session: here.clone(), parent: None },
            };
            bench.settle(ticket, Ok(receipt));
        }
    }
    let words = json!([{"type":"text","text":"go"}]);
    let params = json!({"sessionId":bench.session.to_string(),"prompt":words});
    prompt(&mut bench, &json!({"jsonrpc":"2.0","id":2,"method":"session/prompt","params":params}));
    bench
}

fn native() -> RuntimeBench {
    let mut bench = open(native::NativeRuntime::new());
    bench.say(r#"{"hello":{"protocol":1}}"#);
    bench.attach();
    bench
}

fn nous() -> RuntimeBench {
    let mut bench = open(nous::NousRuntime::new());
    bench.attach();
    bench
}

fn asst() -> RuntimeBench {
    let mut bench = open(asst::AsstRuntime::new());
    bench.attach();
    bench
}

fn told(sent: &[Value]) -> Option<Question> {
    screens::ours(sent, |line| line.to_string().contains("opened"))
}
