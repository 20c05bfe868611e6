//! What whoever is attached may do: one rule for every door. The hub asks it of each command, a relay of each line until the hub behind it
//! has said that it does, and the screens offer what it allows. Not here: who somebody is, and whether a question is still open.
//!
//! Invariant: an approver decides about one action at a time. Nothing that lasts beyond it (a rule, a setting, a server that is agreed to,
//! words to the model) comes from one.

#[cfg(test)]
mod tests;

use crate::ask::{Answer, Scope};
use crate::command::{Command, LibraryCommand, Refusal, RefusalKind, SessionCommand, is_shown};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a UI may do: its role, in words for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Everything.
    #[default]
    Controller,
    /// Look, allow once and deny.
    Approver,
    /// Look.
    Observer,
}

impl Standing {
    /// All of them, the one that may do most first.
    pub const ALL: [Standing; 3] = [Standing::Controller, Standing::Approver, Standing::Observer];

    /// The name that a person reads and types; it is written in files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Controller => "controller",
            Standing::Approver => "approver",
            Standing::Observer => "observer",
        }
    }

    /// What a person or a wire calls by this word; `None` for words of others.
    pub fn named(name: &str) -> Option<Standing> {
        Standing::ALL.into_iter().find(|standing| standing.name() == name)
    }

    /// The lesser of two: what somebody asks for never gives more than they have.
    #[must_use]
    pub fn lowered_to(self, asked: Standing) -> Standing {
        let rank = |standing| Standing::ALL.iter().position(|one| *one == standing);
        if rank(asked) > rank(self) { asked } else { self }
    }

    /// Whether it may give this command.
    ///
    /// # Errors
    /// What it may do instead, in words for a person.
    pub fn may(self, command: &Command) -> Result<(), Refusal> {
        let message = match self {
            Standing::Controller => return Ok(()),
            _ if looks(command) => return Ok(()),
            Standing::Approver if decides_once(command) => return Ok(()),
            Standing::Approver => "an approver may look, allow once and deny, and nothing else",
            Standing::Observer => "an observer may only look",
        };
        let hint = "`parlor devices role` gives a browser another role, `--role` whoever comes by a socket";
        Err(Refusal::new(RefusalKind::NotAllowed, message).hint(hint))
    }

    /// Whether a question is one for it: an approver is asked whether a tool may run, and nothing else.
    pub fn is_asked(self, consent: bool) -> bool {
        match self {
            Standing::Controller => true,
            Standing::Approver => consent,
            Standing::Observer => false,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn looks(command: &Command) -> bool {
    matches!(
        command,
        Command::Library(
            LibraryCommand::List { .. }
                | LibraryCommand::History { .. }
                | LibraryCommand::Export { .. }
                | LibraryCommand::Open { .. }
        ) | Command::Session(SessionCommand::Stats | SessionCommand::Close)
            | Command::List(_)
    )
}

/// A yes to one action, or a no to whatever was asked, and that it is on the screen. A yes to anything else may last: servers of a project
/// are agreed to that way.
fn decides_once(command: &Command) -> bool {
    if is_shown(command).is_some() {
        return true;
    }
    let Command::Answer { answer, .. } = command else { return false };
    match answer {
        Answer::Allow { scope, .. } => *scope == Scope::Once,
        Answer::Deny { .. } | Answer::Confirmed(false) | Answer::Dismissed => true,
        Answer::Confirmed(true) | Answer::Chosen(_) | Answer::Entered(_) => false,
    }
}
