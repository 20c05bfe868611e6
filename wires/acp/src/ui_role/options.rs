//! How the agent's session is set: its modes, options and commands, as it told them.

use super::super::wire::{
    AvailableCommand, Category, ConfigOption, ModeState, ModelState, SelectEntry, SelectOption, SessionMode,
};
use super::AcpUi;
use domain::fact::{Fact, Said};
use domain::port::menu::{AgentChoice, AgentCommand, AgentMenu, AgentOption, OptionKind};
use domain::session::{Effort, ModelEntry, ModelRef};
use domain::signal::Signal;
use roles::UiCx;
use std::sync::Arc;

/// The command that puts a summary in the place of older messages, where an agent has it.
pub(super) const COMPACT: &str = "compact";
/// The provider of a model that is named without one: nobody knows it.
const UNSAID: &str = "";

/// What can be set, and how it is.
#[derive(Debug, Default)]
pub(super) struct AgentOptions {
    all: Vec<ConfigOption>,
    modes: Option<ModeState>,
    models: Option<ModelState>,
    commands: Vec<AvailableCommand>,
    /// As last said.
    model: Option<ModelRef>,
    effort: Option<Effort>,
    mode: Option<String>,
    /// All of it as it is shown.
    menu: Arc<AgentMenu>,
}

/// The option of an agent's modes, where they are told apart from its options.
const MODES: &str = "mode";
/// The values of a switch.
const SWITCH: [&str; 2] = ["on", "off"];

/// What an option of an agent is set by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SetBy {
    Choice(String),
    Switch(bool),
    /// It is its mode, which has a request of its own.
    Mode(String),
}

impl AgentOptions {
    fn select(&self, wanted: &Category) -> Option<&SelectOption> {
        self.all.iter().find_map(|option| match option {
            ConfigOption::Select(select) if select.category.as_ref() == Some(wanted) => Some(select),
            _ => None,
        })
    }

    /// The option that chooses the model; agents that give no categories call it so.
    pub(super) fn model_option(&self) -> Option<&SelectOption> {
        let named = || {
            self.all.iter().find_map(|option| match option {
                ConfigOption::Select(select) if select.id == "model" => Some(select),
                _ => None,
            })
        };
        self.select(&Category::Model).or_else(named)
    }

    /// The option that says how hard the model thinks.
    pub(super) fn effort_option(&self) -> Option<&SelectOption> {
        self.select(&Category::ThoughtLevel)
    }

    /// Whether the agent told which models it has.
    pub(super) fn has_models(&self) -> bool {
        self.model_option().is_some()
            || self.models.as_ref().is_some_and(|models| !models.available_models.is_empty())
    }

    /// Whether another model can be chosen.
    pub(super) fn sets_model(&self) -> bool {
        self.model_option().is_some()
    }

    /// Whether one can say how hard the model thinks.
    pub(super) fn sets_effort(&self) -> bool {
        self.effort_option().is_some()
    }

    /// Whether the agent lists the command for a summary.
    pub(super) fn compacts(&self) -> bool {
        self.commands.iter().any(|command| command.name == COMPACT)
    }

    /// Takes the slash commands that the agent lists now.
    pub(super) fn learn_commands(&mut self, commands: Vec<AvailableCommand>) {
        self.commands = commands;
        self.learn_menu();
    }

    /// What the agent offers, as it is shown.
    pub(super) fn menu(&self) -> Arc<AgentMenu> {
        self.menu.clone()
    }

    fn learn_menu(&mut self) {
        let commands = self.commands.iter().map(lift_command).collect();
        let mut options: Vec<AgentOption> = self.all.iter().filter_map(lift_option).collect();
        // An agent that tells its modes both ways means the same by them.
        let has_modes = options.iter().any(|option| option.kind == OptionKind::Mode);
        if let Some(modes) =
            self.modes.as_ref().filter(|modes| !has_modes && !modes.available_modes.is_empty())
        {
            options.insert(0, lift_modes(modes));
        }
        let model = self.model_option().map(|option| option.id.clone());
        for option in options.iter_mut().filter(|option| Some(&option.id) == model.as_ref()) {
            option.kind = OptionKind::Model;
        }
        let menu = AgentMenu { commands, options, ..AgentMenu::default() }.bounded();
        if *self.menu != menu {
            self.menu = Arc::new(menu);
        }
    }

    /// By what an option takes a value, be it its id or its name.
    pub(super) fn set_by(&self, id: &str, value: &str) -> Result<SetBy, String> {
        let Some(option) = self.menu.options.iter().find(|option| option.id == id) else {
            let known: Vec<&str> = self.menu.options.iter().map(|option| option.id.as_str()).collect();
            return Err(match known.is_empty() {
                true => "this agent has nothing that can be set".to_owned(),
                false => format!("this agent has no option {id:?}; it has {}", known.join(", ")),
            });
        };
        let Some(choice) = option.meant(value) else {
            let known: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).collect();
            return Err(format!("{} cannot be {value:?}; it can be {}", option.name, known.join(", ")));
        };
        let value = choice.value.clone();
        let of_wire = self.all.iter().find(|known| known.about().is_some_and(|(known, _)| known == id));
        match of_wire {
            Some(ConfigOption::Switch(_)) => Ok(SetBy::Switch(value == SWITCH[0])),
            Some(_) => Ok(SetBy::Choice(value)),
            None if id == MODES => Ok(SetBy::Mode(value)),
            None => Err(format!("the option {id:?} is too long to be set")),
        }
    }

    /// Named by the agent and meaning what it says; `None` where it has none.
    pub(super) fn modes(&self) -> Option<&ModeState> {
        self.modes.as_ref()
    }

    /// The models there are and the one in use.
    pub(super) fn listed(&self) -> (Vec<ModelEntry>, Option<ModelRef>) {
        let entry = |model: ModelRef| ModelEntry {
            model,
            context_window: None,
            max_output: None,
            price_input: None,
            price_output: None,
            thinks: None,
        };
        if let Some(option) = self.model_option() {
            let models = option.choices().map(|choice| entry(lift_model(&choice.value))).collect();
            return (models, Some(lift_model(&option.current_value)));
        }
        let models = self.models.clone().unwrap_or_default();
        let current = Some(models.current_model_id).filter(|id| !id.is_empty()).map(|id| lift_model(&id));
        (models.available_models.iter().map(|model| entry(lift_model(&model.model_id))).collect(), current)
    }
}

/// A model as agents write it: with its provider, or without.
pub(super) fn lift_model(id: &str) -> ModelRef {
    let (provider, name) = id.split_once('/').unwrap_or((UNSAID, id));
    ModelRef { provider: provider.to_owned(), name: name.to_owned() }
}

impl AcpUi {
    /// A session's settings came with it.
    pub(super) fn learn_setup(
        &mut self,
        cx: &mut UiCx<'_>,
        modes: Option<ModeState>,
        options: Option<Vec<ConfigOption>>,
        models: Option<ModelState>,
    ) {
        // Another session has to hear of all of it, also where it is the same.
        (self.options.model, self.options.effort, self.options.mode) = (None, None, None);
        self.options.modes = modes;
        self.options.models = models;
        self.learn_options(cx, options.unwrap_or_default());
        self.tell_mode(cx);
    }

    /// All options, with their values.
    pub(super) fn learn_options(&mut self, cx: &mut UiCx<'_>, options: Vec<ConfigOption>) {
        self.options.all = options;
        self.options.learn_menu();
        let (_, model) = self.options.listed();
        if let Some(model) = model.filter(|model| self.options.model.as_ref() != Some(model)) {
            cx.fact(Fact::new(Said::Model(model.clone())));
            self.options.model = Some(model);
        }
        let effort = self.options.effort_option().map(|option| Effort::named(&option.current_value));
        if let Some(effort) = effort.filter(|effort| self.options.effort != *effort) {
            self.options.effort = effort;
            cx.fact(Fact::new(Said::Effort(effort)));
        }
        let mode = self.options.select(&Category::Mode).map(|option| option.current_value.clone());
        if let (Some(mode), Some(modes)) = (mode, &mut self.options.modes) {
            modes.current_mode_id = mode;
        }
        self.tell_mode(cx);
    }

    /// The agent is in this mode of its own now.
    pub(super) fn learn_mode(&mut self, cx: &mut UiCx<'_>, mode: String) {
        if let Some(modes) = &mut self.options.modes {
            modes.current_mode_id.clone_from(&mode);
        } else {
            self.options.modes = Some(ModeState { current_mode_id: mode.clone(), ..ModeState::default() });
        }
        for option in &mut self.options.all {
            if let ConfigOption::Select(option) = option
                && option.category == Some(Category::Mode)
                && option.choices().any(|choice| choice.value == mode)
            {
                option.current_value.clone_from(&mode);
            }
        }
        self.options.learn_menu();
        self.tell_mode(cx);
    }

    /// The mode is the agent's own, with a name of its own: it is shown, and nobody here takes it for one of ours.
    fn tell_mode(&mut self, cx: &mut UiCx<'_>) {
        let (id, name) = match (self.options.menu.of_kind(OptionKind::Mode), &self.options.modes) {
            (Some(option), _) => (option.value.clone(), option.shown().to_owned()),
            (None, Some(modes)) => (modes.current_mode_id.clone(), modes.current_mode_id.clone()),
            (None, None) => return,
        };
        if self.options.mode.as_ref() == Some(&id) || id.is_empty() {
            return;
        }
        cx.signal(Signal::Status { key: "mode".to_owned(), text: Some(name) });
        self.options.mode = Some(id);
    }
}

fn lift_command(command: &AvailableCommand) -> AgentCommand {
    let hint = command.input.as_ref().map(|input| input.hint.clone());
    // Some write the slash along.
    let name = command.name.trim_start_matches('/').to_owned();
    AgentCommand { name, about: command.description.clone(), hint }
}

fn lift_option(option: &ConfigOption) -> Option<AgentOption> {
    let kind = match option.about()?.1 {
        Some(Category::Mode) => OptionKind::Mode,
        Some(Category::Model) => OptionKind::Model,
        Some(Category::ThoughtLevel) => OptionKind::Effort,
        Some(Category::ModelConfig | Category::Other(_)) | None => OptionKind::Other,
    };
    Some(match option {
        ConfigOption::Select(select) => AgentOption {
            id: select.id.clone(),
            name: select.name.clone(),
            about: select.description.clone(),
            kind,
            value: select.current_value.clone(),
            choices: select.options.iter().flat_map(lift_entry).collect(),
        },
        ConfigOption::Switch(switch) => {
            let choice = |word: &str| AgentChoice {
                value: word.to_owned(),
                name: word.to_owned(),
                ..AgentChoice::default()
            };
            AgentOption {
                id: switch.id.clone(),
                name: switch.name.clone(),
                about: switch.description.clone(),
                kind,
                value: SWITCH[usize::from(!switch.current_value)].to_owned(),
                choices: SWITCH.map(choice).to_vec(),
            }
        }
        ConfigOption::Unknown(_) => return None,
    })
}

fn lift_entry(entry: &SelectEntry) -> Vec<AgentChoice> {
    let (choices, group) = match entry {
        SelectEntry::Choice(choice) => (std::slice::from_ref(choice), None),
        SelectEntry::Group(group) => (group.options.as_slice(), Some(group.name.clone())),
        SelectEntry::Unknown(_) => return Vec::new(),
    };
    let lift = |choice: &super::super::wire::SelectChoice| AgentChoice {
        value: choice.value.clone(),
        name: choice.name.clone(),
        about: choice.description.clone(),
        group: group.clone(),
    };
    choices.iter().map(lift).collect()
}

fn lift_modes(modes: &ModeState) -> AgentOption {
    let lift = |mode: &SessionMode| AgentChoice {
        value: mode.id.clone(),
        name: mode.name.clone(),
        about: mode.description.clone(),
        group: None,
    };
    AgentOption {
        id: MODES.to_owned(),
        name: "Mode".to_owned(),
        about: None,
        kind: OptionKind::Mode,
        value: modes.current_mode_id.clone(),
        choices: modes.available_modes.iter().map(lift).collect(),
    }
}
