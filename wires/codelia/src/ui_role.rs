//! We play codelia's UI; a codelia runtime is at the other end.
//!
//! States: greeting (until `initialize` is answered; commands wait), ready, gone. One run is heard at a time, live or from a replay.
//! The wire names runs and tool calls; those names become the keys of facts, and the canon makes our ids of them. Tolerant by design:
//! lines that are no JSON, ids of another type, events before the result of `run.start`, and words that we do not know are reported as
//! drift and otherwise do no harm.

mod asks;
mod commands;
mod hearing;
mod models;
mod responses;

use super::runtime_role::OURS;
use super::wire::{
    AgentEvent, AgentEventNotify, AgentEventParams, BadEvent, ConfirmParams, InitializeParams,
    InitializeResult, ModelListParams, PROTOCOL_VERSION, PickParams, Program, PromptParams, RunContextParams,
    RunDiagnosticsParams, RunStatusParams, ServerCapabilities, SessionHistoryParams, Status, UiCapabilities,
    UiContextParams, read_event,
};
use asks::OpenAsk;
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::content::Input;
use domain::event::{Failure, Outcome, PERCENTS};
use domain::fact::{Fact, Key, Said};
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::session::{Effort, ModelRef, SessionSummary};
use hearing::Hearing;
use models::GatheredModels;
use responses::SentRequest;
use rolekit::rpc::{self, Call};
use rolekit::start::{Start, Waits};
use roles::{Drift, Hello, Lane, Line, Past, Reason, Seen, TimerKey, UiCx, UiRole};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use wire::jsonrpc::{self, Message, RpcError};
use wire::{Correlation, WireId};

/// The runtime has to answer `initialize`.
const HANDSHAKE: TimerKey = TimerKey(1);
/// A proposed tool that nobody is asked about runs by now.
const TOOL_RUNS: TimerKey = TimerKey(2);
/// The runtime has to show a session that is being opened.
const OPENING: TimerKey = TimerKey(4);
/// A run whose last word was heard is over by now, also where its status is not told.
const FINAL_HEARD: TimerKey = TimerKey(5);
/// A list of models is shown as far as it came.
const LIST_OVER: TimerKey = TimerKey(6);
/// How long after `final` a status would have come: the document makes it optional.
const STATUS_GRACE: Duration = Duration::from_secs(3);
/// How long that may take.
const OPEN_WITHIN: Duration = Duration::from_secs(30);
/// A refused `run.start` is tried again.
const TRY_AGAIN: TimerKey = TimerKey(3);
/// How long after a tool call a question about it would have come.
const ASK_GRACE: Duration = Duration::from_millis(250);
/// The existing runtime counts a run as active for a moment after it said that it is over.
const BUSY_PAUSE: Duration = Duration::from_millis(200);
/// How often a refused `run.start` is tried again.
const MAX_TRIES: u32 = 5;
/// Most commands that wait for the handshake or a replay.
const MAX_HELD: usize = 64;
/// Most runs remembered as ended, to know what comes late.
const MAX_ENDED: usize = 64;
/// Most sessions remembered from lists.
const MAX_KNOWN: usize = 1024;

/// The UI's side of codelia.
#[derive(Debug, Default)]
pub struct CodeliaUi {
    pending: Correlation<SentRequest>,
    server: Option<InitializeResult>,
    gone: bool,
    waits: Start,
    /// Commands that wait for the handshake or for the end of a replay.
    held: VecDeque<(Ticket, Command)>,
    /// Goes with the next `run.start`.
    session: Option<SessionId>,
    context: Option<UiContextParams>,
    /// The `run.start` that is not answered yet, or is to be tried again.
    starting: Option<Starting>,
    run: Option<Hearing>,
    ended: VecDeque<Key>,
    replaying: bool,
    /// The session that is being opened, and who waits for it.
    opening: Option<(Ticket, SessionId)>,
    asks: BTreeMap<Key, OpenAsk>,
    known: BTreeMap<SessionId, SessionSummary>,
    /// What the runtime calls sessions whose names cannot be ours.
    names: BTreeMap<SessionId, String>,
    /// The model that answers, as far as it was said.
    model: Option<ModelRef>,
    /// How hard it thinks, as far as it was said.
    effort: Option<Effort>,
    /// What it answered that it does not know.
    lacks: Lacks,
    gathered: BTreeMap<Ticket, GatheredModels>,
    /// Providers whose models are not listed because the runtime then asks for a key.
    keyless: BTreeSet<String>,
    /// Whether the person has answered a question since we last asked for a list.
    answers_since_list: bool,
}

/// A run that was asked for and has no name yet.
#[derive(Debug, Clone)]
struct Starting {
    /// To be settled; taken when the run was heard before the answer.
    ticket: Option<Ticket>,
    /// What the person said; `None` for a compaction.
    input: Option<Input>,
    tries: u32,
    /// It is to be stopped as soon as its name is known.
    stop: Option<Ticket>,
}

/// Methods that a runtime said it does not have. The document gives it no other word for that.
#[derive(Debug, Default)]
struct Lacks {
    model_list: bool,
    model_set: bool,
    session_list: bool,
    mcp_list: bool,
    skills_list: bool,
}

impl CodeliaUi {
    /// A role for one link.
    pub fn new() -> CodeliaUi {
        CodeliaUi::default()
    }

    /// The id here for a session of the runtime. The document says nothing about how its names look.
    fn session_of(&mut self, name: &str) -> SessionId {
        let session = SessionId::of_peer(name);
        if session.as_str() != name && self.names.len() < MAX_KNOWN {
            self.names.insert(session.clone(), name.to_owned());
        }
        session
    }

    /// What the runtime calls a session.
    fn name_of(&self, session: &SessionId) -> String {
        self.names.get(session).cloned().unwrap_or_else(|| session.to_string())
    }

    fn ready(&self) -> bool {
        self.server.is_some()
    }

    /// What the runtime says it can do. The document makes saying it optional; then what it requires or recommends is assumed.
    fn capabilities(&self) -> ServerCapabilities {
        let assumed = ServerCapabilities {
            supports_run_cancel: true,
            supports_ui_requests: Some(true),
            ..ServerCapabilities::default()
        };
        self.server.as_ref().and_then(|server| server.server_capabilities.clone()).unwrap_or(assumed)
    }

    /// Sends a request whose answer is understood by what was asked; `false` when too many wait, which settles the command.
    fn ask_runtime(
        &mut self,
        cx: &mut UiCx<'_>,
        params: &(impl Call + serde::Serialize),
        pending: SentRequest,
    ) -> bool {
        let id = self.pending.next_string_id("");
        let ticket = pending.ticket();
        match self.pending.insert(id.clone(), pending) {
            Ok(()) => {
                cx.send(rpc::request(&id, params));
                true
            }
            Err(why) => {
                if let Some(ticket) = ticket {
                    cx.settle(ticket, Err(Refusal::new(RefusalKind::TooMany, why.to_string())));
                }
                false
            }
        }
    }

    /// The handshake is over.
    fn greeted(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, server: InitializeResult) {
        cx.cancel_timer(HANDSHAKE);
        if server.protocol_version != PROTOCOL_VERSION {
            let what = format!(
                "the runtime speaks version {:?}, we speak {PROTOCOL_VERSION:?}",
                server.protocol_version
            );
            cx.drift(Drift::new("initialize", what, ""));
        }
        self.server = Some(server);
        // What the person sees first is which model answers.
        let params = ModelListParams { provider: None, include_details: false };
        self.ask_runtime(cx, &params, SentRequest::CurrentModel);
        if let Some(session) = self.session.clone() {
            self.replay(cx, &session, None);
        }
        self.release(cx, seen);
    }

    fn replay(&mut self, cx: &mut UiCx<'_>, session: &SessionId, ticket: Option<(Ticket, u64, u64)>) {
        self.replaying = true;
        let limit =
            |pick: fn((Ticket, u64, u64)) -> u64| ticket.map(|t| i64::try_from(pick(t)).unwrap_or(i64::MAX));
        let params = SessionHistoryParams {
            session_id: self.name_of(session),
            max_runs: limit(|(_, runs, _)| runs),
            max_events: limit(|(_, _, events)| events),
        };
        let ticket = ticket.map(|(ticket, ..)| ticket);
        self.ask_runtime(cx, &params, SentRequest::History { ticket });
    }

    /// Gives the commands that waited another try.
    fn release(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>) {
        for (ticket, command) in std::mem::take(&mut self.held) {
            self.command(cx, seen, ticket, command);
        }
    }

    fn unusable(&mut self, cx: &mut UiCx<'_>, why: impl Into<String>) {
        self.gone = true;
        cx.close(Reason::Unusable(why.into()));
    }

    fn notification(&mut self, cx: &mut UiCx<'_>, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        let done = match method {
            AgentEventNotify::METHOD => read(raw).map(|params| self.agent_event(cx, params)),
            RunStatusParams::METHOD => read(raw).map(|params| self.run_status(cx, params)),
            RunContextParams::METHOD => read(raw).map(|params| self.run_context(cx, &params)),
            RunDiagnosticsParams::METHOD => Ok(()),
            _ => Err("a notification that we do not know".to_owned()),
        };
        if let Err(what) = done {
            cx.drift(Drift::new(method, what, raw));
        }
    }

    fn agent_event(&mut self, cx: &mut UiCx<'_>, params: AgentEventParams<'_, &RawValue>) {
        let event = match read_event(params.event.get()) {
            Ok(event) => event,
            Err(BadEvent::Unknown(name)) => {
                return cx.drift(Drift::new(
                    "agent.event",
                    format!("an event of type {name:?}"),
                    params.event.get(),
                ));
            }
            Err(BadEvent::Malformed(why)) => {
                return cx.drift(Drift::new("agent.event", why, params.event.get()));
            }
        };
        let key = Key::from(params.run_id);
        if !self.hear_run(cx, &key) {
            return cx.drift(Drift::new(
                "agent.event",
                "an event after the end of its run",
                params.event.get(),
            ));
        }
        let Some(run) = &mut self.run else { return };
        let meta = params.meta.filter(|meta| meta.delta);
        if !run.replayed {
            match &event {
                AgentEvent::Final(_) => cx.timer(FINAL_HEARD, STATUS_GRACE),
                _ => cx.cancel_timer(FINAL_HEARD),
            }
        }
        run.hear(cx, event, meta);
        for signal in run.signals() {
            cx.signal(signal);
        }
        if run.wants_timer() && !self.replaying {
            cx.timer(TOOL_RUNS, ASK_GRACE);
        }
    }

    /// Makes the named run the one that is heard; false when it has ended.
    fn hear_run(&mut self, cx: &mut UiCx<'_>, key: &Key) -> bool {
        if self.run.as_ref().is_some_and(|run| run.key() == key) {
            return true;
        }
        if self.ended.contains(key) && !self.replaying {
            return false;
        }
        if self.replaying {
            self.end_run(cx, Outcome::Done);
        }
        let mut starting = if self.replaying { None } else { self.starting.take() };
        let ours = starting.as_mut().and_then(|starting| starting.ticket.take());
        if let Some(ticket) = ours {
            // The run is there, whether or not the result of `run.start` has come.
            cx.settle(ticket, Ok(Receipt::Done));
        }
        self.begin(cx, key, starting.as_ref().filter(|_| ours.is_some()));
        self.starting = starting;
        true
    }

    fn begin(&mut self, cx: &mut UiCx<'_>, key: &Key, starting: Option<&Starting>) {
        cx.fact(Fact::of(key.clone(), Said::RunStarted));
        let input = starting.and_then(|starting| starting.input.as_ref());
        let compaction = starting.is_some_and(|starting| starting.input.is_none());
        let mut run = Hearing::new(key.clone(), self.replaying, compaction);
        if let Some(input) = input {
            run.prompt(cx, input);
        }
        self.run = Some(run);
    }

    fn end_run(&mut self, cx: &mut UiCx<'_>, outcome: Outcome) {
        let Some(run) = self.run.take() else { return };
        cx.cancel_timer(FINAL_HEARD);
        run.say(cx, Said::RunEnded(outcome));
        if !run.replayed {
            // The canon withdraws what is open; the runtime must not be left waiting for it.
            self.deny_all(cx);
        }
        self.ended.push_back(run.key().clone());
        if self.ended.len() > MAX_ENDED {
            self.ended.pop_front();
        }
    }

    fn run_status(&mut self, cx: &mut UiCx<'_>, params: RunStatusParams) {
        let key = Key::from(params.run_id);
        let outcome = match params.status {
            Status::Running | Status::AwaitingUi => {
                if !self.hear_run(cx, &key) {
                    return;
                }
                let Some(run) = self.run.as_mut().filter(|_| params.status == Status::Running) else {
                    return;
                };
                return run.goes_on(cx);
            }
            Status::Completed => Outcome::Done,
            Status::Error => {
                let message = params.message.unwrap_or_else(|| "the runtime gave no reason".to_owned());
                Outcome::Failed(Failure::new("runtime", message))
            }
            Status::Cancelled => Outcome::Cancelled,
            Status::Other(word) => {
                return cx.drift(Drift::new("run.status", format!("status {word:?}"), &key));
            }
        };
        if self.hear_run(cx, &key) {
            self.end_run(cx, outcome);
        }
    }

    fn run_context(&mut self, cx: &mut UiCx<'_>, params: &RunContextParams) {
        let left = u64::try_from(params.context_left_percent.clamp(0, 100)).unwrap_or(0);
        let key = Key::from(params.run_id.as_str());
        if self.hear_run(cx, &key) {
            cx.fact(Fact::of(key, Said::Context { used: PERCENTS - left, window: PERCENTS }));
        }
    }

    fn request(&mut self, cx: &mut UiCx<'_>, id: WireId, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        let asked = match method {
            ConfirmParams::METHOD => read(raw).map(|params| self.confirm(cx, &id, params)),
            PromptParams::METHOD => read(raw).map(|params| self.prompt(cx, &id, params)),
            PickParams::METHOD => read(raw).map(|params| self.pick(cx, &id, params)),
            _ => {
                cx.drift(Drift::new(method, "a request that we do not know", raw));
                let error = RpcError::new(jsonrpc::METHOD_NOT_FOUND, "method not found");
                return cx.send(jsonrpc::error(Some(&id), &error));
            }
        };
        if let Err(what) = asked {
            let error = RpcError::new(jsonrpc::INVALID_PARAMS, format!("invalid params: {what}"));
            cx.send(jsonrpc::error(Some(&id), &error));
            cx.drift(Drift::new(method, what, raw));
        }
    }
}

impl UiRole for CodeliaUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        self.session = hello.session.as_deref().map(|name| self.session_of(name));
        let cwd = Some(hello.cwd.clone()).filter(|cwd| !cwd.is_empty());
        self.context = cwd.map(|cwd| UiContextParams { cwd: Some(cwd), ..UiContextParams::default() });
        let params = InitializeParams {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            client: Program { name: OURS.to_owned(), version: hello.version.clone() },
            ui_capabilities: UiCapabilities {
                supports_confirm: true,
                // A runtime that asks when nobody can choose would wait, or be sent away.
                supports_prompt: !hello.is_away,
                supports_pick: !hello.is_away,
                supports_markdown: true,
                supports_images: true,
                supports_permission_preflight_events: true,
                supports_text_deltas: true,
            },
        };
        self.ask_runtime(cx, &params, SentRequest::Handshake);
        self.waits = Start::by_clock(hello, cx.now);
        cx.timer(HANDSHAKE, self.waits.first());
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "too long, skipped", &head)),
            Line::Garbled(head) => return cx.drift(Drift::new("line", "not UTF-8 text, skipped", &head)),
        };
        match jsonrpc::classify(&text) {
            Message::Request { id, method, params } => self.request(cx, id, &method, params),
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
        let waits = self.replaying || self.opening.is_some();
        if !self.ready() || (waits && commands::starts_something(&command)) {
            if self.held.len() >= MAX_HELD {
                let refusal =
                    Refusal::new(RefusalKind::TooMany, "the runtime is not ready yet").hint("wait a moment");
                return cx.settle(ticket, Err(refusal));
            }
            return self.held.push_back((ticket, command));
        }
        self.lower(cx, seen, ticket, command);
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, key: TimerKey) {
        match key {
            LIST_OVER => self.list_over(cx),
            HANDSHAKE if !self.ready() => match self.waits.due(cx.now) {
                Waits::For(after) => cx.timer(HANDSHAKE, after),
                Waits::Over(after) => {
                    let seconds = after.as_secs();
                    let why =
                        format!("no answer to initialize within {seconds} s; is this a codelia runtime?");
                    self.unusable(cx, why);
                }
            },
            TOOL_RUNS => {
                if let Some(run) = &mut self.run {
                    run.quiet_tools_run(cx);
                }
            }
            FINAL_HEARD => self.end_run(cx, Outcome::Done),
            TRY_AGAIN => self.start(cx),
            OPENING => {
                let refusal = Refusal::new(RefusalKind::TimedOut, "the runtime does not show the session");
                self.not_opened(cx, refusal.hint("try again, or start it anew"));
                self.replaying = false;
                self.release(cx, seen);
            }
            _ => {}
        }
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        self.gone = true;
        let asked = self.pending.drain().into_iter().filter_map(|(_, pending)| pending.ticket());
        let starting = self.starting.take();
        let waiting =
            starting.into_iter().flat_map(|starting| starting.ticket.into_iter().chain(starting.stop));
        let held = std::mem::take(&mut self.held).into_iter().map(|(ticket, _)| ticket);
        let opening = self.opening.take().map(|(ticket, _)| ticket);
        let gathered = std::mem::take(&mut self.gathered).into_keys();
        for ticket in asked.chain(waiting).chain(held).chain(opening).chain(gathered) {
            cx.settle(ticket, Err(lost()));
        }
        self.asks.clear();
        self.run = None;
    }

    fn abilities(&self) -> Option<Abilities> {
        let server = &self.server.as_ref()?.server;
        let can = self.capabilities();
        let name = format!("{} {}", server.name, server.version);
        let sets_model = !self.lacks.model_list && !self.lacks.model_set;
        Some(Abilities {
            name: Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("codelia").to_owned(),
            cancel: can.supports_run_cancel,
            sessions: !self.lacks.session_list,
            models: !self.lacks.model_list,
            servers: can.supports_mcp_list && !self.lacks.mcp_list,
            skills: can.supports_skills_list && !self.lacks.skills_list,
            // Who does not say it may ask all the same: only a no is a no.
            consent: can.supports_ui_requests != Some(false),
            open_session: !self.lacks.session_list,
            compact: true,
            set_model: sets_model,
            // It is set together with the model; one that does not take it says so by leaving it out.
            effort: sets_model && self.model.is_some(),
            ..Abilities::default()
        })
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.session.as_ref().map(|session| session.as_str().into())
    }

    fn is_arriving(&self) -> bool {
        self.opening.is_some()
    }

    fn past(&self) -> Past {
        if self.replaying || self.is_arriving() { Past::Comes } else { Past::None }
    }
}

fn lost() -> Refusal {
    Refusal::new(RefusalKind::Lost, "the runtime is gone").hint("start it again")
}

fn read<'de, T: Deserialize<'de>>(raw: &'de str) -> Result<T, String> {
    serde_json::from_str(raw).map_err(|error| error.to_string())
}
