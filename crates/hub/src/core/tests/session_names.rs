//! Sessions of a foreign runtime: a command about one never ends up in another, and what waits here is a turn of the same run.

use super::*;
use domain::event::Failure;
use domain::fact::{Fact, Said};

/// A core in front of a foreign runtime, where it stands, with one UI.
fn in_front() -> (Bench, SessionId) {
    let mut bench = Bench::with(Engine::Followed, None);
    let session = bench.core.runtime_session(Millis(bench.now)).0.expect("a session");
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    bench.step(CoreInput::Abilities(domain::port::Abilities { name: "far".into(), ..Default::default() }));
    (bench, session)
}

fn other() -> SessionId {
    SessionId::parse("sess-far-away").expect("an id")
}

fn say_prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() })
}

fn wish(bench: &mut Bench, target: Target, command: Command) -> Ticket {
    bench.next_ticket += 1;
    let ticket = Ticket(bench.next_ticket);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target, command });
    ticket
}

/// What the runtime was asked last, and the ticket of that.
fn asked(bench: &Bench) -> (Ticket, Command) {
    let consult = |out: &CoreEffect| match out {
        CoreEffect::Order(Order::Consult { ticket, command, .. }) => Some((*ticket, command.clone())),
        _ => None,
    };
    bench.outs.iter().rev().find_map(consult).expect("the runtime is asked")
}

fn prompts(bench: &Bench) -> Vec<String> {
    let prompt = |out: &CoreEffect| match out {
        CoreEffect::Order(Order::Consult {
            command: Command::Run(RunCommand::Prompt { input, .. }), ..
        }) => Some(input.text.clone()),
        _ => None,
    };
    bench.outs.iter().filter_map(prompt).collect()
}

fn answers(bench: &mut Bench, ticket: Ticket, with: Result<Receipt, Refusal>) {
    bench.step(CoreInput::Report(Report::Settled { ticket, with }));
}

fn settled(bench: &Bench, ticket: Ticket) -> Option<Result<Receipt, Refusal>> {
    bench.outs.iter().find_map(|out| match out {
        CoreEffect::Settle { ticket: of, with, .. } if *of == ticket => Some(with.clone()),
        _ => None,
    })
}

fn opened(session: &SessionId) -> Result<Receipt, Refusal> {
    Ok(Receipt::Session { session: SessionSummary::new(session.clone()), parent: None })
}

fn says(bench: &mut Bench, session: &SessionId, run: &str, said: Said) {
    let report = Report::Said { session: session.clone(), fact: Fact::of(run, said) };
    bench.step(CoreInput::Report(report));
}

#[test]
fn a_prompt_for_a_listed_session_opens_it_there_first() {
    let (mut bench, runtime_session) = in_front();
    let ticket = wish(&mut bench, Target::Session(other()), say_prompt("go on"));
    let (open, command) = asked(&bench);
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: other() }));
    assert!(prompts(&bench).is_empty(), "nothing is said before the runtime is there");
    assert!(bench.core.is_moving(TERMINAL), "what comes behind waits");
    let answer = CoreInput::Report(Report::Settled { ticket: open, with: opened(&other()) });
    assert!(bench.core.concerns(&answer).sessions.is_empty(), "but the answer waits for nothing behind it");
    answers(&mut bench, open, opened(&other()));
    assert_eq!(prompts(&bench), ["go on"]);
    let (prompted, _) = asked(&bench);
    answers(&mut bench, prompted, Ok(Receipt::Done));
    match settled(&bench, ticket) {
        Some(Ok(Receipt::Started { session, .. })) => assert_eq!(session, other()),
        settled => panic!("{settled:?}"),
    }
    // The other UI is still where it was: the runtime comes back for it, once it is idle.
    says(&mut bench, &other(), "r", Said::RunStarted);
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    let back = wish(&mut bench, Target::Session(runtime_session.clone()), say_prompt("back"));
    let busy = settled(&bench, back).expect("at once").expect_err("a run is under way");
    assert_eq!(busy.kind, RefusalKind::Busy);
    says(&mut bench, &other(), "r", Said::RunEnded(Outcome::Done));
    bench.step(CoreInput::Named { session: runtime_session.clone(), name: "their-own-name".into() });
    wish(&mut bench, Target::Session(runtime_session), say_prompt("back"));
    let theirs = SessionId::parse("their-own-name").unwrap();
    assert_eq!(
        asked(&bench).1,
        Command::Library(LibraryCommand::Open { session: theirs }),
        "by its name there"
    );
}

#[test]
fn a_session_in_which_nothing_was_said_takes_the_runtimes_name_and_its_first_id_stays_known() {
    let (mut bench, runtime_session) = in_front();
    let opens = || domain::port::Abilities { name: "far".into(), open_session: true, ..Default::default() };
    bench.step(CoreInput::Named { session: runtime_session.clone(), name: "theirs".into() });
    assert_eq!(bench.core.current(TERMINAL), Some(&runtime_session), "nobody would look for it by that name");
    bench.step(CoreInput::Abilities(opens()));
    let theirs = SessionId::of_peer("theirs");
    assert_eq!(bench.core.current(TERMINAL), Some(&theirs), "who saw it went along");
    for (target, text) in [(theirs.clone(), "by its name"), (runtime_session.clone(), "by its first id")] {
        let ticket = wish(&mut bench, Target::Session(target), say_prompt(text));
        let (prompted, _) = asked(&bench);
        answers(&mut bench, prompted, Ok(Receipt::Done));
        match settled(&bench, ticket) {
            Some(Ok(Receipt::Started { session, .. })) => assert_eq!(session, theirs),
            settled => panic!("{settled:?}"),
        }
        says(&mut bench, &runtime_session, text, Said::RunStarted);
        says(&mut bench, &runtime_session, text, Said::RunEnded(Outcome::Done));
    }
    assert_eq!(prompts(&bench), ["by its name", "by its first id"]);
    // Once something was said, or is being said, the id that was told stays.
    bench.step(CoreInput::Named { session: runtime_session, name: "another".into() });
    assert_eq!(bench.core.current(TERMINAL), Some(&theirs));
    let (mut bench, runtime_session) = in_front();
    bench.step(CoreInput::Abilities(opens()));
    wish(&mut bench, Target::Current, say_prompt("named while this is under way"));
    bench.step(CoreInput::Named { session: runtime_session.clone(), name: "theirs".into() });
    assert_eq!(bench.core.current(TERMINAL), Some(&runtime_session));
}

#[test]
fn who_comes_to_a_runtime_that_has_greeted_and_has_no_session_yet_is_told_what_it_can_do() {
    for is_first in [true, false] {
        let mut bench = Bench::with(Engine::Mirrored, None);
        bench.step(CoreInput::Left { ui: TERMINAL });
        let greets = || CoreInput::Abilities(domain::port::Abilities::all("far"));
        if is_first {
            bench.step(greets());
        }
        bench.outs.clear();
        bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
        if !is_first {
            bench.step(greets());
        }
        let told = |out: &&CoreEffect| matches!(out, CoreEffect::Abilities { ui: TERMINAL });
        assert_eq!(bench.outs.iter().filter(told).count(), 1, "greeted first: {is_first}");
    }
}

#[test]
fn a_session_for_which_a_command_waits_by_its_id_keeps_that_id_when_the_runtime_greets() {
    let mut bench = Bench::with(Engine::Followed, None);
    let first = bench.core.runtime_session(Millis(bench.now)).0.expect("a session");
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    let ticket = wish(&mut bench, Target::Session(first.clone()), say_prompt("early"));
    assert!(prompts(&bench).is_empty(), "it waits for the greeting");
    bench.step(CoreInput::Named { session: first.clone(), name: "theirs".into() });
    bench.step(CoreInput::Abilities(domain::port::Abilities {
        name: "far".into(),
        open_session: true,
        ..Default::default()
    }));
    assert_eq!(prompts(&bench), ["early"]);
    let (prompted, _) = asked(&bench);
    answers(&mut bench, prompted, Ok(Receipt::Done));
    match settled(&bench, ticket) {
        Some(Ok(Receipt::Started { session, .. })) => assert_eq!(session, first, "what its UI calls it"),
        settled => panic!("{settled:?}"),
    }
    assert_eq!(bench.core.here(&SessionId::of_peer("theirs")), first, "what happens there happens here");
}

#[test]
fn a_session_that_cannot_be_opened_is_refused_and_nothing_goes_elsewhere() {
    let (mut bench, runtime_session) = in_front();
    let ticket = wish(&mut bench, Target::Session(other()), say_prompt("go on"));
    let (open, _) = asked(&bench);
    answers(&mut bench, open, Err(Refusal::new(RefusalKind::Unsupported, "it has one session")));
    let refusal = settled(&bench, ticket).expect("settled").expect_err("refused");
    assert_eq!(refusal.kind, RefusalKind::SessionUnknown, "in words that every wire has");
    assert!(refusal.to_string().contains("it has one session"));
    assert!(prompts(&bench).is_empty());
    assert_eq!(bench.core.current(TERMINAL), Some(&runtime_session));
}

#[test]
fn a_session_that_was_left_before_anything_was_said_in_it_says_why_it_is_gone() {
    let (mut bench, runtime_session) = in_front();
    wish(&mut bench, Target::Session(other()), say_prompt("go on"));
    let (open, _) = asked(&bench);
    answers(&mut bench, open, opened(&other()));
    let back = wish(&mut bench, Target::Session(runtime_session), say_prompt("back"));
    let (open, _) = asked(&bench);
    answers(&mut bench, open, Err(Refusal::new(RefusalKind::SessionUnknown, "no such session")));
    let refusal = settled(&bench, back).expect("settled").expect_err("refused");
    assert_eq!(refusal.kind, RefusalKind::SessionUnknown);
    assert!(refusal.to_string().contains("before anything was said in it"), "{refusal}");
}

#[test]
fn what_is_told_of_a_session_is_its_history() {
    let (mut bench, _) = in_front();
    let history =
        Command::Library(LibraryCommand::History { session: other(), max_runs: 1, max_events: 100 });
    let ticket = wish(&mut bench, Target::Session(other()), history);
    let (open, command) = asked(&bench);
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: other() }));
    // The shell hands the past over before what was put off is taken again.
    let outs = bench
        .core
        .step(Millis(bench.now), CoreInput::Report(Report::Settled { ticket: open, with: opened(&other()) }));
    for run in ["first", "second"] {
        says(&mut bench, &other(), run, Said::RunStarted);
        says(&mut bench, &other(), run, Said::MessageStarted { message: None, role: Role::User });
        says(&mut bench, &other(), run, Said::RunEnded(Outcome::Done));
    }
    for out in outs {
        if let CoreEffect::Again(input) = out {
            bench.step(*input);
        }
    }
    match settled(&bench, ticket) {
        Some(Ok(Receipt::History(history))) => {
            assert_eq!((history.runs, history.truncated), (1, true));
            assert!(history.events.len() >= 4, "{:?}", history.events);
        }
        settled => panic!("{settled:?}"),
    }
}

#[test]
fn a_lossless_runtime_is_told_which_session_is_meant() {
    let mut bench = Bench::with(Engine::Mirrored, None);
    let mirror = |bench: &mut Bench, session: &SessionId| {
        let (state, board) = (Box::new(State::new()), domain::signal::Board::default());
        bench.step(CoreInput::Mirror { session: session.clone(), state, board });
    };
    let here = SessionId::from_number(1);
    mirror(&mut bench, &here);
    let ticket = wish(&mut bench, Target::Session(other()), say_prompt("there"));
    let (open, command) = asked(&bench);
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: other() }));
    mirror(&mut bench, &other());
    answers(&mut bench, open, opened(&other()));
    assert_eq!(prompts(&bench), ["there"]);
    assert!(settled(&bench, ticket).is_none());
    wish(&mut bench, Target::Session(here.clone()), say_prompt("here"));
    let order = bench.outs.iter().rev().find_map(|out| match out {
        CoreEffect::Order(Order::Consult { session, .. }) => Some(session.clone()),
        _ => None,
    });
    assert_eq!(order, Some(here), "both are open there");
}

/// A run of a runtime without a queue, with something that waits.
fn waiting(kind: QueueKind) -> (Bench, SessionId) {
    let (mut bench, session) = in_front();
    wish(&mut bench, Target::Current, say_prompt("first"));
    let (ticket, _) = asked(&bench);
    answers(&mut bench, ticket, Ok(Receipt::Done));
    says(&mut bench, &session, "one", Said::RunStarted);
    says(&mut bench, &session, "one", Said::MessageStarted { message: None, role: Role::User });
    wish(&mut bench, Target::Current, Command::Queue(QueueCommand::Add { kind, input: Input::text("then") }));
    (bench, session)
}

fn is_balanced(bench: &Bench) -> bool {
    let state = bench.state();
    state.queues.all().next().is_none() && state.runs.last().is_some_and(|run| run.ended.is_some())
}

#[test]
fn what_waits_here_is_the_next_turn_of_the_same_run() {
    for (kind, cause) in [(QueueKind::Steer, Cause::Steer), (QueueKind::FollowUp, Cause::FollowUp)] {
        let (mut bench, session) = waiting(kind);
        says(&mut bench, &session, "one", Said::RunEnded(Outcome::Done));
        assert_eq!(prompts(&bench), ["first", "then"]);
        assert!(bench.state().open_run().is_some(), "the run goes on");
        let (ticket, _) = asked(&bench);
        answers(&mut bench, ticket, Ok(Receipt::Done));
        // What is said of the run before comes too late; what the runtime calls this turn itself does not matter.
        says(&mut bench, &session, "one", Said::RunEnded(Outcome::Cancelled));
        says(&mut bench, &session, "two", Said::RunStarted);
        says(&mut bench, &session, "two", Said::TurnStarted(Some(Cause::Prompt)));
        says(&mut bench, &session, "two", Said::MessageStarted { message: None, role: Role::User });
        says(&mut bench, &session, "two", Said::RunEnded(Outcome::Done));
        let state = bench.state();
        assert_eq!(state.runs.len(), 1, "{:#?}", state.runs);
        let causes: Vec<Cause> = state.runs[0].turns.iter().map(|turn| turn.cause).collect();
        assert_eq!(causes, [Cause::Prompt, cause]);
        assert!(is_balanced(&bench) && bench.last_outcome() == Some(Outcome::Done));
    }
}

#[test]
fn a_runtime_that_names_no_run_goes_on_in_the_same_one_too() {
    let (mut bench, session) = waiting(QueueKind::Steer);
    says(&mut bench, &session, "one", Said::RunEnded(Outcome::Done));
    let (ticket, _) = asked(&bench);
    answers(&mut bench, ticket, Ok(Receipt::Done));
    let nameless = |bench: &mut Bench, said| {
        bench.step(CoreInput::Report(Report::Said { session: session.clone(), fact: Fact::new(said) }));
    };
    nameless(&mut bench, Said::RunStarted);
    nameless(&mut bench, Said::MessageStarted { message: None, role: Role::User });
    nameless(&mut bench, Said::RunEnded(Outcome::Done));
    assert_eq!((bench.state().runs.len(), bench.state().runs[0].turns.len()), (1, 2));
}

#[test]
fn a_run_ends_lawfully_when_what_waited_is_not_taken_or_is_stopped() {
    // Refused: the run failed, and the input goes back to who gave it.
    let (mut bench, session) = waiting(QueueKind::Steer);
    says(&mut bench, &session, "one", Said::RunEnded(Outcome::Done));
    let drop = bench.state().queues.all().next().map(|(_, waiting)| waiting.id).expect("it waits");
    let late = bench.command(TERMINAL, Command::Queue(QueueCommand::Drop { item: drop })).unwrap_err();
    assert_eq!(late.kind, RefusalKind::QueuedUnknown, "it is on its way");
    let (ticket, _) = asked(&bench);
    answers(&mut bench, ticket, Err(Refusal::new(RefusalKind::TooMany, "wait a minute")));
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(Failure { message, .. }) if message.contains("wait a minute"));
    assert!(is_balanced(&bench) && bench.last_outcome().is_some_and(|outcome| failed(&outcome)));
    let back = |event: &Event| {
        matches!(
            event.body,
            Body::Queue(domain::event::QueueEvent::Left { leaving: domain::event::Leaving::Cleared, .. })
        )
    };
    assert!(bench.events(TERMINAL).iter().any(back));

    // The run before it failed: nothing more is said to the runtime.
    let (mut bench, session) = waiting(QueueKind::Steer);
    says(&mut bench, &session, "one", Said::RunEnded(Outcome::Failed(Failure::new("x", "broken"))));
    assert!(is_balanced(&bench) && prompts(&bench).len() == 1);

    // The runtime dies in between.
    let (mut bench, session) = waiting(QueueKind::Steer);
    says(&mut bench, &session, "one", Said::RunEnded(Outcome::Done));
    let (ticket, _) = asked(&bench);
    answers(&mut bench, ticket, Err(Refusal::new(RefusalKind::Lost, "gone")));
    assert!(is_balanced(&bench) && bench.last_outcome() == Some(Outcome::Lost));

    // The person stops it in between.
    let (mut bench, session) = waiting(QueueKind::Steer);
    says(&mut bench, &session, "one", Said::RunEnded(Outcome::Done));
    wish(&mut bench, Target::Current, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    bench.now += crate::core::CANCEL_GRACE_MS;
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert!(is_balanced(&bench) && bench.last_outcome() == Some(Outcome::Cancelled));
}
