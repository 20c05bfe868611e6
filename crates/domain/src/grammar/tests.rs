//! Every clause of every law, broken on purpose: a stream that is lawful up to its last event, which breaks exactly that clause.
//!
//! The last test reads the checker's own text: a clause without such a stream fails it.

use super::{Grammar, check_all};
use crate::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Closing, Consent, Risk, Scope};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::event::{
    AskEvent, Body, Cause, Compaction, ContextEvent, Event, Finish, Leaving, MessageEvent, NoteEvent,
    Outcome, QueueEvent, RunEvent, SessionEvent, ToolEvent, Trigger,
};
use crate::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::queue::{Mode, QueueKind};
use crate::signal::Level;
use crate::state::State;
use crate::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

fn run(id: u64) -> Body {
    Body::Run(RunEvent::Started { run: RunId(id) })
}

fn run_end(id: u64, outcome: Outcome) -> Body {
    Body::Run(RunEvent::Ended { run: RunId(id), outcome })
}

fn turn(run: u64, id: u64) -> Body {
    Body::Run(RunEvent::TurnStarted { run: RunId(run), turn: TurnId(id), cause: Cause::Prompt })
}

fn turn_end(id: u64) -> Body {
    Body::Run(RunEvent::TurnEnded { turn: TurnId(id) })
}

fn step(turn: u64, id: u64) -> Body {
    Body::Run(RunEvent::StepStarted { turn: TurnId(turn), step: StepId(id), model: None })
}

fn step_billed(id: u64) -> Body {
    Body::Run(RunEvent::StepBilled { step: StepId(id), usage: Usage::default() })
}

fn step_end(id: u64) -> Body {
    Body::Run(RunEvent::StepEnded { step: StepId(id), usage: Usage::default() })
}

fn says(id: u64, turn: Option<u64>, step: Option<u64>) -> Body {
    let role = if step.is_some() { Role::Assistant } else { Role::User };
    let (turn, step) = (turn.map(TurnId), step.map(StepId));
    Body::Message(MessageEvent::Started { message: MessageId(id), parent: None, role, turn, step })
}

fn delta(id: u64) -> Body {
    let text = "x".to_owned();
    Body::Message(MessageEvent::Delta { message: MessageId(id), kind: TextKind::Text, text })
}

fn part(id: u64) -> Body {
    Body::Message(MessageEvent::PartAdded { message: MessageId(id), part: Part::Text("x".to_owned()) })
}

fn said(id: u64) -> Body {
    Body::Message(MessageEvent::Ended { message: MessageId(id), finish: Finish::Complete })
}

fn proposed(id: u64, message: u64) -> Body {
    let (tool, message) = (ToolRunId(id), MessageId(message));
    Body::Tool(ToolEvent::Proposed { tool, message, name: "shell".to_owned(), args: Json::verbatim("{}") })
}

fn decided(id: u64, allowed: bool, by: Decider) -> Body {
    let decision = Decision { allowed, by, scope: Scope::Once, reason: None, digest: None };
    Body::Tool(ToolEvent::Decided { tool: ToolRunId(id), decision })
}

/// Allowed by a person, for the action with this digest.
fn agreed(id: u64, digest: &str) -> Body {
    let digest = Some(ActionDigest(digest.to_owned()));
    let by = Decider::Person(None);
    let decision = Decision { allowed: true, by, scope: Scope::Once, reason: None, digest };
    Body::Tool(ToolEvent::Decided { tool: ToolRunId(id), decision })
}

fn allowed(id: u64) -> Body {
    decided(id, true, Decider::Policy)
}

fn started(id: u64) -> Body {
    Body::Tool(ToolEvent::Started { tool: ToolRunId(id) })
}

fn progress(id: u64) -> Body {
    Body::Tool(ToolEvent::Progress { tool: ToolRunId(id), progress: Progress::Output("x".to_owned()) })
}

fn ended(id: u64) -> Body {
    let (outcome, result) = (ToolOutcome::Done, ToolResult::default());
    Body::Tool(ToolEvent::Ended { tool: ToolRunId(id), outcome, result })
}

fn asked(id: u64, run: Option<u64>) -> Body {
    let kind = AskKind::Confirm { message: "Go on?".to_owned(), yes: None, no: None, danger: false };
    let (id, run) = (AskId(id), run.map(RunId));
    Body::Ask(AskEvent::Opened(Ask { id, run, title: "?".to_owned(), kind, deadline: None }))
}

fn consent(id: u64, run: u64, tool: u64) -> Body {
    let kind = AskKind::Consent(Box::new(Consent {
        tool: ToolRunId(tool),
        name: "shell".to_owned(),
        args: Json::verbatim("{}"),
        preview: None,
        assessment: Assessment { risk: Risk::Medium, reasons: Vec::new(), reversible: true, unrated: false },
        digest: ActionDigest("d".into()),
        rule: None,
        takes_reason: true,
    }));
    let (id, run) = (AskId(id), Some(RunId(run)));
    Body::Ask(AskEvent::Opened(Ask { id, run, title: "?".to_owned(), kind, deadline: None }))
}

fn closed(id: u64, closing: Closing) -> Body {
    Body::Ask(AskEvent::Closed { ask: AskId(id), closing })
}

fn yes(id: u64) -> Body {
    closed(id, Closing::Answered { answer: Answer::Allow { scope: Scope::Once, digest: None }, by: None })
}

fn yes_to(id: u64, digest: &str) -> Body {
    let digest = Some(ActionDigest(digest.to_owned()));
    closed(id, Closing::Answered { answer: Answer::Allow { scope: Scope::Once, digest }, by: None })
}

fn queued(id: u64) -> Body {
    waits(id, QueueKind::Steer)
}

fn waits(id: u64, kind: QueueKind) -> Body {
    let (item, input) = (QueuedId(id), Input::text("x"));
    Body::Queue(QueueEvent::Added { item, kind, input, by: None })
}

fn dropped(id: u64) -> Body {
    Body::Queue(QueueEvent::Left { item: QueuedId(id), leaving: Leaving::Dropped })
}

fn edited(id: u64) -> Body {
    Body::Queue(QueueEvent::Edited { item: QueuedId(id), input: Input::text("y") })
}

fn left(id: u64) -> Body {
    Body::Queue(QueueEvent::Left { item: QueuedId(id), leaving: Leaving::Taken })
}

fn noticed(id: u64) -> Body {
    let (code, text) = ("code".to_owned(), "text".to_owned());
    Body::Note(NoteEvent::Noticed {
        entry: EntryId(id),
        parent: None,
        run: None,
        level: Level::Info,
        code,
        text,
    })
}

fn compacted(id: u64) -> Body {
    let compaction = Compaction {
        summary: "s".to_owned(),
        first_kept: None,
        tokens_before: 1,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    Body::Context(ContextEvent::Compacted { entry: EntryId(id), parent: None, compaction })
}

fn stream(bodies: impl IntoIterator<Item = Body>) -> Vec<Event> {
    let numbered = bodies.into_iter().enumerate();
    numbered.map(|(at, body)| Event { seq: Seq(at as u64 + 1), at: Millis(0), body }).collect()
}

/// A run with its first turn, step and message open.
fn speaking() -> Vec<Body> {
    vec![run(1), turn(1, 2), step(2, 3), says(4, Some(2), Some(3))]
}

/// The same, with a tool proposed.
fn proposing() -> Vec<Body> {
    [speaking(), vec![proposed(5, 4)]].concat()
}

/// It runs, and asks about more than itself.
fn asks_while_it_runs() -> Vec<Body> {
    [proposing(), vec![allowed(5), started(5), consent(6, 1, 5)]].concat()
}

/// The law, what the checker says, what is lawful before, and what breaks it.
type Broken = (u8, &'static str, Vec<Body>, Body);

fn broken() -> Vec<Broken> {
    let with = |before: Vec<Body>, more: &[Body]| [before, more.to_vec()].concat();
    vec![
        (1, "a replay inside a live stream", vec![], Body::Rebased(Box::default())),
        (1, "run-1 is used again", vec![run(1), run_end(1, Outcome::Done)], run(1)),
        (1, "turn-2 is used again", vec![run(1), turn(1, 2), turn_end(2)], turn(1, 2)),
        (1, "step-3 is used again", vec![run(1), turn(1, 2), step(2, 3), step_end(3)], step(2, 3)),
        (1, "entry-4 is used again", vec![says(4, None, None), said(4)], says(4, None, None)),
        (1, "entry-4 is used again", vec![says(4, None, None)], noticed(4)),
        (1, "entry-4 is used again", vec![noticed(4)], compacted(4)),
        (1, "tool-5 is used again", with(proposing(), &[allowed(5), started(5), ended(5)]), proposed(5, 4)),
        (1, "ask-6 is used again", vec![asked(6, None), closed(6, Closing::Expired)], asked(6, None)),
        (1, "queued-7 is used again", vec![queued(7), left(7)], queued(7)),
        (2, "started inside another run", vec![run(1)], run(2)),
        (2, "ended but is not open", vec![], run_end(1, Outcome::Done)),
        (2, "ended but is not open", vec![run(1)], run_end(2, Outcome::Done)),
        (2, "ended before its turn", vec![run(1), turn(1, 2)], run_end(1, Outcome::Done)),
        (2, "ended before its messages", vec![run(1), says(4, None, None)], run_end(1, Outcome::Done)),
        (2, "started outside its run", vec![], turn(1, 2)),
        (2, "started outside its run", vec![run(1)], turn(9, 2)),
        (2, "started inside another turn", vec![run(1), turn(1, 2)], turn(1, 3)),
        (2, "ended but is not open", vec![run(1)], turn_end(2)),
        (2, "ended before its step", vec![run(1), turn(1, 2), step(2, 3)], turn_end(2)),
        (2, "ended before its messages", vec![run(1), turn(1, 2), says(4, Some(2), None)], turn_end(2)),
        (2, "started outside its turn", vec![run(1)], step(2, 3)),
        (2, "started inside another step", vec![run(1), turn(1, 2), step(2, 3)], step(2, 4)),
        (2, "was billed but is not open", vec![run(1), turn(1, 2)], step_billed(3)),
        (2, "ended but is not open", vec![run(1), turn(1, 2)], step_end(3)),
        (2, "ended before its tools", with(proposing(), &[said(4)]), step_end(3)),
        (2, "ended before its messages", speaking(), step_end(3)),
        (2, "started outside its turn", vec![run(1)], says(4, Some(2), None)),
        (2, "started outside its step", vec![run(1), turn(1, 2)], says(4, Some(2), Some(3))),
        (2, "is not open", vec![], delta(4)),
        (2, "is not open", vec![says(4, None, None), said(4)], delta(4)),
        (2, "is not open", vec![], part(4)),
        (2, "is not open", vec![says(4, None, None), said(4)], said(4)),
        (2, "is not open", with(speaking(), &[said(4)]), proposed(5, 4)),
        (2, "proposed outside a step", vec![says(4, None, None)], proposed(5, 4)),
        (2, "is not running", proposing(), progress(5)),
        (2, "is not running", with(proposing(), &[allowed(5), started(5), ended(5)]), progress(5)),
        (2, "ended but is not open", speaking(), ended(5)),
        (2, "ended but is not open", with(proposing(), &[allowed(5), started(5), ended(5)]), ended(5)),
        (4, "opened outside its run", vec![], asked(6, Some(1))),
        (4, "opened outside its run", vec![run(1)], asked(6, Some(2))),
        (4, "closed but is not open", vec![], closed(6, Closing::Withdrawn)),
        (4, "closed but is not open", vec![asked(6, None), closed(6, Closing::Expired)], yes(6)),
        (4, "ended before its asks", vec![run(1), asked(6, Some(1))], run_end(1, Outcome::Done)),
        (4, "ended before its ask", with(proposing(), &[consent(6, 1, 5)]), ended(5)),
        (5, "was decided but is not proposed", speaking(), allowed(5)),
        (5, "was decided but is not proposed", with(proposing(), &[allowed(5), started(5)]), allowed(5)),
        (5, "was decided twice", with(proposing(), &[allowed(5)]), allowed(5)),
        (5, "its ask was not answered with yes", with(proposing(), &[consent(6, 1, 5)]), allowed(5)),
        (
            5,
            "its ask was not answered with yes",
            with(proposing(), &[consent(6, 1, 5), closed(6, Closing::Expired)]),
            decided(5, true, Decider::Person(None)),
        ),
        (
            5,
            "was allowed for another action than the one that was shown",
            with(proposing(), &[consent(6, 1, 5), yes(6)]),
            agreed(5, "e"),
        ),
        (
            5,
            "was answered with yes to another action",
            with(proposing(), &[consent(6, 1, 5)]),
            yes_to(6, "e"),
        ),
        // A second question about the same tool counts, not the yes to the first.
        (
            5,
            "its ask was not answered with yes",
            with(proposing(), &[consent(6, 1, 5), yes(6), consent(7, 1, 5)]),
            agreed(5, "d"),
        ),
        (5, "started without a recorded yes", proposing(), started(5)),
        (
            5,
            "started without a recorded yes",
            with(proposing(), &[decided(5, false, Decider::Policy)]),
            started(5),
        ),
        (5, "started without a recorded yes", with(proposing(), &[allowed(5), started(5)]), started(5)),
        (5, "which is not up for decision", vec![run(1)], consent(6, 1, 5)),
        (5, "which is not up for decision", with(proposing(), &[allowed(5)]), consent(6, 1, 5)),
        (
            5,
            "which is not up for decision",
            with(proposing(), &[allowed(5), started(5), ended(5)]),
            consent(6, 1, 5),
        ),
        // One that runs may ask about more than itself, and stays decided.
        (5, "was decided but is not proposed", with(asks_while_it_runs(), &[yes(6)]), agreed(5, "d")),
        (4, "closed but is not open", with(asks_while_it_runs(), &[yes(6)]), yes(6)),
        (5, "was answered with yes to another action", asks_while_it_runs(), yes_to(6, "e")),
        (6, "does not wait", vec![queued(7), left(7)], edited(7)),
        (6, "does not wait", vec![queued(7), left(7)], left(7)),
        (6, "was taken while a steer waits", vec![waits(7, QueueKind::FollowUp), queued(8)], left(7)),
        (6, "was taken before one that has waited longer", vec![queued(7), queued(8)], left(8)),
        (
            6,
            "was taken before one that has waited longer",
            vec![waits(7, QueueKind::FollowUp), waits(8, QueueKind::FollowUp)],
            left(8),
        ),
        (6, "was stopped and left inputs waiting", vec![run(1), queued(7)], run_end(1, Outcome::Cancelled)),
        (6, "was stopped and left inputs waiting", vec![run(1), queued(7)], run_end(1, Outcome::Lost)),
    ]
}

#[test]
fn each_clause_refuses_what_breaks_it_and_nothing_before() {
    for (law, what, before, last) in broken() {
        let mut grammar = check_all(&stream(before.clone()))
            .unwrap_or_else(|early| panic!("{what:?} is broken too early: {early}"));
        let event = Event { seq: Seq(before.len() as u64 + 1), at: Millis(0), body: last.clone() };
        let found = grammar.check(&event).expect_err(&format!("{last:?} passed; it should break: {what}"));
        assert_eq!((found.law, found.seq), (law, event.seq), "{found}");
        assert!(found.what.contains(what), "{found} is not: {what}");
    }
}

#[test]
fn numbers_without_a_gap() {
    for (first, second) in [(1, 3), (1, 1), (2, 3), (0, 1)] {
        let rename = |seq| {
            let body = Body::Session(SessionEvent::Renamed { title: "t".to_owned() });
            Event { seq: Seq(seq), at: Millis(0), body }
        };
        let found = check_all(&[rename(first), rename(second)]).expect_err("a gap, or a repetition");
        assert_eq!(found.law, 1, "{found}");
        assert!(found.what.contains("came where"), "{found}");
    }
}

/// Whole runs that keep every law.
fn lawful() -> Vec<Vec<Body>> {
    let with = |before: Vec<Body>, more: &[Body]| [before, more.to_vec()].concat();
    let inner = [
        // Several tools at once, decided and ended in any order.
        with(
            proposing(),
            &[proposed(6, 4), said(4), allowed(6), allowed(5), started(5), started(6), ended(6), ended(5)],
        ),
        // A consent that was answered with yes, and one that a foreign runtime overruled after it had closed.
        with(
            proposing(),
            &[consent(6, 1, 5), yes(6), allowed(5), started(5), progress(5), ended(5), said(4)],
        ),
        // The same with what was shown named, after a first question that went out of date.
        with(
            proposing(),
            &[
                consent(6, 1, 5),
                closed(6, Closing::Withdrawn),
                consent(7, 1, 5),
                yes_to(7, "d"),
                agreed(5, "d"),
                started(5),
                ended(5),
                said(4),
            ],
        ),
        with(
            proposing(),
            &[
                consent(6, 1, 5),
                closed(6, Closing::Withdrawn),
                decided(5, true, Decider::Foreign),
                ended(5),
                said(4),
            ],
        ),
        // A denial.
        with(proposing(), &[decided(5, false, Decider::Policy), ended(5), said(4)]),
    ];
    let ends = [step_end(3), turn_end(2), run_end(1, Outcome::Done)];
    inner.into_iter().map(|bodies| with(bodies, &ends)).collect()
}

#[test]
fn what_the_laws_allow() {
    for bodies in lawful() {
        let grammar = check_all(&stream(bodies)).unwrap_or_else(|why| panic!("{why}"));
        assert!(grammar.is_closed());
    }
    // Inputs may wait past a run that was done, and modes change at any time.
    let mode = Body::Queue(QueueEvent::ModeSet { kind: QueueKind::Steer, mode: Mode::All });
    let past = [queued(7), mode, run(1), run_end(1, Outcome::Done), edited(7), left(7)];
    assert!(check_all(&stream(past)).unwrap_or_else(|why| panic!("{why}")).is_closed());
    // Who takes an input back need not do so in order.
    let order = [waits(7, QueueKind::FollowUp), queued(8), queued(9), dropped(9), left(8), left(7)];
    assert!(check_all(&stream(order)).unwrap_or_else(|why| panic!("{why}")).is_closed());
}

fn folded(events: &[Event]) -> State {
    let mut state = State::new();
    for event in events {
        state.fold(event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
    }
    state
}

#[test]
fn a_stream_can_be_watched_from_any_state_on() {
    for bodies in lawful() {
        let events = stream(bodies);
        for at in 0..=events.len() {
            let mut grammar = Grammar::at(&folded(&events[..at]));
            for event in &events[at..] {
                grammar.check(event).unwrap_or_else(|why| panic!("from {at} on: {why}"));
            }
            assert!(grammar.is_closed());
        }
    }
}

#[test]
fn what_breaks_a_law_also_does_after_a_state() {
    // A state does not know how an ask was closed, nor within which run a message began that is of no turn.
    let forgotten = |before: &[Body]| {
        before.iter().any(|body| matches!(body, Body::Ask(AskEvent::Closed { .. })))
            && before.iter().any(|body| matches!(body, Body::Tool(ToolEvent::Proposed { .. })))
    };
    let mut watched = 0;
    for (law, what, before, last) in broken() {
        let of_no_turn = before == [run(1), says(4, None, None)];
        if of_no_turn || forgotten(&before) && !before.iter().any(|body| *body == consent(7, 1, 5)) {
            continue;
        }
        let state = folded(&stream(before.clone()));
        let event = Event { seq: state.seq.next(), at: Millis(0), body: last };
        let found = Grammar::at(&state).check(&event).expect_err(what);
        assert_eq!(found.law, law, "{found} is not: {what}");
        watched += 1;
    }
    assert!(watched > 50, "{watched}");
}

#[test]
fn what_is_open_is_known() {
    for open in [vec![run(1)], vec![says(4, None, None)], vec![asked(6, None)]] {
        assert!(!check_all(&stream(open)).unwrap_or_else(|why| panic!("{why}")).is_closed());
    }
    assert!(Grammar::new().is_closed());
}

/// The words of every clause, from the checker's own text, without what is put in.
fn clauses() -> Vec<Vec<String>> {
    let source = include_str!("../grammar.rs");
    let body = source.split("impl Grammar").nth(1).unwrap_or_default();
    let quoted = body.split('"').skip(1).step_by(2);
    let pieces = |text: &str| {
        let outside = text.split('{').map(|piece| piece.split('}').next_back().unwrap_or_default());
        outside.map(str::trim).filter(|piece| !piece.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    quoted.map(pieces).filter(|pieces| !pieces.is_empty()).collect()
}

/// What is said of a joined stream whose numbers fall.
fn behind() -> Option<String> {
    let events = stream(vec![run(1), says(4, None, None)]);
    let mut grammar = Grammar::new();
    events.iter().rev().find_map(|event| grammar.follow(event).err()).map(|found| found.what)
}

#[test]
fn every_clause_is_broken_here() {
    let said: Vec<String> = broken()
        .into_iter()
        .filter_map(|(_, _, before, last)| check_all(&stream([before, vec![last]].concat())).err())
        .map(|found| found.what)
        .chain(["number 3 came where 2 was due".to_owned()])
        .chain(behind())
        .collect();
    let clauses = clauses();
    assert!(clauses.len() > 25, "the text of the checker was not understood: {clauses:?}");
    for pieces in clauses {
        let broken = said.iter().any(|what| pieces.iter().all(|piece| what.contains(piece.as_str())));
        assert!(broken, "no stream here breaks the clause {pieces:?}");
    }
}
