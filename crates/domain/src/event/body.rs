//! The body of an event, in groups: what happened to the session, a run, a message, a tool, a question, the queues, the context.
//!
//! Who is interested in one group matches that group and passes over the others by name, so that a new event in it is noticed there and
//! nowhere else. The written form is flat and does not follow these groups: it is in `record`, and frozen.

use super::{Base, Cause, Compaction, Finish, Leaving, Outcome, PlanItem, RetryKind};
use crate::ask::{Ask, Closing};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::ids::{AskId, EntryId, MessageId, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::queue::{Mode, QueueKind};
use crate::session::{ModelRef, Policy};
use crate::signal::Level;
use crate::tool::{Decision, Progress, ToolOutcome, ToolResult};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    /// About the session itself.
    Session(SessionEvent),
    /// A run, its turns and steps.
    Run(RunEvent),
    /// A message of the conversation.
    Message(MessageEvent),
    /// A tool.
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
}

/// How a run goes on: run, turn, step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunEvent {
    /// A run began.
    Started {
        /// Its id.
        run: RunId,
    },
    /// A run ended. Nothing of it comes after.
    Ended {
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
        /// Of what kind that is, where it is known.
        kind: Option<RetryKind>,
    },
}

/// How a message comes to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MessageEvent {
    /// A message began; it becomes the leaf.
    Started {
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
    Delta {
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
    Ended {
        /// Which.
        message: MessageId,
        /// How.
        finish: Finish,
    },
}

/// How a tool gets its consent, runs and ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolEvent {
    /// The model wants a tool.
    Proposed {
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
    Decided {
        /// Which.
        tool: ToolRunId,
        /// What.
        decision: Decision,
    },
    /// The tool runs.
    Started {
        /// Which.
        tool: ToolRunId,
    },
    /// The tool is under way.
    Progress {
        /// Which.
        tool: ToolRunId,
        /// How far.
        progress: Progress,
    },
    /// The tool is over.
    Ended {
        /// Which.
        tool: ToolRunId,
        /// How.
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
    Closed {
        /// Which.
        ask: AskId,
        /// How.
        closing: Closing,
    },
}

/// What happens to inputs that wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QueueEvent {
    /// An input waits.
    Added {
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
    Edited {
        /// Which.
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// A waiting input left the queue.
    Left {
        /// Which.
        item: QueuedId,
        /// Why.
        leaving: Leaving,
    },
    /// How many inputs a turn takes from a queue.
    ModeSet {
        /// Which queue.
        kind: QueueKind,
        /// How many.
        mode: Mode,
    },
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
        /// How loud.
        level: Level,
        /// A short stable word.
        code: String,
        /// The text.
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
