//! Tools that a UI performs: kept for its run, answered by it alone, gone with it. And command lines of the person's own.

use super::*;
use domain::command::ShellCommand;
use domain::offer::Offer;

fn offer(name: &str) -> Offer {
    Offer {
        name: name.into(),
        description: String::new(),
        schema: Json::empty(),
        patience_ms: None,
        unasked: true,
    }
}

fn offering(bench: &mut Bench, ui: UiId, names: &[&str]) -> Result<Receipt, Refusal> {
    let offers = names.iter().map(|name| offer(name)).collect();
    let options = PromptOptions { offers, ..PromptOptions::default() };
    bench.command(ui, Command::Run(RunCommand::Prompt { input: Input::text("go"), options }))
}

/// A run in which a tool of the UI is under way. The bench proposes `bash` in every step, so that is what is offered behind the check.
fn called() -> (Bench, TurnBrief, ToolRunId) {
    let mut bench = Bench::new();
    offering(&mut bench, TERMINAL, &["show"]).expect("started");
    let brief = bench.brief();
    let session = bench.session();
    let live = bench.core.sessions.get_mut(&session).expect("live");
    live.offered.as_mut().expect("offered").offers[0].name = "bash".into();
    let (_, tool) = bench.propose(&brief);
    bench.happened(&brief, Body::Tool(ToolEvent::Decided { tool, decision: yes() }));
    bench.happened(&brief, Body::Tool(ToolEvent::Started { tool }));
    (bench, brief, tool)
}

fn performed(bench: &mut Bench, ui: UiId, tool: ToolRunId) -> Result<Receipt, Refusal> {
    let session = bench.session();
    bench.next_ticket += 1;
    let ticket = Ticket(bench.next_ticket);
    let command = Command::Performed { tool, failed: false, result: ToolResult::text("done") };
    bench.step(CoreInput::Command { ui, ticket, target: Target::Session(session), command });
    let settled = bench.outs.iter().find_map(|out| match out {
        CoreEffect::Settle { ticket: t, with, .. } if *t == ticket => Some(with.clone()),
        _ => None,
    });
    settled.expect("settled")
}

fn orders(bench: &Bench, fits: impl Fn(&Order) -> bool) -> usize {
    bench.outs.iter().filter(|out| matches!(out, CoreEffect::Order(order) if fits(order))).count()
}

fn gone(order: &Order) -> bool {
    matches!(order, Order::OffersGone { .. })
}

#[test]
fn offers_are_in_every_turn_of_their_run_and_in_no_other() {
    let mut bench = Bench::new();
    offering(&mut bench, TERMINAL, &["show"]).expect("started");
    let first = bench.brief();
    assert_eq!(first.options.offers, [offer("show")]);
    let more = Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input: Input::text("more") });
    bench.command(TERMINAL, more).expect("queued");
    bench.turn_done(&first, TurnEnd::Done);
    let second = bench.brief();
    assert_eq!((second.run, &second.options.offers), (first.run, &vec![offer("show")]));
    bench.turn_done(&second, TurnEnd::Done);
    assert_eq!(bench.prompt("next").options.offers, []);
}

#[test]
fn a_name_that_is_taken_begins_no_run() {
    let mut bench = Bench::new();
    for names in [&["bash"][..], &["mcp__x__y"], &["a", "a"], &["a b"]] {
        let refused = offering(&mut bench, TERMINAL, names).expect_err("refused");
        assert_eq!(refused.kind, RefusalKind::Invalid, "{names:?}");
    }
    assert!(bench.state().runs.is_empty());
}

#[test]
fn who_cannot_be_asked_cannot_waive_being_asked() {
    let mut bench = Bench::new();
    bench.arrive(OTHER, Answers::NONE, Standing::Controller);
    offering(&mut bench, OTHER, &["show"]).expect("started");
    assert!(!bench.brief().options.offers[0].unasked);
}

#[test]
fn a_call_is_answered_once_by_the_ui_that_offers_it() {
    let (mut bench, brief, tool) = called();
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    let is_performed = |order: &Order| matches!(order, Order::Performed { .. });
    assert!(performed(&mut bench, OTHER, tool).is_err());
    assert!(performed(&mut bench, TERMINAL, ToolRunId(9_999)).is_err());
    assert_eq!(orders(&bench, is_performed), 0);
    performed(&mut bench, TERMINAL, tool).expect("taken");
    assert_eq!(orders(&bench, is_performed), 1);
    let (outcome, result) = (ToolOutcome::Done, ToolResult::text("done"));
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    assert!(performed(&mut bench, TERMINAL, tool).is_err(), "it is over");
}

#[test]
fn the_engine_hears_that_the_ui_left_or_looks_elsewhere() {
    let (mut bench, ..) = called();
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    bench.step(CoreInput::Left { ui: OTHER });
    assert_eq!(orders(&bench, gone), 0, "another one left");
    bench.step(CoreInput::Left { ui: TERMINAL });
    assert_eq!(orders(&bench, gone), 1);
    let (mut bench, ..) = called();
    bench.command(TERMINAL, Command::Session(SessionCommand::Close)).expect("closed");
    assert_eq!(orders(&bench, gone), 1);
}

#[test]
fn a_command_line_is_run_for_whoever_could_have_been_asked() {
    let line = || Command::Shell(ShellCommand::Run { line: "ls".into(), cwd: None, seconds: None });
    let mut bench = Bench::new();
    bench.prompt("begin");
    bench.arrive(OTHER, Answers::NONE, Standing::Controller);
    let refused = bench.command(OTHER, line()).expect_err("refused");
    assert_eq!(refused.kind, RefusalKind::NotAllowed);
    let consulted = |order: &Order| matches!(order, Order::Consult { command: Command::Shell(_), .. });
    assert_eq!(orders(&bench, consulted), 0);
    bench.step(CoreInput::Command {
        ui: TERMINAL,
        ticket: Ticket(99),
        target: Target::Current,
        command: line(),
    });
    assert_eq!(orders(&bench, consulted), 1);
    bench.arrive(OTHER, Answers::ALL, Standing::Observer);
    assert_eq!(bench.command(OTHER, line()).expect_err("refused").kind, RefusalKind::NotAllowed);
}
