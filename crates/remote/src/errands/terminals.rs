//! Commands that a foreign runtime had us start: background commands of our shell tool, by the names that the runtime knows.

use domain::errand::{CommandEnd, CommandErrand, Errand, ErrandCause, ErrandDone, ErrandId, ErrandNews};
use domain::tool::{ToolOutcome, ToolResult};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tools::bash::JobState;
use tools::{Outcome, ToolContext};

/// How long the end of a command is awaited: as long as the program lives.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// How often it is looked what a command has written.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How the shell tool names its background commands.
const JOB: &str = "job-";

/// Where news of errands go.
type Tell = mpsc::Sender<(ErrandId, ErrandNews)>;

/// The commands that can be asked about.
#[derive(Default)]
pub(super) struct Terminals(Mutex<TerminalTable>);

#[derive(Default)]
struct TerminalTable {
    known: BTreeMap<String, Terminal>,
    /// Errands whose command is just being started, and whether it is still wanted.
    starting: BTreeMap<ErrandId, bool>,
}

#[derive(Clone, Copy)]
struct Terminal {
    errand: ErrandId,
    job: u64,
    output_limit: Option<u64>,
}

/// The arguments of the shell tool for a command.
pub(super) fn args(command: &CommandErrand) -> Value {
    let CommandErrand { command, args, env, cwd, .. } = command;
    let is_line = args.is_empty();
    let set = |(name, value): &(String, String)| format!("{name}={}", quoted(value));
    let sets: Vec<String> = env.iter().map(set).collect();
    let mut line = match (is_line, sets.is_empty()) {
        (_, true) => String::new(),
        (true, false) => format!("export {}; ", sets.join(" ")),
        (false, false) => format!("{} ", sets.join(" ")),
    };
    if is_line {
        line.push_str(command);
    } else {
        let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
        line.push_str(&words.join(" "));
    }
    match cwd {
        Some(cwd) => json!({ "command": line, "background": true, "workdir": cwd }),
        None => json!({ "command": line, "background": true }),
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

impl Terminals {
    fn lock(&self) -> MutexGuard<'_, TerminalTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A command was started, or could not be. Waits for its end, which is told too.
    pub(super) async fn started(
        &self,
        id: ErrandId,
        outcome: &Outcome,
        output_limit: Option<u64>,
        place: &ToolContext,
        tell: &Tell,
    ) {
        let json: Value = outcome
            .result
            .json
            .as_ref()
            .and_then(|json| serde_json::from_str(json.as_str()).ok())
            .unwrap_or_default();
        let number =
            json.get("job").and_then(Value::as_str).and_then(|name| name.strip_prefix(JOB)?.parse().ok());
        let (ToolOutcome::Done, Some(job)) = (&outcome.outcome, number) else {
            self.lock().starting.remove(&id);
            let (cause, why) = (ErrandCause::Failed, outcome.result.text.clone());
            let _ = tell.send((id, ErrandNews::Refused { cause, why })).await;
            return;
        };
        let name = format!("terminal-{job}");
        let is_wanted = {
            let mut book = self.lock();
            let is_wanted = book.starting.remove(&id).unwrap_or(true);
            if is_wanted {
                book.known.insert(name.clone(), Terminal { errand: id, job, output_limit });
            }
            is_wanted
        };
        if !is_wanted {
            place.jobs().stop_and_wait(job).await;
            return;
        }
        let started = ErrandNews::Done { done: ErrandDone::Started(name), seen: None };
        let _ = tell.send((id, started)).await;
        tell_output(id, job, place, tell).await;
        let result = match place.jobs().read(job) {
            Some((report, text, truncated)) => {
                ToolResult { truncated, ..ToolResult::text(with_end(&text, report.state)) }
            }
            None => ToolResult::default(),
        };
        let _ = tell.send((id, ErrandNews::Over(result))).await;
    }

    /// Does what is wanted with a command that was started.
    pub(super) async fn tend(&self, id: ErrandId, errand: Errand, place: &ToolContext, tell: &Tell) {
        let (Errand::Output { terminal: name }
        | Errand::Wait { terminal: name }
        | Errand::Kill { terminal: name }
        | Errand::Release { terminal: name }) = &errand
        else {
            return;
        };
        let found = self.lock().known.get(name).copied();
        let news = match found {
            Some(terminal) => self.tend_one(terminal, &errand, place).await,
            None => None,
        };
        let missing = || {
            let why = format!("terminal {name} not found: it was released, or never started here");
            ErrandNews::Refused { cause: ErrandCause::Missing, why }
        };
        let _ = tell.send((id, news.unwrap_or_else(missing))).await;
    }

    async fn tend_one(&self, terminal: Terminal, errand: &Errand, place: &ToolContext) -> Option<ErrandNews> {
        let jobs = place.jobs();
        let done = match errand {
            Errand::Output { .. } => {
                let (report, text, truncated) = jobs.read(terminal.job)?;
                let (text, cut) = last_of(text, terminal.output_limit);
                ErrandDone::Output { text, truncated: truncated || cut, end: end_of(report.state) }
            }
            Errand::Wait { .. } => {
                jobs.wait(terminal.job, FOREVER).await;
                ErrandDone::Ended(end_of(jobs.read(terminal.job)?.0.state)?)
            }
            Errand::Kill { .. } => {
                jobs.stop_and_wait(terminal.job).await;
                ErrandDone::Nothing
            }
            Errand::Release { terminal: name } => {
                self.lock().known.remove(name);
                jobs.stop_and_wait(terminal.job).await;
                ErrandDone::Nothing
            }
            _ => return None,
        };
        Some(ErrandNews::Done { done, seen: None })
    }

    /// A command is about to be started.
    pub(super) fn starting(&self, id: ErrandId) {
        self.lock().starting.insert(id, true);
    }

    /// Nobody wants the command any more that this errand started; whether it is just being started, and ends when that is done.
    pub(super) fn drop_of(&self, id: ErrandId, place: &ToolContext) -> bool {
        let mut book = self.lock();
        if let Some(is_wanted) = book.starting.get_mut(&id) {
            *is_wanted = false;
            return true;
        }
        let job = book.known.values().find(|terminal| terminal.errand == id).map(|terminal| terminal.job);
        drop(book);
        if let Some(job) = job {
            place.jobs().stop(job);
        }
        false
    }
}

/// Tells what a command writes as it comes, until it is over. Once something had to be left out, the rest is told with its end.
async fn tell_output(id: ErrandId, job: u64, place: &ToolContext, tell: &Tell) {
    let mut told = 0;
    loop {
        place.jobs().wait(job, LOOK_EVERY).await;
        let Some((report, text, truncated)) = place.jobs().read(job) else { return };
        if report.state != JobState::Running {
            return;
        }
        if truncated {
            return place.jobs().wait(job, FOREVER).await;
        }
        // The beginning of a character that has not come whole.
        let text = text.trim_end_matches('\u{fffd}');
        if let Some(more) = text.get(told..).filter(|more| !more.is_empty()) {
            let _ = tell.send((id, ErrandNews::Wrote(more.to_owned()))).await;
            told = text.len();
        }
    }
}

fn end_of(state: JobState) -> Option<CommandEnd> {
    match state {
        JobState::Running => None,
        JobState::Exited(code) => Some(CommandEnd::Exited(code)),
        JobState::Stopped => Some(CommandEnd::Stopped),
    }
}

/// What a person reads of a command that is over.
fn with_end(text: &str, state: JobState) -> String {
    let note = match state {
        JobState::Exited(Some(0)) | JobState::Running if text.is_empty() => "(no output)".to_owned(),
        JobState::Exited(Some(0)) | JobState::Running => return text.to_owned(),
        JobState::Exited(Some(code)) => format!("(exit code {code})"),
        JobState::Exited(None) => "(ended by a signal)".to_owned(),
        JobState::Stopped => "(stopped)".to_owned(),
    };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}{note}")
}

/// The last bytes of an output, and whether something was left out.
fn last_of(text: String, limit: Option<u64>) -> (String, bool) {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let Some(excess) = text.len().checked_sub(limit).filter(|excess| *excess > 0) else {
        return (text, false);
    };
    let cut = (excess..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    (text.get(cut..).unwrap_or_default().to_owned(), true)
}
