//! What was asked for when the program was started, as plain data: by the command line, and where that says nothing by the environment.
//! Whoever starts a runtime or a screen is told this and nothing of flags; how it is typed is the business of a command line.

use domain::session::{Effort, Policy};
use std::path::PathBuf;
use tools::policy::Allowance;

/// The variable that names the model.
pub const MODEL: &str = "PARLOR_MODEL";

/// What every way of starting a runtime or a screen heeds, as far as it applies there.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// What the person begins with, before they have typed anything on the screen.
    pub prompt: Option<String>,
    /// The model, as provider/name.
    pub model: Option<String>,
    /// How hard the model thinks in new sessions.
    pub effort: Option<Effort>,
    /// Where the agent works.
    pub cwd: Option<PathBuf>,
    /// The folder that the agent may read and write in; the person vouches for it.
    pub workspace: Option<PathBuf>,
    /// What tools may do without asking.
    pub policy: Option<Policy>,
    /// Whether sessions begin in Parlor's own terminal or page: they have a usual mode of their own (`mode.rs`).
    pub own_ui: bool,
    /// Whether the model may fetch pages.
    pub fetch: bool,
    /// Go on with the newest conversation of the project.
    pub continue_last: bool,
    /// Go on with this conversation; `Some(None)` is to be picked from a list.
    pub resume: Option<Option<String>>,
    /// Search all conversations for these words first, as the person types on.
    pub search: Option<String>,
    /// Work in a git worktree of this name; `Some(None)` makes one up.
    pub worktree: Option<Option<String>>,
    /// Untracked files that come along into it.
    pub copy: Vec<PathBuf>,
    /// Work in this process, also when a server runs.
    pub here: bool,
    /// Keep to the terminal's own scrollback.
    pub inline: bool,
    /// Use the whole screen, whatever the settings say.
    pub full_screen: bool,
    /// Lines of text instead of a screen.
    pub plain: bool,
    /// Colours of the terminal UI.
    pub theme: Option<String>,
    /// Keep nothing on disk.
    pub ephemeral: bool,
    /// The database in which conversations are kept, as it was typed.
    pub store: Option<String>,
    /// Millionths of dollars that the session may cost.
    pub max_cost: Option<u64>,
    /// Times that the model is asked for one prompt.
    pub max_steps: Option<u64>,
    /// Seconds of one prompt after which the model is asked no more.
    pub max_time: Option<u64>,
    /// What is allowed from the start.
    pub allow: Vec<Allowance>,
    /// Whether nobody is there while it works.
    pub is_headless: bool,
    /// JSON Schema of the answer that is wanted, for providers that hold their models to one.
    pub answer_schema: Option<serde_json::Value>,
    /// What of the environment could not be understood.
    pub unread: Unread,
    /// The members above that were typed, by their names; the environment may have said others.
    pub typed: Vec<&'static str>,
    /// Refuse a foreign runtime that acts without asking.
    pub require_consent: bool,
}

/// What of the environment could not be understood.
#[derive(Debug, Clone, Default)]
pub struct Unread {
    /// A line for each.
    pub told: Vec<String>,
    /// Whether one of the variables was Parlor's own.
    pub ours: bool,
    /// Why the model that was meant is not known, if so.
    pub model: Option<String>,
}
