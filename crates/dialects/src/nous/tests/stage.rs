//! A stage for the runtime role: plays the hub with one session's state, without I/O.

use crate::nous::NousRuntime;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent};
use domain::grammar::Grammar;
use domain::ids::{EntryId, Ids, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::Ticket;
use domain::session::SessionSummary;
use domain::signal::Board;
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{Cx, Greeting, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, TimerKey, View};
use serde_json::Value;

/// The first command connection and the first event connection.
pub(super) const COMMANDS: Lane = Lane(2);
pub(super) const EVENTS: Lane = Lane(3);

pub(super) struct Stage {
    pub(super) role: NousRuntime,
    pub(super) state: State,
    pub(super) session: SessionId,
    pub(super) ids: Ids,
    pub(super) now: u64,
    grammar: Grammar,
    board: Board,
    pub(super) sent: Vec<(Lane, String)>,
    pub(super) wanted: Vec<(Ticket, Target, Command)>,
    pub(super) timers: Vec<TimerKey>,
}

impl Stage {
    pub(super) fn new() -> Stage {
        let mut stage = Stage {
            role: NousRuntime::new(),
            state: State::new(),
            session: SessionId::parse("sess-0001").unwrap(),
            ids: Ids::default(),
            now: 1_794_701_769_000,
            grammar: Grammar::new(),
            board: Board::default(),
            sent: Vec::new(),
            wanted: Vec::new(),
            timers: Vec::new(),
        };
        stage.call(|role, cx| role.open(cx, &Greeting::default()));
        stage.lane(COMMANDS, true);
        stage.happen(Body::Session(SessionEvent::Opened {
            cwd: "/w".into(),
            project: "/w".into(),
            parent: None,
        }));
        stage
    }

    /// With an active session and a subscriber.
    pub(super) fn ready() -> Stage {
        let mut stage = Stage::new();
        stage.lane(EVENTS, true);
        stage.attach();
        stage
    }

    pub(super) fn call(&mut self, call: impl FnOnce(&mut NousRuntime, &mut RuntimeCx<'_>)) {
        let mut effects = Vec::new();
        call(&mut self.role, &mut Cx { now: Millis(self.now), effects: &mut effects });
        for effect in effects {
            match effect {
                RuntimeEffect::Link(LinkEffect::Send { lane, line }) => self.sent.push((lane, line)),
                RuntimeEffect::Command { ticket, target, command } => {
                    self.wanted.push((ticket, target, command));
                }
                RuntimeEffect::Link(LinkEffect::Timer { key, .. }) => self.timers.push(key),
                RuntimeEffect::Link(LinkEffect::CancelTimer(key)) => {
                    self.timers.retain(|timer| *timer != key);
                }
                RuntimeEffect::Link(LinkEffect::Log(_) | LinkEffect::Loss(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn view(&mut self, call: impl FnOnce(&mut NousRuntime, &mut RuntimeCx<'_>, View<'_>)) {
        let (state, board, session) = (self.state.clone(), self.board.clone(), self.session.clone());
        let view = View { session: &session, state: &state, board: &board, current: true };
        self.call(|role, cx| call(role, cx, view));
    }

    pub(super) fn lane(&mut self, lane: Lane, open: bool) {
        self.call(|role, cx| role.lane(cx, lane, open));
    }

    pub(super) fn attach(&mut self) {
        self.view(|role, cx, view| role.attached(cx, view));
    }

    pub(super) fn say_on(&mut self, lane: Lane, line: &str) {
        self.call(|role, cx| role.line(cx, lane, Line::Text(line.to_owned())));
    }

    /// Says a command with id `c` and gives the answer, if it came at once.
    pub(super) fn ask(&mut self, kind: &str, payload: Value) -> Option<Value> {
        self.sent.retain(|(lane, _)| lane.kind() == Lane::EVENTS);
        let line = serde_json::json!({ "v": "1", "id": "c", "type": kind, "payload": payload });
        self.say_on(COMMANDS, &line.to_string());
        self.answers().pop()
    }

    /// Everything on the command connections since it was last looked.
    pub(super) fn answers(&mut self) -> Vec<Value> {
        let lines = self.sent.iter().filter(|(lane, _)| lane.kind() == Lane::MAIN);
        let answers = lines.map(|(_, line)| serde_json::from_str(line).unwrap()).collect();
        self.sent.retain(|(lane, _)| lane.kind() != Lane::MAIN);
        answers
    }

    /// Everything that a subscriber heard since it was last looked.
    pub(super) fn heard(&mut self) -> Vec<Value> {
        let lines = self.sent.iter().filter(|(lane, _)| lane.kind() == Lane::EVENTS);
        let heard = lines.map(|(_, line)| serde_json::from_str(line).unwrap()).collect();
        self.sent.retain(|(lane, _)| lane.kind() != Lane::EVENTS);
        heard
    }

    /// The types of what a subscriber heard.
    pub(super) fn types(&mut self) -> Vec<String> {
        self.heard().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The last command that the hub was given.
    pub(super) fn last(&self) -> &(Ticket, Target, Command) {
        self.wanted.last().expect("a command for the hub")
    }

    pub(super) fn settle(&mut self, with: Result<Receipt, Refusal>) -> Option<Value> {
        let ticket = self.last().0;
        self.sent.retain(|(lane, _)| lane.kind() == Lane::EVENTS);
        self.view(|role, cx, view| role.settled(cx, Some(view), ticket, with));
        self.answers().pop()
    }

    pub(super) fn happen(&mut self, body: Body) {
        let event = Event { seq: self.state.seq.next(), at: Millis(self.now), body };
        self.grammar.check(&event).expect("a grammatical event");
        self.state.fold(&event).expect("an event that follows");
        if event.seq.0 > 1 {
            self.view(|role, cx, view| role.event(cx, view, &event));
        }
    }

    pub(super) fn summary(&self) -> SessionSummary {
        SessionSummary {
            id: self.session.clone(),
            title: String::new(),
            cwd: "/w".into(),
            project: "/w".into(),
            created_at: Millis(0),
            updated_at: Millis(0),
            messages: 0,
            last_prompt: None,
            last_run: None,
            running: false,
            usage: Usage::default(),
        }
    }

    /// Prompts with `wait:false` and gives the run and the answer.
    pub(super) fn prompt(&mut self) -> (RunId, Value) {
        assert_eq!(self.ask("prompt", serde_json::json!({ "text": "hello", "wait": false })), None);
        let run = RunId::mint(&self.ids);
        let receipt = Receipt::Started { session: self.session.clone(), run };
        let answer = self.settle(Ok(receipt)).expect("an answer");
        (run, answer)
    }

    pub(super) fn start(&mut self, run: RunId) -> TurnId {
        self.happen(Body::Run(RunEvent::Started { run }));
        self.turn(run, Cause::Prompt, "hello")
    }

    pub(super) fn turn(&mut self, run: RunId, cause: Cause, text: &str) -> TurnId {
        let turn = TurnId::mint(&self.ids);
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        let message = MessageId::mint(&self.ids);
        let parent = self.state.leaf;
        self.happen(Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::User,
            turn: Some(turn),
            step: None,
        }));
        self.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text.to_owned()) }));
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        turn
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

    pub(super) fn propose(&mut self, message: MessageId, name: &str) -> ToolRunId {
        let tool = ToolRunId::mint(&self.ids);
        self.happen(Body::Tool(ToolEvent::Proposed {
            tool,
            message,
            name: name.to_owned(),
            args: Json::empty(),
        }));
        tool
    }

    pub(super) fn run_tool(&mut self, tool: ToolRunId) {
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

    pub(super) fn end_tool(&mut self, tool: ToolRunId, outcome: ToolOutcome, text: &str) {
        self.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result: ToolResult::text(text) }));
    }

    pub(super) fn end_step(&mut self, step: StepId, message: MessageId) {
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        self.happen(Body::Run(RunEvent::StepEnded {
            step,
            usage: Usage { input: 11, output: 7, ..Usage::default() },
        }));
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        for body in self.state.close_run(outcome) {
            self.happen(body);
        }
    }

    /// A whole run with one text.
    pub(super) fn talk(&mut self, run: RunId, text: &str) {
        let turn = self.start(run);
        let (step, message) = self.step(turn);
        self.delta(message, text);
        self.end_step(step, message);
        self.end(Outcome::Done);
    }

    pub(super) fn leaf(&self) -> EntryId {
        self.state.leaf.expect("a leaf")
    }
}
