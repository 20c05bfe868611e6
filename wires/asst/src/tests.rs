//! Both roles: tables, quirks, bounds and the way there and back. Conversations are in the transcripts.

mod quirks;
mod requests;
mod round_trip;
mod ui;

use super::{AsstRuntime, AsstUi};
use domain::command::Receipt;
use domain::ids::{QueuedId, RunId};
use domain::port::Ticket;
use domain::queue::QueueKind;
use roles::{Greeting, Hello};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, UiBench, session};

/// Our runtime, which has just said ready.
fn runtime() -> RuntimeBench {
    let mut bench = RuntimeBench::open(AsstRuntime::new(), session("sess-0001"), &Greeting::default());
    bench.opened("/w");
    bench
}

/// Our runtime with a current session, its greeting read.
fn ready() -> RuntimeBench {
    let mut bench = runtime();
    bench.attach();
    bench.forget();
    bench
}

/// What was sent since the last look, timestamps taken off after a look at them.
fn told(bench: &mut RuntimeBench) -> Vec<Value> {
    let mut told = bench.sent();
    for line in &mut told {
        let stamp = line.as_object_mut().unwrap().remove("timestamp").expect("a timestamp");
        assert!(stamp.is_u64(), "{stamp}");
    }
    told
}

/// A message; gives the ticket of its prompt.
fn message(bench: &mut RuntimeBench, id: &str, text: &str) -> Ticket {
    bench.say(&json!({ "id": id, "kind": "user_message", "message": text }).to_string());
    bench.command().0
}

/// A message that begins a run.
fn prompt(bench: &mut RuntimeBench, id: &str) -> RunId {
    let (ticket, run) = (message(bench, id, "hello"), bench.mint_run());
    bench.settle(ticket, Ok(Receipt::Started { session: bench.session.clone(), run }));
    bench.start(run, "hello");
    run
}

/// A message that waits for the run under way.
fn queue(bench: &mut RuntimeBench, id: &str, run: RunId) -> QueuedId {
    let ticket = message(bench, id, "and then");
    let item = bench.queue(QueueKind::FollowUp, "and then");
    bench.settle(ticket, Ok(Receipt::Queued { item, run }));
    item
}

/// Our UI in front of a runtime that is ready.
fn ui() -> UiBench {
    let mut bench = UiBench::open(AsstUi::new(), &Hello::default());
    hear(&mut bench, &json!({ "type": "ready", "timestamp": 1 }));
    assert!(bench.role.abilities().is_some());
    bench
}

fn hear(bench: &mut UiBench, line: &Value) {
    bench.hear(&line.to_string());
}
