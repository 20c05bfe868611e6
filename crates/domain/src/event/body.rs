//! The body of an event, in groups: what happened to the session, a run, a message, a tool, a question, the queues, the context.
//!
//! Who is interested in one group matches that group and passes over the others by name, so that a new event in it is noticed there and
//! nowhere else. The written form is flat and does not follow these groups: it is in `record`, and frozen.

use super::{Base, Compaction, Finish, Leaving, Outcome, PlanItem, RetryKind};
use crate::ask::{Ask, Closing};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::ids::{AskId, EntryId, MessageId, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::origin::Origin;
use crate::queue::{Cause, Mode, QueueKind};
use crate::signal::Level;
use crate::terms::{Budget, Effort, ModelRef, Policy};
use crate::tool::{Decision, Progress, ToolOutcome, ToolResult};

/// The content of an event, in groups: each variant holds one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// About the session itself.
    Session(SessionEvent),
    /// A run, its turns and steps.
    Run(RunEvent),
    /// A message of the conversation.
    Message(MessageEvent),
    Tool(ToolEvent),
    /// A question to the person.
    Ask(AskEvent),
    /// Inputs that wait.
    Queue(QueueEvent),
    /// The model's context.
    Context(ContextEvent),
    /// What the agent or the program notes for the person.
    Note(NoteEvent),
    /// Ends a replay: counters that no other event rebuilds.
    Rebased(Box<Base>),
}

/// What happened to the session itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionEvent {
    /// The session exists from here on.
    Opened {
        /// Working directory; relative paths of tools resolve against it.
        cwd: String,
        /// Root of the project it belongs to.
        project: String,
        /// The session it branched from, and where.
        parent: Option<(String, Option<EntryId>)>,
    },
    /// It is held by another program's runtime, and this is where that is.
    CameFrom { origin: Origin },
    /// The session has a (new) title.
    Renamed { title: String },
    /// The model of the next steps.
    ModelChosen { model: ModelRef },
    /// How hard the model shall think; `None` leaves it to the provider.
    EffortChosen { effort: Option<Effort> },
    /// What may be spent.
    BudgetChosen { budget: Budget },
    /// How tools get their consent.
    PolicyChosen { policy: Policy },
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
}

/// How a run goes on: run, turn, step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunEvent {
    /// A run began.
    Started {
        run: RunId,
    },
    /// A run ended. Nothing of it comes after.
    Ended {
        run: RunId,
        outcome: Outcome,
    },
    /// A turn began.
    TurnStarted {
        run: RunId,
        turn: TurnId,
        cause: Cause,
    },
    TurnEnded {
        turn: TurnId,
    },
    /// The model is asked.
    StepStarted {
        turn: TurnId,
        step: StepId,
        model: Option<ModelRef>,
    },
    /// The model has answered and is to be paid, whatever becomes of the tools that it called: what the step will have used at least.
    StepBilled {
        step: StepId,
        usage: Usage,
    },
    /// The model has answered and its tools are done.
    StepEnded {
        step: StepId,
        usage: Usage,
    },
    /// The model will be asked again after a failure.
    Retrying {
        /// The next attempt's number.
        attempt: u32,
        /// How many there will be at most.
        max: u32,
        /// Milliseconds until then.
        delay_ms: u64,
        reason: String,
        /// Of what kind that is, where it is known.
        kind: Option<RetryKind>,
    },
}

/// How a message comes to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MessageEvent {
    /// A message began; it becomes the leaf.
    Started {
        message: MessageId,
        /// The entry before it.
        parent: Option<EntryId>,
        role: Role,
        /// The turn it belongs to; `None` for messages outside any run.
        turn: Option<TurnId>,
        /// The step it belongs to; `None` for the person's.
        step: Option<StepId>,
    },
    /// More text; it extends the last part if that is of the same kind and still open, else it begins a part.
    Delta {
        message: MessageId,
        /// Text or thought.
        kind: TextKind,
        /// The piece.
        text: String,
    },
    /// A whole part.
    PartAdded {
        message: MessageId,
        part: Part,
    },
    Ended {
        message: MessageId,
        finish: Finish,
    },
}

/// How a tool gets its consent, runs and ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolEvent {
    /// The model wants a tool.
    Proposed {
        tool: ToolRunId,
        /// The message it stands in, which is open.
        message: MessageId,
        name: String,
        /// Its arguments.
        args: Json,
    },
    /// It was decided whether the tool may run.
    Decided {
        tool: ToolRunId,
        decision: Decision,
    },
    Started {
        tool: ToolRunId,
    },
    /// The tool is under way.
    Progress {
        tool: ToolRunId,
        progress: Progress,
    },
    /// The tool is over.
    Ended {
        tool: ToolRunId,
        outcome: ToolOutcome,
        /// What it gave back.
        result: ToolResult,
    },
}

/// How a question to the person opens and closes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AskEvent {
    /// The person is asked.
    Opened(Ask),
    /// The question is over.
    Closed { ask: AskId, closing: Closing },
}

/// What happens to inputs that wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QueueEvent {
    /// An input waits.
    Added {
        item: QueuedId,
        kind: QueueKind,
        input: Input,
        /// By which UI, in words.
        by: Option<String>,
    },
    /// A waiting input was rewritten.
    Edited {
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// A waiting input left the queue.
    Left {
        item: QueuedId,
        /// Why.
        leaving: Leaving,
    },
    /// How many inputs a turn takes from a queue.
    ModeSet { kind: QueueKind, mode: Mode },
}

/// What happens to the model's context.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ContextEvent {
    /// How full the model's context is.
    Measured {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        window: u64,
        /// One of them is a guess: the window is that of a related model, or tokens were counted by size.
        rough: bool,
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
}

/// What is noted for the person: the plan, a word beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NoteEvent {
    /// The agent's plan.
    PlanChanged {
        /// All its lines.
        items: Vec<PlanItem>,
    },
    /// A word for the person that belongs to the conversation.
    Noticed {
        /// The entry that holds it. It never becomes the leaf, so it never reaches the model.
        entry: EntryId,
        /// The entry it hangs off.
        parent: Option<EntryId>,
        /// The run it belongs to.
        run: Option<RunId>,
        level: Level,
        /// A short stable word.
        code: String,
        text: String,
    },
}

impl Body {
    /// Whether this must be on disk before anybody is told that it happened. Streaming text and progress are checkpointed instead.
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Body::Message(MessageEvent::Delta { .. })
                | Body::Tool(ToolEvent::Progress { .. })
                | Body::Context(ContextEvent::Measured { .. })
                | Body::Run(RunEvent::Retrying { .. })
        )
    }
}
