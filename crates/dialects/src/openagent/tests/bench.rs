//! Stages for the roles: a runtime role with sessions of its own, and a UI role with its canon.

use super::super::{OpenagentRuntime, OpenagentUi};
use domain::ask::{ActionDigest, Ask, AskKind, Assessment, Consent, Preview, Risk};
use domain::canon::Canon;
use domain::command::{Command, Receipt, Refusal, RunCommand, Target};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::fact::Fact;
use domain::grammar::Grammar;
use domain::ids::{AskId, Ids, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::Ticket;
use domain::session::SessionSummary;
use domain::signal::{Board, Signal};
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{
    Cx, Greeting, Hello, Lane, Line, LinkEffect, RoleEffect, RuntimeCx, RuntimeEffect, RuntimeRole, Seen,
    TimerKey, UiEffect, UiRole, View,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const HOME: &str = "sess-0123abcd";
pub(super) const SIDE: &str = "sess-5678efab";
pub(super) const START: u64 = 1_730_000_000_000;

pub(super) fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

/// A runtime role and the sessions that it sees.
pub(super) struct RuntimeBench {
    pub(super) role: OpenagentRuntime,
    pub(super) states: BTreeMap<SessionId, State>,
    pub(super) now: Millis,
    ids: Ids,
    board: Board,
    pub(super) effects: Vec<RuntimeEffect>,
}

impl RuntimeBench {
    pub(super) fn new() -> RuntimeBench {
        let mut bench = RuntimeBench {
            role: OpenagentRuntime::new(),
            states: BTreeMap::new(),
            now: Millis(START),
            ids: Ids::default(),
            board: Board::default(),
            effects: Vec::new(),
        };
        let greeting = Greeting {
            version: "1.2.3".into(),
            cwd: "/p".into(),
            model: Some(("offline".into(), "echo".into())),
            options: Vec::new(),
        };
        bench.role.open(&mut Cx { now: bench.now, effects: &mut bench.effects }, &greeting);
        bench
    }

    /// A client that follows the document.
    pub(super) fn by_the_book() -> RuntimeBench {
        RuntimeBench::greeted(
            r#"{"protocol_version":"1.0.0","client_info":{"name":"seedling","version":"1.0.0"},"capabilities":
               ["streaming","blocks","syntax_highlighting","tool_approval","session_persistence"]}"#,
        )
    }

    /// The existing client.
    pub(super) fn terminal() -> RuntimeBench {
        RuntimeBench::greeted(
            r#"{"protocol_version":"1.0.0","client_info":{"name":"openagent-terminal","version":"0.1.0"},
               "terminal_size":{"cols":80,"rows":24},"capabilities":["streaming","blocks","syntax_highlighting"]}"#,
        )
    }

    pub(super) fn greeted(params: &str) -> RuntimeBench {
        let mut bench = RuntimeBench::new();
        bench.say(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#)
                .replace('\n', " "),
        );
        assert_eq!(bench.sent()[0]["result"]["status"], "ready");
        bench
    }

    pub(super) fn say(&mut self, line: &str) {
        self.line(Line::Text(line.to_owned()));
    }

    pub(super) fn line(&mut self, line: Line) {
        self.role.line(&mut Cx { now: self.now, effects: &mut self.effects }, Lane::MAIN, line);
    }

    fn with_view(
        &mut self,
        name: &str,
        call: impl FnOnce(&mut OpenagentRuntime, &mut RuntimeCx<'_>, View<'_>),
    ) {
        let session = session(name);
        let mut effects = std::mem::take(&mut self.effects);
        let state = self.states.entry(session.clone()).or_default();
        let view = View { session: &session, state, board: &self.board, current: true };
        call(&mut self.role, &mut Cx { now: self.now, effects: &mut effects }, view);
        self.effects = effects;
    }

    pub(super) fn attach(&mut self, name: &str) {
        self.with_view(name, |role, cx, view| role.attached(cx, view));
    }

    /// Folds an event without telling it: the link lags.
    pub(super) fn fold(&mut self, name: &str, body: Body) -> Event {
        let state = self.states.entry(session(name)).or_default();
        let event = Event { seq: state.seq.next(), at: self.now, body };
        state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
        event
    }

    pub(super) fn tell(&mut self, name: &str, event: &Event) {
        self.with_view(name, |role, cx, view| role.event(cx, view, event));
    }

    pub(super) fn happen(&mut self, name: &str, body: Body) {
        let event = self.fold(name, body);
        self.tell(name, &event);
    }

    pub(super) fn signal(&mut self, signal: &Signal) {
        self.with_view(HOME, |role, cx, view| role.signal(cx, view, signal));
    }

    pub(super) fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.with_view(HOME, |role, cx, view| role.settled(cx, Some(view), ticket, with));
    }

    /// What was sent since the last look.
    pub(super) fn sent(&mut self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The same, as it stands on the wire.
    pub(super) fn lines(&mut self) -> Vec<String> {
        take_lines(&mut self.effects)
    }

    /// The commands that were handed over since the last look.
    pub(super) fn commands(&mut self) -> Vec<(Ticket, Target, Command)> {
        let mut commands = Vec::new();
        self.effects.retain(|effect| match effect {
            RuntimeEffect::Command { ticket, target, command } => {
                commands.push((*ticket, target.clone(), command.clone()));
                false
            }
            _ => true,
        });
        commands
    }

    pub(super) fn command(&mut self) -> (Ticket, Target, Command) {
        let commands = self.commands();
        assert_eq!(commands.len(), 1, "{commands:?}");
        commands.into_iter().next().unwrap()
    }

    /// Asks, and lets the run begin at home; gives the run.
    pub(super) fn query(&mut self) -> RunId {
        self.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go"}}"#);
        let (ticket, _, command) = self.command();
        assert!(matches!(command, Command::Run(RunCommand::Prompt { .. })), "{command:?}");
        self.attach(HOME);
        self.start(HOME, ticket)
    }

    /// Lets the run of a prompt begin.
    pub(super) fn start(&mut self, name: &str, ticket: Ticket) -> RunId {
        let run = RunId::mint(&self.ids);
        self.settle(ticket, Ok(Receipt::Started { session: session(name), run }));
        self.begin(name, run);
        run
    }

    pub(super) fn begin(&mut self, name: &str, run: RunId) {
        self.happen(name, Body::Run(RunEvent::Started { run }));
        let turn = TurnId::mint(&self.ids);
        self.happen(name, Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        let message = self.message(name, Role::User, None);
        self.happen(name, Body::Message(MessageEvent::PartAdded { message, part: Part::Text("go".into()) }));
        self.happen(name, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }

    pub(super) fn message(&mut self, name: &str, role: Role, step: Option<StepId>) -> MessageId {
        let message = MessageId::mint(&self.ids);
        let state = &self.states[&session(name)];
        let turn = state.open_run().and_then(|run| run.open_turn()).map(|turn| turn.id);
        let parent = state.leaf;
        self.happen(name, Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
        message
    }

    /// A step with its message open.
    pub(super) fn answer(&mut self, name: &str) -> (StepId, MessageId) {
        let turn = self.states[&session(name)].open_run().unwrap().open_turn().unwrap().id;
        let step = StepId::mint(&self.ids);
        let model = Some(domain::session::ModelRef { provider: "offline".into(), name: "echo".into() });
        self.happen(name, Body::Run(RunEvent::StepStarted { turn, step, model }));
        (step, self.message(name, Role::Assistant, Some(step)))
    }

    pub(super) fn delta(&mut self, name: &str, message: MessageId, text: &str) {
        self.happen(
            name,
            Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: text.into() }),
        );
    }

    pub(super) fn propose(&mut self, message: MessageId, tool: &str, args: &str) -> ToolRunId {
        let id = ToolRunId::mint(&self.ids);
        let (name, args) = (tool.to_owned(), Json::verbatim(args));
        self.happen(HOME, Body::Tool(ToolEvent::Proposed { tool: id, message, name, args }));
        id
    }

    pub(super) fn ask(&mut self, tool: ToolRunId, run: RunId, risk: Risk) -> AskId {
        let id = AskId::mint(&self.ids);
        let deadline = Some(Millis(self.now.0 + 30_000));
        self.happen(HOME, Body::Ask(AskEvent::Opened(consent_ask(id, tool, run, risk, deadline))));
        id
    }

    pub(super) fn run_tool(&mut self, tool: ToolRunId, outcome: ToolOutcome, result: ToolResult) {
        let decision = Decision {
            allowed: true,
            by: Decider::Policy,
            scope: domain::ask::Scope::Once,
            reason: None,
            digest: None,
        };
        self.happen(HOME, Body::Tool(ToolEvent::Decided { tool, decision }));
        self.happen(HOME, Body::Tool(ToolEvent::Started { tool }));
        self.happen(HOME, Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    }

    /// Closes what is open and ends the run.
    pub(super) fn end(&mut self, name: &str, outcome: Outcome) {
        let bodies = self.states[&session(name)].close_run(outcome);
        for body in bodies {
            self.happen(name, body);
        }
    }

    pub(super) fn end_step(&mut self, name: &str, step: StepId, message: MessageId, usage: Usage) {
        self.happen(name, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        self.happen(name, Body::Run(RunEvent::StepEnded { step, usage }));
    }
}

pub(super) fn consent_ask(
    id: AskId,
    tool: ToolRunId,
    run: RunId,
    risk: Risk,
    deadline: Option<Millis>,
) -> Ask {
    let consent = Consent {
        tool,
        name: "write".into(),
        args: Json::verbatim(r#"{"path":"a.rs","content":"x"}"#),
        preview: Some(Preview::Diff { path: "a.rs".into(), text: "--- a\n+++ b\n".into() }),
        assessment: Assessment { risk, reasons: vec!["changes a file".into()], reversible: true },
        digest: ActionDigest("d".into()),
        rule: Some("write in this project".into()),
        takes_reason: true,
    };
    Ask {
        id,
        run: Some(run),
        title: "Write a.rs".into(),
        kind: AskKind::Consent(Box::new(consent)),
        deadline,
    }
}

pub(super) fn summary(name: &str) -> SessionSummary {
    SessionSummary {
        id: session(name),
        title: "a title".into(),
        cwd: "/p".into(),
        project: "/p".into(),
        created_at: Millis(START),
        updated_at: Millis(START + 1000),
        messages: 2,
        last_prompt: None,
        last_run: None,
        running: false,
        usage: Usage { input: 10, output: 5, ..Usage::default() },
    }
}

fn take_lines<E: RoleEffect>(effects: &mut Vec<E>) -> Vec<String> {
    let mut lines = Vec::new();
    effects.retain(|effect| match effect.link() {
        Some(LinkEffect::Send { line, .. }) => {
            lines.push(line.clone());
            false
        }
        _ => true,
    });
    lines
}

/// Notifications in short: the method and what of the params is asked for.
pub(super) fn methods(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| line["method"].as_str().unwrap_or("response").to_owned()).collect()
}

/// A UI role and the session that its canon makes.
pub(super) struct UiBench {
    pub(super) role: OpenagentUi,
    canon: Canon,
    pub(super) state: State,
    grammar: Grammar,
    pub(super) now: Millis,
    pub(super) events: Vec<Event>,
    pub(super) effects: Vec<UiEffect>,
    next_ticket: u64,
}

impl UiBench {
    pub(super) fn new() -> UiBench {
        let mut bench = UiBench {
            role: OpenagentUi::new(),
            canon: Canon::new(Ids::default(), &State::new()),
            state: State::new(),
            grammar: Grammar::new(),
            now: Millis(START),
            events: Vec::new(),
            effects: Vec::new(),
            next_ticket: 0,
        };
        let hello = Hello { version: "1.2.3".into(), cwd: "/p".into(), size: Some((100, 30)), session: None };
        bench.role.open(&mut Cx { now: bench.now, effects: &mut bench.effects }, &hello);
        bench
    }

    /// In front of a backend that follows the document.
    pub(super) fn by_the_book() -> UiBench {
        UiBench::greeted(
            r#"{"status":"ready","server_info":{"name":"openagent","version":"0.1.3"},"capabilities":["streaming"],
               "models":[{"name":"codellama-7b","type":"code","loaded":true},{"name":"mistral-7b","type":"chat","loaded":false}]}"#,
        )
    }

    /// In front of the existing backend.
    pub(super) fn existing() -> UiBench {
        UiBench::greeted(
            r#"{"status":"ready","server_info":{"name":"openagent-terminal-backend","version":"0.1.0"},
               "capabilities":["streaming","blocks","tool_execution"]}"#,
        )
    }

    fn greeted(result: &str) -> UiBench {
        let mut bench = UiBench::new();
        bench.sent();
        bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).replace('\n', " "));
        assert!(bench.role.abilities().is_some());
        bench.effects.clear();
        bench
    }

    pub(super) fn hear(&mut self, line: &str) {
        let seen = Seen { state: &self.state, names: self.canon.names() };
        let mut effects = Vec::new();
        self.role.line(
            &mut Cx { now: self.now, effects: &mut effects },
            seen,
            Lane::MAIN,
            Line::Text(line.into()),
        );
        self.perform(effects);
    }

    pub(super) fn command(&mut self, command: Command) -> Ticket {
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        let seen = Seen { state: &self.state, names: self.canon.names() };
        let mut effects = Vec::new();
        self.role.command(&mut Cx { now: self.now, effects: &mut effects }, seen, ticket, command);
        self.perform(effects);
        ticket
    }

    pub(super) fn timer(&mut self, key: u64) {
        let seen = Seen { state: &self.state, names: self.canon.names() };
        let mut effects = Vec::new();
        self.role.timer(&mut Cx { now: self.now, effects: &mut effects }, seen, TimerKey(key));
        self.perform(effects);
    }

    pub(super) fn close(&mut self) {
        let seen = Seen { state: &self.state, names: self.canon.names() };
        let mut effects = Vec::new();
        self.role.closed(&mut Cx { now: self.now, effects: &mut effects }, seen);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<UiEffect>) {
        for effect in effects {
            match effect {
                UiEffect::Fact(fact) => self.fact(fact),
                effect => self.effects.push(effect),
            }
        }
    }

    fn fact(&mut self, fact: Fact) {
        let bodies = self.canon.take(self.now, fact);
        self.happen(bodies);
    }

    fn happen(&mut self, bodies: Vec<Body>) {
        for body in bodies {
            let event = Event { seq: self.state.seq.next(), at: self.now, body };
            self.grammar.check(&event).unwrap_or_else(|why| panic!("{why}\n{:#?}", self.events));
            self.state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
            self.events.push(event);
        }
    }

    /// The person answers the open ask, as the hub does it.
    pub(super) fn answer(&mut self, answer: domain::ask::Answer) {
        let ask = self.state.asks[0].id;
        let closing = domain::ask::Closing::Answered { answer: answer.clone(), by: None };
        let mut bodies = vec![Body::Ask(AskEvent::Closed { ask, closing: closing.clone() })];
        bodies.extend(self.canon.ask_closed(ask, &closing));
        self.happen(bodies);
        self.command(Command::Answer { ask, answer });
    }

    pub(super) fn sent(&mut self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The same, as it stands on the wire.
    pub(super) fn lines(&mut self) -> Vec<String> {
        take_lines(&mut self.effects)
    }

    pub(super) fn settled(&mut self, wanted: Ticket) -> Option<Result<Receipt, Refusal>> {
        let at = self
            .effects
            .iter()
            .position(|e| matches!(e, UiEffect::Settle { ticket, .. } if *ticket == wanted))?;
        match self.effects.remove(at) {
            UiEffect::Settle { with, .. } => Some(with),
            _ => None,
        }
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.state.runs.last().and_then(|run| run.ended.clone()).map(|(_, outcome)| outcome)
    }

    /// All that the model said.
    pub(super) fn text(&self) -> String {
        let messages = self.state.entries.values().filter_map(|entry| match &entry.kind {
            domain::state::EntryKind::Message(m) if m.role == Role::Assistant => Some(m.text()),
            _ => None,
        });
        messages.collect()
    }

    /// Asks, and gives the query its name.
    pub(super) fn query(&mut self) -> Ticket {
        let input = domain::content::Input::text("go");
        let ticket = self.command(Command::Run(RunCommand::Prompt {
            input,
            options: domain::command::PromptOptions::default(),
        }));
        let id = self.sent()[0]["id"].clone();
        self.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"query_id":"q-9","status":"processing"}}}}"#
        ));
        ticket
    }
}
