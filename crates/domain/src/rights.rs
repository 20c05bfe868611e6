//! What whoever is attached may do: one rule for every door. The hub asks it of each command, the page's relay of each line that a device
//! says, and the screens offer what it allows. Not here: who somebody is, and whether a question is still open.
//!
//! Invariant: an approver decides about one action at a time. Nothing that lasts beyond it (a rule, a setting, a server that is agreed to,
//! words to the model) comes from one.

#[cfg(test)]
mod tests;

use crate::ask::{Answer, Scope};
use crate::command::{Command, LibraryCommand, SessionCommand};

/// What a UI may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Whether it may give this command.
    ///
    /// # Errors
    /// What it may do instead, in words for a person.
    pub fn may(self, command: &Command) -> Result<(), &'static str> {
        match self {
            Standing::Controller => Ok(()),
            _ if looks(command) => Ok(()),
            Standing::Approver if decides_once(command) => Ok(()),
            Standing::Approver => Err("an approver may look, allow once and deny, and nothing else"),
            Standing::Observer => Err("an observer may only look"),
        }
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

/// A yes to one action, or a no to whatever was asked. A yes to anything else may last: servers of a project are agreed to that way.
fn decides_once(command: &Command) -> bool {
    let Command::Answer { answer, .. } = command else { return false };
    match answer {
        Answer::Allow { scope, .. } => *scope == Scope::Once,
        Answer::Deny { .. } | Answer::Confirmed(false) | Answer::Dismissed => true,
        Answer::Confirmed(true) | Answer::Chosen(_) | Answer::Entered(_) => false,
    }
}
