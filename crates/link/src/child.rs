//! A program started by us, as a link: its stdin and stdout are the lane, its stderr is kept to explain failures.
//!
//! Invariants: the program leads its own process group and the whole group ends with it, when it exits, when it is shut
//! down, and when the handle is dropped; a group is never signalled after its leader has been reaped, so that no
//! stranger with a reused id is hit; stderr is always drained, so that a talkative program never stalls.
//!
//! Without a guard the program keeps our session: it can open our terminal, and what leaves its group outlives it. If we are killed
//! outright, it only sees the end of its stdin, which every dialect over stdio takes as the end. [`Launch::guard`] puts a guard program
//! in front of the command that does better; a program that is not trusted needs one.

mod process;
mod restart;
mod stderr;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::watch;

use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::outgoing::Outgoing;
use crate::stream::{AsyncSink, AsyncSource};
use crate::tasks::Tasks;
use crate::{Lane, LinkError};

use process::Process;

pub use process::Exit;
pub use restart::{LastWitness, MAX_RESTARTS, Restarted, start_again_on};
pub use stderr::{OnStderr, STDERR_BYTES, STDERR_LINES, StderrTail};

/// How long the program may take to end after its stdin is closed.
pub const STDIN_GRACE: Duration = Duration::from_secs(2);

/// How long it may take after SIGTERM, before SIGKILL.
pub const TERM_GRACE: Duration = Duration::from_secs(2);

/// How long to wait for the rest of stderr after the program has ended.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// What to start, and how.
#[derive(Default)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A guard program and its arguments, put in front of the command. It leads the process group, alone: it starts the command in a
    /// session of its own, hands it stdin, stdout and stderr, exits with its code (128 and the signal, as a shell), and ends everything
    /// that came from it when the command exits, when our process is gone, at SIGTERM after a grace time, and at SIGINT at once.
    pub guard: Vec<OsString>,
    /// Added to our environment.
    pub env: Vec<(OsString, OsString)>,
    /// Taken out of our environment.
    pub env_remove: Vec<OsString>,
    /// What the first program started has as its stdin, and our end of what becomes the command's: for a guard that hands a stdin on.
    pub stdin: Option<(Stdio, OwnedFd)>,
    /// Where to start it; `None` is where we are.
    pub cwd: Option<PathBuf>,
    /// Called with each line of its stderr, on the draining task: must be quick.
    pub on_stderr: Option<OnStderr>,
}

impl Launch {
    /// Starts this command, with nothing special.
    pub fn new<S: Into<OsString>>(command: impl IntoIterator<Item = S>) -> Self {
        Self { command: command.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Starts the program. Must be called within a tokio runtime.
    pub fn start(self, lane: Lane, limits: Limits) -> Result<(LinkIo, Child), LinkError> {
        let Bytes { stdin, stdout, mut child } = self.start_bytes()?;
        let io = Wiring::new(limits).lane(lane, AsyncSource::new(stdout), AsyncSink(stdin)).start();
        child.outgoing = Some(io.outgoing.clone());
        Ok((io, child))
    }

    /// Starts the program and gives its stdin and stdout as they are, for those who want to say bytes that are no lines.
    /// [`Child::shutdown`] then cannot close stdin: drop it first. Must be called within a tokio runtime.
    pub fn start_bytes(mut self) -> Result<Bytes, LinkError> {
        let mut words = self.guard.iter().chain(&self.command);
        let first = words.next().filter(|_| !self.command.is_empty()).ok_or(LinkError::NoCommand)?;
        let program = self.command.first().unwrap_or(first);
        let failed = |source| LinkError::Spawn { program: program.to_string_lossy().into_owned(), source };
        if !self.guard.is_empty() && !self.is_there(program) {
            // A guard could only tell by its exit.
            return Err(failed(rustix::io::Errno::NOENT.into()));
        }
        let mut command = Command::new(first);
        command.args(words).envs(self.env.iter().map(|(key, value)| (key, value)));
        let handed = self.stdin.take();
        let (passed, ours) = handed.map_or((None, None), |(passed, ours)| (Some(passed), Some(ours)));
        command
            .stdin(passed.unwrap_or_else(Stdio::piped))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        self.env_remove.iter().for_each(|key| {
            command.env_remove(key);
        });
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(failed)?;
        // It holds what was passed: with that open here, nobody would notice that the other end is gone.
        drop(command);
        let stdin = child.stdin.take().or_else(|| ours.map(std::process::ChildStdin::from));
        let pipes = (stdin, child.stdout.take(), child.stderr.take());
        // From here on the group is watched, so that an early return below ends it.
        let process = Process::watch(child, !self.guard.is_empty()).map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        let stdin = tokio::process::ChildStdin::from_std(stdin).map_err(failed)?;
        let stdout = tokio::process::ChildStdout::from_std(stdout).map_err(failed)?;
        let stderr = tokio::process::ChildStderr::from_std(stderr).map_err(failed)?;

        let tail = Arc::new(StderrTail::default());
        let mut tasks = Tasks::new();
        tasks.spawn(stderr::drain(stderr, tail.clone(), self.on_stderr));
        Ok(Bytes { stdin, stdout, child: Child { process, tail, tasks, outgoing: None } })
    }

    /// Whether there is such a program, where the system would look for it.
    fn is_there(&self, program: &OsStr) -> bool {
        let here = self.cwd.clone().unwrap_or_default();
        if Path::new(program).components().count() > 1 {
            return here.join(program).exists();
        }
        let given = self.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = given.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        std::env::split_paths(&path).any(|folder| here.join(folder).join(program).exists())
    }
}

/// A program whose bytes are spoken directly.
#[derive(Debug)]
pub struct Bytes {
    pub stdin: tokio::process::ChildStdin,
    pub stdout: tokio::process::ChildStdout,
    pub child: Child,
}

/// The running program. Dropping it ends its whole group, or its guard with all that came from it.
#[derive(Debug)]
pub struct Child {
    process: Process,
    tail: Arc<StderrTail>,
    tasks: Tasks,
    outgoing: Option<Outgoing>,
}

impl Child {
    /// Its process id, or its guard's, which is also the id of the group.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// How it ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.process.exit()
    }

    /// Waits until it has ended by itself and its stderr is read. Cancel-safe.
    pub async fn wait(&mut self) -> Exit {
        let exit = self.process.wait().await;
        self.tasks.settle(STDERR_GRACE).await;
        exit
    }

    /// The last lines of its stderr, to explain a failure with.
    pub fn stderr(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// The same for somebody who looks while it runs.
    pub fn stderr_tail(&self) -> Arc<StderrTail> {
        self.tail.clone()
    }

    /// Somebody who can wait for its end beside whoever holds it.
    pub fn witness(&self) -> Witness {
        Witness { exit: self.process.exits(), tail: self.tail.clone() }
    }

    /// Ends it: what waits is written and stdin closed, then after [`STDIN_GRACE`] SIGTERM, after [`TERM_GRACE`]
    /// SIGKILL, to the whole group (a guard is told to end all at once, and has [`TERM_GRACE`] for it). Gives how it ended and the last
    /// lines of its stderr.
    pub async fn shutdown(self) -> (Exit, Vec<String>) {
        self.shutdown_within(STDIN_GRACE, TERM_GRACE).await
    }

    /// As [`Child::shutdown`], with other times.
    pub async fn shutdown_within(
        mut self,
        stdin_grace: Duration,
        term_grace: Duration,
    ) -> (Exit, Vec<String>) {
        if let Some(outgoing) = &self.outgoing {
            outgoing.close_after_flush();
        }
        let exit = match self.wait_at_most(stdin_grace).await {
            Some(exit) => exit,
            None => {
                self.process.signal_group(Signal::TERM);
                match self.wait_at_most(term_grace).await {
                    Some(exit) => exit,
                    None => {
                        self.process.end_at_once();
                        if self.wait_at_most(TERM_GRACE).await.is_none() {
                            self.process.signal_group(Signal::KILL);
                        }
                        self.process.wait().await
                    }
                }
            }
        };
        self.tasks.settle(STDERR_GRACE).await;
        (exit, self.stderr())
    }

    async fn wait_at_most(&mut self, within: Duration) -> Option<Exit> {
        tokio::time::timeout(within, self.process.wait()).await.ok()
    }
}

/// Sees how a program ends, and what it says last.
#[derive(Debug, Clone)]
pub struct Witness {
    exit: watch::Receiver<Option<Exit>>,
    tail: Arc<StderrTail>,
}

impl Witness {
    /// How it ended, if it does within this time, and the last lines of its stderr.
    pub async fn end_within(mut self, within: Duration) -> (Option<Exit>, Vec<String>) {
        let ended = async {
            let exit = self.exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit);
            self.tail.read_whole().await;
            exit
        };
        let exit = tokio::time::timeout(within, ended).await.ok().flatten();
        // What came out of it before it left its stderr to others is worth showing too.
        (exit.or_else(|| *self.exit.borrow()), self.tail.lines())
    }
}
