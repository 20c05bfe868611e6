//! The person's own command lines and those in the background, as requests and as what they are answered with; and the theme.

use super::super::wire::{
    OutputTruncated, ShellExecParams, ShellExecResult, Task, TaskCancelParams, TaskListParams,
    TaskListResult, TaskResultParams, TaskSpawnParams, TaskStatusParams, TaskWaitParams, ThemeSetParams,
};
use super::CodeliaRuntime as Role;
use super::requests::{CodeliaMemo, invalid, read};
use domain::command::{Command, Receipt, ShellCommand, Target};
use domain::session::{JobState, ShellJob};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, no_answer};
use roles::RuntimeCx;
use wire::time;

/// How long `task.wait` waits unless the UI says otherwise, in seconds.
pub(super) const USUAL_WAIT: u64 = 120;
/// How long a task that is not meant for the background is waited for, in seconds.
const LONGEST_WAIT: u64 = 300;
/// The only kind of task that there is here.
const SHELL: &str = "shell";
/// Where all of them work.
const LIVE_WORKSPACE: &str = "live_workspace";

/// What is told of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAnswer {
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
    /// Of those that the person started (`shell.*`).
    Own(OwnTelling),
}

/// What is told of a command that the person started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnTelling {
    List {
        limit: usize,
    },
    Info,
    Waited,
    /// Lines of what it wrote.
    Output {
        offset: usize,
        limit: usize,
    },
    /// That nobody waits for it any more.
    Detached,
}

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<ShellExecParams>(shell_exec, tell_jobs),
    Exchange::of::<TaskSpawnParams>(task_spawn, tell_jobs),
    Exchange::of::<TaskListParams>(task_list, tell_jobs),
    Exchange::of::<TaskStatusParams>(task_status, tell_jobs),
    Exchange::of::<TaskResultParams>(task_result, tell_jobs),
    Exchange::of::<TaskWaitParams>(task_wait, tell_jobs),
    Exchange::of::<TaskCancelParams>(task_cancel, tell_jobs),
    Exchange::of::<ThemeSetParams>(theme_set, no_answer),
];

/// Hands a command line to the hub, with what is told when it is settled.
pub(super) fn hub(command: ShellCommand, telling: TaskAnswer) -> Asking<Role> {
    Ok(Next::Hub(Target::Current, Command::Shell(command), CodeliaMemo::Shell(telling)))
}

/// A look at one that runs in the background, after a wait of so many seconds for its end.
pub(super) fn one(job: String, wait: Option<u64>) -> ShellCommand {
    ShellCommand::Job { job, wait }
}

fn shell_exec(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellExecParams { command: line, timeout_seconds: seconds, cwd } = read(request.params)?;
    hub(ShellCommand::Run { line, cwd, seconds }, TaskAnswer::Ran)
}

fn task_spawn(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: TaskSpawnParams = read(request.params)?;
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
    let telling =
        if params.background == Some(false) { TaskAnswer::SpawnedAndOver } else { TaskAnswer::Spawned };
    hub(ShellCommand::Start { line, cwd: params.cwd, typed: false }, telling)
}

fn task_list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: TaskListParams = read(request.params)?;
    if params.kind.as_deref().is_some_and(|kind| kind != SHELL) {
        return Ok(reply(&TaskListResult::default()));
    }
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    hub(ShellCommand::Jobs, TaskAnswer::List { limit, state: params.state })
}

fn task_status(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let TaskStatusParams { task_id } = read(request.params)?;
    hub(one(task_id, None), TaskAnswer::Info)
}

fn task_result(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let TaskResultParams { task_id } = read(request.params)?;
    hub(one(task_id, None), TaskAnswer::Result)
}

fn task_wait(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let TaskWaitParams { task_id, wait_timeout_seconds } = read(request.params)?;
    hub(one(task_id, Some(wait_timeout_seconds.unwrap_or(USUAL_WAIT))), TaskAnswer::Waited)
}

fn task_cancel(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let TaskCancelParams { task_id: job } = read(request.params)?;
    hub(ShellCommand::Stop { job }, TaskAnswer::Info)
}

/// Tells what became of command lines.
fn tell_jobs(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let (CodeliaMemo::Shell(telling), Receipt::Jobs(mut jobs)) = (settled.memo, settled.with?) else {
        return Err(Fault::Odd);
    };
    if let TaskAnswer::List { limit, state } = telling {
        jobs.sort_by_key(|job| std::cmp::Reverse(job.started_at));
        let tasks = jobs.iter().map(|job| lower_task(job, false));
        let wanted = |task: &Task| state.as_ref().is_none_or(|state| *state == task.state);
        return Ok(reply(&TaskListResult { tasks: tasks.filter(wanted).take(limit).collect() }));
    }
    let Some(job) = jobs.pop() else { return Ok(Next::Nothing) };
    Ok(match telling {
        TaskAnswer::Own(_) => return Err(Fault::Odd),
        TaskAnswer::SpawnedAndOver => {
            let command = Command::Shell(one(job.id, Some(LONGEST_WAIT)));
            Next::Hub(Target::Current, command, CodeliaMemo::Shell(TaskAnswer::Info))
        }
        TaskAnswer::Ran => reply(&lower_ran(job)),
        TaskAnswer::Spawned => reply(&lower_task(&job, false)),
        TaskAnswer::Result if job.state == JobState::Running => reply(&None::<Task>),
        TaskAnswer::Waited => {
            let still_running = (job.state == JobState::Running).then_some(true);
            reply(&Task { still_running, ..lower_task(&job, true) })
        }
        TaskAnswer::Info | TaskAnswer::Result | TaskAnswer::List { .. } => reply(&lower_task(&job, true)),
    })
}

/// Nothing here is kept for a UI.
fn theme_set(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ThemeSetParams { name } = read(request.params)?;
    Err(invalid(format!("the look is not kept here; start the UI with CODELIA_TUI_THEME={name}")))
}

/// What a command line of the person's own came to, as far as it has.
pub(super) fn lower_ran(job: ShellJob) -> ShellExecResult {
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

/// How a command stands.
pub(super) fn state(job: &ShellJob) -> &'static str {
    match job.state {
        JobState::Running => "running",
        JobState::Exited(Some(0)) => "completed",
        JobState::Exited(_) => "failed",
        JobState::Stopped => "cancelled",
    }
}

fn lower_task(job: &ShellJob, with_output: bool) -> Task {
    let started_at = time::write(job.started_at.0);
    Task {
        task_id: job.id.clone(),
        key: Some(job.id.clone()),
        kind: SHELL.to_owned(),
        workspace_mode: LIVE_WORKSPACE.to_owned(),
        state: state(job).to_owned(),
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
