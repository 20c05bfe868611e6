//! We play openagent's backend; an openagent client is at the other end.
//!
//! The role keeps who the client is, which requests wait for the hub, and the queries under way. The client works in one session, its
//! home; a session does one run at a time, so a second and third query go to side sessions that branch off where the first one was asked
//! ([`queries`]). Requests are taken before `initialize` too. Whatever comes in, the link lives on: what has an id gets an answer.

mod approval;
mod client;
mod context;
mod library;
mod queries;
mod requests;
mod telling;

pub(super) use telling::{BREAK, SHELLS};

use super::wire::{Context, code, notify};
use super::{APPROVAL_TIMEOUT, plain};
use client::Client;
use domain::ask::ActionDigest;
use domain::command::{Receipt, Refusal, Target};
use domain::event::{Body, Event, Failure, MessageEvent, RunEvent};
use domain::ids::{EntryId, SessionId};
use domain::port::{Abilities, Ticket};
use domain::signal::Signal;
use queries::{Query, Unsaid};
use requests::OpenagentMemo;
use rolekit::endpoint::{self, Endpoint};
use rolekit::{exchange, rpc};
use roles::{Answers, Greeting, Lane, Line, RuntimeCx, RuntimeRole, TimerKey, View};
use std::collections::{BTreeMap, HashSet};
use telling::Counters;
use wire::jsonrpc;

/// Most queries of one client that are under way at once.
pub const MAX_QUERIES: usize = 3;
/// Words outside of a query that wait for the next one; past it the oldest is lost.
pub const MAX_UNSAID: usize = 16;
/// Most actions that are remembered; past it one that was remembered is asked about again.
const MAX_REMEMBERED: usize = 1024;

/// The backend's side of openagent.
#[derive(Debug, Default)]
pub struct OpenagentRuntime {
    endpoint: Endpoint<OpenagentMemo>,
    client: Client,
    /// Where the client works.
    home: Option<SessionId>,
    /// The sessions of the last list, so that a beginning of a name is enough.
    listed: Vec<SessionId>,
    /// Branches that were asked for: what is attached next may be one of them, and is no home.
    branching: usize,
    context: Context,
    queries: BTreeMap<u64, Query>,
    /// What was said outside of a query, for the next one.
    unsaid: Vec<Unsaid>,
    last_query: u64,
    /// Runs under way in the sessions that this link sees.
    runs: BTreeMap<SessionId, AskedOn>,
    counters: Counters,
    /// Actions that a person wants not to be asked about again, each for its session: these very ones, and nothing like them.
    remembered: HashSet<(SessionId, ActionDigest)>,
}

/// Where the run under way was asked, once known: the entry before its prompt, if any.
type AskedOn = Option<Option<EntryId>>;

impl OpenagentRuntime {
    /// A role for one link.
    pub fn new() -> OpenagentRuntime {
        OpenagentRuntime::default()
    }

    /// The client's session. Named as such, so that the hub comes back to it after a look at a side session.
    fn at_home(&self) -> Target {
        self.home.clone().map_or(Target::Current, Target::Session)
    }

    fn track(&mut self, session: &SessionId, event: &Event) {
        match &event.body {
            Body::Run(RunEvent::Started { .. }) => {
                self.runs.insert(session.clone(), None);
            }
            Body::Message(MessageEvent::Started { parent, role: domain::content::Role::User, .. }) => {
                if let Some(asked_on) = self.runs.get_mut(session) {
                    asked_on.get_or_insert(*parent);
                }
            }
            Body::Run(RunEvent::Ended { .. }) => {
                self.runs.remove(session);
            }
            _ => {}
        }
    }
}

impl RuntimeRole for OpenagentRuntime {
    fn open(&mut self, _cx: &mut RuntimeCx<'_>, greeting: &Greeting) {
        self.endpoint.greeting = greeting.clone();
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _lane: Lane, line: Line) {
        endpoint::line(self, cx, line);
    }

    fn abilities(&mut self, cx: &mut RuntimeCx<'_>, view: Option<View<'_>>, abilities: &Abilities) -> bool {
        if let Some(model) = view.and_then(|view| view.state.settings.model.clone())
            && self.endpoint.greeting.follows
        {
            self.endpoint.greeting.model = Some((model.provider, model.name));
        }
        endpoint::abilities(self, cx, abilities);
        false
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
        endpoint::lost(self, cx, format!("the backend is gone: {why}"));
    }

    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        if view.current && self.branching == 0 {
            self.home = Some(view.session.clone());
        }
        match view.state.open_run() {
            Some(run) => {
                let first = view.state.entries.values().find(|entry| match &entry.kind {
                    domain::state::EntryKind::Message(message) => message.run == Some(run.id),
                    _ => false,
                });
                self.runs.insert(view.session.clone(), first.map(|entry| entry.parent));
            }
            None => {
                self.runs.remove(view.session);
            }
        }
        self.catch_up(cx, view);
    }

    fn detached(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId) {
        self.home.take_if(|home| home == session);
        self.runs.remove(session);
        self.unsaid.retain(|word| word.session != *session);
        let lost: Vec<u64> = self
            .queries
            .iter()
            .filter(|(_, q)| q.session.as_ref() == Some(session))
            .map(|(n, _)| *n)
            .collect();
        for number in lost {
            let failure = Failure::new("session_closed", "The session was closed; ask again");
            self.end_early(cx, number, failure);
        }
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event) {
        self.track(view.session, event);
        self.tell(cx, view, event);
        self.advance(cx);
    }

    fn signal(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, signal: &Signal) {
        let query = self.queries.values_mut().find(|query| query.runs_in(view.session));
        match (signal, query) {
            (Signal::Suggestion { text, confidence, source, context }, _) => {
                let params = notify::Suggestion {
                    suggestion: plain::clean(text),
                    confidence: f64::from(*confidence) / 1000.0,
                    source: source.clone(),
                    context: context.clone().unwrap_or_default(),
                };
                cx.send(rpc::notification(&params));
            }
            (Signal::Working(Some(words)), Some(query)) => {
                let lines = query.telling.working(words);
                query.say(cx, lines);
            }
            (Signal::Notify { level, text }, Some(query)) => {
                let lines = query.telling.notified(&mut self.counters, *level, text);
                query.say(cx, lines);
            }
            (Signal::Working(None), _) => {}
            // Outside of a query there is nothing to hang these on.
            (Signal::Working(Some(_)) | Signal::Notify { .. }, None)
            | (Signal::Status { .. } | Signal::Widget { .. } | Signal::Title(_) | Signal::EditorText(_), _) =>
            {
                cx.lost(signal);
            }
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
        self.advance(cx);
    }

    fn can_answer(&self) -> Answers {
        // The existing client shows no deadline and waits for its person as long as it takes.
        let deadline = (!self.client.terminal).then_some(APPROVAL_TIMEOUT);
        Answers { consent: self.client.approves(), deadline, ..Answers::NONE }
    }
}

/// The document's words for a code, and what is wrong this time.
fn words(number: i64, why: &str) -> String {
    let head = match number {
        jsonrpc::PARSE_ERROR => "Parse error",
        jsonrpc::INVALID_REQUEST => "Invalid Request",
        jsonrpc::METHOD_NOT_FOUND => "Method not found",
        jsonrpc::INVALID_PARAMS => "Invalid params",
        jsonrpc::INTERNAL_ERROR => "Internal error",
        code::MODEL => "Model error",
        code::TOOL => "Tool error",
        code::TIMEOUT => "Timeout",
        code::CANCELLED => "Cancelled",
        code::DENIED => "Permission denied",
        _ => "Agent error",
    };
    format!("{head}: {why}")
}
