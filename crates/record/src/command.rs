//! Commands.

use crate::written::{self, mirrored};
use domain::ask::Answer;
use domain::command::{Command, ExportFormat, ListScope, PromptOptions, Target, WhenBusy};
use domain::content::{Input, Json};
use domain::ids::{AskId, EntryId, QueuedId, RunId, SessionId};
use domain::queue::{Mode, QueueKind};
use domain::session::Policy;
use domain::signal::UiContext;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Target", rename_all = "snake_case")]
enum TargetMirror {
    Current,
    Session(#[serde(with = "written")] SessionId),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "WhenBusy", rename_all = "snake_case")]
enum WhenBusyMirror {
    Refuse,
    Queue,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PromptOptions")]
struct PromptOptionsMirror {
    #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
    from: Option<EntryId>,
    #[serde(with = "written", default)]
    when_busy: WhenBusy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temperature: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ListScope", rename_all = "snake_case")]
enum ListScopeMirror {
    Project(Option<String>),
    All,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ExportFormat", rename_all = "snake_case")]
enum ExportFormatMirror {
    Markdown,
    Html,
    Jsonl,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Command", rename_all = "snake_case")]
enum CommandMirror {
    Prompt {
        #[serde(with = "written")]
        input: Input,
        #[serde(with = "written", default)]
        options: PromptOptions,
    },
    Enqueue {
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        input: Input,
    },
    EditQueued {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        input: Input,
    },
    DropQueued {
        #[serde(with = "written")]
        item: QueuedId,
    },
    SetQueueMode {
        #[serde(with = "written")]
        kind: QueueKind,
        #[serde(with = "written")]
        mode: Mode,
    },
    Cancel {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Answer {
        #[serde(with = "written")]
        ask: AskId,
        #[serde(with = "written")]
        answer: Answer,
    },
    NewSession {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        id: Option<SessionId>,
    },
    OpenSession {
        #[serde(with = "written")]
        session: SessionId,
    },
    BranchSession {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        at: Option<EntryId>,
    },
    CloseSession,
    RenameSession {
        title: String,
    },
    DeleteSession {
        #[serde(with = "written")]
        session: SessionId,
    },
    ClearSession,
    SetLeaf {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
    Compact {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
    ListSessions {
        #[serde(with = "written", default)]
        scope: ListScope,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<String>,
    },
    History {
        #[serde(with = "written")]
        session: SessionId,
        max_runs: u64,
        max_events: u64,
    },
    Stats,
    SaveSession {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default)]
        history: bool,
    },
    LoadSession {
        path: String,
    },
    ExportSession {
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        #[serde(with = "written")]
        format: ExportFormat,
    },
    ListModels {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
    },
    SetModel {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        name: String,
    },
    SetPolicy {
        #[serde(with = "written")]
        policy: Policy,
    },
    ListServers,
    ListSkills {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default)]
        reload: bool,
    },
    ListTools,
    SetTools {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
    UpdateContext(#[serde(with = "written")] UiContext),
    Extension {
        name: String,
        #[serde(with = "written")]
        payload: Json,
    },
}

mirrored!(
    Target => TargetMirror,
    WhenBusy => WhenBusyMirror,
    PromptOptions => PromptOptionsMirror,
    ListScope => ListScopeMirror,
    ExportFormat => ExportFormatMirror,
    Command => CommandMirror,
);
