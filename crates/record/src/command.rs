//! Commands.

use crate::grouped::grouped;
use crate::written::{As, Own, Ref, mirrored};
use domain::ask::Answer;
use domain::command::{
    Command, DiffSince, ExportFormat, FilesCommand, LibraryCommand, ListCommand, ListScope, PromptOptions,
    QueueCommand, RunCommand, SessionCommand, ShellCommand, Target, WhenBusy,
};
use domain::content::{Input, Json};
use domain::ids::{AskId, EntryId, QueuedId, RunId, SessionId, ToolRunId, TurnId};
use domain::offer::Offer;
use domain::queue::{Mode, QueueKind};
use domain::session::{Budget, Effort, Policy};
use domain::signal::UiContext;
use domain::tool::ToolResult;
use serde::de::VariantAccess;
use serde::ser::SerializeStructVariant as _;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Target", rename_all = "snake_case")]
enum TargetMirror {
    Current,
    Session(#[serde(with = "As::<SessionId>")] SessionId),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "WhenBusy", rename_all = "snake_case")]
enum WhenBusyMirror {
    Refuse,
    Queue,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "PromptOptions")]
struct PromptOptionsMirror {
    #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
    from: Option<EntryId>,
    #[serde(with = "As::<WhenBusy>", default)]
    when_busy: WhenBusy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temperature: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<bool>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ask_first: bool,
    #[serde(with = "As::<Vec<Offer>>", default, skip_serializing_if = "Vec::is_empty")]
    offers: Vec<Offer>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Offer")]
struct OfferMirror {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(with = "As::<Json>")]
    schema: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patience_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unasked: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ListScope", rename_all = "snake_case")]
enum ListScopeMirror {
    Project(Option<String>),
    All,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ExportFormat", rename_all = "snake_case")]
enum ExportFormatMirror {
    Markdown,
    Html,
    Jsonl,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RunCommand")]
enum RunCommandMirror {
    #[serde(rename = "prompt")]
    Prompt {
        #[serde(with = "As::<Input>")]
        input: Input,
        #[serde(with = "As::<PromptOptions>", default)]
        options: PromptOptions,
    },
    #[serde(rename = "cancel")]
    Cancel {
        #[serde(with = "As::<Option<RunId>>", default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    #[serde(rename = "compact")]
    Compact {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instruction: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "QueueCommand")]
enum QueueCommandMirror {
    #[serde(rename = "enqueue")]
    Add {
        #[serde(with = "As::<QueueKind>")]
        kind: QueueKind,
        #[serde(with = "As::<Input>")]
        input: Input,
    },
    #[serde(rename = "edit_queued")]
    Edit {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
        #[serde(with = "As::<Input>")]
        input: Input,
    },
    #[serde(rename = "drop_queued")]
    Drop {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
    },
    #[serde(rename = "set_queue_mode")]
    SetMode {
        #[serde(with = "As::<QueueKind>")]
        kind: QueueKind,
        #[serde(with = "As::<Mode>")]
        mode: Mode,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "LibraryCommand")]
enum LibraryCommandMirror {
    #[serde(rename = "new_session")]
    New {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(with = "As::<Option<SessionId>>", default, skip_serializing_if = "Option::is_none")]
        id: Option<SessionId>,
    },
    #[serde(rename = "open_session")]
    Open {
        #[serde(with = "As::<SessionId>")]
        session: SessionId,
    },
    #[serde(rename = "branch_session")]
    Branch {
        #[serde(with = "As::<Option<SessionId>>", default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        at: Option<EntryId>,
    },
    #[serde(rename = "delete_session")]
    Delete {
        #[serde(with = "As::<SessionId>")]
        session: SessionId,
    },
    #[serde(rename = "list_sessions")]
    List {
        #[serde(with = "As::<ListScope>", default)]
        scope: ListScope,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<String>,
    },
    #[serde(rename = "history")]
    History {
        #[serde(with = "As::<SessionId>")]
        session: SessionId,
        max_runs: u64,
        max_events: u64,
    },
    #[serde(rename = "export_session")]
    Export {
        #[serde(with = "As::<Option<SessionId>>", default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        #[serde(with = "As::<ExportFormat>")]
        format: ExportFormat,
    },
    #[serde(rename = "save_session")]
    Save {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(default)]
        history: bool,
    },
    #[serde(rename = "load_session")]
    Load { path: String },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "SessionCommand")]
enum SessionCommandMirror {
    #[serde(rename = "close_session")]
    Close,
    #[serde(rename = "rename_session")]
    Rename { title: String },
    #[serde(rename = "clear_session")]
    Clear,
    #[serde(rename = "set_leaf")]
    SetLeaf {
        #[serde(with = "As::<Option<EntryId>>", default, skip_serializing_if = "Option::is_none")]
        leaf: Option<EntryId>,
    },
    #[serde(rename = "stats")]
    Stats,
    #[serde(rename = "set_model")]
    SetModel {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        name: String,
    },
    #[serde(rename = "set_effort")]
    SetEffort {
        #[serde(with = "As::<Option<Effort>>", default, skip_serializing_if = "Option::is_none")]
        effort: Option<Effort>,
    },
    #[serde(rename = "set_budget")]
    SetBudget {
        #[serde(with = "As::<Budget>")]
        budget: Budget,
    },
    #[serde(rename = "set_policy")]
    SetPolicy {
        #[serde(with = "As::<Policy>")]
        policy: Policy,
    },
    #[serde(rename = "set_tools")]
    SetTools {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<String>>,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ListCommand")]
enum ListCommandMirror {
    #[serde(rename = "list_models")]
    Models {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
    },
    #[serde(rename = "list_servers")]
    Servers,
    #[serde(rename = "list_skills")]
    Skills {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default)]
        reload: bool,
    },
    #[serde(rename = "list_tools")]
    Tools,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ShellCommand")]
enum ShellCommandMirror {
    #[serde(rename = "run_line")]
    Run {
        line: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
    },
    #[serde(rename = "start_job")]
    Start {
        line: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    #[serde(rename = "list_jobs")]
    Jobs,
    #[serde(rename = "read_job")]
    Job {
        job: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<u64>,
    },
    #[serde(rename = "stop_job")]
    Stop { job: String },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "FilesCommand")]
enum FilesCommandMirror {
    #[serde(rename = "undo_files")]
    Undo {
        #[serde(default)]
        leave: bool,
    },
    #[serde(rename = "redo_files")]
    Redo {
        #[serde(default)]
        leave: bool,
    },
    #[serde(rename = "go_files")]
    Go {
        #[serde(with = "As::<Vec<TurnId>>", default)]
        back: Vec<TurnId>,
        #[serde(with = "As::<Vec<TurnId>>", default)]
        forth: Vec<TurnId>,
        #[serde(default)]
        leave: bool,
    },
    #[serde(rename = "diff_files")]
    Diff {
        #[serde(with = "As::<DiffSince>")]
        since: DiffSince,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "DiffSince", rename_all = "snake_case")]
enum DiffSinceMirror {
    Prompt,
    Start,
    Commit,
}

mirrored!(
    DiffSince => DiffSinceMirror,
    FilesCommand => FilesCommandMirror,
    Offer => OfferMirror,
    ShellCommand => ShellCommandMirror,
    Target => TargetMirror,
    WhenBusy => WhenBusyMirror,
    PromptOptions => PromptOptionsMirror,
    ListScope => ListScopeMirror,
    ExportFormat => ExportFormatMirror,
    RunCommand => RunCommandMirror,
    QueueCommand => QueueCommandMirror,
    LibraryCommand => LibraryCommandMirror,
    SessionCommand => SessionCommandMirror,
    ListCommand => ListCommandMirror,
);

grouped!(Command {
    Run(RunCommand): ["prompt", "cancel", "compact"],
    Queue(QueueCommand): ["enqueue", "edit_queued", "drop_queued", "set_queue_mode"],
    Library(LibraryCommand): ["new_session", "open_session", "branch_session", "delete_session", "list_sessions", "history", "export_session", "save_session", "load_session"],
    Session(SessionCommand): ["close_session", "rename_session", "clear_session", "set_leaf", "stats", "set_model", "set_effort", "set_budget", "set_policy", "set_tools"],
    List(ListCommand): ["list_models", "list_servers", "list_skills", "list_tools"],
    Shell(ShellCommand): ["run_line", "start_job", "list_jobs", "read_job", "stop_job"],
    Files(FilesCommand): ["undo_files", "redo_files", "go_files", "diff_files"],
    "performed"(ReadPerformed): Command::Performed { tool, failed, result } => write_performed(tool, failed, result), read_performed,
    "answer"(ReadAnswer): Command::Answer { ask, answer } => write_answer(ask, answer), read_answer,
    "update_context"(As<UiContext>): Command::UpdateContext(context) => write_context(context), read_context,
    "extension"(ReadExtension): Command::Extension { name, payload } => write_extension(name, payload), read_extension,
});

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct ReadAnswer {
    #[serde(with = "As::<AskId>")]
    ask: AskId,
    #[serde(with = "As::<Answer>")]
    answer: Answer,
}

fn write_answer<S: Serializer>(serializer: S, ask: &AskId, answer: &Answer) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct_variant("Command", 0, "answer", 2)?;
    fields.serialize_field("ask", &Ref(ask))?;
    fields.serialize_field("answer", &Ref(answer))?;
    fields.end()
}

fn read_answer<'de, A: VariantAccess<'de>>(rest: A) -> Result<Command, A::Error> {
    rest.newtype_variant().map(|ReadAnswer { ask, answer }| Command::Answer { ask, answer })
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct ReadPerformed {
    #[serde(with = "As::<ToolRunId>")]
    tool: ToolRunId,
    #[serde(default)]
    failed: bool,
    #[serde(with = "As::<ToolResult>")]
    result: ToolResult,
}

fn write_performed<S: Serializer>(
    serializer: S,
    tool: &ToolRunId,
    failed: &bool,
    result: &ToolResult,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct_variant("Command", 0, "performed", 3)?;
    fields.serialize_field("tool", &Ref(tool))?;
    fields.serialize_field("failed", failed)?;
    fields.serialize_field("result", &Ref(result))?;
    fields.end()
}

fn read_performed<'de, A: VariantAccess<'de>>(rest: A) -> Result<Command, A::Error> {
    rest.newtype_variant().map(|ReadPerformed { tool, failed, result }| Command::Performed {
        tool,
        failed,
        result,
    })
}

fn write_context<S: Serializer>(serializer: S, context: &UiContext) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant("Command", 0, "update_context", &Ref(context))
}

fn read_context<'de, A: VariantAccess<'de>>(rest: A) -> Result<Command, A::Error> {
    rest.newtype_variant::<Own<UiContext>>().map(|Own(context)| Command::UpdateContext(context))
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
struct ReadExtension {
    name: String,
    #[serde(with = "As::<Json>")]
    payload: Json,
}

fn write_extension<S: Serializer>(serializer: S, name: &String, payload: &Json) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct_variant("Command", 0, "extension", 2)?;
    fields.serialize_field("name", name)?;
    fields.serialize_field("payload", &Ref(payload))?;
    fields.end()
}

fn read_extension<'de, A: VariantAccess<'de>>(rest: A) -> Result<Command, A::Error> {
    rest.newtype_variant().map(|ReadExtension { name, payload }| Command::Extension { name, payload })
}
