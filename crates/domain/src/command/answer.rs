//! What a UI gets for its command: a receipt, or a refusal that says why and what to do.

use super::ExportFormat;
use crate::content::Json;
use crate::event::{Compaction, Event};
use crate::ids::{EntryId, QueuedId, RunId, SessionId};
use crate::session::{
    ModelEntry, ModelRef, RunSummary, ServerEntry, SessionSummary, ShellJob, SkillList, Stats, ToolEntry,
};
use std::fmt;

/// What a UI gets when its command was taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// Done; there is nothing to tell.
    Done,
    /// A run began.
    Started {
        session: SessionId,
        run: RunId,
    },
    /// The input waits.
    Queued {
        item: QueuedId,
        /// The run it waits for.
        run: RunId,
    },
    /// The run is being stopped, or had ended.
    Cancelling {
        /// Which, and how it ended if it had.
        run: RunSummary,
    },
    /// The UI is at this session now.
    Session {
        session: SessionSummary,
        /// The one it branched from.
        parent: Option<SessionId>,
    },
    /// A list of sessions.
    Sessions(Vec<SessionSummary>),
    /// The tip stands here.
    Leaf(Option<EntryId>),
    /// Events of the past.
    History(History),
    /// Numbers.
    Stats(Stats),
    /// Written to a file.
    Saved {
        path: String,
        /// Bytes.
        size: u64,
    },
    /// A session as a text.
    Exported {
        format: ExportFormat,
        text: String,
    },
    /// Models and the current one.
    Models {
        models: Vec<ModelEntry>,
        /// The one in use.
        current: Option<ModelRef>,
    },
    /// The model in use.
    Model(ModelRef),
    /// MCP servers.
    Servers(Vec<ServerEntry>),
    Skills(SkillList),
    Tools(Vec<ToolEntry>),
    /// Commands of the person's own, or those in the background.
    Jobs(Vec<ShellJob>),
    /// What became of files, or what changed in them, in words.
    Files {
        text: String,
    },
    /// A summary stands in the place of older entries.
    Compacted {
        /// The entry that holds it.
        entry: EntryId,
        /// The summary.
        compaction: Compaction,
    },
    /// What an extension answered.
    Extension(Json),
}

/// Events of the past.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct History {
    pub runs: u64,
    pub events: Vec<Event>,
    /// Whether older ones were left out.
    pub truncated: bool,
}

/// Why a command was not taken. `kind` is for programs, `message` and `hint` are for people.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// For programs.
    pub kind: RefusalKind,
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// Why, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    Remote {
        code: String,
    },
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
