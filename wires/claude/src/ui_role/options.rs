//! What can be set: the model and the permission mode, and the slash commands there are.

use super::super::wire::{Initialized, ModelChoice, SlashCommand};
use super::ClaudeUi;
use domain::command::Receipt;
use domain::fact::{Fact, Said};
use domain::port::Ticket;
use domain::port::menu::{AgentChoice, AgentCommand, AgentMenu, AgentOption, OptionKind};
use domain::session::{ModelEntry, ModelRef};
use domain::signal::Signal;
use roles::UiCx;
use std::sync::Arc;

/// How sure a suggestion is: the program does not say, and shows it.
pub(super) const SUGGESTION: u16 = 1000;
pub(super) const MODE: &str = "mode";
pub(super) const MODEL: &str = "model";
/// Its modes, which it does not list on the wire: the words of `--permission-mode`. Any other word is taken by it and does nothing.
const MODES: &[(&str, &str, &str)] = &[
    ("default", "Ask first", "asks before edits and commands"),
    ("acceptEdits", "Accept edits", "edits files without asking"),
    ("plan", "Plan", "looks and plans, changes nothing"),
    ("auto", "Auto", "a model decides what has to be asked"),
    ("dontAsk", "Don't ask", "what would be asked is denied"),
    ("bypassPermissions", "Bypass permissions", "asks nothing; only where it was started so"),
];

/// What can be set, and how it is.
#[derive(Debug, Default)]
pub(super) struct ProgramOptions {
    models: Vec<ModelChoice>,
    commands: Vec<SlashCommand>,
    mode: Option<String>,
    /// As a person reads it in a list of models.
    model: Option<String>,
    menu: Arc<AgentMenu>,
}

impl ProgramOptions {
    /// Takes the answer to `initialize`, the only line that lists the models.
    pub(super) fn learn(&mut self, told: Initialized) {
        self.models = told.models;
        self.learn_commands(told.commands);
    }

    /// The list stands in place of the one before, names that turns told included.
    pub(super) fn learn_commands(&mut self, commands: Vec<SlashCommand>) {
        self.commands = commands;
        self.learn_menu();
    }

    /// Commands that the begin of a turn names and the greeting did not.
    pub(super) fn learn_names(&mut self, names: Vec<String>) {
        let known = |name: &String| self.commands.iter().any(|command| command.name == *name);
        let new: Vec<String> = names.into_iter().filter(|name| !known(name)).collect();
        if !new.is_empty() {
            let command = |name| SlashCommand { name, ..SlashCommand::default() };
            self.commands.extend(new.into_iter().map(command));
            self.learn_menu();
        }
    }

    /// Where the program told none, the person can neither list nor set them.
    pub(super) fn has_models(&self) -> bool {
        !self.models.is_empty()
    }

    /// Asked before the program is told to compact or to begin anew, since both are only slash commands.
    pub(super) fn has_command(&self, name: &str) -> bool {
        self.commands.iter().any(|command| command.name == name)
    }

    /// Shared and made anew only when something in it has changed, so that it is cheap to ask for.
    pub(super) fn menu(&self) -> Arc<AgentMenu> {
        self.menu.clone()
    }

    fn learn_menu(&mut self) {
        let command = |command: &SlashCommand| AgentCommand {
            name: command.name.trim_start_matches('/').to_owned(),
            about: command.description.clone(),
            hint: Some(command.hint.clone()).filter(|hint| !hint.is_empty()),
        };
        let choice = |value: &str, name: &str, about: Option<&str>| AgentChoice {
            value: value.to_owned(),
            name: name.to_owned(),
            about: about.map(ToOwned::to_owned),
            group: None,
        };
        let option = |id: &str, name: &str, kind, value: String, choices| AgentOption {
            id: id.to_owned(),
            name: name.to_owned(),
            about: None,
            kind,
            value,
            choices,
        };
        let modes = MODES.iter().map(|(value, name, about)| choice(value, name, Some(about))).collect();
        let mode = self.mode.clone().unwrap_or_else(|| MODES[0].0.to_owned());
        let mut options = vec![option(MODE, "Mode", OptionKind::Mode, mode, modes)];
        if self.has_models() {
            let models = self.models.iter();
            let models =
                models.map(|model| choice(&model.value, &model.name, model.description.as_deref())).collect();
            let model = self.model.clone().unwrap_or_default();
            options.push(option(MODEL, "Model", OptionKind::Model, model, models));
        }
        let menu = AgentMenu {
            commands: self.commands.iter().map(command).collect(),
            options,
            ..AgentMenu::default()
        }
        .bounded();
        if *self.menu != menu {
            self.menu = Arc::new(menu);
        }
    }

    /// The value that is meant by a word for an option.
    pub(super) fn meant(&self, id: &str, word: &str) -> Result<String, String> {
        let Some(option) = self.menu.options.iter().find(|option| option.id == id) else {
            let known: Vec<&str> = self.menu.options.iter().map(|option| option.id.as_str()).collect();
            return Err(format!("Claude Code has no option {id:?}; it has {}", known.join(", ")));
        };
        match option.meant(word) {
            Some(choice) => Ok(choice.value.clone()),
            None => {
                let known: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).collect();
                Err(format!("{} cannot be {word:?}; it can be {}", option.name, known.join(", ")))
            }
        }
    }

    /// The models there are and the one in use.
    pub(super) fn listed(&self) -> (Vec<ModelEntry>, Option<ModelRef>) {
        let entry = |choice: &ModelChoice| ModelEntry {
            model: lift_model(&choice.value),
            context_window: None,
            max_output: None,
            price_input: None,
            price_output: None,
            thinks: None,
        };
        (self.models.iter().map(entry).collect(), self.model.as_deref().map(lift_model))
    }

    /// The choice that a model which answers is: the named one where it has one, since `default` says nothing.
    fn choice_of(&self, model: &str) -> String {
        let fits = |choice: &&ModelChoice| choice.resolved == model || choice.value == model;
        let named = |choice: &&ModelChoice| fits(choice) && choice.value != "default";
        let models = || self.models.iter();
        let found = models().find(named).or_else(|| models().find(fits));
        found.map_or_else(|| model.to_owned(), |choice| choice.value.clone())
    }

    /// What a choice resolves to.
    fn resolved<'a>(&'a self, value: &'a str) -> &'a str {
        let found = self.models.iter().find(|choice| choice.value == value && !choice.resolved.is_empty());
        found.map_or(value, |choice| &choice.resolved)
    }
}

/// A model as this wire writes it: without a provider.
pub(super) fn lift_model(id: &str) -> ModelRef {
    ModelRef { provider: String::new(), name: id.to_owned() }
}

impl ClaudeUi {
    /// The mode is the program's own, with a name of its own.
    pub(super) fn learn_mode(&mut self, cx: &mut UiCx<'_>, mode: String) {
        if self.options.mode.as_ref() == Some(&mode) {
            return;
        }
        self.options.mode = Some(mode.clone());
        self.options.learn_menu();
        let name =
            self.options.menu.of_kind(OptionKind::Mode).map_or(mode, |option| option.shown().to_owned());
        cx.signal(Signal::Status { key: MODE.to_owned(), text: Some(name) });
    }

    /// This model answers.
    pub(super) fn learn_model(&mut self, cx: &mut UiCx<'_>, model: &str) {
        let choice = self.options.choice_of(self.options.resolved(model));
        if model.is_empty() || self.options.model.as_ref() == Some(&choice) {
            return;
        }
        cx.fact(Fact::new(Said::Model(lift_model(&choice))));
        self.options.model = Some(choice);
        self.options.learn_menu();
    }

    /// The program agreed to the mode that was wanted: only now is it shown, and the command answered.
    pub(super) fn mode_set(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, mode: String) {
        self.learn_mode(cx, mode);
        cx.settle(ticket, Ok(Receipt::Done));
    }

    /// The program agreed to the model that was wanted. The receipt names it as it was asked for, not as it resolves.
    pub(super) fn model_set(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, model: String) {
        self.learn_model(cx, &model);
        cx.settle(ticket, Ok(Receipt::Model(lift_model(&model))));
    }
}
