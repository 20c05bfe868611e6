//! What a runtime offers in words of its own: its slash commands, and what can be set of it. Shown as it is told; what a mode or an
//! option means is the runtime's business.
//!
//! Invariant: bounded, however much a runtime tells.

use crate::live::cut;
use crate::session::ModelRef;
use serde::{Deserialize, Serialize};

/// Most commands of one runtime that are kept.
pub const MAX_COMMANDS: usize = 256;
/// Most things of one runtime that can be named.
pub const MAX_MENTIONS: usize = 512;
/// Most options of one runtime that are kept.
pub const MAX_OPTIONS: usize = 64;
/// Most values of one option that are kept.
pub const MAX_CHOICES: usize = 1024;
/// Longest name or description, in bytes.
pub const MAX_MENU_TEXT: usize = 512;
/// The extension by which an option is set: its payload is a [`SetOption`].
pub const SET_OPTION: &str = "option";

/// What a runtime offers beside what each can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentMenu {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<AgentCommand>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// What can be named in a prompt behind an `@`, beside files: by their names, without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<AgentCommand>,
}

/// A command that is said to the runtime as a prompt, with a slash before its name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentCommand {
    /// Its name, without the slash.
    pub name: String,
    pub about: String,
    /// What is written behind it, where it takes something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What an option is about, where the runtime says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// How the runtime works, as a rule what it asks about.
    Mode,
    Model,
    /// How hard its model thinks.
    Effort,
    #[default]
    Other,
}

/// Something that can be set, to one of its values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentOption {
    pub id: String,
    /// As a person reads it.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(default)]
    pub kind: OptionKind,
    pub value: String,
    pub choices: Vec<AgentChoice>,
}

/// A value that an option may have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentChoice {
    pub value: String,
    /// As a person reads it.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The headline that it stands under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// What is asked for with [`SET_OPTION`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOption {
    pub id: String,
    pub value: String,
}

impl AgentMenu {
    /// The option of this kind.
    pub fn of_kind(&self, kind: OptionKind) -> Option<&AgentOption> {
        self.options.iter().find(|option| option.kind == kind)
    }

    /// The command of this name.
    pub fn command(&self, name: &str) -> Option<&AgentCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// A model as the runtime names it to people.
    pub fn model(&self, model: &ModelRef) -> Option<&AgentChoice> {
        self.of_kind(OptionKind::Model)?.choice(&model.to_string())
    }

    /// The same with everything cut to its bounds. The value that an option has is kept.
    #[must_use]
    pub fn bounded(mut self) -> AgentMenu {
        self.commands.truncate(MAX_COMMANDS);
        // One that was cut would name something else.
        self.mentions.retain(|one| one.name.len() <= MAX_MENU_TEXT);
        self.mentions.truncate(MAX_MENTIONS);
        for AgentCommand { name, about, hint } in self.commands.iter_mut().chain(&mut self.mentions) {
            [name, about].into_iter().chain(hint).for_each(bound);
        }
        self.options.truncate(MAX_OPTIONS);
        for AgentOption { id, name, about, kind: _, value, choices } in &mut self.options {
            let now = choices.iter().position(|choice| choice.value == *value);
            if let Some(now) = now.filter(|now| *now >= MAX_CHOICES) {
                choices.swap(MAX_CHOICES - 1, now);
            }
            choices.truncate(MAX_CHOICES);
            for AgentChoice { value, name, about, group } in choices {
                [value, name].into_iter().chain(about).chain(group).for_each(bound);
            }
            [id, name, value].into_iter().chain(about).for_each(bound);
        }
        self
    }
}

impl AgentOption {
    /// The choice with this value.
    pub fn choice(&self, value: &str) -> Option<&AgentChoice> {
        self.choices.iter().find(|choice| choice.value == value)
    }

    /// The choice that is meant by a word: a value, or a name however it is written.
    pub fn meant(&self, word: &str) -> Option<&AgentChoice> {
        let named = || self.choices.iter().find(|choice| choice.name.eq_ignore_ascii_case(word));
        self.choice(word).or_else(named)
    }

    /// The value it has, as a person reads it.
    pub fn shown(&self) -> &str {
        self.choice(&self.value).map_or(&self.value, |choice| &choice.name)
    }
}

fn bound(text: &mut String) {
    cut(text, MAX_MENU_TEXT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_is_bounded_and_keeps_what_is_set() {
        let choice =
            |n: usize| AgentChoice { value: n.to_string(), name: "n".repeat(2000), ..AgentChoice::default() };
        let option = AgentOption {
            value: (MAX_CHOICES + 5).to_string(),
            choices: (0..MAX_CHOICES + 9).map(choice).collect(),
            ..AgentOption::default()
        };
        let menu = AgentMenu {
            commands: vec![
                AgentCommand { about: "ö".repeat(2000), ..AgentCommand::default() };
                MAX_COMMANDS + 1
            ],
            options: vec![option; MAX_OPTIONS + 1],
            mentions: vec![
                AgentCommand { name: "s:a://b".to_owned(), ..AgentCommand::default() };
                MAX_MENTIONS + 1
            ],
        };
        let menu = menu.bounded();
        assert_eq!((menu.commands.len(), menu.options.len()), (MAX_COMMANDS, MAX_OPTIONS));
        assert_eq!(menu.mentions.len(), MAX_MENTIONS);
        assert!(menu.commands[0].about.len() <= MAX_MENU_TEXT);
        assert_eq!(menu.options[0].choices.len(), MAX_CHOICES);
        assert!(menu.options[0].choice(&menu.options[0].value).is_some(), "what is set can be named");
    }
}
