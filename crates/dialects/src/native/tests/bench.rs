//! The wiring: lines go across at once, what the roles want is kept for the test to look at.

use crate::native::{NativeRuntime, NativeUi};
use domain::canon::Names;
use domain::event::{Body, Event};
use domain::ids::{Millis, SessionId};
use domain::port::News;
use domain::signal::Board;
use domain::state::State;
use roles::{
    Cx, Greeting, Hello, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, Seen, UiCx, UiEffect,
    UiRole, View,
};

/// A runtime with one session, a UI, and the link between.
pub(super) struct Bench {
    pub(super) runtime: NativeRuntime,
    pub(super) ui: NativeUi,
    pub(super) session: SessionId,
    pub(super) state: State,
    pub(super) board: Board,
    /// The session as the UI's side has it.
    pub(super) mirror: State,
    /// What the runtime's role wanted, lines aside.
    pub(super) at_runtime: Vec<RuntimeEffect>,
    /// What the UI's role wanted, lines aside.
    pub(super) at_ui: Vec<UiEffect>,
    /// All lines, `>` from the UI and `<` from the runtime.
    pub(super) lines: Vec<String>,
    pub(super) now: u64,
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench {
            runtime: NativeRuntime::new(),
            ui: NativeUi::new(),
            session: SessionId::from_number(7),
            state: State::new(),
            board: Board::default(),
            mirror: State::new(),
            at_runtime: Vec::new(),
            at_ui: Vec::new(),
            lines: Vec::new(),
            now: 0,
        }
    }

    /// After the handshake.
    pub(super) fn greeted() -> Bench {
        let mut bench = Bench::new();
        bench.open(None);
        bench.forget();
        bench
    }

    pub(super) fn forget(&mut self) {
        self.at_runtime.clear();
        self.at_ui.clear();
        self.lines.clear();
    }

    pub(super) fn open(&mut self, session: Option<&SessionId>) {
        let greeting = Greeting { version: "1.2.3".to_owned(), ..Greeting::default() };
        let hello = Hello {
            version: "1.2.3".to_owned(),
            session: session.map(|session| session.as_str().into()),
            ..Hello::default()
        };
        self.runtime(|role, cx, _| role.open(cx, &greeting));
        self.ui(|role, cx, _| role.open(cx, &hello));
    }

    pub(super) fn runtime(&mut self, call: impl FnOnce(&mut NativeRuntime, &mut RuntimeCx<'_>, View<'_>)) {
        let mut effects = Vec::new();
        let view = View { session: &self.session, state: &self.state, board: &self.board, current: true };
        self.now += 20;
        call(&mut self.runtime, &mut Cx { now: Millis(self.now), effects: &mut effects }, view);
        self.perform_runtime(effects);
    }

    fn perform_runtime(&mut self, effects: Vec<RuntimeEffect>) {
        for effect in effects {
            let RuntimeEffect::Link(LinkEffect::Send { line, .. }) = effect else {
                self.at_runtime.push(effect);
                continue;
            };
            self.lines.push(format!("< {line}"));
            self.ui(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(line)));
        }
    }

    pub(super) fn ui(&mut self, call: impl FnOnce(&mut NativeUi, &mut UiCx<'_>, Seen<'_>)) {
        let mut effects = Vec::new();
        let names = Names::default();
        let seen = Seen { state: &self.mirror, names: &names };
        call(&mut self.ui, &mut Cx { now: Millis(self.now), effects: &mut effects }, seen);
        self.perform_ui(effects);
    }

    fn perform_ui(&mut self, effects: Vec<UiEffect>) {
        for effect in effects {
            match effect {
                UiEffect::Link(LinkEffect::Send { line, .. }) => {
                    self.lines.push(format!("> {line}"));
                    self.raw(Line::Text(line));
                }
                UiEffect::News(news) => {
                    self.take(&news);
                    self.at_ui.push(UiEffect::News(news));
                }
                effect => self.at_ui.push(effect),
            }
        }
    }

    /// A line from the UI's side that no role wrote.
    pub(super) fn raw(&mut self, line: Line) {
        self.runtime(|role, cx, _| role.line(cx, Lane::MAIN, line));
    }

    fn take(&mut self, news: &News) {
        match news {
            News::Attached { replay, .. } => {
                self.mirror = State::new();
                for (at, body) in replay {
                    self.mirror.apply(*at, body).unwrap();
                }
            }
            // Events of the passing tests name things that are not there.
            News::Happened { event, .. } => {
                let _ = self.mirror.fold(event);
            }
            News::Signal { .. } | News::Settled { .. } | News::Link(_) => {}
        }
    }

    pub(super) fn attach(&mut self) {
        self.runtime(|role, cx, view| role.attached(cx, view));
    }

    /// Something happens in the session.
    pub(super) fn happen(&mut self, body: Body) {
        let event = Event { seq: self.state.seq.next(), at: Millis(self.state.seq.0 + 1), body };
        self.state.fold(&event).unwrap();
        self.runtime(|role, cx, view| role.event(cx, view, &event));
    }

    pub(super) fn news(&self) -> impl Iterator<Item = &News> {
        self.at_ui.iter().filter_map(|effect| match effect {
            UiEffect::News(news) => Some(&**news),
            _ => None,
        })
    }
}
