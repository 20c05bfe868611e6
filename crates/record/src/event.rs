//! Events and everything they are made of that has no file of its own.

use crate::content::is_false;
use crate::grouped::grouped;
use crate::written::{As, Own, Ref, mirrored};
use domain::ask::{Ask, Closing};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Base, Body, Cause, Compaction, ContextEvent, Event, Failure, Finish, Leaving, MessageEvent,
    NoteEvent, Outcome, PlanItem, PlanState, QueueEvent, RetryKind, RunEvent, SessionEvent, ToolEvent,
    Trigger,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use domain::queue::{Mode, QueueKind};
use domain::session::{Budget, Effort, ModelRef, Origin, Policy};
use domain::signal::Level;
use domain::tool::{Decision, Progress, ToolOutcome, ToolResult};
use serde::de::VariantAccess;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Event")]
struct EventMirror {
    #[serde(with = "As::<Seq>")]
    seq: Seq,
    #[serde(with = "As::<Millis>")]
    at: Millis,
    #[serde(with = "As::<Body>")]
    body: Body,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Outcome", rename_all = "snake_case")]
enum OutcomeMirror {
    Done,
    Failed(#[serde(with = "As::<Failure>")] Failure),
    Cancelled,
    Interrupted,
    Lost,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Failure")]
struct FailureMirror {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Cause", rename_all = "snake_case")]
enum CauseMirror {
    Prompt,
    Steer,
    FollowUp,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Finish", rename_all = "snake_case")]
enum FinishMirror {
    Complete,
    Length,
    Interrupted,
    Failed,
    Cut,
    Refused,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RetryKind", rename_all = "snake_case")]
enum RetryKindMirror {
    RateLimit,
    Overloaded,
    Timeout,
    Network,
    Provider,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Leaving", rename_all = "snake_case")]
enum LeavingMirror {
    Taken,
    Dropped,
    Cleared,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Trigger", rename_all = "snake_case")]
enum TriggerMirror {
    Manual,
    Threshold,
    Overflow,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Compaction")]
struct CompactionMirror {
    summary: String,
    #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
    first_kept: Option<EntryId>,
    tokens_before: u64,
    #[serde(with = "As::<Trigger>")]
    trigger: Trigger,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unexplained: bool,
    #[serde(with = "As::<Usage>", default, skip_serializing_if = "is_nothing")]
    usage: Usage,
}

fn is_nothing(usage: &Usage) -> bool {
    *usage == Usage::default()
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "PlanItem")]
struct PlanItemMirror {
    text: String,
    #[serde(with = "As::<PlanState>")]
    state: PlanState,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "PlanState", rename_all = "snake_case")]
enum PlanStateMirror {
    Pending,
    Active,
    Done,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Base")]
struct BaseMirror {
    #[serde(with = "As::<Seq>")]
    seq: Seq,
    #[serde(with = "As::<Millis>")]
    updated_at: Millis,
    last_id: u64,
    #[serde(with = "As::<Usage>")]
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "is_false")]
    context_rough: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "SessionEvent")]
enum SessionEventMirror {
    #[serde(rename = "session_opened")]
    Opened {
        cwd: String,
        project: String,
        #[serde(
            with = "As::<Option<(String, Option<EntryId>)>>",
            default,
            skip_serializing_if = "Option::is_none"
        )]
        parent: Option<(String, Option<EntryId>)>,
    },
    #[serde(rename = "renamed")]
    Renamed { title: String },
    #[serde(rename = "model_chosen")]
    ModelChosen {
        #[serde(with = "As::<ModelRef>")]
        model: ModelRef,
    },
    #[serde(rename = "came_from")]
    CameFrom {
        #[serde(with = "As::<Origin>")]
        origin: Origin,
    },
    #[serde(rename = "effort_chosen")]
    EffortChosen {
        #[serde(with = "As::<Option<Effort>>", default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    #[serde(rename = "budget_chosen")]
    BudgetChosen {
        #[serde(with = "As::<Budget>")]
        budget: Budget,
    },
    #[serde(rename = "policy_chosen")]
    PolicyChosen {
        #[serde(with = "As::<Policy>")]
        policy: Policy,
    },
    #[serde(rename = "tools_chosen")]
    ToolsChosen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    #[serde(rename = "leaf_moved")]
    LeafMoved {
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RunEvent")]
enum RunEventMirror {
    #[serde(rename = "run_started")]
    Started {
        #[serde(with = "As::<RunId>")]
        run: RunId,
    },
    #[serde(rename = "run_ended")]
    Ended {
        #[serde(with = "As::<RunId>")]
        run: RunId,
        #[serde(with = "As::<Outcome>")]
        outcome: Outcome,
    },
    #[serde(rename = "turn_started")]
    TurnStarted {
        #[serde(with = "As::<RunId>")]
        run: RunId,
        #[serde(with = "As::<TurnId>")]
        turn: TurnId,
        #[serde(with = "As::<Cause>")]
        cause: Cause,
    },
    #[serde(rename = "turn_ended")]
    TurnEnded {
        #[serde(with = "As::<TurnId>")]
        turn: TurnId,
    },
    #[serde(rename = "step_started")]
    StepStarted {
        #[serde(with = "As::<TurnId>")]
        turn: TurnId,
        #[serde(with = "As::<StepId>")]
        step: StepId,
        #[serde(with = "As::<Option<ModelRef>>", default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    #[serde(rename = "step_billed")]
    StepBilled {
        #[serde(with = "As::<StepId>")]
        step: StepId,
        #[serde(with = "As::<Usage>")]
        usage: Usage,
    },
    #[serde(rename = "step_ended")]
    StepEnded {
        #[serde(with = "As::<StepId>")]
        step: StepId,
        #[serde(with = "As::<Usage>")]
        usage: Usage,
    },
    #[serde(rename = "retrying")]
    Retrying {
        attempt: u32,
        max: u32,
        delay_ms: u64,
        reason: String,
        #[serde(with = "As::<Option<RetryKind>>", default, skip_serializing_if = "Option::is_none")]
        kind: Option<RetryKind>,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "MessageEvent")]
enum MessageEventMirror {
    #[serde(rename = "message_started")]
    Started {
        #[serde(with = "As::<MessageId>")]
        message: MessageId,
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "As::<Role>")]
        role: Role,
        #[serde(with = "As::<Option<TurnId>>", default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        #[serde(with = "As::<Option<StepId>>", default, skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
    },
    #[serde(rename = "message_delta")]
    Delta {
        #[serde(with = "As::<MessageId>")]
        message: MessageId,
        #[serde(with = "As::<TextKind>")]
        kind: TextKind,
        text: String,
    },
    #[serde(rename = "part_added")]
    PartAdded {
        #[serde(with = "As::<MessageId>")]
        message: MessageId,
        #[serde(with = "As::<Part>")]
        part: Part,
    },
    #[serde(rename = "message_ended")]
    Ended {
        #[serde(with = "As::<MessageId>")]
        message: MessageId,
        #[serde(with = "As::<Finish>")]
        finish: Finish,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ToolEvent")]
enum ToolEventMirror {
    #[serde(rename = "tool_proposed")]
    Proposed {
        #[serde(with = "As::<ToolRunId>")]
        tool: ToolRunId,
        #[serde(with = "As::<MessageId>")]
        message: MessageId,
        name: String,
        #[serde(with = "As::<Json>")]
        args: Json,
    },
    #[serde(rename = "tool_decided")]
    Decided {
        #[serde(with = "As::<ToolRunId>")]
        tool: ToolRunId,
        #[serde(with = "As::<Decision>")]
        decision: Decision,
    },
    #[serde(rename = "tool_started")]
    Started {
        #[serde(with = "As::<ToolRunId>")]
        tool: ToolRunId,
    },
    #[serde(rename = "tool_progress")]
    Progress {
        #[serde(with = "As::<ToolRunId>")]
        tool: ToolRunId,
        #[serde(with = "As::<Progress>")]
        progress: Progress,
    },
    #[serde(rename = "tool_ended")]
    Ended {
        #[serde(with = "As::<ToolRunId>")]
        tool: ToolRunId,
        #[serde(with = "As::<ToolOutcome>")]
        outcome: ToolOutcome,
        #[serde(with = "As::<ToolResult>")]
        result: ToolResult,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "AskEvent")]
enum AskEventMirror {
    #[serde(rename = "ask_opened")]
    Opened(#[serde(with = "As::<Ask>")] Ask),
    #[serde(rename = "ask_closed")]
    Closed {
        #[serde(with = "As::<AskId>")]
        ask: AskId,
        #[serde(with = "As::<Closing>")]
        closing: Closing,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "QueueEvent")]
enum QueueEventMirror {
    #[serde(rename = "queued")]
    Added {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
        #[serde(with = "As::<QueueKind>")]
        kind: QueueKind,
        #[serde(with = "As::<Input>")]
        input: Input,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    #[serde(rename = "queue_edited")]
    Edited {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
        #[serde(with = "As::<Input>")]
        input: Input,
    },
    #[serde(rename = "unqueued")]
    Left {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
        #[serde(with = "As::<Leaving>")]
        leaving: Leaving,
    },
    #[serde(rename = "queue_mode_set")]
    ModeSet {
        #[serde(with = "As::<QueueKind>")]
        kind: QueueKind,
        #[serde(with = "As::<Mode>")]
        mode: Mode,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ContextEvent")]
enum ContextEventMirror {
    #[serde(rename = "context_measured")]
    Measured {
        used: u64,
        window: u64,
        #[serde(default, skip_serializing_if = "is_false")]
        rough: bool,
    },
    #[serde(rename = "compacted")]
    Compacted {
        #[serde(with = "As::<EntryId>")]
        entry: EntryId,
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "As::<Compaction>")]
        compaction: Compaction,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "NoteEvent")]
enum NoteEventMirror {
    #[serde(rename = "plan_changed")]
    PlanChanged {
        #[serde(with = "As::<Vec<PlanItem>>")]
        items: Vec<PlanItem>,
    },
    #[serde(rename = "noticed")]
    Noticed {
        #[serde(with = "As::<EntryId>")]
        entry: EntryId,
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "As::<Option<RunId>>", default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        #[serde(with = "As::<Level>")]
        level: Level,
        code: String,
        text: String,
    },
}

mirrored!(
    Event => EventMirror,
    Outcome => OutcomeMirror,
    Failure => FailureMirror,
    Cause => CauseMirror,
    Finish => FinishMirror,
    RetryKind => RetryKindMirror,
    Leaving => LeavingMirror,
    Trigger => TriggerMirror,
    Compaction => CompactionMirror,
    PlanItem => PlanItemMirror,
    PlanState => PlanStateMirror,
    Base => BaseMirror,
    SessionEvent => SessionEventMirror,
    RunEvent => RunEventMirror,
    MessageEvent => MessageEventMirror,
    ToolEvent => ToolEventMirror,
    AskEvent => AskEventMirror,
    QueueEvent => QueueEventMirror,
    ContextEvent => ContextEventMirror,
    NoteEvent => NoteEventMirror,
);

grouped!(Body {
    Session(SessionEvent): ["session_opened", "came_from", "renamed", "model_chosen", "effort_chosen", "budget_chosen", "policy_chosen", "tools_chosen", "leaf_moved"],
    Run(RunEvent): ["run_started", "run_ended", "turn_started", "turn_ended", "step_started", "step_billed", "step_ended", "retrying"],
    Message(MessageEvent): ["message_started", "message_delta", "part_added", "message_ended"],
    Tool(ToolEvent): ["tool_proposed", "tool_decided", "tool_started", "tool_progress", "tool_ended"],
    Ask(AskEvent): ["ask_opened", "ask_closed"],
    Queue(QueueEvent): ["queued", "queue_edited", "unqueued", "queue_mode_set"],
    Context(ContextEvent): ["context_measured", "compacted"],
    Note(NoteEvent): ["plan_changed", "noticed"],
    "rebased"(As<Base>): Body::Rebased(base) => write_rebased(base), read_rebased,
});

fn write_rebased<S: Serializer>(serializer: S, base: &Base) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant("Body", 0, "rebased", &Ref(base))
}

fn read_rebased<'de, A: VariantAccess<'de>>(rest: A) -> Result<Body, A::Error> {
    rest.newtype_variant::<Own<Box<Base>>>().map(|Own(base)| Body::Rebased(base))
}
