//! Whatever a foreign runtime says, in whatever order: the stream is grammatical, folds, replays and can be closed.

mod repairs;

use super::{Bounds, Canon, decision};
use crate::ask::{Answer, AskKind, Assessment, Closing, Risk, Scope};
use crate::content::{Json, Part, Role, TextKind, Usage};
use crate::event::{AskEvent, Body, Cause, Event, Failure, Finish, MessageEvent, Outcome, ToolEvent};
use crate::fact::{Fact, FactAsk, Key, Said};
use crate::grammar::Grammar;
use crate::ids::{Ids, Millis};
use crate::signal::Level;
use crate::state::State;
use crate::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;

/// A session that follows a canon, with the laws watched.
pub(super) struct Followed {
    pub(super) canon: Canon,
    pub(super) state: State,
    grammar: Grammar,
    events: Vec<Event>,
}

impl Followed {
    pub(super) fn new() -> Followed {
        Followed::within(Bounds::USUAL)
    }

    pub(super) fn within(bounds: Bounds) -> Followed {
        let (canon, state) = (Canon::within(bounds, Ids::default()), State::new());
        Followed { canon, state, grammar: Grammar::new(), events: Vec::new() }
    }

    pub(super) fn happen(&mut self, bodies: Vec<Body>) {
        for body in bodies {
            let seq = self.state.seq.next();
            let event = Event { seq, at: Millis(seq.0 * 7), body };
            self.grammar.check(&event).unwrap_or_else(|why| panic!("{why}\n{:#?}", self.events));
            self.state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}\n{:#?}", self.events));
            self.events.push(event);
        }
    }

    pub(super) fn take(&mut self, fact: Fact) {
        let bodies = self.canon.take(&self.state, Millis(0), fact);
        self.happen(bodies);
    }

    fn answer(&mut self, answer: Answer) {
        let Some(ask) = self.state.asks.first().map(|ask| ask.id) else { return };
        let closing = Closing::Answered { answer, by: None };
        let mut bodies = vec![Body::Ask(AskEvent::Closed { ask, closing: closing.clone() })];
        bodies.extend(decision(&self.state, ask, &closing));
        self.happen(bodies);
    }

    pub(super) fn replayed(&self) -> State {
        let mut copy = State::new();
        for (at, body) in self.state.replay() {
            copy.apply(at, &body).unwrap_or_else(|why| panic!("{why}: {body:?}\n{:#?}", self.state));
        }
        copy
    }
}

#[derive(Debug, Clone)]
enum Move {
    Says(Fact),
    Answers(Answer),
    Dies(Outcome),
}

fn key(names: &'static [&'static str]) -> impl Strategy<Value = Key> {
    prop::sample::select(names).prop_map(Key::from)
}

fn maybe(names: &'static [&'static str]) -> impl Strategy<Value = Option<Key>> {
    prop::option::of(key(names))
}

const MESSAGES: &[&str] = &["m1", "m2"];
const TOOLS: &[&str] = &["t1", "t2", "t3"];
const ASKS: &[&str] = &["a1", "a2"];
const RUNS: &[&str] = &["r1", "r2", "r3"];

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Cancelled),
        Just(Outcome::Lost),
        Just(Outcome::Failed(Failure::new("x", "y")))
    ]
}

fn tool_outcome() -> impl Strategy<Value = ToolOutcome> {
    prop_oneof![
        Just(ToolOutcome::Done),
        Just(ToolOutcome::Failed),
        Just(ToolOutcome::Denied),
        Just(ToolOutcome::Skipped)
    ]
}

fn ask() -> impl Strategy<Value = FactAsk> {
    let assessment = Assessment { risk: Risk::Medium, reasons: vec![], reversible: true, unrated: false };
    let consent = maybe(TOOLS).prop_map(move |tool| FactAsk::Consent {
        tool,
        name: "bash".into(),
        args: Json::empty(),
        preview: None,
        assessment: assessment.clone(),
        rule: None,
        takes_reason: true,
    });
    let confirm = AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger: false };
    prop_oneof![consent, Just(FactAsk::Other(confirm))]
}

fn said() -> impl Strategy<Value = Said> {
    let kind = prop_oneof![Just(TextKind::Text), Just(TextKind::Thought)];
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let whole = prop::collection::vec((kind.clone(), "[a-c]{0,4}"), 0..3);
    let structure = prop_oneof![
        Just(Said::RunStarted),
        outcome().prop_map(Said::RunEnded),
        prop::option::of(Just(Cause::FollowUp)).prop_map(Said::TurnStarted),
        Just(Said::TurnEnded),
        Just(Said::StepStarted),
        Just(Said::StepEnded(Usage { output: 3, ..Usage::default() })),
        Just(Said::Notice { level: Level::Warning, code: "w".into(), text: "careful".into() }),
        Just(Said::Context { used: 10, window: 100 }),
        Just(Said::Lost),
    ];
    let messages = prop_oneof![
        (maybe(MESSAGES), role).prop_map(|(message, role)| Said::MessageStarted { message, role }),
        (maybe(MESSAGES), kind, "[a-c]{0,3}").prop_map(|(message, kind, text)| Said::Text {
            message,
            kind,
            text
        }),
        (maybe(MESSAGES), whole).prop_map(|(message, parts)| Said::Whole { message, parts }),
        maybe(MESSAGES).prop_map(|message| Said::Part { message, part: Part::Text("whole".into()) }),
        maybe(MESSAGES).prop_map(|message| Said::MessageEnded { message, finish: Finish::Complete }),
    ];
    let tools = prop_oneof![
        key(TOOLS).prop_map(|tool| Said::ToolProposed { tool, name: "ls".into(), args: Json::empty() }),
        key(TOOLS).prop_map(|tool| Said::ToolStarted { tool, name: None, args: None }),
        key(TOOLS).prop_map(|tool| Said::NeedsNoConsent { tool }),
        key(TOOLS).prop_map(|tool| Said::ToolProgress { tool, progress: Progress::Output("…".into()) }),
        (key(TOOLS), tool_outcome()).prop_map(|(tool, outcome)| Said::ToolEnded {
            tool,
            outcome,
            result: ToolResult::text("r")
        }),
    ];
    let asks = prop_oneof![
        (key(ASKS), ask()).prop_map(|(ask, kind)| Said::AskOpened {
            ask,
            title: "?".into(),
            kind,
            deadline: None
        }),
        (key(ASKS), any::<bool>()).prop_map(|(ask, expired)| Said::AskWithdrawn { ask, expired }),
    ];
    prop_oneof![3 => structure, 4 => messages, 4 => tools, 2 => asks]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let fact = (maybe(RUNS), said()).prop_map(|(run, said)| Move::Says(Fact { run, said }));
    let answer = prop_oneof![
        Just(Answer::Allow { scope: Scope::Once, digest: None }),
        Just(Answer::Deny { reason: Some("no".into()) }),
        Just(Answer::Dismissed),
    ];
    let step =
        prop_oneof![12 => fact, 2 => answer.prop_map(Move::Answers), 1 => outcome().prop_map(Move::Dies)];
    prop::collection::vec(step, 0..60)
}

fn follow(moves: Vec<Move>) -> Followed {
    follow_within(Bounds::USUAL, moves)
}

/// Bounds that are met at once, each at another place.
fn bounds() -> impl Strategy<Value = Bounds> {
    let count = || prop_oneof![0usize..40, Just(usize::MAX)];
    (count(), count(), count(), count()).prop_map(|(run_things, run_bytes, session_things, session_bytes)| {
        Bounds { run_things, run_bytes, session_things, session_bytes, unheard: 5 }
    })
}

fn follow_within(bounds: Bounds, moves: Vec<Move>) -> Followed {
    let mut followed = Followed::within(bounds);
    for step in moves {
        match step {
            Move::Says(fact) => followed.take(fact),
            Move::Answers(answer) => followed.answer(answer),
            Move::Dies(outcome) => {
                let bodies = followed.canon.close(&followed.state, outcome);
                followed.happen(bodies);
                assert!(followed.grammar.is_closed(), "something stayed open");
            }
        }
    }
    followed
}

proptest! {
    #![proptest_config(testkit::cases(200))]

    #[test]
    fn any_facts_give_a_grammatical_stream_that_folds(moves in moves()) {
        follow(moves);
    }

    #[test]
    fn a_runtime_that_is_not_heard_breaks_no_law(bounds in bounds(), moves in moves(), outcome in outcome()) {
        let mut followed = follow_within(bounds, moves);
        prop_assert_eq!(&followed.replayed(), &followed.state);
        let bodies = followed.canon.close(&followed.state, outcome);
        followed.happen(bodies);
        prop_assert!(followed.grammar.is_closed());
        prop_assert!(followed.state.open_run().is_none() && followed.state.asks.is_empty());
    }

    #[test]
    fn everything_can_always_be_closed(moves in moves(), outcome in outcome()) {
        let mut followed = follow(moves);
        let bodies = followed.canon.close(&followed.state, outcome);
        followed.happen(bodies);
        prop_assert!(followed.grammar.is_closed());
        prop_assert!(followed.state.open_run().is_none() && followed.state.asks.is_empty());
    }

    #[test]
    fn a_state_can_close_its_own_run(moves in moves(), outcome in outcome()) {
        let mut followed = follow(moves);
        let bodies = followed.state.close_run(outcome);
        followed.happen(bodies);
        prop_assert!(followed.state.open_run().is_none());
        prop_assert!(followed.state.open_tools().is_empty() && followed.state.open_messages().is_empty());
    }

    #[test]
    fn folding_a_replay_gives_the_state_back(moves in moves()) {
        let followed = follow(moves);
        let copy = followed.replayed();
        prop_assert_eq!(&copy, &followed.state);
        prop_assert_eq!(copy.hash(), followed.state.hash());
    }

    #[test]
    fn the_hash_does_not_see_how_text_was_cut(text in "[a-zé]{1,20}", cut in 0usize..20) {
        let said = |parts: &[&str]| {
            let mut followed = Followed::new();
            for part in parts {
                let text = Said::Text { message: None, kind: TextKind::Text, text: (*part).to_owned() };
                followed.take(Fact::new(text));
            }
            followed.take(Fact::new(Said::MessageEnded { message: None, finish: Finish::Complete }));
            followed.state.entities
        };
        let cut = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        let (head, tail) = text.split_at(cut);
        prop_assert_eq!(said(&[&text]), said(&[head, tail]));
    }
}

#[test]
fn what_comes_for_a_run_that_has_ended_is_dropped() {
    let mut followed = Followed::new();
    followed.take(Fact::of("r1", Said::RunStarted));
    followed.take(Fact::of("r1", Said::RunEnded(Outcome::Cancelled)));
    let late = Said::ToolStarted { tool: "t".into(), name: None, args: None };
    assert_eq!(followed.canon.take(&followed.state, Millis(0), Fact::of("r1", late)), []);
}

#[test]
fn a_repeated_whole_message_becomes_deltas() {
    let mut followed = Followed::new();
    for so_far in ["He", "Hello", "Hello you"] {
        let parts = vec![(TextKind::Text, so_far.to_owned())];
        followed.take(Fact::new(Said::Whole { message: None, parts }));
    }
    let texts = followed.events.iter().filter_map(|event| match &event.body {
        Body::Message(MessageEvent::Delta { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    let deltas: Vec<&str> = texts.collect();
    assert_eq!(deltas, ["He", "llo", " you"]);
}

#[test]
fn a_tool_that_dies_with_its_runtime_has_an_unknown_outcome() {
    let mut followed = Followed::new();
    followed.take(Fact::new(Said::ToolStarted { tool: "t".into(), name: Some("bash".into()), args: None }));
    followed.take(Fact::new(Said::Lost));
    let ended = followed.state.tools.values().next().map(|tool| tool.phase.clone());
    assert_eq!(ended, Some(crate::tool::ToolPhase::Ended(ToolOutcome::Unknown)));
}

#[test]
fn a_denied_tool_is_never_recorded_as_started() {
    let mut followed = Followed::new();
    let assessment = Assessment { risk: Risk::High, reasons: vec![], reversible: false, unrated: false };
    let kind = FactAsk::Consent {
        tool: Some("t".into()),
        name: "bash".into(),
        args: Json::empty(),
        preview: None,
        assessment,
        rule: None,
        takes_reason: true,
    };
    followed.take(Fact::new(Said::AskOpened { ask: "a".into(), title: "?".into(), kind, deadline: None }));
    followed.answer(Answer::Deny { reason: None });
    followed.take(Fact::new(Said::ToolStarted { tool: "t".into(), name: None, args: None }));
    assert!(!followed.events.iter().any(|event| matches!(event.body, Body::Tool(ToolEvent::Started { .. }))));
}
