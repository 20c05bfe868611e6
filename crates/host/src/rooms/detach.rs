//! Starts this program once more, away from everybody: in a session of its own, without a terminal, with a log in the place of stdout
//! and stderr. A program in between starts it and ends, so that it is nobody's child: what lies below a Parlor is not believed by UIs,
//! and what a server started must not end with it. It passes on no descriptor but these three, whatever else was open where it was begun.

use anyhow::Context;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The hidden first argument that makes this program the one in between.
pub const DETACH: &str = "__detach";
/// How long the program in between may take.
const STARTED_WITHIN: Duration = Duration::from_secs(30);
/// The first descriptor behind stdin, stdout and stderr.
const FIRST_INHERITED: i32 = 3;
/// How much of the end of a log is read, and how many lines of it are shown.
const TAIL: u64 = 4096;
const TAIL_LINES: usize = 5;

/// An empty log. That something can be written there is tried first: a full disk would leave no words of whoever ends for lack of it.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn fresh(log: &Path) -> anyhow::Result<()> {
    let write = || {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(log)?;
        file.write_all(b"\n")?;
        file.set_len(0)
    };
    write().with_context(|| format!("{} cannot be written", log.display()))
}

/// Starts this program with these words; gives its number.
///
/// # Errors
/// When it cannot be started.
pub(crate) async fn start(
    words: &[OsString],
    cwd: &Path,
    environment: Option<Vec<(OsString, OsString)>>,
    log: &Path,
) -> anyhow::Result<u32> {
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    anyhow::ensure!(
        exe.exists(),
        "{} is not there any more; if Parlor was replaced, end its server and start the new one: parlor down, parlor up",
        exe.display()
    );
    let mut command = tokio::process::Command::new(exe);
    command.arg(DETACH).arg(log).args(words).current_dir(cwd);
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let told = tokio::time::timeout(STARTED_WITHIN, command.output()).await;
    let told = told.context("it could not be started in time")?.context("it could not be started")?;
    let pid = std::str::from_utf8(&told.stdout).ok().and_then(|pid| pid.trim().parse().ok());
    pid.ok_or_else(|| anyhow::anyhow!("{}", String::from_utf8_lossy(&told.stderr).trim().to_owned()))
}

/// The program in between: starts the program with the words behind the log, and gives its number.
///
/// # Errors
/// When it cannot be started.
pub fn between(args: &[OsString]) -> anyhow::Result<u32> {
    let [log, words @ ..] = args else { anyhow::bail!("no log is named") };
    let file =
        || -> std::io::Result<File> { File::options().append(true).create(true).mode(0o600).open(log) };
    let log = Path::new(log);
    let cannot = || format!("{} cannot be written", log.display());
    let (out, err) = (file().with_context(cannot)?, file().with_context(cannot)?);
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    // Whoever waits for the end of a pipe that was left open here would wait for a server that lives for weeks.
    close_fds::set_fds_cloexec(FIRST_INHERITED, &[]);
    let child = Command::new(exe).args(words).stdin(Stdio::null()).stdout(out).stderr(err).spawn();
    Ok(child.context("it could not be started")?.id())
}

/// Leaves the session, group and terminal of whoever started us; to be called by what was started.
pub(crate) fn leave() {
    // Where it cannot be done we lead a session already.
    let _ = rustix::process::setsid();
}

/// Whether a process of this number runs.
pub(crate) fn is_there(pid: u32) -> bool {
    let Some(number) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    if rustix::process::test_kill_process(number) == Err(rustix::io::Errno::SRCH) {
        return false;
    }
    // One that ended and was not taken leave of, where the first process of a container does not.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// What went wrong, with the end of the log below it.
pub(crate) fn with_last_words(why: &str, log: &Path) -> String {
    match last_words(log) {
        Some(lines) => format!("{why}: {lines}"),
        None => why.to_owned(),
    }
}

fn last_words(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    let last = last.strip_prefix("error: ").map_or(last.clone(), str::to_owned);
    (!last.is_empty()).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_the_end_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(with_last_words("gone", &log), "gone");
        std::fs::write(&log, format!("{}\n\nerror: one\n\u{ff}\n", "x".repeat(9_000))).unwrap();
        let said = with_last_words("gone", &log);
        assert!(said.ends_with("error: one\n\u{ff}") && said.len() < 5_000, "{said}");
        std::fs::write(&log, "error: no disk\n").unwrap();
        assert_eq!(with_last_words("gone", &log), "gone: no disk");
    }

    #[test]
    fn a_full_disk_is_told_before_anything_is_started() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        std::fs::write(&log, "old").unwrap();
        fresh(&log).unwrap();
        assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
        let full = dir.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let why = crate::error::in_words(&fresh(&full).unwrap_err());
        assert!(why.contains("cannot be written") && why.contains("No space left"), "{why}");
    }

    #[test]
    fn a_process_is_there_until_it_ended() {
        assert!(is_there(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        while is_there(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_there(4_194_305));
    }
}
