//! How the agent's session is set: its modes, options and commands, as it told them.

use super::super::wire::{AvailableCommand, Category, ConfigOption, ModeState, ModelState, SelectOption};
use super::AcpUi;
use domain::fact::{Fact, Said};
use domain::session::{Effort, ModelEntry, ModelRef};
use domain::signal::Signal;
use roles::UiCx;

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
            modes.current_mode_id = mode;
        } else {
            self.options.modes = Some(ModeState { current_mode_id: mode, ..ModeState::default() });
        }
        self.tell_mode(cx);
    }

    /// The mode is the agent's own, with a name of its own: it is shown, and nobody here takes it for one of ours.
    fn tell_mode(&mut self, cx: &mut UiCx<'_>) {
        let Some(modes) = &self.options.modes else { return };
        let id = modes.current_mode_id.clone();
        if self.options.mode.as_ref() == Some(&id) || id.is_empty() {
            return;
        }
        let name = modes.available_modes.iter().find(|mode| mode.id == id).map_or(&id, |mode| &mode.name);
        cx.signal(Signal::Status { key: "mode".to_owned(), text: Some(name.clone()) });
        self.options.mode = Some(id);
    }
}
