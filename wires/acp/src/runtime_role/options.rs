//! How a session is set, as modes and as options: both are always told, since some clients read one and some the other.

use super::super::wire::{
    Category, ConfigOption, ConfigOptions, ConfigValue, CurrentMode, ModeState, SET_MODEL, SelectChoice,
    SelectEntry, SelectOption, SessionMode, SessionUpdate, SetConfigOptionParams, SetConfigOptionResult,
    SetModeParams, SetModelParams,
};
use super::AcpRuntime as Role;
use super::known::Told;
use super::requests::{AcpMemo, invalid, nothing, read};
use domain::command::{Command, SessionCommand, Target};
use domain::ids::SessionId;
use domain::port::Abilities;
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

fn set_mode(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SetModeParams = read(request.params)?;
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
    change(session, command(&params.config_id, value).map_err(invalid)?)
}

/// The answer holds what was set, also where the event of it is told after.
fn option_is_set(role: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let session = role.note_set(settled)?;
    let Some(known) = role.sessions.get(&session) else { return Ok(Next::Reply(nothing())) };
    let models = role.models.as_deref().unwrap_or_default();
    let (can, follows) = (role.endpoint.can(), role.endpoint.greeting.follows);
    let config_options = all(&known.told, models, role.usual_model().as_ref(), &can, follows);
    Ok(reply(&SetConfigOptionResult { config_options, ..SetConfigOptionResult::default() }))
}

impl Role {
    /// Notes what was set as what the client was told.
    fn note_set(&mut self, settled: Settlement<'_, Self>) -> Result<SessionId, Fault<RpcError>> {
        // A client may take an unknown method for the end: what cannot be set is a wrong value.
        settled.with.map_err(|why| Fault::Error(RpcError::new(INVALID_PARAMS, why.to_string())))?;
        let AcpMemo::Set { session, command } = settled.memo else { return Err(Fault::Odd) };
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

/// The modes; `None` where they are not ours to set.
pub(super) fn modes(policy: Policy, can: &Abilities) -> Option<ModeState> {
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

/// The same for those that read options: all of them, with their values.
pub(super) fn update(config_options: Vec<ConfigOption>) -> SessionUpdate {
    SessionUpdate::ConfigOptions(ConfigOptions { config_options, ..ConfigOptions::default() })
}

/// All options with their values, the most important first.
pub(super) fn all(
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
