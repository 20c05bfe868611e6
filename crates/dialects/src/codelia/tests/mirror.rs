//! Both roles face to face: what a session of ours says over this wire is what the other side's session holds.
//!
//! This is what keeps the word "exact" in the fidelity table honest, and it is the bridge codelia ⇄ codelia in small.

use super::bench::{RuntimeBench, UiBench, session, told};
use domain::ask::{Answer, Closing, Scope};
use domain::command::{Command, ListCommand, PromptOptions, Receipt, RunCommand};
use domain::content::{Input, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Failure, Finish, MessageEvent, Outcome, RetryKind, RunEvent};
use domain::ids::RunId;
use domain::session::RunSummary;
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;
use roles::{LinkEffect, RuntimeEffect, UiEffect};

struct Mirror {
    runtime: RuntimeBench,
    ui: UiBench,
    run: Option<RunId>,
}

impl Mirror {
    /// Shakes hands; without `pieces` the capability for text deltas is lost on the way.
    fn new(pieces: bool) -> Mirror {
        let mut mirror = Mirror { runtime: RuntimeBench::new(), ui: UiBench::new(), run: None };
        mirror.pump_with(|line| if pieces { line } else { line.replace("supports_text_deltas", "x") });
        mirror.runtime.attach();
        mirror
    }

    fn pump(&mut self) {
        self.pump_with(|line| line);
    }

    fn pump_with(&mut self, on_the_way: impl Fn(String) -> String) {
        loop {
            let (down, up) = (self.ui.effects(), self.runtime.effects());
            if down.is_empty() && up.is_empty() {
                return;
            }
            for effect in down {
                match effect {
                    UiEffect::Link(LinkEffect::Send { line, .. }) => self.runtime.say(&on_the_way(line)),
                    UiEffect::Link(LinkEffect::Drift(drift)) => panic!("{drift:?}"),
                    _ => {}
                }
            }
            for effect in up {
                match effect {
                    RuntimeEffect::Link(
                        LinkEffect::Send { line, .. } | LinkEffect::SendAlone { line, .. },
                    ) => self.ui.say(&line),
                    RuntimeEffect::Command { ticket, command, .. } => {
                        let receipt = self.obey(command);
                        self.runtime.settle(ticket, Ok(receipt));
                    }
                    RuntimeEffect::Link(LinkEffect::Log(line)) => panic!("{line}"),
                    _ => {}
                }
            }
        }
    }

    fn obey(&mut self, command: Command) -> Receipt {
        match command {
            Command::Run(RunCommand::Prompt { .. }) => {
                let run = self.runtime.mint_run();
                self.run = Some(run);
                Receipt::Started { session: session(), run }
            }
            Command::Answer { ask, answer } => {
                let closing = Closing::Answered { answer, by: None };
                self.runtime.happen(Body::Ask(AskEvent::Closed { ask, closing }));
                Receipt::Done
            }
            Command::Run(RunCommand::Cancel { run: Some(run), .. }) => {
                self.runtime.end_run(Outcome::Cancelled);
                Receipt::Cancelling { run: RunSummary { run, outcome: None } }
            }
            Command::List(ListCommand::Models { .. }) => Receipt::Models { models: vec![], current: None },
            other => panic!("{other:?}"),
        }
    }

    fn prompt(&mut self, text: &str) {
        let command =
            Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() });
        self.ui.command(1, command);
        self.pump();
        let run = self.run.take().unwrap();
        self.runtime.happen(Body::Run(RunEvent::Started { run }));
        self.runtime.begin_turn(run, text);
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
        let bench = &mut mirror.runtime;
        let step = bench.step();
        let message = bench.message(Role::Assistant, None, Some(step));
        for (kind, words) in &answered.parts {
            for word in words {
                bench.delta(message, *kind, word);
            }
        }
        let tools: Vec<_> = answered
            .tools
            .iter()
            .map(|_| bench.propose(message, "grep", &format!(r#"{{"n":{number}}}"#)))
            .collect();
        bench.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        for (tool, (outcome, text)) in tools.into_iter().zip(&answered.tools) {
            bench.run_tool(tool, outcome.clone(), ToolResult::text(text.clone()));
        }
        bench.happen(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
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
        mirror.runtime.end_run(end);
        mirror.pump();
        prop_assert_eq!(exact(&mirror.ui.state), exact(&mirror.runtime.state));
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
        let step = mirror.runtime.step();
        let message = mirror.runtime.message(Role::Assistant, None, Some(step));
        let tool = mirror.runtime.propose(message, "bash", r#"{"command":"echo hi"}"#);
        let asked = mirror.runtime.consent(tool, Some("bash: echo"));
        mirror.pump();
        mirror.ui.answer(9, answer.clone());
        mirror.pump();
        let closed = mirror.runtime.events.iter().find_map(|event| match &event.body {
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
        assert!(mirror.ui.state.asks.is_empty());
    }
}

#[test]
fn a_cancel_while_a_consent_is_open_leaves_nothing_behind() {
    let mut mirror = Mirror::new(true);
    mirror.prompt("run it");
    let step = mirror.runtime.step();
    let message = mirror.runtime.message(Role::Assistant, None, Some(step));
    let tool = mirror.runtime.propose(message, "bash", "{}");
    let ask = mirror.runtime.consent(tool, None);
    mirror.pump();
    mirror.ui.command(2, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    // The hub closes the questions of a run before it stops it.
    mirror.runtime.happen(Body::Ask(AskEvent::Closed { ask, closing: Closing::Withdrawn }));
    mirror.runtime.run_tool(tool, ToolOutcome::Denied, ToolResult::text("stopped"));
    for effect in mirror.ui.effects() {
        if let UiEffect::Link(LinkEffect::Send { line, .. }) = effect {
            mirror.runtime.say(&line);
        }
    }
    let answers = mirror.runtime.effects();
    assert!(answers.iter().any(
        |effect| matches!(effect, RuntimeEffect::Link(LinkEffect::Log(line)) if line.contains("not open"))
    ));
    assert!(
        !answers
            .iter()
            .any(|effect| matches!(effect, RuntimeEffect::Command { command: Command::Answer { .. }, .. }))
    );
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
        mirror.runtime.happen(Body::Run(RunEvent::Retrying {
            attempt: 2,
            max: 3,
            delay_ms: 5,
            reason,
            kind,
        }));
        mirror.pump();
        assert_eq!(mirror.ui.state.retry.as_ref().and_then(|retry| retry.kind), kind);
    }
}
