//! The guard's own life, in a process of its own.
//!
//! States: set up → command runs → one of: it ended, we are asked to stop, our parent died → everything that came from
//! the command is ended → exit with the command's code. It adopts orphans (it is a subreaper), so nothing gets away.

use super::{Leash, limits};
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

/// How long the command may take to end after it was asked to. Shorter than what the agent waits before it kills the guard.
const GRACE: Duration = Duration::from_millis(100);
/// How often we look for processes that are still there.
const ROUND: Duration = Duration::from_millis(2);
/// How often we look before giving up: something keeps starting new processes faster than they end.
const MAX_ROUNDS: usize = 500;
/// How often the parent is looked for where the kernel cannot tell us.
const POLL: Duration = Duration::from_millis(200);

/// Why a command could not be guarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The arguments do not fit.
    #[error("guard: {0}")]
    Usage(String),
    /// Whoever started us is gone.
    #[error("guard: the program that started it is gone")]
    ParentGone,
    /// The system said no.
    #[error("guard: cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What it said.
        source: std::io::Error,
    },
    /// The command cannot be started.
    #[error("{}: {source}", program.display())]
    Spawn {
        /// The command.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> GuardError {
    move |source| GuardError::System { what, source: source.into() }
}

/// Is the guard: limits itself, runs the command, and exits with its code. `args` is what follows the guard's own lead
/// arguments. To be called first thing in `main`, before any thread is started: limits hold per thread.
pub fn run_guard(args: &[OsString]) -> Result<Infallible, GuardError> {
    let order = Order::parse(args)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(system("adopt orphans"))?;
    limits::apply(&order.leash).map_err(system("limit the command"))?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system("start"))?;
    let code = runtime.block_on(order.carry_out())?;
    std::process::exit(code)
}

#[derive(Debug, PartialEq, Eq)]
struct Order {
    parent: i32,
    leash: Leash,
    program: OsString,
    args: Vec<OsString>,
}

impl Order {
    fn parse(args: &[OsString]) -> Result<Order, GuardError> {
        let mut args = args.iter();
        let mut parent = None;
        let mut leash = Leash::default();
        loop {
            let Some(arg) = args.next() else { return Err(GuardError::Usage("no command".to_owned())) };
            let mut value =
                || args.next().ok_or_else(|| GuardError::Usage(format!("{} needs a value", arg.display())));
            match arg.to_str() {
                Some("--parent") => parent = value()?.to_str().and_then(|text| text.parse().ok()),
                Some("--rw") => leash.writable.push(value()?.into()),
                Some("--net") => leash.network = true,
                Some("--free") => leash.free = true,
                Some("--") => break,
                _ => return Err(GuardError::Usage(format!("{} is not known", arg.display()))),
            }
        }
        let parent = parent.ok_or_else(|| GuardError::Usage("--parent is missing".to_owned()))?;
        let program = args.next().ok_or_else(|| GuardError::Usage("no command".to_owned()))?;
        Ok(Order { parent, leash, program: program.clone(), args: args.cloned().collect() })
    }

    async fn carry_out(self) -> Result<i32, GuardError> {
        // Before the command exists, so that no signal is missed.
        let mut stop = Stop::listen().map_err(system("listen for signals"))?;
        let parent = Parent::watch(self.parent)?;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args);
        let spawned = command.spawn();
        let mut child =
            spawned.map_err(|source| GuardError::Spawn { program: self.program.into(), source })?;
        let ended = tokio::select! {
            status = child.wait() => Some(status.map_err(system("wait for the command"))?),
            () = parent.gone() => None,
            () = stop.asked() => None,
        };
        if ended.is_none() {
            kin::signal(rustix::process::Signal::TERM);
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
        }
        for _ in 0..MAX_ROUNDS {
            if !kin::signal(rustix::process::Signal::KILL) {
                break;
            }
            tokio::time::sleep(ROUND).await;
        }
        Ok(ended.map_or(128 + rustix::process::Signal::TERM.as_raw(), code))
    }
}

/// The exit code as a shell would tell it.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// The ways in which we are asked to stop.
struct Stop {
    term: Signals,
    interrupt: Signals,
    hangup: Signals,
}

impl Stop {
    fn listen() -> std::io::Result<Stop> {
        Ok(Stop {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// The process that started us. Watched as a process, not by a death signal: that one tells of a thread's end.
struct Parent {
    pid: i32,
    #[cfg(target_os = "linux")]
    death: Option<tokio::sync::oneshot::Receiver<()>>,
}

impl Parent {
    fn watch(pid: i32) -> Result<Parent, GuardError> {
        #[cfg(target_os = "linux")]
        let parent = Parent { pid, death: death(pid) };
        #[cfg(not(target_os = "linux"))]
        let parent = Parent { pid };
        // Looked at after the handle was taken: from here on its death cannot be missed.
        if parent.there() { Ok(parent) } else { Err(GuardError::ParentGone) }
    }

    fn there(&self) -> bool {
        rustix::process::getppid().is_some_and(|pid| pid.as_raw_nonzero().get() == self.pid)
    }

    async fn gone(self) {
        #[cfg(target_os = "linux")]
        if let Some(death) = self.death {
            let _ = death.await;
            return;
        }
        while self.there() {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Tells when a process is gone; `None` where the kernel cannot tell.
#[cfg(target_os = "linux")]
fn death(pid: i32) -> Option<tokio::sync::oneshot::Receiver<()>> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let (tell, death) = tokio::sync::oneshot::channel();
    let wait = move || {
        // The handle becomes readable when the process is gone; a signal may wake us before.
        while poll(&mut [PollFd::new(&handle, PollFlags::IN)], None)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        let _ = tell.send(());
    };
    std::thread::Builder::new().spawn(wait).ok()?;
    Some(death)
}

/// Every process that came from us.
#[cfg(target_os = "linux")]
mod kin {
    use rustix::process::{Pid, Signal, getpid, kill_process};
    use std::collections::{HashMap, HashSet};

    /// Signals all of them; tells whether there were any.
    pub(super) fn signal(signal: Signal) -> bool {
        let kin = alive();
        for pid in &kin {
            if let Some(pid) = Pid::from_raw(*pid) {
                // It may have ended since we looked.
                let _ = kill_process(pid, signal);
            }
        }
        !kin.is_empty()
    }

    fn alive() -> Vec<i32> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let mut children: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // The name, in parentheses, may hold anything, also spaces and parentheses.
            let Some((_, rest)) = stat.rsplit_once(')') else { continue };
            let mut fields = rest.split_whitespace();
            let (Some(state), Some(parent)) =
                (fields.next(), fields.next().and_then(|field| field.parse().ok()))
            else {
                continue;
            };
            children.entry(parent).or_default().push((pid, matches!(state, "Z" | "X")));
        }
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut next = vec![getpid().as_raw_nonzero().get()];
        while let Some(pid) = next.pop() {
            for (child, dead) in children.get(&pid).into_iter().flatten() {
                if seen.insert(*child) {
                    next.push(*child);
                    if !dead {
                        found.push(*child);
                    }
                }
            }
        }
        found
    }
}

/// Without a list of processes only the group can be reached; the agent ends it after us.
#[cfg(not(target_os = "linux"))]
mod kin {
    use rustix::process::{Signal, getpgrp, kill_process_group};

    pub(super) fn signal(signal: Signal) -> bool {
        if signal == Signal::TERM {
            let _ = kill_process_group(getpgrp(), signal);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::path::Path;

    fn order(args: &[&str]) -> Result<Order, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        Order::parse(&args).map_err(|error| error.to_string())
    }

    #[test]
    fn a_guard_understands_what_it_is_told() {
        let guard =
            super::super::Guard::new(Path::new("parlor"), &["__guard"]).also_writable(&["/cache".into()]);
        let leash = Leash { writable: vec!["/w".into()], network: true, free: false };
        let mut command = guard.command(OsStr::new("bash"), &leash);
        command.arg("-c").arg("--net");
        let said: Vec<OsString> = command.get_args().skip(1).map(OsStr::to_owned).collect();
        let order = Order::parse(&said).unwrap();
        assert_eq!(order.leash, Leash { writable: vec!["/w".into(), "/cache".into()], ..leash });
        assert_eq!(order.args, ["-c", "--net"]);
        assert_eq!(order.parent, std::process::id().cast_signed());
    }

    #[test]
    fn nonsense_is_refused() {
        for args in [&[][..], &["--parent"], &["--parent", "1", "--"], &["--", "ls"], &["--what", "--", "ls"]]
        {
            assert!(order(args).is_err(), "{args:?}");
        }
    }
}
