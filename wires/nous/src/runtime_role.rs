//! We play the nous core; any number of its clients are connected.
//!
//! The role keeps what is global to a nous server (active session, queue modes, active tools), the order of answers on each
//! connection, which runs are being told, and who waits for the end of one. Commands of one connection are done one after
//! the other; connections do not wait for each other. Nothing that comes in ends a connection.

mod answers;
mod commands;
mod lift;
mod reads;
mod run_names;
mod runs;
mod telling;
mod waiting;

pub(crate) use telling::TOOL_ERROR;

use super::VERSION;
use super::wire::{Event as WireEvent, FlatEvent, Payload};
use answers::why;
use commands::NousMemo;
use domain::command::{Command, QueueCommand, Receipt, Refusal, SessionCommand, Target};
use domain::event::{Body, Event, NoteEvent, QueueEvent, RunEvent};
use domain::ids::{Millis, RunId, SessionId};
use domain::port::Ticket;
use domain::queue::{Mode, QueueKind};
use domain::signal::{Level, Signal};
use rolekit::exchange::{self, Pending, TableRole as _};
use roles::{Answers, Greeting, Lane, Line, RuntimeCx, RuntimeRole, Tickets, TimerKey, View};
use run_names::RunNames;
use runs::Compacting;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use telling::{BareEvent, Telling};
use waiting::Waiting;
use wire::{Rate, encode, time};

/// How long the events of a new run are kept for who subscribes after the answer, as existing clients do.
pub const HOLD: Duration = Duration::from_millis(300);
/// Who subscribed so shortly before a prompt was taken is whoever prompted.
const JUST_NOW_MS: u64 = 1000;
/// Most events that are kept so; past it nobody is waited for.
pub const MAX_HELD: usize = 4096;
/// Most lines that may wait on one connection for the commands before them.
pub const MAX_WAITING_LINES: usize = 256;
/// Most bytes of lines that may wait on one connection.
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of one answer that lists messages or nodes.
pub const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

const HOLD_TIMER: TimerKey = TimerKey(1);

/// The runtime's side of nous, for all connections of a server.
#[derive(Debug, Default)]
pub struct NousRuntime {
    connections: BTreeMap<Lane, Connection>,
    /// Who hears events, and since when; no longer told once it has heard a run to its end.
    subscribers: BTreeMap<Lane, Option<Millis>>,
    pending: Tickets<Pending<(Lane, String), NousMemo>>,
    active: Option<SessionId>,
    modes: Modes,
    /// What `set_active_tools` chose, for sessions to come.
    tools: Option<Vec<String>>,
    runs: RunNames,
    tellings: BTreeMap<SessionId, Telling>,
    waiting: BTreeMap<(SessionId, RunId), Waiting>,
    /// Compactions that are runs of the runtime behind us.
    compacting: BTreeMap<(SessionId, RunId), Compacting>,
    fresh: Option<Fresh>,
    events: u64,
    minted: u64,
}

/// A run that was accepted a moment ago: what was told of it, for who subscribes only after the answer.
#[derive(Debug, Default)]
struct Fresh {
    lines: Vec<String>,
    /// Whoever prompted has heard it. Then a newcomer hears it too while it runs, but never when it is over.
    heard: bool,
}

/// Modes of the whole server; `None` until somebody chose one.
#[derive(Debug, Default)]
struct Modes {
    steer: Option<Mode>,
    follow_up: Option<Mode>,
}

impl Modes {
    fn of(&mut self, kind: QueueKind) -> &mut Option<Mode> {
        match kind {
            QueueKind::Steer => &mut self.steer,
            QueueKind::FollowUp => &mut self.follow_up,
        }
    }
}

#[derive(Debug, Default)]
struct Connection {
    rate: Rate,
    lines: VecDeque<String>,
    bytes: usize,
}

impl NousRuntime {
    /// A role for one server.
    pub fn new() -> NousRuntime {
        NousRuntime::default()
    }

    /// Whether a command of a connection is under way.
    fn is_busy(&self, lane: Lane) -> bool {
        self.pending.values().any(|pending| matches!(&pending.from, Some(((of, _), _)) if *of == lane))
            || self.waiting.values().any(|waiting| waiting.lane == lane)
            || self.compacting.values().any(|compacting| compacting.lane == lane)
    }

    /// Takes the lines that wait on a connection until one of them must itself wait.
    fn pump(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane) {
        while !self.is_busy(lane) {
            let Some(connection) = self.connections.get_mut(&lane) else { return };
            let Some(line) = connection.lines.pop_front() else { return };
            connection.bytes = connection.bytes.saturating_sub(line.len());
            self.command(cx, lane, &line);
        }
    }

    /// Answers the command under way on a connection, if it is still there, and goes on with the next.
    fn answer(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, line: String) {
        if self.connections.contains_key(&lane) {
            cx.send_on(lane, line);
            self.pump(cx, lane);
        }
    }

    /// Makes a session as the server is set.
    fn set(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, command: Command) {
        self.tell_hub(cx, Target::Session(session.clone()), command, NousMemo::Nothing);
    }

    /// The run that this server does, whatever session is active: at most one matters on this wire.
    fn running(&self) -> Option<(&SessionId, &Telling)> {
        let of_active = self.active.as_ref().and_then(|active| self.tellings.get_key_value(active));
        of_active.or_else(|| self.tellings.iter().next())
    }

    /// Tells an event to every subscriber, and keeps it for who comes late to a fresh run.
    fn broadcast(&mut self, cx: &mut RuntimeCx<'_>, at: Millis, (kind, payload): BareEvent) {
        self.events += 1;
        let (id, ts) = (format!("evt-{}", self.events), time::write(at.0));
        let (v, kind) = (VERSION.to_owned(), kind.to_owned());
        let event = WireEvent { v, id: id.clone(), kind, payload, ts: ts.clone() };
        let line = encode(&event).unwrap_or_else(|why| {
            let payload =
                json!({ "code": "internal_error", "message": format!("an event is lost, since {why}") });
            json!({ "v": VERSION, "id": id, "type": "error", "payload": payload, "ts": ts }).to_string()
        });
        if let Some(fresh) = &mut self.fresh {
            if fresh.lines.len() >= MAX_HELD {
                self.fresh = None;
            } else {
                fresh.lines.push(line.clone());
            }
        }
        for lane in self.subscribers.keys() {
            cx.send_on(*lane, line.clone());
        }
    }

    /// Tells what happened in a session's run.
    fn tell(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, at: Millis, body: &Body) {
        let Some(telling) = self.tellings.get_mut(session) else { return };
        let told = telling.hear(&mut self.minted, at, body);
        let (run, turn) = (telling.run, telling.turn());
        for (item, what) in telling.losses() {
            cx.loss(item, what);
        }
        for (kind, payload) in told {
            if let Some(waiting) = self.waiting.get_mut(&(session.clone(), run)) {
                let turn = payload.turn_id.is_some().then_some(turn);
                let payload = Payload { turn_id: None, ..payload.clone() };
                waiting.note(FlatEvent { kind, payload, turn, ts: time::write(at.0) });
            }
            self.broadcast(cx, at, (kind, payload));
        }
    }

    /// Begins to tell a run, once.
    fn begin(&mut self, session: &SessionId, run: RunId) -> String {
        let name = self.runs.give(session, run);
        if self.tellings.get(session).is_none_or(|telling| telling.run != run) {
            self.tellings.insert(session.clone(), Telling::new(run, name.clone()));
        }
        name
    }

    /// A run that was under way before this server saw its session: what it did so far is told first.
    fn catch_up(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let Some(run) = view.state.open_run().map(|run| run.id) else { return };
        if self.tellings.get(view.session).is_some_and(|telling| telling.run == run) {
            return;
        }
        self.begin(view.session, run);
        let missed = self.tellings.get(view.session).map(|telling| telling.missed(view.state));
        for (at, body) in missed.unwrap_or_default() {
            self.tell(cx, view.session, at, &body);
        }
    }

    /// A word for the person, as an event without a turn.
    fn notify(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, level: Level, text: &str) {
        let run_id = self.tellings.get(session).map(|telling| telling.name.clone());
        let payload = Payload { run_id, message: Some(text.to_owned()), ..Payload::default() };
        let event = match level {
            Level::Warning | Level::Error => {
                ("warning", Payload { code: Some("notice".to_owned()), ..payload })
            }
            Level::Info | Level::Success => ("status", payload),
        };
        self.broadcast(cx, cx.now, event);
    }

    fn run_ended(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        run: RunId,
        outcome: &domain::event::Outcome,
    ) {
        self.tellings.remove(session);
        self.subscribers.values_mut().for_each(|came| *came = None);
        if self.fresh.as_ref().is_some_and(|fresh| fresh.heard) {
            self.forget_fresh(cx);
        }
        if let Some(waiting) = self.waiting.remove(&(session.clone(), run)) {
            self.finish(cx, session, waiting, outcome);
        }
    }

    fn finish(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        waiting: Waiting,
        outcome: &domain::event::Outcome,
    ) {
        let (lane, id) = (waiting.lane, waiting.id.clone());
        let line = match waiting.result(session.as_str(), outcome) {
            Ok(payload) => answers::ok(&id, "result", payload),
            Err((message, cause)) => {
                let error = super::wire::ErrorBody { cause, ..why("provider_error", message) };
                answers::error(&id, error)
            }
        };
        self.answer(cx, lane, line);
    }

    /// Somebody may subscribe only after the answer: what happens is kept for a moment.
    fn keep_fresh(&mut self, cx: &mut RuntimeCx<'_>) {
        // A run before this one that nobody heard is over: it must not be told to whoever comes for this one. Who has
        // listened for long or heard a run already came for something else; whoever prompted may still be on the way.
        let since = cx.now.0.saturating_sub(JUST_NOW_MS);
        let heard = self.subscribers.values().flatten().any(|came| came.0 >= since);
        self.fresh = Some(Fresh { lines: Vec::new(), heard });
        cx.timer(HOLD_TIMER, HOLD);
    }

    /// Tells a new subscriber what it has just missed.
    fn welcome(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane) {
        let Some(fresh) = &mut self.fresh else { return };
        fresh.heard = true;
        for line in &fresh.lines {
            cx.send_on(lane, line.clone());
        }
        if self.tellings.is_empty() {
            self.subscribers.insert(lane, None);
            self.forget_fresh(cx);
        }
    }

    fn forget_fresh(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.fresh.take().is_some() {
            cx.cancel_timer(HOLD_TIMER);
        }
    }

    /// Makes a session as the server is set.
    fn apply_settings(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        for kind in [QueueKind::Steer, QueueKind::FollowUp] {
            let has = view.state.queues.mode(kind);
            match *self.modes.of(kind) {
                Some(mode) if mode != has => {
                    self.set(cx, view.session, Command::Queue(QueueCommand::SetMode { kind, mode }));
                }
                Some(_) => {}
                None => *self.modes.of(kind) = Some(has).filter(|mode| *mode != Mode::default()),
            }
        }
        if self.tools.is_some() && self.tools != view.state.settings.tools {
            let tools = self.tools.clone();
            self.set(cx, view.session, Command::Session(SessionCommand::SetTools { tools }));
        }
    }
}

impl RuntimeRole for NousRuntime {
    fn open(&mut self, _cx: &mut RuntimeCx<'_>, _greeting: &Greeting) {}

    fn lane(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, open: bool) {
        match (lane.kind() == Lane::EVENTS, open) {
            (true, true) => {
                self.subscribers.insert(lane, Some(cx.now));
                self.welcome(cx, lane);
            }
            (true, false) => {
                self.subscribers.remove(&lane);
            }
            (false, true) => {
                self.connections.entry(lane).or_default();
            }
            (false, false) => {
                self.connections.remove(&lane);
                self.waiting.retain(|_, waiting| waiting.lane != lane);
                self.compacting.retain(|_, compacting| compacting.lane != lane);
            }
        }
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, line: Line) {
        if lane.kind() == Lane::EVENTS {
            return;
        }
        let connection = self.connections.entry(lane).or_default();
        let full = connection.lines.len() >= MAX_WAITING_LINES || connection.bytes >= MAX_WAITING_BYTES;
        let refusal = if !connection.rate.allow(cx.now.0) {
            Some(why("command_rejected", "rate_limited: too many commands per second; slow down"))
        } else if full {
            Some(why("command_rejected", "too_many_commands: wait for answers before sending more"))
        } else {
            None
        };
        let text = match (refusal, line) {
            // These are answered out of turn: whoever floods a connection must not make us keep its lines.
            (Some(refusal), Line::Text(text)) => {
                let id = lift::decode(&text).map(|asked| asked.id).unwrap_or_default();
                return cx.send_on(lane, answers::error(&id, refusal));
            }
            (Some(refusal), Line::Overlong(_) | Line::Garbled(_)) => {
                return cx.send_on(lane, answers::error("", refusal));
            }
            (None, Line::Text(text)) => text,
            (None, Line::Overlong(_)) => {
                let limit = wire::lines::MAX_LINE;
                let message =
                    format!("invalid_json: the line is longer than {limit} bytes; send less at once");
                return cx.send_on(lane, answers::error("", why("invalid_command", message)));
            }
            (None, Line::Garbled(_)) => {
                let message = "invalid_json: the line is not UTF-8 text or holds a NUL byte";
                return cx.send_on(lane, answers::error("", why("invalid_command", message)));
            }
        };
        connection.bytes += text.len();
        connection.lines.push_back(text);
        self.pump(cx, lane);
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if view.current && !self.looks_at(view.session) {
            self.active = Some(view.session.clone());
        }
        if self.active.as_ref() == Some(view.session) {
            self.apply_settings(cx, view);
        }
        self.catch_up(cx, view);
    }

    fn detached(&mut self, _cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.tellings.remove(session);
        self.active.take_if(|active| active == session);
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        match &event.body {
            Body::Run(RunEvent::Started { run }) => {
                self.begin(view.session, *run);
            }
            Body::Queue(QueueEvent::ModeSet { kind, mode }) if self.active.as_ref() == Some(view.session) => {
                *self.modes.of(*kind) = Some(*mode);
            }
            // Outside of a run nobody tells: what another UI took back is said here.
            Body::Note(NoteEvent::Noticed { level, text, .. })
                if !self.tellings.contains_key(view.session) =>
            {
                self.notify(cx, view.session, *level, text);
            }
            _ => {}
        }
        if let Some(telling) = self.tellings.get_mut(view.session) {
            let queues = &view.state.queues;
            telling.waiting = (queues.steer.len() as u64, queues.follow_up.len() as u64);
        }
        self.tell(cx, view.session, event.at, &event.body);
        if let Body::Run(RunEvent::Ended { run, outcome }) = &event.body {
            self.run_ended(cx, view.session, *run, outcome);
            if let Some(compacting) = self.compacting.remove(&(view.session.clone(), *run)) {
                self.compaction_over(cx, view.session, view.state, *run, compacting, outcome);
            }
        }
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, signal: &Signal) {
        if let Some((level, text)) = cx.words(signal) {
            self.notify(cx, view.session, level, text);
        }
    }

    fn odd(&mut self, cx: &mut RuntimeCx<'_>, what: &str) {
        let (code, message) = (Some("notice".to_owned()), Some(what.to_owned()));
        self.broadcast(cx, cx.now, ("warning", Payload { code, message, ..Payload::default() }));
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        // In a session it is told as what happened there.
        if self.active.is_none() {
            self.odd(cx, &format!("The runtime is gone: {why}"));
        }
    }

    fn settled(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    ) {
        exchange::settle(self, cx, view, ticket, with);
        for lane in self.connections.keys().copied().collect::<Vec<_>>() {
            self.pump(cx, lane);
        }
    }

    fn timer(&mut self, _cx: &mut RuntimeCx<'_>, key: TimerKey) {
        if key == HOLD_TIMER {
            self.fresh = None;
        }
    }

    fn can_answer(&self) -> Answers {
        Answers::NONE
    }
}
