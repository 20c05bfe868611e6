//! The body of an event, in groups: what happened to the session, a run, a message, a tool, a question, the queues, the context.
//!
//! Who is interested in one group matches that group and passes over the others by name, so that a new event in it is noticed there and
//! nowhere else. The written form is flat and does not follow these groups: see [`crate::written`].

use super::{Base, Compaction, Finish, Leaving, Outcome, PlanItem, RetryKind};
use crate::ask::{Ask, Closing};
use crate::content::{Input, Json, Part, Role, TextKind, Usage};
use crate::ids::{AskId, EntryId, MessageId, QueuedId, RunId, StepId, ToolRunId, TurnId};
use crate::origin::Origin;
use crate::queue::{Cause, Mode, QueueKind};
use crate::signal::Level;
use crate::terms::{Budget, Effort, ModelRef, Policy};
use crate::tool::{Decision, Progress, ToolOutcome, ToolResult};
use crate::written::{Flat, FlatReading};
use serde::de::VariantAccess;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The content of an event, in groups: each variant holds one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::flat))]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Body {
    /// About the session itself.
    #[serde(skip_deserializing)]
    Session(SessionEvent),
    /// A run, its turns and steps.
    #[serde(skip_deserializing)]
    Run(RunEvent),
    /// A message of the conversation.
    #[serde(skip_deserializing)]
    Message(MessageEvent),
    #[serde(skip_deserializing)]
    Tool(ToolEvent),
    /// A question to the person.
    #[serde(skip_deserializing)]
    Ask(AskEvent),
    /// Inputs that wait.
    #[serde(skip_deserializing)]
    Queue(QueueEvent),
    /// The model's context.
    #[serde(skip_deserializing)]
    Context(ContextEvent),
    /// What the agent or the program notes for the person.
    #[serde(skip_deserializing)]
    Note(NoteEvent),
    /// Ends a replay: counters that no other event rebuilds.
    Rebased(Box<Base>),
}

/// What happened to the session itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum SessionEvent {
    /// The session exists from here on.
    #[serde(rename = "session_opened")]
    Opened {
        /// Working directory; relative paths of tools resolve against it.
        cwd: String,
        /// Root of the project it belongs to.
        project: String,
        /// The session it branched from, and where.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<(String, Option<EntryId>)>,
    },
    /// The session has a (new) title.
    Renamed { title: String },
    /// The model of the next steps.
    ModelChosen { model: ModelRef },
    /// It is held by another program's runtime, and this is where that is.
    CameFrom { origin: Origin },
    /// How hard the model shall think; `None` leaves it to the provider.
    EffortChosen {
        #[serde(skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    /// What may be spent.
    BudgetChosen { budget: Budget },
    /// How tools get their consent.
    PolicyChosen { policy: Policy },
    /// Which tools the model may use; `None` means all.
    ToolsChosen {
        /// Their names.
        #[serde(skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    /// The active tip moved without a new entry.
    LeafMoved {
        /// The new tip; `None` is the empty conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
}

/// How a run goes on: run, turn, step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum RunEvent {
    /// A run began.
    #[serde(rename = "run_started")]
    Started {
        run: RunId,
    },
    /// A run ended. Nothing of it comes after.
    #[serde(rename = "run_ended")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<RetryKind>,
    },
}

/// How a message comes to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum MessageEvent {
    /// A message began; it becomes the leaf.
    #[serde(rename = "message_started")]
    Started {
        message: MessageId,
        /// The entry before it.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        role: Role,
        /// The turn it belongs to; `None` for messages outside any run.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// The step it belongs to; `None` for the person's.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
    },
    /// More text; it extends the last part if that is of the same kind and still open, else it begins a part.
    #[serde(rename = "message_delta")]
    Delta {
        message: MessageId,
        /// Text or thought.
        kind: TextKind,
        /// The piece.
        text: String,
    },
    /// A whole part.
    PartAdded { message: MessageId, part: Part },
    #[serde(rename = "message_ended")]
    Ended { message: MessageId, finish: Finish },
}

/// How a tool gets its consent, runs and ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ToolEvent {
    /// The model wants a tool.
    #[serde(rename = "tool_proposed")]
    Proposed {
        tool: ToolRunId,
        /// The message it stands in, which is open.
        message: MessageId,
        name: String,
        /// Its arguments.
        args: Json,
    },
    /// It was decided whether the tool may run.
    #[serde(rename = "tool_decided")]
    Decided { tool: ToolRunId, decision: Decision },
    #[serde(rename = "tool_started")]
    Started { tool: ToolRunId },
    /// The tool is under way.
    #[serde(rename = "tool_progress")]
    Progress { tool: ToolRunId, progress: Progress },
    /// The tool is over.
    #[serde(rename = "tool_ended")]
    Ended {
        tool: ToolRunId,
        outcome: ToolOutcome,
        /// What it gave back.
        result: ToolResult,
    },
}

/// How a question to the person opens and closes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum AskEvent {
    /// The person is asked.
    #[serde(rename = "ask_opened")]
    Opened(Ask),
    /// The question is over.
    #[serde(rename = "ask_closed")]
    Closed { ask: AskId, closing: Closing },
}

/// What happens to inputs that wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum QueueEvent {
    /// An input waits.
    #[serde(rename = "queued")]
    Added {
        item: QueuedId,
        kind: QueueKind,
        input: Input,
        /// By which UI, in words.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A waiting input was rewritten.
    #[serde(rename = "queue_edited")]
    Edited {
        item: QueuedId,
        /// The new input.
        input: Input,
    },
    /// A waiting input left the queue.
    #[serde(rename = "unqueued")]
    Left {
        item: QueuedId,
        /// Why.
        leaving: Leaving,
    },
    /// How many inputs a turn takes from a queue.
    #[serde(rename = "queue_mode_set")]
    ModeSet { kind: QueueKind, mode: Mode },
}

/// What happens to the model's context.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum ContextEvent {
    /// How full the model's context is.
    #[serde(rename = "context_measured")]
    Measured {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        window: u64,
        /// One of them is a guess: the window is that of a related model, or tokens were counted by size.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rough: bool,
    },
    /// Older entries now stand as a summary.
    Compacted {
        /// The entry that holds it.
        entry: EntryId,
        /// The entry before it.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        /// The summary.
        compaction: Compaction,
    },
}

/// What is noted for the person: the plan, a word beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
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
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        /// The run it belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        level: Level,
        /// A short stable word.
        code: String,
        text: String,
    },
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Body::Session(event) => event.serialize(serializer),
            Body::Run(event) => event.serialize(serializer),
            Body::Message(event) => event.serialize(serializer),
            Body::Tool(event) => event.serialize(serializer),
            Body::Ask(event) => event.serialize(serializer),
            Body::Queue(event) => event.serialize(serializer),
            Body::Context(event) => event.serialize(serializer),
            Body::Note(event) => event.serialize(serializer),
            Body::Rebased(_) => Body::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Body, D::Error> {
        Body::read_flat(deserializer)
    }
}

impl Flat for Body {
    const NOUN: &'static str = "a Body";

    fn read<'de, A: VariantAccess<'de>>(reading: FlatReading<'de, Body, A>) -> FlatReading<'de, Body, A> {
        reading
            .group(Body::Session)
            .group(Body::Run)
            .group(Body::Message)
            .group(Body::Tool)
            .group(Body::Ask)
            .group(Body::Queue)
            .group(Body::Context)
            .group(Body::Note)
            .group(|LoneEvent(body)| body)
    }
}

/// A body that is in no group.
struct LoneEvent(Body);

impl<'de> Deserialize<'de> for LoneEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LoneEvent, D::Error> {
        Body::deserialize(deserializer).map(LoneEvent)
    }
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
