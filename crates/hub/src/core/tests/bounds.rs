//! What may pile up in a hub has an end: questions, commands that wait, inputs, and what a foreign runtime tells.

use super::{Bench, TERMINAL};
use crate::core::{
    Core, CoreEffect, CoreInput, Engine, MAX_ALL_REQUESTS, MAX_CONSULTED, MAX_MIRRORED, MAX_REQUEST_BYTES,
    MAX_REQUESTS, MAX_STREAMED, MAX_UIS, RequestId, Setup, Standing,
};
use domain::ask::{Ask, AskKind, Closing};
use domain::ask_book::MAX_OPEN_ASKS;
use domain::canon::Bounds;
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, QueueCommand, Refusal, RefusalKind, SessionCommand,
    Target,
};
use domain::content::{Input, Role, TextKind};
use domain::event::{AskEvent, Body, Event, MessageEvent, NoteEvent, Outcome, SessionEvent};
use domain::fact::{Fact, Said};
use domain::ids::{AskId, EntryId, MessageId, Millis, Seq, SessionId, UiId};
use domain::port::{Abilities, Order, Report, Ticket};
use domain::queue::{MAX_QUEUED_BYTES, QueueKind};
use domain::signal::{Board, Level, Signal};
use domain::state::State;
use roles::Answers;
use std::sync::Arc;

fn confirm(id: AskId) -> Body {
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    Body::Ask(AskEvent::Opened(Ask { id, run: None, title: "?".into(), kind, deadline: None }))
}

#[test]
fn one_question_too_many_is_closed_at_once_and_its_asker_told() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    for _ in 0..=MAX_OPEN_ASKS {
        let id = AskId::mint(&brief.ids);
        bench.happened(&brief, confirm(id));
    }
    assert_eq!(bench.state().asks.len(), MAX_OPEN_ASKS);
    let told = bench.outs.iter().filter(|out| {
        matches!(out, CoreEffect::Order(Order::AskClosed { closing: Closing::Unattended, .. }))
    });
    assert_eq!(told.count(), 1);
}

#[test]
fn inputs_wait_up_to_so_many_bytes() {
    let mut bench = Bench::new();
    bench.prompt("go");
    let half = || {
        let input = Input::text("x".repeat(MAX_QUEUED_BYTES / 2));
        Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input })
    };
    bench.command(TERMINAL, half()).unwrap();
    bench.command(TERMINAL, half()).unwrap();
    let refused = bench.command(TERMINAL, half()).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::TooMany);
}

/// A core in front of a foreign runtime, with one UI.
fn in_front(engine: Engine) -> Core {
    let setup = Setup::new(engine, "/w", 7);
    let mut core = Core::new(setup);
    core.runtime_session(Millis(1));
    let (name, answers, standing) = ("ui".to_owned(), Answers::ALL, Standing::Controller);
    core.step(Millis(1), CoreInput::Arrived { ui: TERMINAL, name, answers, standing });
    core
}

fn lets_go(outs: &[CoreEffect]) -> Option<&str> {
    outs.iter().find_map(|out| match out {
        CoreEffect::LetGo(why) => Some(why.as_str()),
        _ => None,
    })
}

#[test]
fn commands_that_a_runtime_never_answers_do_not_pile_up() {
    let mut core = in_front(Engine::Followed);
    let list = |ticket: usize| CoreInput::Command {
        ui: TERMINAL,
        ticket: Ticket(ticket as u64),
        target: Target::Current,
        command: Command::List(ListCommand::Tools),
    };
    core.step(Millis(1), CoreInput::Abilities(Abilities::all("it")));
    for ticket in 0..MAX_CONSULTED {
        let outs = core.step(Millis(1), list(ticket));
        assert!(outs.iter().any(|out| matches!(out, CoreEffect::Order(_))));
    }
    let outs = core.step(Millis(1), list(MAX_CONSULTED));
    let refused = |out: &CoreEffect| matches!(out, CoreEffect::Settle { with: Err(refusal), .. } if refusal.kind == RefusalKind::TooMany);
    assert!(outs.iter().any(refused), "{outs:?}");
}

#[test]
fn commands_wait_for_the_greeting_of_a_runtime_in_bounds_and_until_it_is_gone() {
    let mut core = in_front(Engine::Followed);
    let list = |ticket: u64| CoreInput::Command {
        ui: TERMINAL,
        ticket: Ticket(ticket),
        target: Target::Current,
        command: Command::List(ListCommand::Tools),
    };
    for ticket in 0..MAX_REQUESTS as u64 {
        assert!(core.step(Millis(1), list(ticket)).is_empty());
    }
    let outs = core.step(Millis(1), list(MAX_REQUESTS as u64));
    let refused = |out: &CoreEffect| matches!(out, CoreEffect::Settle { with: Err(refusal), .. } if refusal.kind == RefusalKind::TooMany);
    assert!(outs.iter().any(refused), "{outs:?}");
    let again = core.step(Millis(2), CoreInput::Lost);
    assert_eq!(
        again.len(),
        MAX_REQUESTS,
        "each is taken again, and refused by who knows that the runtime is gone"
    );
    let outs = core.step(Millis(2), list(0));
    assert!(outs.iter().any(|out| matches!(out, CoreEffect::Order(_))), "nothing waits any more: {outs:?}");
}

#[test]
fn a_runtime_that_floods_a_run_that_is_over_is_let_go_with_the_reason() {
    let mut core = in_front(Engine::Followed);
    let session = core.current(TERMINAL).unwrap().clone();
    let mut say = |said| {
        let report = Report::Said { session: session.clone(), fact: Fact::of("r", said) };
        core.step(Millis(1), CoreInput::Report(report))
    };
    say(Said::RunStarted);
    say(Said::RunEnded(Outcome::Done));
    let late = || Said::Text { message: None, kind: TextKind::Text, text: String::new() };
    for _ in 0..Bounds::USUAL.unheard {
        assert!(lets_go(&say(late())).is_none());
    }
    assert!(lets_go(&say(late())).is_some_and(|why| why.contains("Start it again")));
}

#[test]
fn a_lossless_session_that_grows_without_end_is_let_go_with_the_reason() {
    let mut core = in_front(Engine::Mirrored);
    let session = SessionId::from_number(1);
    let (state, board) = (Box::new(State::new()), Board::default());
    core.step(Millis(1), CoreInput::Mirror { session: session.clone(), state, board });
    let text = "x".repeat(8 * 1024 * 1024);
    let most = MAX_MIRRORED / text.len();
    for number in 1..=most as u64 + 1 {
        let (entry, text) = (EntryId(number), text.clone());
        let body = Body::Note(NoteEvent::Noticed {
            entry,
            parent: None,
            run: None,
            level: Level::Info,
            code: "n".into(),
            text,
        });
        let event = Arc::new(Event { seq: Seq(number), at: Millis(1), body });
        let outs = core.step(Millis(1), CoreInput::MirrorEvent { session: session.clone(), event });
        let over = number > most as u64 - 1;
        assert_eq!(lets_go(&outs).is_some_and(|why| why.contains("128 MiB")), over, "{number}");
    }
    // The same when it is that large from the beginning.
    let mut state = State::new();
    for number in 1..=most as u64 {
        let (entry, text) = (EntryId(number), text.clone());
        let body = Body::Note(NoteEvent::Noticed {
            entry,
            parent: None,
            run: None,
            level: Level::Info,
            code: "n".into(),
            text,
        });
        state.apply(Millis(1), &body).unwrap();
    }
    let mirror = CoreInput::Mirror { session, state: Box::new(state), board: Board::default() };
    assert!(lets_go(&core.step(Millis(1), mirror)).is_some());
}

#[test]
fn a_question_of_a_lossless_runtime_that_nobody_can_be_asked_is_its_own_to_close() {
    let mut core = in_front(Engine::Mirrored);
    let (session, ask) = (SessionId::from_number(1), AskId(1));
    let (state, board) = (Box::new(State::new()), Board::default());
    core.step(Millis(1), CoreInput::Mirror { session: session.clone(), state, board });
    let event = Arc::new(Event { seq: Seq(1), at: Millis(1), body: confirm(ask) });
    let outs = core.step(Millis(1), CoreInput::MirrorEvent { session: session.clone(), event });
    assert!(!outs.iter().any(|out| matches!(out, CoreEffect::Order(_))), "it can be answered: {outs:?}");
    let outs = core.step(Millis(1), CoreInput::CannotAnswer { ui: TERMINAL, session: session.clone(), ask });
    let told = |out: &CoreEffect| {
        matches!(out, CoreEffect::Order(Order::Consult { command: Command::Answer { .. }, .. }))
    };
    assert!(outs.iter().any(told), "{outs:?}");
    assert_eq!(core.state(&session).unwrap().seq, Seq(1), "nothing happens but what the runtime tells");
}

#[test]
fn a_lossless_message_without_end_is_let_go_with_the_reason() {
    let mut core = in_front(Engine::Mirrored);
    let session = SessionId::from_number(1);
    let (mut state, message) = (State::new(), MessageId(1));
    let started = Body::Message(MessageEvent::Started {
        message,
        parent: None,
        role: Role::User,
        turn: None,
        step: None,
    });
    state.apply(Millis(1), &started).unwrap();
    let mirror =
        CoreInput::Mirror { session: session.clone(), state: Box::new(state), board: Board::default() };
    core.step(Millis(1), mirror);
    let text = "x".repeat(MAX_STREAMED / 8);
    for number in 1..=9 {
        let body = Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: text.clone() });
        let event = Arc::new(Event { seq: Seq(number), at: Millis(1), body });
        let outs = core.step(Millis(1), CoreInput::MirrorEvent { session: session.clone(), event });
        assert_eq!(lets_go(&outs).is_some_and(|why| why.contains("one message")), number > 8, "{number}");
    }
}

#[test]
fn a_title_that_changes_for_ever_does_not_end_a_mirrored_session() {
    let mut core = in_front(Engine::Mirrored);
    let session = SessionId::from_number(1);
    let (state, board) = (Box::new(State::new()), Board::default());
    core.step(Millis(1), CoreInput::Mirror { session: session.clone(), state, board });
    let title = "x".repeat(8 * 1024 * 1024);
    for number in 1..=2 * (MAX_MIRRORED / title.len()) as u64 {
        let body = Body::Session(SessionEvent::Renamed { title: title.clone() });
        let event = Arc::new(Event { seq: Seq(number), at: Millis(1), body });
        let outs = core.step(Millis(1), CoreInput::MirrorEvent { session: session.clone(), event });
        assert!(lets_go(&outs).is_none());
    }
}

#[test]
fn a_signal_is_cut_to_what_a_screen_can_show() {
    let mut bench = Bench::new();
    bench.prompt("go");
    let session = bench.session();
    let huge = || "é".repeat(1_000_000);
    let signals = [
        Signal::Notify { level: Level::Info, text: huge() },
        Signal::Status { key: "k".into(), text: Some(huge()) },
        Signal::Working(Some(huge())),
        Signal::Widget { key: huge(), lines: vec![huge(); 100], place: domain::signal::WidgetPlace::Above },
        Signal::Title(huge()),
        Signal::EditorText(huge()),
        Signal::Suggestion { text: huge(), confidence: 1, source: huge(), context: Some(huge()) },
    ];
    for signal in signals {
        bench.outs.clear();
        bench.step(CoreInput::Report(Report::Signal { session: session.clone(), signal }));
        let told = bench.outs.iter().find_map(|out| match out {
            CoreEffect::Signal { signal, .. } => Some(signal.weight()),
            _ => None,
        });
        assert!(told.is_some_and(|weight| weight <= 70_000), "{told:?}");
    }
}

/// Looks for something; what is asked of the store, or the refusal.
fn look(core: &mut Core, ui: UiId, target: Target, command: Command) -> Result<RequestId, Refusal> {
    let input = CoreInput::Command { ui, ticket: Ticket(1), target, command };
    for out in core.step(Millis(1), input) {
        match out {
            CoreEffect::Fetch { id, .. } => return Ok(id),
            CoreEffect::Settle { with, .. } => return Err(with.unwrap_err()),
            _ => {}
        }
    }
    panic!("neither asked for nor settled");
}

fn list(search: Option<String>) -> Command {
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: None, search })
}

fn arrive(core: &mut Core, ui: UiId) {
    let (answers, standing) = (Answers::ALL, Standing::Controller);
    core.step(Millis(1), CoreInput::Arrived { ui, name: "test".into(), answers, standing });
}

#[test]
fn each_ui_may_have_so_many_requests_and_all_together_so_many() {
    let mut core = Bench::new().core;
    let mut last = None;
    for ui in (1..=MAX_UIS as u64).map(UiId) {
        arrive(&mut core, ui);
        for _ in 0..MAX_REQUESTS {
            last = Some(look(&mut core, ui, Target::Current, list(None)).unwrap());
        }
        let refused = look(&mut core, ui, Target::Current, list(None)).unwrap_err();
        assert!(refused.kind == RefusalKind::TooMany && refused.message.contains("your"), "{refused}");
    }
    // Who left is not answered, and what it asked for is still read.
    core.step(Millis(1), CoreInput::Left { ui: UiId(1) });
    let fresh = UiId(MAX_UIS as u64 + 1);
    arrive(&mut core, fresh);
    let refused = look(&mut core, fresh, Target::Current, list(None)).unwrap_err();
    assert!(refused.message.contains(&MAX_ALL_REQUESTS.to_string()), "{refused}");
    let refusal = Refusal::new(RefusalKind::Storage, "no");
    core.step(Millis(1), CoreInput::Answered { id: last.unwrap(), with: Err(refusal) });
    look(&mut core, fresh, Target::Current, list(None)).unwrap();
}

#[test]
fn requests_hold_so_much_text_and_no_more() {
    let mut core = Bench::new().core;
    let text = || "x".repeat(MAX_REQUEST_BYTES / 3 + 1);
    let first = look(&mut core, TERMINAL, Target::Current, list(Some(text()))).unwrap();
    // A command for a session that has to be opened first waits whole.
    let rename = || Command::Session(SessionCommand::Rename { title: text() });
    let elsewhere = |number| Target::Session(SessionId::from_number(number));
    look(&mut core, TERMINAL, elsewhere(50), rename()).unwrap();
    let refused = look(&mut core, TERMINAL, elsewhere(51), rename()).unwrap_err();
    assert!(refused.kind == RefusalKind::TooMany && refused.message.contains("MiB"), "{refused}");
    assert!(look(&mut core, TERMINAL, Target::Current, list(None)).is_ok());
    let refusal = Refusal::new(RefusalKind::Storage, "no");
    core.step(Millis(1), CoreInput::Answered { id: first, with: Err(refusal) });
    look(&mut core, TERMINAL, elsewhere(51), rename()).unwrap();
}
