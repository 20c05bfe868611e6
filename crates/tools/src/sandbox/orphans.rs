//! Heirs: what was left behind by a guard that was killed. Our own process inherits them (it is a subreaper), ends and reaps them.
//!
//! Whatever a person started and left behind becomes our child the same way; it is reaped but never ended. Heirs are told from the
//! children that we started ourselves, which others wait for: those stay in our session and lead a group or are in ours.

use super::mark::{self, Marked};
use super::processes::{self, ProcessEntry};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long after a death we look once more: something may just have been on its way to become a command.
const AGAIN: Duration = Duration::from_millis(200);

/// Makes this process the heir of all that lose their guard, and takes care of them for as long as somebody waits for it. To be called
/// within a tokio runtime, before the first command is started.
///
/// # Errors
/// When the system does not let us.
pub async fn inherit() -> std::io::Result<std::convert::Infallible> {
    mark::own();
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let mut deaths = signal(SignalKind::child())?;
    loop {
        deaths.recv().await;
        settle();
        tokio::time::sleep(AGAIN).await;
        settle();
    }
}

/// Reaps the heirs that ended, ends those that came from a command.
fn settle() {
    let Ok(own) = processes::own() else { return };
    for heir in children().into_iter().filter(|child| is_heir(child, &own)) {
        let Some(pid) = Pid::from_raw(heir.pid) else { continue };
        // One whose first thread has ended and whose others go on is not reaped, and goes on.
        if heir.dead && !processes::has_threads(heir.pid) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        } else if came_from_command(heir.pid) {
            // Nobody but us reaps it, so its number is its own. Its death is heard, and then it is reaped.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn is_heir(child: &ProcessEntry, own: &ProcessEntry) -> bool {
    let by_birth = child.session == own.session && (child.group == child.pid || child.group == own.group);
    !by_birth
}

fn came_from_command(pid: i32) -> bool {
    match mark::of(pid) {
        Ok(Marked::Yes) => true,
        // A program of the person's may have such a limit as well, but hardly both.
        Ok(Marked::Perhaps) => confined(pid) && !confined(getpid().as_raw_nonzero().get()),
        Ok(Marked::No) | Err(_) => false,
    }
}

/// Whether a process has given up new privileges, as every command on a leash has.
fn confined(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"]))
}

fn children() -> Vec<ProcessEntry> {
    let own = getpid().as_raw_nonzero().get();
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let listed: Option<Vec<String>> =
        threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect();
    match listed {
        Some(lists) => {
            let pids =
                lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok());
            pids.filter_map(|pid| processes::look(pid).ok()).collect()
        }
        // A thread that ended while we looked, or a kernel that keeps no such list.
        None => processes::everybody().into_iter().filter(|one| one.parent == own).collect(),
    }
}
