//! A runtime role with the hub played by hand: one session or several, commands that wait for their settlement.

use super::{Link, Sent, follow};
use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::{Body, Event};
use domain::given_server::GivenServer;
use domain::grammar::Grammar;
use domain::ids::{AskId, Ids, Millis, SessionId};
use domain::port::Ticket;
use domain::session::ModelRef;
use domain::signal::{Board, Signal};
use domain::state::State;
use domain::ui_files::{FileAnswer, FileRequestId};
use roles::{Cx, Greeting, Lane, Line, RuntimeCx, RuntimeEffect, RuntimeRole, TimerKey, View};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// When the clock begins.
const BEGIN: Millis = Millis(1_730_000_000_000);

/// A runtime role under test, and the hub that a test plays for it.
pub struct RuntimeBench {
    pub role: Box<dyn RuntimeRole>,
    pub link: Link,
    pub now: Millis,
    pub ids: Ids,
    pub board: Board,
    /// The session in which things happen and which the role is shown.
    pub session: SessionId,
    /// What steps of this session are said to use.
    pub model: Option<ModelRef>,
    sessions: BTreeMap<SessionId, Recorded>,
    wanted: Vec<(Ticket, Target, Command)>,
    /// Commands that the hub has not settled.
    open: BTreeSet<Ticket>,
    /// Questions that the peer cannot be asked.
    pub unanswerable: Vec<AskId>,
    /// Whether the peer watches which sessions are open, and does nothing else.
    pub watching: Option<bool>,
    /// Sessions that the peer may come back to.
    pub kept: Vec<SessionId>,
    /// What the peer said about files.
    pub files: Vec<(FileRequestId, FileAnswer)>,
    /// The MCP servers that the peer brought.
    pub given: Vec<(SessionId, Vec<GivenServer>)>,
}

#[derive(Default)]
struct Recorded {
    state: State,
    grammar: Grammar,
    events: Vec<Event>,
}

impl RuntimeBench {
    /// Opens the link with a role of this type.
    pub fn open(role: impl RuntimeRole + 'static, session: SessionId, greeting: &Greeting) -> RuntimeBench {
        RuntimeBench::of(Box::new(role), session, greeting)
    }

    /// The same with a role of any wire.
    pub fn of(role: Box<dyn RuntimeRole>, session: SessionId, greeting: &Greeting) -> RuntimeBench {
        let mut bench = RuntimeBench {
            role,
            link: Link::default(),
            now: BEGIN,
            ids: Ids::default(),
            board: Board::default(),
            session,
            model: None,
            sessions: BTreeMap::new(),
            wanted: Vec::new(),
            open: BTreeSet::new(),
            files: Vec::new(),
            unanswerable: Vec::new(),
            kept: Vec::new(),
            watching: None,
            given: Vec::new(),
        };
        bench.call(|role, cx| role.open(cx, greeting));
        bench
    }

    /// The runtime begins anew behind the same sessions: nothing is under way.
    pub fn restart(&mut self, role: impl RuntimeRole + 'static, greeting: &Greeting) {
        self.role = Box::new(role);
        self.link = Link::default();
        self.open.clear();
        self.wanted.clear();
        self.call(|role, cx| role.open(cx, greeting));
    }

    /// Calls the role and takes what it wants done.
    pub fn call(&mut self, call: impl FnOnce(&mut dyn RuntimeRole, &mut RuntimeCx<'_>)) {
        let mut effects = Vec::new();
        call(self.role.as_mut(), &mut Cx { now: self.now, effects: &mut effects });
        for effect in effects {
            match effect {
                RuntimeEffect::Command { ticket, target, command } => {
                    assert!(self.open.insert(ticket), "{ticket:?} was given twice");
                    self.wanted.push((ticket, target, command));
                }
                RuntimeEffect::FileDone { id, with } => self.files.push((id, with)),
                RuntimeEffect::CannotAnswer { ask, .. } => self.unanswerable.push(ask),
                RuntimeEffect::Keep { session } => self.kept.push(session),
                RuntimeEffect::WatchFleet { alone } => self.watching = Some(alone),
                RuntimeEffect::Servers { session, servers } => self.given.push((session, servers)),
                RuntimeEffect::Link(effect) => self.link.take(self.now, effect),
            }
        }
    }

    /// As [`RuntimeBench::call`], with the session as it stands.
    pub fn view(&mut self, call: impl FnOnce(&mut dyn RuntimeRole, &mut RuntimeCx<'_>, View<'_>)) {
        let session = self.session.clone();
        let recorded = self.sessions.remove(&session).unwrap_or_default();
        let board = self.board.clone();
        let view = View { session: &session, state: &recorded.state, board: &board, current: true };
        self.call(|role, cx| call(role, cx, view));
        self.sessions.insert(session, recorded);
    }

    /// The peer writes a line on the main lane.
    pub fn say(&mut self, line: &str) {
        self.say_on(Lane::MAIN, line);
    }

    /// The peer writes a line on any lane.
    pub fn say_on(&mut self, lane: Lane, line: &str) {
        self.call(|role, cx| role.line(cx, lane, Line::Text(line.to_owned())));
    }

    /// A line as the framing saw it, on the main lane.
    pub fn line(&mut self, line: Line) {
        self.call(|role, cx| role.line(cx, Lane::MAIN, line));
    }

    /// The hub shows the role the session.
    pub fn attach(&mut self) {
        self.view(|role, cx, view| role.attached(cx, view));
    }

    /// The hub shows the role a session no more.
    pub fn detach(&mut self, session: &SessionId) {
        self.call(|role, cx| role.detached(cx, session));
    }

    /// A one-way word, which also stays on the board if it lasts.
    pub fn signal(&mut self, signal: &Signal) {
        self.board.take(signal);
        self.view(|role, cx, view| role.signal(cx, view, signal));
    }

    /// The hub settles a command, once.
    pub fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        assert!(self.open.remove(&ticket), "{ticket:?} does not wait for a settlement");
        self.view(|role, cx, view| role.settled(cx, Some(view), ticket, with));
    }

    /// Lets time pass; timers fire when they are due.
    pub fn wait(&mut self, millis: u64) {
        let end = Millis(self.now.0 + millis);
        while let Some((key, at)) = self.link.due(end) {
            self.now = at.max(self.now);
            self.call(|role, cx| role.timer(cx, key));
        }
        self.now = end;
    }

    /// A timer runs out now.
    pub fn fire(&mut self, key: TimerKey) {
        self.link.fired(key);
        self.call(|role, cx| role.timer(cx, key));
    }

    /// Something happens in the session and is told.
    pub fn happen(&mut self, body: Body) {
        let event = self.miss(body);
        self.tell(&event);
    }

    /// Something happens and is told, if it may happen now; whatever is no lawful event is passed over.
    pub fn happen_if_lawful(&mut self, body: Body) {
        let recorded = self.sessions.entry(self.session.clone()).or_default();
        let event = Event { seq: recorded.state.seq.next(), at: self.now, body };
        let lawful =
            recorded.grammar.clone().check(&event).is_ok() && recorded.state.clone().fold(&event).is_ok();
        if lawful {
            self.happen(event.body);
        }
    }

    /// Something happens and is not told yet: the link lags, or nobody is attached.
    pub fn miss(&mut self, body: Body) -> Event {
        let recorded = self.sessions.entry(self.session.clone()).or_default();
        let event = Event { seq: recorded.state.seq.next(), at: self.now, body };
        follow(&mut recorded.state, &mut recorded.grammar, &event);
        recorded.events.push(event.clone());
        event
    }

    /// Tells the role what happened before.
    pub fn tell(&mut self, event: &Event) {
        self.view(|role, cx, view| role.event(cx, view, event));
    }

    /// The session as it stands now.
    pub fn state(&mut self) -> &State {
        &self.sessions.entry(self.session.clone()).or_default().state
    }

    /// Everything that happened in the session.
    pub fn events(&self) -> &[Event] {
        self.sessions.get(&self.session).map_or(&[], |recorded| &recorded.events)
    }

    /// The lines that were sent since the last look.
    pub fn lines(&mut self) -> Vec<String> {
        self.link.outgoing(None).into_iter().map(|sent| sent.line).collect()
    }

    /// As [`RuntimeBench::lines`], as values.
    pub fn sent(&mut self) -> Vec<Value> {
        self.link.outgoing(None).iter().map(Sent::json).collect()
    }

    /// The commands that were handed over since the last look.
    pub fn commands(&mut self) -> Vec<(Ticket, Target, Command)> {
        std::mem::take(&mut self.wanted)
    }

    /// The only command that was handed over.
    pub fn command(&mut self) -> (Ticket, Target, Command) {
        let mut commands = self.commands();
        assert_eq!(commands.len(), 1, "{commands:?}");
        commands.remove(0)
    }

    /// Says a line, takes the one command that follows and settles it.
    pub fn asked(&mut self, line: &str, with: Result<Receipt, Refusal>) -> (Target, Command) {
        self.say(line);
        let (ticket, target, command) = self.command();
        self.settle(ticket, with);
        (target, command)
    }

    /// Looks at nothing of what was said so far.
    pub fn forget(&mut self) {
        self.link.forget();
        self.wanted.clear();
    }

    /// Whether nothing was said or wanted since the last look.
    pub fn is_silent(&self) -> bool {
        self.link.is_silent() && self.wanted.is_empty()
    }
}
