//! From receipts and refusals to what the UI gets for its request.

use super::super::wire::{
    ContextInspectResult, InspectedSkills, InspectedUi, McpListResult, McpServer, ModelDetails,
    ModelListResult, ModelSetResult, Nothing, RunCancelResult, RunStartResult, SessionItem,
    SessionListResult, Skill, SkillError, SkillsListResult, Status, code,
};
use super::super::{effort_name, run_name};
use super::telling::Telling;
use super::{COMMAND_LINE, CodeliaRuntime, MAX_PENDING, RESULT_PAUSE, history, requests, shell};
use domain::command::{Command, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::event::Outcome;
use domain::ids::{RunId, SessionId};
use domain::port::Ticket;
use domain::session::{
    Effort, ModelEntry, ModelRef, ServerEntry, ServerState, SessionSummary, SkillEntry, SkillList,
};
use roles::{Lane, LinkEffect, RuntimeCx, RuntimeEffect, View};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use wire::jsonrpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

/// Where a model comes from: the person's settings and what the environment offers.
const CONFIG: &str = "config";
/// Where a model comes from: it was taken in this session.
const SESSION: &str = "session";

/// Who waits for a receipt, and what it is needed for.
#[derive(Debug)]
pub(super) enum HubCommand {
    /// Nobody: a notification, or something sent along.
    Silent,
    /// Nobody: the answer to a question was handed over.
    Answer,
    /// With the names of the tools that the UI performs in it.
    RunStart {
        id: WireId,
        tools: BTreeSet<String>,
    },
    /// With the run that it is told as, once that has begun.
    Compact {
        id: WireId,
        target: Target,
        told: Option<Box<Telling>>,
    },
    Cancel {
        id: WireId,
    },
    SessionList {
        id: WireId,
        all: bool,
    },
    History {
        id: WireId,
        session: SessionId,
        max_events: u64,
    },
    ModelList {
        id: WireId,
        provider: Option<String>,
        details: bool,
    },
    /// With how hard the model shall think, if that was said.
    ModelSet {
        id: WireId,
        effort: Option<Effort>,
    },
    /// The model is set, how hard it thinks is not yet.
    EffortSet {
        id: WireId,
        model: ModelRef,
        effort: Effort,
    },
    McpList {
        id: WireId,
    },
    SkillsList {
        id: WireId,
    },
    /// Skills among what is known of the place, where they are wanted.
    Inspect {
        id: WireId,
        skills: bool,
    },
    Context {
        id: WireId,
    },
    /// Command lines, and what is wanted of them.
    Shell {
        id: WireId,
        telling: shell::Telling,
    },
}

impl CodeliaRuntime {
    /// Answers the request that a settlement belongs to.
    pub(super) fn answer(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        ticket: Ticket,
        pending: HubCommand,
        with: Result<Receipt, Refusal>,
    ) {
        let session = view.map(|view| view.session.clone());
        let (id, line) = match (pending, with) {
            (HubCommand::Silent, Ok(_)) | (HubCommand::Answer, Ok(_)) => return,
            (HubCommand::Silent, Err(refusal)) => return cx.log(format!("refused: {refusal}")),
            (HubCommand::Answer, Err(refusal)) => {
                return cx.log(format!("ignored: an answer came late: {refusal}"));
            }
            (HubCommand::RunStart { id, tools }, Ok(Receipt::Started { session, run })) => {
                self.client_tools.offered(&session, run, tools);
                return self.run_started(cx, &id, session, run);
            }
            (HubCommand::Compact { id, target, told }, with) => {
                return self.compacted(cx, &id, session, target, told, with);
            }
            (HubCommand::History { id, session, max_events }, Ok(Receipt::History(events))) => {
                let (lines, mut result) = history::replay(&session, &events, max_events, self.reader());
                result.resume_diff = history::differences(&events, &self.greeting);
                lines.into_iter().for_each(|line| cx.send(line));
                let line = jsonrpc::result(&id, &result);
                (id, Ok(line))
            }
            (HubCommand::History { id, .. }, Err(refusal)) if refusal.kind == RefusalKind::SessionUnknown => {
                let line = no_history(&id);
                (id, Ok(line))
            }
            (HubCommand::Cancel { id }, Ok(Receipt::Cancelling { run })) if run.outcome.is_none() => {
                return self.stopping(cx, ticket, id);
            }
            (HubCommand::Cancel { id }, Ok(Receipt::Cancelling { run })) => {
                self.not_stopping(cx, ticket);
                let line = jsonrpc::result(&id, &lower_cancel(run.outcome.as_ref()));
                (id, Ok(line))
            }
            (HubCommand::SessionList { id, all }, Ok(Receipt::Sessions(sessions))) => {
                let current_workspace_root = (!all).then(|| self.greeting.cwd.clone());
                let follows = self.greeting.follows;
                let sessions = sessions.into_iter().map(|session| lower_session(session, follows)).collect();
                let line = jsonrpc::result(&id, &SessionListResult { sessions, current_workspace_root });
                (id, Ok(line))
            }
            (HubCommand::ModelList { id, provider, details }, Ok(Receipt::Models { models, current })) => {
                // The session's own choice is what the next run uses.
                let chosen = view.and_then(|view| view.state.settings.model.clone());
                let source = if chosen.is_some() { SESSION } else { CONFIG };
                let effort = view.and_then(|view| view.state.settings.effort);
                let listed = self.lower_models(provider, details, &models, chosen.or(current));
                let line = listed.map(|list| {
                    let source = list.current.is_some().then(|| source.to_owned());
                    let reasoning = effort
                        .filter(|_| source.is_some())
                        .map(|effort| effort_name::write(effort).to_owned());
                    jsonrpc::result(&id, &ModelListResult { source, reasoning, ..list })
                });
                (id, line)
            }
            (HubCommand::ModelSet { id, effort: Some(effort) }, Ok(Receipt::Model(model))) => {
                let command = Command::Session(SessionCommand::SetEffort { effort: Some(effort) });
                self.ask_hub(cx, Target::Current, command, HubCommand::EffortSet { id, model, effort });
                return;
            }
            (HubCommand::ModelSet { id, effort: None }, Ok(Receipt::Model(model))) => {
                let effort = view.and_then(|view| view.state.settings.effort);
                let line = jsonrpc::result(&id, &lower_model_set(model, effort));
                (id, Ok(line))
            }
            (HubCommand::EffortSet { id, model, effort }, Ok(_)) => {
                let line = jsonrpc::result(&id, &lower_model_set(model, Some(effort)));
                (id, Ok(line))
            }
            // The model is set all the same: what holds is what is answered.
            (HubCommand::EffortSet { id, model, .. }, Err(refusal))
                if refusal.kind == RefusalKind::Unsupported =>
            {
                cx.log(format!("warning: {refusal}"));
                let line = jsonrpc::result(&id, &lower_model_set(model, None));
                (id, Ok(line))
            }
            (HubCommand::McpList { id }, Ok(Receipt::Servers(servers))) => {
                let servers = servers.into_iter().map(lower_server).collect();
                let line = jsonrpc::result(&id, &McpListResult { servers });
                (id, Ok(line))
            }
            (HubCommand::SkillsList { id }, Ok(Receipt::Skills(list))) => {
                let line = jsonrpc::result(&id, &lower_skills(list));
                (id, Ok(line))
            }
            (HubCommand::Inspect { id, skills }, with) => {
                let list = with.ok().filter(|_| skills);
                let line = jsonrpc::result(&id, &self.inspected(view, list));
                (id, Ok(line))
            }
            (HubCommand::Shell { id, telling }, Ok(Receipt::Jobs(jobs))) => {
                return self.tell_jobs(cx, id, &telling, jobs);
            }
            // What it tells is taken as it is; where the tools cannot follow, the person is told with the next run.
            (HubCommand::Context { id }, _) => {
                let line = jsonrpc::result(&id, &Nothing {});
                (id, Ok(line))
            }
            (pending, Err(refusal)) => {
                self.not_stopping(cx, ticket);
                let error = lower_refusal(&pending, &refusal);
                let Some(id) = pending.id() else { return };
                (id, Err(error))
            }
            (pending, Ok(_)) => {
                let Some(id) = pending.id() else { return };
                (id, Err(RpcError::new(code::INTERNAL, "the runtime gave an answer to another question")))
            }
        };
        cx.send(line.unwrap_or_else(|error| jsonrpc::error(Some(&id), &error)));
    }

    fn run_started(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, session: SessionId, run: RunId) {
        let run_id = run_name::write(&session, run);
        let result = RunStartResult { run_id, session_id: Some(session.to_string()) };
        self.send_result(cx, jsonrpc::result(id, &result));
        if self.own_runs.len() >= MAX_PENDING {
            self.own_runs.pop_first();
        }
        self.own_runs.insert((session, run));
    }

    /// Sends the result of `run.start`; nothing may share a chunk with it for the client that drops the rest.
    pub(super) fn send_result(&self, cx: &mut RuntimeCx<'_>, line: String) {
        if self.client != COMMAND_LINE {
            return cx.send(line);
        }
        cx.effects.push(RuntimeEffect::Link(LinkEffect::SendAlone {
            lane: Lane::MAIN,
            line,
            pause: RESULT_PAUSE,
        }));
    }

    /// Where the session works. A runtime behind this one that cannot list skills is no reason to say nothing.
    fn inspected(&self, view: Option<View<'_>>, list: Option<Receipt>) -> ContextInspectResult {
        let settings = view.map(|view| &view.state.settings);
        let cwd = settings.map_or_else(|| self.greeting.cwd.clone(), |settings| settings.cwd.clone());
        let root = settings.map(|settings| settings.project.clone());
        let skills = match list {
            Some(Receipt::Skills(list)) => Some(InspectedSkills {
                root_dir: root.clone().unwrap_or_else(|| cwd.clone()),
                working_dir: cwd.clone(),
                catalog: lower_skills(list),
            }),
            _ => None,
        };
        ContextInspectResult {
            runtime_working_dir: Some(cwd),
            runtime_sandbox_root: root,
            ui_context: self.ui_context.as_ref().map(|context| InspectedUi {
                cwd: context.cwd.clone(),
                workspace_root: context.workspace_root.clone(),
                active_file_path: context.active_file.as_ref().map(|file| file.path.clone()),
            }),
            skills,
        }
    }

    fn lower_models(
        &self,
        provider: Option<String>,
        details: bool,
        models: &[ModelEntry],
        current: Option<ModelRef>,
    ) -> Result<ModelListResult, RpcError> {
        let current = current.or_else(|| {
            let (provider, name) = self.greeting.model.clone()?;
            Some(ModelRef { provider, name })
        });
        let wanted = provider.clone();
        let provider = provider
            .or_else(|| current.as_ref().map(|model| model.provider.clone()))
            .or_else(|| models.first().map(|entry| entry.model.provider.clone()))
            .unwrap_or_default();
        let of_provider: Vec<&ModelEntry> =
            models.iter().filter(|entry| entry.model.provider == provider).collect();
        if let Some(unknown) = wanted.filter(|_| of_provider.is_empty()) {
            return Err(requests::invalid(format!("unknown provider: {unknown}")));
        }
        let names: Vec<String> = of_provider.iter().map(|entry| entry.model.name.clone()).collect();
        let current = current.filter(|model| model.provider == provider && names.contains(&model.name));
        let by_name =
            || of_provider.iter().map(|entry| (entry.model.name.clone(), lower_details(entry))).collect();
        Ok(ModelListResult {
            provider,
            models: names,
            current: current.map(|model| model.name),
            details: details.then(by_name),
            source: None,
            reasoning: None,
        })
    }
}

impl HubCommand {
    fn id(self) -> Option<WireId> {
        match self {
            HubCommand::Silent | HubCommand::Answer => None,
            HubCommand::RunStart { id, .. }
            | HubCommand::Compact { id, .. }
            | HubCommand::Cancel { id }
            | HubCommand::SessionList { id, .. }
            | HubCommand::History { id, .. }
            | HubCommand::ModelList { id, .. }
            | HubCommand::ModelSet { id, .. }
            | HubCommand::EffortSet { id, .. }
            | HubCommand::McpList { id }
            | HubCommand::SkillsList { id }
            | HubCommand::Inspect { id, .. }
            | HubCommand::Shell { id, .. }
            | HubCommand::Context { id } => Some(id),
        }
    }
}

/// The error for a UI that asks too much at once.
pub(super) fn too_many() -> RpcError {
    RpcError::new(code::BUSY, "too many requests; wait a moment and send it again")
}

/// The result of a replay of nothing.
pub(super) fn no_history(id: &WireId) -> String {
    jsonrpc::result(id, &super::super::wire::SessionHistoryResult::default())
}

/// The result of stopping what is over, or what cannot be stopped.
pub(super) fn not_cancelled(id: &WireId, status: Status) -> String {
    jsonrpc::result(id, &RunCancelResult { ok: false, status: Some(status) })
}

/// The answer to `run.cancel` for a run that is being stopped.
pub(super) fn cancel_accepted(id: &WireId) -> String {
    jsonrpc::result(id, &lower_cancel(None))
}

fn lower_cancel(outcome: Option<&Outcome>) -> RunCancelResult {
    let status = match outcome {
        None => return RunCancelResult { ok: true, status: None },
        Some(Outcome::Done) => Status::Completed,
        Some(Outcome::Cancelled) => Status::Cancelled,
        Some(Outcome::Failed(_) | Outcome::Interrupted | Outcome::Lost) => Status::Error,
    };
    RunCancelResult { ok: false, status: Some(status) }
}

/// A model is taken for the session: settings are the person's to write.
fn lower_model_set(model: ModelRef, effort: Option<Effort>) -> ModelSetResult {
    let reasoning = effort.map(|effort| effort_name::write(effort).to_owned());
    let (provider, name) = (model.provider, model.name);
    ModelSetResult { provider, name, source: Some(SESSION.to_owned()), reasoning }
}

/// The count of a runtime that is another program (`follows`) is 0 where it told none.
fn lower_session(session: SessionSummary, follows: bool) -> SessionItem {
    SessionItem {
        updated_at: time::write(session.updated_at.0),
        run_id: session.last_run.map(|run| run_name::write(&session.id, run)),
        message_count: Some(session.messages).filter(|count| !follows || *count > 0),
        last_user_message: session.last_prompt,
        workspace_root: Some(session.project),
        session_id: session.id.to_string(),
    }
}

fn lower_details(entry: &ModelEntry) -> ModelDetails {
    let dollars = |micros: Option<u64>| micros.map(|micros| micros as f64 / 1e6);
    let max_input_tokens = match (entry.context_window, entry.max_output) {
        (Some(window), Some(output)) if output < window => Some(window - output),
        (window, _) => window,
    };
    ModelDetails {
        context_window: entry.context_window,
        max_input_tokens,
        max_output_tokens: entry.max_output,
        cost_per_1m_input_tokens_usd: dollars(entry.price_input),
        cost_per_1m_output_tokens_usd: dollars(entry.price_output),
    }
}

fn lower_server(server: ServerEntry) -> McpServer {
    let (state, last_error) = match server.state {
        ServerState::Disabled => ("disabled", None),
        ServerState::Connecting => ("connecting", None),
        ServerState::Ready => ("ready", None),
        ServerState::Failed(why) => ("error", Some(why)),
        ServerState::AuthRequired => ("auth_required", None),
    };
    McpServer {
        id: server.id,
        transport: if server.http { "http" } else { "stdio" }.to_owned(),
        source: Some(if server.from_project { "project" } else { "global" }.to_owned()),
        enabled: state != "disabled",
        state: state.to_owned(),
        tools: server.tools,
        last_error,
        last_connected_at: server.connected_at.map(|at| time::write(at.0)),
    }
}

fn lower_skills(list: SkillList) -> SkillsListResult {
    let skill = |skill: SkillEntry| Skill {
        dir: Path::new(&skill.path)
            .parent()
            .map(|dir| dir.to_string_lossy().into_owned())
            .unwrap_or_default(),
        id: skill.id,
        name: skill.name,
        description: skill.description,
        path: skill.path,
        scope: if skill.from_project { "repo" } else { "user" }.to_owned(),
        mtime_ms: skill.modified_at.0,
    };
    SkillsListResult {
        skills: list.skills.into_iter().map(skill).collect(),
        errors: list.errors.into_iter().map(|(path, message)| SkillError { path, message }).collect(),
        truncated: list.truncated,
    }
}

/// The words of existing programs where they have some; ours, with the hint, go along as data.
pub(super) fn lower_refusal(pending: &HubCommand, refusal: &Refusal) -> RpcError {
    let (number, words) = match &refusal.kind {
        RefusalKind::Busy => (code::BUSY, Some("runtime busy")),
        RefusalKind::TooMany => (code::BUSY, None),
        RefusalKind::NoRun | RefusalKind::RunUnknown => (code::RUN_NOT_FOUND, Some("run not found")),
        // Runs are named together with their session: without it there is no such run.
        RefusalKind::SessionUnknown if matches!(pending, HubCommand::Cancel { .. }) => {
            (code::RUN_NOT_FOUND, Some("run not found"))
        }
        RefusalKind::SessionUnknown => (code::SESSION_NOT_FOUND, Some("session not found")),
        RefusalKind::Storage if matches!(pending, HubCommand::SessionList { .. }) => {
            (code::SESSION_LIST_FAILED, None)
        }
        RefusalKind::Storage => (code::SESSION_LOAD_FAILED, None),
        RefusalKind::Invalid
        | RefusalKind::EntryUnknown
        | RefusalKind::QueuedUnknown
        | RefusalKind::ModelUnknown
        | RefusalKind::ToolUnknown
        | RefusalKind::ExtensionUnknown
        | RefusalKind::AskUnknown
        | RefusalKind::AskOver => (INVALID_PARAMS, None),
        RefusalKind::Unsupported => (METHOD_NOT_FOUND, None),
        RefusalKind::Remote { code: number } => (number.parse().unwrap_or(code::INTERNAL), None),
        RefusalKind::NothingToCompact
        | RefusalKind::NotAllowed
        | RefusalKind::TimedOut
        | RefusalKind::Lost
        | RefusalKind::Internal => (code::INTERNAL, None),
    };
    match words {
        Some(words) => RpcError::new(number, words).with_data(&json!({ "detail": refusal.to_string() })),
        None => RpcError::new(number, refusal.to_string()),
    }
}
