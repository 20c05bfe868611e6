//! We play an agent; a client (an editor, a terminal UI) is at the other end.
//!
//! The role keeps the handshake, the sessions that the client knows, the prompts that wait for their answer, and the questions that the
//! client has. Nothing of a session is said before the answer that gives it to the client, but what `session/load` tells again: strict
//! clients wedge otherwise. Whatever comes in, the link lives on: what has an id gets an answer with that id, once.

mod asks;
mod brought;
mod commands;
mod drafts;
mod known;
mod options;
mod past;
mod prompts;
mod requests;
mod sessions;
mod telling;
mod turns;

pub use asks::ANSWERS_WITHIN;

use super::wire::{ClientCapabilities, Notice, SessionInfoUpdate, SessionUpdate, Severity};
use asks::{Heard, OpenAsks};
use brought::AskedFile;
use commands::SlashCommands;
use domain::command::{Command, QueueCommand, Receipt, Refusal, RunCommand, Target};
use domain::event::{AskEvent, Body, Event};
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::session::ModelEntry;
use domain::signal::{Level, Signal};
use domain::ui_files::{FileRequest, FileRequestId, UiFiles};
use known::Known;
use prompts::Place;
use requests::AcpMemo;
use rolekit::endpoint::{self, Endpoint};
use rolekit::exchange::{self, TableRole as _};
use roles::{Answers, Drift, Greeting, Item, Lane, Line, RuntimeCx, RuntimeRole, TimerKey, View};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;
use wire::WireId;
use wire::jsonrpc::RpcError;

/// The agent's side of the protocol.
#[derive(Debug, Default)]
pub struct AcpRuntime {
    endpoint: Endpoint<AcpMemo>,
    client: ClientCapabilities,
    /// Where the hub has put this link before the client named a session.
    put: Option<SessionId>,
    sessions: BTreeMap<SessionId, Known>,
    asks: OpenAsks,
    asked_files: Vec<AskedFile>,
    /// How long a question may wait; `None` for as long as it takes.
    deadline: Option<Duration>,
    /// The models there are, once they were asked for.
    models: Option<Vec<ModelEntry>>,
    commands: SlashCommands,
}

impl AcpRuntime {
    /// A role for one link.
    pub fn new() -> AcpRuntime {
        AcpRuntime { deadline: Some(ANSWERS_WITHIN), ..AcpRuntime::default() }
    }

    /// Whether the client is one of ours and reads what we say beside the protocol.
    fn is_ours(&self) -> bool {
        self.client.meta.as_ref().is_some_and(|meta| meta.parlor)
    }

    /// Whether the client shows live output that comes as pieces.
    fn shows_output(&self) -> bool {
        self.client.meta.as_ref().is_some_and(|meta| meta.terminal_output)
    }

    fn shows_notices(&self) -> bool {
        self.client.session.as_ref().is_some_and(|session| session.notices.is_some())
    }

    fn shows_compaction(&self) -> bool {
        self.client.session.as_ref().is_some_and(|session| session.compaction.is_some())
    }

    fn shows_forms(&self) -> bool {
        self.client.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some())
    }

    fn say(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, update: SessionUpdate) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.say(cx, session, update);
        }
    }

    /// A word for the person. Where the client shows none, a warning is said beside the answer under way, or goes with the next one.
    fn notice(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, level: Level, text: &str) {
        if !self.shows_notices() {
            return match (level, self.sessions.get_mut(session)) {
                (Level::Warning | Level::Error, Some(known)) => known.warn(cx, session, text),
                _ => cx.loss(Item::Notice, text),
            };
        }
        let (title, description) = match text.split_once('\n') {
            Some((title, more)) => (title.to_owned(), Some(more.to_owned())),
            None => (text.to_owned(), None),
        };
        let severity = match level {
            Level::Info | Level::Success => Severity::Info,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        };
        let notice = Notice { severity, title, description, ..Notice::default() };
        self.say(cx, session, SessionUpdate::Notice(notice));
    }

    /// Stops the run of a session, if there is one: what has nothing to stop has no answer either.
    fn cancel(&mut self, cx: &mut RuntimeCx<'_>, session: Option<SessionId>) {
        let Some(session) = session.filter(|session| self.sessions.contains_key(session)) else { return };
        if self.endpoint.is_full() {
            return cx.log("ignored: a cancel; too many requests wait");
        }
        let command = Command::Run(RunCommand::Cancel { run: None, reason: None });
        self.tell_hub(cx, Target::Session(session), command, AcpMemo::Nothing);
    }

    /// The client takes a prompt of its own back: one that waits leaves the queue, one that runs is stopped.
    fn take_back(&mut self, cx: &mut RuntimeCx<'_>, request: &WireId) {
        let mut held = self.sessions.iter();
        let found = held.find_map(|(session, known)| Some((session.clone(), known.prompts.place(request)?)));
        match found {
            Some((session, Place::Queue(item))) if !self.endpoint.is_full() => {
                let command = Command::Queue(QueueCommand::Drop { item });
                self.tell_hub(cx, Target::Session(session), command, AcpMemo::Nothing);
            }
            Some((session, Place::Run)) => self.cancel(cx, Some(session)),
            Some((_, Place::Queue(_))) | None => {}
        }
    }
}

impl RuntimeRole for AcpRuntime {
    fn open(&mut self, cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.endpoint.greeting = greeting.clone();
        match greeting.answer_within(ANSWERS_WITHIN) {
            Ok(deadline) => self.deadline = deadline,
            Err(why) => cx.log(format!("warning: {why}")),
        }
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        endpoint::line(self, cx, line);
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let wanted = self.endpoint.memos().any(|memo| memo.goes_to(view.session));
        if view.current && !wanted && !self.sessions.contains_key(view.session) {
            self.put = Some(view.session.clone());
        }
        self.shown(cx, view);
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.put.take_if(|put| put == session);
        for id in self.asks.forget(session) {
            asks::take_back(cx, id);
        }
        if let Some(known) = self.sessions.remove(session) {
            known.leave(cx);
        }
    }

    fn abilities(&mut self, cx: &mut RuntimeCx<'_>, _view: Option<View<'_>>, abilities: &Abilities) -> bool {
        let before = self.endpoint.can();
        endpoint::abilities(self, cx, abilities);
        self.tell_again(cx, &before);
        false
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        let Some(known) = self.sessions.get_mut(view.session) else { return };
        if event.seq <= known.heard {
            return;
        }
        known.heard = event.seq;
        self.tell(cx, view, event.at, &event.body);
        match &event.body {
            Body::Ask(AskEvent::Opened(ask)) => self.ask_opened(cx, view, ask),
            Body::Ask(AskEvent::Closed { ask, .. }) => {
                if let Some(id) = self.asks.close(view.session, *ask) {
                    asks::take_back(cx, id);
                }
            }
            _ => {}
        }
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, signal: &Signal) {
        match signal {
            Signal::Notify { level, text } if self.sessions.contains_key(view.session) => {
                self.notice(cx, view.session, *level, text);
            }
            Signal::Title(title) => {
                let Some(known) = self.sessions.get_mut(view.session) else { return };
                known.told.title.clone_from(title);
                let update =
                    SessionInfoUpdate { title: Some(Some(title.clone())), ..SessionInfoUpdate::default() };
                known.say(cx, view.session, SessionUpdate::SessionInfo(update));
            }
            Signal::Notify { .. }
            | Signal::Status { .. }
            | Signal::Working(_)
            | Signal::Widget { .. }
            | Signal::EditorText(_)
            | Signal::Suggestion { .. } => cx.lost(signal),
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

    fn timer(&mut self, cx: &mut RuntimeCx<'_>, key: TimerKey) {
        if key == endpoint::GREET {
            endpoint::greet(self, cx);
        }
    }

    fn owes(&self) -> bool {
        self.endpoint.owes()
    }

    fn lost(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        endpoint::lost(self, cx, format!("the agent is gone: {why}"));
    }

    /// An editor that was closed: nobody will see what its prompts still do, so they are stopped. What they said is kept.
    fn last_word(&mut self, cx: &mut RuntimeCx<'_>) {
        let prompted = |session: &SessionId| self.endpoint.memos().any(|memo| memo.prompts(session));
        let held =
            self.sessions.iter().filter(|(session, known)| known.prompts.len() > 0 || prompted(session));
        for session in held.map(|(session, _)| session.clone()).collect::<Vec<_>>() {
            self.cancel(cx, Some(session));
        }
    }

    fn can_answer(&self) -> Answers {
        Answers { other: self.shows_forms(), deadline: self.deadline, ..Answers::ALL }
    }

    fn files(&self) -> UiFiles {
        self.does_files()
    }

    fn file(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        id: FileRequestId,
        request: &FileRequest,
    ) {
        self.ask_for_file(cx, session, id, request);
    }
}

impl AcpRuntime {
    fn answered(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, outcome: Result<&RawValue, RpcError>) {
        if self.file_answered(cx, id, &outcome) {
            return;
        }
        match self.asks.hear(cx, id, outcome) {
            Some(Heard::Unanswerable(session, ask)) => cx.cannot_answer(session, ask),
            Some(Heard::Answer(session, ask, answer, odd)) => {
                if let Some(odd) = odd {
                    cx.drift(Drift::new("answer to a question", odd, &id.to_string()));
                }
                let command = Command::Answer { ask, answer };
                self.tell_hub(cx, Target::Session(session), command, AcpMemo::Nothing);
            }
            None => cx.log(format!("ignored: an answer with id {id} to a question that is not open")),
        }
    }
}
