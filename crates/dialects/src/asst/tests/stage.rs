//! A stage for the runtime role: plays the hub with one session's state, without I/O.

use crate::asst::AsstRuntime;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    Body, Cause, Event, Finish, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent, SessionEvent, ToolEvent,
};
use domain::grammar::Grammar;
use domain::ids::{Ids, MessageId, Millis, QueuedId, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::Ticket;
use domain::queue::QueueKind;
use domain::session::SessionSummary;
use domain::signal::Board;
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{Cx, Greeting, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, TimerKey, View};
use serde_json::{Value, json};

pub(super) struct Stage {
    pub(super) role: AsstRuntime,
    pub(super) state: State,
    pub(super) session: SessionId,
    pub(super) ids: Ids,
    pub(super) now: u64,
    grammar: Grammar,
    pub(super) sent: Vec<Value>,
    pub(super) wanted: Vec<(Ticket, Target, Command)>,
    pub(super) timers: Vec<TimerKey>,
    pub(super) logs: Vec<String>,
}

impl Stage {
    pub(super) fn new() -> Stage {
        let mut stage = Stage {
            role: AsstRuntime::new(),
            state: State::new(),
            session: SessionId::parse("sess-0001").unwrap(),
            ids: Ids::default(),
            now: 1_234_567_890_000,
            grammar: Grammar::new(),
            sent: Vec::new(),
            wanted: Vec::new(),
            timers: Vec::new(),
            logs: Vec::new(),
        };
        stage.call(|role, cx| role.open(cx, &Greeting::default()));
        stage.happen(Body::Session(SessionEvent::Opened {
            cwd: "/w".into(),
            project: "/w".into(),
            parent: None,
        }));
        stage
    }

    /// With a current session, its greeting read.
    pub(super) fn ready() -> Stage {
        let mut stage = Stage::new();
        stage.view(|role, cx, view| role.attached(cx, view));
        stage.sent.clear();
        stage
    }

    pub(super) fn call(&mut self, call: impl FnOnce(&mut AsstRuntime, &mut RuntimeCx<'_>)) {
        let mut effects = Vec::new();
        call(&mut self.role, &mut Cx { now: Millis(self.now), effects: &mut effects });
        for effect in effects {
            match effect {
                RuntimeEffect::Link(LinkEffect::Send { line, .. }) => {
                    self.sent.push(serde_json::from_str(&line).unwrap());
                }
                RuntimeEffect::Command { ticket, target, command } => {
                    self.wanted.push((ticket, target, command));
                }
                RuntimeEffect::Link(LinkEffect::Timer { key, .. }) => self.timers.push(key),
                RuntimeEffect::Link(LinkEffect::CancelTimer(key)) => {
                    self.timers.retain(|timer| *timer != key);
                }
                RuntimeEffect::Link(LinkEffect::Log(line)) => self.logs.push(line),
                RuntimeEffect::Link(LinkEffect::Loss(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn view(&mut self, call: impl FnOnce(&mut AsstRuntime, &mut RuntimeCx<'_>, View<'_>)) {
        let (state, board, session) = (self.state.clone(), Board::default(), self.session.clone());
        let view = View { session: &session, state: &state, board: &board, current: true };
        self.call(|role, cx| call(role, cx, view));
    }

    pub(super) fn say(&mut self, line: &str) {
        self.call(|role, cx| role.line(cx, Lane::MAIN, Line::Text(line.to_owned())));
    }

    /// What was sent since it was last looked, timestamps taken off after a look at them.
    pub(super) fn told(&mut self) -> Vec<Value> {
        let mut told = std::mem::take(&mut self.sent);
        for line in &mut told {
            let stamp = line.as_object_mut().unwrap().remove("timestamp").expect("a timestamp");
            assert!(stamp.is_u64(), "{stamp}");
        }
        told
    }

    /// Sends a message and gives the ticket of its prompt.
    pub(super) fn message(&mut self, id: &str, text: &str) -> Ticket {
        self.say(&json!({ "id": id, "kind": "user_message", "message": text }).to_string());
        self.wanted.last().expect("a prompt").0
    }

    pub(super) fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.view(|role, cx, view| role.settled(cx, Some(view), ticket, with));
    }

    /// A message that begins a run.
    pub(super) fn prompt(&mut self, id: &str) -> RunId {
        let ticket = self.message(id, "hello");
        let run = RunId::mint(&self.ids);
        self.settle(ticket, Ok(Receipt::Started { session: self.session.clone(), run }));
        self.happen(Body::Run(RunEvent::Started { run }));
        run
    }

    /// A message that waits for the run under way.
    pub(super) fn queue(&mut self, id: &str, run: RunId) -> QueuedId {
        let ticket = self.message(id, "and then");
        let item = QueuedId::mint(&self.ids);
        self.happen(Body::Queue(QueueEvent::Added {
            item,
            kind: QueueKind::FollowUp,
            input: Input::text("and then"),
            by: None,
        }));
        self.settle(ticket, Ok(Receipt::Queued { item, run }));
        item
    }

    pub(super) fn happen(&mut self, body: Body) {
        let event = Event { seq: self.state.seq.next(), at: Millis(self.now), body };
        self.grammar.check(&event).expect("a grammatical event");
        self.state.fold(&event).expect("an event that follows");
        if event.seq.0 > 1 {
            self.view(|role, cx, view| role.event(cx, view, &event));
        }
    }

    pub(super) fn turn(&mut self, run: RunId, cause: Cause) -> TurnId {
        let (turn, message) = (TurnId::mint(&self.ids), MessageId::mint(&self.ids));
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        let parent = self.state.leaf;
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::User,
            turn: Some(turn),
            step: None,
        }));
        self.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text("hello".into()) }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        turn
    }

    pub(super) fn next_turn(&mut self, turn: TurnId, item: QueuedId, run: RunId) -> TurnId {
        self.happen(Body::Run(RunEvent::TurnEnded { turn }));
        self.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Taken }));
        self.turn(run, Cause::FollowUp)
    }

    pub(super) fn step(&mut self, turn: TurnId) -> (StepId, MessageId) {
        let (step, message) = (StepId::mint(&self.ids), MessageId::mint(&self.ids));
        let parent = self.state.leaf;
        self.happen(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
        let role = Role::Assistant;
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent,
            role,
            turn: Some(turn),
            step: Some(step),
        }));
        (step, message)
    }

    pub(super) fn delta(&mut self, message: MessageId, text: &str) {
        self.happen(Body::Message(MessageEvent::Delta {
            message,
            kind: TextKind::Text,
            text: text.to_owned(),
        }));
    }

    pub(super) fn tool(&mut self, message: MessageId, name: &str, outcome: ToolOutcome, result: ToolResult) {
        let tool = ToolRunId::mint(&self.ids);
        let args = Json::verbatim(r#"{"path":"src"}"#);
        self.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: name.to_owned(), args }));
        let scope = domain::ask::Scope::Once;
        let decision = Decision { allowed: true, by: Decider::Policy, scope, reason: None, digest: None };
        self.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
        self.happen(Body::Tool(ToolEvent::Started { tool }));
        self.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    }

    pub(super) fn end_step(&mut self, step: StepId, message: MessageId) {
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        self.happen(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    }

    pub(super) fn talk(&mut self, turn: TurnId, text: &str) {
        let (step, message) = self.step(turn);
        self.delta(message, text);
        self.end_step(step, message);
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        for body in self.state.close_run(outcome) {
            self.happen(body);
        }
    }

    pub(super) fn summary(&self, id: &str) -> SessionSummary {
        SessionSummary {
            id: SessionId::parse(id).unwrap(),
            title: String::new(),
            cwd: "/w".into(),
            project: "/w".into(),
            created_at: Millis(0),
            updated_at: Millis(0),
            messages: 4,
            last_prompt: None,
            last_run: None,
            running: false,
            usage: Usage::default(),
        }
    }
}
