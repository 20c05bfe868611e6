//! We play openagent's client; an openagent backend is at the other end.
//!
//! States: greeting (until `initialize` is answered; commands wait), ready, gone. One query is heard at a time ([`hearing`]). Serves
//! backends that follow the document and the existing one, which ends the stream before its request for approval is answered, runs the
//! tool inside `tool.approve`, cannot cancel, and closes the connection at lines of 64 KiB.

mod commands;
mod hearing;
mod responses;

use super::wire::{
    Context, InitializeParams, InitializeResult, ListParams, LoadParams, PROTOCOL_VERSION, Program,
    TerminalSize, capability, notify,
};
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::content::Input;
use domain::fact::{Fact, Key, Said};
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::session::SessionSummary;
use domain::signal::Signal;
use hearing::Hearing;
use responses::SentRequest;
use rolekit::rpc::{self, Call};
use rolekit::session_name;
use roles::{Drift, HANDSHAKE_TIMEOUT, Hello, Lane, Line, Past, Reason, Seen, TimerKey, UiCx, UiRole};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use wire::jsonrpc::{self, Message, RpcError};
use wire::{Correlation, WireId};

/// Longest line that the existing backend takes, with room to spare: at 64 KiB it closes the connection without a word.
pub const BACKEND_LINE: usize = 60_000;
/// The existing backend's name.
const EXISTING_BACKEND: &str = "openagent-terminal-backend";
/// The backend has to answer `initialize`.
const HANDSHAKE: TimerKey = TimerKey(1);
/// What a session is called was asked for.
const NAMING: TimerKey = TimerKey(2);
/// How long the end of the first query waits for that: a session that is told to be over can be left, and must be found again.
const NAMED_WITHIN: Duration = Duration::from_secs(1);
/// Most commands that wait for the handshake.
const MAX_HELD: usize = 64;
/// Most queries remembered as over, to know what comes late.
const MAX_OVER: usize = 64;
/// Most sessions remembered from lists.
const MAX_KNOWN: usize = 1024;
/// Most characters of what was said first that are compared with a title.
const MAX_TITLE: usize = 200;
/// The size we claim where there is no terminal.
const NO_TERMINAL: (u16, u16) = (80, 24);

/// The client's side of openagent.
#[derive(Debug, Default)]
pub struct OpenagentUi {
    pending: Correlation<SentRequest>,
    server: Option<InitializeResult>,
    gone: bool,
    held: VecDeque<(Ticket, Command)>,
    /// Session to go to after the handshake.
    wanted: Option<String>,
    context: Context,
    /// What was asked and has no name yet.
    asking: Option<Asking>,
    query: Option<Hearing>,
    /// The first query, which is over as soon as its session has a name.
    ending: Option<Hearing>,
    over: VecDeque<String>,
    known: BTreeMap<SessionId, SessionSummary>,
    /// What the backend calls sessions, where that is another word than ours.
    names: BTreeMap<SessionId, String>,
    /// The model that answered last.
    model: Option<String>,
    /// Sessions whose messages were told already.
    told: BTreeSet<SessionId>,
    /// The session that was loaded last.
    session: Option<SessionId>,
    /// A session is being loaded.
    loading: bool,
    /// What the backend calls the session that it makes of the first query.
    naming: Naming,
}

/// A backend tells what it calls a session only in its list.
#[derive(Debug, Default)]
enum Naming {
    /// Nobody wants to know, or it was asked already.
    #[default]
    Idle,
    /// To be asked after the first query.
    Wanted,
    /// This was said first in it; the title in the list begins so.
    Said(String),
}

/// A query without a name.
#[derive(Debug)]
struct Asking {
    /// To be settled; taken when the stream began before the answer.
    ticket: Option<Ticket>,
    input: Input,
    /// To be stopped as soon as it has one.
    stop: bool,
}

impl OpenagentUi {
    /// A role for one link.
    pub fn new() -> OpenagentUi {
        OpenagentUi::default()
    }

    /// The existing backend is at the other end.
    fn existing(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.server_info.name == EXISTING_BACKEND)
    }

    /// Our own runtime is.
    fn is_ours(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.server_info.name == super::OUR_NAME)
    }

    /// The session that the backend names like this; one of ours names them by another word than their ids.
    fn session_named(&mut self, name: &str) -> Option<SessionId> {
        let read = if self.is_ours() { session_name::read(name) } else { SessionId::parse(name) };
        let session = read?;
        if session.as_str() != name && self.names.len() < MAX_KNOWN {
            self.names.insert(session.clone(), name.to_owned());
        }
        Some(session)
    }

    /// What the backend calls a session.
    fn name_of(&self, session: &SessionId) -> String {
        self.names.get(session).cloned().unwrap_or_else(|| session.to_string())
    }

    fn line_limit(&self) -> usize {
        if self.existing() { BACKEND_LINE } else { wire::lines::MAX_LINE }
    }

    /// Sends a request whose answer is understood by what was asked; `Err` when it cannot be sent.
    fn ask_backend<P: Call + serde::Serialize>(
        &mut self,
        cx: &mut UiCx<'_>,
        params: &P,
        pending: SentRequest,
    ) -> Result<(), Refusal> {
        let id = self.pending.next_number_id();
        let line = rpc::request(&id, params);
        let limit = self.line_limit();
        if line.len() > limit {
            let why = format!(
                "{} would be a line of {} bytes and the backend takes {limit}",
                P::METHOD,
                line.len()
            );
            return Err(
                Refusal::new(RefusalKind::Invalid, why).hint("say it in fewer words, or name a file instead")
            );
        }
        self.loading |= matches!(pending, SentRequest::Load { .. });
        self.pending
            .insert(id, pending)
            .map_err(|why| Refusal::new(RefusalKind::TooMany, why.to_string()))?;
        cx.send(line);
        Ok(())
    }

    fn greeted(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, server: InitializeResult) {
        cx.cancel_timer(HANDSHAKE);
        if server.status != "ready" {
            cx.drift(Drift::new("initialize", format!("status {:?}", server.status), ""));
        }
        self.server = Some(server);
        self.tell_model(cx);
        if let Some(session_id) = self.wanted.take() {
            let params = LoadParams { path: None, session_id: Some(session_id) };
            let pending = SentRequest::Load { ticket: None };
            if let Err(refusal) = self.ask_backend(cx, &params, pending) {
                cx.drift(Drift::new(LoadParams::METHOD, refusal.to_string(), ""));
            }
        }
        for (ticket, command) in std::mem::take(&mut self.held) {
            self.command(cx, seen, ticket, command);
        }
    }

    /// Says which model answers, as the hello had it.
    fn tell_model(&self, cx: &mut UiCx<'_>) {
        if let (_, Some(model)) = self.models() {
            cx.fact(Fact::new(Said::Model(model)));
        }
    }

    fn unusable(&mut self, cx: &mut UiCx<'_>, why: impl Into<String>) {
        self.gone = true;
        cx.close(Reason::Unusable(why.into()));
    }

    /// Makes the named query the one that is heard. `None` when it is over, or when another one is heard.
    fn heard(&mut self, cx: &mut UiCx<'_>, query_id: &str) -> Option<&mut Hearing> {
        let other =
            self.query.as_ref().is_some_and(|query| !query_id.is_empty() && **query.key() != *query_id);
        if other || self.over.iter().any(|over| over == query_id) {
            return None;
        }
        if self.query.is_none() {
            if query_id.is_empty() {
                return None;
            }
            let ticket = self.asking.as_mut().and_then(|asking| asking.ticket.take());
            let input = self.asking.as_ref().filter(|_| ticket.is_some()).map(|asking| asking.input.clone());
            self.begin(cx, query_id, input, ticket);
        }
        self.query.as_mut()
    }

    /// A query begins to be heard. Its prompt is settled first, so that whoever asked hears of the receipt before the run.
    fn begin(&mut self, cx: &mut UiCx<'_>, query_id: &str, input: Option<Input>, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            cx.settle(ticket, Ok(Receipt::Done));
        }
        if let (Naming::Wanted, Some(input)) = (&self.naming, &input) {
            self.naming = Naming::Said(input.text.chars().take(MAX_TITLE).collect());
        }
        self.end_first(cx);
        let hearing = Hearing::new(Key::from(query_id), self.existing());
        hearing.say(cx, Said::RunStarted);
        if let Some(input) = input {
            hearing.prompt(cx, &input);
        }
        self.query = Some(hearing);
    }

    /// The run ends if nothing keeps it open.
    fn end_if_over(&mut self, cx: &mut UiCx<'_>) {
        if !self.query.as_ref().is_some_and(Hearing::is_over) {
            return;
        }
        let Some(query) = self.query.take() else { return };
        self.forget(query.key().to_string());
        let first = match std::mem::take(&mut self.naming) {
            Naming::Said(first) if self.session.is_none() => first,
            other => {
                self.naming = other;
                return query.end(cx);
            }
        };
        match self.ask_backend(cx, &ListParams { limit: Some(1) }, SentRequest::Name { first }) {
            Ok(_) => {
                self.ending = Some(query);
                cx.timer(NAMING, NAMED_WITHIN);
            }
            Err(refusal) => {
                cx.drift(Drift::new(ListParams::METHOD, refusal.to_string(), ""));
                query.end(cx);
            }
        }
    }

    /// The first query is over, whether its session has a name or not.
    fn end_first(&mut self, cx: &mut UiCx<'_>) {
        if let Some(query) = self.ending.take() {
            query.end(cx);
        }
    }

    /// The backend said which model answered.
    fn uses(&mut self, cx: &mut UiCx<'_>, model: String) {
        if !model.is_empty() && self.model.as_ref() != Some(&model) {
            cx.fact(Fact::new(Said::Model(commands::lift_model(&model))));
            self.model = Some(model);
        }
    }

    fn forget(&mut self, query_id: String) {
        self.over.push_back(query_id);
        if self.over.len() > MAX_OVER {
            self.over.pop_front();
        }
    }

    fn notification(&mut self, cx: &mut UiCx<'_>, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        let done = match method {
            notify::Token::METHOD => read(raw).map(|token: notify::Token| {
                if let Some(query) = self.heard(cx, &token.query_id) {
                    query.token(cx, token);
                }
            }),
            notify::Tokens::METHOD => read(raw).map(|tokens: notify::Tokens| {
                if let Some(query) = self.heard(cx, &tokens.query_id) {
                    query.tokens(cx, tokens);
                }
            }),
            notify::BlockParams::METHOD => read(raw).map(|block: notify::BlockParams| {
                if let Some(query) = self.heard(cx, &block.query_id) {
                    query.block(cx, block, raw);
                }
            }),
            notify::Complete::METHOD => read(raw).map(|complete: notify::Complete| {
                let model = complete.metadata.as_ref().and_then(|metadata| metadata.model_used.clone());
                if let Some(query) = self.heard(cx, &complete.query_id) {
                    query.complete(cx, complete);
                    self.uses(cx, model.unwrap_or_default());
                }
                self.end_if_over(cx);
            }),
            notify::StreamError::METHOD => read(raw).map(|error: notify::StreamError| {
                if let Some(query) = self.heard(cx, &error.query_id) {
                    query.error(error.error);
                }
                // The document says of no end that follows; one that still comes is of a query that is over.
                self.end_if_over(cx);
            }),
            notify::RequestApproval::METHOD => read(raw).map(|request| self.approval(cx, request, raw)),
            notify::Progress::METHOD => read(raw).map(|progress: notify::Progress| {
                if let Some(query) = self.of_tool(cx, progress.query_id.as_deref(), method, raw) {
                    query.progress(cx, progress);
                }
            }),
            notify::ToolComplete::METHOD => read(raw).map(|complete: notify::ToolComplete| {
                if let Some(query) = self.of_tool(cx, complete.query_id.as_deref(), method, raw) {
                    query.tool_complete(cx, complete);
                }
                self.end_if_over(cx);
            }),
            notify::ToolResult::METHOD => read(raw).map(|result: notify::ToolResult| {
                if let Some(query) = self.of_tool(cx, None, method, raw) {
                    query.tool_result(cx, &result);
                }
                self.end_if_over(cx);
            }),
            notify::Thinking::METHOD => read(raw).map(|thinking: notify::Thinking| {
                if let Some(query) = self.heard(cx, &thinking.query_id) {
                    query.thinking(cx, thinking);
                }
            }),
            notify::Suggestion::METHOD => read(raw).map(|suggestion: notify::Suggestion| {
                let thousandths = (suggestion.confidence.clamp(0.0, 1.0) * 1000.0).round() as u16;
                cx.signal(Signal::Suggestion {
                    text: suggestion.suggestion,
                    confidence: thousandths,
                    source: suggestion.source,
                    context: Some(suggestion.context).filter(|context| !context.is_empty()),
                });
            }),
            _ => Err("a notification that we do not know".to_owned()),
        };
        if let Err(what) = done {
            cx.drift(Drift::new(method, what, raw));
        }
    }

    /// The query that a tool belongs to: the named one, else the one that is heard.
    fn of_tool(
        &mut self,
        cx: &mut UiCx<'_>,
        query_id: Option<&str>,
        place: &str,
        raw: &str,
    ) -> Option<&mut Hearing> {
        let query_id = query_id.unwrap_or_default().to_owned();
        if self.heard(cx, &query_id).is_none() {
            cx.drift(Drift::new(place, "about a tool of no query under way", raw));
            return None;
        }
        self.query.as_mut()
    }

    /// A question of a query that is over, or of none, is answered with no: nobody can see it.
    fn approval(&mut self, cx: &mut UiCx<'_>, request: notify::RequestApproval, raw: &str) {
        let query_id = request.query_id.clone().unwrap_or_default();
        let now = cx.now;
        match self.heard(cx, &query_id) {
            Some(query) => query.approval(cx, request, now),
            None => {
                cx.drift(Drift::new(
                    notify::RequestApproval::METHOD,
                    "a request of no query under way was denied",
                    raw,
                ));
                self.deny(cx, request.execution_id);
            }
        }
    }
}

impl UiRole for OpenagentUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        self.wanted = hello.session.as_deref().map(str::to_owned);
        self.naming = if hello.keeps { Naming::Wanted } else { Naming::Idle };
        self.context.cwd = Some(hello.cwd.clone()).filter(|cwd| !cwd.is_empty());
        self.context.shell.clone_from(&hello.shell);
        let (cols, rows) = hello.size.unwrap_or(NO_TERMINAL);
        let capabilities = [
            capability::STREAMING,
            capability::BLOCKS,
            capability::SYNTAX_HIGHLIGHTING,
            capability::TOOL_APPROVAL,
            capability::SESSION_PERSISTENCE,
        ];
        let params = InitializeParams {
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            client_info: Some(Program { name: "parlor".to_owned(), version: hello.version.clone() }),
            terminal_size: Some(TerminalSize {
                cols: cols.into(),
                rows: rows.into(),
                ..TerminalSize::default()
            }),
            capabilities: Some(capabilities.map(str::to_owned).to_vec()),
            config: Some(serde_json::json!({})),
        };
        if let Err(refusal) = self.ask_backend(cx, &params, SentRequest::Handshake) {
            return self.unusable(cx, refusal.to_string());
        }
        cx.timer(HANDSHAKE, HANDSHAKE_TIMEOUT);
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "too long, skipped", &head)),
            Line::Garbled(head) => return cx.drift(Drift::new("line", "not UTF-8 text, skipped", &head)),
        };
        match jsonrpc::classify(&text) {
            Message::Request { id, method, .. } => {
                cx.drift(Drift::new(
                    method.as_str(),
                    "a request; this wire has none from the backend",
                    &text,
                ));
                let error = RpcError::new(jsonrpc::METHOD_NOT_FOUND, "Method not found");
                cx.send(jsonrpc::error(Some(&id), &error));
            }
            Message::Notification { method, params } => self.notification(cx, &method, params),
            Message::Response { id, outcome } => self.response(cx, seen, &id, outcome, &text),
            Message::Invalid { id, why } => {
                rpc::unusable(cx, &why, &text);
                // A damaged answer still ends its request.
                if let Some(id) = id.filter(|_| !why.answerable()) {
                    let error = RpcError::new(jsonrpc::INVALID_REQUEST, why.to_string());
                    self.response(cx, seen, &id, Err(error), &text);
                }
            }
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.gone {
            return cx.settle(ticket, Err(lost()));
        }
        if self.server.is_none() {
            if self.held.len() >= MAX_HELD {
                let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the backend");
                return cx.settle(ticket, Err(refusal.hint("wait until it has answered")));
            }
            return self.held.push_back((ticket, command));
        }
        if let Err(refusal) = self.order(cx, seen, ticket, command) {
            cx.settle(ticket, Err(refusal));
        }
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, key: TimerKey) {
        if key == NAMING {
            self.end_first(cx);
        }
        if key == HANDSHAKE && self.server.is_none() {
            let seconds = HANDSHAKE_TIMEOUT.as_secs();
            self.unusable(
                cx,
                format!(
                    "the backend did not answer initialize within {seconds} s; check that it speaks the OpenAgent-Terminal \
                     protocol {PROTOCOL_VERSION} on this socket"
                ),
            );
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        (self.gone, self.loading) = (true, false);
        self.end_first(cx);
        let held = std::mem::take(&mut self.held).into_iter().map(|(ticket, _)| ticket);
        let asking = self.asking.take().and_then(|asking| asking.ticket);
        let pending = self.pending.drain().into_iter().filter_map(|(_, pending)| pending.ticket());
        for ticket in held.chain(asking).chain(pending).collect::<Vec<_>>() {
            cx.settle(ticket, Err(lost()));
        }
        self.query = None;
    }

    fn abilities(&self) -> Option<Abilities> {
        let server = self.server.as_ref()?;
        let name = format!("{} {}", server.server_info.name, server.server_info.version);
        Some(Abilities {
            name: Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("openagent").to_owned(),
            cancel: true,
            sessions: true,
            consent: true,
            open_session: true,
            delete_session: true,
            export: true,
            save: true,
            text_only: true,
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.session.as_ref().map(|session| session.as_str().into())
    }

    fn past(&self) -> Past {
        if self.loading { Past::Awaited } else { Past::None }
    }
}

fn lost() -> Refusal {
    Refusal::new(RefusalKind::Lost, "the backend is gone").hint("start it again and attach to it")
}

fn read<T: DeserializeOwned>(raw: &str) -> Result<T, String> {
    serde_json::from_str(raw).map_err(|error| error.to_string())
}

/// A fact of a run.
fn fact(key: &Key, said: Said) -> Fact {
    Fact::of(key.clone(), said)
}

/// Whether two ids are the same request; here for the answers that come as numbers in quotes.
fn same_number(id: &WireId) -> Option<WireId> {
    id.as_text()?.parse::<u64>().ok().map(WireId::from)
}
