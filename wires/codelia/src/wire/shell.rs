//! The person's own shell and the commands in the background: `shell.*`, `task.*`; logging out: `auth.logout`; the look of the UI: `theme.set`. All of it is `[L]`.

use serde::{Deserialize, Serialize};
use wire::lenient::{null_as_default, opt_whole_i64, opt_whole_u64};

/// Parameters of `shell.exec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellExecParams {
    pub command: String,
    /// Two minutes if absent, five at most.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// What came of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellExecResult {
    pub command_preview: String,
    /// Null when it did not end by itself.
    pub exit_code: Option<i64>,
    /// What it wrote; ours holds both streams, in their order.
    pub stdout: String,
    pub stderr: String,
    pub truncated: OutputTruncated,
    pub duration_ms: u64,
}

/// Whether something of an output was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputTruncated {
    pub stdout: bool,
    pub stderr: bool,
    pub combined: bool,
}

/// Parameters of `task.spawn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskSpawnParams {
    /// `shell`; nothing else is known here.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether to answer before it is over; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// `live_workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_mode: Option<String>,
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
}

/// Parameters of `task.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskListParams {
    #[serde(default, deserialize_with = "opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// The tasks that fit what was asked for, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskListResult {
    pub tasks: Vec<Task>,
}

/// Parameters of `task.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskStatusParams {
    pub task_id: String,
}

/// Parameters of `task.wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskWaitParams {
    pub task_id: String,
    /// Two minutes if absent, five at most.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub wait_timeout_seconds: Option<u64>,
}

/// Parameters of `task.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskCancelParams {
    pub task_id: String,
}

/// Parameters of `task.result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskResultParams {
    pub task_id: String,
}

/// A command in the background.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Task {
    pub task_id: String,
    /// What the model calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `shell`.
    pub kind: String,
    /// `live_workspace`.
    pub workspace_mode: String,
    /// `running`, `completed`, `failed` or `cancelled`.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub created_at: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Null while it runs and when it was ended.
    pub exit_code: Option<i64>,
    /// Null while it runs.
    pub duration_ms: Option<u64>,
    /// What it wrote; ours holds both streams, in their order. Not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<OutputTruncated>,
    /// It was still running when the waiting ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<bool>,
}

/// Parameters of `shell.start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellStartParams {
    pub command: String,
    /// There is no limit if absent.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Parameters of `shell.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellListParams {
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// What the person started, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellListResult {
    pub tasks: Vec<ShellTask>,
}

/// Parameters of `shell.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellStatusParams {
    pub task_id: String,
}

/// Parameters of `shell.output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellOutputParams {
    pub task_id: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Lines to leave out.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Lines at most.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Lines of an output, each with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellOutputResult {
    pub task_id: String,
    pub stream: String,
    pub content: String,
    /// Whether more of it is kept elsewhere; never here.
    pub cached: bool,
}

/// Parameters of `shell.wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellWaitParams {
    pub task_id: String,
    /// Two minutes if absent, five at most.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub wait_timeout_seconds: Option<u64>,
}

/// Parameters of `shell.detach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellDetachParams {
    pub task_id: String,
}

/// Nobody waits for the command any more. This ends `shell.wait`, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellDetachResult {
    pub task_id: String,
    pub detached: bool,
    pub state: String,
}

/// Parameters of `shell.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellCancelParams {
    pub task_id: String,
}

/// A command that the person started, with what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellTask {
    pub task_id: String,
    /// `running`, `completed`, `failed` or `cancelled`.
    pub state: String,
    /// It was still running when the waiting ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<bool>,
    pub created_at: String,
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    #[serde(flatten)]
    pub ran: ShellExecResult,
}

/// Parameters of `auth.logout`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthLogoutParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_session: Option<bool>,
}

/// Of an `auth.logout` that was done; ours never is, since keys are not a UI's to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthLogoutResult {
    pub ok: bool,
    pub auth_cleared: bool,
    pub session_cleared: bool,
}

/// Parameters of `theme.set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThemeSetParams {
    pub name: String,
}

/// The theme that holds now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThemeSetResult {
    pub name: String,
}
