//! What a server said beside its answers: its stderr, its notices, when it began and how it ended. For `parlor mcp log`.
//!
//! Bounded in memory and on disk, cleaned of what a screen would obey, with the values of the entry's variables masked. Of a server that
//! a UI brought for one session nothing is written. Said without waiting; written now and then by who looks after the server
//! ([`ServerLog::write`] blocks on the disk).

use crate::private_file::{hold, write_private};
use chrono::{SecondsFormat, Utc};
use domain::harmless;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The folder of all of them below the data folder.
const FOLDER: &str = "mcp-logs";
/// Largest file, in bytes; the oldest lines go first.
const MAX_FILE: usize = 128 * 1024;
/// Lines that wait to be written; the oldest go first, and that is said.
const MAX_WAITING: usize = 500;
/// Longest line, in characters.
const MAX_LINE: usize = 1_000;

/// The log of one server. Clones share it; the default one keeps nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerLog(Option<Arc<LogFile>>);

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    left_out: usize,
}

/// Where the log of a server lies; `project` brought it, if that was not the person.
fn path(data: &Path, project: Option<&Path>, name: &str) -> PathBuf {
    let project = project.unwrap_or(Path::new("")).display();
    let name = tools::digest::hex(format!("{project}\n{name}").as_bytes());
    data.join(FOLDER).join(format!("{name}.log"))
}

/// What is kept of what a server said; `None` where there is nothing. Reads a file.
pub fn log(data: &Path, project: Option<&Path>, name: &str) -> Option<String> {
    read(&path(data, project, name)).filter(|text| !text.is_empty())
}

/// The end of a log, as much as is kept.
fn read(path: &Path) -> Option<String> {
    let size = std::fs::metadata(path).ok()?.len();
    let bytes = if size <= 2 * MAX_FILE as u64 { std::fs::read(path).ok()? } else { return None };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl ServerLog {
    /// That of a server; `project` brought it, if that was not the person.
    pub(super) fn of(data: &Path, project: Option<&Path>, name: &str) -> ServerLog {
        ServerLog(Some(Arc::new(LogFile { path: path(data, project, name), waiting: Mutex::default() })))
    }

    /// Takes in a line; `kind` says in a word who says it.
    pub(crate) fn say(&self, kind: &str, text: &str) {
        let Some(file) = &self.0 else { return };
        let at = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let text: String = harmless::clean(text).chars().take(MAX_LINE).collect();
        let mut waiting = file.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.lines.len() >= MAX_WAITING {
            waiting.lines.pop_front();
            waiting.left_out += 1;
        }
        waiting.lines.push_back(format!("{at} {kind} {}", harmless::in_line(text.trim_end())));
    }

    /// Writes down what was said since the last time. Where that does not work it is lost: a log holds nothing up.
    pub(crate) fn write(&self) {
        let Some(file) = &self.0 else { return };
        let Waiting { lines, left_out } =
            std::mem::take(&mut *file.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if lines.is_empty() {
            return;
        }
        let Ok(_held) = hold(&file.path) else { return };
        let mut text = read(&file.path).unwrap_or_default();
        if left_out > 0 {
            let _ = writeln!(text, "[{left_out} lines were left out: it said more than is kept]");
        }
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        let excess = text.len().saturating_sub(MAX_FILE);
        if excess > 0 {
            let from = text
                .bytes()
                .skip(excess)
                .position(|byte| byte == b'\n')
                .map_or(text.len(), |at| excess + at + 1);
            text.drain(..from);
        }
        let _ = write_private(&file.path, &text);
    }

    /// The same from where blocking is not allowed.
    pub(crate) async fn written(&self) {
        let log = self.clone();
        let _ = tokio::task::spawn_blocking(move || log.write()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_harmless_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let said = ServerLog::of(dir.path(), None, "s");
        assert_eq!(log(dir.path(), None, "s"), None);
        said.say("stderr", "\u{1b}[2Jhello\nforged 2026 notice \u{202e}x");
        said.write();
        let text = log(dir.path(), None, "s").unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("stderr hello") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
        for round in 0..10 {
            for at in 0..2 * MAX_WAITING {
                said.say("stderr", &format!("{round} {at} {}", "ü".repeat(2 * MAX_LINE)));
            }
            said.write();
        }
        let text = log(dir.path(), None, "s").unwrap();
        assert!(text.len() <= MAX_FILE && text.contains(&format!("9 {} ", 2 * MAX_WAITING - 1)));
        assert!(!text.contains("stderr hello"));
        assert_eq!(log(dir.path(), Some(dir.path()), "s"), None, "a project's of that name is another one");
        ServerLog::default().write();
    }
}
