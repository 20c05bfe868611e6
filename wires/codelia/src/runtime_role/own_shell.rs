//! Command lines that the person started and does not wait for at once: `shell.start`, `list`, `status`, `output`, `wait`, `detach`,
//! `cancel`. What it is not: tasks (`task.*`), which go by the rules of the model's own commands.
//!
//! A `shell.wait` is answered once: with the end, with its own limit, or by a `shell.detach` in between.

use super::super::wire::{
    ShellCancelParams, ShellDetachParams, ShellDetachResult, ShellListParams, ShellListResult,
    ShellOutputParams, ShellOutputResult, ShellStartParams, ShellStatusParams, ShellTask, ShellWaitParams,
};
use super::CodeliaRuntime as Role;
use super::requests::{CodeliaMemo, invalid, read};
use super::shell::{self, OwnTelling, TaskAnswer, USUAL_WAIT, one};
use domain::command::{Receipt, ShellCommand};
use domain::session::{JobState, ShellJob};
use rolekit::endpoint::{reply, written};
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, TableRole as _};
use roles::RuntimeCx;
use wire::time;

/// Waits that may be open.
const MAX_WAITS: usize = 64;
const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<ShellStartParams>(start, tell),
    Exchange::of::<ShellListParams>(list, tell),
    Exchange::of::<ShellStatusParams>(status, tell),
    Exchange::of::<ShellOutputParams>(output, tell),
    Exchange::of::<ShellWaitParams>(wait, tell),
    Exchange::of::<ShellDetachParams>(detach, tell),
    Exchange::of::<ShellCancelParams>(cancel, tell),
];

fn hub(command: ShellCommand, telling: OwnTelling) -> Asking<Role> {
    shell::hub(command, TaskAnswer::Own(telling))
}

fn start(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellStartParams { command: line, timeout_seconds, cwd } = read(request.params)?;
    if timeout_seconds.is_some() {
        return Err(invalid("what is started has no time limit here; end it with shell.cancel"));
    }
    if line.trim().is_empty() {
        return Err(invalid("command is required"));
    }
    hub(ShellCommand::Start { line, cwd, typed: true }, OwnTelling::Info)
}

fn list(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellListParams { limit } = read(request.params)?;
    hub(ShellCommand::Jobs, OwnTelling::List { limit: size(limit) })
}

fn status(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellStatusParams { task_id } = read(request.params)?;
    hub(one(task_id, None), OwnTelling::Info)
}

fn output(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellOutputParams { task_id, stream, offset, limit } = read(request.params)?;
    match stream.as_str() {
        STDOUT => {
            let (offset, limit) = (size(offset.or(Some(0))), size(limit));
            hub(one(task_id, None), OwnTelling::Output { offset, limit })
        }
        // Both streams are one here, in their order.
        STDERR => Ok(reply(&ShellOutputResult { task_id, stream, content: String::new(), cached: false })),
        other => Err(invalid(format!("unknown stream {other:?}; it is stdout or stderr"))),
    }
}

fn wait(role: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellWaitParams { task_id, wait_timeout_seconds } = read(request.params)?;
    if role.shell_waits.len() >= MAX_WAITS {
        return Err(invalid("too many waits are open; wait for one of them"));
    }
    role.shell_waits.push((task_id.clone(), request.from.clone()));
    hub(one(task_id, Some(wait_timeout_seconds.unwrap_or(USUAL_WAIT))), OwnTelling::Waited)
}

fn detach(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellDetachParams { task_id } = read(request.params)?;
    hub(one(task_id, None), OwnTelling::Detached)
}

fn cancel(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let ShellCancelParams { task_id: job } = read(request.params)?;
    hub(ShellCommand::Stop { job }, OwnTelling::Info)
}

fn size(wanted: Option<u64>) -> usize {
    wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(usize::MAX)
}

fn tell(role: &mut Role, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    let CodeliaMemo::Shell(TaskAnswer::Own(telling)) = settled.memo else { return Err(Fault::Odd) };
    if telling == OwnTelling::Waited {
        let open = role.shell_waits.iter().position(|(_, from)| from == settled.from);
        let Some(open) = open else { return Ok(Next::Nothing) };
        role.shell_waits.remove(open);
    }
    let Receipt::Jobs(mut jobs) = settled.with? else { return Err(Fault::Odd) };
    if let OwnTelling::List { limit } = telling {
        jobs.sort_by_key(|job| std::cmp::Reverse(job.started_at));
        let tasks = jobs.into_iter().take(limit).map(|job| lower(job, None)).collect();
        return Ok(reply(&ShellListResult { tasks }));
    }
    let Some(job) = jobs.pop() else { return Err(Fault::Odd) };
    Ok(match telling {
        OwnTelling::Waited => {
            let still_running = (job.state == JobState::Running).then_some(true);
            reply(&lower(job, still_running))
        }
        OwnTelling::Output { offset, limit } => {
            let content = numbered(&job.output, offset, limit);
            let (task_id, stream) = (job.id, STDOUT.to_owned());
            reply(&ShellOutputResult { task_id, stream, content, cached: false })
        }
        OwnTelling::Detached => {
            let state = shell::state(&job).to_owned();
            let detached = ShellDetachResult { task_id: job.id, detached: true, state };
            let (over, rest) = std::mem::take(&mut role.shell_waits)
                .into_iter()
                .partition(|(id, _)| *id == detached.task_id);
            role.shell_waits = rest;
            let over: Vec<(String, wire::WireId)> = over;
            for (_, from) in over {
                role.reply(cx, &from, Ok(written(&detached)));
            }
            reply(&detached)
        }
        OwnTelling::Info | OwnTelling::List { .. } => reply(&lower(job, None)),
    })
}

/// Lines with their numbers, as the existing runtime writes them.
fn numbered(output: &str, offset: usize, limit: usize) -> String {
    let lines = output.lines().enumerate().skip(offset).take(limit);
    let lines: Vec<String> = lines.map(|(at, line)| format!("{:06}  {line}", at + 1)).collect();
    lines.join("\n")
}

fn lower(job: ShellJob, still_running: Option<bool>) -> ShellTask {
    let started_at = time::write(job.started_at.0);
    let ended_at = job.ended_at.map(|at| time::write(at.0));
    ShellTask {
        task_id: job.id.clone(),
        state: shell::state(&job).to_owned(),
        still_running,
        created_at: started_at.clone(),
        updated_at: ended_at.clone().unwrap_or_else(|| started_at.clone()),
        started_at: Some(started_at),
        ended_at,
        ran: shell::lower_ran(job),
    }
}
