//! Stages for the roles: a runtime role with a session of its own, and a UI role with its canon.

use super::super::{CodeliaRuntime, CodeliaUi};
use domain::ask::{ActionDigest, Ask, AskKind, Assessment, Consent, Preview, Risk};
use domain::canon::Canon;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::grammar::Grammar;
use domain::ids::{AskId, Ids, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::Ticket;
use domain::signal::Board;
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{
    Cx, Greeting, Hello, Lane, Line, LinkEffect, RoleEffect, RuntimeEffect, RuntimeRole, Seen, TimerKey,
    UiCx, UiEffect, UiRole, View,
};
use serde_json::Value;

pub(super) const SESSION: &str = "sess-0123abcd";

pub(super) fn session() -> SessionId {
    SessionId::parse(SESSION).unwrap()
}

/// A runtime role and the session that it shows.
pub(super) struct RuntimeBench {
    pub(super) role: CodeliaRuntime,
    pub(super) state: State,
    pub(super) events: Vec<Event>,
    pub(super) now: Millis,
    ids: Ids,
    board: Board,
    effects: Vec<RuntimeEffect>,
}

impl RuntimeBench {
    pub(super) fn new() -> RuntimeBench {
        let mut bench = RuntimeBench {
            role: CodeliaRuntime::new(),
            state: State::new(),
            events: Vec::new(),
            now: Millis(1_730_000_000_000),
            ids: Ids::default(),
            board: Board::default(),
            effects: Vec::new(),
        };
        let greeting =
            Greeting { version: "1.0.0".into(), cwd: "/home/user/p".into(), ..Greeting::default() };
        bench.role.open(&mut Cx { now: bench.now, effects: &mut bench.effects }, &greeting);
        bench
    }

    /// As [`RuntimeBench::new`], with a UI that can answer everything.
    pub(super) fn greeted() -> RuntimeBench {
        let mut bench = RuntimeBench::new();
        bench.say(
            r#"{"id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},
               "ui_capabilities":{"supports_confirm":true,"supports_prompt":true,"supports_pick":true}}}"#,
        );
        bench.attach();
        bench.effects.clear();
        bench
    }

    pub(super) fn say(&mut self, line: &str) {
        self.line(Line::Text(line.to_owned()));
    }

    pub(super) fn line(&mut self, line: Line) {
        self.role.line(&mut Cx { now: self.now, effects: &mut self.effects }, Lane::MAIN, line);
    }

    pub(super) fn attach(&mut self) {
        let (session, mut effects) = (session(), std::mem::take(&mut self.effects));
        let view = View { session: &session, state: &self.state, board: &self.board, current: true };
        self.role.attached(&mut Cx { now: self.now, effects: &mut effects }, view);
        self.effects = effects;
    }

    pub(super) fn happen(&mut self, body: Body) {
        let event = Event { seq: self.state.seq.next(), at: self.now, body };
        self.state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
        let (session, mut effects) = (session(), std::mem::take(&mut self.effects));
        let view = View { session: &session, state: &self.state, board: &self.board, current: true };
        self.role.event(&mut Cx { now: self.now, effects: &mut effects }, view, &event);
        self.effects = effects;
        self.events.push(event);
    }

    pub(super) fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        let (session, mut effects) = (session(), std::mem::take(&mut self.effects));
        let view = View { session: &session, state: &self.state, board: &self.board, current: true };
        self.role.settled(&mut Cx { now: self.now, effects: &mut effects }, Some(view), ticket, with);
        self.effects = effects;
    }

    pub(super) fn effects(&mut self) -> Vec<RuntimeEffect> {
        std::mem::take(&mut self.effects)
    }

    /// The lines that were sent, one below the other.
    pub(super) fn sent(&mut self) -> String {
        sent(&self.effects())
    }

    /// The only command that was handed over.
    pub(super) fn command(&mut self) -> (Ticket, Target, Command) {
        let mut commands = self.effects().into_iter().filter_map(|effect| match effect {
            RuntimeEffect::Command { ticket, target, command } => Some((ticket, target, command)),
            _ => None,
        });
        let command = commands.next().expect("a command");
        assert_eq!(commands.next(), None);
        command
    }

    pub(super) fn begin_run(&mut self) -> RunId {
        let run = RunId::mint(&self.ids);
        self.begin(run);
        run
    }

    pub(super) fn mint_run(&mut self) -> RunId {
        RunId::mint(&self.ids)
    }

    pub(super) fn begin(&mut self, run: RunId) {
        self.happen(Body::Run(RunEvent::Started { run }));
        self.begin_turn(run, "do it");
    }

    pub(super) fn begin_turn(&mut self, run: RunId, prompt: &str) -> TurnId {
        let turn = TurnId::mint(&self.ids);
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        let message = self.message(Role::User, Some(turn), None);
        self.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text(prompt.into()) }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        turn
    }

    pub(super) fn step(&mut self) -> StepId {
        let turn = self.state.open_run().unwrap().open_turn().unwrap().id;
        let step = StepId::mint(&self.ids);
        self.happen(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        step
    }

    pub(super) fn message(&mut self, role: Role, turn: Option<TurnId>, step: Option<StepId>) -> MessageId {
        let message = MessageId::mint(&self.ids);
        let turn = turn.or_else(|| self.state.open_run()?.open_turn().map(|turn| turn.id));
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent: self.state.leaf,
            role,
            turn,
            step,
        }));
        message
    }

    pub(super) fn delta(&mut self, message: MessageId, kind: TextKind, text: &str) {
        self.happen(Body::Message(MessageEvent::Delta { message, kind, text: text.into() }));
    }

    pub(super) fn propose(&mut self, message: MessageId, name: &str, args: &str) -> ToolRunId {
        let tool = ToolRunId::mint(&self.ids);
        let (name, args) = (name.to_owned(), Json::verbatim(args));
        self.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
        tool
    }

    pub(super) fn consent(&mut self, tool: ToolRunId, rule: Option<&str>) -> AskId {
        let run = self.state.open_run().unwrap().id;
        let (name, args) =
            { (self.state.tool(tool).unwrap().name.clone(), self.state.tool(tool).unwrap().args.clone()) };
        let consent = Consent {
            tool,
            name,
            args,
            preview: Some(Preview::Command { line: "echo hi".into(), inner: vec![] }),
            assessment: Assessment { risk: Risk::Medium, reasons: vec![], reversible: true },
            digest: ActionDigest("d".into()),
            rule: rule.map(str::to_owned),
            takes_reason: true,
        };
        self.ask(Some(run), "May it run?", AskKind::Consent(Box::new(consent)))
    }

    pub(super) fn ask(&mut self, run: Option<RunId>, title: &str, kind: AskKind) -> AskId {
        let id = AskId::mint(&self.ids);
        self.happen(Body::Ask(AskEvent::Opened(Ask { id, run, title: title.into(), kind, deadline: None })));
        id
    }

    pub(super) fn run_tool(&mut self, tool: ToolRunId, outcome: ToolOutcome, result: ToolResult) {
        if outcome != ToolOutcome::Denied {
            let decision = Decision {
                allowed: true,
                by: Decider::Policy,
                scope: domain::ask::Scope::Once,
                reason: None,
                digest: None,
            };
            self.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
            self.happen(Body::Tool(ToolEvent::Started { tool }));
        }
        self.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    }

    /// Ends whatever is open.
    pub(super) fn end_run(&mut self, outcome: Outcome) {
        for message in self.state.open_messages() {
            self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        }
        let run = self.state.open_run().unwrap().clone();
        if let Some(step) = run.open_step() {
            self.happen(Body::Run(RunEvent::StepEnded { step: step.id, usage: Usage::default() }));
        }
        if let Some(turn) = run.open_turn() {
            self.happen(Body::Run(RunEvent::TurnEnded { turn: turn.id }));
        }
        self.happen(Body::Run(RunEvent::Ended { run: run.id, outcome }));
    }
}

/// A UI role with the canon behind it.
pub(super) struct UiBench {
    pub(super) role: CodeliaUi,
    pub(super) state: State,
    pub(super) canon: Canon,
    grammar: Grammar,
    effects: Vec<UiEffect>,
    now: Millis,
}

impl UiBench {
    pub(super) fn new() -> UiBench {
        UiBench::with(&Hello { version: "1.0.0".into(), ..Hello::default() })
    }

    pub(super) fn with(hello: &Hello) -> UiBench {
        let state = State::new();
        let canon = Canon::new(Ids::default(), &state);
        let mut bench = UiBench {
            role: CodeliaUi::new(),
            state,
            canon,
            grammar: Grammar::new(),
            effects: Vec::new(),
            now: Millis(0),
        };
        bench.role.open(&mut Cx { now: bench.now, effects: &mut bench.effects }, hello);
        bench
    }

    /// As [`UiBench::new`], with a runtime that announces its questions.
    pub(super) fn greeted() -> UiBench {
        let mut bench = UiBench::new();
        bench.say(
            r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"},"server_capabilities":
               {"supports_run_cancel":true,"supports_permission_preflight_events":true}}}"#,
        );
        bench.say(r#"{"id":"2","error":{"code":-32601,"message":"method not found"}}"#);
        bench.effects.clear();
        bench
    }

    pub(super) fn say(&mut self, line: &str) {
        self.step(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(line.to_owned())));
    }

    pub(super) fn line(&mut self, line: Line) {
        self.step(|role, cx, seen| role.line(cx, seen, Lane::MAIN, line));
    }

    pub(super) fn command(&mut self, ticket: u64, command: Command) {
        self.step(|role, cx, seen| role.command(cx, seen, Ticket(ticket), command));
    }

    pub(super) fn timer(&mut self, key: u64) {
        self.step(|role, cx, seen| role.timer(cx, seen, TimerKey(key)));
    }

    pub(super) fn closed(&mut self) {
        self.step(|role, cx, seen| role.closed(cx, seen));
    }

    fn step(&mut self, act: impl FnOnce(&mut CodeliaUi, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let seen = Seen { state: &self.state, names: self.canon.names() };
        act(&mut self.role, &mut Cx { now: self.now, effects: &mut effects }, seen);
        for effect in &effects {
            if let UiEffect::Fact(fact) = effect {
                let bodies = self.canon.take(self.now, fact.clone());
                self.happen(bodies);
            }
        }
        self.effects.extend(effects);
    }

    pub(super) fn happen(&mut self, bodies: Vec<Body>) {
        for body in bodies {
            let event = Event { seq: self.state.seq.next(), at: self.now, body };
            self.grammar.check(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
            self.state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
        }
    }

    /// The person answers the open question, as the hub would let them.
    pub(super) fn answer(&mut self, ticket: u64, answer: domain::ask::Answer) {
        let ask = self.state.asks.first().expect("an open question").id;
        let closing = self.state.close_with(ask, &answer, None).unwrap();
        self.happen(vec![Body::Ask(AskEvent::Closed { ask, closing: closing.clone() })]);
        let follows = self.canon.ask_closed(ask, &closing);
        self.happen(follows);
        self.command(ticket, Command::Answer { ask, answer });
        self.canon.forget_ask(ask);
    }

    pub(super) fn effects(&mut self) -> Vec<UiEffect> {
        std::mem::take(&mut self.effects)
    }

    pub(super) fn sent(&mut self) -> String {
        sent(&self.effects())
    }

    /// What the session holds, one line per thing.
    pub(super) fn told(&self) -> String {
        told(&self.state)
    }
}

pub(super) fn sent<E: RoleEffect>(effects: &[E]) -> String {
    let mut text = String::new();
    for effect in effects {
        let (mark, line) = match effect.link() {
            Some(LinkEffect::Send { line, .. }) => ("", line),
            Some(LinkEffect::SendAlone { line, .. }) => ("alone ", line),
            _ => continue,
        };
        assert!(!line.contains('\n'), "{line}");
        let mut value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["jsonrpc"], "2.0");
        value.as_object_mut().unwrap().remove("jsonrpc");
        text.push_str(&format!("{mark}{value}\n"));
    }
    text
}

/// Runs, texts, thoughts and tools of a session, in order.
pub(super) fn told(state: &State) -> String {
    let mut text = String::new();
    for entry in state.path() {
        let domain::state::EntryKind::Message(message) = &entry.kind else {
            text.push_str("compaction or notice\n");
            continue;
        };
        for part in &message.parts {
            let line = match part {
                Part::Text(words) if message.role == Role::User => format!("user {words:?}"),
                Part::Text(words) => format!("text {words:?}"),
                Part::Thought { text, .. } => format!("thought {text:?}"),
                Part::Tool(tool) => {
                    let tool = state.tool(*tool).unwrap();
                    let result = tool.result.as_ref().map(|result| result.text.clone());
                    format!("tool {} {} {:?} {:?}", tool.name, tool.args, tool.phase, result)
                }
                other => format!("{other:?}"),
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
    for run in &state.runs {
        text.push_str(&format!("run {:?}\n", run.ended.as_ref().map(|(_, outcome)| outcome)));
    }
    text
}
