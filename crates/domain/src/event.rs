//! Events: what happened, numbered. The only way that a session's [`State`](crate::state::State) changes.

use crate::ask::{Ask, Closing};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::queue::{Mode, QueueKind};
use crate::session::{ModelRef, Policy};
use crate::signal::Level;
use crate::tool::{Decision, Progress, ToolOutcome, ToolResult};

/// One numbered thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Event {
    /// Its position: one more than the event before.
    pub seq: Seq,
    /// When.
    pub at: Millis,
    /// What.
    pub body: Body,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Failure {
    /// A short stable word, such as `model_overloaded`.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// What to do next.
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

/// What began a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The run's prompt.
    Prompt,
    /// A steer.
    Steer,
    /// A follow-up.
    FollowUp,
}

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Finish {
    /// Whole.
    Complete,
    /// Cut by the model's length limit.
    Length,
    /// Cut by a cancel, a crash or a lost link.
    Interrupted,
    /// Cut by a failure.
    Failed,
}

/// Why a waiting input left the queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Leaving {
    /// It became (part of) a turn.
    Taken,
    /// A person took it back.
    Dropped,
    /// The run was cancelled or failed.
    Cleared,
}

/// What set off a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// A person.
    Manual,
    /// The context grew past the threshold.
    Threshold,
    /// The provider refused the context as too long.
    Overflow,
}

/// A summary that stands for everything before `first_kept`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Compaction {
    /// The summary.
    pub summary: String,
    /// The oldest entry that still goes to the model; `None` when nothing before is kept.
    pub first_kept: Option<EntryId>,
    /// Tokens before.
    pub tokens_before: u64,
    /// What set it off.
    pub trigger: Trigger,
    /// What writing it cost, where no step counts that.
    pub usage: Usage,
}

/// A line of the agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanItem {
    /// What to do.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
}

/// How far a line of the plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanState {
    /// Not begun.
    Pending,
    /// Being done.
    Active,
    /// Done.
    Done,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// The session exists from here on.
    SessionOpened {
        /// Working directory; relative paths of tools resolve against it.
        cwd: String,
        /// Root of the project it belongs to.
        project: String,
        /// The session it branched from, and where.
        parent: Option<(String, Option<EntryId>)>,
    },
    /// The session has a (new) title.
    Renamed {
        /// The title.
        title: String,
    },
    /// The model of the next steps.
    ModelChosen {
        /// Which.
        model: ModelRef,
    },
    /// How tools get their consent.
    PolicyChosen {
        /// Which mode.
        policy: Policy,
    },
    /// Which tools the model may use; `None` means all.
    ToolsChosen {
        /// Their names.
        tools: Option<Vec<String>>,
    },
    /// The active tip moved without a new entry.
    LeafMoved {
        /// The new tip; `None` is the empty conversation.
        leaf: Option<EntryId>,
    },
    /// A run began.
    RunStarted {
        /// Its id.
        run: RunId,
    },
    /// A run ended. Nothing of it comes after.
    RunEnded {
        /// Its id.
        run: RunId,
        /// How.
        outcome: Outcome,
    },
    /// A turn began.
    TurnStarted {
        /// Its run.
        run: RunId,
        /// Its id.
        turn: TurnId,
        /// What began it.
        cause: Cause,
    },
    /// A turn ended.
    TurnEnded {
        /// Its id.
        turn: TurnId,
    },
    /// The model is asked.
    StepStarted {
        /// Its turn.
        turn: TurnId,
        /// Its id.
        step: StepId,
        /// Who is asked.
        model: Option<ModelRef>,
    },
    /// The model has answered and its tools are done.
    StepEnded {
        /// Its id.
        step: StepId,
        /// What it used.
        usage: Usage,
    },
    /// A message began; it becomes the leaf.
    MessageStarted {
        /// Its id.
        message: MessageId,
        /// The entry before it.
        parent: Option<EntryId>,
        /// Who speaks.
        role: Role,
        /// The turn it belongs to; `None` for messages outside any run.
        turn: Option<TurnId>,
        /// The step it belongs to; `None` for the person's.
        step: Option<StepId>,
    },
    /// More text; it extends the last part if that is of the same kind and still open, else it begins a part.
    MessageDelta {
        /// Which message.
        message: MessageId,
        /// Text or thought.
        kind: TextKind,
        /// The piece.
        text: String,
    },
    /// A whole part.
    PartAdded {
        /// Which message.
        message: MessageId,
        /// The part.
        part: Part,
    },
    /// A message is finished.
    MessageEnded {
        /// Which.
        message: MessageId,
        /// How.
        finish: Finish,
    },
    /// The model wants a tool.
    ToolProposed {
        /// Its id.
        tool: ToolRunId,
        /// The message it stands in, which is open.
        message: MessageId,
        /// The tool's name.
        name: String,
        /// Its arguments.
        args: Json,
    },
    /// It was decided whether the tool may run.
    ToolDecided {
        /// Which.
        tool: ToolRunId,
        /// What.
        decision: Decision,
    },
    /// The tool runs.
    ToolStarted {
        /// Which.
        tool: ToolRunId,
    },
    /// The tool is under way.
    ToolProgress {
        /// Which.
        tool: ToolRunId,
        /// How far.
        progress: Progress,
    },
    /// The tool is over.
    ToolEnded {
        /// Which.
        tool: ToolRunId,
        /// How.
        outcome: ToolOutcome,
        /// What it gave back.
        result: ToolResult,
    },
    /// The person is asked.
    AskOpened(Ask),
    /// The question is over.
    AskClosed {
        /// Which.
        ask: AskId,
        /// How.
        closing: Closing,
    },
    /// An input waits.
    Queued {
        /// Its id.
        item: QueuedId,
        /// In which queue.
        kind: QueueKind,
        /// What was said.
        input: Input,
        /// By which UI, in words.
        by: Option<String>,
    },
    /// A waiting input was rewritten.
    QueueEdited {
        /// Which.
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// A waiting input left the queue.
    Unqueued {
        /// Which.
        item: QueuedId,
        /// Why.
        leaving: Leaving,
    },
    /// How many inputs a turn takes from a queue.
    QueueModeSet {
        /// Which queue.
        kind: QueueKind,
        /// How many.
        mode: Mode,
    },
    /// How full the model's context is.
    ContextMeasured {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        window: u64,
    },
    /// Older entries now stand as a summary.
    Compacted {
        /// The entry that holds it.
        entry: EntryId,
        /// The entry before it.
        parent: Option<EntryId>,
        /// The summary.
        compaction: Compaction,
    },
    /// The agent's plan.
    PlanChanged {
        /// All its lines.
        items: Vec<PlanItem>,
    },
    /// The model will be asked again after a failure.
    Retrying {
        /// The next attempt's number.
        attempt: u32,
        /// How many there will be at most.
        max: u32,
        /// Milliseconds until then.
        delay_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// A word for the person that belongs to the conversation.
    Noticed {
        /// The entry that holds it. It never becomes the leaf, so it never reaches the model.
        entry: EntryId,
        /// The entry it hangs off.
        parent: Option<EntryId>,
        /// The run it belongs to.
        run: Option<RunId>,
        /// How loud.
        level: Level,
        /// A short stable word.
        code: String,
        /// The text.
        text: String,
    },
    /// Ends a replay: counters that no other event rebuilds.
    Rebased(Box<Base>),
}

/// The counters at the end of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Base {
    /// Position of the last event that the replay stands for.
    pub seq: Seq,
    /// When it happened.
    pub updated_at: Millis,
    /// The largest id in use.
    pub last_id: u64,
    /// Usage of everything before.
    pub usage: Usage,
    /// Last measure of the context: used, window.
    pub context: Option<(u64, u64)>,
}

impl Body {
    /// Whether this must be on disk before anybody is told that it happened. Streaming text and progress are checkpointed instead.
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Body::MessageDelta { .. }
                | Body::ToolProgress { .. }
                | Body::ContextMeasured { .. }
                | Body::Retrying { .. }
        )
    }
}
