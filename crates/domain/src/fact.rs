//! Facts: what a foreign runtime said, with the ids it used, before anything is repaired.

use crate::ask::{AskKind, Assessment, Preview};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::event::{Cause, Compaction, Finish, Leaving, Outcome, PlanItem, RetryKind};
use crate::ids::Millis;
use crate::queue::{Mode, QueueKind};
use crate::session::{Effort, ModelRef};
use crate::signal::Level;
use crate::tool::{Decider, Progress, ToolOutcome, ToolResult};
use std::sync::Arc;

/// An id as the peer wrote it.
pub type Key = Arc<str>;

/// Something that a foreign runtime said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The run it belongs to, if the wire tells. What still comes for a run that has ended is dropped.
    pub run: Option<Key>,
    pub said: Said,
}

impl Fact {
    /// A fact on a wire that does not name runs.
    pub fn new(said: Said) -> Fact {
        Fact { run: None, said }
    }

    /// A fact of a named run.
    pub fn of(run: impl Into<Key>, said: Said) -> Fact {
        Fact { run: Some(run.into()), said }
    }
}

/// What a foreign runtime said. Any order is possible; [`crate::canon::Canon`] makes sense of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A run began.
    RunStarted,
    RunEnded(Outcome),
    /// A turn began.
    TurnStarted(Option<Cause>),
    TurnEnded,
    /// The model is asked.
    StepStarted,
    /// The model has answered.
    StepEnded(Usage),
    /// A message began.
    MessageStarted {
        /// Its key, if the wire has one.
        message: Option<Key>,
        role: Role,
    },
    /// More text.
    Text {
        /// Which message; the open one if `None`.
        message: Option<Key>,
        /// Text or thought.
        kind: TextKind,
        /// The piece.
        text: String,
    },
    /// The whole message so far, from wires that repeat it. Tools in it are told apart, by [`Said::ToolProposed`].
    Whole {
        /// Which message; the open one if `None`.
        message: Option<Key>,
        /// All its text and thought so far, in order.
        parts: Vec<(TextKind, String)>,
    },
    /// A whole part.
    Part {
        /// Which message; the open one if `None`.
        message: Option<Key>,
        part: Part,
    },
    MessageEnded {
        /// Which; the open one if `None`.
        message: Option<Key>,
        finish: Finish,
    },
    /// The model wants a tool.
    ToolProposed {
        tool: Key,
        name: String,
        /// Its arguments.
        args: Json,
    },
    /// A tool runs.
    ToolStarted {
        tool: Key,
        /// Its name, if said again.
        name: Option<String>,
        /// Its arguments, if said again.
        args: Option<Json>,
    },
    /// Nobody has to be asked about a tool: it only looks, or it is done by our own hands, by our own rules.
    NeedsNoConsent {
        tool: Key,
    },
    /// A tool of the runtime may run because we said so, without a question: by a rule, or by the mode.
    AllowedHere {
        tool: Key,
        by: Decider,
    },
    /// A tool is under way.
    ToolProgress {
        tool: Key,
        progress: Progress,
    },
    /// A tool is over.
    ToolEnded {
        tool: Key,
        outcome: ToolOutcome,
        /// What it gave back.
        result: ToolResult,
    },
    /// The person is asked.
    AskOpened {
        ask: Key,
        /// The line on top.
        title: String,
        kind: FactAsk,
        deadline: Option<Millis>,
    },
    /// The question is no longer wanted.
    AskWithdrawn {
        ask: Key,
        /// Whether its time ran out.
        expired: bool,
    },
    /// How full the model's context is.
    Context {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        window: u64,
    },
    /// Older entries stand as a summary.
    Compacted(Compaction),
    /// The agent's plan.
    Plan(Vec<PlanItem>),
    /// The model will be asked again.
    Retrying {
        /// The next attempt's number.
        attempt: u32,
        /// At most.
        max: u32,
        /// Milliseconds until then.
        delay_ms: u64,
        reason: String,
        /// Of what kind that is, where the wire tells.
        kind: Option<RetryKind>,
    },
    /// A word for the person.
    Notice {
        level: Level,
        /// A short stable word.
        code: String,
        text: String,
    },
    /// The session's title.
    Title(String),
    /// The model in use.
    Model(ModelRef),
    /// How hard it thinks; `None` when the runtime leaves that to its provider.
    Effort(Option<Effort>),
    /// How many inputs a turn takes from a queue.
    QueueMode(QueueKind, Mode),
    /// An input waits in a queue of the runtime.
    Queued(QueueKind, Input),
    /// The oldest inputs of a queue left it.
    Unqueued {
        kind: QueueKind,
        /// How many; all that wait if there are fewer.
        count: usize,
        leaving: Leaving,
    },
    /// The link is gone.
    Lost,
}

/// What a foreign runtime asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactAsk {
    /// May this tool run?
    Consent {
        /// The tool's key, if the wire ties the question to one.
        tool: Option<Key>,
        name: String,
        /// Its arguments.
        args: Json,
        preview: Option<Preview>,
        /// How dangerous the runtime says it is.
        assessment: Assessment,
        /// The rule that "always" would add, in words.
        rule: Option<String>,
        /// Whether a reason for a denial is taken.
        takes_reason: bool,
    },
    /// Anything else.
    Other(AskKind),
}
