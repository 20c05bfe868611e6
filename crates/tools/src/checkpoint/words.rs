//! What was moved, in words for a person.

use super::travel::{Moved, MovedFile, NotMoved};
use std::fmt::Write as _;

/// Files that are named; the others are counted.
const MAX_NAMED: usize = 50;

/// Which way changes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// They were taken back.
    Back,
    /// They were done again.
    Forth,
    /// To another branch: some back, some forth.
    Elsewhere,
}

impl Moved {
    /// What was done, a line for each file.
    pub fn words(&self, went: Went) -> String {
        let prompts: Vec<String> = self.prompts.iter().map(|prompt| format!("“{prompt}”")).collect();
        let of = if prompts.is_empty() { String::new() } else { format!(" of {}", prompts.join(", ")) };
        let count = match self.files.len() {
            0 => "no file changes".to_owned(),
            1 => "1 file change".to_owned(),
            count => format!("{count} file changes"),
        };
        let verb = match went {
            Went::Back => "Took back",
            Went::Forth => "Did again",
            Went::Elsewhere => "Moved",
        };
        let mut text = format!("{verb} {count}{of}");
        for (path, done) in self.files.iter().take(MAX_NAMED) {
            let done = match done {
                MovedFile::Made => "made",
                MovedFile::Changed => "changed",
                MovedFile::Merged => "merged",
                MovedFile::Removed => "removed",
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

impl NotMoved {
    /// Why nothing was moved.
    pub fn words(&self) -> String {
        match self {
            NotMoved::Nothing(why) | NotMoved::Failed(why) => why.clone(),
            NotMoved::Conflicts(files) => {
                let named = files.iter().take(MAX_NAMED).map(|(path, why)| format!("{path} ({why})"));
                format!("nothing was written, because of {}", named.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
