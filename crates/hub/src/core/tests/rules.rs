//! Rules of the core that a small change to it could break unseen: who counts, what comes too late, what a foreign runtime is told.

use super::*;
use domain::event::{Compaction, ContextEvent, Failure, Trigger};
use domain::fact::{Fact, FactAsk, Said};
use domain::ids::{EntryId, TurnId};
use domain::port::Abilities;
use domain::queue::MAX_QUEUED;
use domain::state::{Entry, EntryKind};

fn open(session: SessionId) -> Command {
    Command::Library(LibraryCommand::Open { session })
}

fn new(id: &str) -> Command {
    Command::Library(LibraryCommand::New { cwd: None, title: None, id: SessionId::parse(id) })
}

#[test]
fn an_observer_answers_nothing_and_ends_nothing() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.arrive(OTHER, Answers::ALL, Standing::Observer);
    bench.command(OTHER, open(brief.session.clone())).expect("opened");
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    let refused = bench.command(OTHER, Command::Answer { ask, answer: allow() }).expect_err("refused");
    assert_eq!(refused.kind, RefusalKind::NotAllowed);
    bench.step(CoreInput::Left { ui: TERMINAL });
    assert_eq!(bench.closings(), [], "it waits for whom it is for");
}

#[test]
fn an_approver_made_a_rule_for_good() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.arrive(OTHER, Answers::ALL, Standing::Approver);
    bench.command(OTHER, open(brief.session.clone())).expect("opened");
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    for scope in [Scope::Always, Scope::Session] {
        let answer = Answer::Allow { scope, digest: None };
        let refused = bench.command(OTHER, Command::Answer { ask, answer }).expect_err("refused");
        assert_eq!(refused.kind, RefusalKind::NotAllowed);
    }
    assert_eq!(bench.closings(), []);
    bench.command(OTHER, Command::Answer { ask, answer: allow() }).expect("allowed once");
    assert_eq!(bench.closings().len(), 1);
}

#[test]
fn a_question_that_one_ui_cannot_be_asked_is_open_for_the_others_and_else_nobodys() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let session = brief.session.clone();
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    bench.command(OTHER, open(session.clone())).expect("opened");
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    let cannot = |ui| CoreInput::CannotAnswer { ui, session: session.clone(), ask };
    bench.step(cannot(TERMINAL));
    assert_eq!(bench.closings(), [], "the other one can");
    bench.step(cannot(OTHER));
    assert_eq!(bench.closings(), [Closing::Unattended]);
}

#[test]
fn an_ask_is_open_for_as_long_as_the_most_patient_ui_waits() {
    let waits = |seconds| Answers { deadline: Some(Duration::from_secs(seconds)), ..Answers::ALL };
    let mut bench = Bench::new();
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: waits(10) });
    let brief = bench.prompt("go");
    bench.arrive(OTHER, waits(30), Standing::Controller);
    bench.command(OTHER, open(brief.session.clone())).expect("opened");
    let (_, tool) = bench.propose(&brief);
    bench.ask(&brief, tool);
    assert_eq!(bench.state().asks[0].deadline, Some(Millis(bench.now + 30_000)));
}

#[test]
fn the_end_of_another_turn_ends_nothing() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let other = TurnBrief { turn: TurnId(brief.turn.0 + 1), ..brief.clone() };
    bench.turn_done(&other, TurnEnd::Done);
    assert_eq!(bench.last_outcome(), None);
    bench.turn_done(&brief, TurnEnd::Done);
    assert_eq!(bench.last_outcome(), Some(Outcome::Done));
}

#[test]
fn a_session_is_made_once() {
    let mut bench = Bench::new();
    bench.command(TERMINAL, new("sess-00000001")).expect("made");
    let refused = bench.command(TERMINAL, new("sess-00000001")).expect_err("refused");
    assert_eq!(refused.kind, RefusalKind::Invalid);
}

#[test]
fn tools_that_our_engine_agrees_to_are_chosen() {
    let mut bench = Bench::new();
    bench.prompt("go");
    let tools = Some(vec!["read".to_owned()]);
    let command = Command::Session(SessionCommand::SetTools { tools: tools.clone() });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(50), target: Target::Current, command });
    let consulted = bench.outs.iter().find_map(|out| match out {
        CoreEffect::Order(Order::Consult { ticket, .. }) => Some(*ticket),
        _ => None,
    });
    let ticket = consulted.expect("the engine is asked");
    bench.step(CoreInput::Report(Report::Settled { ticket, with: Ok(Receipt::Done) }));
    assert_eq!(bench.state().settings.tools, tools);
}

/// A foreign runtime in front of which somebody sits who can answer so.
pub(super) fn behind(answers: Answers) -> (Bench, SessionId) {
    let mut bench = Bench::with(Engine::Followed, None);
    let session = bench.core.runtime_session(Millis(bench.now)).0.expect("a session");
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, answers, Standing::Controller);
    (bench, session)
}

pub(super) fn says(bench: &mut Bench, session: &SessionId, said: Said) {
    bench.step(CoreInput::Report(Report::Said { session: session.clone(), fact: Fact::new(said) }));
}

pub(super) fn wants(tool: &str) -> Said {
    let kind = FactAsk::Consent {
        tool: Some(tool.into()),
        name: "bash".into(),
        args: Json::empty(),
        preview: None,
        assessment: Assessment { risk: Risk::High, reasons: vec![], reversible: false, unrated: false },
        rule: None,
        takes_reason: true,
    };
    Said::AskOpened { ask: tool.into(), title: "?".into(), kind, deadline: None }
}

#[test]
fn a_foreign_runtime_hears_a_no_where_nobody_can_be_asked() {
    let (mut bench, session) = behind(Answers { consent: false, other: false, ..Answers::ALL });
    says(&mut bench, &session, wants("t"));
    let closings = bench.closings();
    assert!(
        matches!(closings.as_slice(), [Closing::Answered { answer: Answer::Deny { .. }, .. }]),
        "{closings:?}"
    );
    let decision = bench.state().tools.values().next().and_then(|tool| tool.decision.clone());
    assert!(decision.is_some_and(|decision| !decision.allowed), "and the record says so");
}

#[test]
fn a_foreign_run_that_is_stopped_asks_nothing_more_and_was_cancelled() {
    let (mut bench, session) = behind(Answers::ALL);
    says(&mut bench, &session, wants("t"));
    assert_eq!(bench.state().asks.len(), 1);
    let command = Command::Run(RunCommand::Cancel { run: None, reason: None });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(51), target: Target::Current, command });
    assert_eq!(bench.state().asks.len(), 0, "at once, whatever the runtime does");
    says(&mut bench, &session, Said::RunEnded(Outcome::Done));
    assert_eq!(bench.last_outcome(), Some(Outcome::Cancelled));
}

#[test]
fn a_run_that_is_being_stopped_asks_nothing() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    bench.command(TERMINAL, Command::Run(RunCommand::Cancel { run: None, reason: None })).expect("stopping");
    bench.ask(&brief, tool);
    assert!(!bench.core.accepted());
    assert!(bench.state().asks.is_empty());
    assert_eq!(bench.closings(), [Closing::Withdrawn]);
}

#[test]
fn a_summary_that_comes_too_late_is_dropped() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.turn_done(&brief, TurnEnd::Done);
    let compaction = Compaction {
        summary: "short".into(),
        first_kept: None,
        tokens_before: 0,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    let entry = EntryId(brief.ids.next());
    let body = Body::Context(ContextEvent::Compacted { entry, parent: None, compaction });
    bench.step(CoreInput::Report(Report::Happened { session: brief.session, run: None, body }));
    assert!(!bench.core.accepted(), "it knows nothing of what was said since");
    assert!(!bench.state().entries.contains_key(&entry));
}

#[test]
fn a_session_in_which_a_run_is_under_way_stays() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.command(TERMINAL, Command::Session(SessionCommand::Close)).expect("closed");
    assert!(bench.core.state(&brief.session).is_some());
}

#[test]
fn nothing_follows_a_notice() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.turn_done(&brief, TurnEnd::Failed(Failure::new("x", "y")));
    let is_notice = |entry: &&std::sync::Arc<Entry>| matches!(entry.kind, EntryKind::Notice { .. });
    let notice = bench.state().entries.values().find(is_notice).expect("a notice").id;
    let command = Command::Session(SessionCommand::SetLeaf { leaf: Some(notice) });
    let refused = bench.command(TERMINAL, command).expect_err("refused");
    assert_eq!(refused.kind, RefusalKind::EntryUnknown);
}

#[test]
fn a_deadline_waits_for_what_came_before_it() {
    let mut bench = Bench::new();
    let patience = Answers { deadline: Some(Duration::from_secs(1)), ..Answers::ALL };
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: patience });
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    bench.ask(&brief, tool);
    bench.now += 2_000;
    bench.step(CoreInput::Tick { except: BTreeSet::from([brief.session]) });
    assert_eq!(bench.closings(), []);
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert_eq!(bench.closings(), [Closing::Expired]);
}

#[test]
fn who_waits_for_an_engines_answer_is_due_more() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.turn_done(&brief, TurnEnd::Done);
    assert!(!bench.core.is_due_more(TERMINAL));
    let command = Command::List(ListCommand::Models { provider: None });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(52), target: Target::Current, command });
    assert!(bench.core.is_due_more(TERMINAL));
}

#[test]
fn the_hub_queues_for_a_runtime_that_cannot_and_a_cancel_clears_it() {
    let (mut bench, session) = behind(Answers::ALL);
    let abilities = Abilities { steer: false, follow_up: false, ..Abilities::all("x") };
    bench.step(CoreInput::Abilities(abilities));
    says(&mut bench, &session, wants("t"));
    let input = Input::text("later");
    let queued =
        bench.command(TERMINAL, Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input }));
    assert!(matches!(queued, Ok(Receipt::Queued { .. })), "{queued:?}");
    assert_eq!(bench.state().queues.all().count(), 1);
    let command = Command::Run(RunCommand::Cancel { run: None, reason: None });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(53), target: Target::Current, command });
    says(&mut bench, &session, Said::RunEnded(Outcome::Done));
    assert_eq!(bench.state().queues.all().count(), 0);
}

#[test]
fn as_much_waits_as_may_wait() {
    let mut bench = Bench::new();
    bench.prompt("go");
    let add = || Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: Input::text("x") });
    for _ in 0..MAX_QUEUED {
        bench.command(TERMINAL, add()).expect("there is room");
    }
    assert_eq!(bench.command(TERMINAL, add()).expect_err("refused").kind, RefusalKind::TooMany);
}

#[test]
fn what_is_meant_for_another_conversation_does_not_reach_a_mirrored_one() {
    let mut bench = Bench::with(Engine::Mirrored, None);
    let target = Target::Session(SessionId::from_number(9));
    let command = Command::Session(SessionCommand::Stats);
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(54), target, command });
    let asked: Vec<(Ticket, Command)> = bench
        .outs
        .iter()
        .filter_map(|out| match out {
            CoreEffect::Order(Order::Consult { ticket, command, .. }) => Some((*ticket, command.clone())),
            _ => None,
        })
        .collect();
    let [(ticket, Command::Library(LibraryCommand::Open { .. }))] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    let unknown = Err(Refusal::new(RefusalKind::SessionUnknown, "there is none"));
    bench.step(CoreInput::Report(Report::Settled { ticket: *ticket, with: unknown }));
    let refused = bench.outs.iter().any(|out| {
        matches!(out, CoreEffect::Settle { with: Err(refusal), .. } if refusal.kind == RefusalKind::SessionUnknown)
    });
    assert!(refused, "{:?}", bench.outs);
    let orders = bench.outs.iter().filter(|out| matches!(out, CoreEffect::Order(_)));
    assert_eq!(orders.count(), 1, "and nothing else is asked: {:?}", bench.outs);
}

#[test]
fn a_run_goes_on_with_exactly_the_consents_that_are_open() {
    let mut before = Bench::new();
    let brief = before.prompt("go");
    before.now += 4_000;
    let (step, tool) = before.propose(&brief);
    let ask = before.ask(&brief, tool);
    let state = before.state().clone();
    // Another process opens the session after a crash, a while later.
    let (mut core, session) = (Bench::new().core, brief.session.clone());
    let open = Command::Library(LibraryCommand::Open { session });
    let outs = core.step(
        Millis(3_600_000),
        CoreInput::Command { ui: TERMINAL, ticket: Ticket(1), target: Target::Current, command: open },
    );
    let id = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, .. } => Some(*id),
        _ => None,
    });
    let opened = Fetched::Opened(Some(Box::new(Opened { state, damage: None })));
    let outs = core
        .step(Millis(3_600_000), CoreInput::Answered { id: id.expect("it is asked for"), with: Ok(opened) });
    let turn = outs.iter().find_map(|out| match out {
        CoreEffect::Order(Order::Turn(brief)) => Some(brief),
        _ => None,
    });
    let turn = turn.expect("it goes on");
    assert_eq!(turn.input, Input::text("go"), "what it does to files is known by these words");
    let resumed = turn.resume.clone();
    let consent = domain::port::OpenConsent { ask, tool, digest: ActionDigest("d".into()) };
    assert_eq!(
        resumed,
        Some(domain::port::Resume {
            step,
            billed: Usage::default(),
            took: Duration::from_secs(4),
            consents: vec![consent]
        })
    );
}

#[test]
fn a_session_in_a_folder_that_is_not_there_is_refused() {
    let mut bench = Bench::new();
    let new = |cwd: &str| {
        let cwd = Some(cwd.to_owned());
        Command::Library(LibraryCommand::New { cwd, title: None, id: SessionId::parse("sess-0000000f") })
    };
    let refused = bench.command(TERMINAL, new(GONE)).expect_err("refused");
    assert_eq!(refused.kind, RefusalKind::Invalid);
    assert_eq!(bench.core.open_sessions().count(), 0, "nothing is left of it");
    bench.command(TERMINAL, new("/there")).expect("made");
    assert_eq!(bench.state().settings.cwd, "/there");
}

#[test]
fn who_stops_a_foreign_run_answers_what_it_asked_before_it_began() {
    let (mut bench, session) = behind(Answers::ALL);
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    let asks = |ask: &str| Said::AskOpened {
        ask: ask.into(),
        title: "Sure?".into(),
        kind: FactAsk::Other(kind.clone()),
        deadline: None,
    };
    says(&mut bench, &session, asks("early"));
    says(&mut bench, &session, Said::RunStarted);
    assert_eq!(bench.state().asks[0].run, None, "it came before there was a run");
    bench.outs.clear();
    let command = Command::Run(RunCommand::Cancel { run: None, reason: None });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(51), target: Target::Current, command });
    let orders: Vec<&str> = bench.outs.iter().filter_map(order).collect();
    assert_eq!(orders, ["answer", "cancel", "consult"], "the answer goes out before the cancel");
    // What it asks while it is being stopped is answered at once: it must not wait, and nothing may be allowed any more.
    bench.outs.clear();
    says(&mut bench, &session, asks("late"));
    assert!(bench.state().asks.is_empty());
    assert_eq!(bench.outs.iter().filter_map(order).collect::<Vec<_>>(), ["answer"]);
}

/// An order to the engine, in a word.
fn order(out: &CoreEffect) -> Option<&'static str> {
    match out {
        CoreEffect::Order(Order::AskClosed { closing: Closing::Withdrawn, .. }) => Some("answer"),
        CoreEffect::Order(Order::Cancel { .. }) => Some("cancel"),
        CoreEffect::Order(Order::Consult { .. }) => Some("consult"),
        _ => None,
    }
}
