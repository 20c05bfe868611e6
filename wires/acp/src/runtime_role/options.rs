//! How a session is set, as modes and as options: both are always told, since some clients read one and some the other. What another program
//! behind us lets be set stands among them in its own words, by its own ids.

use super::super::wire::{
    Category, ConfigOption, ConfigOptions, ConfigValue, CurrentMode, ModeState, SET_MODEL, SelectChoice,
    SelectEntry, SelectOption, SessionMode, SessionUpdate, SetConfigOptionParams, SetConfigOptionResult,
    SetModeParams, SetModelParams,
};
use super::AcpRuntime as Role;
use super::known::Told;
use super::requests::{AcpMemo, invalid, nothing, read};
use domain::command::{Command, SessionCommand, Target};
use domain::content::Json;
use domain::ids::SessionId;
use domain::port::Abilities;
use domain::port::menu::{AgentChoice, AgentOption, OptionKind, SET_OPTION, SetOption};
use domain::session::{Effort, ModelEntry, ModelRef, Policy};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement};
use roles::RuntimeCx;
use wire::jsonrpc::{INVALID_PARAMS, RpcError};

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<SetModeParams>(set_mode, mode_is_set),
    Exchange::of::<SetConfigOptionParams>(set_option, option_is_set),
    Exchange { method: SET_MODEL, ask: set_model, answer: mode_is_set },
];

/// The ids of our options.
pub(super) const MODE: &str = "mode";
pub(super) const MODEL: &str = "model";
pub(super) const EFFORT: &str = "effort";
/// The effort that leaves it to the provider.
const USUAL: &str = "default";

fn change(session: SessionId, command: SessionCommand) -> Asking<Role> {
    let memo = AcpMemo::Set { session: session.clone(), command: command.clone() };
    Ok(Next::Hub(Target::Session(session), Command::Session(command), memo))
}

/// An option of the program behind us; a value that it has not is refused by it.
fn change_theirs(session: SessionId, id: String, value: String) -> Asking<Role> {
    let set = SetOption { id, value };
    let payload = serde_json::to_string(&set).map_err(|why| invalid(why.to_string()))?;
    let command = Command::Extension { name: SET_OPTION.to_owned(), payload: Json::verbatim(payload) };
    Ok(Next::Hub(Target::Session(session.clone()), command, AcpMemo::SetTheirs { session, set }))
}

fn set_mode(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SetModeParams = read(request.params)?;
    let can = role.endpoint.can();
    if let Some(option) = their_mode(&can) {
        return change_theirs(role.known(&params.session_id)?, option.id.clone(), params.mode_id);
    }
    change(role.known(&params.session_id)?, mode_command(&params.mode_id).map_err(invalid)?)
}

fn set_model(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SetModelParams = read(request.params)?;
    change(role.known(&params.session_id)?, model_command(&params.model_id))
}

fn mode_is_set(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    role.note_set(settled)?;
    Ok(Next::Reply(nothing()))
}

fn set_option(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SetConfigOptionParams = read(request.params)?;
    let session = role.known(&params.session_id)?;
    let value = match &params.value {
        ConfigValue::Id(value) => value,
        ConfigValue::Switch(_) => return Err(invalid("there is no option here that is switched on and off")),
    };
    let can = role.endpoint.can();
    if theirs(&can, &ours(role, &session)).any(|option| option.id == params.config_id) {
        return change_theirs(session, params.config_id.clone(), value.clone());
    }
    change(session, command(&params.config_id, value).map_err(invalid)?)
}

/// The answer holds what was set, also where the event of it is told after.
fn option_is_set(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let set = match &settled.memo {
        AcpMemo::SetTheirs { set, .. } => Some(set.clone()),
        _ => None,
    };
    let session = role.note_set(settled)?;
    let Some(known) = role.sessions.get(&session) else { return Ok(Next::Reply(nothing())) };
    let models = role.models.as_deref().unwrap_or_default();
    let (can, follows) = (role.endpoint.can(), role.endpoint.greeting.follows);
    let mut config_options = all(&known.told, models, role.usual_model().as_ref(), &can, follows);
    for option in &mut config_options {
        if let (ConfigOption::Select(option), Some(set)) = (option, &set)
            && option.id == set.id
        {
            option.current_value.clone_from(&set.value);
        }
    }
    Ok(reply(&SetConfigOptionResult { config_options, ..SetConfigOptionResult::default() }))
}

impl Role {
    /// Notes what was set as what the client was told.
    fn note_set(&mut self, settled: Settlement<'_, Self>) -> Result<SessionId, Fault<RpcError>> {
        // A client may take an unknown method for the end: what cannot be set is a wrong value.
        settled.with.map_err(|why| Fault::Error(RpcError::new(INVALID_PARAMS, why.to_string())))?;
        let (session, command) = match settled.memo {
            AcpMemo::Set { session, command } => (session, command),
            AcpMemo::SetTheirs { session, .. } => return Ok(session),
            _ => return Err(Fault::Odd),
        };
        if let Some(known) = self.sessions.get_mut(&session) {
            match command {
                SessionCommand::SetPolicy { policy } => known.told.policy = policy,
                SessionCommand::SetEffort { effort } => known.told.effort = effort,
                SessionCommand::SetModel { provider: Some(provider), name } => {
                    known.told.model = Some(ModelRef { provider, name });
                }
                _ => {}
            }
        }
        Ok(session)
    }
}

fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::ReadOnly => "Read only",
        Policy::Plan => "Plan",
        Policy::Ask => "Ask",
        Policy::AutoEdit => "Edit files",
        Policy::Sandboxed => "Sandboxed",
        Policy::Full => "Full",
    }
}

fn about(policy: Policy) -> &'static str {
    match policy {
        Policy::ReadOnly => "Nothing that changes anything",
        Policy::Plan => "Looks and writes a plan; begins when you agree to it",
        Policy::Ask => "Reads; everything else is asked",
        Policy::AutoEdit => "Edits files of the project; everything else is asked",
        Policy::Sandboxed => "Runs commands too, inside the sandbox; leaving it is asked",
        Policy::Full => "All that stays inside the sandbox; the network and leaving it are asked",
    }
}

/// The modes of a program behind us.
fn their_mode(can: &Abilities) -> Option<&AgentOption> {
    can.menu.of_kind(OptionKind::Mode).filter(|_| !can.policy)
}

/// What a program behind us lets be set, where none of ours says the same.
fn theirs<'a>(can: &'a Abilities, ours: &[ConfigOption]) -> impl Iterator<Item = &'a AgentOption> {
    let ids: Vec<String> = ours
        .iter()
        .filter_map(|option| match option {
            ConfigOption::Select(option) => Some(option.id.clone()),
            _ => None,
        })
        .collect();
    let has_effort = ids.iter().any(|id| id == EFFORT);
    can.menu.options.iter().filter(move |option| {
        let is_ours = match option.kind {
            OptionKind::Model => true,
            OptionKind::Effort => has_effort,
            OptionKind::Mode | OptionKind::Other => false,
        };
        !is_ours && !ids.contains(&option.id)
    })
}

/// One of them, as the client reads it.
fn lower_theirs(option: &AgentOption) -> ConfigOption {
    let choices =
        option.choices.iter().map(|one| choice(&one.value, &one.name, one.about.as_deref())).collect();
    let category = match option.kind {
        OptionKind::Mode => Some(Category::Mode),
        OptionKind::Effort => Some(Category::ThoughtLevel),
        OptionKind::Model | OptionKind::Other => None,
    };
    ConfigOption::Select(SelectOption {
        id: option.id.clone(),
        name: option.name.clone(),
        description: option.about.clone(),
        category,
        current_value: option.value.clone(),
        options: choices,
        ..SelectOption::default()
    })
}

/// The modes; `None` where there are none to set.
pub(super) fn modes(policy: Policy, can: &Abilities) -> Option<ModeState> {
    if let Some(option) = their_mode(can) {
        let mode = |one: &AgentChoice| SessionMode {
            id: one.value.clone(),
            name: one.name.clone(),
            description: one.about.clone(),
            ..SessionMode::default()
        };
        return Some(ModeState {
            current_mode_id: option.value.clone(),
            available_modes: option.choices.iter().map(mode).collect(),
            ..ModeState::default()
        });
    }
    let mode = |policy: Policy| SessionMode {
        id: policy.name().to_owned(),
        name: name(policy).to_owned(),
        description: Some(about(policy).to_owned()),
        ..SessionMode::default()
    };
    can.policy.then(|| ModeState {
        current_mode_id: policy.name().to_owned(),
        available_modes: Policy::ALL.into_iter().map(mode).collect(),
        ..ModeState::default()
    })
}

/// A change of the mode, for clients that read modes.
pub(super) fn mode_update(policy: Policy) -> SessionUpdate {
    let current_mode_id = policy.name().to_owned();
    SessionUpdate::CurrentMode(CurrentMode { current_mode_id, ..CurrentMode::default() })
}

/// A change of the mode of a program behind us.
pub(super) fn their_mode_update(can: &Abilities) -> Option<SessionUpdate> {
    let current_mode_id = their_mode(can)?.value.clone();
    Some(SessionUpdate::CurrentMode(CurrentMode { current_mode_id, ..CurrentMode::default() }))
}

/// The same for those that read options: all of them, with their values.
pub(super) fn update(config_options: Vec<ConfigOption>) -> SessionUpdate {
    SessionUpdate::ConfigOptions(ConfigOptions { config_options, ..ConfigOptions::default() })
}

/// The options of a session that are ours.
fn ours(role: &Role, session: &SessionId) -> Vec<ConfigOption> {
    let Some(known) = role.sessions.get(session) else { return Vec::new() };
    let models = role.models.as_deref().unwrap_or_default();
    let (can, follows) = (role.endpoint.can(), role.endpoint.greeting.follows);
    all_ours(&known.told, models, role.usual_model().as_ref(), &can, follows)
}

/// All options with their values, the most important first.
pub(super) fn all(
    told: &Told,
    models: &[ModelEntry],
    usual: Option<&ModelRef>,
    can: &Abilities,
    follows: bool,
) -> Vec<ConfigOption> {
    let mut options = all_ours(told, models, usual, can, follows);
    let theirs: Vec<ConfigOption> = theirs(can, &options).map(lower_theirs).collect();
    options.extend(theirs);
    options
}

fn all_ours(
    told: &Told,
    models: &[ModelEntry],
    usual: Option<&ModelRef>,
    can: &Abilities,
    follows: bool,
) -> Vec<ConfigOption> {
    let mut options = Vec::new();
    if can.policy {
        let choices = Policy::ALL.map(|policy| choice(policy.name(), name(policy), Some(about(policy))));
        options.push(select(MODE, "Mode", Category::Mode, told.policy.name().to_owned(), choices.into()));
    }
    if let Some(model) = told.model.as_ref().or(usual).filter(|_| can.set_model) {
        let mut listed: Vec<String> = models.iter().map(|entry| entry.model.to_string()).collect();
        let current = model.to_string();
        if !listed.contains(&current) {
            listed.insert(0, current.clone());
        }
        let choices = listed.iter().map(|model| choice(model, model, None)).collect();
        options.push(select(MODEL, "Model", Category::Model, current, choices));
    }
    if can.effort && takes_effort(told.model.as_ref().or(usual), models, follows) {
        let efforts = Effort::ALL.map(|effort| choice(effort.name(), effort.name(), None));
        let usual = choice(USUAL, "As the provider does", None);
        let choices = std::iter::once(usual).chain(efforts).collect();
        let current = told.effort.map_or(USUAL, Effort::name).to_owned();
        options.push(select(EFFORT, "Thinking", Category::ThoughtLevel, current, choices));
    }
    options
}

/// Whether the model takes an effort. Where nobody knows, it is asked.
fn takes_effort(model: Option<&ModelRef>, models: &[ModelEntry], follows: bool) -> bool {
    let entry = models.iter().find(|entry| Some(&entry.model) == model);
    entry.map_or(follows, |entry| entry.thinks != Some(false))
}

fn choice(value: &str, name: &str, description: Option<&str>) -> SelectEntry {
    SelectEntry::Choice(SelectChoice {
        value: value.to_owned(),
        name: name.to_owned(),
        description: description.map(ToOwned::to_owned),
        ..SelectChoice::default()
    })
}

fn select(
    id: &str,
    name: &str,
    category: Category,
    current_value: String,
    options: Vec<SelectEntry>,
) -> ConfigOption {
    ConfigOption::Select(SelectOption {
        id: id.to_owned(),
        name: name.to_owned(),
        category: Some(category),
        current_value,
        options,
        ..SelectOption::default()
    })
}

/// The command that sets an option; else why there is none.
pub(super) fn command(option: &str, value: &str) -> Result<SessionCommand, String> {
    match option {
        MODE => mode_command(value),
        MODEL => Ok(model_command(value)),
        EFFORT if value == USUAL => Ok(SessionCommand::SetEffort { effort: None }),
        EFFORT => match Effort::named(value) {
            Some(effort) => Ok(SessionCommand::SetEffort { effort: Some(effort) }),
            None => {
                let names = Effort::ALL.map(Effort::name).join(", ");
                Err(format!("there is no effort {value:?}; there are {USUAL}, {names}"))
            }
        },
        _ => Err(format!("there is no option {option:?}; there are {MODE}, {MODEL}, {EFFORT}")),
    }
}

/// The command that sets the mode; else which modes there are.
pub(super) fn mode_command(mode: &str) -> Result<SessionCommand, String> {
    match Policy::named(mode) {
        Some(policy) => Ok(SessionCommand::SetPolicy { policy }),
        None => {
            let names = Policy::ALL.map(Policy::name).join(", ");
            Err(format!("there is no mode {mode:?}; there are {names}"))
        }
    }
}

/// A model by its provider and name; some clients name it alone.
pub(super) fn model_command(model: &str) -> SessionCommand {
    let (provider, name) = match model.split_once('/') {
        Some((provider, name)) => (Some(provider.to_owned()), name.to_owned()),
        None => (None, model.to_owned()),
    };
    SessionCommand::SetModel { provider, name }
}
