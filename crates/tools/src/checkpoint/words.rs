//! What was moved, in words for a person.

use super::undo::{FileOutcome, UndoError, UndoOutcome};
use std::fmt::Write as _;

/// Files that are named; the others are counted.
const MAX_NAMED: usize = 50;

/// Which way changes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// They were taken back.
    Back,
    /// They were done again.
    Forth,
    /// To another branch: some back, some forth.
    Elsewhere,
}

impl UndoOutcome {
    /// Which way changes went where somebody asked for one: the rest of a way that was cut before is done first.
    #[must_use]
    pub fn went(&self, asked: Direction) -> Direction {
        self.finished.unwrap_or(asked)
    }

    /// Whether there was something to do, and none of it was done: every file is left as it is.
    pub fn is_all_left(&self) -> bool {
        self.files.is_empty() && !self.left.is_empty()
    }

    /// What was done, a line for each file.
    pub fn words(&self, went: Direction) -> String {
        let prompts: Vec<String> = self.prompts.iter().map(|prompt| format!("“{prompt}”")).collect();
        let of = if prompts.is_empty() { String::new() } else { format!(" of {}", prompts.join(", ")) };
        let count = match self.files.len() {
            0 => "no file changes".to_owned(),
            1 => "1 file change".to_owned(),
            count => format!("{count} file changes"),
        };
        let went = self.went(went);
        let verb = match went {
            Direction::Back => "Undid",
            Direction::Forth => "Redid",
            Direction::Elsewhere => "Moved",
        };
        let rest = if self.finished.is_some() { " (the rest of what was cut before)" } else { "" };
        let mut text = if self.is_all_left() {
            format!("Nothing was changed{of}{rest}: every file is left as it is")
        } else {
            format!("{verb} {count}{of}{rest}")
        };
        for (path, done) in self.files.iter().take(MAX_NAMED) {
            let done = match done {
                FileOutcome::Made | FileOutcome::Changed if went == Direction::Back => "restored",
                FileOutcome::Made => "made",
                FileOutcome::Changed => "changed",
                FileOutcome::Merged => "merged",
                FileOutcome::Removed => "removed",
            };
            let _ = write!(text, "\n  {done} {path}");
        }
        if self.files.len() > MAX_NAMED {
            let _ = write!(text, "\n  and {} more", self.files.len() - MAX_NAMED);
        }
        for (path, why) in self.left.iter().take(MAX_NAMED) {
            let _ = write!(text, "\n  left as it is: {path} ({why})");
        }
        text
    }
}

impl UndoError {
    /// Why nothing was moved.
    pub fn words(&self) -> String {
        match self {
            UndoError::Nothing(why) | UndoError::Failed(why) => why.clone(),
            UndoError::Conflicts(files) => {
                let named = files.iter().take(MAX_NAMED).map(|(path, why)| format!("{path} ({why})"));
                format!("nothing was written, because of {}", named.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
