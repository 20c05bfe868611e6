//! What this wire carries as it is survives our server and our client, whatever its words are.

use super::super::{Compat, lift, lower};
use super::{read, ready, ui, ui_open, up};
use domain::ask::{Answer, AskKind, Closing, Consent};
use domain::command::Command;
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Finish, MessageEvent, Outcome};
use domain::signal::Signal;
use domain::tool::{ToolOutcome, ToolPhase, ToolResult};
use proptest::prelude::*;
use rolekit::shown::{self, Offer};
use testkit::bench::{RuntimeBench, UiBench, prompt};

/// Everything that our server says of what happens, heard by our client.
fn relay(runtime: &mut RuntimeBench, ui: &mut UiBench) {
    for line in runtime.lines() {
        ui.hear(&line);
    }
}

#[test]
fn a_whole_run_arrives_as_it_was() {
    let (mut runtime, mut ui) = (up(&[]), ui_open());
    runtime.begin("look\nat this");
    let (step, message) = runtime.step();
    runtime.piece(message, TextKind::Thought, "hm, ");
    runtime.delta(message, "Let me see.");
    let image = Part::Image { mime: "image/png".to_owned(), base64: "aGk=".into() };
    let json = Some(Json::verbatim(r#"{"b":1,"a":[2]}"#));
    let result =
        ToolResult { text: "alpha\n".to_owned(), parts: vec![image.clone()], json, truncated: false };
    read(&mut runtime, message, result.clone());
    let used =
        Usage { input: 100, output: 7, cache_read: 60, cache_write: 10, cost_micros: 1_234, rough: false };
    runtime.end_step(step, used);
    let (step, message) = runtime.step();
    runtime.delta(message, "It is fine.");
    runtime.part(message, image);
    runtime.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Length }));
    runtime.end_step(step, used);
    runtime.end(Outcome::Done);
    relay(&mut runtime, &mut ui);

    assert!(ui.link.drifts.is_empty(), "{:?}", ui.link.drifts);
    assert_eq!(ui.outcome(), Some(Outcome::Done));
    let shown = |state: &domain::state::State| -> Vec<(Role, String, usize, Option<Finish>)> {
        let messages =
            state.path().into_iter().filter_map(|entry| state.message(domain::ids::MessageId(entry.id.0)));
        messages.map(|m| (m.role, m.text(), m.parts.len(), m.finish.clone())).collect()
    };
    assert_eq!(shown(&ui.state), shown(runtime.state()));
    let steps = |state: &domain::state::State| -> Vec<Option<Usage>> {
        state.runs[0].turns.iter().flat_map(|turn| &turn.steps).map(|step| step.usage).collect()
    };
    assert_eq!(steps(&ui.state), steps(runtime.state()));
    let tool = ui.state.tools.values().next().expect("a tool");
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Done));
    assert_eq!(tool.result.as_ref(), Some(&result));
    assert_eq!((tool.name.as_str(), tool.args.as_str()), ("read", r#"{"path":"a.txt"}"#));
}

/// A signal that this wire can carry exactly: a widget's lines hold no line breaks, and an empty one is one that goes away.
fn carried(signal: &Signal) -> bool {
    match signal {
        Signal::Suggestion { .. } => false,
        Signal::Widget { lines, .. } => lines.iter().all(|line| !line.contains('\n')),
        _ => true,
    }
}

/// A question over the wire and its answer back.
fn asked(kind: AskKind, answer: Answer) -> Answer {
    let (mut runtime, mut ui) = (up(&[]), ui_open());
    // A question about a tool needs the tool.
    runtime.begin("go");
    let (_, message) = runtime.step();
    let tool = runtime.propose(message, "bash", "{}");
    runtime.end_message(message);
    let kind = match kind {
        AskKind::Consent(consent) => AskKind::Consent(Box::new(Consent { tool, ..*consent })),
        kind => kind,
    };
    runtime.ask("Question", kind);
    relay(&mut runtime, &mut ui);
    let ask = ui.state.asks.first().cloned().expect("an ask");
    ui.command(Command::Answer { ask: ask.id, answer });
    for line in ui.lines() {
        runtime.say(&line);
    }
    match runtime.commands().pop() {
        Some((_, _, Command::Answer { answer, .. })) => answer,
        other => panic!("no answer but {other:?}"),
    }
}

/// What is offered for a consent of the few words that come here.
fn offered(consent: &Consent) -> &'static [Offer] {
    let (what, rule) = (shown::what(consent), consent.rule.as_deref());
    let asked = shown::Asked { title: "?", what: &what, assessment: &consent.assessment, rule };
    shown::show(asked, 6).expect("few words").offers
}

proptest! {
    #[test]
    fn signals_survive(signal in testkit::arb::signal()) {
        prop_assume!(carried(&signal));
        for compat in [Compat::Peer, Compat::Seed] {
            let line = lower::signal(&signal, compat).expect("a line").line();
            let back = lift::signal(serde_json::from_str(&line).expect("a line"));
            prop_assert_eq!(back.as_ref(), Some(&signal));
        }
    }

    #[test]
    fn prompts_survive(text in "\\PC{1,40}") {
        prop_assume!(!text.trim().is_empty());
        let (mut runtime, mut ui) = (ready(), ui());
        ui.prompt(&text);
        runtime.say(&ui.lines().remove(0));
        prop_assert_eq!(runtime.command().2, prompt(&text));
    }

    #[test]
    fn texts_survive_however_they_are_cut(pieces in prop::collection::vec("\\PC{0,12}", 1..12)) {
        let (mut runtime, mut ui) = (up(&[]), ui_open());
        runtime.begin("go");
        let (_, message) = runtime.step();
        for piece in &pieces {
            runtime.now.0 += 17;
            runtime.delta(message, piece);
            relay(&mut runtime, &mut ui);
        }
        runtime.end(Outcome::Done);
        relay(&mut runtime, &mut ui);
        prop_assert_eq!(ui.texts().concat(), pieces.concat());
    }

    #[test]
    fn answers_survive(kind in testkit::arb::ask_kind(), text in "\\PC{0,20}", yes: bool) {
        let answers = match &kind {
            AskKind::Consent(consent) => offered(consent).iter().map(|offer| match offer {
                Offer::Allow(scope) => Answer::Allow { scope: *scope, digest: None },
                Offer::Deny => Answer::Deny { reason: None },
            }).collect(),
            AskKind::Confirm { .. } => vec![Answer::Confirmed(yes)],
            AskKind::Choose { choices, .. } => {
                let mut answers: Vec<Answer> = choices.iter().map(|choice| Answer::Chosen(vec![choice.id.clone()])).collect();
                answers.push(Answer::Dismissed);
                answers
            }
            AskKind::Text { .. } | AskKind::Edit { .. } => vec![Answer::Entered(text), Answer::Dismissed],
        };
        for answer in answers {
            let heard = match asked(kind.clone(), answer.clone()) {
                // The wire has no reasons; a no gets one, so that the model goes on.
                Answer::Deny { .. } => Answer::Deny { reason: None },
                heard => heard,
            };
            prop_assert_eq!(heard, answer);
        }
    }
}

#[test]
fn a_question_that_is_over_is_told_in_words() {
    for (closing, level) in [
        (Closing::Expired, Some("warning")),
        (Closing::Answered { answer: Answer::Confirmed(true), by: None }, Some("info")),
        (Closing::Withdrawn, None),
        (Closing::Unattended, None),
    ] {
        let mut runtime = ready();
        let kind = AskKind::Edit { message: String::new(), prefill: "x".to_owned() };
        let ask = runtime.ask("Edit", kind);
        runtime.lines();
        runtime.close_ask(ask, closing);
        let said = runtime.sent().first().map(|line| line["params"]["notify_type"].clone());
        assert_eq!(said.as_ref().and_then(|level| level.as_str()), level);
    }
}
