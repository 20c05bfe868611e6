//! What a UI gets for its command: a receipt, or a refusal that says why and what to do.

use super::ExportFormat;
use crate::content::Json;
use crate::event::{Compaction, Event};
use crate::ids::{EntryId, QueuedId, RunId, SessionId};
use crate::session::{
    ModelEntry, ModelRef, RunSummary, ServerEntry, SessionSummary, ShellJob, SkillList, Stats, ToolEntry,
};
use serde::{Deserialize, Serialize};

/// What a UI gets when its command was taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    pub runs: u64,
    pub events: Vec<Event>,
    /// Whether older ones were left out.
    #[serde(default)]
    pub truncated: bool,
}
