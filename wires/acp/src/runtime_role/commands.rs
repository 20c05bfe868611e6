//! Slash commands: a prompt that begins with one is a command of ours or of the agent behind us, or names a skill.

use super::super::wire::{AvailableCommand, AvailableCommands, CommandInput, SessionUpdate};
use domain::port::Abilities;
use domain::port::menu::AgentCommand;
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
    pub(super) fn update(&self, can: &Abilities) -> SessionUpdate {
        let compact = can.compact.then(|| AvailableCommand {
            name: COMPACT.to_owned(),
            description: "Put a summary in the place of older messages".to_owned(),
            input: Some(CommandInput { hint: "what to keep in mind".to_owned(), ..CommandInput::default() }),
            ..AvailableCommand::default()
        });
        // Those of the agent are said to it as they are written.
        let theirs = can.menu.commands.iter().filter(|command| !can.compact || command.name != COMPACT);
        let theirs = theirs.map(|AgentCommand { name, about, hint }| AvailableCommand {
            name: name.clone(),
            description: about.clone(),
            input: hint.clone().map(|hint| CommandInput { hint, ..CommandInput::default() }),
            ..AvailableCommand::default()
        });
        let skill = |(name, description): &(String, String)| AvailableCommand {
            name: name.clone(),
            description: description.clone(),
            ..AvailableCommand::default()
        };
        let skills = self.skills.iter().filter(|(name, _)| can.menu.command(name).is_none()).map(skill);
        let available_commands = compact.into_iter().chain(theirs).chain(skills).collect();
        SessionUpdate::AvailableCommands(AvailableCommands {
            available_commands,
            ..AvailableCommands::default()
        })
    }

    /// The command at the beginning of a prompt, if it is one of these.
    pub(super) fn read(&self, text: &str, can: &Abilities) -> Option<Slash> {
        let line = text.strip_prefix('/')?;
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if word == COMPACT && can.compact {
            let instruction = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
            return Some(Slash::Compact { instruction });
        }
        let is_skill = can.menu.command(word).is_none() && self.skills.iter().any(|(name, _)| name == word);
        is_skill.then(|| Slash::Skill(format!("${line}")))
    }
}
