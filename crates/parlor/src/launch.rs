//! What was asked for when the program was started, as plain data: by the command line, and where that says nothing by the environment.
//! Whoever starts a runtime or a screen is told this and nothing of flags; [`crate::cli`] alone knows how it is typed.

use domain::session::{Effort, Policy};
use std::path::PathBuf;
use tools::policy::Allowance;

/// The variable that names the model.
pub(crate) const MODEL: &str = "PARLOR_MODEL";

/// What every way of starting a runtime or a screen heeds, as far as it applies there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Launch {
    /// The model, as provider/name.
    pub(crate) model: Option<String>,
    /// How hard the model thinks in new sessions.
    pub(crate) effort: Option<Effort>,
    /// Where the agent works.
    pub(crate) cwd: Option<PathBuf>,
    /// The folder that the agent may read and write in; the person vouches for it.
    pub(crate) workspace: Option<PathBuf>,
    /// What tools may do without asking.
    pub(crate) policy: Option<Policy>,
    /// Whether the model may fetch pages.
    pub(crate) fetch: bool,
    /// Go on with the newest conversation of the project.
    pub(crate) continue_last: bool,
    /// Go on with this conversation; `Some(None)` is to be picked from a list.
    pub(crate) resume: Option<Option<String>>,
    /// Work in a git worktree of this name; `Some(None)` makes one up.
    pub(crate) worktree: Option<Option<String>>,
    /// Untracked files that come along into it.
    pub(crate) copy: Vec<PathBuf>,
    /// Work in this process, also when a server runs.
    pub(crate) here: bool,
    /// Keep to the terminal's own scrollback.
    pub(crate) inline: bool,
    /// Take the whole screen, whatever the settings say.
    pub(crate) full_screen: bool,
    /// Lines of text instead of a screen.
    pub(crate) plain: bool,
    /// Colours of the terminal UI.
    pub(crate) theme: Option<String>,
    /// Keep nothing on disk.
    pub(crate) ephemeral: bool,
    /// Millionths of dollars that the session may cost.
    pub(crate) max_cost: Option<u64>,
    /// Times that the model is asked for one prompt.
    pub(crate) max_steps: Option<u64>,
    /// Seconds of one prompt after which the model is asked no more.
    pub(crate) max_time: Option<u64>,
    /// What is allowed from the start.
    pub(crate) allow: Vec<Allowance>,
    /// Whether the first turn waits for MCP servers that are starting.
    pub(crate) waits_for_servers: bool,
    /// What of the environment could not be understood.
    pub(crate) unread: Unread,
    /// The members above that were typed, by their names; the environment may have said others.
    pub(crate) typed: Vec<&'static str>,
    /// Refuse a foreign runtime that acts without asking.
    pub(crate) require_consent: bool,
}

/// What of the environment could not be understood.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unread {
    /// A line for each.
    pub(crate) told: Vec<String>,
    /// Whether one of the variables was Parlor's own.
    pub(crate) ours: bool,
    /// Why the model that was meant is not known, if so.
    pub(crate) model: Option<String>,
}
