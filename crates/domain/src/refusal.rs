//! A refusal: why something that was wanted is not done, for programs and for people, with what to do next.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a command was not taken. `kind` is for programs, `message` and `hint` are for people.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// For programs.
    pub kind: RefusalKind,
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Why, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// A run is under way.
    Busy,
    /// No run is under way.
    NoRun,
    /// No such run.
    RunUnknown,
    /// No such session.
    SessionUnknown,
    /// No such entry.
    EntryUnknown,
    /// No such ask.
    AskUnknown,
    /// It was answered, withdrawn or has expired.
    AskOver,
    /// No such waiting input.
    QueuedUnknown,
    /// No such model.
    ModelUnknown,
    /// No such tool.
    ToolUnknown,
    /// No such extension.
    ExtensionUnknown,
    /// There is too little to compact.
    NothingToCompact,
    /// This UI may not.
    NotAllowed,
    /// Something in the command is wrong.
    Invalid,
    /// This runtime cannot.
    Unsupported,
    /// Too many at once.
    TooMany,
    /// The disk said no.
    Storage,
    /// It took too long.
    TimedOut,
    /// The foreign runtime is gone.
    Lost,
    /// The foreign runtime said no, in its own words.
    Remote { code: String },
    /// A defect of ours.
    Internal,
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: message.into(), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}
