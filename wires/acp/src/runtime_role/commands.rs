//! Slash commands: a prompt that begins with one is a command of ours, or names a skill.

use super::super::wire::{AvailableCommand, AvailableCommands, CommandInput, SessionUpdate};
use domain::session::SkillList;

/// The command that puts a summary in the place of older messages.
pub(super) const COMPACT: &str = "compact";
/// Most skills that are offered as commands.
const MAX_SKILLS: usize = 200;

/// The skills that can be named, once they are known.
#[derive(Debug, Default)]
pub(super) struct SlashCommands {
    skills: Vec<(String, String)>,
}

/// What a prompt wants that begins with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Compact {
        instruction: Option<String>,
    },
    /// The text in which the skill is named as our prompts name it.
    Skill(String),
}

impl SlashCommands {
    /// Takes the skills there are as what can be typed.
    pub(super) fn learn(&mut self, list: &SkillList) {
        let skills = list.skills.iter().take(MAX_SKILLS);
        self.skills = skills.map(|skill| (skill.id.clone(), skill.description.clone())).collect();
    }

    /// All that can be typed.
    pub(super) fn update(&self, compacts: bool) -> SessionUpdate {
        let compact = compacts.then(|| AvailableCommand {
            name: COMPACT.to_owned(),
            description: "Put a summary in the place of older messages".to_owned(),
            input: Some(CommandInput { hint: "what to keep in mind".to_owned(), ..CommandInput::default() }),
            ..AvailableCommand::default()
        });
        let skill = |(name, description): &(String, String)| AvailableCommand {
            name: name.clone(),
            description: description.clone(),
            ..AvailableCommand::default()
        };
        let available_commands = compact.into_iter().chain(self.skills.iter().map(skill)).collect();
        SessionUpdate::AvailableCommands(AvailableCommands {
            available_commands,
            ..AvailableCommands::default()
        })
    }

    /// The command at the beginning of a prompt, if it is one of these.
    pub(super) fn read(&self, text: &str, compacts: bool) -> Option<Slash> {
        let line = text.strip_prefix('/')?;
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if word == COMPACT && compacts {
            let instruction = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
            return Some(Slash::Compact { instruction });
        }
        self.skills.iter().any(|(name, _)| name == word).then(|| Slash::Skill(format!("${line}")))
    }
}
