//! Events: what happened, numbered. The only way that a session's [`State`](crate::state::State) changes.

mod body;

use crate::content::Usage;
use crate::ids::{EntryId, Millis, Seq};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

pub use crate::queue::Cause;
pub use body::{
    AskEvent, Body, ContextEvent, MessageEvent, NoteEvent, QueueEvent, RunEvent, SessionEvent, ToolEvent,
};

/// The code of a notice that holds a command line of the person's own and what it wrote.
pub const PERSONS_COMMAND: &str = "persons_command";
/// The code of a notice that says which file changes were taken back.
pub const FILES_UNDONE: &str = "files_undone";
/// The code of a notice that says which file changes were done again.
pub const FILES_REDONE: &str = "files_redone";

/// The code of a notice that says that something which a foreign runtime wanted done here was refused without a question.
pub const ERRAND_REFUSED: &str = "refused";

/// The code of the failure of a run whose model declined to answer.
pub const REFUSED: &str = "refusal";

/// The code of a notice that says that the model ended its turn without a word.
pub const EMPTY_ANSWER: &str = "empty_answer";

/// The code of a notice that says that the provider had lost what was sent before, by what, and what that cost.
pub const CACHE_LOST: &str = "cache_lost";

/// The window of a context that is measured in percents: some runtimes tell no tokens, and no model has so small a window.
pub const PERCENTS: u64 = 100;

/// One numbered thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Its position: one more than the event before.
    pub seq: Seq,
    pub at: Millis,
    pub body: Body,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model had nothing more to do.
    Done,
    /// It broke.
    Failed(Failure),
    /// The person stopped it.
    Cancelled,
    /// The program died in the middle.
    Interrupted,
    /// The foreign runtime went away in the middle.
    Lost,
}

/// Why something broke, for the person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// A short stable word, such as `model_overloaded`.
    pub code: String,
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { code: code.into(), message: message.into(), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Whole.
    Complete,
    /// Cut by the model's length limit.
    Length,
    /// Cut by a cancel, a crash or a lost link.
    Interrupted,
    /// Cut by a failure.
    Failed,
    /// Cut by a failure that passed: the model was asked again and says all of it in the message after this one, so this one
    /// is for people only and does not go back to the model.
    Cut,
    /// Ended because the model or its provider declined to answer.
    Refused,
}

/// What kind of failure makes the model be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum RetryKind {
    /// Too many requests or tokens.
    RateLimit,
    /// The provider has trouble of its own.
    Overloaded,
    /// The provider was silent for too long.
    Timeout,
    /// No connection, or it broke.
    Network,
    /// Anything else that the provider did.
    Provider,
}

/// Why a waiting input left the queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// It became (part of) a turn.
    Taken,
    /// A person took it back.
    Dropped,
    /// The run was cancelled or failed.
    Cleared,
}

/// What set off a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A person.
    Manual,
    /// The context grew past the threshold.
    Threshold,
    /// The provider refused the context as too long.
    Overflow,
}

/// A summary that stands for everything before `first_kept`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compaction {
    pub summary: String,
    /// The oldest entry that still goes to the model; `None` when nothing before is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_kept: Option<EntryId>,
    /// Tokens of the context until then; 0 where nobody told.
    pub tokens_before: u64,
    /// What set it off.
    pub trigger: Trigger,
    /// The runtime did not tell what set it off: `trigger` is then a guess, and not to be shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unexplained: bool,
    /// What writing it cost, where no step counts that.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
}

/// As native revision 1 hashes it; what came later counts only where it was said.
impl Hash for Compaction {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Compaction { summary, first_kept, tokens_before, trigger, unexplained, usage } = self;
        (summary, first_kept, tokens_before, trigger, usage).hash(hasher);
        if *unexplained {
            unexplained.hash(hasher);
        }
    }
}

/// A line of the agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanItem {
    pub text: String,
    /// How far it is.
    pub state: PlanState,
}

/// How far a line of the plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Not begun.
    Pending,
    /// Being done.
    Active,
    /// Behind us.
    Done,
}

/// The counters at the end of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Base {
    /// Position of the last event that the replay stands for.
    pub seq: Seq,
    pub updated_at: Millis,
    /// The largest id in use.
    pub last_id: u64,
    /// Usage of everything before.
    pub usage: Usage,
    /// Last measure of the context: used, window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<(u64, u64)>,
    /// One of these is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub context_rough: bool,
}
