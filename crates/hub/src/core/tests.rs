//! The core as a function: commands and reports in, a grammatical stream out (watched by the core itself in debug builds).

mod bounds;
mod files;
mod foreign_policy;
mod kept;
mod loading;
mod offers;
mod present;
mod recalled;
mod remembered;
mod rules;
mod secrets;
mod session_names;
mod shown;
mod visits;

use super::{
    Answer as Fetched, Core, CoreEffect, CoreInput, Engine, GivenBudget, Request, Setup, Standing, imported,
};
use domain::ask::ActionDigest;
use domain::ask::{Answer, Ask, AskKind, Assessment, Closing, Consent, Risk, Scope};
use domain::command::{
    Command, History, LibraryCommand, ListCommand, PromptOptions, QueueCommand, Receipt, Refusal,
    RefusalKind, RunCommand, SessionCommand, Target, WhenBusy,
};
use domain::content::{Input, Json, Role, Usage};
use domain::event::{
    AskEvent, Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{AskId, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, UiId};
use domain::port::{Order, Report, Ticket, TurnBrief, TurnEnd};
use domain::queue::{Mode, QueueKind};
use domain::session::{Budget, Effort, Policy, SessionSummary};
use domain::signal::UiContext;
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::Answers;
use std::collections::BTreeSet;
use std::time::Duration;
use store::Opened;

const SANDBOXED: &str = "sess-5a4db0ed";
/// The one folder that is not there.
const GONE: &str = "/gone";

/// A store that holds nothing but one session in mode `sandboxed`.
fn answer(request: Request) -> Result<Fetched, Refusal> {
    Ok(match request {
        Request::Open { session } if session.as_str() == SANDBOXED => {
            let mut state = State::new();
            let opened =
                Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None });
            for body in [opened, Body::Session(SessionEvent::PolicyChosen { policy: Policy::Sandboxed })] {
                state.apply(Millis(1), &body).expect("lawful");
            }
            Fetched::Opened(Some(Box::new(Opened { state, damage: None })))
        }
        Request::Open { .. } => Fetched::Opened(None),
        Request::Recall { .. } => Fetched::Found { kept: None, free: None },
        Request::Find { origin } => Fetched::Found { kept: None, free: origin.kept_as() },
        Request::Delete { live, .. } => Fetched::Deleted(live),
        Request::List { .. } => Fetched::Listed(Vec::new()),
        Request::History { .. } => Fetched::History(History::default()),
        Request::Export { .. } => Fetched::Exported(String::new()),
        Request::Save { session, path, .. } => {
            Fetched::Saved { path: path.unwrap_or(session.as_str().to_owned()), size: 42 }
        }
        Request::Folder { path } if path == GONE => {
            return Err(Refusal::new(RefusalKind::Invalid, "there is no such folder"));
        }
        Request::Folder { .. } => Fetched::Folder,
        Request::Load { path, now } => {
            Fetched::Loaded(Box::new(imported(&State::new(), now).with_id(SessionId::parse(&path))))
        }
    })
}

/// A core with what it said since the last look.
struct Bench {
    core: Core,
    now: u64,
    outs: Vec<CoreEffect>,
    next_ticket: u64,
}

const TERMINAL: UiId = UiId(1);
const OTHER: UiId = UiId(2);

impl Bench {
    fn new() -> Bench {
        Bench::with(Engine::Driven, None)
    }

    fn with(engine: Engine, no_sandbox: Option<String>) -> Bench {
        let setup = Setup { no_sandbox, ..Setup::new(engine, "/w", 7) };
        let mut bench = Bench { core: Core::new(setup), now: 1_000, outs: Vec::new(), next_ticket: 0 };
        bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
        bench
    }

    fn arrive(&mut self, ui: UiId, answers: Answers, standing: Standing) {
        self.step(CoreInput::Arrived { ui, name: format!("ui{}", ui.0), answers, standing });
    }

    fn step(&mut self, input: CoreInput) {
        let outs = self.core.step(Millis(self.now), input);
        for out in outs {
            match out {
                CoreEffect::Again(input) => self.step(*input),
                CoreEffect::Fetch { id, request } => {
                    self.step(CoreInput::Answered { id, with: answer(request) });
                }
                out => self.outs.push(out),
            }
        }
    }

    fn command(&mut self, ui: UiId, command: Command) -> Result<Receipt, Refusal> {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        self.step(CoreInput::Command { ui, ticket, target: Target::Current, command });
        let mut settled = self.outs.iter().filter_map(|out| match out {
            CoreEffect::Settle { ticket: t, with, .. } if *t == ticket => Some(with.clone()),
            _ => None,
        });
        let first = settled.next().expect("settled");
        assert!(settled.next().is_none(), "settled twice");
        first
    }

    fn prompt(&mut self, text: &str) -> TurnBrief {
        let command =
            Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() });
        self.command(TERMINAL, command).expect("started");
        self.brief()
    }

    /// The newest turn that the engine was told to do.
    fn brief(&self) -> TurnBrief {
        let turn = |out: &CoreEffect| match out {
            CoreEffect::Order(Order::Turn(brief)) => Some((**brief).clone()),
            _ => None,
        };
        self.outs.iter().rev().find_map(turn).expect("a turn")
    }

    fn session(&self) -> SessionId {
        self.core.current(TERMINAL).expect("a session").clone()
    }

    fn state(&self) -> &State {
        self.core.state(&self.session()).expect("a state")
    }

    fn happened(&mut self, brief: &TurnBrief, body: Body) -> bool {
        let report = Report::Happened { session: brief.session.clone(), run: Some(brief.run), body };
        self.step(CoreInput::Report(report));
        self.core.accepted()
    }

    fn turn_done(&mut self, brief: &TurnBrief, end: TurnEnd) {
        let (session, run, turn) = (brief.session.clone(), brief.run, brief.turn);
        self.step(CoreInput::Report(Report::TurnDone { session, run, turn, end }));
    }

    /// A step whose message proposes one tool.
    fn propose(&mut self, brief: &TurnBrief) -> (StepId, ToolRunId) {
        self.propose_call(brief, "bash", Json::empty())
    }

    fn propose_call(&mut self, brief: &TurnBrief, name: &str, args: Json) -> (StepId, ToolRunId) {
        let ids = &brief.ids;
        let (step, message, tool) = (StepId::mint(ids), MessageId::mint(ids), ToolRunId::mint(ids));
        self.happened(brief, Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None }));
        let (turn, parent) = (Some(brief.turn), brief.leaf);
        let start = Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn,
            step: Some(step),
        });
        self.happened(brief, start);
        self.happened(brief, Body::Tool(ToolEvent::Proposed { tool, message, name: name.into(), args }));
        self.happened(brief, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        (step, tool)
    }

    fn ask(&mut self, brief: &TurnBrief, tool: ToolRunId) -> AskId {
        let id = AskId::mint(&brief.ids);
        let consent = Consent {
            tool,
            name: "bash".into(),
            args: Json::empty(),
            preview: None,
            assessment: Assessment { risk: Risk::High, reasons: vec![], reversible: false, unrated: false },
            digest: ActionDigest("d".into()),
            rule: None,
            takes_reason: true,
        };
        let kind = AskKind::Consent(Box::new(consent));
        let ask = Ask { id, run: Some(brief.run), title: "run it?".into(), kind, deadline: None };
        self.happened(brief, Body::Ask(AskEvent::Opened(ask)));
        id
    }

    fn closings(&self) -> Vec<Closing> {
        let closing = |out: &CoreEffect| match out {
            CoreEffect::Order(Order::AskClosed { closing, .. }) => Some(closing.clone()),
            _ => None,
        };
        self.outs.iter().filter_map(closing).collect()
    }

    fn events(&self, ui: UiId) -> Vec<Event> {
        let event = |out: &CoreEffect| match out {
            CoreEffect::Event { ui: to, event, .. } if *to == ui => Some((**event).clone()),
            _ => None,
        };
        self.outs.iter().filter_map(event).collect()
    }

    fn last_outcome(&self) -> Option<Outcome> {
        self.state().runs.last()?.ended.as_ref().map(|(_, outcome)| outcome.clone())
    }
}

fn allow() -> Answer {
    Answer::Allow { scope: Scope::Once, digest: None }
}

fn yes() -> Decision {
    Decision { allowed: true, by: Decider::Policy, scope: Scope::Once, reason: None, digest: None }
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let mut bench = Bench::new();
    let at = |cwd: &str| Command::UpdateContext(UiContext { cwd: Some(cwd.into()), ..UiContext::default() });
    bench.command(TERMINAL, at("/w/sub")).expect("it is there");
    let refusal = bench.command(TERMINAL, at(GONE)).expect_err("refused");
    assert_eq!(refusal.kind, RefusalKind::Invalid);
    bench.command(TERMINAL, at("/w/sub")).expect("back again");
    assert_eq!(bench.prompt("where").ui_context.cwd.as_deref(), Some("/w/sub"));
}

#[test]
fn a_receipt_comes_before_the_events_of_its_run() {
    let mut bench = Bench::new();
    bench.prompt("hello");
    let started = bench
        .outs
        .iter()
        .position(|out| matches!(out, CoreEffect::Settle { with: Ok(Receipt::Started { .. }), .. }));
    let running = bench.outs.iter().position(
        |out| matches!(out, CoreEffect::Event { event, .. } if matches!(event.body, Body::Run(RunEvent::Started { .. }))),
    );
    assert!(started < running && started.is_some());
}

#[test]
fn steer_comes_before_follow_up_and_each_turn_sees_the_whole_session() {
    let mut bench = Bench::new();
    let first = bench.prompt("one");
    for (kind, text) in [(QueueKind::FollowUp, "later"), (QueueKind::Steer, "now")] {
        bench
            .command(TERMINAL, Command::Queue(QueueCommand::Add { kind, input: Input::text(text) }))
            .unwrap();
    }
    bench.turn_done(&first, TurnEnd::Done);
    let second = bench.brief();
    assert_eq!((second.input.text.as_str(), second.context.len()), ("now", 2));
    bench.turn_done(&second, TurnEnd::Done);
    let third = bench.brief();
    assert_eq!((third.input.text.as_str(), third.context.len()), ("later", 3));
    bench.turn_done(&third, TurnEnd::Done);
    assert_eq!(bench.last_outcome(), Some(Outcome::Done));
    let causes: Vec<Cause> = bench.state().runs[0].turns.iter().map(|turn| turn.cause).collect();
    assert_eq!(causes, [Cause::Prompt, Cause::Steer, Cause::FollowUp]);
}

#[test]
fn mode_all_joins_what_waits_into_one_turn() {
    let mut bench = Bench::new();
    let first = bench.prompt("one");
    bench
        .command(TERMINAL, Command::Queue(QueueCommand::SetMode { kind: QueueKind::Steer, mode: Mode::All }))
        .unwrap();
    for text in ["a", "b"] {
        bench
            .command(
                TERMINAL,
                Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: Input::text(text) }),
            )
            .unwrap();
    }
    bench.turn_done(&first, TurnEnd::Done);
    assert_eq!(bench.brief().input.text, "a\nb");
}

#[test]
fn a_second_prompt_is_refused_or_queued_as_it_wishes() {
    let mut bench = Bench::new();
    bench.prompt("one");
    let busy =
        Command::Run(RunCommand::Prompt { input: Input::text("two"), options: PromptOptions::default() });
    assert_eq!(bench.command(TERMINAL, busy).unwrap_err().kind, RefusalKind::Busy);
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
    let queued = bench
        .command(TERMINAL, Command::Run(RunCommand::Prompt { input: Input::text("two"), options }))
        .unwrap();
    assert!(matches!(queued, Receipt::Queued { .. }));
}

#[test]
fn the_first_answer_wins_and_the_second_is_told() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    let session = bench.session();
    bench.step(CoreInput::Command {
        ui: OTHER,
        ticket: Ticket(99),
        target: Target::Session(session),
        command: Command::Session(SessionCommand::Stats),
    });
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    bench.command(OTHER, Command::Answer { ask, answer: allow() }).unwrap();
    let late =
        bench.command(TERMINAL, Command::Answer { ask, answer: Answer::Deny { reason: None } }).unwrap_err();
    assert_eq!(late.kind, RefusalKind::AskOver);
    assert_eq!(bench.closings().len(), 1, "the engine hears one answer");
    let closed = |event: &Event| matches!(&event.body, Body::Ask(AskEvent::Closed { closing: Closing::Answered { by, .. }, .. }) if by.as_deref() == Some("ui2"));
    assert!(bench.events(TERMINAL).iter().any(closed), "the other UI learns who answered");
}

#[test]
fn a_cancel_closes_the_ask_first_and_nothing_starts_after_it() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let (step, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    bench.command(TERMINAL, Command::Run(RunCommand::Cancel { run: None, reason: None })).unwrap();
    assert_eq!(bench.closings(), [Closing::Withdrawn]);
    let stale = bench.command(TERMINAL, Command::Answer { ask, answer: allow() }).unwrap_err();
    assert_eq!(stale.kind, RefusalKind::AskOver);
    bench.happened(&brief, Body::Tool(ToolEvent::Decided { tool, decision: yes() }));
    assert!(
        !bench.happened(&brief, Body::Tool(ToolEvent::Started { tool })),
        "a start after the cancel is refused"
    );
    let result = ToolResult::text("cancelled");
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Cancelled, result }));
    bench.happened(&brief, Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    bench.turn_done(&brief, TurnEnd::Cancelled);
    assert_eq!(bench.last_outcome(), Some(Outcome::Cancelled));
}

#[test]
fn how_hard_the_model_thinks_is_chosen_between_runs_and_goes_with_each_turn() {
    let setup = Setup { effort: Some(Effort::Low), ..Setup::new(Engine::Driven, "/w", 7) };
    let mut bench = Bench { core: Core::new(setup), now: 1_000, outs: Vec::new(), next_ticket: 0 };
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    let brief = bench.prompt("go");
    assert_eq!(brief.effort, Some(Effort::Low), "a new session has what was set");
    let set = |effort| Command::Session(SessionCommand::SetEffort { effort });
    let busy = bench.command(TERMINAL, set(Some(Effort::High))).unwrap_err();
    assert_eq!(busy.kind, RefusalKind::Busy);
    bench.turn_done(&brief, TurnEnd::Done);
    for effort in [Some(Effort::High), None] {
        bench.next_ticket += 1;
        let ticket = Ticket(bench.next_ticket);
        bench.step(CoreInput::Command {
            ui: TERMINAL,
            ticket,
            target: Target::Current,
            command: set(effort),
        });
        let consulted = bench.outs.iter().rev().find_map(|out| match out {
            CoreEffect::Order(Order::Consult { ticket, .. }) => Some(*ticket),
            _ => None,
        });
        let with = Ok(Receipt::Done);
        bench.step(CoreInput::Report(Report::Settled { ticket: consulted.unwrap(), with }));
        assert_eq!(bench.state().settings.effort, effort);
    }
}

#[test]
fn a_budget_is_kept_with_its_session_and_what_was_typed_goes_before_it() {
    let cost = |most| Budget { max_cost_micros: Some(most), ..Budget::default() };
    let steps = Budget { max_steps: Some(9), ..Budget::default() };
    let mut bench = Bench::new();
    bench.core.setup.budget = GivenBudget { usual: cost(5).or(steps), typed: cost(7) };
    let brief = bench.prompt("go");
    assert_eq!(brief.budget, cost(7).or(steps), "a new session has what was typed and what is usual");
    bench.turn_done(&brief, TurnEnd::Done);
    bench.command(TERMINAL, Command::Session(SessionCommand::SetBudget { budget: Budget::OFF })).unwrap();
    let kept = bench.state().clone();
    assert_eq!(kept.settings.budget, Budget::OFF);
    let brief = bench.prompt("on");
    assert_eq!(brief.budget, Budget::OFF);
    for (typed, then) in [(Budget::default(), Budget::OFF), (cost(8), cost(8).or(Budget::OFF))] {
        let mut bench = Bench::new();
        bench.core.setup.budget = GivenBudget { usual: cost(5), typed };
        let session = SessionId::from_number(77);
        bench.core.take_in(&session, Opened { state: kept.clone(), damage: None }).unwrap();
        assert_eq!(bench.core.sessions[&session].state.settings.budget, then);
    }
    let mut foreign = Bench::with(Engine::Followed, None);
    let set = Command::Session(SessionCommand::SetBudget { budget: steps });
    assert_eq!(foreign.command(TERMINAL, set).unwrap_err().kind, RefusalKind::Unsupported);
}

#[test]
fn an_engine_that_does_not_stop_is_closed_without_it() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    bench.happened(&brief, Body::Tool(ToolEvent::Decided { tool, decision: yes() }));
    bench.happened(&brief, Body::Tool(ToolEvent::Started { tool }));
    bench
        .command(
            TERMINAL,
            Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input: Input::text("x") }),
        )
        .unwrap();
    bench.command(TERMINAL, Command::Run(RunCommand::Cancel { run: None, reason: None })).unwrap();
    bench.now += super::CANCEL_GRACE_MS;
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert_eq!(bench.last_outcome(), Some(Outcome::Cancelled));
    assert!(bench.state().queues.all().next().is_none(), "what waited is cleared");
    assert!(!bench.happened(&brief, Body::Tool(ToolEvent::Started { tool })), "what comes late is dropped");
}

#[test]
fn a_late_cancel_does_not_touch_the_next_run() {
    let mut bench = Bench::new();
    let first = bench.prompt("one");
    bench.turn_done(&first, TurnEnd::Done);
    let second = bench.prompt("two");
    let receipt = bench
        .command(TERMINAL, Command::Run(RunCommand::Cancel { run: Some(first.run), reason: None }))
        .unwrap();
    assert!(matches!(receipt, Receipt::Cancelling { run } if run.outcome == Some(Outcome::Done)));
    assert!(bench.state().open_run().is_some_and(|run| run.id == second.run));
    let unknown = Command::Run(RunCommand::Cancel { run: Some(RunId(9_999)), reason: None });
    assert_eq!(bench.command(TERMINAL, unknown).unwrap_err().kind, RefusalKind::RunUnknown);
}

#[test]
fn asks_expire_and_nobody_is_asked_where_nobody_can_answer() {
    let mut bench = Bench::new();
    let thirty = Answers { deadline: Some(Duration::from_secs(30)), ..Answers::ALL };
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: thirty });
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    bench.ask(&brief, tool);
    bench.now += 29_999;
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert!(bench.closings().is_empty());
    bench.now += 1;
    bench.step(CoreInput::Tick { except: BTreeSet::new() });
    assert_eq!(bench.closings(), [Closing::Expired]);
    bench.step(CoreInput::Answers { ui: TERMINAL, answers: Answers::NONE });
    let result = ToolResult::text("no");
    bench.happened(&brief, Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Denied, result }));
    bench.turn_done(&brief, TurnEnd::Done);
    let again = bench.prompt("again");
    let (_, tool) = bench.propose(&again);
    bench.ask(&again, tool);
    assert_eq!(bench.closings(), [Closing::Expired, Closing::Unattended]);
}

#[test]
fn an_ask_waits_when_every_ui_is_gone_and_is_there_when_one_returns() {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let session = bench.session();
    let (_, tool) = bench.propose(&brief);
    let ask = bench.ask(&brief, tool);
    bench.step(CoreInput::Left { ui: TERMINAL });
    assert!(bench.closings().is_empty());
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    let open = Command::Library(LibraryCommand::Open { session: session.clone() });
    bench.step(CoreInput::Command { ui: OTHER, ticket: Ticket(50), target: Target::Current, command: open });
    assert!(bench.core.state(&session).is_some_and(|state| state.ask(ask).is_some()));
    bench.step(CoreInput::Command {
        ui: OTHER,
        ticket: Ticket(51),
        target: Target::Current,
        command: Command::Answer { ask, answer: allow() },
    });
    assert_eq!(bench.closings().len(), 1);
}

#[test]
fn an_observer_may_look_and_nothing_else() {
    let mut bench = Bench::new();
    bench.prompt("go");
    bench.arrive(OTHER, Answers::ALL, Standing::Observer);
    let refused =
        bench.command(OTHER, Command::Run(RunCommand::Cancel { run: None, reason: None })).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::NotAllowed);
    assert!(bench.command(OTHER, Command::Session(SessionCommand::Stats)).is_ok());
}

/// A run that waits for a yes, with nobody there but who came since.
fn asked_and_left() -> (Bench, AskId, SessionId) {
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    let (ask, session) = (bench.ask(&brief, tool), bench.session());
    bench.step(CoreInput::Left { ui: TERMINAL });
    (bench, ask, session)
}

#[test]
fn who_may_not_answer_ends_no_question_by_coming_or_leaving() {
    const THIRD: UiId = UiId(3);
    let entered = Answers { consent: false, ..Answers::ALL };
    for (standing, answers) in [
        (Standing::Observer, Answers::ALL),
        (Standing::Observer, Answers::NONE),
        (Standing::Observer, entered),
    ] {
        let (mut bench, ask, session) = asked_and_left();
        for ui in [OTHER, THIRD] {
            bench.arrive(ui, answers, standing);
            let open = Command::Library(LibraryCommand::Open { session: session.clone() });
            bench.command(ui, open).unwrap();
        }
        bench.step(CoreInput::Left { ui: THIRD });
        bench.step(CoreInput::CannotAnswer { ui: OTHER, session: session.clone(), ask });
        bench.step(CoreInput::Left { ui: OTHER });
        assert_eq!(bench.closings(), [], "{standing} {answers:?}");
        assert!(bench.core.state(&session).is_some_and(|state| state.ask(ask).is_some()), "{standing}");
    }
    // The person who leaves while somebody looks on comes back to it, too.
    let mut bench = Bench::new();
    let brief = bench.prompt("go");
    let (_, tool) = bench.propose(&brief);
    let session = bench.session();
    bench.arrive(OTHER, Answers::ALL, Standing::Observer);
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session })).unwrap();
    bench.ask(&brief, tool);
    bench.step(CoreInput::Left { ui: TERMINAL });
    assert_eq!(bench.closings(), []);
}

#[test]
fn who_only_looks_lets_no_session_go() {
    for (standing, lets_go) in
        [(Standing::Controller, true), (Standing::Approver, false), (Standing::Observer, false)]
    {
        let mut bench = Bench::new();
        let brief = bench.prompt("go");
        bench.turn_done(&brief, TurnEnd::Done);
        let session = bench.session();
        bench.step(CoreInput::Left { ui: TERMINAL });
        bench.arrive(OTHER, Answers::ALL, standing);
        bench.command(OTHER, Command::Library(LibraryCommand::Open { session })).unwrap();
        bench.command(OTHER, Command::Session(SessionCommand::Close)).unwrap();
        let forgets = bench.outs.iter().any(|out| matches!(out, CoreEffect::Order(Order::Forget { .. })));
        assert_eq!(forgets, lets_go, "{standing}");
    }
}

#[test]
fn a_branch_holds_the_path_and_leaves_the_rest_alone() {
    let mut bench = Bench::new();
    for text in ["one", "two"] {
        let brief = bench.prompt(text);
        bench.turn_done(&brief, TurnEnd::Done);
    }
    let from = bench.session();
    let first = *bench.state().entries.keys().next().unwrap();
    bench
        .command(TERMINAL, Command::Library(LibraryCommand::Branch { session: None, at: Some(first) }))
        .unwrap();
    assert_ne!(bench.session(), from);
    assert_eq!(bench.state().path().len(), 1);
    assert_eq!(bench.core.state(&from).unwrap().path().len(), 2);
    let brief = bench.prompt("other way");
    assert_eq!(brief.context.len(), 2);
}

#[test]
fn clearing_begins_anew_and_destroys_nothing() {
    let mut bench = Bench::new();
    let brief = bench.prompt("one");
    bench.turn_done(&brief, TurnEnd::Done);
    bench.command(TERMINAL, Command::Session(SessionCommand::Clear)).unwrap();
    assert!(bench.state().path().is_empty());
    assert_eq!(bench.state().entries.len(), 1);
    assert_eq!(bench.prompt("two").context.len(), 1);
}

#[test]
fn a_summary_tells_what_a_list_shows() {
    let mut bench = Bench::new();
    bench.prompt("fix the bug");
    let summary = SessionSummary::of(&bench.session(), bench.state());
    assert_eq!((summary.title.as_str(), summary.running, summary.messages), ("fix the bug", true, 1));
}

#[test]
fn commands_for_two_sessions_do_not_put_each_other_off() {
    let mut bench = Bench::new();
    let make = || Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
    let mut sessions = Vec::new();
    for _ in 0..2 {
        match bench.command(TERMINAL, make()) {
            Ok(Receipt::Session { session, .. }) => sessions.push(session.id),
            other => panic!("{other:?}"),
        }
    }
    // The second command comes before the first one is taken again, as when both stand in one piece of input.
    let mut waiting: Vec<CoreInput> = Vec::new();
    for session in &sessions {
        let command = Command::Session(SessionCommand::Rename { title: "t".into() });
        let target = Target::Session(session.clone());
        waiting.push(CoreInput::Command { ui: TERMINAL, ticket: Ticket(90), target, command });
    }
    let mut settled = 0;
    for _ in 0..3 {
        for input in std::mem::take(&mut waiting) {
            for out in bench.core.step(Millis(bench.now), input) {
                match out {
                    CoreEffect::Again(input) => waiting.push(*input),
                    CoreEffect::Settle { .. } => settled += 1,
                    _ => {}
                }
            }
        }
    }
    assert_eq!((settled, waiting.len()), (2, 0));
}

#[test]
fn a_mode_that_cannot_be_had_here_is_refused_with_the_reason() {
    let wanted = || Command::Session(SessionCommand::SetPolicy { policy: Policy::Sandboxed });
    let mut bench = Bench::new();
    assert!(bench.command(TERMINAL, wanted()).is_ok());
    assert_eq!(bench.state().settings.policy, Policy::Sandboxed);
    let mut bench = Bench::with(Engine::Driven, Some("no Landlock in this kernel".into()));
    let refusal = bench.command(TERMINAL, wanted()).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::Unsupported);
    assert!(refusal.to_string().contains("no Landlock"), "{refusal}");
    assert_eq!(bench.state().settings.policy, Policy::Ask);
    assert!(
        bench.command(TERMINAL, Command::Session(SessionCommand::SetPolicy { policy: Policy::Full })).is_ok()
    );
}

#[test]
fn a_folder_that_a_ui_names_has_not_the_mode_of_ours() {
    let begun_in = |cwd: Option<&str>, policy_elsewhere| {
        let policy = Policy::Sandboxed;
        let setup = Setup { policy, policy_elsewhere, ..Setup::new(Engine::Driven, "/w", 7) };
        let mut bench = Bench { core: Core::new(setup), now: 1_000, outs: Vec::new(), next_ticket: 0 };
        bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
        let new = LibraryCommand::New { cwd: cwd.map(str::to_owned), title: None, id: None };
        bench.command(TERMINAL, Command::Library(new)).expect("begun");
        bench.state().settings.policy
    };
    assert_eq!(begun_in(None, Some(Policy::Ask)), Policy::Sandboxed);
    assert_eq!(begun_in(Some("/w"), Some(Policy::Ask)), Policy::Sandboxed);
    assert_eq!(begun_in(Some("/home"), Some(Policy::Ask)), Policy::Ask);
    assert_eq!(begun_in(Some("/home"), None), Policy::Sandboxed, "it was said for all");
}

#[test]
fn a_session_that_was_sandboxed_elsewhere_asks_and_says_so() {
    let open =
        || Command::Library(LibraryCommand::Open { session: SessionId::parse(SANDBOXED).expect("an id") });
    let mut bench = Bench::new();
    bench.command(TERMINAL, open()).expect("opened");
    assert_eq!(bench.state().settings.policy, Policy::Sandboxed);
    let mut bench = Bench::with(Engine::Driven, Some("no Landlock in this kernel".into()));
    bench.command(TERMINAL, open()).expect("opened");
    assert_eq!(bench.state().settings.policy, Policy::Ask);
    let told = format!("{:?}", bench.state().entries);
    assert!(told.contains("no Landlock in this kernel; this session asks instead"), "{told}");
}
