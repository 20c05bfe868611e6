//! What the runtime answers to our requests, understood by what was asked.

use super::super::effort_name;
use super::super::wire::{
    InitializeResult, McpListResult, McpServer, ModelListResult, ModelSetResult, RunCancelResult,
    RunStartResult, SessionHistoryResult, SessionItem, SessionListResult, Skill, SkillsListResult, Status,
    code,
};
use super::{BUSY_PAUSE, CodeliaUi, MAX_KNOWN, MAX_TRIES, TRY_AGAIN, read};
use domain::command::{History, Receipt, Refusal, RefusalKind};
use domain::event::{Failure, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::ids::{Millis, RunId, SessionId};
use domain::port::Ticket;
use domain::session::{
    Effort, ModelRef, RunSummary, ServerEntry, ServerState, SessionSummary, SkillEntry, SkillList,
};
use domain::signal::{Level, Signal};
use roles::{Drift, Seen, UiCx, UiEffect};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use wire::jsonrpc::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

/// A request of ours that the runtime has not answered.
#[derive(Debug)]
pub(super) enum SentRequest {
    Handshake,
    CurrentModel,
    /// The run in [`CodeliaUi::starting`].
    RunStart,
    Cancel {
        ticket: Ticket,
        run: Option<RunId>,
    },
    History {
        ticket: Option<Ticket>,
    },
    Sessions {
        ticket: Ticket,
        search: Option<String>,
    },
    /// All sessions, to look for the one in [`CodeliaUi::opening`].
    Find,
    /// The models of one provider, of several that are asked.
    Models {
        ticket: Ticket,
        /// Whether the list is none without it: what the person asked for, or the provider that answers.
        wanted: bool,
        provider: Option<String>,
    },
    SetModel {
        ticket: Ticket,
    },
    SetEffort {
        ticket: Ticket,
    },
    Servers {
        ticket: Ticket,
    },
    Skills {
        ticket: Ticket,
    },
}

fn model_unknown(mut refusal: Refusal) -> Refusal {
    if refusal.kind == RefusalKind::Invalid {
        refusal.kind = RefusalKind::ModelUnknown;
    }
    refusal
}

impl SentRequest {
    /// The command that waits; a `run.start` has its own place, and so have models that are gathered.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        match self {
            SentRequest::Handshake
            | SentRequest::CurrentModel
            | SentRequest::RunStart
            | SentRequest::Find
            | SentRequest::Models { .. } => None,
            SentRequest::History { ticket } => *ticket,
            SentRequest::Cancel { ticket, .. }
            | SentRequest::Sessions { ticket, .. }
            | SentRequest::SetModel { ticket }
            | SentRequest::SetEffort { ticket }
            | SentRequest::Servers { ticket }
            | SentRequest::Skills { ticket } => Some(*ticket),
        }
    }
}

impl CodeliaUi {
    /// Settles the command that an answer belongs to.
    pub(super) fn response(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        id: &WireId,
        outcome: Result<&RawValue, RpcError>,
        line: &str,
    ) {
        let Some(pending) = self.asked(id) else {
            return cx.drift(Drift::new("response", "an answer to nothing that we asked", line));
        };
        let outcome = outcome.map(RawValue::get);
        if outcome.as_ref().is_err_and(|error| error.code == METHOD_NOT_FOUND) {
            self.not_known(&pending);
        }
        match pending {
            SentRequest::Handshake => match outcome.map(read::<InitializeResult>) {
                Ok(Ok(server)) => self.greeted(cx, seen, server),
                Ok(Err(why)) => self.unusable(cx, format!("the answer to initialize cannot be read: {why}")),
                Err(error) => self.unusable(cx, format!("the runtime refused initialize: {error}")),
            },
            // A runtime without model.list is fine: nobody asked for it.
            SentRequest::CurrentModel => {
                if let Ok(Ok(list)) = outcome.map(read::<ModelListResult>) {
                    self.current_model(cx, &list);
                }
            }
            SentRequest::RunStart => self.run_start(cx, lift::<RunStartResult>(outcome)),
            SentRequest::Cancel { ticket, run } => {
                let receipt = lift::<RunCancelResult>(outcome);
                if receipt.as_ref().is_err_and(|refusal| refusal.kind == RefusalKind::Unsupported) {
                    self.unstoppable(cx);
                }
                cx.settle(ticket, cancelling(seen, run, receipt));
            }
            SentRequest::History { ticket } => {
                self.end_run(cx, Outcome::Done);
                self.replaying = false;
                let receipt = lift::<SessionHistoryResult>(outcome).map(|result| {
                    let truncated = result.truncated.unwrap_or_default();
                    Receipt::History(History { runs: result.runs, events: Vec::new(), truncated })
                });
                match (ticket, receipt) {
                    (Some(ticket), receipt) => cx.settle(ticket, receipt),
                    // A session that was gone to has the runtime's model too; its replay does not say so.
                    (None, Ok(receipt)) => {
                        self.arrived(cx);
                        if matches!(receipt, Receipt::History(History { truncated: true, .. })) {
                            let text = "The runtime told only the newest part of this session.".to_owned();
                            cx.signal(Signal::Notify { level: Level::Info, text });
                        }
                        cx.effects.extend(
                            self.model.clone().map(|model| UiEffect::Fact(Fact::new(Said::Model(model)))),
                        );
                    }
                    // One that cannot tell the past goes on there all the same.
                    (None, Err(refusal)) if refusal.kind == RefusalKind::Unsupported => self.arrived(cx),
                    (None, Err(refusal)) => {
                        cx.drift(Drift::new("session.history", refusal.to_string(), ""));
                        self.not_opened(cx, refusal);
                    }
                }
                self.release(cx, seen);
            }
            SentRequest::Find => {
                let listed = lift::<SessionListResult>(outcome).map(|list| self.sessions(cx, list, None));
                self.found(cx, listed);
                self.release(cx, seen);
            }
            SentRequest::Sessions { ticket, search } => {
                let listed = lift::<SessionListResult>(outcome);
                let receipt =
                    listed.map(|list| Receipt::Sessions(self.sessions(cx, list, search.as_deref())));
                cx.settle(ticket, receipt);
            }
            SentRequest::Models { ticket, wanted, provider } => {
                self.gather(cx, ticket, wanted, provider, lift::<ModelListResult>(outcome));
            }
            SentRequest::SetModel { ticket } => {
                let set = lift::<ModelSetResult>(outcome).map_err(model_unknown);
                let receipt = set.map(|set| Receipt::Model(self.model_set(cx, set).0));
                cx.settle(ticket, receipt);
            }
            SentRequest::SetEffort { ticket } => {
                let set = lift::<ModelSetResult>(outcome).map_err(model_unknown);
                let receipt = set.and_then(|set| match self.model_set(cx, set) {
                    (_, Some(_)) => Ok(Receipt::Done),
                    (model, None) => {
                        let what = format!("{model} has no thinking effort here");
                        Err(Refusal::new(RefusalKind::Unsupported, what))
                    }
                });
                cx.settle(ticket, receipt);
            }
            SentRequest::Servers { ticket } => {
                let servers = lift::<McpListResult>(outcome);
                cx.settle(
                    ticket,
                    servers.map(|list| Receipt::Servers(list.servers.into_iter().map(lift_server).collect())),
                );
            }
            SentRequest::Skills { ticket } => {
                cx.settle(
                    ticket,
                    lift::<SkillsListResult>(outcome).map(|list| Receipt::Skills(lift_skills(list))),
                );
            }
        }
    }

    /// The runtime does not have the method of a request.
    fn not_known(&mut self, asked: &SentRequest) {
        match asked {
            SentRequest::CurrentModel | SentRequest::Models { wanted: true, .. } => {
                self.lacks.model_list = true;
            }
            SentRequest::SetModel { .. } | SentRequest::SetEffort { .. } => self.lacks.model_set = true,
            SentRequest::Sessions { .. } | SentRequest::Find => self.lacks.session_list = true,
            SentRequest::Servers { .. } => self.lacks.mcp_list = true,
            SentRequest::Skills { .. } => self.lacks.skills_list = true,
            SentRequest::Handshake
            | SentRequest::RunStart
            | SentRequest::Cancel { .. }
            | SentRequest::Models { wanted: false, .. }
            | SentRequest::History { .. } => {}
        }
    }

    /// The runtime cannot stop a run: nobody waits for it here, and what it still says is not told.
    fn unstoppable(&mut self, cx: &mut UiCx<'_>) {
        if self.run.is_some() {
            let text = "this runtime cannot stop a run: it goes on unseen until it is over".to_owned();
            cx.signal(Signal::Notify { level: Level::Warning, text });
            self.end_run(cx, Outcome::Cancelled);
        }
    }

    /// Takes over what the runtime says of the model that it uses, if anything.
    pub(super) fn current_model(&mut self, cx: &mut UiCx<'_>, list: &ModelListResult) {
        if let Some(name) = &list.current {
            let model = ModelRef { provider: list.provider.clone(), name: name.clone() };
            cx.fact(Fact::new(Said::Model(model.clone())));
            self.model = Some(model);
            self.effort(cx, list.reasoning.as_deref());
        }
    }

    /// A model was set; gives it, and how hard it thinks as far as that was said.
    fn model_set(&mut self, cx: &mut UiCx<'_>, set: ModelSetResult) -> (ModelRef, Option<Effort>) {
        let model = ModelRef { provider: set.provider, name: set.name };
        self.keyless.remove(&model.provider);
        cx.fact(Fact::new(Said::Model(model.clone())));
        self.model = Some(model.clone());
        (model, self.effort(cx, set.reasoning.as_deref()))
    }

    fn effort(&mut self, cx: &mut UiCx<'_>, word: Option<&str>) -> Option<Effort> {
        let effort = word.and_then(effort_name::read);
        if effort != self.effort {
            self.effort = effort;
            cx.fact(Fact::new(Said::Effort(effort)));
        }
        effort
    }

    /// What was asked under this id. Some runtimes write our string ids back as numbers.
    fn asked(&mut self, id: &WireId) -> Option<SentRequest> {
        self.pending.take(id).or_else(|| {
            let number = id.as_number()?;
            self.pending.take(&WireId::text(number.to_string()))
        })
    }

    fn run_start(&mut self, cx: &mut UiCx<'_>, result: Result<RunStartResult, Refusal>) {
        let Some(mut starting) = self.starting.take() else { return };
        match result {
            Ok(result) => {
                if let Some(session) = result.session_id.as_deref().map(|name| self.session_of(name)) {
                    self.session = Some(session);
                }
                let key = Key::from(result.run_id);
                let known =
                    self.run.as_ref().is_some_and(|run| *run.key() == key) || self.ended.contains(&key);
                if !known {
                    self.begin(cx, &key, Some(&starting));
                }
                if let Some(ticket) = starting.ticket {
                    cx.settle(ticket, Ok(Receipt::Done));
                }
                if let Some(ticket) = starting.stop {
                    self.stop(cx, ticket, None, &key, None);
                }
            }
            Err(refusal)
                if refusal.kind == RefusalKind::Busy
                    && starting.tries < MAX_TRIES
                    && starting.stop.is_none() =>
            {
                starting.tries += 1;
                self.starting = Some(starting);
                cx.timer(TRY_AGAIN, BUSY_PAUSE);
            }
            Err(refusal) => {
                if let Some(ticket) = starting.ticket {
                    cx.settle(ticket, Err(refusal));
                }
                if let Some(ticket) = starting.stop {
                    cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "the run did not start")));
                }
            }
        }
    }

    fn sessions(
        &mut self,
        cx: &mut UiCx<'_>,
        list: SessionListResult,
        search: Option<&str>,
    ) -> Vec<SessionSummary> {
        let mut summaries = Vec::with_capacity(list.sessions.len());
        for item in list.sessions {
            if item.session_id.is_empty() {
                cx.drift(Drift::new("session.list", "a session without a name", ""));
                continue;
            }
            let id = self.session_of(&item.session_id);
            let summary = lift_session(id, item);
            if self.known.len() < MAX_KNOWN {
                self.known.insert(summary.id.clone(), summary.clone());
            }
            summaries.push(summary);
        }
        let wanted = search.unwrap_or_default().to_lowercase();
        summaries.retain(|summary| wanted.is_empty() || summary.title.to_lowercase().contains(&wanted));
        summaries
    }

    /// What is known about a session.
    pub(super) fn summary(&self, session: &SessionId) -> SessionSummary {
        self.known.get(session).cloned().unwrap_or_else(|| SessionSummary {
            title: session.to_string(),
            ..SessionSummary::new(session.clone())
        })
    }
}

/// The result, or a refusal in the runtime's own words.
fn lift<T: DeserializeOwned>(outcome: Result<&str, RpcError>) -> Result<T, Refusal> {
    match outcome {
        Ok(raw) => read(raw).map_err(|why: String| {
            let kind = RefusalKind::Remote { code: "unreadable".to_owned() };
            Refusal::new(kind, format!("the runtime's answer cannot be read: {why}"))
        }),
        Err(error) => Err(lift_error(error)),
    }
}

fn lift_error(error: RpcError) -> Refusal {
    let kind = match error.code {
        code::BUSY => RefusalKind::Busy,
        code::RUN_NOT_FOUND => RefusalKind::RunUnknown,
        code::SESSION_NOT_FOUND => RefusalKind::SessionUnknown,
        code::SESSION_LOAD_FAILED | code::SESSION_LIST_FAILED => RefusalKind::Storage,
        METHOD_NOT_FOUND => RefusalKind::Unsupported,
        INVALID_PARAMS => RefusalKind::Invalid,
        number => RefusalKind::Remote { code: number.to_string() },
    };
    let message = if error.message.is_empty() {
        format!("the runtime refused ({})", error.code)
    } else {
        error.message
    };
    Refusal::new(kind, message)
}

/// The existing runtime does not know a run that is over; the document says how it ended.
fn cancelling(
    seen: Seen<'_>,
    run: Option<RunId>,
    result: Result<RunCancelResult, Refusal>,
) -> Result<Receipt, Refusal> {
    let Some(run) = run else { return result.map(|_| Receipt::Done) };
    let ended = seen.state.run(run).and_then(|run| run.ended.clone()).map(|(_, outcome)| outcome);
    let outcome = match result {
        Ok(RunCancelResult { ok: true, .. }) => None,
        Ok(RunCancelResult { status, .. }) => ended.or_else(|| status.and_then(outcome_of)),
        Err(refusal) if refusal.kind == RefusalKind::RunUnknown && ended.is_some() => ended,
        Err(refusal) => return Err(refusal),
    };
    Ok(Receipt::Cancelling { run: RunSummary { run, outcome } })
}

fn outcome_of(status: Status) -> Option<Outcome> {
    match status {
        Status::Completed => Some(Outcome::Done),
        Status::Error => Some(Outcome::Failed(Failure::new("runtime", "the runtime gave no reason"))),
        Status::Cancelled => Some(Outcome::Cancelled),
        Status::Running | Status::AwaitingUi | Status::Other(_) => None,
    }
}

fn lift_session(id: SessionId, item: SessionItem) -> SessionSummary {
    let at = time::read(&item.updated_at).map(Millis).unwrap_or_default();
    let root = item.workspace_root.unwrap_or_default();
    let title =
        item.last_user_message.as_deref().and_then(|text| text.lines().next()).unwrap_or(&item.session_id);
    SessionSummary {
        title: title.to_owned(),
        cwd: root.clone(),
        project: root,
        created_at: at,
        updated_at: at,
        messages: item.message_count.unwrap_or_default(),
        last_prompt: item.last_user_message.clone(),
        ..SessionSummary::new(id)
    }
}

fn lift_server(server: McpServer) -> ServerEntry {
    let state = match server.state.as_str() {
        _ if !server.enabled => ServerState::Disabled,
        "disabled" => ServerState::Disabled,
        "connecting" => ServerState::Connecting,
        "ready" => ServerState::Ready,
        "auth_required" => ServerState::AuthRequired,
        other => ServerState::Failed(server.last_error.unwrap_or_else(|| other.to_owned())),
    };
    ServerEntry {
        id: server.id,
        http: server.transport == "http",
        from_project: server.source.as_deref() == Some("project"),
        state,
        tools: server.tools,
        connected_at: server.last_connected_at.as_deref().and_then(time::read).map(Millis),
        reach: None,
    }
}

fn lift_skills(list: SkillsListResult) -> SkillList {
    let skill = |skill: Skill| SkillEntry {
        id: skill.id,
        name: skill.name,
        description: skill.description,
        path: skill.path,
        from_project: skill.scope == "repo",
        modified_at: Millis(skill.mtime_ms),
    };
    SkillList {
        skills: list.skills.into_iter().map(skill).collect(),
        errors: list.errors.into_iter().map(|error| (error.path, error.message)).collect(),
        truncated: list.truncated,
    }
}
