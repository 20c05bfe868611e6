//! Answers of the agent, understood by what was asked.

use super::super::wire::{
    InitializeResult, ListSessionsParams, ListSessionsResult, NewSessionResult, PromptResult, Raw,
    SessionInfo, SessionSetup, SetConfigOptionResult, SteeringOutcome, SteeringResult, StopReason, UsageNote,
    code,
};
use super::{AcpUi, HANDSHAKE, MAX_KNOWN, SLOW};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Input, Json, Usage};
use domain::event::{EMPTY_ANSWER, Failure, Finish, Outcome, REFUSED};
use domain::fact::Said;
use domain::ids::{Millis, SessionId};
use domain::port::Ticket;
use domain::session::SessionSummary;
use domain::signal::Level;
use roles::{Drift, Seen, TimerKey, UiCx};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::jsonrpc::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

/// Most pages of a list that are asked for.
const MAX_PAGES: usize = 50;

/// A list that comes in pages.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) cwd: Option<String>,
    pub(super) limit: Option<u64>,
    pub(super) search: Option<String>,
    pub(super) sessions: Vec<SessionSummary>,
    pub(super) pages: usize,
}

/// A request that has no answer yet.
#[derive(Debug)]
pub(super) enum SentRequest {
    Handshake,
    /// The session that we begin in: this one, or a new one.
    FirstSession {
        name: Option<String>,
    },
    Prompt,
    Steer {
        ticket: Ticket,
        input: Input,
    },
    New {
        ticket: Ticket,
    },
    Open {
        name: String,
    },
    List {
        ticket: Ticket,
        listing: Box<Listing>,
    },
    Delete {
        ticket: Ticket,
        session: SessionId,
    },
    SetModel {
        ticket: Ticket,
        value: String,
    },
    Set {
        ticket: Ticket,
    },
    SetMode {
        ticket: Ticket,
        mode: String,
    },
    Extension {
        ticket: Ticket,
    },
}

impl SentRequest {
    /// The command that waits for it.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        match self {
            // The prompt itself knows whether it is settled, and so does what is being opened.
            SentRequest::Handshake
            | SentRequest::FirstSession { .. }
            | SentRequest::Prompt
            | SentRequest::Open { .. } => None,
            SentRequest::Steer { ticket, .. }
            | SentRequest::New { ticket }
            | SentRequest::List { ticket, .. }
            | SentRequest::Delete { ticket, .. }
            | SentRequest::SetModel { ticket, .. }
            | SentRequest::Set { ticket }
            | SentRequest::SetMode { ticket, .. }
            | SentRequest::Extension { ticket } => Some(*ticket),
        }
    }

    /// Whether it has a time of its own: a prompt takes as long as it takes, and the handshake has its own timer.
    pub(super) fn waits(&self) -> bool {
        !matches!(self, SentRequest::Handshake | SentRequest::FirstSession { .. } | SentRequest::Prompt)
    }
}

impl AcpUi {
    /// An answer came; one that nobody waits for is counted.
    pub(super) fn response(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        id: &WireId,
        outcome: Result<&str, RpcError>,
    ) {
        let Some(asked) = self.pending.take(id) else {
            return cx.drift(Drift::new("answer", "to nothing that was asked", &id.to_string()));
        };
        if asked.waits()
            && let Some(number) = id.as_number().and_then(|number| u64::try_from(number).ok())
        {
            cx.cancel_timer(TimerKey(super::REQUESTS + number));
        }
        self.answered(cx, seen, asked, outcome);
    }

    /// An answer did not come in time.
    pub(super) fn overdue(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, number: u64) {
        if let Some(asked) = self.pending.take(&WireId::number(number)) {
            let error = RpcError::new(code::CANCELLED, "the agent did not answer in time");
            self.answered(cx, seen, asked, Err(error));
        }
    }

    fn answered(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        asked: SentRequest,
        outcome: Result<&str, RpcError>,
    ) {
        match asked {
            SentRequest::Handshake => self.handshake(cx, outcome),
            SentRequest::FirstSession { name } => self.first_session(cx, seen, name, outcome),
            SentRequest::Prompt => self.prompt_answered(cx, outcome),
            SentRequest::Steer { ticket, input } => self.steered(cx, ticket, &input, outcome),
            SentRequest::New { ticket } => match self.lift::<NewSessionResult>(outcome) {
                Ok(result) => {
                    let name = result.session_id.clone();
                    let summary = self.learn(&name, None);
                    self.session = Some(name);
                    cx.settle(ticket, Ok(Receipt::Session { session: summary, parent: None }));
                    self.learn_setup(cx, result.modes, result.config_options, result.models);
                }
                Err(refusal) => cx.settle(ticket, Err(refusal)),
            },
            SentRequest::Open { name } => self.opened_session(cx, &name, outcome),
            SentRequest::List { ticket, listing } => self.listed(cx, ticket, *listing, outcome),
            SentRequest::Delete { ticket, session } => {
                let done = self.lift::<Value>(outcome);
                if done.is_ok() {
                    self.known.remove(&session);
                }
                cx.settle(ticket, done.map(|_| Receipt::Done));
            }
            SentRequest::SetModel { ticket, value } => {
                let set = self.lift::<SetConfigOptionResult>(outcome).map_err(model_unknown);
                if let Ok(result) = &set {
                    self.learn_options(cx, result.config_options.clone());
                }
                let model = super::options::lift_model(&value);
                cx.settle(ticket, set.map(|_| Receipt::Model(model)));
            }
            SentRequest::Set { ticket } => {
                let set = self.lift::<SetConfigOptionResult>(outcome);
                if let Ok(result) = &set {
                    self.learn_options(cx, result.config_options.clone());
                }
                cx.settle(ticket, set.map(|_| Receipt::Done));
            }
            SentRequest::SetMode { ticket, mode } => {
                let set = self.lift::<Value>(outcome);
                if set.is_ok() {
                    self.learn_mode(cx, mode);
                }
                cx.settle(ticket, set.map(|_| Receipt::Done));
            }
            SentRequest::Extension { ticket } => {
                let answer = self.lift::<Raw>(outcome);
                cx.settle(ticket, answer.map(|raw| Receipt::Extension(Json::verbatim(raw.text()))));
            }
        }
    }

    fn handshake(&mut self, cx: &mut UiCx<'_>, outcome: Result<&str, RpcError>) {
        let read = outcome.map(|raw| (raw, serde_json::from_str::<InitializeResult>(raw)));
        match read {
            Ok((_, Ok(agent))) => self.greeted(cx, agent),
            Ok((raw, Err(why))) => {
                self.unusable(
                    cx,
                    format!("the agent's answer to `initialize` cannot be read: {why}: {raw:.200}"),
                );
            }
            Err(error) => self.unusable(cx, format!("the agent refused `initialize`: {}", said(&error))),
        }
    }

    fn first_session(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        name: Option<String>,
        outcome: Result<&str, RpcError>,
    ) {
        self.loading = None;
        self.end_run(cx, Outcome::Done);
        let auth = matches!(&outcome, Err(error) if error.code == code::AUTH_REQUIRED);
        let opened = match &name {
            None => self.lift::<NewSessionResult>(outcome).map(|result| {
                self.untouched = Some(result.session_id.clone());
                self.session = Some(result.session_id.clone());
                self.learn_setup(cx, result.modes, result.config_options, result.models);
            }),
            Some(name) => self.lift::<SessionSetup>(outcome).map(|result| {
                self.session = Some(name.clone());
                self.learn_setup(cx, result.modes, result.config_options, result.models);
            }),
        };
        match opened {
            Ok(()) => {
                if let Some(session) = self.session.clone() {
                    self.learn(&session, None);
                }
                cx.cancel_timer(HANDSHAKE);
                cx.cancel_timer(SLOW);
                self.up = true;
                self.release(cx, seen);
            }
            // Nobody asked for that session by its name, and it is gone: the agent goes on in a new one.
            Err(_) if !auth && name.as_deref().is_some_and(|name| !self.is_wanted(name)) => {
                self.begin(cx);
            }
            Err(_) if auth => {
                let methods = self.agent.as_ref().map(|agent| agent.auth_methods.clone()).unwrap_or_default();
                self.unusable(cx, AcpUi::login_words(&methods));
            }
            Err(refusal) => {
                let what = name.map_or("begin a session".to_owned(), |name| format!("open session {name}"));
                self.unusable(cx, format!("the agent could not {what}: {refusal}"));
            }
        }
    }

    /// Ends the run with the reason the agent gives. A prompt that was refused before it was taken only refuses its command.
    pub(super) fn prompt_answered(&mut self, cx: &mut UiCx<'_>, outcome: Result<&str, RpcError>) {
        let auth = matches!(&outcome, Err(error) if error.code == code::AUTH_REQUIRED);
        let result = self.lift::<PromptResult>(outcome);
        // One that was refused before anything was heard of it was never taken.
        if let (Err(refusal), Some(prompt)) = (&result, &mut self.prompt)
            && let Some(ticket) = prompt.ticket.take()
        {
            let mut refusal = refusal.clone();
            if auth {
                let methods = self.agent.as_ref().map(|agent| agent.auth_methods.clone()).unwrap_or_default();
                refusal.message = AcpUi::login_words(&methods);
            }
            self.prompt = None;
            cx.cancel_timer(super::TAKEN);
            return cx.settle(ticket, Err(refusal));
        }
        self.prompt_taken(cx);
        self.prompt = None;
        let (outcome, finish, used) = match result {
            Ok(result) => {
                let used = result.meta.and_then(|meta| meta.parlor?.usage).map(|used| lift_usage(&used));
                let (outcome, finish) = ended(&result.stop_reason);
                self.tell_odd_stop(cx, &result.stop_reason);
                (outcome, finish, used)
            }
            Err(refusal) => (Outcome::Failed(Failure::new("agent", refusal.message)), Finish::Failed, None),
        };
        let used = used.unwrap_or_else(|| self.spent());
        if let Some(run) = &mut self.run
            && used != Usage::default()
        {
            run.listener.step_over(cx, used);
        }
        if finish == Finish::Length
            && let Some(run) = self.run.as_ref().filter(|run| !run.answers())
        {
            let text = "The answer is empty: it reached the model's length limit.".to_owned();
            run.listener.say(cx, Said::Notice { level: Level::Warning, code: EMPTY_ANSWER.to_owned(), text });
        }
        self.end_run_with(cx, outcome, finish);
    }

    /// A reason that we do not know is kept and shown: the run is taken for done.
    fn tell_odd_stop(&mut self, cx: &mut UiCx<'_>, stop: &StopReason) {
        let StopReason::Other(word) = stop else { return };
        cx.drift(Drift::new("stopReason", format!("{word:?}, which we do not know"), word));
        if let Some(run) = &self.run {
            let text = format!("The agent stopped for a reason that this client does not know: {word:?}");
            run.listener.say(cx, Said::Notice { level: Level::Info, code: "stop_reason".to_owned(), text });
        }
    }

    fn steered(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: &Input, outcome: Result<&str, RpcError>) {
        let with = match self.lift::<SteeringResult>(outcome) {
            Ok(result) => match result.outcome {
                SteeringOutcome::Injected | SteeringOutcome::StartedNewTurn => Ok(Receipt::Done),
                SteeringOutcome::PromptRequired => {
                    Err(Refusal::new(RefusalKind::NoRun, "no run is under way"))
                }
                SteeringOutcome::Failed | SteeringOutcome::Other(_) => {
                    let kind = RefusalKind::Remote { code: "steering".to_owned() };
                    Err(Refusal::new(kind, "the agent did not take it"))
                }
            },
            Err(refusal) => Err(refusal),
        };
        let taken = with.is_ok();
        cx.settle(ticket, with);
        if let Some(run) = self.run.as_mut().filter(|_| taken) {
            run.prompt(cx, input);
        }
    }

    /// The past of a session was told: it is the one where we are.
    fn opened_session(&mut self, cx: &mut UiCx<'_>, name: &str, outcome: Result<&str, RpcError>) {
        self.end_run(cx, Outcome::Done);
        self.loading = None;
        let Some(arriving) = self.arriving.take() else { return };
        debug_assert_eq!(arriving.name, name);
        match self.lift::<SessionSetup>(outcome) {
            Ok(result) => {
                let summary = self.learn(name, None);
                self.session = Some(name.to_owned());
                cx.settle(arriving.ticket, Ok(Receipt::Session { session: summary, parent: None }));
                self.learn_setup(cx, result.modes, result.config_options, result.models);
            }
            Err(refusal) => {
                let refusal = match refusal.kind {
                    RefusalKind::Invalid => Refusal { kind: RefusalKind::SessionUnknown, ..refusal },
                    _ => refusal,
                };
                cx.settle(arriving.ticket, Err(refusal));
            }
        }
    }

    fn listed(
        &mut self,
        cx: &mut UiCx<'_>,
        ticket: Ticket,
        mut listing: Listing,
        outcome: Result<&str, RpcError>,
    ) {
        let page = match self.lift::<ListSessionsResult>(outcome) {
            Ok(page) => page,
            Err(refusal) => return cx.settle(ticket, Err(refusal)),
        };
        listing.pages += 1;
        for info in page.sessions {
            let name = info.session_id.clone();
            listing.sessions.push(self.learn(&name, Some(info)));
        }
        let full = listing.limit.is_some_and(|limit| listing.sessions.len() as u64 >= limit);
        if let Some(cursor) = page.next_cursor.filter(|_| !full && listing.pages < MAX_PAGES) {
            let params =
                ListSessionsParams { cwd: listing.cwd.clone(), cursor: Some(cursor), ..Default::default() };
            self.ask_agent(cx, &params, SentRequest::List { ticket, listing: Box::new(listing) });
            return;
        }
        let wanted = listing.search.unwrap_or_default().to_lowercase();
        let mut sessions = listing.sessions;
        sessions.retain(|summary| wanted.is_empty() || summary.title.to_lowercase().contains(&wanted));
        sessions.truncate(listing.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX));
        cx.settle(ticket, Ok(Receipt::Sessions(sessions)));
    }

    /// What is known about a session, with what was said about it now.
    pub(super) fn learn(&mut self, name: &str, info: Option<SessionInfo>) -> SessionSummary {
        let id = SessionId::of_peer(name);
        let known = self.known.get(&id).map(|(_, summary)| summary.clone());
        let mut summary = known.unwrap_or_else(|| SessionSummary {
            title: name.to_owned(),
            cwd: self.cwd.clone(),
            project: self.cwd.clone(),
            ..SessionSummary::new(id.clone())
        });
        if let Some(info) = info {
            summary.title = info.title.unwrap_or_else(|| name.to_owned());
            (summary.cwd, summary.project) = (info.cwd.clone(), info.cwd);
            let at = |text: Option<&str>| text.and_then(time::read).map(Millis);
            summary.updated_at = at(info.updated_at.as_deref()).unwrap_or_default();
            let own = info.meta.and_then(|meta| meta.parlor).unwrap_or_default();
            summary.created_at = at(own.created.as_deref()).unwrap_or(summary.updated_at);
            summary.messages = own.messages.unwrap_or_default();
            summary.elsewhere = own.elsewhere.unwrap_or_default();
        }
        if self.known.len() < MAX_KNOWN || self.known.contains_key(&id) {
            self.known.insert(id, (name.to_owned(), summary.clone()));
        }
        summary
    }

    /// The result, or a refusal in the agent's own words.
    fn lift<T: DeserializeOwned>(&self, outcome: Result<&str, RpcError>) -> Result<T, Refusal> {
        match outcome {
            Ok(raw) => {
                // Some agents answer with null where the schema has an object.
                let raw = if raw == "null" { "{}" } else { raw };
                serde_json::from_str(raw).map_err(|why| {
                    let kind = RefusalKind::Remote { code: "unreadable".to_owned() };
                    Refusal::new(kind, format!("the agent's answer cannot be read: {why}"))
                })
            }
            Err(error) => Err(lift_error(&error)),
        }
    }
}

fn ended(stop: &StopReason) -> (Outcome, Finish) {
    match stop {
        StopReason::EndTurn | StopReason::Other(_) => (Outcome::Done, Finish::Complete),
        StopReason::MaxTokens => (Outcome::Done, Finish::Length),
        StopReason::Cancelled => (Outcome::Cancelled, Finish::Interrupted),
        StopReason::MaxTurnRequests => {
            let failure = Failure::new("step_limit", "the agent asked its model as often as it may");
            (Outcome::Failed(failure.hint("say \"go on\"")), Finish::Complete)
        }
        StopReason::Refusal => {
            (Outcome::Failed(Failure::new(REFUSED, "the model refused to answer")), Finish::Complete)
        }
    }
}

fn lift_usage(used: &UsageNote) -> Usage {
    Usage {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        cost_micros: used.cost_micros,
        rough: false,
    }
}

fn model_unknown(refusal: Refusal) -> Refusal {
    match refusal.kind {
        RefusalKind::Invalid => Refusal { kind: RefusalKind::ModelUnknown, ..refusal },
        _ => refusal,
    }
}

/// What an error says: agents put the reason into the message, or into the data beside it.
fn said(error: &RpcError) -> String {
    let data: Value =
        error.data.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let member = |name: &str| data.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let more =
        data.as_str().map(ToOwned::to_owned).or_else(|| member("message")).or_else(|| member("details"));
    let more = more.or_else(|| member("error")).filter(|more| *more != error.message);
    match (error.message.is_empty(), more) {
        (false, Some(more)) => format!("{}: {more}", error.message),
        (false, None) => error.message.clone(),
        (true, Some(more)) => more,
        (true, None) => format!("it gave no reason ({})", error.code),
    }
}

fn lift_error(error: &RpcError) -> Refusal {
    let kind = match error.code {
        code::NOT_FOUND => RefusalKind::SessionUnknown,
        code::CANCELLED => RefusalKind::TimedOut,
        METHOD_NOT_FOUND => RefusalKind::Unsupported,
        INVALID_PARAMS => RefusalKind::Invalid,
        number => RefusalKind::Remote { code: number.to_string() },
    };
    Refusal::new(kind, said(error))
}
