//! Sessions that other processes have open: looked for once, mirrored while somebody here sees them, and left.

use super::*;
use crate::core::visits::MAX_VISITS;
use crate::core::{MAX_MIRRORED, RequestId};
use domain::signal::{Board, Signal};
use std::sync::Arc;

fn elsewhere(number: u64) -> SessionId {
    SessionId::from_number(number)
}

/// A session as its process shows it, with a run under way.
fn shown() -> State {
    let mut state = State::new();
    for body in [
        Body::Session(SessionEvent::Opened { cwd: "/far".into(), project: "/far".into(), parent: None }),
        Body::Run(RunEvent::Started { run: RunId(1) }),
    ] {
        state.apply(Millis(1), &body).expect("lawful");
    }
    state
}

fn visiting() -> Bench {
    let setup = Setup { visits: true, ..Setup::new(Engine::Driven, "/w", 7) };
    let mut bench = Bench { core: Core::new(setup), now: 1_000, outs: Vec::new(), next_ticket: 0 };
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    bench
}

impl Bench {
    /// Opens a session; gives the visit that is asked for.
    fn opens(&mut self, ui: UiId, session: &SessionId) -> (Ticket, Option<(RequestId, bool)>) {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        let command = Command::Library(LibraryCommand::Open { session: session.clone() });
        self.step(CoreInput::Command { ui, ticket, target: Target::Current, command });
        let visit = self.outs.iter().rev().find_map(|out| match out {
            CoreEffect::Visit { id, session: of, answers } if of == session => Some((*id, *answers)),
            _ => None,
        });
        (ticket, visit)
    }

    fn visits(&mut self, session: &SessionId) -> Ticket {
        let (ticket, visit) = self.opens(TERMINAL, session);
        let with = Ok(Fetched::Visited(Box::new((shown(), Board::default()))));
        self.step(CoreInput::Answered { id: visit.expect("looked for").0, with });
        ticket
    }

    fn settled_with(&self, ticket: Ticket) -> Option<Result<Receipt, Refusal>> {
        self.outs.iter().find_map(|out| match out {
            CoreEffect::Settle { ticket: of, with, .. } if *of == ticket => Some(with.clone()),
            _ => None,
        })
    }

    fn consults(&self) -> Vec<(Ticket, SessionId, Command)> {
        let consult = |out: &CoreEffect| match out {
            CoreEffect::Order(Order::Consult { ticket, session, command, .. }) => {
                Some((*ticket, session.clone(), command.clone()))
            }
            _ => None,
        };
        self.outs.iter().filter_map(consult).collect()
    }

    fn leaves(&self, session: &SessionId) -> bool {
        self.outs.iter().any(|out| matches!(out, CoreEffect::Leave { session: of } if of == session))
    }
}

#[test]
fn a_session_of_another_process_is_shown_and_what_is_said_in_it_goes_there() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    let opened = bench.visits(&session);
    assert!(matches!(bench.settled_with(opened), Some(Ok(Receipt::Session { .. }))));
    assert_eq!(bench.core.current(TERMINAL), Some(&session));
    bench.outs.clear();
    bench.next_ticket += 1;
    let (ticket, command) =
        (Ticket(bench.next_ticket), Command::Run(RunCommand::Cancel { run: None, reason: None }));
    let cancel =
        CoreInput::Command { ui: TERMINAL, ticket, target: Target::Current, command: command.clone() };
    bench.step(cancel);
    let asked = bench.consults();
    assert!(matches!(asked.as_slice(), [(_, of, said)] if *of == session && *said == command), "{asked:?}");
    let over = Body::Run(RunEvent::Ended { run: RunId(1), outcome: Outcome::Cancelled });
    let event = Event { seq: shown().seq.next(), at: Millis(2), body: over };
    bench.step(CoreInput::MirrorEvent { session: session.clone(), event: Arc::new(event) });
    bench.step(CoreInput::Report(Report::Settled { ticket: asked[0].0, with: Ok(Receipt::Done) }));
    assert!(matches!(bench.settled_with(ticket), Some(Ok(Receipt::Done))));
    let told = |out: &CoreEffect| matches!(out, CoreEffect::Event { ui: TERMINAL, .. });
    assert_eq!(bench.outs.iter().filter(|out| told(out)).count(), 1);
    assert!(!bench.outs.iter().any(|out| matches!(out, CoreEffect::Append { .. })), "its process keeps it");
    assert!(bench.core.present().is_empty() && bench.core.members().is_empty(), "it is open there, not here");
}

#[test]
fn a_mode_that_was_typed_here_is_told_not_to_hold_in_a_visited_session() {
    for (typed, is_told) in [(None, false), (Some(Policy::Ask), false), (Some(Policy::ReadOnly), true)] {
        let mut bench = visiting();
        bench.core.setup.typed_policy = typed;
        bench.visits(&elsewhere(5));
        let told = |out: &CoreEffect| matches!(out, CoreEffect::Signal { ui: TERMINAL, signal: Signal::Notify { text, .. }, .. } if text.contains("its mode is ask, and --policy read-only holds only"));
        assert_eq!(bench.outs.iter().any(told), is_told, "{typed:?}");
    }
}

#[test]
fn where_nobody_has_it_the_store_is_right() {
    let mut bench = visiting();
    let (ticket, visit) = bench.opens(TERMINAL, &elsewhere(5));
    let nobody = Err(Refusal::new(RefusalKind::Lost, "nobody says that it has it"));
    bench.step(CoreInput::Answered { id: visit.expect("looked for").0, with: nobody });
    let refused = bench.settled_with(ticket).expect("settled").unwrap_err();
    assert_eq!(refused.kind, RefusalKind::SessionUnknown);
    let looked = bench.outs.iter().filter(|out| matches!(out, CoreEffect::Visit { .. })).count();
    assert_eq!(looked, 1, "it is looked for once");
    // A program that visits nobody does not look.
    let mut bench = Bench::new();
    let open = Command::Library(LibraryCommand::Open { session: elsewhere(5) });
    assert_eq!(bench.command(TERMINAL, open).unwrap_err().kind, RefusalKind::SessionUnknown);
}

#[test]
fn a_question_that_nobody_here_can_answer_is_left_to_the_others() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: Answers::NONE });
    let (_, visit) = bench.opens(TERMINAL, &session);
    let (id, answers) = visit.expect("looked for");
    assert!(!answers, "its process is told so");
    bench.step(CoreInput::Answered { id, with: Ok(Fetched::Visited(Box::new((shown(), Board::default())))) });
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    let ask = Ask {
        id: AskId(9),
        run: Some(RunId(1)),
        title: "go on?".into(),
        kind,
        deadline: Some(Millis(1_001)),
    };
    let event = Event { seq: shown().seq.next(), at: Millis(2), body: Body::Ask(AskEvent::Opened(ask)) };
    bench.step(CoreInput::MirrorEvent { session: session.clone(), event: Arc::new(event) });
    bench.arrive(OTHER, Answers::NONE, Standing::Controller);
    bench.step(CoreInput::Left { ui: OTHER });
    bench.now = 9_000;
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert!(bench.consults().is_empty(), "{:?}", bench.consults());
    assert_eq!(
        bench.core.state(&session).map(|state| state.asks.len()),
        Some(1),
        "its process has the clock"
    );
}

#[test]
fn when_its_process_is_gone_everybody_hears_it_and_the_next_word_opens_it_again() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.visits(&session);
    bench.next_ticket += 1;
    let ticket = Ticket(bench.next_ticket);
    let command = Command::Session(SessionCommand::Stats);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target: Target::Current, command });
    bench.outs.clear();
    bench.step(CoreInput::VisitOver { session: session.clone(), why: "killed".into() });
    assert_eq!(bench.settled_with(ticket).expect("settled").unwrap_err().kind, RefusalKind::Lost);
    let lost = |out: &CoreEffect| match out {
        CoreEffect::Event { event, .. } => {
            matches!(event.body, Body::Run(RunEvent::Ended { outcome: Outcome::Lost, .. }))
        }
        _ => false,
    };
    assert!(bench.outs.iter().any(lost), "its run is over here");
    let told = |out: &CoreEffect| matches!(out, CoreEffect::Signal { signal: Signal::Notify { text, .. }, .. } if text.contains("killed"));
    assert!(bench.outs.iter().any(told) && bench.leaves(&session));
    assert!(bench.core.state(&session).is_none());
    bench.outs.clear();
    let command =
        Command::Run(RunCommand::Prompt { input: Input::text("on"), options: PromptOptions::default() });
    bench.next_ticket += 1;
    let ticket = Ticket(bench.next_ticket);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target: Target::Current, command });
    let again = |out: &CoreEffect| matches!(out, CoreEffect::Visit { session: of, .. } if *of == session);
    assert!(bench.outs.iter().any(again), "it is looked for where it is now, and nothing is begun here");
    assert_eq!(bench.core.open_sessions().count(), 0);
}

#[test]
fn a_session_that_nobody_here_sees_any_more_is_left() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.visits(&session);
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    bench.opens(OTHER, &session);
    bench.command(TERMINAL, Command::Session(SessionCommand::Close)).expect("closed for this one");
    assert!(!bench.leaves(&session), "the other one is there");
    bench.step(CoreInput::Left { ui: OTHER });
    assert!(bench.leaves(&session) && bench.core.state(&session).is_none());
    assert!(!bench.outs.iter().any(|out| matches!(out, CoreEffect::Order(Order::Forget { .. }))));
}

#[test]
fn only_so_many_sessions_are_visited_at_once() {
    let mut bench = visiting();
    for number in 1..=MAX_VISITS as u64 {
        bench.visits(&elsewhere(number));
    }
    let (ticket, visit) = bench.opens(TERMINAL, &elsewhere(999));
    assert!(visit.is_none());
    assert!(matches!(bench.settled_with(ticket), Some(Err(_))));
    assert!(shown().weight() < MAX_MIRRORED);
}

#[test]
fn a_question_of_a_run_that_was_begun_here_is_declined_where_nobody_can_answer_it_any_more() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.visits(&session);
    let prompt =
        Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
    bench.next_ticket += 1;
    let (ticket, target) = (Ticket(bench.next_ticket), Target::Current);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target, command: prompt });
    let (consult, ..) = bench.consults().pop().expect("passed on");
    let started = Ok(Receipt::Started { session: session.clone(), run: RunId(1) });
    bench.step(CoreInput::Report(Report::Settled { ticket: consult, with: started }));
    bench.outs.clear();
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    let ask = Ask { id: AskId(9), run: Some(RunId(1)), title: "go on?".into(), kind, deadline: None };
    let event = Event { seq: shown().seq.next(), at: Millis(2), body: Body::Ask(AskEvent::Opened(ask)) };
    bench.step(CoreInput::MirrorEvent { session: session.clone(), event: Arc::new(event) });
    assert!(bench.consults().is_empty(), "somebody can be asked here");
    bench.step(CoreInput::CannotAnswer { ui: TERMINAL, session, ask: AskId(9) });
    assert!(matches!(
        bench.consults().as_slice(),
        [(_, _, Command::Answer { answer: Answer::Dismissed, .. })]
    ));
}

#[test]
fn a_visit_that_a_mute_ui_began_can_be_asked_once_somebody_joins_who_can_answer() {
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: Answers::NONE });
    bench.visits(&session);
    bench.outs.clear();
    bench.arrive(OTHER, Answers::ON_SCREEN, Standing::Controller);
    let (ticket, visit) = bench.opens(OTHER, &session);
    let (id, answers) = visit.expect("its process is reached anew");
    assert!(answers, "as by somebody who can answer");
    let mut later = shown();
    let renamed = Body::Session(SessionEvent::Renamed { title: "later".into() });
    later.apply(Millis(3), &renamed).expect("lawful");
    later.seq = later.seq.next();
    bench.step(CoreInput::Answered { id, with: Ok(Fetched::Visited(Box::new((later, Board::default())))) });
    assert!(matches!(bench.settled_with(ticket), Some(Ok(Receipt::Session { .. }))));
    for ui in [TERMINAL, OTHER] {
        let attached = |out: &CoreEffect| matches!(out, CoreEffect::Attach { ui: to, .. } if *to == ui);
        assert!(bench.outs.iter().any(attached), "{ui:?} is shown how it stands");
    }
    assert!(!bench.leaves(&session));
    // Once is enough, and who can answer nothing reaches nobody anew.
    bench.outs.clear();
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session: session.clone() })).unwrap();
    assert!(!bench.outs.iter().any(|out| matches!(out, CoreEffect::Visit { .. })));
    // Where the process is gone by then, everybody who saw the session hears it.
    let (mut bench, session) = (visiting(), elsewhere(5));
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: Answers::NONE });
    bench.visits(&session);
    bench.arrive(OTHER, Answers::ON_SCREEN, Standing::Controller);
    let (ticket, visit) = bench.opens(OTHER, &session);
    let gone = Err(Refusal::new(RefusalKind::Lost, "killed"));
    bench.step(CoreInput::Answered { id: visit.expect("looked for").0, with: gone });
    assert!(matches!(bench.settled_with(ticket), Some(Err(_))));
    assert!(bench.leaves(&session) && bench.core.state(&session).is_none());
}
