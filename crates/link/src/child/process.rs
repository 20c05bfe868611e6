//! A process group and the thread that reaps its leader.
//!
//! The leader's exit is first seen without reaping it: while it is a zombie its id, and so the group's id, cannot be
//! given to anyone else, and the rest of the group can be killed safely. Only then is it reaped, under the same lock
//! that guards every other signal.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    Signal(i32),
    /// The system would not tell.
    Unknown,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

/// What a shell and a guard add to a signal to make it an exit code.
const SIGNALLED: i32 = 128;
const LAST_SIGNAL: i32 = 64;

impl Exit {
    /// How the program ended whose guard ended so.
    fn behind_a_guard(self) -> Exit {
        match self {
            Exit::Code(code) if code > SIGNALLED && code <= SIGNALLED + LAST_SIGNAL => {
                Exit::Signal(code - SIGNALLED)
            }
            other => other,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// The handle. Dropping it ends the group; the thread then reaps the leader.
#[derive(Debug)]
pub(super) struct Process {
    group: Arc<Group>,
    /// Its leader is a guard, which ends what it guards before itself.
    guarded: bool,
    exit: watch::Receiver<Option<Exit>>,
}

#[derive(Debug)]
struct Group {
    id: Pid,
    reaped: Mutex<bool>,
}

impl Process {
    /// Takes over a child that leads its own group.
    pub(super) fn watch(mut child: process::Child, guarded: bool) -> io::Result<Self> {
        let group = Arc::new(Group { id: Pid::from_child(&child), reaped: Mutex::new(false) });
        let (sender, exit) = watch::channel(None);
        let process = Self { group: group.clone(), guarded, exit };
        // If no thread can be had, `process` is dropped and with it the group.
        thread::Builder::new().name("link-reaper".into()).spawn(move || {
            let exit = group.reap(&mut child);
            sender.send_replace(Some(if guarded { exit.behind_a_guard() } else { exit }));
        })?;
        Ok(process)
    }

    /// The number of the process, which is its group's as well.
    pub(super) fn id(&self) -> u32 {
        self.group.id.as_raw_nonzero().get().unsigned_abs()
    }

    /// How it ended, once it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Tells of its end to others.
    pub(super) fn exits(&self) -> watch::Receiver<Option<Exit>> {
        self.exit.clone()
    }

    /// Waits for its end. Cancel-safe.
    pub(super) async fn wait(&mut self) -> Exit {
        // The thread always tells before it ends.
        self.exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
    }

    /// Signals the program and everything it started in its group.
    pub(super) fn signal_group(&self, signal: Signal) {
        self.group.signal(signal);
    }
}

impl Process {
    /// Ends the whole group; a guarded program is told so, and its guard kills what it guards.
    pub(super) fn end_at_once(&self) {
        self.group.signal(if self.guarded { Signal::INT } else { Signal::KILL });
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_at_once();
    }
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.reaped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let reaped = self.lock();
        if !*reaped {
            // Fails only if the group is gone already.
            let _ = kill_process_group(self.id, signal);
        }
    }

    fn reap(&self, child: &mut process::Child) -> Exit {
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(self.id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
        let mut reaped = self.lock();
        let _ = kill_process_group(self.id, Signal::KILL);
        let exit = child.wait().map_or(Exit::Unknown, Exit::from);
        *reaped = true;
        exit
    }
}
