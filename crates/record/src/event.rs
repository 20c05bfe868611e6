//! Events and everything they are made of that has no file of its own.

use crate::written::{self, mirrored};
use domain::ask::{Ask, Closing};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    Base, Body, Cause, Compaction, Event, Failure, Finish, Leaving, Outcome, PlanItem, PlanState, Trigger,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use domain::queue::{Mode, QueueKind};
use domain::session::{ModelRef, Policy};
use domain::signal::Level;
use domain::tool::{Decision, Progress, ToolOutcome, ToolResult};
use serde::{Deserialize, Serialize};

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
    #[serde(with = "written", default, skip_serializing_if = "free")]
    usage: Usage,
}

fn free(usage: &Usage) -> bool {
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
#[serde(remote = "Body", rename_all = "snake_case")]
enum BodyMirror {
    SessionOpened {
        cwd: String,
        project: String,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<(String, Option<EntryId>)>,
    },
    Renamed {
        title: String,
    },
    ModelChosen {
        #[serde(with = "written")]
        model: ModelRef,
    },
    PolicyChosen {
        #[serde(with = "written")]
        policy: Policy,
    },
    ToolsChosen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    LeafMoved {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
    RunStarted {
        #[serde(with = "written")]
        run: RunId,
    },
    RunEnded {
        #[serde(with = "written")]
        run: RunId,
        #[serde(with = "written")]
        outcome: Outcome,
    },
    TurnStarted {
        #[serde(with = "written")]
        run: RunId,
        #[serde(with = "written")]
        turn: TurnId,
        #[serde(with = "written")]
        cause: Cause,
    },
    TurnEnded {
        #[serde(with = "written")]
        turn: TurnId,
    },
    StepStarted {
        #[serde(with = "written")]
        turn: TurnId,
        #[serde(with = "written")]
        step: StepId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    StepEnded {
        #[serde(with = "written")]
        step: StepId,
        #[serde(with = "written")]
        usage: Usage,
    },
    MessageStarted {
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
    MessageDelta {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        kind: TextKind,
        text: String,
    },
    PartAdded {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        part: Part,
    },
    MessageEnded {
        #[serde(with = "written")]
        message: MessageId,
        #[serde(with = "written")]
        finish: Finish,
    },
    ToolProposed {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        message: MessageId,
        name: String,
        #[serde(with = "written")]
        args: Json,
    },
    ToolDecided {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        decision: Decision,
    },
    ToolStarted {
        #[serde(with = "written")]
        tool: ToolRunId,
    },
    ToolProgress {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        progress: Progress,
    },
    ToolEnded {
        #[serde(with = "written")]
        tool: ToolRunId,
        #[serde(with = "written")]
        outcome: ToolOutcome,
        #[serde(with = "written")]
        result: ToolResult,
    },
    AskOpened(#[serde(with = "written")] Ask),
    AskClosed {
        #[serde(with = "written")]
        ask: AskId,
        #[serde(with = "written")]
        closing: Closing,
    },
    Queued {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        input: Input,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    QueueEdited {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        input: Input,
    },
    Unqueued {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        leaving: Leaving,
    },
    QueueModeSet {
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        mode: Mode,
    },
    ContextMeasured {
        used: u64,
        window: u64,
    },
    Compacted {
        #[serde(with = "written")]
        entry: EntryId,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<EntryId>,
        #[serde(with = "written")]
        compaction: Compaction,
    },
    PlanChanged {
        #[serde(with = "written")]
        items: Vec<PlanItem>,
    },
    Retrying {
        attempt: u32,
        max: u32,
        delay_ms: u64,
        reason: String,
    },
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
    Rebased(#[serde(with = "written")] Box<Base>),
}

mirrored!(
    Event => EventMirror,
    Outcome => OutcomeMirror,
    Failure => FailureMirror,
    Cause => CauseMirror,
    Finish => FinishMirror,
    Leaving => LeavingMirror,
    Trigger => TriggerMirror,
    Compaction => CompactionMirror,
    PlanItem => PlanItemMirror,
    PlanState => PlanStateMirror,
    Base => BaseMirror,
    Body => BodyMirror,
);
