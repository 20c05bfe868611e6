//! Events and everything they are made of that has no file of its own.

use crate::grouped::grouped;
use crate::written::{self, Own, Ref, mirrored};
use domain::ask::{Ask, Closing};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Base, Body, Cause, Compaction, ContextEvent, Event, Failure, Finish, Leaving, MessageEvent,
    NoteEvent, Outcome, PlanItem, PlanState, QueueEvent, RetryKind, RunEvent, SessionEvent, ToolEvent,
    Trigger,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use domain::queue::{Mode, QueueKind};
use domain::session::{ModelRef, Policy};
use domain::signal::Level;
use domain::tool::{Decision, Progress, ToolOutcome, ToolResult};
use serde::de::VariantAccess;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
struct EventMirror {
    #[serde(with = "written")]
    seq: Seq,
    #[serde(with = "written")]
    at: Millis,
    #[serde(with = "written")]
    body: Body,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome", rename_all = "snake_case")]
enum OutcomeMirror {
    Done,
    Failed(#[serde(with = "written")] Failure),
    Cancelled,
    Interrupted,
    Lost,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Failure")]
struct FailureMirror {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Cause", rename_all = "snake_case")]
enum CauseMirror {
    Prompt,
    Steer,
    FollowUp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Finish", rename_all = "snake_case")]
enum FinishMirror {
    Complete,
    Length,
    Interrupted,
    Failed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RetryKind", rename_all = "snake_case")]
enum RetryKindMirror {
    RateLimit,
    Overloaded,
    Timeout,
    Network,
    Provider,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Leaving", rename_all = "snake_case")]
enum LeavingMirror {
    Taken,
    Dropped,
    Cleared,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Trigger", rename_all = "snake_case")]
enum TriggerMirror {
    Manual,
    Threshold,
    Overflow,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Compaction")]
struct CompactionMirror {
    summary: String,
    #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
    first_kept: Option<EntryId>,
    tokens_before: u64,
    #[serde(with = "written")]
    trigger: Trigger,
    #[serde(with = "written", default, skip_serializing_if = "is_nothing")]
    usage: Usage,
}

fn is_nothing(usage: &Usage) -> bool {
    *usage == Usage::default()
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PlanItem")]
struct PlanItemMirror {
    text: String,
    #[serde(with = "written")]
    state: PlanState,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PlanState", rename_all = "snake_case")]
enum PlanStateMirror {
    Pending,
    Active,
    Done,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Base")]
struct BaseMirror {
    #[serde(with = "written")]
    seq: Seq,
    #[serde(with = "written")]
    updated_at: Millis,
    last_id: u64,
    #[serde(with = "written")]
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<(u64, u64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SessionEvent")]
enum SessionEventMirror {
    #[serde(rename = "session_opened")]
    Opened {
        cwd: String,
        project: String,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<(String, Option<EntryId>)>,
    },
    #[serde(rename = "renamed")]
    Renamed { title: String },
    #[serde(rename = "model_chosen")]
    ModelChosen {
        #[serde(with = "written")]
        model: ModelRef,
    },
    #[serde(rename = "policy_chosen")]
    PolicyChosen {
        #[serde(with = "written")]
        policy: Policy,
    },
    #[serde(rename = "tools_chosen")]
    ToolsChosen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    #[serde(rename = "leaf_moved")]
    LeafMoved {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RunEvent")]
enum RunEventMirror {
    #[serde(rename = "run_started")]
    Started {
        #[serde(with = "written")]
        run: RunId,
    },
    #[serde(rename = "run_ended")]
    Ended {
        #[serde(with = "written")]
        run: RunId,
        #[serde(with = "written")]
        outcome: Outcome,
    },
    #[serde(rename = "turn_started")]
    TurnStarted {
        #[serde(with = "written")]
        run: RunId,
        #[serde(with = "written")]
        turn: TurnId,
        #[serde(with = "written")]
        cause: Cause,
    },
    #[serde(rename = "turn_ended")]
    TurnEnded {
        #[serde(with = "written")]
        turn: TurnId,
    },
    #[serde(rename = "step_started")]
    StepStarted {
        #[serde(with = "written")]
        turn: TurnId,
        #[serde(with = "written")]
        step: StepId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    #[serde(rename = "step_ended")]
    StepEnded {
        #[serde(with = "written")]
        step: StepId,
        #[serde(with = "written")]
        usage: Usage,
    },
    #[serde(rename = "retrying")]
    Retrying {
        attempt: u32,
        max: u32,
        delay_ms: u64,
        reason: String,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        kind: Option<RetryKind>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "MessageEvent")]
enum MessageEventMirror {
    #[serde(rename = "message_started")]
    Started {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "written")]
        role: Role,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
    },
    #[serde(rename = "message_delta")]
    Delta {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        kind: TextKind,
        text: String,
    },
    #[serde(rename = "part_added")]
    PartAdded {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        part: Part,
    },
    #[serde(rename = "message_ended")]
    Ended {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        finish: Finish,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ToolEvent")]
enum ToolEventMirror {
    #[serde(rename = "tool_proposed")]
    Proposed {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        message: MessageId,
        name: String,
        #[serde(with = "written")]
        args: Json,
    },
    #[serde(rename = "tool_decided")]
    Decided {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        decision: Decision,
    },
    #[serde(rename = "tool_started")]
    Started {
        #[serde(with = "written")]
        tool: ToolRunId,
    },
    #[serde(rename = "tool_progress")]
    Progress {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        progress: Progress,
    },
    #[serde(rename = "tool_ended")]
    Ended {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        outcome: ToolOutcome,
        #[serde(with = "written")]
        result: ToolResult,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "AskEvent")]
enum AskEventMirror {
    #[serde(rename = "ask_opened")]
    Opened(#[serde(with = "written")] Ask),
    #[serde(rename = "ask_closed")]
    Closed {
        #[serde(with = "written")]
        ask: AskId,
        #[serde(with = "written")]
        closing: Closing,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "QueueEvent")]
enum QueueEventMirror {
    #[serde(rename = "queued")]
    Added {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        input: Input,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    #[serde(rename = "queue_edited")]
    Edited {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        input: Input,
    },
    #[serde(rename = "unqueued")]
    Left {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        leaving: Leaving,
    },
    #[serde(rename = "queue_mode_set")]
    ModeSet {
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        mode: Mode,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ContextEvent")]
enum ContextEventMirror {
    #[serde(rename = "context_measured")]
    Measured { used: u64, window: u64 },
    #[serde(rename = "compacted")]
    Compacted {
        #[serde(with = "written")]
        entry: EntryId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "written")]
        compaction: Compaction,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "NoteEvent")]
enum NoteEventMirror {
    #[serde(rename = "plan_changed")]
    PlanChanged {
        #[serde(with = "written")]
        items: Vec<PlanItem>,
    },
    #[serde(rename = "noticed")]
    Noticed {
        #[serde(with = "written")]
        entry: EntryId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        #[serde(with = "written")]
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
    Session(SessionEvent): ["session_opened", "renamed", "model_chosen", "policy_chosen", "tools_chosen", "leaf_moved"],
    Run(RunEvent): ["run_started", "run_ended", "turn_started", "turn_ended", "step_started", "step_ended", "retrying"],
    Message(MessageEvent): ["message_started", "message_delta", "part_added", "message_ended"],
    Tool(ToolEvent): ["tool_proposed", "tool_decided", "tool_started", "tool_progress", "tool_ended"],
    Ask(AskEvent): ["ask_opened", "ask_closed"],
    Queue(QueueEvent): ["queued", "queue_edited", "unqueued", "queue_mode_set"],
    Context(ContextEvent): ["context_measured", "compacted"],
    Note(NoteEvent): ["plan_changed", "noticed"],
    "rebased": Body::Rebased(base) => write_rebased(base), read_rebased,
});

fn write_rebased<S: Serializer>(serializer: S, base: &Base) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant("Body", 0, "rebased", &Ref(base))
}

fn read_rebased<'de, A: VariantAccess<'de>>(rest: A) -> Result<Body, A::Error> {
    rest.newtype_variant::<Own<Box<Base>>>().map(|Own(base)| Body::Rebased(base))
}
