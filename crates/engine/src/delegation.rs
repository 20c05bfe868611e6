//! What sub-agents need of whoever sets the engine up: agents of other programs, and git worktrees. The engine knows neither how another
//! program is reached nor how a worktree is made.
//!
//! Invariants, which those behind these traits keep: nothing is started but on the leash; when an [`OtherRun`] has ended, nothing of it
//! runs any more.

use domain::ask::Answer;
use domain::event::Body;
use domain::ids::AskId;
use domain::port::TurnEnd;
use domain::session::Policy;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tools::Gate;
use tools::policy::Allowance;

/// News of another program's agent that may wait; past it the agent waits.
pub const OTHER_NEWS: usize = 256;

/// Who and what helps with tasks. Without either there are fewer sub-agents, and that is told.
#[derive(Debug, Clone, Default)]
pub struct Delegation {
    pub others: Option<Arc<dyn OtherAgents>>,
    pub worktrees: Option<Arc<dyn Worktrees>>,
}

/// The agents of other programs that can be given a task.
pub trait OtherAgents: fmt::Debug + Send + Sync {
    /// Those that are on this machine. Blocks.
    fn there(&self) -> Vec<OtherAgent>;
    /// Keeps that the person agreed to the start of this one. Blocks.
    ///
    /// # Errors
    /// When that cannot be kept: they are asked again.
    fn agree(&self, agent: &OtherAgent) -> Result<(), String>;
    /// Starts it on the leash and gives it the task. To be called within a tokio runtime.
    fn begin(&self, task: OtherTask) -> OtherRun;
}

/// Another program's agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherAgent {
    pub name: String,
    pub title: String,
    /// Its command as it would be typed.
    pub typed: String,
    /// The file that would be started, every link followed.
    pub file: PathBuf,
    /// Whether the person agreed to exactly this command at exactly this file.
    pub agreed: bool,
}

/// What one of them is to do, and within which bounds.
#[derive(Debug)]
pub struct OtherTask {
    pub agent: OtherAgent,
    pub prompt: String,
    pub workspace: PathBuf,
    pub cwd: PathBuf,
    pub policy: Policy,
    /// What was allowed when the program was started.
    pub allow: Vec<Allowance>,
    /// Decides which hosts it reaches.
    pub gate: Arc<dyn Gate>,
    /// Whether somebody can answer its questions.
    pub attended: bool,
    /// Stops it.
    pub cancel: CancellationToken,
}

/// What is told of one at work.
#[derive(Debug)]
pub enum OtherNews {
    Happened(Box<Body>),
    /// Something about its start or its end.
    Said(String),
}

/// What it is told meanwhile.
#[derive(Debug)]
pub enum OtherWord {
    Answer(AskId, Answer),
    /// The mode by which it is judged is another one.
    Mode(Policy),
}

/// One of them at work.
#[derive(Debug)]
pub struct OtherRun {
    pub news: mpsc::Receiver<OtherNews>,
    pub words: mpsc::Sender<OtherWord>,
    /// How it ended, once nothing of it runs any more.
    pub end: oneshot::Receiver<TurnEnd>,
}

/// Git worktrees for sub-agents.
pub trait Worktrees: fmt::Debug + Send + Sync {
    /// Makes one of the repository that this folder is in. Blocks.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn make(&self, folder: &Path) -> Result<OwnTree, String>;
    /// Takes it away where nothing was done in it; else tells what is in it. Blocks.
    ///
    /// # Errors
    /// When git cannot tell; it stays then.
    fn settle(&self, tree: &OwnTree) -> Result<Option<String>, String>;
}

/// A worktree that a sub-agent works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTree {
    pub name: String,
    pub branch: String,
    pub path: PathBuf,
    /// The checkout that it belongs to.
    pub of: PathBuf,
}
