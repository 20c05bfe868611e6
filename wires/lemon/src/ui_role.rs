//! We play a lemon client; a lemon server is at the other end, usually a child process.
//!
//! The server speaks first (`ready`) and acknowledges almost nothing, so a command is settled by the first line that can only come of
//! it: an answer of its type, an `error`, the beginning of a run. Servers of the first kind know one nameless session; later ones
//! several, of which we follow the active one. Lines that are no JSON are counted and passed over: the existing server logs to stdout.

mod commands;
mod hearing;
mod sessions;

use super::wire::event::{Event, EventLine};
use super::wire::frame::{ActiveSession, ModelId, Ready, SessionStarted};
use super::wire::ui::{Method, UiRequest};
use super::wire::{self, Frame, StartSession};
use super::{lift, lower};
use ::wire::encode;
use commands::{UnsettledCommand, Wanted};
use domain::command::{Command, Refusal, RefusalKind};
use domain::event::{Failure, Outcome};
use domain::fact::{Fact, Said};
use domain::ids::Millis;
use domain::port::{Abilities, Ticket};
use domain::signal::{Level, Signal};
use hearing::Hearing;
use lift::AnswerForm;
use rolekit::first_line;
use rolekit::start::{Start, Waits};
use roles::{
    Drift, HANDSHAKE_TIMEOUT, Hello, KNOCK_AFTER, Lane, Line, Past, Reason, Seen, TimerKey, UiCx, UiRole,
};
use sessions::{KnownSessions, is_same, known_as};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The exit code by which a lemon server asks to be started again.
pub const EXIT_RESTART: i32 = 75;
/// Most commands that wait for the handshake or for their answer.
const MAX_WAITING: usize = 256;
/// Most questions that wait for us.
const MAX_ASKED: usize = 256;
/// Longest question: what can be chosen is kept until it is answered.
const MAX_QUESTION: usize = 256 * 1024;
/// A question waits so long at a server that does not say so.
const QUESTION_MS: u64 = 30_000;
/// Most sessions whose models are remembered.
const MAX_MODELS: usize = 1_024;
const HANDSHAKE: TimerKey = TimerKey(1);
const KNOCK: TimerKey = TimerKey(2);
/// By which a silent server is asked whether it is there: a ping, which a program of JSON-RPC has to answer as well.
const KNOCK_LINE: &str = r#"{"type":"ping","jsonrpc":"2.0","id":"knock","method":"ping"}"#;

/// How far we are with the server.
#[derive(Debug, Default, PartialEq, Eq)]
enum Handshake {
    /// It has not said `ready`.
    #[default]
    Greeting,
    /// The session that the person named is looked for in its lists.
    Looking(String),
    /// The session that the person named is to be in front.
    Activating { id: String, named: String },
    /// It has no session yet; one was asked for.
    Starting,
    /// It tells the past of the session.
    Telling,
    /// It can be spoken with.
    Up,
}

/// The UI's side of lemon.
#[derive(Debug, Default)]
pub struct LemonUi {
    handshake: Handshake,
    waits: Start,
    cwd: String,
    wanted: Option<Arc<str>>,
    /// The person was in that session before: where the server has forgotten it, a new one begins.
    goes_back: bool,
    /// Sessions in which something was said since they were saved.
    unsaved: BTreeSet<Option<String>>,
    /// Whether the server knows several sessions.
    sessions: bool,
    asks: bool,
    model: Option<ModelId<'static>>,
    /// The session that we follow, by the server's id; `None` when it has no names for them.
    session: Option<String>,
    next_seq: Option<u64>,
    hearing: Hearing,
    asked: BTreeMap<String, AnswerForm>,
    /// Commands that came before the handshake was over.
    waiting: VecDeque<(Ticket, Command)>,
    pending: VecDeque<UnsettledCommand>,
    last_number: u64,
    /// The session that is being opened, with its folder, while its past is told.
    arriving: Option<(String, String)>,
    /// What we said last, until its run begins.
    said: Option<String>,
    /// A question told that the run of our prompt goes on; its beginning was not said yet.
    presumed: bool,
    /// Its sessions as it last told them.
    known: KnownSessions,
    /// The models of its sessions, by their ids, as far as they were told.
    models: BTreeMap<String, ModelId<'static>>,
}

impl LemonUi {
    /// A role for one link.
    pub fn new() -> LemonUi {
        LemonUi::default()
    }

    fn send(&self, cx: &mut UiCx<'_>, line: &wire::Command) {
        match encode(line) {
            Ok(line) => cx.send(line),
            Err(why) => {
                let text = format!("A command could not be sent: {why}");
                cx.signal(Signal::Notify { level: Level::Error, text });
            }
        }
    }

    fn ready(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ready: Ready<'static>) {
        if self.handshake != Handshake::Greeting {
            // A server that starts anew says it again: whatever was open there is gone.
            self.hearing.say_prompt(cx);
            cx.fact(Fact::new(Said::Lost));
            self.hearing.forget();
            self.next_seq = None;
            self.presumed = false;
            self.asked.clear();
            self.settle_lost(cx);
            let text = "The runtime has started again; its sessions are closed.".to_owned();
            cx.signal(Signal::Notify { level: Level::Warning, text });
        }
        cx.cancel_timer(HANDSHAKE);
        cx.cancel_timer(KNOCK);
        self.sessions = ready.active_session_id.is_some() || ready.primary_session_id.is_some();
        self.asks = ready.ui.unwrap_or(true);
        let session = ready.active_session_id.flatten().or(ready.primary_session_id.flatten());
        self.session = session.map(Into::into);
        if let Some(id) = self.session.clone() {
            self.learn_model(&id, &ready.model);
        }
        self.tell_model(cx, ready.model);
        let history = ready.history;
        match (self.sessions, self.wanted.take(), &self.session) {
            (true, Some(wanted), Some(active)) if is_same(&wanted, active) => {
                self.at_session(cx, seen, history);
            }
            (true, Some(wanted), _) => self.look_for(cx, &wanted),
            (false, Some(wanted), _) => {
                let why = format!("this server has one session, without a name: it cannot go to {wanted}");
                self.give_up(cx, why);
            }
            (true, None, None) => self.begin_here(cx),
            (true, None, Some(_)) | (false, None, _) => self.at_session(cx, seen, history),
        }
    }

    /// Asks for the session of the handshake.
    fn begin_here(&mut self, cx: &mut UiCx<'_>) {
        let cwd = Some(self.cwd.clone()).filter(|cwd| !cwd.is_empty());
        self.begin_session(cx, StartSession { cwd, ..StartSession::default() });
    }

    fn begin_session(&mut self, cx: &mut UiCx<'_>, start: StartSession) {
        self.handshake = Handshake::Starting;
        self.send(cx, &wire::Command::StartSession(start));
        cx.timer(HANDSHAKE, HANDSHAKE_TIMEOUT);
    }

    /// The session is there. If its past follows, what our side wants waits for the end of that: it would be taken for its answer.
    fn at_session(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, history: bool) {
        if history {
            self.handshake = Handshake::Telling;
            cx.timer(HANDSHAKE, HANDSHAKE_TIMEOUT);
        } else {
            cx.cancel_timer(HANDSHAKE);
            self.up(cx, seen);
        }
    }

    /// Whoever waits for an answer will not get it.
    fn settle_lost(&mut self, cx: &mut UiCx<'_>) {
        self.arriving = None;
        for pending in std::mem::take(&mut self.pending) {
            cx.cancel_timer(pending.key);
            cx.settle(pending.ticket, Err(lost()));
        }
    }

    /// The handshake is over: what waited goes out.
    fn up(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>) {
        self.handshake = Handshake::Up;
        if let Some((id, cwd)) = self.arriving.take() {
            self.settle_session(cx, &id, cwd);
        }
        for (ticket, command) in std::mem::take(&mut self.waiting) {
            self.want(cx, seen, ticket, command);
        }
    }

    fn learn_model(&mut self, session: &str, model: &ModelId<'static>) {
        if *model != ModelId::default() && self.models.len() < MAX_MODELS {
            self.models.insert(session.to_owned(), model.clone());
        }
    }

    fn tell_model(&mut self, cx: &mut UiCx<'_>, model: ModelId<'static>) {
        if model == ModelId::default() || model == lower::NO_MODEL || self.model.as_ref() == Some(&model) {
            return;
        }
        cx.fact(Fact::new(Said::Model(lift::model(&model))));
        self.model = Some(model);
    }

    fn event(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, said: EventLine<'_>, line: &str) {
        let EventLine { session_id, event_seq, event } = said;
        let others = matches!((&session_id, &self.session), (Some(of), Some(ours)) if of != ours);
        if others {
            // A session in the background goes on without us; it is read when it is opened.
            return;
        }
        if let Some(seq) = event_seq {
            let gap = self.next_seq.is_some_and(|next| next < seq);
            if gap {
                cx.drift(Drift::new("event_seq", "events are missing before this one", line));
            }
            self.next_seq = Some(seq.saturating_add(1));
        }
        let (mut prompted, begins) = (None, matches!(event, Event::AgentStart(_)));
        if begins {
            let is_ours = std::mem::take(&mut self.presumed) | self.settle_prompt(cx);
            prompted = self.said.take().filter(|_| is_ours);
        }
        let over = matches!(event, Event::AgentEnd(_));
        self.hearing.hear(cx, event, line);
        if begins {
            self.hearing.prompted(prompted);
        }
        if self.handshake == Handshake::Telling && over {
            cx.cancel_timer(HANDSHAKE);
            self.up(cx, seen);
        }
    }

    fn asked(&mut self, cx: &mut UiCx<'_>, request: UiRequest<'_>, line: &str) {
        let UiRequest { id, method, params } = request;
        let told = params.opts.deadline_ms;
        let question = lift::question(&method, &id, params)
            .filter(|_| self.asked.len() < MAX_ASKED && line.len() <= MAX_QUESTION);
        let Some((title, kind, asked)) = question else {
            let method = match method {
                Method::Select => "select",
                Method::Confirm => "confirm",
                Method::Input => "input",
                Method::Editor => "editor",
                Method::Other(ref other) => other,
            };
            cx.drift(Drift::new("ui_request", format!("cannot ask {method}"), line));
            let error = Some(Some(format!("this UI cannot ask {method}").into()));
            let (id, result) = (id.into_owned(), Some(None));
            return self.send(cx, &wire::Command::UiResponse { id, result, error });
        };
        let ask = Arc::from(&*id);
        self.asked.insert(id.into_owned(), asked);
        // Questions and events come from two processes of the server: one that comes while our prompt waits is of its run, so that
        // who stops the run answers it too.
        self.presumed |= self.settle_prompt(cx);
        let deadline = told.unwrap_or(Some(QUESTION_MS));
        let deadline = deadline.map(|wait| Millis(cx.now.0.saturating_add(wait)));
        cx.fact(Fact::new(Said::AskOpened { ask, title, kind, deadline }));
    }

    /// A session is there: the one of the handshake, or one that we asked for.
    fn session_started(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, started: SessionStarted<'static>) {
        let id = started.session_id.into_owned();
        self.await_session(&id);
        let ours = self.handshake == Handshake::Starting
            || self.pending.iter().any(|pending| pending.wanted == Wanted::Session);
        if !ours || id.is_empty() {
            return;
        }
        self.learn_model(&id, &started.model);
        self.hearing.forget();
        (self.session, self.next_seq) = (Some(id.clone()), None);
        self.send(cx, &wire::Command::SetActiveSession { session_id: Some(id.clone()) });
        if self.handshake != Handshake::Starting {
            let pending = self.pending.iter().find(|pending| pending.wanted == Wanted::Session);
            if let Some(pending) = pending {
                // From here on the end of the past is waited for.
                cx.cancel_timer(pending.key);
            }
            self.arriving = Some((id, started.cwd.into_owned()));
        }
        // Another session has to hear of the model too, also when it is the same.
        self.model = None;
        self.tell_model(cx, started.model);
        self.at_session(cx, seen, started.history);
    }

    /// A server that opens the session which we only wanted in front says so first; its past may follow.
    fn await_session(&mut self, id: &str) {
        if matches!(&self.handshake, Handshake::Activating { id: wanted, .. } if is_same(wanted, id)) {
            self.handshake = Handshake::Starting;
        }
        for pending in &mut self.pending {
            if matches!(&pending.wanted, Wanted::Active(wanted) if is_same(wanted, id)) {
                pending.wanted = Wanted::Session;
            }
        }
    }

    /// The server changed which session is active: by our wish, or because the one we followed is closed.
    fn active_session(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, said: ActiveSession<'_>) {
        let awaited = |wanted: &Wanted, id: &str| matches!(wanted, Wanted::Active(of) if is_same(of, id));
        match said.session_id.map(Cow::into_owned) {
            Some(id) if self.pending.iter().any(|pending| awaited(&pending.wanted, &id)) => {
                self.arrive(cx, &id);
                self.settle_active(cx, &id);
            }
            Some(id) if matches!(&self.handshake, Handshake::Activating { id: of, .. } if is_same(of, &id)) =>
            {
                self.arrive(cx, &id);
                self.at_session(cx, seen, false);
            }
            Some(id) if self.session.is_none() && self.handshake == Handshake::Up => self.session = Some(id),
            Some(_) => {}
            None if self.handshake == Handshake::Up => {
                cx.fact(Fact::new(Said::Lost));
                self.session = None;
            }
            None => {}
        }
    }

    /// We are at a session that was there before.
    fn arrive(&mut self, cx: &mut UiCx<'_>, id: &str) {
        self.hearing.forget();
        (self.session, self.next_seq, self.model) = (Some(id.to_owned()), None, None);
        if let Some(model) = self.models.get(id).cloned() {
            self.tell_model(cx, model);
        }
    }

    fn error(&mut self, cx: &mut UiCx<'_>, text: String) {
        if matches!(self.handshake, Handshake::Starting | Handshake::Activating { .. })
            && std::mem::take(&mut self.goes_back)
        {
            return self.begin_here(cx);
        }
        match &self.handshake {
            Handshake::Starting => {
                let why = format!("the server could not start a session: {text}");
                return self.give_up(cx, why);
            }
            Handshake::Activating { named, .. } => {
                let why = self.not_there(&named.clone());
                return self.give_up(cx, why);
            }
            // It does not know such a list.
            Handshake::Looking(_) => return self.lists_are_here(cx),
            Handshake::Greeting | Handshake::Telling | Handshake::Up => {}
        }
        if std::mem::take(&mut self.presumed) {
            // The question was of somebody else's run, and ours never began.
            let failure = Failure::new("remote_error", text);
            return cx.fact(Fact::new(Said::RunEnded(Outcome::Failed(failure))));
        }
        if !self.refuse(cx, &text) {
            cx.signal(Signal::Notify { level: Level::Error, text });
        }
    }

    /// It cannot be spoken with: whoever waits for it hears why.
    fn give_up(&mut self, cx: &mut UiCx<'_>, why: String) {
        for (ticket, _) in std::mem::take(&mut self.waiting) {
            cx.settle(ticket, Err(Refusal::new(RefusalKind::Lost, why.clone())));
        }
        cx.close(Reason::Unusable(why));
    }

    fn frame(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, frame: Frame<'static>, line: &str) {
        match frame {
            Frame::Ready(_) if self.handshake == Handshake::Greeting && is_of_another_wire(line) => {
                cx.drift(Drift::new("ready", "it is a greeting of another wire", line));
            }
            Frame::Ready(ready) => self.ready(cx, seen, ready),
            Frame::Event(event) => self.event(cx, seen, event, line),
            Frame::UiRequest(request) => self.asked(cx, request, line),
            Frame::UiNotify(_)
            | Frame::UiStatus(_)
            | Frame::UiWidget(_)
            | Frame::UiWorking(_)
            | Frame::UiSetTitle(_)
            | Frame::UiSetEditorText(_) => {
                if let Some(signal) = lift::signal(frame) {
                    cx.signal(signal);
                }
            }
            Frame::Error(error) => self.error(cx, error.message.shown()),
            Frame::Debug(debug) => cx.log(format!("lemon: {}", debug.message.shown())),
            Frame::Stats(said) => self.settle_stats(cx, &said.stats),
            Frame::SaveResult(said) => self.settle_save(cx, said),
            Frame::SessionsList(said) => self.heard_saved(cx, said),
            Frame::RunningSessions(said) => self.heard_running(cx, seen, said),
            Frame::ModelsList(said) => self.settle_models(cx, said),
            Frame::SessionStarted(said) => self.session_started(cx, seen, said),
            Frame::ActiveSession(said) => self.active_session(cx, seen, said),
            Frame::Pong(_) => self.settle_pong(cx),
            Frame::SessionClosed(_) | Frame::ConfigState(_) => {}
            Frame::Unknown(kind) => cx.drift(Drift::new("line", format!("unknown type {kind}"), line)),
        }
    }
}

/// Whether a `ready` is that of a wire on which it tells only when it was said: here it tells where the server works and which model answers.
fn is_of_another_wire(ready: &str) -> bool {
    first_line::has(ready, &["timestamp"])
        && !["cwd", "model"].iter().any(|own| first_line::has(ready, &[own]))
}

fn lost() -> Refusal {
    let refusal = Refusal::new(RefusalKind::Lost, "the runtime went away before it answered");
    refusal.hint("say it again when it is back, or start it again")
}

impl UiRole for LemonUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        let mut hearing = std::mem::take(&mut self.hearing);
        hearing.forget();
        let (cwd, wanted) = (hello.cwd.clone(), hello.session.clone());
        let goes_back = wanted.is_some() && hello.last_session == wanted;
        let waits = Start::by_clock(hello, cx.now);
        *self = LemonUi { waits, cwd, wanted, goes_back, hearing, ..LemonUi::default() };
        cx.timer(HANDSHAKE, self.waits.first());
        cx.timer(KNOCK, KNOCK_AFTER);
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "too long", &head)),
            Line::Garbled(shown) => return cx.drift(Drift::new("line", "not UTF-8 text", &shown)),
        };
        let read = match ::wire::depth::check(&text) {
            Ok(()) => serde_json::from_str(&text).map_err(|error| error.to_string()),
            Err(deep) => Err(deep.to_string()),
        };
        match read {
            Ok(frame) => self.frame(cx, seen, frame, &text),
            Err(why) => cx.drift(Drift::new("line", why, &text)),
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.handshake == Handshake::Up {
            return self.want(cx, seen, ticket, command);
        }
        if self.waiting.len() >= MAX_WAITING {
            let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the runtime");
            return cx.settle(ticket, Err(refusal.hint("wait until it is ready")));
        }
        self.waiting.push_back((ticket, command));
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, key: TimerKey) {
        match key {
            HANDSHAKE => {}
            KNOCK if self.handshake == Handshake::Greeting => return cx.send(KNOCK_LINE.to_owned()),
            _ => return self.overdue(cx, key),
        }
        let within = HANDSHAKE_TIMEOUT.as_secs();
        match self.handshake {
            Handshake::Telling => self.up(cx, seen),
            Handshake::Greeting => {
                if let Waits::For(after) = self.waits.due(cx.now) {
                    return cx.timer(HANDSHAKE, after);
                }
                let why = "the server did not say \"ready\": is it a lemon server, and does it start without an error?";
                self.give_up(cx, why.to_owned());
            }
            Handshake::Looking(_) => self.give_up(
                cx,
                format!("the server did not list its sessions within {within} s: start it again, or leave out the session"),
            ),
            Handshake::Activating { .. } if std::mem::take(&mut self.goes_back) => self.begin_here(cx),
            Handshake::Activating { ref named, .. } => {
                let why = self.not_there(named);
                self.give_up(cx, why);
            }
            Handshake::Starting => self.give_up(
                cx,
                format!(
                    "the server said \"ready\" without a session and did not answer start_session within {within} s: \
                     it may be stuck, or of a kind that is not known. Start it again, and look at what it writes to stderr"
                ),
            ),
            Handshake::Up => {}
        }
    }

    fn leave(&mut self, cx: &mut UiCx<'_>) {
        // A server that has not greeted would take it for a prompt, at worst.
        if self.handshake != Handshake::Greeting {
            // A server writes a session down when it is told to, and forgets the rest.
            for session_id in std::mem::take(&mut self.unsaved) {
                self.send(cx, &wire::Command::Save { session_id });
            }
            self.send(cx, &wire::Command::Quit);
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|(ticket, _)| ticket);
        for ticket in waiting.collect::<Vec<_>>() {
            cx.settle(ticket, Err(lost()));
        }
        self.settle_lost(cx);
        self.asked.clear();
        self.presumed = false;
        self.hearing.say_prompt(cx);
        self.hearing.forget();
        self.handshake = Handshake::Greeting;
    }

    fn abilities(&self) -> Option<Abilities> {
        let model = self
            .model
            .as_ref()
            .map(|model| format!(" ({}:{})", model.provider, model.id))
            .unwrap_or_default();
        (self.handshake == Handshake::Up).then(|| Abilities {
            name: format!("lemon{model}"),
            cancel: true,
            sessions: self.sessions,
            models: self.sessions,
            consent: self.asks,
            new_session: self.sessions,
            open_session: self.sessions,
            clear: true,
            save: true,
            ping: true,
            session_scope: self.asks,
            text_only: true,
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        // The one that a server begins with is left for the one that the person named.
        let stands = matches!(self.handshake, Handshake::Telling | Handshake::Up);
        self.session.as_deref().filter(|_| stands).map(|name| known_as(name).as_str().into())
    }

    fn is_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    fn past(&self) -> Past {
        let comes = self.handshake == Handshake::Telling || self.is_arriving();
        if comes { Past::Comes } else { Past::None }
    }
}
