//! What is known about sessions, models, servers and skills: the nouns that commands name and receipts carry.

pub mod summary;

use crate::content::Usage;
use crate::event::Outcome;
use crate::ids::{EntryId, Millis, RunId, SessionId};
use serde::{Deserialize, Serialize};

pub use crate::origin::{self, Origin, RuntimePlace};
pub use crate::state::Stats;
pub use crate::terms::{Budget, Effort, ModelRef, Policy};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSummary {
    pub id: SessionId,
    /// Its title, or the beginning of the first prompt.
    pub title: String,
    /// Working directory.
    pub cwd: String,
    /// Project root.
    pub project: String,
    /// When it was made.
    pub created_at: Millis,
    /// When something last happened.
    pub updated_at: Millis,
    /// Messages of the person and the model.
    #[serde(default)]
    pub messages: u64,
    /// The last thing the person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<RunId>,
    /// Whether a run is under way.
    #[serde(default)]
    pub running: bool,
    /// Whether another process than the one that tells has it open; whoever opens it is led there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// How the last run ended; `None` while one is under way, before the first, and where nobody told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<Outcome>>,
    /// Tokens and money so far.
    #[serde(default)]
    pub usage: Usage,
    /// Whose session it is, when it is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// Where the words stand that were searched for, in a list of those that hold them; nothing where only its title does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<FoundWords>>,
}

/// The newest place of a session where words stand that were searched for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundWords {
    /// The text around them, in a line.
    pub text: String,
    /// When that was said.
    pub at: Millis,
    pub entry: EntryId,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelEntry {
    pub model: ModelRef,
    /// Tokens that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Tokens it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Millionths of a dollar per million tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input: Option<u64>,
    /// Millionths of a dollar per million tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output: Option<u64>,
    /// Whether it takes a thinking effort; `None` where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinks: Option<bool>,
}

impl ModelEntry {
    /// A model of which nothing but its name is known.
    pub fn new(model: ModelRef) -> ModelEntry {
        ModelEntry {
            model,
            context_window: None,
            max_output: None,
            price_input: None,
            price_output: None,
            thinks: None,
        }
    }
}

/// How an MCP server is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Switched off.
    Disabled,
    /// Not started yet, or starting.
    Connecting,
    /// Usable.
    Ready,
    /// Broken; the text says how.
    Failed(String),
    /// Wants a login.
    AuthRequired,
}

/// What an MCP server on its leash may do beside reading the project and writing in a cache of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerReach {
    /// It may use the network.
    pub network: bool,
    /// It may write in the project.
    pub project: bool,
    /// It may talk to other programs on this machine by their sockets: Docker, D-Bus, an ssh-agent.
    pub programs: bool,
    /// Further folders that it may write in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}

/// An MCP server in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerEntry {
    /// Its name.
    pub id: String,
    /// Whether it is reached over HTTP (else it is a child process).
    pub http: bool,
    /// Whether the project brought it (else the person).
    pub from_project: bool,
    pub state: ServerState,
    /// How many tools it offers, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
    /// When it last answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected_at: Option<Millis>,
    /// What it may reach; `None` where nobody holds it: one behind a URL, one of another runtime, a machine without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<ServerReach>,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillEntry {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Its file.
    pub path: String,
    /// Whether the project brought it (else the person).
    pub from_project: bool,
    /// When the file changed.
    pub modified_at: Millis,
}

/// Skills and what could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillList {
    /// Those that were found.
    pub skills: Vec<SkillEntry>,
    /// Path and reason of those that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<(String, String)>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// A tool in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolEntry {
    pub name: String,
    pub description: String,
    /// Where it comes from: `built-in`, an MCP server, a UI.
    pub source: String,
    /// Whether the model may use it now.
    pub active: bool,
}

/// A finished or running run, in short.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    pub run: RunId,
    /// How it ended, or `None` while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Where a command line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Running,
    /// It ended by itself; `None` when a signal ended it.
    Exited(Option<i32>),
    /// It was ended, by somebody or by its time limit.
    Stopped,
}

/// A command line that runs or ran beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellJob {
    /// Its name; empty for one that never was in the background.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub line: String,
    pub state: JobState,
    pub started_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// What it wrote, where that was asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Whether something of that was left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
