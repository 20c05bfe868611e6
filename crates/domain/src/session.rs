//! What is known about sessions, models, servers and skills: the nouns that commands name and receipts carry.

pub mod summary;

use crate::content::Usage;
use crate::event::Outcome;
use crate::ids::{Millis, RunId, SessionId};

pub use crate::origin::{self, Origin, RuntimePlace};
pub use crate::state::Stats;
pub use crate::terms::{Budget, Effort, ModelRef, Policy};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    pub messages: u64,
    /// The last thing the person said.
    pub last_prompt: Option<String>,
    pub last_run: Option<RunId>,
    /// Whether a run is under way.
    pub running: bool,
    /// How the last run ended; `None` while one is under way, before the first, and where nobody told.
    pub outcome: Option<Box<Outcome>>,
    /// Tokens and money so far.
    pub usage: Usage,
    /// Whose session it is, when it is not ours.
    pub origin: Option<Box<Origin>>,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelEntry {
    pub model: ModelRef,
    /// Tokens that fit.
    pub context_window: Option<u64>,
    /// Tokens it may write.
    pub max_output: Option<u64>,
    /// Millionths of a dollar per million tokens read.
    pub price_input: Option<u64>,
    /// Millionths of a dollar per million tokens written.
    pub price_output: Option<u64>,
    /// Whether it takes a thinking effort; `None` where nobody knows.
    pub thinks: Option<bool>,
}

/// How an MCP server is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ServerReach {
    /// It may use the network.
    pub network: bool,
    /// It may write in the project.
    pub project: bool,
    /// It may talk to other programs on this machine by their sockets: Docker, D-Bus, an ssh-agent.
    pub programs: bool,
    /// Further folders that it may write in.
    pub folders: Vec<String>,
}

/// An MCP server in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerEntry {
    /// Its name.
    pub id: String,
    /// Whether it is reached over HTTP (else it is a child process).
    pub http: bool,
    /// Whether the project brought it (else the person).
    pub from_project: bool,
    pub state: ServerState,
    /// How many tools it offers, once known.
    pub tools: Option<u64>,
    /// When it last answered.
    pub connected_at: Option<Millis>,
    /// What it may reach; `None` where nobody holds it: one behind a URL, one of another runtime, a machine without a sandbox.
    pub reach: Option<ServerReach>,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SkillList {
    /// Those that were found.
    pub skills: Vec<SkillEntry>,
    /// Path and reason of those that could not be read.
    pub errors: Vec<(String, String)>,
    /// Whether there are more.
    pub truncated: bool,
}

/// A tool in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolEntry {
    pub name: String,
    pub description: String,
    /// Where it comes from: `built-in`, an MCP server, a UI.
    pub source: String,
    /// Whether the model may use it now.
    pub active: bool,
}

/// A finished or running run, in short.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunSummary {
    pub run: RunId,
    /// How it ended, or `None` while it runs.
    pub outcome: Option<Outcome>,
}

/// Where a command line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    Running,
    /// It ended by itself; `None` when a signal ended it.
    Exited(Option<i32>),
    /// It was ended, by somebody or by its time limit.
    Stopped,
}

/// A command line that runs or ran beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShellJob {
    /// Its name; empty for one that never was in the background.
    pub id: String,
    pub line: String,
    pub state: JobState,
    pub started_at: Millis,
    pub ended_at: Option<Millis>,
    /// What it wrote, where that was asked for.
    pub output: String,
    /// Whether something of that was left out.
    pub truncated: bool,
}
