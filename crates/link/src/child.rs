//! A program started by us, as a link: its stdin and stdout are the lane, its stderr is kept to explain failures.
//!
//! Invariants: the program leads its own process group and the whole group ends with it, when it exits, when it is shut
//! down, and when the handle is dropped; a group is never signalled after its leader has been reaped, so that no
//! stranger with a reused id is hit; stderr is always drained, so that a talkative program never stalls.
//!
//! If we are killed outright, none of this runs: the program then sees the end of its stdin, which every dialect over
//! stdio takes as the end. For programs that do not, [`Launch::guard`] puts a guard program in front of the command
//! that ends it with us (for instance by the parent-death signal, which needs code that this crate forbids itself).

mod again;
mod process;
mod stderr;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;

use crate::lane_io::{AsyncSink, AsyncSource, Limits, LinkIo, Wiring};
use crate::outgoing::Outgoing;
use crate::tasks::Tasks;
use crate::{Lane, LinkError};

use process::Process;

pub use again::{MAX_RESTARTS, Restarted, start_again_on};
pub use process::Exit;
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
    /// A guard program and its arguments, put in front of the command. It leads the process group; it must leave the
    /// command in that group, hand it its own stdin, stdout and stderr, pass on its exit, and end it when our process
    /// is gone.
    pub guard: Vec<OsString>,
    /// Added to our environment.
    pub env: Vec<(OsString, OsString)>,
    /// Taken out of our environment.
    pub env_remove: Vec<OsString>,
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
    pub fn start_bytes(self) -> Result<Bytes, LinkError> {
        let mut words = self.guard.iter().chain(&self.command);
        let program = words.next().filter(|_| !self.command.is_empty()).ok_or(LinkError::NoCommand)?;
        let failed = |source| LinkError::Spawn { program: program.to_string_lossy().into_owned(), source };

        let mut command = Command::new(program);
        command.args(words).envs(self.env.iter().map(|(key, value)| (key, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        self.env_remove.iter().for_each(|key| {
            command.env_remove(key);
        });
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on the group is watched, so that an early return below ends it.
        let process = Process::watch(child).map_err(failed)?;
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
}

/// A program whose bytes are spoken directly.
#[derive(Debug)]
pub struct Bytes {
    /// What it hears.
    pub stdin: tokio::process::ChildStdin,
    /// What it says.
    pub stdout: tokio::process::ChildStdout,
    /// The program.
    pub child: Child,
}

/// The running program. Dropping it kills its whole group.
#[derive(Debug)]
pub struct Child {
    process: Process,
    tail: Arc<StderrTail>,
    tasks: Tasks,
    outgoing: Option<Outgoing>,
}

impl Child {
    /// Its process id, which is also the id of its group.
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

    /// Ends it: what waits is written and stdin closed, then after [`STDIN_GRACE`] SIGTERM, after [`TERM_GRACE`]
    /// SIGKILL, to the whole group. Gives how it ended and the last lines of its stderr.
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
                        self.process.signal_group(Signal::KILL);
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
