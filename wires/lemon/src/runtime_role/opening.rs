//! Sessions as the client comes to know of them: told that they are there, then what they hold, then what happens.
//!
//! Invariant: nothing is said of a session before the client knows it, since clients begin it empty at that word.

use super::super::wire::Frame;
use super::super::wire::frame::{ActiveSession, DebugLine, Ready, SessionStarted};
use super::super::{PROTOCOL_VERSION, lower};
use super::receipts::HubCommand;
use super::telling::Telling;
use super::{GREET, Greets, LemonRuntime, Open};
use domain::command::{Command, ListCommand, Target};
use domain::ids::SessionId;
use domain::session::ModelRef;
use domain::signal::{Level, Signal};
use rolekit::session_name;
use roles::{GREET_WITHIN, LinkEffect, RuntimeCx, RuntimeEffect, View};

impl Open {
    fn new(view: View<'_>, order: u64) -> Open {
        Open {
            telling: Telling::new(view.session.clone()),
            board: view.board.clone(),
            cwd: view.state.settings.cwd.clone(),
            model: view.state.settings.model.clone(),
            heard: view.state.seq,
            reset: false,
            announced: false,
            past: false,
            kept: Vec::new(),
            order,
        }
    }

    /// Tells what the session holds: its past, then the run under way from its beginning.
    fn tell_all(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        self.telling.skip_past(view.state);
        self.past = self.telling.tell_past(cx, view.state);
        self.telling.catch_up(cx, view.state);
    }

    /// Takes lines back that were said since `mark` while the client does not know the session.
    pub(super) fn keep_back(&mut self, cx: &mut RuntimeCx<'_>, mark: usize) {
        if self.announced {
            return;
        }
        for effect in cx.effects.split_off(mark) {
            match effect {
                RuntimeEffect::Link(LinkEffect::Send { line, .. }) => self.kept.push(line),
                other => cx.effects.push(other),
            }
        }
    }
}

impl LemonRuntime {
    /// Holds back the lines since `mark` until the client was told that the session is open.
    pub(super) fn keep_back(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, mark: usize) {
        if let Some(open) = self.open.get_mut(session) {
            open.keep_back(cx, mark);
        }
    }

    /// The hub shows a session: one that the client asked for, one that it was put into, or again after a gap.
    pub(super) fn shown(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let session = view.session;
        // The hub's idea of where we are changes with our own commands too; only what they did not cause counts.
        let moving = self.pending.values().any(HubCommand::moves);
        let put_here = view.current && !moving && self.front.as_ref() != Some(session);
        if put_here && !self.ready {
            self.front = Some(session.clone());
        }
        let mark = cx.effects.len();
        match self.open.get_mut(session) {
            None => {
                self.opened += 1;
                let mut open = Open::new(view, self.opened);
                open.tell_all(cx, view);
                self.open.insert(session.clone(), open);
            }
            Some(open) if open.heard < view.state.seq => {
                open.heard = view.state.seq;
                open.telling.catch_up(cx, view.state);
            }
            Some(_) => {}
        }
        for ask in &view.state.asks {
            self.ask_opened(cx, session, ask);
        }
        self.keep_back(cx, session, mark);
        if put_here && self.ready {
            self.put_front(cx, session);
        } else if self.ready && !moving {
            self.announce(cx, session);
            self.reveal(cx, session);
        }
        if self.front.is_some() {
            self.say_ready(cx);
        }
    }

    /// What the session holds is told once more, to a client that begins it anew.
    pub(super) fn tell_again(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let Some(open) = self.open.get_mut(view.session) else { return };
        let mark = cx.effects.len();
        (open.telling, open.announced) = (open.telling.anew(), false);
        open.tell_all(cx, view);
        open.keep_back(cx, mark);
    }

    /// The client learns of a session, if it does not know it yet.
    pub(super) fn announce(&self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        let open = self.open.get(session);
        if open.is_some_and(|open| open.announced) {
            return;
        }
        let model = self.model_of(Some(session));
        let model = lower::model_id(model.as_ref());
        let cwd = open.map_or(self.greeting.cwd.as_str(), |open| open.cwd.as_str());
        let history = open.is_some_and(|open| open.past);
        let (session_id, cwd) = (session_name::write(session).into(), cwd.into());
        cx.send(Frame::SessionStarted(SessionStarted { session_id, cwd, model, history }).line());
    }

    /// What was kept back of a session is said.
    pub(super) fn reveal(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        let Some(open) = self.open.get_mut(session) else { return };
        open.announced = true;
        for line in std::mem::take(&mut open.kept) {
            cx.send(line);
        }
    }

    /// A session becomes the active one; the client learns of it first.
    pub(super) fn put_front(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.announce(cx, session);
        self.bring_front(cx, Some(session.clone()));
        let session_id = Some(session_name::write(session).into());
        cx.send(Frame::ActiveSession(ActiveSession { session_id }).line());
        self.reveal(cx, session);
    }

    /// Whether the greeting would have to leave out what another program says of itself in a moment.
    fn must_wait(&mut self, cx: &mut RuntimeCx<'_>) -> bool {
        if !self.greeting.follows || self.greets == Greets::Now {
            return false;
        }
        let Some(behind) = &self.behind else {
            cx.timer(GREET, GREET_WITHIN);
            return true;
        };
        if !behind.models || self.model_of(self.front.as_ref()).is_some() {
            return false;
        }
        if self.greets == Greets::AfterHandshake {
            self.greets = Greets::AfterModel;
            cx.timer(GREET, GREET_WITHIN);
            let models = Command::List(ListCommand::Models { provider: None });
            self.ask_hub(cx, Target::Current, models, HubCommand::ModelBehind);
        }
        true
    }

    /// The runtime behind us said which model answers there, or cannot.
    pub(super) fn model_behind(&mut self, cx: &mut RuntimeCx<'_>, current: Option<ModelRef>) {
        self.greeting.model = current.map(|model| (model.provider, model.name));
        self.greets = Greets::Now;
        self.say_ready(cx);
    }

    /// Greets the client once the first session is known.
    pub(super) fn say_ready(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.ready || self.must_wait(cx) {
            return;
        }
        if self.greeting.follows {
            cx.cancel_timer(GREET);
        }
        self.ready = true;
        let session = self.front.clone();
        let open = session.as_ref().and_then(|session| self.open.get(session));
        let model = self.model_of(session.as_ref());
        let debug = self.greeting.option("debug").is_some_and(|value| value != "false");
        let id = session.as_ref().map(|session| session_name::write(session).into());
        let cwd = open.map(|open| open.cwd.as_str()).filter(|cwd| !cwd.is_empty());
        let ready = Ready {
            cwd: cwd.unwrap_or(&self.greeting.cwd).into(),
            model: lower::model_id(model.as_ref()),
            debug,
            ui: Some(self.ui),
            primary_session_id: Some(id.clone()),
            active_session_id: Some(id),
            protocol_version: PROTOCOL_VERSION,
            history: open.is_some_and(|open| open.past),
        };
        cx.send(Frame::Ready(ready).line());
        if debug {
            let message = "debug mode: protocol lines go to stdout, everything else to stderr".into();
            cx.send(Frame::Debug(DebugLine { message }).line());
        }
        for text in std::mem::take(&mut self.greeting.warnings) {
            self.say_signal(cx, &Signal::Notify { level: Level::Warning, text });
        }
        let Some(session) = session else { return };
        let signals = self.open.get(&session).map(|open| open.board.replay()).unwrap_or_default();
        for signal in &signals {
            self.say_signal(cx, signal);
        }
        self.reveal(cx, &session);
    }

    /// Puts a session in front: its lasting signals take the place of the other's.
    pub(super) fn bring_front(&mut self, cx: &mut RuntimeCx<'_>, session: Option<SessionId>) {
        if self.front == session {
            return;
        }
        let board = |id: &Option<SessionId>| {
            id.as_ref().and_then(|id| self.open.get(id)).map(|open| open.board.clone()).unwrap_or_default()
        };
        let (old, new) = (board(&self.front), board(&session));
        self.front = session;
        let status = old.status.keys().filter(|key| !new.status.contains_key(*key));
        let widgets = old.widgets.iter().filter(|(key, _)| !new.widgets.contains_key(*key));
        let mut signals: Vec<Signal> =
            status.map(|key| Signal::Status { key: key.clone(), text: None }).collect();
        signals.extend(widgets.map(|(key, (place, _))| Signal::Widget {
            key: key.clone(),
            lines: Vec::new(),
            place: *place,
        }));
        if old.working.is_some() && new.working.is_none() {
            signals.push(Signal::Working(None));
        }
        signals.extend(new.replay());
        for signal in &signals {
            self.say_signal(cx, signal);
        }
    }
}
