//! Both roles: tables, quirks, bounds and what is said is what is heard. Conversations are in the transcripts.

mod asking;
mod client_tools;
mod mirror;
mod quirks;
mod runtime;
mod seed;
mod shell;
mod ui;

use super::{CodeliaRuntime, CodeliaUi, quirks as listed};
use domain::ask::{AskKind, Consent, Preview};
use domain::ids::{AskId, ToolRunId};
use roles::{Greeting, Hello};
use testkit::bench::{Link, RuntimeBench, UiBench, session};

const SESSION: &str = "sess-0123abcd";

#[test]
fn every_quirk_has_its_test() {
    let tests = include_str!("tests/quirks.rs");
    for quirk in listed::QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "no test for {}", quirk.name);
    }
}

/// Our runtime, which nobody has greeted.
fn runtime() -> RuntimeBench {
    let greeting = Greeting { version: "1.0.0".into(), cwd: "/home/user/p".into(), ..Greeting::default() };
    RuntimeBench::open(CodeliaRuntime::new(), session(SESSION), &greeting)
}

/// Our runtime and a UI that can answer everything.
fn greeted() -> RuntimeBench {
    let mut bench = runtime();
    bench.say(
        r#"{"id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},
           "ui_capabilities":{"supports_confirm":true,"supports_prompt":true,"supports_pick":true}}}"#,
    );
    bench.attach();
    bench.forget();
    bench
}

/// A question whether `bash` may run, its rule offered to be remembered.
fn may_it_run(bench: &mut RuntimeBench, tool: ToolRunId, rule: Option<&str>) -> AskId {
    let preview = Some(Preview::Command { line: "echo hi".into(), inner: vec![] });
    let consent = Consent { preview, rule: rule.map(str::to_owned), ..bench.consent(tool) };
    bench.ask("May it run?", AskKind::Consent(Box::new(consent)))
}

/// A run that waits for the answer to such a question.
fn waiting(rule: Option<&str>) -> (RuntimeBench, AskId) {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", "{}");
    let ask = may_it_run(&mut bench, tool, rule);
    (bench, ask)
}

/// Our UI in front of a runtime that says nothing yet.
fn ui() -> UiBench {
    UiBench::open(CodeliaUi::new(), &Hello { version: "1.0.0".into(), ..Hello::default() })
}

/// Our UI and a runtime that announces its questions.
fn ui_greeted() -> UiBench {
    let mut bench = ui();
    bench.hear(
        r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"},"server_capabilities":
           {"supports_run_cancel":true,"supports_permission_preflight_events":true}}}"#,
    );
    bench.hear(r#"{"id":"2","error":{"code":-32601,"message":"method not found"}}"#);
    bench.forget();
    bench
}

/// Our UI with a run under way, its name known.
fn ui_running() -> UiBench {
    let mut bench = ui_greeted();
    bench.prompt("x");
    bench.hear(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench
}

fn run_event(event: &str) -> String {
    format!(r#"{{"method":"agent.event","params":{{"run_id":"r1","seq":0,"event":{event}}}}}"#)
}

/// The lines that were sent, one below the other, without what all of them have.
fn said(link: &mut Link) -> String {
    let mut text = String::new();
    for sent in link.outgoing(None) {
        let mut value = sent.json();
        assert_eq!(value["jsonrpc"], "2.0");
        value.as_object_mut().unwrap().remove("jsonrpc");
        text.push_str(&format!("{value}\n"));
    }
    text
}
