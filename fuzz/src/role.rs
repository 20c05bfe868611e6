//! Either role of a wire: hostile lines from the peer, while our side does what it may do. The bench holds the role to its laws.

use crate::steps::{Step, steps};
use dialects::Dialect;
use domain::command::{Command, Receipt, Refusal, RefusalKind, RunCommand};
use domain::event::Body;
use roles::{Greeting, Hello};
use testkit::bench::{RuntimeBench, UiBench, session};

/// The session that is open, by the name that it has in the fixtures.
pub(crate) const SESSION: &str = "sess-00000000a001";

/// A UI says anything to our runtime.
pub(crate) fn runtime(dialect: Dialect, bytes: &[u8]) {
    let greeting = Greeting { version: "1".to_owned(), cwd: "/w".to_owned(), ..Greeting::default() };
    let mut bench = RuntimeBench::of(dialect.runtime_role(), session(SESSION), &greeting);
    bench.opened("/w");
    bench.attach();
    let mut waiting = std::collections::VecDeque::new();
    for step in steps(bytes) {
        if bench.link.closed.is_some() {
            break;
        }
        match step {
            Step::Line(lane, line) => bench.call(|role, cx| role.line(cx, lane, line)),
            Step::Settle(receipt) => {
                if let Some((ticket, _, _)) = waiting.pop_front() {
                    bench.settle(ticket, record::decode::<Receipt>(&receipt).map_err(|_| refusal()));
                }
            }
            Step::Happens(body) => {
                if let Ok(body) = record::decode::<Body>(&body) {
                    bench.happen_if_lawful(body);
                }
            }
            Step::Wait(millis) => bench.wait(millis),
            Step::Command(_) => {}
        }
        waiting.extend(bench.commands());
    }
    if bench.link.closed.is_none() {
        while let Some((ticket, _, _)) = waiting.pop_front() {
            bench.settle(ticket, Err(refusal()));
            waiting.extend(bench.commands());
        }
    }
    bench.call(|role, cx| role.closed(cx));
}

/// A runtime says anything to our UI.
pub(crate) fn ui(dialect: Dialect, bytes: &[u8]) {
    let hello = Hello { version: "1".to_owned(), cwd: "/w".to_owned(), ..Hello::default() };
    let mut bench = UiBench::of(dialect.ui_role(), &hello);
    for step in steps(bytes) {
        if bench.link.closed.is_some() {
            break;
        }
        match step {
            Step::Line(lane, line) => bench.call(|role, cx, seen| role.line(cx, seen, lane, line)),
            Step::Command(command) => {
                if let Ok(command) = record::decode::<Command>(&command) {
                    wants(&mut bench, command);
                }
            }
            Step::Wait(millis) => bench.wait(millis),
            Step::Settle(_) | Step::Happens(_) => {}
        }
    }
    bench.gone();
}

/// Our side wants something, as the hub lets it: an answer only to what is asked, and a prompt that is taken begins a run.
fn wants(bench: &mut UiBench, command: Command) {
    match command {
        Command::Answer { answer, .. } => {
            let fits = bench
                .state
                .asks
                .first()
                .is_some_and(|ask| bench.state.close_with(ask.id, &answer, None).is_ok());
            if fits {
                bench.answer(answer);
            }
        }
        Command::Run(RunCommand::Prompt { .. }) => {
            let ticket = bench.command(command);
            if let Some(Ok(_)) = bench.settlement(ticket)
                && bench.state.open_run().is_none()
            {
                bench.begin();
            }
        }
        command => {
            bench.command(command);
        }
    }
}

fn refusal() -> Refusal {
    Refusal::new(RefusalKind::Unsupported, "not here")
}
