//! What there is to choose from and where the session works: sessions, models, servers, skills.

use super::super::wire::{
    AuthLogoutParams, ContextInspectParams, ContextInspectResult, InspectedSkills, InspectedUi,
    McpListParams, McpListResult, McpServer, ModelDetails, ModelListParams, ModelListResult, ModelSetParams,
    ModelSetResult, SessionItem, SessionListParams, SessionListResult, Skill, SkillError, SkillsListParams,
    SkillsListResult,
};
use super::super::{effort_name, run_name};
use super::CodeliaRuntime as Role;
use super::requests::{CodeliaMemo, invalid, read};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, Receipt, RefusalKind, SessionCommand, Target,
};
use domain::session::{
    Effort, ModelEntry, ModelRef, ServerEntry, ServerState, SessionSummary, SkillEntry, SkillList,
};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, no_answer};
use roles::RuntimeCx;
use std::path::Path;
use wire::time;

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<SessionListParams>(session_list, sessions_listed),
    Exchange::of::<ModelListParams>(model_list, models_listed),
    Exchange::of::<ModelSetParams>(model_set, model_is_set),
    Exchange::of::<McpListParams>(mcp_list, servers_listed),
    Exchange::of::<SkillsListParams>(skills_list, skills_listed),
    Exchange::of::<ContextInspectParams>(context_inspect, context_inspected),
    Exchange::of::<AuthLogoutParams>(auth_logout, no_answer),
];

/// Sessions in a list unless the UI says otherwise.
const DEFAULT_SESSIONS: i64 = 50;
/// Where a model comes from: the person's settings and what the environment offers.
const CONFIG: &str = "config";
/// Where a model comes from: it was taken in this session.
const SESSION: &str = "session";

fn session_list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SessionListParams = read(request.params)?;
    let limit = u64::try_from(params.limit.unwrap_or(DEFAULT_SESSIONS)).ok().filter(|limit| *limit > 0);
    let (scope, all) = match params.scope.as_deref() {
        Some("all") => (ListScope::All, true),
        None | Some("current_workspace") => (ListScope::Project(params.workspace_root), false),
        Some(other) => {
            return Err(invalid(format!("unknown scope {other:?}; it is current_workspace or all")));
        }
    };
    let command = Command::Library(LibraryCommand::List { scope, limit, search: None });
    Ok(Next::Hub(Target::Current, command, CodeliaMemo::SessionList { all }))
}

fn sessions_listed(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let (CodeliaMemo::SessionList { all }, Receipt::Sessions(sessions)) = (settled.memo, settled.with?)
    else {
        return Err(Fault::Odd);
    };
    let greeting = &role.endpoint.greeting;
    let sessions = sessions.into_iter().map(|session| lower_session(session, greeting.follows)).collect();
    let current_workspace_root = (!all).then(|| greeting.cwd.clone());
    Ok(reply(&SessionListResult { sessions, current_workspace_root }))
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

fn model_list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ModelListParams { provider, include_details: details } = read(request.params)?;
    // A UI that has none chosen says so with an empty name.
    let provider = provider.filter(|name| !name.is_empty());
    let command = Command::List(ListCommand::Models { provider: provider.clone() });
    Ok(Next::Hub(Target::Current, command, CodeliaMemo::ModelList { provider, details }))
}

fn models_listed(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let (mut models, current) = match settled.with {
        Ok(Receipt::Models { models, current }) => (models, current),
        Ok(_) => return Err(Fault::Odd),
        // A runtime of a wire without such a list, behind a bridge: UIs ask at their start, and a person who asked for nothing would
        // read an error.
        Err(refusal) if refusal.kind == RefusalKind::Unsupported => (Vec::new(), None),
        Err(refusal) => return Err(refusal.into()),
    };
    let CodeliaMemo::ModelList { provider: wanted, details } = settled.memo else { return Err(Fault::Odd) };
    // The session's own choice is what the next run uses.
    let chosen = settled.view.and_then(|view| view.state.settings.model.clone());
    let source = if chosen.is_some() { SESSION } else { CONFIG };
    let usual = || {
        let (provider, name) = role.endpoint.greeting.model.clone()?;
        Some(ModelRef { provider, name })
    };
    let current = chosen.or(current).or_else(usual);
    if models.is_empty() {
        models.extend(current.clone().map(ModelEntry::new));
    }
    let provider = wanted
        .clone()
        .or_else(|| current.as_ref().map(|model| model.provider.clone()))
        .or_else(|| models.first().map(|entry| entry.model.provider.clone()))
        .unwrap_or_default();
    let of_provider: Vec<&ModelEntry> =
        models.iter().filter(|entry| entry.model.provider == provider).collect();
    if let Some(unknown) = wanted.filter(|_| of_provider.is_empty()) {
        return Err(Fault::Error(invalid(format!("unknown provider: {unknown}"))));
    }
    let models: Vec<String> = of_provider.iter().map(|entry| entry.model.name.clone()).collect();
    let current = current.filter(|model| model.provider == provider && models.contains(&model.name));
    let by_name =
        || of_provider.iter().map(|entry| (entry.model.name.clone(), lower_details(entry))).collect();
    let effort = settled.view.and_then(|view| view.state.settings.effort).filter(|_| current.is_some());
    Ok(reply(&ModelListResult {
        provider,
        source: current.is_some().then(|| source.to_owned()),
        reasoning: effort.map(|effort| effort_name::write(effort).to_owned()),
        current: current.map(|model| model.name),
        details: details.then(by_name),
        models,
    }))
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

fn model_set(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: ModelSetParams = read(request.params)?;
    if params.reset {
        return Err(invalid("reset is not supported; set the model by its name"));
    }
    if params.name.is_empty() {
        return Err(invalid("name is required"));
    }
    if params.fast == Some(true) {
        return Err(invalid("fast means nothing here: no provider is asked for it"));
    }
    if let Some(scope) = params.scope.filter(|scope| !matches!(scope.as_str(), "config" | "session")) {
        return Err(invalid(format!("unknown scope {scope:?}; it is config or session")));
    }
    let effort = match params.reasoning.as_deref() {
        None => None,
        Some(word) => Some(effort_name::read(word).ok_or_else(|| {
            let names = effort_name::WORDS.join(", ");
            invalid(format!("unknown reasoning {word:?}; there are {names}"))
        })?),
    };
    let command = Command::Session(SessionCommand::SetModel { provider: params.provider, name: params.name });
    Ok(Next::Hub(Target::Current, command, CodeliaMemo::ModelSet(effort)))
}

fn model_is_set(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    Ok(match (settled.memo, settled.with) {
        (CodeliaMemo::ModelSet(Some(effort)), Ok(Receipt::Model(model))) => {
            let command = Command::Session(SessionCommand::SetEffort { effort: Some(effort) });
            Next::Hub(Target::Current, command, CodeliaMemo::EffortSet(model, effort))
        }
        (CodeliaMemo::ModelSet(None), Ok(Receipt::Model(model))) => {
            let effort = settled.view.and_then(|view| view.state.settings.effort);
            reply(&lower_model_set(model, effort))
        }
        (CodeliaMemo::EffortSet(model, effort), Ok(_)) => reply(&lower_model_set(model, Some(effort))),
        (CodeliaMemo::EffortSet(model, _), Err(refusal)) if refusal.kind == RefusalKind::Unsupported => {
            // The existing UI shows an error, and would take anything else for what was asked for.
            let set = format!("{}/{} is set, without reasoning", model.provider, model.name);
            return Err(Fault::Error(invalid(format!("{set}: {}", refusal.message))));
        }
        (_, Err(refusal)) => return Err(refusal.into()),
        (_, Ok(_)) => return Err(Fault::Odd),
    })
}

/// A model is taken for the session: settings are the person's to write.
fn lower_model_set(model: ModelRef, effort: Option<Effort>) -> ModelSetResult {
    let reasoning = effort.map(|effort| effort_name::write(effort).to_owned());
    let (provider, name) = (model.provider, model.name);
    ModelSetResult { provider, name, source: Some(SESSION.to_owned()), reasoning }
}

/// Keys are the person's, beyond any UI.
fn auth_logout(role: &mut Role, _: &mut RuntimeCx<'_>, _: Request<'_, Role>) -> Asking<Role> {
    Err(invalid(match role.endpoint.greeting.follows {
        true => "this is a bridge, which keeps no keys; log out at the runtime behind it",
        false => "keys are not this UI's to forget; `parlor logout PROVIDER` in a shell does it",
    }))
}

fn mcp_list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: McpListParams = read(request.params)?;
    match params.scope.as_deref() {
        None | Some("loaded" | "configured") => {
            Ok(Next::Hub(Target::Current, Command::List(ListCommand::Servers), CodeliaMemo::Nothing))
        }
        Some(other) => Err(invalid(format!("unknown scope {other:?}; it is loaded or configured"))),
    }
}

fn servers_listed(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let Receipt::Servers(servers) = settled.with? else { return Err(Fault::Odd) };
    Ok(reply(&McpListResult { servers: servers.into_iter().map(lower_server).collect() }))
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

fn skills_list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SkillsListParams = read(request.params)?;
    let command = Command::List(ListCommand::Skills { cwd: params.cwd, reload: params.force_reload });
    Ok(Next::Hub(Target::Current, command, CodeliaMemo::Nothing))
}

fn skills_listed(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let Receipt::Skills(list) = settled.with? else { return Err(Fault::Odd) };
    Ok(reply(&lower_skills(list)))
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

/// The skills are asked for in any case: the answer also says where the session works.
fn context_inspect(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: ContextInspectParams = read(request.params)?;
    let command = Command::List(ListCommand::Skills { cwd: None, reload: false });
    Ok(Next::Hub(Target::Current, command, CodeliaMemo::Inspect { skills: params.include_skills }))
}

/// Where the session works. A runtime behind this one that cannot list skills is no reason to say nothing.
fn context_inspected(
    role: &mut Role,
    _: &mut RuntimeCx<'_>,
    settled: Settlement<'_, Role>,
) -> Answering<Role> {
    let settings = settled.view.map(|view| &view.state.settings);
    let cwd = settings.map_or_else(|| role.endpoint.greeting.cwd.clone(), |settings| settings.cwd.clone());
    let root = settings.map(|settings| settings.project.clone());
    let skills = match (settled.memo, settled.with) {
        (CodeliaMemo::Inspect { skills: true }, Ok(Receipt::Skills(list))) => Some(InspectedSkills {
            root_dir: root.clone().unwrap_or_else(|| cwd.clone()),
            working_dir: cwd.clone(),
            catalog: lower_skills(list),
        }),
        _ => None,
    };
    Ok(reply(&ContextInspectResult {
        runtime_working_dir: Some(cwd),
        runtime_sandbox_root: root,
        ui_context: role.ui_context.as_ref().map(|context| InspectedUi {
            cwd: context.cwd.clone(),
            workspace_root: context.workspace_root.clone(),
            active_file_path: context.active_file.as_ref().map(|file| file.path.clone()),
        }),
        skills,
    }))
}
