//! Both roles face to face: what a session of ours says over this wire is what the other side's session holds.
//!
//! This is what keeps the word "exact" in the fidelity table honest, and it is the bridge codelia ⇄ codelia in small.

use super::{SESSION, may_it_run, runtime, ui};
use domain::ask::{Answer, Closing, Scope};
use domain::command::{Command, ListCommand, Receipt, RunCommand};
use domain::content::{TextKind, Usage};
use domain::event::{AskEvent, Body, Failure, Outcome, RetryKind, RunEvent};
use domain::ids::RunId;
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;
use testkit::bench::{Pair, cancel, session, told};

struct Mirror {
    pair: Pair,
    run: Option<RunId>,
}

impl Mirror {
    /// Shakes hands; without `pieces` the capability for text deltas is lost on the way.
    fn new(pieces: bool) -> Mirror {
        let mut pair = Pair::new(runtime(), ui());
        pair.exchange_with(|line| if pieces { line } else { line.replace("supports_text_deltas", "x") });
        let mut mirror = Mirror { pair, run: None };
        mirror.pump();
        mirror.pair.runtime.attach();
        mirror
    }

    /// Moves lines and obeys until everybody is silent. Both understand each other.
    fn pump(&mut self) {
        loop {
            self.pair.exchange();
            assert_eq!((&self.pair.ui.link.drifts[..], &self.pair.runtime.link.logs[..]), (&[][..], &[][..]));
            let commands = self.pair.runtime.commands();
            if commands.is_empty() {
                return;
            }
            for (ticket, _, command) in commands {
                let receipt = self.obey(command);
                self.pair.runtime.settle(ticket, Ok(receipt));
            }
        }
    }

    fn obey(&mut self, command: Command) -> Receipt {
        match command {
            Command::Run(RunCommand::Prompt { .. }) => {
                let run = self.pair.runtime.mint_run();
                self.run = Some(run);
                Receipt::Started { session: session(SESSION), run }
            }
            Command::Answer { ask, answer } => {
                self.pair.runtime.close_ask(ask, Closing::Answered { answer, by: None });
                Receipt::Done
            }
            Command::List(ListCommand::Models { .. }) => Receipt::Models { models: vec![], current: None },
            other => panic!("{other:?}"),
        }
    }

    fn prompt(&mut self, text: &str) {
        self.pair.ui.prompt(text);
        self.pump();
        let run = self.run.take().unwrap();
        self.pair.runtime.start(run, text);
    }
}

/// What the model does in one step.
#[derive(Debug, Clone)]
struct Answered {
    parts: Vec<(TextKind, Vec<String>)>,
    tools: Vec<(ToolOutcome, String)>,
}

fn answered() -> impl Strategy<Value = Answered> {
    let kind = prop_oneof![Just(TextKind::Text), Just(TextKind::Thought)];
    let words = prop::collection::vec("[a-z\u{e9}\"]{1,3}[ \n]?[a-z]{1,3}", 1..3);
    let outcome = prop_oneof![Just(ToolOutcome::Done), Just(ToolOutcome::Failed), Just(ToolOutcome::Denied)];
    let parts = prop::collection::vec((kind, words), 0..4);
    let tools = prop::collection::vec((outcome, "[a-z{}\"]{0,8}"), 0..3);
    (parts, tools).prop_map(|(mut parts, tools)| {
        // Two streams of one kind in a row are one part.
        parts.dedup_by(|later, earlier| later.0 == earlier.0);
        Answered { parts, tools }
    })
}

fn play(mirror: &mut Mirror, steps: &[Answered]) {
    for (number, answered) in steps.iter().enumerate() {
        if answered.parts.is_empty() && answered.tools.is_empty() {
            continue;
        }
        let bench = &mut mirror.pair.runtime;
        let (step, message) = bench.step();
        for (kind, words) in &answered.parts {
            for word in words {
                bench.piece(message, *kind, word);
            }
        }
        let tools: Vec<_> = answered
            .tools
            .iter()
            .map(|_| bench.propose(message, "grep", &format!(r#"{{"n":{number}}}"#)))
            .collect();
        bench.end_message(message);
        for (tool, (outcome, text)) in tools.into_iter().zip(&answered.tools) {
            bench.run_tool(tool, outcome.clone(), ToolResult::text(text.clone()));
        }
        bench.end_step(step, Usage::default());
        mirror.pump();
    }
}

/// What a session holds. A last text that repeats the text before it counts once: a final cannot be told from a repetition.
fn exact(state: &domain::state::State) -> String {
    let told = told(state);
    let mut lines: Vec<&str> = told.lines().collect();
    let texts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("text")).collect();
    if let [.., before, last] = texts.as_slice()
        && lines[*before] == lines[*last]
    {
        lines.remove(*last);
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn what_is_said_is_what_is_heard(
        pieces in any::<bool>(),
        steps in prop::collection::vec(answered(), 0..5),
        end in prop_oneof![Just(Outcome::Done), Just(Outcome::Cancelled), Just(Outcome::Failed(Failure::new("runtime", "broke")))],
    ) {
        let mut mirror = Mirror::new(pieces);
        mirror.prompt("do it");
        mirror.pump();
        play(&mut mirror, &steps);
        mirror.pair.runtime.end(end);
        mirror.pump();
        prop_assert_eq!(exact(&mirror.pair.ui.state), exact(mirror.pair.runtime.state()));
    }
}

#[test]
fn a_consent_is_asked_and_answered_across() {
    for answer in [
        Answer::Allow { scope: Scope::Always, digest: None },
        Answer::Allow { scope: Scope::Once, digest: None },
        Answer::Deny { reason: Some("use another way".into()) },
        Answer::Deny { reason: None },
    ] {
        let mut mirror = Mirror::new(true);
        mirror.prompt("run it");
        let (_, message) = mirror.pair.runtime.step();
        let tool = mirror.pair.runtime.propose(message, "bash", r#"{"command":"echo hi"}"#);
        let asked = may_it_run(&mut mirror.pair.runtime, tool, Some("bash: echo"));
        mirror.pump();
        mirror.pair.ui.answer(answer.clone());
        mirror.pump();
        let closed = mirror.pair.runtime.events().iter().find_map(|event| match &event.body {
            Body::Ask(AskEvent::Closed { ask, closing: Closing::Answered { answer, .. } })
                if *ask == asked =>
            {
                Some(answer.clone())
            }
            _ => None,
        });
        match (answer, closed) {
            (Answer::Allow { scope, .. }, Some(Answer::Allow { scope: heard, .. })) => {
                assert_eq!(scope, heard);
            }
            (Answer::Deny { reason }, Some(Answer::Deny { reason: heard })) => assert_eq!(reason, heard),
            other => panic!("{other:?}"),
        }
        assert!(mirror.pair.ui.state.asks.is_empty());
    }
}

#[test]
fn a_cancel_while_a_consent_is_open_leaves_nothing_behind() {
    let mut mirror = Mirror::new(true);
    mirror.prompt("run it");
    let (_, message) = mirror.pair.runtime.step();
    let tool = mirror.pair.runtime.propose(message, "bash", "{}");
    let ask = may_it_run(&mut mirror.pair.runtime, tool, None);
    mirror.pump();
    mirror.pair.ui.command(cancel());
    // The hub closes the questions of a run before it stops it.
    mirror.pair.runtime.close_ask(ask, Closing::Withdrawn);
    mirror.pair.runtime.end_tool(tool, ToolOutcome::Denied, ToolResult::text("stopped"));
    mirror.pair.exchange();
    let runtime = &mut mirror.pair.runtime;
    assert!(runtime.link.logs.iter().any(|line| line.contains("not open")), "{:?}", runtime.link.logs);
    assert!(!runtime.commands().iter().any(|(_, _, command)| matches!(command, Command::Answer { .. })));
}

#[test]
fn why_the_model_is_asked_again_is_a_kind_and_not_a_guess() {
    let kinds = [
        RetryKind::RateLimit,
        RetryKind::Overloaded,
        RetryKind::Timeout,
        RetryKind::Network,
        RetryKind::Provider,
    ];
    for kind in kinds {
        let mut mirror = Mirror::new(true);
        mirror.prompt("go");
        // Words of another kind: nobody reads them.
        let reason = "a 429 that timed out on the network".to_owned();
        let kind = Some(kind);
        mirror.pair.runtime.happen(Body::Run(RunEvent::Retrying {
            attempt: 2,
            max: 3,
            delay_ms: 5,
            reason,
            kind,
        }));
        mirror.pump();
        assert_eq!(mirror.pair.ui.state.retry.as_ref().and_then(|retry| retry.kind), kind);
    }
}
