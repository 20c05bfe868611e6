//! Questions of a run whose own UI cannot answer them: asked where another screen shows them in time, and over where none does.

use super::*;
use crate::core::{SHOWN_WITHIN_MS, Sharing};
use domain::command::shown;
use domain::signal::Board;
use std::sync::Arc;

/// A run of a UI that can answer nothing, with another one in its session, that asks something.
fn asked(mute: Answers, other: Answers, standing: Standing) -> (Bench, AskId) {
    let mut bench = Bench::new();
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: mute });
    let brief = bench.prompt("go");
    bench.arrive(OTHER, other, standing);
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session: bench.session() })).unwrap();
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    (bench, ask)
}

impl Bench {
    fn after(&mut self, millis: u64) -> Vec<Closing> {
        self.now += millis;
        self.step(CoreInput::Tick { except: BTreeSet::new() });
        self.closings()
    }
}

#[test]
fn a_question_that_its_own_ui_cannot_answer_is_over_unless_another_screen_shows_it_in_time() {
    let (mut bench, _) = asked(Answers::NONE, Answers::ON_SCREEN, Standing::Controller);
    assert_eq!(bench.after(SHOWN_WITHIN_MS - 1), []);
    let wakes = |out: &CoreEffect| matches!(out, CoreEffect::Wake(Millis(at)) if *at == bench.now + 1);
    assert!(bench.outs.iter().any(wakes), "nobody else has the clock");
    assert_eq!(bench.after(1), [Closing::Unattended]);
    for standing in [Standing::Controller, Standing::Approver] {
        let (mut bench, ask) = asked(Answers::NONE, Answers::ON_SCREEN, standing);
        bench.now += SHOWN_WITHIN_MS - 1;
        bench.command(OTHER, shown(ask)).expect("heard");
        assert_eq!(bench.after(3_600_000), [], "{standing}: it waits for the person from then on");
        bench.command(OTHER, Command::Answer { ask, answer: allow() }).expect("answered");
        assert_eq!(bench.closings().len(), 1);
    }
}

#[test]
fn who_could_not_answer_has_shown_nothing() {
    for (standing, who) in [(Standing::Controller, TERMINAL), (Standing::Observer, OTHER)] {
        let (mut bench, ask) = asked(Answers::NONE, Answers::ON_SCREEN, standing);
        let _ = bench.command(who, shown(ask));
        let _ = bench.command(OTHER, shown(AskId(ask.0 + 1_000)));
        assert_eq!(bench.after(SHOWN_WITHIN_MS), [Closing::Unattended], "{standing} {who:?}");
    }
}

#[test]
fn a_wire_that_has_no_word_for_it_counts_as_having_shown_it() {
    let (mut bench, _) = asked(Answers::NONE, Answers::ALL, Standing::Controller);
    assert_eq!(bench.after(3_600_000), []);
    // And nobody is waited for where the UI that asks can be asked itself.
    let (mut bench, _) = asked(Answers::ALL, Answers::ON_SCREEN, Standing::Controller);
    assert_eq!(bench.after(3_600_000), []);
}

#[test]
fn a_question_is_denied_before_the_ui_whose_turn_it_holds_up_gives_up() {
    let fifty = Answers { deadline: Some(Duration::from_secs(50)), ..Answers::NONE };
    let mut bench = Bench::new();
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: fifty });
    let brief = bench.prompt("go");
    bench.arrive(OTHER, Answers::ON_SCREEN, Standing::Controller);
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session: bench.session() })).unwrap();
    bench.now += 30_000;
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    bench.command(OTHER, shown(ask)).expect("heard");
    assert_eq!(bench.after(19_999), []);
    assert_eq!(bench.after(1), [Closing::Expired], "counted from the beginning of the turn");
    // The next turn has its own time.
    let result = ToolResult::text("no");
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Denied, result }));
    bench.turn_done(&brief, TurnEnd::Done);
    let brief = bench.prompt("again");
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    bench.command(OTHER, shown(ask)).expect("heard");
    assert_eq!(bench.after(49_999).len(), 1);
    assert_eq!(bench.after(1).len(), 2);
}

/// A runtime behind a lossless wire with a run that a mute UI began, and somebody who can answer beside it.
fn mirrored(mute: Answers, other: Answers, sharing: Sharing) -> (Bench, SessionId) {
    let mut bench = Bench::with(Engine::Mirrored, None);
    bench.core.setup.sharing = sharing;
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: mute });
    bench.arrive(OTHER, other, Standing::Controller);
    let session = SessionId::from_number(5);
    let mut state = State::new();
    let opened =
        Body::Session(SessionEvent::Opened { cwd: "/far".into(), project: "/far".into(), parent: None });
    state.apply(Millis(1), &opened).expect("lawful");
    let (state, board) = (Box::new(state), Board::default());
    bench.step(CoreInput::Mirror { session: session.clone(), state, board });
    let command =
        Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
    let (ticket, target) = (Ticket(9_000), Target::Current);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target, command });
    for (at, body) in [
        Body::Run(RunEvent::Started { run: RunId(1) }),
        Body::Run(RunEvent::TurnStarted {
            run: RunId(1),
            turn: domain::ids::TurnId(2),
            cause: Cause::Prompt,
        }),
        Body::Ask(AskEvent::Opened(Ask {
            id: AskId(3),
            run: Some(RunId(1)),
            title: "go on?".into(),
            kind: AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false },
            deadline: None,
        })),
    ]
    .into_iter()
    .enumerate()
    {
        let event = Event { seq: domain::ids::Seq(at as u64 + 2), at: Millis(2), body };
        bench.step(CoreInput::MirrorEvent { session: session.clone(), event: Arc::new(event) });
    }
    (bench, session)
}

/// What the runtime was told about its question.
fn told(bench: &Bench) -> Vec<Command> {
    let about = |out: &CoreEffect| match out {
        CoreEffect::Order(Order::Consult { command, .. })
            if !matches!(command, Command::Run(RunCommand::Prompt { .. })) =>
        {
            Some(command.clone())
        }
        _ => None,
    };
    bench.outs.iter().filter_map(about).collect()
}

#[test]
fn a_runtime_behind_us_hears_that_its_question_is_shown_and_a_no_where_it_is_not() {
    let fifty = Answers { deadline: Some(Duration::from_secs(50)), ..Answers::NONE };
    let no = || Command::Answer { ask: AskId(3), answer: Answer::Dismissed };
    let (mut bench, session) = mirrored(fifty, Answers::ON_SCREEN, Sharing::Alone);
    assert_eq!(bench.core.state(&session).map(|state| state.asks.len()), Some(1));
    bench.after(SHOWN_WITHIN_MS - 1);
    assert_eq!(told(&bench), []);
    bench.after(1);
    assert_eq!(told(&bench), [no()]);
    let (mut bench, session) = mirrored(fifty, Answers::ON_SCREEN, Sharing::Alone);
    let (ticket, target, command) = (Ticket(9_001), Target::Session(session), shown(AskId(3)));
    bench.step(CoreInput::Command { ui: OTHER, ticket, target, command });
    bench.after(49_999);
    assert_eq!(told(&bench), [shown(AskId(3))], "it may count on us");
    bench.after(1);
    assert_eq!(told(&bench), [shown(AskId(3)), no()], "before the UI gives up");
    // Where others share it we say it ourselves for a UI that has no word for it.
    let (mut bench, _) = mirrored(Answers::NONE, Answers::ALL, Sharing::Counted);
    bench.after(3_600_000);
    assert_eq!(told(&bench), [shown(AskId(3))]);
}
