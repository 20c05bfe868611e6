//! The person's own command lines and those in the background, as requests and as what they are answered with; and the theme.

use super::super::wire::{
    OutputTruncated, ShellExecParams, ShellExecResult, Task, TaskCancelParams, TaskListParams,
    TaskListResult, TaskResultParams, TaskSpawnParams, TaskStatusParams, TaskWaitParams, ThemeSetParams,
    ThemeSetResult,
};
use super::receipts::HubCommand;
use super::requests::{Wish, invalid, read};
use super::{CodeliaRuntime, RuntimeCx};
use crate::rpc::Call as _;
use domain::command::{Command, ShellCommand, Target};
use domain::session::{JobState, ShellJob};
use serde_json::value::RawValue;
use wire::jsonrpc::{self, RpcError};
use wire::{WireId, time};

/// How long `task.wait` waits unless the UI says otherwise, in seconds.
const USUAL_WAIT: u64 = 120;
/// How long a task that is not meant for the background is waited for, in seconds.
const LONGEST_WAIT: u64 = 300;
/// The themes of the existing terminal UI.
const THEMES: &[&str] =
    &["codelia", "ocean", "forest", "rose", "sakura", "mauve", "plum", "iris", "crimson", "wine"];
/// The only kind of task that there is here.
const SHELL: &str = "shell";
/// Where all of them work.
const LIVE_WORKSPACE: &str = "live_workspace";

/// What is told of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Telling {
    /// What a command line of the person's own came to.
    Ran,
    /// Those of a list, newest first.
    List { limit: usize, state: Option<String> },
    /// One that was started, in short.
    Spawned,
    /// One that was started and is waited for.
    SpawnedAndOver,
    /// One with its output.
    Info,
    /// The same, and that it goes on if it does.
    Waited,
    /// The same; nothing while it runs.
    Result,
}

impl CodeliaRuntime {
    /// A request about the shell or the look; `None` for any other.
    pub(super) fn shell_request(
        &mut self,
        id: &WireId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<Result<Wish, RpcError>> {
        if self.greeting.follows {
            return None;
        }
        Some(match method {
            ShellExecParams::METHOD => read::<ShellExecParams>(params).map(|params| {
                let ShellExecParams { command: line, timeout_seconds: seconds, cwd } = params;
                wish(id, ShellCommand::Run { line, cwd, seconds }, Telling::Ran)
            }),
            TaskSpawnParams::METHOD => task_spawn(id, params),
            TaskListParams::METHOD => read::<TaskListParams>(params).map(|params| {
                if params.kind.as_deref().is_some_and(|kind| kind != SHELL) {
                    return Wish::Line(jsonrpc::result(id, &TaskListResult::default()));
                }
                let limit = params.limit.and_then(|limit| usize::try_from(limit).ok());
                let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
                wish(id, ShellCommand::Jobs, Telling::List { limit, state: params.state })
            }),
            TaskStatusParams::METHOD => read::<TaskStatusParams>(params)
                .map(|params| wish(id, one(params.task_id, None), Telling::Info)),
            TaskResultParams::METHOD => read::<TaskResultParams>(params)
                .map(|params| wish(id, one(params.task_id, None), Telling::Result)),
            TaskWaitParams::METHOD => read::<TaskWaitParams>(params).map(|params| {
                let wait = params.wait_timeout_seconds.unwrap_or(USUAL_WAIT);
                wish(id, one(params.task_id, Some(wait)), Telling::Waited)
            }),
            TaskCancelParams::METHOD => read::<TaskCancelParams>(params)
                .map(|params| wish(id, ShellCommand::Stop { job: params.task_id }, Telling::Info)),
            ThemeSetParams::METHOD => self.theme_set(id, params),
            _ => return None,
        })
    }

    /// The look is the UI's; it is told what it chose when it greets again.
    fn theme_set(&mut self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let ThemeSetParams { name } = read(params)?;
        if !THEMES.contains(&name.as_str()) {
            return Err(invalid(format!("unknown theme {name:?}; there are {}", THEMES.join(", "))));
        }
        self.theme = Some(name.clone());
        Ok(Wish::Line(jsonrpc::result(id, &ThemeSetResult { name })))
    }

    /// Tells what became of command lines.
    pub(super) fn tell_jobs(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: WireId,
        telling: &Telling,
        mut jobs: Vec<ShellJob>,
    ) {
        let line = match telling {
            Telling::List { limit, state } => {
                jobs.sort_by_key(|job| std::cmp::Reverse(job.started_at));
                let tasks = jobs.iter().map(|job| lower_task(job, false));
                let wanted = |task: &Task| state.as_ref().is_none_or(|state| *state == task.state);
                jsonrpc::result(&id, &TaskListResult { tasks: tasks.filter(wanted).take(*limit).collect() })
            }
            other => {
                let Some(job) = jobs.pop() else { return };
                match other {
                    Telling::SpawnedAndOver => {
                        let command = Command::Shell(one(job.id, Some(LONGEST_WAIT)));
                        let pending = HubCommand::Shell { id, telling: Telling::Info };
                        self.ask_hub(cx, Target::Current, command, pending);
                        return;
                    }
                    Telling::Ran => jsonrpc::result(&id, &lower_ran(job)),
                    Telling::Spawned => jsonrpc::result(&id, &lower_task(&job, false)),
                    Telling::Result if job.state == JobState::Running => jsonrpc::result(&id, &None::<Task>),
                    Telling::Waited => {
                        let still_running = (job.state == JobState::Running).then_some(true);
                        jsonrpc::result(&id, &Task { still_running, ..lower_task(&job, true) })
                    }
                    Telling::Info | Telling::Result | Telling::List { .. } => {
                        jsonrpc::result(&id, &lower_task(&job, true))
                    }
                }
            }
        };
        cx.send(line);
    }
}

fn wish(id: &WireId, command: ShellCommand, telling: Telling) -> Wish {
    Wish::Hub(Target::Current, Command::Shell(command), HubCommand::Shell { id: id.clone(), telling })
}

fn one(job: String, wait: Option<u64>) -> ShellCommand {
    ShellCommand::Job { job, wait }
}

fn task_spawn(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: TaskSpawnParams = read(params)?;
    if params.kind != SHELL {
        return Err(invalid(format!("there are no tasks of kind {:?} here; shell is", params.kind)));
    }
    if params.workspace_mode.as_deref().is_some_and(|mode| mode != LIVE_WORKSPACE) {
        return Err(invalid("tasks work in the live workspace; there is no other"));
    }
    if params.timeout_seconds.is_some() {
        return Err(invalid("a task has no time limit here; end it with task.cancel"));
    }
    let line = params.command.ok_or_else(|| invalid("command is required"))?;
    let telling = if params.background == Some(false) { Telling::SpawnedAndOver } else { Telling::Spawned };
    Ok(wish(id, ShellCommand::Start { line, cwd: params.cwd }, telling))
}

fn lower_ran(job: ShellJob) -> ShellExecResult {
    let duration_ms = job.ended_at.map_or(0, |at| at.since(job.started_at));
    ShellExecResult {
        command_preview: job.line,
        exit_code: exit_code(job.state),
        stdout: job.output,
        stderr: String::new(),
        truncated: truncated(job.truncated),
        duration_ms,
    }
}

fn lower_task(job: &ShellJob, with_output: bool) -> Task {
    let state = match job.state {
        JobState::Running => "running",
        JobState::Exited(Some(0)) => "completed",
        JobState::Exited(_) => "failed",
        JobState::Stopped => "cancelled",
    };
    let started_at = time::write(job.started_at.0);
    Task {
        task_id: job.id.clone(),
        key: Some(job.id.clone()),
        kind: SHELL.to_owned(),
        workspace_mode: LIVE_WORKSPACE.to_owned(),
        state: state.to_owned(),
        title: Some(job.line.clone()),
        created_at: started_at.clone(),
        updated_at: job.ended_at.map_or_else(|| started_at.clone(), |at| time::write(at.0)),
        started_at: Some(started_at),
        ended_at: job.ended_at.map(|at| time::write(at.0)),
        exit_code: exit_code(job.state),
        duration_ms: job.ended_at.map(|at| at.since(job.started_at)),
        stdout: with_output.then(|| job.output.clone()),
        stderr: with_output.then(String::new),
        truncated: with_output.then(|| truncated(job.truncated)),
        still_running: None,
    }
}

fn exit_code(state: JobState) -> Option<i64> {
    match state {
        JobState::Exited(code) => code.map(i64::from),
        JobState::Running | JobState::Stopped => None,
    }
}

fn truncated(cut: bool) -> OutputTruncated {
    OutputTruncated { stdout: cut, stderr: false, combined: cut }
}
