//! Who is here, and what those see who only watch.

use super::*;
use domain::fleet::Doing;

#[test]
fn a_question_is_told_with_the_time_at_which_it_was_asked() {
    let mut bench = Bench::new();
    let brief = bench.prompt("hello");
    let member = |bench: &Bench| bench.core.members().remove(0);
    assert_eq!((member(&bench).doing, member(&bench).since), (Doing::Running, Millis(1_000)));
    let (_, tool) = bench.propose(&brief);
    bench.now = 2_000;
    bench.ask(&brief, tool);
    bench.now = 3_000;
    let kind = AskKind::Confirm { message: "sure?".to_owned(), yes: None, no: None, danger: false };
    let second = AskId::mint(&brief.ids);
    let ask = Ask { id: second, run: Some(brief.run), title: "sure?".to_owned(), kind, deadline: None };
    bench.happened(&brief, Body::Ask(AskEvent::Opened(ask)));
    // The whole question goes with its title, to be read.
    let waiting = |bench: &Bench, asks, question: &str| {
        let ask = bench.state().asks.first().cloned().map(Box::new);
        Doing::Waiting { asks, question: question.to_owned(), ask }
    };
    assert_eq!((member(&bench).doing, member(&bench).since), (waiting(&bench, 2, "run it?"), Millis(2_000)));
    // The first is answered: the other one waits since it was asked.
    let first = bench.state().asks[0].id;
    assert_ne!(first, second);
    bench.command(TERMINAL, Command::Answer { ask: first, answer: allow() }).expect("taken");
    assert_eq!((member(&bench).doing, member(&bench).since), (waiting(&bench, 1, "sure?"), Millis(3_000)));
    bench.now = 4_000;
    bench.command(TERMINAL, Command::Run(RunCommand::Cancel { run: None, reason: None })).expect("stopping");
    bench.turn_done(&brief, TurnEnd::Cancelled);
    assert_eq!(
        (member(&bench).doing, member(&bench).since),
        (Doing::Ended(Outcome::Cancelled), Millis(4_000))
    );
}

#[test]
fn who_watches_is_told_which_sub_agents_are_at_work() {
    let mut bench = Bench::new();
    let brief = bench.prompt("hello");
    let args = Json::verbatim(r#"{"agent":"explore","prompt":"find the\ntests"}"#);
    let (_, tool) = bench.propose_call(&brief, "task", args);
    let tasks = |bench: &Bench| bench.core.members().remove(0).tasks;
    assert_eq!(tasks(&bench), Vec::<String>::new(), "it does not run yet");
    bench.happened(&brief, Body::Tool(ToolEvent::Decided { tool, decision: yes() }));
    bench.happened(&brief, Body::Tool(ToolEvent::Started { tool }));
    assert_eq!(tasks(&bench), ["explore: find the\\ntests"]);
    let (outcome, result) = (ToolOutcome::Done, ToolResult::default());
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    assert_eq!(tasks(&bench), Vec::<String>::new());
}

#[test]
fn a_question_waits_since_it_was_asked_also_after_a_crash() {
    let mut before = Bench::new();
    let brief = before.prompt("go");
    let (_, tool) = before.propose(&brief);
    before.now = 2_000;
    before.ask(&brief, tool);
    before.now = 3_000;
    let steer =
        |text: &str| Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: Input::text(text) });
    before.command(TERMINAL, steer("before")).expect("it waits");
    // As the store keeps it and another process opens it.
    let mut state = State::new();
    for (at, body) in before.state().replay() {
        state.apply(at, &body).expect("what was kept");
    }
    let mut core = Bench::new().core;
    let open = Command::Library(LibraryCommand::Open { session: brief.session.clone() });
    let outs = core.step(
        Millis(9_000),
        CoreInput::Command { ui: TERMINAL, ticket: Ticket(1), target: Target::Current, command: open },
    );
    let id = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, .. } => Some(*id),
        _ => None,
    });
    let opened = Fetched::Opened(Some(Box::new(Opened { state, damage: None })));
    core.step(Millis(9_000), CoreInput::Answered { id: id.expect("it is asked for"), with: Ok(opened) });
    let since = |core: &Core| {
        core.members().into_iter().find(|one| one.session == brief.session).map(|one| one.since)
    };
    assert_eq!(since(&core), Some(Millis(2_000)));
    core.step(
        Millis(10_000),
        CoreInput::Command {
            ui: TERMINAL,
            ticket: Ticket(2),
            target: Target::Current,
            command: steer("after"),
        },
    );
    assert_eq!(since(&core), Some(Millis(2_000)), "whatever is said meanwhile");
}

#[test]
fn who_only_watches_is_shown_nothing_counts_for_nobody_and_commands_nothing() {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.runtime_session(Millis(1_000));
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    assert!(bench.core.current(OTHER).is_some(), "in front of another program everybody sees its session");
    bench.step(CoreInput::Apart { ui: OTHER });
    assert_eq!(bench.core.current(OTHER), None);
    let seen = bench.core.present();
    assert!(seen.iter().all(|session| session.uis.iter().all(|ui| ui.name != "ui2")), "{seen:?}");
    let refusal = bench.command(OTHER, Command::Session(SessionCommand::Stats)).expect_err("refused");
    assert_eq!(refusal.kind, RefusalKind::NotAllowed);
}

#[test]
fn a_session_that_is_closed_in_the_middle_of_a_run_is_let_go_when_that_has_stopped() {
    for (looks_on, lets_go) in [(false, true), (true, false)] {
        let mut bench = Bench::new();
        let brief = bench.prompt("go");
        let session = bench.session();
        if looks_on {
            bench.arrive(OTHER, Answers::ALL, Standing::Observer);
            bench.command(OTHER, Command::Library(LibraryCommand::Open { session })).unwrap();
        }
        bench.command(TERMINAL, Command::Session(SessionCommand::Close)).unwrap();
        let is = |outs: &[CoreEffect], order: fn(&Order) -> bool| {
            outs.iter().any(|out| matches!(out, CoreEffect::Order(said) if order(said)))
        };
        assert_eq!(is(&bench.outs, |order| matches!(order, Order::Cancel { .. })), lets_go);
        let forgets = |order: &Order| matches!(order, Order::Forget { .. });
        assert!(!is(&bench.outs, forgets), "not while it runs");
        bench.turn_done(&brief, TurnEnd::Cancelled);
        assert_eq!(is(&bench.outs, forgets), lets_go);
    }
}

#[test]
fn a_close_counts_no_more_for_who_was_there_or_came_after_it() {
    for was_there in [true, false] {
        let mut bench = Bench::new();
        let brief = bench.prompt("go");
        let session = bench.session();
        let open = || Command::Library(LibraryCommand::Open { session: session.clone() });
        bench.arrive(OTHER, Answers::ALL, Standing::Controller);
        if was_there {
            bench.command(OTHER, open()).unwrap();
        }
        bench.command(TERMINAL, Command::Session(SessionCommand::Close)).unwrap();
        if !was_there {
            bench.command(OTHER, open()).unwrap();
        }
        // It may come back, and its jobs run meanwhile.
        bench.step(CoreInput::Left { ui: OTHER });
        bench.turn_done(&brief, TurnEnd::Cancelled);
        let forgets = |out: &CoreEffect| matches!(out, CoreEffect::Order(Order::Forget { .. }));
        assert!(!bench.outs.iter().any(forgets), "was there: {was_there}");
    }
}

#[test]
fn the_others_hear_who_stopped_the_run_and_who_emptied_the_conversation() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let session = bench.session();
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session })).unwrap();
    let told = |bench: &mut Bench| -> Vec<(UiId, String)> {
        let told = std::mem::take(&mut bench.outs).into_iter().filter_map(|out| match out {
            CoreEffect::Signal { ui, signal: domain::signal::Signal::Notify { text, .. }, .. } => {
                Some((ui, text))
            }
            _ => None,
        });
        told.collect()
    };
    told(&mut bench);
    let stop = || Command::Run(RunCommand::Cancel { run: None, reason: None });
    bench.command(OTHER, stop()).unwrap();
    assert_eq!(told(&mut bench), [(TERMINAL, "The run was stopped by ui2.".to_owned())]);
    bench.command(TERMINAL, stop()).unwrap();
    assert_eq!(told(&mut bench), [], "it was stopped already");
    bench.turn_done(&brief, TurnEnd::Cancelled);
    bench.command(TERMINAL, Command::Session(SessionCommand::Clear)).unwrap();
    assert_eq!(told(&mut bench), [(OTHER, "The conversation was emptied by ui1.".to_owned())]);
}
