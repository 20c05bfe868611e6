//! We play a client; an agent is at the other end, usually a child process.
//!
//! States: greeting (`initialize`, then the first session; commands wait), up, gone. One session is followed at a time and one prompt is
//! under way at a time. The wire names no runs: each prompt is one, and so is what an agent does by itself. Tolerant by design: agents
//! differ in what they leave out, say twice or say too early, and what we do not know is reported as drift, kept and shown.

mod asks;
mod calls;
mod commands;
mod errands;
mod hearing;
mod judged;
mod options;
mod responses;
mod watched;

use super::wire::{
    AuthMethod, CancelRequestParams, ClientCapabilities, ClientMeta, ClientSessionCapabilities,
    CompleteElicitationParams, ConfigOptionsCapabilities, CreateElicitationParams, ElicitationCapabilities,
    FileCapabilities, Implementation, InitializeParams, InitializeResult, LoadSessionParams,
    NewSessionParams, Offered, PROTOCOL_VERSION, RequestPermissionParams, ResumeSessionParams,
    SessionNotification,
};
use asks::OpenAsk;
use domain::command::{Command, Refusal, RefusalKind};
use domain::content::Input;
use domain::errand::{ErrandId, ErrandNews};
use domain::fact::Key;
use domain::harmless;
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal, UiContext};
use errands::Errands;
use hearing::Hearing;
use judged::Judging;
use options::AgentOptions;
use responses::SentRequest;
use rolekit::rpc::{self, Call};
use rolekit::start::{Start, Waits};
use roles::{Drift, HANDSHAKE_TIMEOUT, Hello, Lane, Line, Past, Reason, Seen, TimerKey, UiCx, UiRole};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use watched::Watching;
use wire::jsonrpc::{self, Message, RpcError};
use wire::{Correlation, WireId};

/// The agent has to answer `initialize`, then with its first session.
const HANDSHAKE: TimerKey = TimerKey(1);
/// The person should know by now that the agent does not answer.
const SLOW: TimerKey = TimerKey(2);
/// A prompt that nobody refused is taken.
const TAKEN: TimerKey = TimerKey(3);
/// A call that nobody asked about runs by now.
const CALL_RUNS: TimerKey = TimerKey(4);
/// What an agent did by itself is over when it is silent for so long.
const QUIET: TimerKey = TimerKey(5);
/// A run that was stopped has to be over by now.
const STOPPED: TimerKey = TimerKey(6);
/// Timers of requests begin here.
const REQUESTS: u64 = 100;
/// How long after a prompt its refusal would have come.
const TAKEN_AFTER: Duration = Duration::from_millis(300);
/// How long after a call began a question about it would have come.
const ASK_GRACE: Duration = Duration::from_millis(250);
const QUIET_AFTER: Duration = Duration::from_secs(5);
/// The same while a call of it has no end.
const QUIET_CALL: Duration = Duration::from_secs(10 * 60);
/// How long an agent may take to stop.
const STOPS_WITHIN: Duration = Duration::from_secs(30);
/// How long a request other than a prompt may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most commands that wait for the handshake.
const MAX_HELD: usize = 64;
/// Most sessions remembered from lists.
const MAX_KNOWN: usize = 4096;
/// Begins what agents tell of their login beside the protocol.
const AUTH: &str = "_auth/";
/// Longest line of noise that is shown.
const MAX_NOISE: usize = 200;

/// How an agent says that it is logged in, in words; nothing where it says no more than that it is.
fn login_words(raw: &str) -> Option<String> {
    let said: serde_json::Value = serde_json::from_str(raw).ok()?;
    let part = |name: &str| said["authStatus"][name].as_str().filter(|text| !text.is_empty());
    let words = match (part("label").or(part("kind"))?, part("detail")) {
        (label, Some(detail)) => format!("the agent's login: {label} ({detail})"),
        (label, None) => format!("the agent's login: {label}"),
    };
    Some(harmless::in_line(&words).chars().take(MAX_NOISE).collect())
}

/// The client's side of the protocol.
#[derive(Debug, Default)]
pub struct AcpUi {
    pending: Correlation<SentRequest>,
    cwd: String,
    wanted: Option<Arc<str>>,
    /// Where the person was before the link broke.
    last: Option<Arc<str>>,
    agent: Option<InitializeResult>,
    up: bool,
    gone: bool,
    held: VecDeque<(Ticket, Command)>,
    /// The session that we follow, by the agent's name.
    session: Option<String>,
    /// The session that we began for want of another and that nobody has used yet.
    untouched: Option<String>,
    /// The session that is being opened for a command.
    arriving: Option<Arriving>,
    /// The past of this session is being told.
    loading: Option<String>,
    /// The prompt that has no answer yet.
    prompt: Option<Prompting>,
    run: Option<Hearing>,
    runs: u64,
    asks: BTreeMap<Key, OpenAsk>,
    errands: Errands,
    judging: Judging,
    watching: Watching,
    options: AgentOptions,
    context: Option<UiContext>,
    known: BTreeMap<SessionId, (String, SessionSummary)>,
    /// What the agent has cost so far, in millionths of a dollar, and what of it was counted.
    cost: (u64, u64),
    /// The last line of its stdout that was no message.
    noise: Option<String>,
    start: Start,
}

/// A session that is being opened, and who waits for it.
#[derive(Debug)]
struct Arriving {
    ticket: Ticket,
    name: String,
}

/// A prompt under way.
#[derive(Debug)]
struct Prompting {
    id: WireId,
    /// To be settled; taken once it is.
    ticket: Option<Ticket>,
    input: Input,
    key: Key,
}

impl AcpUi {
    /// A role for one link.
    pub fn new() -> AcpUi {
        AcpUi::default()
    }

    /// Sends a request whose answer is understood by what was asked; `false` when too many wait, which settles the command.
    fn ask_agent(
        &mut self,
        cx: &mut UiCx<'_>,
        params: &(impl Call + serde::Serialize),
        pending: SentRequest,
    ) -> bool {
        let id = self.pending.next_number_id();
        self.send(cx, id.clone(), rpc::request(&id, params), pending)
    }

    fn send(&mut self, cx: &mut UiCx<'_>, id: WireId, line: String, pending: SentRequest) -> bool {
        let (ticket, waits) = (pending.ticket(), pending.waits());
        match self.pending.insert(id.clone(), pending) {
            Ok(()) => {
                cx.send(line);
                if waits && let Some(number) = id.as_number().and_then(|number| u64::try_from(number).ok()) {
                    cx.timer(TimerKey(REQUESTS + number), PATIENCE);
                }
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

    /// The handshake is over: goes to the session that was wanted, or begins one.
    fn greeted(&mut self, cx: &mut UiCx<'_>, agent: InitializeResult) {
        if agent.protocol_version != PROTOCOL_VERSION {
            let theirs = agent.protocol_version;
            return self.unusable(
                cx,
                format!("the agent speaks version {theirs} of the protocol, and we speak {PROTOCOL_VERSION}; start a version of it that speaks {PROTOCOL_VERSION} too"),
            );
        }
        let put = agent.meta.as_ref().and_then(|meta| meta.parlor.as_ref()?.session.clone());
        self.agent = Some(agent);
        let last = self.last.clone().filter(|_| self.opens());
        match last.as_deref().or(self.wanted.as_deref()).map(ToOwned::to_owned).or(put) {
            Some(name) => {
                self.loading = Some(name.clone());
                self.load(cx, &name, SentRequest::FirstSession { name: Some(name.clone()) });
            }
            None => self.begin(cx),
        }
    }

    /// Begins in a session of its own.
    fn begin(&mut self, cx: &mut UiCx<'_>) {
        let params = self.new_params(None);
        self.ask_agent(cx, &params, SentRequest::FirstSession { name: None });
    }

    /// Whether the person named this session, and was not in it when the link broke.
    fn is_wanted(&self, name: &str) -> bool {
        self.wanted.as_deref() == Some(name) && self.last.as_deref() != Some(name)
    }

    /// Whether the agent goes back to sessions.
    fn opens(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| {
            let can = &agent.agent_capabilities;
            can.load_session || can.session_capabilities.resume.is_some()
        })
    }

    fn new_params(&self, cwd: Option<String>) -> NewSessionParams {
        NewSessionParams { cwd: cwd.unwrap_or_else(|| self.cwd.clone()), ..NewSessionParams::default() }
    }

    /// Opens a session with its past where the agent tells it, without where it does not.
    fn load(&mut self, cx: &mut UiCx<'_>, name: &str, pending: SentRequest) -> bool {
        let (session_id, cwd) = (name.to_owned(), self.folder_of(name));
        if self.agent.as_ref().is_some_and(|agent| agent.agent_capabilities.load_session) {
            return self.ask_agent(cx, &LoadSessionParams { session_id, cwd, ..Default::default() }, pending);
        }
        self.ask_agent(cx, &ResumeSessionParams { session_id, cwd, ..Default::default() }, pending)
    }

    /// Where a session works, as far as it was told.
    fn folder_of(&self, name: &str) -> String {
        let known =
            self.known.values().find(|(known, _)| known == name).map(|(_, summary)| summary.cwd.clone());
        known.filter(|cwd| !cwd.is_empty()).unwrap_or_else(|| self.cwd.clone())
    }

    /// Gives the commands that waited another try.
    fn release(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>) {
        for (ticket, command) in std::mem::take(&mut self.held) {
            self.command(cx, seen, ticket, command);
        }
    }

    /// It cannot be spoken with: whoever waits for it hears why.
    fn unusable(&mut self, cx: &mut UiCx<'_>, why: impl Into<String>) {
        let mut why = why.into();
        if let Some(noise) = &self.noise {
            why = format!("{why}. It writes to stdout what is no message: {noise:?}");
        }
        self.gone = true;
        self.settle_lost(cx, &why);
        cx.close(Reason::Unusable(why));
    }

    /// Whoever waits for an answer will not get it.
    fn settle_lost(&mut self, cx: &mut UiCx<'_>, why: &str) {
        let lost = || Refusal::new(RefusalKind::Lost, why.to_owned());
        let held = std::mem::take(&mut self.held).into_iter().map(|(ticket, _)| ticket);
        let waiting = self.pending.drain().into_iter().filter_map(|(_, pending)| pending.ticket());
        let prompted = self.prompt.take().and_then(|prompt| prompt.ticket);
        let opening = self.arriving.take().map(|arriving| arriving.ticket);
        let mut tickets: Vec<Ticket> = held.chain(waiting).chain(prompted).chain(opening).collect();
        tickets.sort_unstable();
        tickets.dedup();
        for ticket in tickets {
            cx.settle(ticket, Err(lost()));
        }
    }

    fn notification(&mut self, cx: &mut UiCx<'_>, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        match method {
            SessionNotification::METHOD => match serde_json::from_str::<SessionNotification>(raw) {
                Ok(params) => self.update(cx, params),
                Err(why) => cx.drift(Drift::new(method, why.to_string(), raw)),
            },
            CancelRequestParams::METHOD => match serde_json::from_str::<CancelRequestParams>(raw) {
                Ok(params) => self.taken_back(cx, &params.request_id),
                Err(why) => cx.drift(Drift::new(method, why.to_string(), raw)),
            },
            CompleteElicitationParams::METHOD => match serde_json::from_str::<CompleteElicitationParams>(raw)
            {
                Ok(params) => self.completed(cx, &params.elicitation_id),
                Err(why) => cx.drift(Drift::new(method, why.to_string(), raw)),
            },
            // Claude's and Codex' agents tell so at each start that somebody is logged in.
            _ if method.starts_with(AUTH) => {
                if let Some(words) = login_words(raw) {
                    cx.log(words);
                }
            }
            _ => cx.drift(Drift::new(method, "a notification that we do not know", raw)),
        }
    }

    fn request(&mut self, cx: &mut UiCx<'_>, id: WireId, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        let asked = match method {
            RequestPermissionParams::METHOD => {
                serde_json::from_str(raw).map(|params| self.permission(cx, &id, params))
            }
            CreateElicitationParams::METHOD => {
                serde_json::from_str(raw).map(|params| self.elicitation(cx, &id, params))
            }
            _ if self.errands.are_done() && errands::is_errand(method) => {
                self.errand_wanted(cx, &id, method, raw)
            }
            _ => {
                // Files and terminals where nobody does errands: they are not offered, so nobody asks who reads what we can do.
                cx.drift(Drift::new(method, "a request that we do not offer", raw));
                let error = RpcError::new(jsonrpc::METHOD_NOT_FOUND, "method not found").with_data(&method);
                return cx.send(jsonrpc::error(Some(&id), &error));
            }
        };
        if let Err(why) = asked {
            let error =
                RpcError::new(jsonrpc::INVALID_PARAMS, format!("the parameters cannot be read: {why}"));
            cx.send(jsonrpc::error(Some(&id), &error));
            cx.drift(Drift::new(method, why.to_string(), raw));
        }
    }

    /// What an agent that wants a login says, as far as it can be done.
    fn login_words(methods: &[AuthMethod]) -> String {
        let method = |method: &AuthMethod| {
            let about = method.description.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
            match method.kind.as_deref() {
                Some("terminal") => {
                    format!("{} (run its command with {})", method.name, method.args.join(" "))
                }
                _ => format!("{}{about}", method.name),
            }
        };
        let ways: Vec<String> = methods.iter().map(method).collect();
        if ways.is_empty() {
            return "the agent wants a login first, and does not say how: start it by itself once and log in"
                .to_owned();
        }
        format!(
            "the agent wants a login first; start it by itself once and log in. Its ways: {}",
            ways.join("; ")
        )
    }
}

impl UiRole for AcpUi {
    fn open(&mut self, cx: &mut UiCx<'_>, hello: &Hello) {
        *self = AcpUi {
            cwd: hello.cwd.clone(),
            wanted: hello.session.clone(),
            last: hello.last_session.clone(),
            errands: Errands::new(hello.does_errands),
            judging: Judging::new(hello.judges && hello.does_errands),
            start: Start::of(hello, cx.now),
            ..AcpUi::default()
        };
        let offered = || Some(Offered::default());
        let session = ClientSessionCapabilities {
            compaction: offered(),
            notices: offered(),
            config_options: Some(ConfigOptionsCapabilities { boolean: offered(), ..Default::default() }),
            ..ClientSessionCapabilities::default()
        };
        // Also where nobody can choose: what an agent needs to know is told then, and not passed over.
        let elicitation = Some(ElicitationCapabilities {
            form: offered(),
            url: offered(),
            ..ElicitationCapabilities::default()
        });
        let meta = Some(ClientMeta { parlor: true, terminal_output: true, ..ClientMeta::default() });
        let does = hello.does_errands;
        let fs =
            FileCapabilities { read_text_file: does, write_text_file: does, ..FileCapabilities::default() };
        let client_capabilities = ClientCapabilities {
            fs,
            terminal: does,
            session: Some(session),
            elicitation,
            meta,
            ..ClientCapabilities::default()
        };
        let client_info = Some(Implementation {
            name: "parlor".to_owned(),
            title: Some("Parlor".to_owned()),
            version: hello.version.clone(),
            ..Implementation::default()
        });
        let params = InitializeParams {
            protocol_version: PROTOCOL_VERSION,
            client_capabilities,
            client_info,
            ..InitializeParams::default()
        };
        self.ask_agent(cx, &params, SentRequest::Handshake);
        cx.timer(HANDSHAKE, self.start.first());
        cx.timer(SLOW, HANDSHAKE_TIMEOUT - Duration::from_secs(1));
    }

    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, _lane: Lane, line: Line) {
        if self.gone {
            return;
        }
        let text = match line {
            Line::Text(text) if text.trim().is_empty() => return,
            Line::Text(text) => text,
            Line::Overlong(head) => return cx.drift(Drift::new("line", "too long, skipped", &head)),
            Line::Garbled(head) => {
                self.noise = Some(head.chars().take(MAX_NOISE).collect());
                return cx.drift(Drift::new("line", "not UTF-8 text, skipped", &head));
            }
        };
        match jsonrpc::classify(&text) {
            Message::Request { id, method, params } => self.request(cx, id, &method, params),
            Message::Notification { method, params } => self.notification(cx, &method, params),
            Message::Response { id, outcome } => self.response(cx, seen, &id, outcome.map(RawValue::get)),
            Message::Invalid { id, why } => {
                self.noise = Some(text.chars().take(MAX_NOISE).collect());
                rpc::unusable(cx, &why, &text);
                if let Some(id) = id {
                    let error = RpcError::new(jsonrpc::INVALID_REQUEST, why.to_string());
                    self.response(cx, seen, &id, Err(error));
                }
            }
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        if self.gone {
            let refusal = Refusal::new(RefusalKind::Lost, "the agent is gone");
            return cx.settle(ticket, Err(refusal.hint("start it again")));
        }
        // An agent may ask something before it gives a session.
        if self.up || matches!(command, Command::Answer { .. }) {
            return self.want(cx, seen, ticket, command);
        }
        if self.held.len() >= MAX_HELD {
            let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the agent");
            return cx.settle(ticket, Err(refusal.hint("wait until it is ready")));
        }
        self.held.push_back((ticket, command));
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, key: TimerKey) {
        match key {
            SLOW if !self.up => {
                let noise =
                    self.noise.as_ref().map(|noise| format!(" It writes what is no message: {noise:?}."));
                let text = format!(
                    "The agent has not answered for {} s.{} {}",
                    HANDSHAKE_TIMEOUT.as_secs() - 1,
                    noise.unwrap_or_default(),
                    self.start.until(),
                );
                self.start.told();
                cx.signal(Signal::Notify { level: Level::Warning, text });
            }
            HANDSHAKE if !self.up => match self.start.due(cx.now) {
                Waits::For(after) => cx.timer(HANDSHAKE, after),
                Waits::Over(after) => {
                    let what = if self.agent.is_some() { "open a session" } else { "answer `initialize`" };
                    let why = format!(
                        "the agent did not {what} within {} s: does its command speak the protocol on stdin and stdout, and does it start without an error?",
                        after.as_secs()
                    );
                    self.unusable(cx, why);
                }
            },
            TAKEN => self.prompt_taken(cx),
            CALL_RUNS => {
                if let Some(run) = &mut self.run {
                    run.quiet_calls_run(cx);
                }
            }
            QUIET if self.prompt.is_none() => self.quiet(cx),
            STOPPED => self.never_stopped(cx),
            TimerKey(number) if number > REQUESTS => self.overdue(cx, seen, number - REQUESTS),
            _ => {}
        }
    }

    fn stirred(&mut self) {
        self.start.stirred();
    }

    fn closed(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>) {
        self.settle_lost(cx, "the agent went away before it answered; start it again");
        self.asks.clear();
        self.errands.forget();
        self.judging.forget();
        self.watching.forget();
        self.run = None;
        self.gone = true;
    }

    fn abilities(&self) -> Option<Abilities> {
        let agent = self.agent.as_ref().filter(|_| self.up)?;
        let (can, info) = (&agent.agent_capabilities, agent.agent_info.as_ref());
        let name = info.map_or_else(
            || "agent".to_owned(),
            |info| {
                let name = info.title.as_ref().filter(|title| !title.is_empty()).unwrap_or(&info.name);
                format!("{name} {}", info.version).trim().to_owned()
            },
        );
        let steers = agent.meta.as_ref().and_then(|meta| meta.steering.as_ref()).is_some_and(|s| s.supported);
        Some(Abilities {
            name,
            steer: steers,
            cancel: true,
            sessions: can.session_capabilities.list.is_some(),
            models: self.options.has_models(),
            consent: true,
            new_session: true,
            open_session: self.opens(),
            delete_session: can.session_capabilities.delete.is_some(),
            compact: self.options.compacts(),
            set_model: self.options.sets_model(),
            effort: self.options.sets_effort(),
            extensions: true,
            session_scope: self.is_ours(),
            errands: self.errands.are_done(),
            menu: self.options.menu(),
            ..Abilities::default()
        })
    }

    fn has_errands(&self) -> bool {
        true
    }

    fn errand(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, id: ErrandId, news: ErrandNews) {
        self.errand_news(cx, id, news);
    }

    fn session_name(&self) -> Option<Arc<str>> {
        self.session.as_deref().map(Into::into)
    }

    fn is_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    fn past(&self) -> Past {
        if self.loading.is_some() {
            Past::Comes
        } else if !self.up && !self.gone {
            // Some agents speak of a session before they name it.
            Past::Unplaced
        } else {
            Past::None
        }
    }
}

impl AcpUi {
    /// Whether the agent is one of ours and reads what we say beside the protocol.
    fn is_ours(&self) -> bool {
        let info = self.agent.as_ref().and_then(|agent| agent.agent_info.as_ref());
        info.is_some_and(|info| info.name == "parlor")
    }
}
