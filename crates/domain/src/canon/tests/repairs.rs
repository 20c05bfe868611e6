//! Each repair that the canon makes, alone.

use super::Followed;
use crate::ask::{Answer, AskKind, Assessment, Closing, Risk};
use crate::canon::cut::MAX_TEXT;
use crate::canon::decision;
use crate::content::{Input, Json, Role, TextKind};
use crate::event::{
    AskEvent, Body, Cause, Compaction, ContextEvent, NoteEvent, Outcome, QueueEvent, RunEvent, ToolEvent,
    Trigger,
};
use crate::fact::{Fact, FactAsk, Said};
use crate::ids::{Millis, QueuedId};
use crate::queue::QueueKind;
use crate::tool::{Decider, ToolPhase};

fn text(text: &str) -> Said {
    Said::Text { message: None, kind: TextKind::Text, text: text.to_owned() }
}

fn starts(tool: &str) -> Said {
    Said::ToolStarted { tool: tool.into(), name: None, args: None }
}

fn asks_for(ask: &str, tool: &str) -> Said {
    let kind = FactAsk::Consent {
        tool: Some(tool.into()),
        name: "bash".into(),
        args: Json::empty(),
        preview: None,
        assessment: Assessment { risk: Risk::Medium, reasons: vec![], reversible: true, unrated: false },
        rule: None,
        takes_reason: true,
    };
    Said::AskOpened { ask: ask.into(), title: "?".into(), kind, deadline: None }
}

fn confirm(ask: &str) -> Said {
    let kind = AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger: false };
    Said::AskOpened { ask: ask.into(), title: "?".into(), kind: FactAsk::Other(kind), deadline: None }
}

fn speaks() -> Said {
    Said::MessageStarted { message: None, role: Role::User }
}

impl Followed {
    fn hear(&mut self, said: Said) {
        self.take(Fact::new(said));
    }

    fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.events.iter().map(|event| &event.body)
    }

    fn outcomes(&self) -> Vec<Option<Outcome>> {
        self.state.runs.iter().map(|run| run.ended.as_ref().map(|(_, outcome)| outcome.clone())).collect()
    }
}

#[test]
fn a_person_who_speaks_again_begins_the_next_turn_as_a_steer() {
    let mut followed = Followed::new();
    for _ in 0..2 {
        followed.hear(speaks());
        followed.hear(text("x"));
    }
    let causes: Vec<Cause> = followed.state.runs[0].turns.iter().map(|turn| turn.cause).collect();
    assert_eq!(causes, [Cause::Prompt, Cause::Steer]);
}

#[test]
fn a_run_is_named_by_the_first_fact_that_names_one() {
    let mut followed = Followed::new();
    followed.hear(text("a"));
    followed.take(Fact::of("r1", text("b")));
    let run = followed.state.runs[0].id;
    assert_eq!(followed.canon.names().run(run).map(|key| &**key), Some("r1"));
    followed.take(Fact::of("r2", Said::RunEnded(Outcome::Done)));
    assert_eq!(followed.outcomes(), [None], "another run's end is none of this one");
    followed.take(Fact::of("r2", text("c")));
    assert_eq!(followed.outcomes(), [Some(Outcome::Lost), None], "a runtime does one run at a time");
}

#[test]
fn a_start_without_a_name_ends_what_was_under_way() {
    let mut followed = Followed::new();
    followed.hear(text("a"));
    followed.hear(Said::RunStarted);
    assert_eq!(followed.outcomes(), [Some(Outcome::Lost), None]);
}

#[test]
fn what_was_said_is_not_said_again_when_a_peer_rewrites_it() {
    let mut followed = Followed::new();
    for so_far in ["Hello", "Hullo", "Hello you"] {
        followed.hear(Said::Whole { message: None, parts: vec![(TextKind::Text, so_far.to_owned())] });
    }
    let message = followed.state.open_messages()[0];
    assert_eq!(followed.state.message(message).unwrap().text(), "Hello you");
}

#[test]
fn an_ask_of_one_name_is_open_once() {
    let mut followed = Followed::new();
    followed.hear(confirm("a"));
    followed.hear(confirm("a"));
    assert_eq!(followed.state.asks.len(), 1);
    followed.hear(Said::AskWithdrawn { ask: "a".into(), expired: false });
    followed.hear(confirm("a"));
    assert_eq!(followed.state.asks.len(), 1, "a name may be used again once its ask is closed");
}

#[test]
fn a_tool_that_runs_needs_no_answer_any_more() {
    let mut followed = Followed::new();
    followed.hear(asks_for("a", "t"));
    assert_eq!(followed.state.asks.len(), 1);
    followed.hear(starts("t"));
    assert_eq!(followed.state.asks.len(), 0);
    let decision = followed.state.tools.values().next().unwrap().decision.clone().unwrap();
    assert_eq!(decision.by, Decider::Foreign);
}

#[test]
fn only_an_answer_or_a_silence_decides_about_a_tool() {
    let mut followed = Followed::new();
    followed.hear(asks_for("a", "t"));
    let ask = followed.state.asks[0].id;
    let decided = |closing: &Closing| match decision(&followed.state, ask, closing) {
        Some(Body::Tool(ToolEvent::Decided { decision, .. })) => Some((decision.allowed, decision.reason)),
        _ => None,
    };
    let said = |answer: Answer| decided(&Closing::Answered { answer, by: None });
    assert_eq!(said(Answer::Allow { scope: crate::ask::Scope::Once, digest: None }), Some((true, None)));
    assert_eq!(said(Answer::Deny { reason: Some("no".into()) }), Some((false, Some("no".into()))));
    assert_eq!(said(Answer::Dismissed), Some((false, None)));
    assert_eq!(decided(&Closing::Expired), Some((false, Some("nobody answered in time".into()))));
    assert_eq!(decided(&Closing::Unattended), Some((false, Some("nobody could be asked".into()))));
    assert_eq!(decided(&Closing::Withdrawn), None);
}

#[test]
fn a_question_outside_of_runs_outlives_them_and_goes_with_the_link() {
    let mut followed = Followed::new();
    followed.hear(confirm("a"));
    followed.hear(text("x"));
    followed.hear(confirm("b"));
    followed.hear(Said::RunEnded(Outcome::Done));
    assert_eq!(followed.state.asks.len(), 1, "only the question of the run is withdrawn");
    followed.hear(Said::Lost);
    assert!(followed.state.asks.is_empty());
}

#[test]
fn a_summary_that_is_cut_is_followed_by_a_word_about_it() {
    let mut followed = Followed::new();
    followed.hear(text("x"));
    followed.hear(Said::Compacted(Compaction {
        summary: "x".repeat(MAX_TEXT + 1),
        first_kept: None,
        tokens_before: 0,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: crate::content::Usage::default(),
    }));
    let summary = followed.bodies().find_map(|body| match body {
        Body::Context(ContextEvent::Compacted { entry, .. }) => Some(*entry),
        _ => None,
    });
    let word = followed.bodies().find_map(|body| match body {
        Body::Note(NoteEvent::Noticed { parent, .. }) => Some(*parent),
        _ => None,
    });
    assert_eq!(word, Some(summary), "it stands below what was cut");
}

#[test]
fn inputs_that_wait_go_with_a_run_that_does_not_come_to_its_end() {
    for (outcome, left) in [(Outcome::Done, 1), (Outcome::Cancelled, 0), (Outcome::Lost, 0)] {
        let mut followed = Followed::new();
        followed.hear(text("x"));
        let (item, kind) = (QueuedId(1_000), QueueKind::FollowUp);
        followed.happen(vec![Body::Queue(QueueEvent::Added {
            item,
            kind,
            input: Input::text("y"),
            by: None,
        })]);
        followed.hear(Said::RunEnded(outcome.clone()));
        assert_eq!(followed.state.queues.all().count(), left, "{outcome:?}");
    }
}

#[test]
fn what_ends_the_run_that_began_with_the_same_fact_sees_what_began() {
    let mut followed = Followed::new();
    followed.hear(starts("t"));
    let open = {
        let mut open = crate::state::State::new().open();
        for body in followed.bodies() {
            open.follow(body);
        }
        open
    };
    assert_eq!(open, followed.state.open());
    let ended = open.close_run(Outcome::Lost);
    assert_eq!(ended, followed.state.close_run(Outcome::Lost));
    followed.happen(ended);
    let phase = followed.state.tools.values().next().map(|tool| tool.phase.clone());
    assert_eq!(phase, Some(ToolPhase::Ended(crate::tool::ToolOutcome::Unknown)));
    assert!(matches!(followed.bodies().last(), Some(Body::Run(RunEvent::Ended { .. }))));
}

#[test]
fn a_closed_ask_leaves_no_name_behind() {
    let mut followed = Followed::new();
    followed.hear(asks_for("a", "t"));
    let ask = followed.state.asks[0].id;
    followed.hear(Said::RunEnded(Outcome::Done));
    assert_eq!(followed.canon.names().ask(ask), None);
    assert!(followed.bodies().any(|body| matches!(body, Body::Ask(AskEvent::Closed { .. }))));
    assert_eq!(followed.canon.take(&followed.state, Millis(0), Fact::new(Said::TurnEnded)), []);
}
