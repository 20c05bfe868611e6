//! Both roles on a stage: what they are told, and what they want done. No hub, no link, a clock that stands still.

use super::super::{LemonRuntime, LemonUi};
use domain::canon::Canon;
use domain::command::{Command, Receipt, Refusal, SessionCommand, Target};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent};
use domain::grammar::Grammar;
use domain::ids::{Ids, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::Ticket;
use domain::session::{SessionSummary, Stats};
use domain::signal::{Board, Signal};
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{
    Cx, Drift, Greeting, Hello, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, Seen,
    TimerKey, UiCx, UiEffect, UiRole, View,
};
use serde_json::Value;

pub(super) const CWD: &str = "/home/user/project";

pub(super) fn session(number: u64) -> SessionId {
    SessionId::from_number(number)
}

pub(super) fn summary(id: &SessionId) -> SessionSummary {
    SessionSummary {
        id: id.clone(),
        title: "a title".to_owned(),
        cwd: CWD.to_owned(),
        project: CWD.to_owned(),
        created_at: Millis(1),
        updated_at: Millis(2),
        messages: 0,
        last_prompt: None,
        last_run: None,
        running: false,
        usage: Usage::default(),
    }
}

/// Our runtime role, with one session (number 1) to tell about.
pub(super) struct Runtime {
    pub(super) role: LemonRuntime,
    pub(super) now: u64,
    pub(super) session: SessionId,
    pub(super) state: State,
    board: Board,
    effects: Vec<RuntimeEffect>,
}

impl Runtime {
    /// Greeted and ready.
    pub(super) fn up(options: &[(&str, &str)]) -> Runtime {
        let mut stage = Runtime::opened(options);
        stage.attach();
        let (ticket, _, command) = stage.wanted().remove(0);
        assert_eq!(command, Command::Session(SessionCommand::Stats));
        stage.settle(ticket, Ok(Receipt::Stats(Stats::default())));
        stage
    }

    /// Greeted, not yet with a session.
    pub(super) fn opened(options: &[(&str, &str)]) -> Runtime {
        let mut stage = Runtime {
            role: LemonRuntime::new(),
            now: 1_000,
            session: session(1),
            state: State::new(),
            board: Board::default(),
            effects: Vec::new(),
        };
        let body = Body::Session(SessionEvent::Opened {
            cwd: CWD.to_owned(),
            project: CWD.to_owned(),
            parent: None,
        });
        stage.fold(body);
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let model = Some(("scripted".to_owned(), "script".to_owned()));
        let greeting = Greeting { version: "0".to_owned(), cwd: CWD.to_owned(), model, options };
        stage.call(|role, cx, _| role.open(cx, &greeting));
        stage
    }

    fn call(&mut self, call: impl FnOnce(&mut LemonRuntime, &mut RuntimeCx<'_>, View<'_>)) {
        let view = View { session: &self.session, state: &self.state, board: &self.board, current: true };
        call(&mut self.role, &mut Cx { now: Millis(self.now), effects: &mut self.effects }, view);
    }

    fn fold(&mut self, body: Body) -> Event {
        let event = Event { seq: self.state.seq.next(), at: Millis(self.now), body };
        self.state.fold(&event).expect("an event that follows");
        event
    }

    pub(super) fn attach(&mut self) {
        self.call(|role, cx, view| role.attached(cx, view));
    }

    pub(super) fn say(&mut self, line: &str) {
        self.line(Line::Text(line.to_owned()));
    }

    pub(super) fn line(&mut self, line: Line) {
        self.call(|role, cx, _| role.line(cx, Lane::MAIN, line));
    }

    pub(super) fn happen(&mut self, body: Body) {
        let event = self.fold(body);
        self.call(|role, cx, view| role.event(cx, view, &event));
    }

    /// Happens without being told, as when a link is slow and its session is shown again.
    pub(super) fn missed(&mut self, body: Body) {
        self.fold(body);
    }

    pub(super) fn signal(&mut self, signal: &Signal) {
        self.board.take(signal);
        self.call(|role, cx, view| role.signal(cx, view, signal));
    }

    pub(super) fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.call(|role, cx, view| role.settled(cx, Some(view), ticket, with));
    }

    pub(super) fn timer(&mut self) {
        self.call(|role, cx, _| role.timer(cx, TimerKey(1)));
    }

    /// The lines that were sent since the last look.
    pub(super) fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.effects.retain(|effect| match effect {
            RuntimeEffect::Link(LinkEffect::Send { line, .. }) => {
                lines.push(line.clone());
                false
            }
            _ => true,
        });
        lines
    }

    pub(super) fn sent(&mut self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// The types of the lines, events by their own.
    pub(super) fn kinds(&mut self) -> Vec<String> {
        self.sent().iter().map(kind).collect()
    }

    /// The commands that were given since the last look.
    pub(super) fn wanted(&mut self) -> Vec<(Ticket, Target, Command)> {
        let mut wanted = Vec::new();
        self.effects.retain(|effect| match effect {
            RuntimeEffect::Command { ticket, target, command } => {
                wanted.push((*ticket, target.clone(), command.clone()));
                false
            }
            _ => true,
        });
        wanted
    }

    pub(super) fn effects(&mut self) -> Vec<RuntimeEffect> {
        std::mem::take(&mut self.effects)
    }

    /// A run up to the person's message.
    pub(super) fn begin(&mut self, text: &str) {
        self.happen(Body::Run(RunEvent::Started { run: RunId(10) }));
        self.happen(Body::Run(RunEvent::TurnStarted {
            run: RunId(10),
            turn: TurnId(11),
            cause: Cause::Prompt,
        }));
        let message = MessageId(12);
        let turn = Some(TurnId(11));
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent: None,
            role: Role::User,
            turn,
            step: None,
        }));
        self.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text.to_owned()) }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }

    /// A step with the beginning of the model's message.
    pub(super) fn step(&mut self, step: u64) -> MessageId {
        self.happen(Body::Run(RunEvent::StepStarted { turn: TurnId(11), step: StepId(step), model: None }));
        let message = MessageId(step + 1);
        let (parent, turn, step) = (self.state.leaf, Some(TurnId(11)), Some(StepId(step)));
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn,
            step,
        }));
        message
    }

    pub(super) fn text(&mut self, message: MessageId, text: &str) {
        self.happen(Body::Message(MessageEvent::Delta {
            message,
            kind: TextKind::Text,
            text: text.to_owned(),
        }));
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        for body in self.state.close_run(outcome) {
            self.happen(body);
        }
    }

    /// A tool from its proposal in `message` to its end.
    pub(super) fn tool(&mut self, message: MessageId, tool: u64, result: ToolResult) {
        let tool = ToolRunId(tool);
        let args = Json::verbatim(r#"{"path":"a.txt"}"#);
        self.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "read".to_owned(), args }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        self.happen(Body::Tool(ToolEvent::Decided { tool, decision: allowed() }));
        self.happen(Body::Tool(ToolEvent::Started { tool }));
        self.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    }
}

pub(super) fn allowed() -> Decision {
    let scope = domain::ask::Scope::Once;
    Decision { allowed: true, by: Decider::Policy, scope, reason: None, digest: None }
}

/// The type of a line; of an event, its own.
pub(super) fn kind(line: &Value) -> String {
    let of = if line["type"] == "event" { &line["event"]["type"] } else { &line["type"] };
    of.as_str().unwrap_or_default().to_owned()
}

/// Our UI role with the canon behind it, every event checked by the grammar.
pub(super) struct Ui {
    pub(super) role: LemonUi,
    pub(super) now: u64,
    pub(super) state: State,
    canon: Canon,
    grammar: Grammar,
    effects: Vec<UiEffect>,
    pub(super) signals: Vec<Signal>,
    pub(super) drifts: Vec<Drift>,
    pub(super) settled: Vec<(Ticket, Result<Receipt, Refusal>)>,
    pub(super) lines: Vec<String>,
}

impl Ui {
    pub(super) fn open() -> Ui {
        let state = State::new();
        let mut stage = Ui {
            role: LemonUi::new(),
            now: 1_000,
            canon: Canon::new(Ids::default(), &state),
            state,
            grammar: Grammar::new(),
            effects: Vec::new(),
            signals: Vec::new(),
            drifts: Vec::new(),
            settled: Vec::new(),
            lines: Vec::new(),
        };
        let hello = Hello { version: "0".to_owned(), cwd: CWD.to_owned(), size: None, session: None };
        stage.call(|role, cx, _| role.open(cx, &hello));
        stage
    }

    /// In front of a server of the first kind.
    pub(super) fn up() -> Ui {
        let mut stage = Ui::open();
        stage
            .hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
        stage
    }

    fn call(&mut self, call: impl FnOnce(&mut LemonUi, &mut UiCx<'_>, Seen<'_>)) {
        let seen = Seen { state: &self.state, names: self.canon.names() };
        call(&mut self.role, &mut Cx { now: Millis(self.now), effects: &mut self.effects }, seen);
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                UiEffect::Fact(fact) => {
                    for body in self.canon.take(Millis(self.now), fact) {
                        let event = Event { seq: self.state.seq.next(), at: Millis(self.now), body };
                        self.grammar.check(&event).expect("a grammatical stream");
                        self.state.fold(&event).expect("an event that follows");
                    }
                }
                UiEffect::Signal(signal) => self.signals.push(signal),
                UiEffect::Link(LinkEffect::Drift(drift)) => self.drifts.push(drift),
                UiEffect::Settle { ticket, with } => self.settled.push((ticket, with)),
                UiEffect::Link(LinkEffect::Send { line, .. }) => self.lines.push(line),
                other => self.effects.push(other),
            }
        }
    }

    pub(super) fn hear(&mut self, line: &str) {
        self.call(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(line.to_owned())));
    }

    pub(super) fn event(&mut self, kind: &str, data: &Value) {
        self.hear(&serde_json::json!({"type":"event","event":{"type":kind,"data":data}}).to_string());
    }

    pub(super) fn want(&mut self, ticket: u64, command: Command) {
        self.call(|role, cx, seen| role.command(cx, seen, Ticket(ticket), command));
    }

    pub(super) fn timer(&mut self, key: TimerKey) {
        self.call(|role, cx, seen| role.timer(cx, seen, key));
    }

    pub(super) fn closed(&mut self) {
        self.call(|role, cx, seen| role.closed(cx, seen));
    }

    /// The timers that are set.
    pub(super) fn timers(&self) -> Vec<TimerKey> {
        let keys = self.effects.iter().filter_map(|effect| match effect {
            UiEffect::Link(LinkEffect::Timer { key, .. }) => Some(*key),
            _ => None,
        });
        keys.collect()
    }

    pub(super) fn closes(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Close(_))))
    }

    pub(super) fn said(&mut self) -> Vec<Value> {
        let lines = std::mem::take(&mut self.lines);
        lines.iter().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// The text of the last message.
    pub(super) fn last_text(&self) -> String {
        let entry = self.state.entries.values().next_back();
        let message = entry.and_then(|entry| self.state.message(MessageId(entry.id.0)));
        message.map(domain::state::Message::text).unwrap_or_default()
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.state.runs.last()?.ended.as_ref().map(|(_, outcome)| outcome.clone())
    }
}
