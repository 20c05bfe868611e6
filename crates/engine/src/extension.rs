//! Extensions: the person's own commands that answer in JSON. One process per question: JSON on stdin, JSON on stdout.
//!
//! An extension runs with a cleaned environment, in a session without a terminal (where there is a guard), and ends with the deadline
//! at the latest.

use crate::config::Extension;
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tools::sandbox::{Guard, Leash, handed_on};

/// Longest answer, in bytes.
const MAX_ANSWER: u64 = 10 * 1024 * 1024;
/// What is kept of what it says on stderr, in bytes.
const MAX_COMPLAINT: u64 = 2_000;

/// The process group of an extension, which does not outlive this value.
struct Group {
    child: Child,
    guarded: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        // No id any more: it has ended and was waited for; its group may hold others still, but its number may be reused.
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ = kill_process_group(pid, if self.guarded { Signal::TERM } else { Signal::KILL });
        }
    }
}

/// Asks an extension.
///
/// # Errors
/// When it cannot be started, takes too long, fails, or answers something that is not JSON.
pub(crate) async fn ask(
    name: &str,
    extension: &Extension,
    payload: &Json,
    cwd: &Path,
    guard: Option<&Guard>,
) -> Result<Json, Refusal> {
    match tokio::time::timeout(extension.deadline, answer(name, extension, payload, cwd, guard)).await {
        Ok(answer) => answer,
        Err(_) => {
            let what = format!("{name} did not answer within {} seconds", extension.deadline.as_secs());
            let hint = format!("raise extensions.{name}.timeout_s if it needs longer");
            Err(Refusal::new(RefusalKind::TimedOut, what).hint(hint))
        }
    }
}

async fn answer(
    name: &str,
    extension: &Extension,
    payload: &Json,
    cwd: &Path,
    guard: Option<&Guard>,
) -> Result<Json, Refusal> {
    let refused = |what: String| Refusal::new(RefusalKind::Internal, format!("{name}: {what}"));
    let Some((program, args)) = extension.command.split_first() else {
        return Err(refused("it names no program".to_owned()));
    };
    let child = start(program, args, cwd, guard).map_err(|why| {
        refused(format!("{program} cannot be started: {why}"))
            .hint(format!("correct extensions.{name}.command in your settings"))
    })?;
    let mut group = Group { child, guarded: guard.is_some() };
    let (input, output, errors) =
        (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
    let say = async {
        if let Some(mut input) = input {
            // It need not read what it is told.
            let _ = input.write_all(payload.as_str().as_bytes()).await;
            let _ = input.write_all(b"\n").await;
        }
    };
    let hear = async {
        let mut answer = Vec::new();
        if let Some(output) = output {
            let _ = output.take(MAX_ANSWER + 1).read_to_end(&mut answer).await;
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
    if answer.len() as u64 > MAX_ANSWER {
        return Err(refused(format!("its answer is larger than {} MB", MAX_ANSWER / 1024 / 1024)));
    }
    let status = group.child.wait().await.map_err(|why| refused(why.to_string()))?;
    if !status.success() {
        let complaint = models::redact(&complaint, None);
        let words = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
        return Err(refused(format!("it failed ({status}){words}")));
    }
    let text = String::from_utf8_lossy(&answer);
    let json: Box<serde_json::value::RawValue> =
        serde_json::from_str(text.trim()).map_err(|why| refused(format!("its answer is not JSON: {why}")))?;
    Ok(Json::verbatim(String::from(Box::<str>::from(json))))
}

/// What it knows of our environment.
fn variables(guarded: bool) -> Vec<(OsString, OsString)> {
    let cleaned = tools::env::cleaned(std::env::vars_os());
    if guarded { handed_on(cleaned).collect() } else { cleaned }
}

fn start(program: &str, args: &[String], cwd: &Path, guard: Option<&Guard>) -> std::io::Result<Child> {
    let mut command: Command = match guard {
        // The person wrote the command down for themselves: it is watched, not limited.
        Some(guard) => guard
            .command(OsStr::new(program), &Leash { free: true, network: true, ..Leash::default() })
            .into(),
        None => Command::new(program),
    };
    command
        .args(args)
        .current_dir(cwd)
        .env_clear()
        .envs(variables(guard.is_some()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command.spawn()
}
