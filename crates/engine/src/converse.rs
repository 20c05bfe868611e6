//! One question to a program of the person's and its answer: text on stdin, text on stdout, what went wrong on stderr.
//!
//! One process per question, with a cleaned environment, in a session without a terminal (where there is a guard). It does not outlive
//! the question: whoever stops waiting ends it.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tools::sandbox::{Guard, Leash, handed_on};

/// What is kept of what it says on stderr, in bytes.
const MAX_COMPLAINT: u64 = 2_000;

/// How long a program may take to end that is told to.
const END_WITHIN: Duration = Duration::from_secs(2);

/// What is started for a question, and how it is held.
pub(crate) struct AskedProgram<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) cwd: &'a Path,
    /// What it gets beside the harmless variables of ours.
    pub(crate) env: &'a [(&'a str, OsString)],
    /// What holds it, and how; `None` where there is no guard.
    pub(crate) held: Option<(&'a Guard, Leash)>,
}

/// An answer, with how the program ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    /// At most one byte more than was asked for.
    pub(crate) answer: Vec<u8>,
    /// The beginning of what it said on stderr.
    pub(crate) complaint: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    NotStarted(io::Error),
    /// Its end could not be waited for.
    Lost(io::Error),
}

/// The process group, which does not outlive this value.
struct Group {
    child: Child,
    guarded: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal();
    }
}

impl Group {
    fn signal(&self) {
        // No id any more: it has ended and was waited for; its group may hold others still, but its number may be reused.
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ = kill_process_group(pid, if self.guarded { Signal::TERM } else { Signal::KILL });
        }
    }
}

impl AskedProgram<'_> {
    fn start(&self) -> io::Result<Group> {
        let mut command: Command = match &self.held {
            Some((guard, leash)) => guard.command(OsStr::new(self.name), leash).into(),
            None => Command::new(self.name),
        };
        let guarded = self.held.is_some();
        let mut env = tools::env::cleaned(std::env::vars_os());
        env.extend(self.env.iter().map(|(name, value)| (OsString::from(name), value.clone())));
        command
            .args(self.args)
            .current_dir(self.cwd)
            .env_clear()
            .envs(if guarded { handed_on(env).collect() } else { env })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        Ok(Group { child: command.spawn()?, guarded })
    }
}

/// Asks a program; hears at most `most` bytes of its answer, and one more where there are more.
///
/// # Errors
/// When it cannot be started or waited for.
pub(crate) async fn converse(program: &AskedProgram<'_>, question: &str, most: u64) -> Result<Said, Silence> {
    let mut group = program.start().map_err(Silence::NotStarted)?;
    heard(&mut group, question, most).await
}

/// The same until something else happens: `None`, and the program has ended, unless it cannot be ended in time.
///
/// # Errors
/// When it cannot be started or waited for.
pub(crate) async fn converse_until(
    program: &AskedProgram<'_>,
    question: &str,
    most: u64,
    over: impl Future<Output = ()>,
) -> Result<Option<Said>, Silence> {
    let mut group = program.start().map_err(Silence::NotStarted)?;
    let said = tokio::select! {
        biased;
        () = over => None,
        said = heard(&mut group, question, most) => Some(said?),
    };
    if said.is_none() {
        group.signal();
        let _ = tokio::time::timeout(END_WITHIN, group.child.wait()).await;
    }
    Ok(said)
}

async fn heard(group: &mut Group, question: &str, most: u64) -> Result<Said, Silence> {
    let (input, output, errors) =
        (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
    let say = async {
        if let Some(mut input) = input {
            // It need not read what it is told.
            let _ = input.write_all(question.as_bytes()).await;
            let _ = input.write_all(b"\n").await;
        }
    };
    let hear = async {
        let mut answer = Vec::new();
        if let Some(output) = output {
            let _ = output.take(most + 1).read_to_end(&mut answer).await;
        }
        answer
    };
    let complaint = async {
        let mut words = Vec::new();
        if let Some(mut errors) = errors {
            let _ = (&mut errors).take(MAX_COMPLAINT).read_to_end(&mut words).await;
            // The rest is drained, so that a talkative one never waits.
            let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
        }
        String::from_utf8_lossy(&words).trim().to_owned()
    };
    let ((), answer, complaint) = tokio::join!(say, hear, complaint);
    let complaint = models::redact(&complaint, None);
    let status = group.child.wait().await.map_err(Silence::Lost)?;
    Ok(Said { status, answer, complaint })
}
