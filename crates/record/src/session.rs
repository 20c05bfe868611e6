//! Sessions, models, servers, skills and tools as lists show them.

use crate::written::{As, mirrored};
use domain::content::Usage;
use domain::event::Outcome;
use domain::ids::{Millis, RunId, SessionId};
use domain::rights::Standing;
use domain::session::{
    Budget, Effort, JobState, ModelEntry, ModelRef, Origin, Policy, RunSummary, RuntimePlace, ServerEntry,
    ServerReach, ServerState, SessionSummary, ShellJob, SkillEntry, SkillList, Stats, ToolEntry,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ModelRef")]
struct ModelRefMirror {
    provider: String,
    name: String,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Policy", rename_all = "snake_case")]
enum PolicyMirror {
    ReadOnly,
    Ask,
    AutoEdit,
    Sandboxed,
    Full,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Standing", rename_all = "snake_case")]
enum StandingMirror {
    Controller,
    Approver,
    Observer,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Effort", rename_all = "snake_case")]
enum EffortMirror {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "SessionSummary")]
struct SessionSummaryMirror {
    #[serde(with = "As::<SessionId>")]
    id: SessionId,
    title: String,
    cwd: String,
    project: String,
    #[serde(with = "As::<Millis>")]
    created_at: Millis,
    #[serde(with = "As::<Millis>")]
    updated_at: Millis,
    #[serde(default)]
    messages: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_prompt: Option<String>,
    #[serde(with = "As::<Option<RunId>>", default, skip_serializing_if = "Option::is_none")]
    last_run: Option<RunId>,
    #[serde(default)]
    running: bool,
    #[serde(with = "As::<Option<Box<Outcome>>>", default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Box<Outcome>>,
    #[serde(with = "As::<Usage>", default)]
    usage: Usage,
    #[serde(with = "As::<Option<Box<Origin>>>", default, skip_serializing_if = "Option::is_none")]
    origin: Option<Box<Origin>>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Origin")]
struct OriginMirror {
    dialect: String,
    #[serde(with = "As::<RuntimePlace>")]
    place: RuntimePlace,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RuntimePlace", rename_all = "snake_case")]
enum RuntimePlaceMirror {
    Socket {
        path: String,
    },
    Command {
        words: Vec<String>,
        folder: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        incomplete: bool,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Budget")]
struct BudgetMirror {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_cost_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_time_s: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Stats")]
struct StatsMirror {
    messages: u64,
    turns: u64,
    runs: u64,
    tools: u64,
    #[serde(with = "As::<Usage>")]
    usage: Usage,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ModelEntry")]
struct ModelEntryMirror {
    #[serde(with = "As::<ModelRef>")]
    model: ModelRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price_input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price_output: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thinks: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ServerState", rename_all = "snake_case")]
enum ServerStateMirror {
    Disabled,
    Connecting,
    Ready,
    Failed(String),
    AuthRequired,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ServerReach")]
struct ServerReachMirror {
    network: bool,
    project: bool,
    programs: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ServerEntry")]
struct ServerEntryMirror {
    id: String,
    http: bool,
    from_project: bool,
    #[serde(with = "As::<ServerState>")]
    state: ServerState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<u64>,
    #[serde(with = "As::<Option<Millis>>", default, skip_serializing_if = "Option::is_none")]
    connected_at: Option<Millis>,
    #[serde(with = "As::<Option<ServerReach>>", default, skip_serializing_if = "Option::is_none")]
    reach: Option<ServerReach>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "SkillEntry")]
struct SkillEntryMirror {
    id: String,
    name: String,
    description: String,
    path: String,
    from_project: bool,
    #[serde(with = "As::<Millis>")]
    modified_at: Millis,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "SkillList")]
struct SkillListMirror {
    #[serde(with = "As::<Vec<SkillEntry>>")]
    skills: Vec<SkillEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<(String, String)>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ToolEntry")]
struct ToolEntryMirror {
    name: String,
    description: String,
    source: String,
    active: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RunSummary")]
struct RunSummaryMirror {
    #[serde(with = "As::<RunId>")]
    run: RunId,
    #[serde(with = "As::<Option<Outcome>>", default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "JobState", rename_all = "snake_case")]
enum JobStateMirror {
    Running,
    Exited(Option<i32>),
    Stopped,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ShellJob")]
struct ShellJobMirror {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
    line: String,
    #[serde(with = "As::<JobState>")]
    state: JobState,
    #[serde(with = "As::<Millis>")]
    started_at: Millis,
    #[serde(with = "As::<Option<Millis>>", default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    output: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

mirrored!(
    JobState => JobStateMirror,
    ShellJob => ShellJobMirror,
    ModelRef => ModelRefMirror,
    Policy => PolicyMirror,
    Standing => StandingMirror,
    Effort => EffortMirror,
    Budget => BudgetMirror,
    SessionSummary => SessionSummaryMirror,
    Origin => OriginMirror,
    RuntimePlace => RuntimePlaceMirror,
    Stats => StatsMirror,
    ModelEntry => ModelEntryMirror,
    ServerState => ServerStateMirror,
    ServerReach => ServerReachMirror,
    ServerEntry => ServerEntryMirror,
    SkillEntry => SkillEntryMirror,
    SkillList => SkillListMirror,
    ToolEntry => ToolEntryMirror,
    RunSummary => RunSummaryMirror,
);
