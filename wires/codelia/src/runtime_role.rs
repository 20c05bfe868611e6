//! We play codelia's runtime; a codelia UI is at the other end.
//!
//! The role keeps the handshake, which requests wait for the hub, what is being told about each run, and the questions at the desk.
//! Requests are taken before `initialize` too, since the existing UI does not wait for it. Whatever comes in, the link lives on: what
//! has an id gets an error with that id, what has none gets a line in the log.

mod asking;
mod catalog;
mod client_tools;
mod compaction;
mod diagnostics;
mod history;
mod open_asks;
mod own_shell;
mod paragraphs;
mod requests;
mod runs;
mod shell;
mod stops;
mod telling;
mod tool_words;

pub(super) use asking::{OURS, REMEMBER, WARNING};
pub use compaction::BEGINS_AFTER;
pub use open_asks::READ_WITHIN_MS;
pub use stops::ANSWERS_WITHIN;
pub(super) use telling::STOPPED;
pub(super) use tool_words::DENIED;

use super::run_name;
use super::wire::{Status, UiCapabilities, UiContextParams};
use asking::Reader;
use client_tools::ClientTools;
use diagnostics::Diagnostics;
use domain::ask::Answer;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::{AskEvent, Body, ContextEvent, Event, NoteEvent, PERSONS_COMMAND, RunEvent};
use domain::ids::{EntryId, RunId, SessionId};
use domain::port::{Abilities, Ticket};
use domain::signal::{Level, Signal};
use open_asks::{AskAnswer, OpenAsks, SessionAsk};
use requests::CodeliaMemo;
use rolekit::endpoint::{self, Endpoint};
use rolekit::exchange::{self, TableRole as _};
use rolekit::shown;
use roles::{Answers, Drift, Greeting, Item, Lane, Line, RuntimeCx, RuntimeRole, TimerKey, View};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use stops::{STOP_TAKES_LONG, Stops};
use telling::{Prompted, RunLine, Telling, Texts};
use wire::WireId;
use wire::jsonrpc::RpcError;

/// How long nothing follows the result of `run.start` for the existing command line, which drops what it reads in the same piece.
pub const RESULT_PAUSE: Duration = Duration::from_millis(150);
/// How that command line calls itself.
pub const COMMAND_LINE: &str = "codelia-cli-prompt";
/// How the existing terminal UI calls itself.
pub const TERMINAL_UI: &str = "codelia-tui";

/// Most actions that a no is remembered for.
const MAX_REFUSED: usize = 256;
/// What the model hears when such an action comes again.
const REFUSED: &str = "the person said no to exactly this before, and not to ask again";

/// The runtime's side of codelia.
#[derive(Debug, Default)]
pub struct CodeliaRuntime {
    endpoint: Endpoint<CodeliaMemo>,
    ui: UiCapabilities,
    /// What the UI calls itself.
    client: String,
    current: Option<SessionId>,
    tellings: BTreeMap<SessionId, Telling>,
    /// Runs that this UI started and that have not begun.
    own_runs: BTreeSet<(SessionId, RunId)>,
    /// Compactions that this UI asked for, told as runs of their own.
    own_compactions: BTreeSet<(SessionId, EntryId)>,
    compaction_runs: u64,
    /// Those that go on, as they are told.
    compactions: BTreeMap<Ticket, Telling>,
    offered_tools: bool,
    asks: OpenAsks,
    /// What the person said no to for as long as this UI is there.
    refused: BTreeSet<(SessionId, String)>,
    stops: Stops,
    /// Where the person works, as the UI told it last.
    ui_context: Option<UiContextParams>,
    client_tools: ClientTools,
    /// Open waits for command lines of the person's own, by the command and who waits.
    shell_waits: Vec<(String, WireId)>,
}

impl CodeliaRuntime {
    /// A role for one link.
    pub fn new() -> CodeliaRuntime {
        CodeliaRuntime::default()
    }

    /// Whether numbers about each call are wanted: the existing UI says so to the runtime that it starts.
    fn diagnoses(&self) -> bool {
        self.endpoint.greeting.option(super::DIAGNOSTICS).is_some_and(|value| value == "true")
    }

    /// Who answers questions at the other end.
    fn reader(&self) -> Reader {
        Reader::new(&self.client, &self.ui)
    }

    fn texts(&self) -> Texts {
        match () {
            () if self.ui.supports_text_deltas => Texts::Pieces,
            () if self.client == TERMINAL_UI => Texts::Paragraphs,
            () => Texts::Whole,
        }
    }

    /// The UI answers a question, or a call of one of its tools.
    fn answered(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        outcome: Result<&serde_json::value::RawValue, RpcError>,
    ) {
        if self.performed(cx, id, &outcome) {
            return;
        }
        match self.asks.hear(cx.now, self.reader().types_ahead(), id, outcome) {
            AskAnswer::Answer { session, ask, answer, odd, lasting_no } => {
                if let Some(action) = lasting_no.filter(|_| self.refused.len() < MAX_REFUSED) {
                    self.refused.insert((session.clone(), action));
                }
                if let Some(odd) = odd {
                    cx.drift(Drift::new("answer to a question", odd, &id.to_string()));
                }
                let command = Command::Answer { ask, answer };
                self.tell_hub(cx, Target::Session(session), command, CodeliaMemo::Answer);
            }
            AskAnswer::Again(id, request) => cx.send(request.line(&id)),
            AskAnswer::Stale => {
                cx.log(format!("ignored: an answer with id {id} to a question that is not open"));
            }
        }
    }

    fn say(cx: &mut RuntimeCx<'_>, name: &str, told: Vec<RunLine>) {
        for told in told {
            cx.send(told.line(name));
        }
    }

    fn event_of_run(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, event: &Event) {
        if let Body::Run(RunEvent::Started { run }) = &event.body {
            if self.tellings.get(session).is_some_and(|telling| telling.run == *run) {
                return;
            }
            let own = self.own_runs.remove(&(session.clone(), *run));
            let prompted = if own { Prompted::Here } else { Prompted::Elsewhere };
            let mut telling = Telling::new(*run, run_name::write(session, *run), self.texts(), prompted);
            telling.diagnostics = self.diagnoses().then(Diagnostics::default);
            self.tellings.insert(session.clone(), telling);
        }
        let Some(telling) = self.tellings.get_mut(session) else { return };
        let mut told = telling.hear(event.at, &event.body);
        let (run, name) = (telling.run, telling.name.clone());
        let Body::Run(RunEvent::Ended { outcome, .. }) = &event.body else {
            if !self.stops.silent(session, run) {
                Self::say(cx, &name, told);
            }
            return;
        };
        for error in telling.other_errors(outcome) {
            notice(cx, Level::Error, &error);
        }
        self.tellings.remove(session);
        self.client_tools.run_over(session, run);
        let end = told.pop();
        if !self.stops.silent(session, run) {
            Self::say(cx, &name, told);
        }
        if let Some(end) = end {
            self.run_over(cx, session, run, &name, end);
        }
        self.ask_next(cx);
    }

    fn noticed(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        run: Option<RunId>,
        level: Level,
        text: &str,
    ) {
        let telling = self.tellings.get_mut(session).filter(|telling| Some(telling.run) == run);
        match telling.filter(|_| level == Level::Error) {
            // The end of the run says the same.
            Some(telling) => {
                if let Some(text) = telling.error(text) {
                    notice(cx, level, &text);
                }
            }
            None => notice(cx, level, text),
        }
    }

    fn ask_opened(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, ask: &domain::ask::Ask) {
        if !OpenAsks::can_ask(&self.ui, &ask.kind) {
            return;
        }
        let again = open_asks::action(&ask.kind).map(|action| (session.clone(), action));
        if again.is_some_and(|again| self.refused.contains(&again)) {
            let answer = Answer::Deny { reason: Some(REFUSED.to_owned()) };
            let command = Command::Answer { ask: ask.id, answer };
            return self.tell_hub(cx, Target::Session(session.clone()), command, CodeliaMemo::Answer);
        }
        let run_id = ask.run.map(|run| run_name::write(session, run));
        let Some(request) = asking::request(ask, run_id, self.reader()) else {
            notice(cx, Level::Error, &shown::not_asked(&ask.title, session));
            return cx.cannot_answer(session.clone(), ask.id);
        };
        if !self.asks.add(SessionAsk { session: session.clone(), ask: ask.clone(), request }) {
            cx.loss(Item::Consent, "too many questions wait at this UI");
        }
        self.ask_next(cx);
    }

    fn ask_next(&mut self, cx: &mut RuntimeCx<'_>) {
        // What no run waits for waits for the run: the UI would take what is typed meanwhile for the answer.
        let tellings = &self.tellings;
        let may_ask = |asked: &SessionAsk| asked.ask.run.is_some() || !tellings.contains_key(&asked.session);
        let Some((id, SessionAsk { session, ask, request })) = self.asks.next(cx.now, may_ask) else {
            return;
        };
        let reader = self.reader();
        let telling = self.tellings.get_mut(&session).filter(|telling| Some(telling.run) == ask.run);
        if let Some(telling) = telling {
            let told = telling.number(asking::before(&ask, reader));
            Self::say(cx, &telling.name, told);
            let words = asking::waiting_words(&ask.kind).to_owned();
            cx.send(RunLine::Status(Status::AwaitingUi, Some(words)).line(&telling.name));
        } else if let Some(whole) = asking::question_before(&ask, reader) {
            // Outside of a run this wire has no other place for it.
            notice(cx, Level::Info, &whole);
        }
        cx.send(request.line(&id));
    }

    fn ask_closed(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, ask: domain::ids::AskId) {
        if let Some(closed) = self.asks.close(session, ask) {
            let telling = self.tellings.get(session).filter(|telling| Some(telling.run) == closed.ask.run);
            if let Some(telling) = telling.filter(|telling| !telling.stopping) {
                cx.send(RunLine::Status(Status::Running, None).line(&telling.name));
            }
        }
        self.ask_next(cx);
    }
}

impl RuntimeRole for CodeliaRuntime {
    fn open(&mut self, _cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.endpoint.greeting = greeting.clone();
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        endpoint::line(self, cx, line);
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if view.current {
            self.current = Some(view.session.clone());
        }
        if let Some(run) = view.state.open_run()
            && self.tellings.get(view.session).is_none_or(|telling| telling.run != run.id)
        {
            let mut telling =
                Telling::amid(run, run_name::write(view.session, run.id), self.texts(), view.state);
            telling.diagnostics = self.diagnoses().then(Diagnostics::default);
            cx.send(RunLine::Status(Status::Running, None).line(&telling.name));
            self.tellings.insert(view.session.clone(), telling);
        }
        for ask in &view.state.asks {
            self.ask_opened(cx, view.session, ask);
        }
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.tellings.remove(session);
        self.asks.forget(session);
        self.client_tools.forget(session);
        for id in self.stops.forget(session) {
            cx.send(runs::cancel_accepted(&id));
        }
        self.current.take_if(|current| current == session);
        self.ask_next(cx);
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        match &event.body {
            Body::Context(ContextEvent::Compacted { entry, .. })
                if self.own_compactions.remove(&(view.session.clone(), *entry)) => {}
            Body::Ask(AskEvent::Opened(ask)) => self.ask_opened(cx, view.session, ask),
            Body::Ask(AskEvent::Closed { ask, .. }) => self.ask_closed(cx, view.session, *ask),
            // The UI that ran it shows it; on stderr it would be taken for trouble.
            Body::Note(NoteEvent::Noticed { code, .. }) if code == PERSONS_COMMAND => {}
            Body::Note(NoteEvent::Noticed { level, text, run, .. }) => {
                self.noticed(cx, view.session, *run, *level, text);
            }
            Body::Note(NoteEvent::PlanChanged { .. }) => cx.loss(Item::Plan, "the agent's plan"),
            Body::Tool(tool) => {
                self.event_of_run(cx, view.session, event);
                self.tool_event(cx, view, tool);
            }
            _ => self.event_of_run(cx, view.session, event),
        }
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, _view: View<'_>, signal: &Signal) {
        if let Some((level, text)) = cx.words(signal) {
            notice(cx, level, text);
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
    }

    fn abilities(&mut self, cx: &mut RuntimeCx<'_>, _view: Option<View<'_>>, abilities: &Abilities) -> bool {
        endpoint::abilities(self, cx, abilities);
        false
    }

    fn timer(&mut self, cx: &mut RuntimeCx<'_>, key: TimerKey) {
        match key {
            endpoint::GREET => endpoint::greet(self, cx),
            STOP_TAKES_LONG => self.stop_takes_long(cx),
            TimerKey(ticket) => self.compaction_goes_on(cx, Ticket(ticket)),
        }
    }

    fn owes(&self) -> bool {
        self.endpoint.owes()
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        endpoint::lost(self, cx, format!("the runtime is gone: {why}"));
    }

    fn can_answer(&self) -> Answers {
        let ui = &self.ui;
        let other = ui.supports_confirm && ui.supports_prompt && ui.supports_pick;
        Answers { consent: ui.supports_confirm, other, ..Answers::NONE }
    }
}

/// This wire has no notices; the existing UI shows what comes on stderr, in red when it begins with `error:`.
fn notice(cx: &mut RuntimeCx<'_>, level: Level, text: &str) {
    let word = match level {
        Level::Info | Level::Success => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    cx.log(format!("{word}: {text}"));
}
