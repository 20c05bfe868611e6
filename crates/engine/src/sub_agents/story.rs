//! What is told in a session of what a sub-agent in it does: its calls as lines of the one tool run, its questions under its name, its last
//! words as the result. Pure.
//!
//! A sub-agent's calls are no tool runs of the record: a consent for one is about the tool run that the sub-agent is, while that runs.

use domain::ask::{Ask, AskKind, Consent};
use domain::content::Usage;
use domain::harmless;
use domain::ids::{AskId, RunId, StepId, ToolRunId};
use domain::tool::{Progress, ToolOutcome};
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of a call in the record: as many as of a command that a person is asked about on a screen of their own; past it the line says
/// how many there were.
const MAX_CALL: usize = 4_000;
/// Characters of a call that runs now, which stand in one row.
const MAX_NOW: usize = 160;
/// Characters of its task by which it is told from another one of its name.
const MAX_TASK: usize = 40;
/// Most lines that are told of one sub-agent; what it does after that is in its last words alone.
const MAX_LINES: usize = 1_000;
/// Most bytes of those lines.
const MAX_TOLD: usize = 160_000;
/// Bytes of its words that are held.
const MAX_WORDS: usize = 256 * 1024;
/// Arguments that say best what a call is about.
const TELLING: &[&str] = &["command", "path", "pattern", "url", "name", "id"];

/// What one sub-agent has done so far.
#[derive(Debug, Default)]
pub(crate) struct Story {
    calls: BTreeMap<ToolRunId, String>,
    words: String,
    lines: usize,
    told: usize,
    done: u64,
    requests: u64,
    cost_micros: u64,
    billed: Option<StepId>,
}

impl Story {
    /// The model wants a call.
    pub(crate) fn proposed(&mut self, tool: ToolRunId, name: &str, args: &str) {
        let args: Value = serde_json::from_str(args).unwrap_or_default();
        let about = TELLING.iter().find_map(|key| args[*key].as_str());
        let line = format!("{name} {}", about.unwrap_or_default());
        let line = harmless::in_line(line.trim());
        let said = line.chars().count();
        let line = match said > MAX_CALL {
            true => format!("{} ({said} characters)", cut(&line, MAX_CALL)),
            false => line,
        };
        self.calls.insert(tool, line);
    }

    /// A call is about to run.
    pub(crate) fn starts(&self, tool: ToolRunId) -> Progress {
        let message = self.calls.get(&tool).map(|call| shortened(call)).unwrap_or_default();
        Progress::Status { percent: None, message }
    }

    /// A call is over: its line, while there is room.
    pub(crate) fn ended(&mut self, tool: ToolRunId, outcome: &ToolOutcome) -> Option<Progress> {
        let call = self.calls.remove(&tool)?;
        self.done += 1;
        let how = match outcome {
            ToolOutcome::Done => "",
            ToolOutcome::Failed => " (failed)",
            ToolOutcome::Denied => " (denied)",
            ToolOutcome::Skipped | ToolOutcome::Cancelled | ToolOutcome::Unknown => " (not run)",
        };
        self.line(&format!("{call}{how}"))
    }

    /// A line of its output, while there is room.
    pub(crate) fn line(&mut self, text: &str) -> Option<Progress> {
        if self.lines >= MAX_LINES || self.told >= MAX_TOLD {
            return None;
        }
        (self.lines, self.told) = (self.lines + 1, self.told + text.len());
        let is_last = self.lines == MAX_LINES || self.told >= MAX_TOLD;
        let end = if is_last { "\n… more is not shown" } else { "" };
        Some(Progress::Output(format!("{text}{end}\n")))
    }

    /// It begins to say something.
    pub(crate) fn speaks(&mut self) {
        self.words.clear();
    }

    /// Adds to what is shown of it, as long as there is room.
    pub(crate) fn says(&mut self, text: &str) {
        if self.words.len() + text.len() <= MAX_WORDS {
            self.words.push_str(text);
        }
    }

    /// What it said last.
    pub(crate) fn last_words(&self) -> &str {
        self.words.trim()
    }

    /// An answer of its model is paid for; what of it is new.
    pub(crate) fn billed(&mut self, step: StepId, usage: Usage) -> Option<Usage> {
        if self.billed.replace(step) == Some(step) {
            return None;
        }
        self.requests += 1;
        self.cost_micros = self.cost_micros.saturating_add(usage.cost_micros);
        Some(usage)
    }

    /// How far it is.
    pub(crate) fn status(&self) -> Progress {
        let (requests, calls) = (counted(self.requests, "answer"), counted(self.done, "call"));
        let cost = match self.cost_micros {
            0 => String::new(),
            micros => format!(", ${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100),
        };
        Progress::Status { percent: None, message: format!("{requests}, {calls}{cost}") }
    }

    /// The same as the result has it.
    pub(crate) fn figures(&self, agent: &str) -> Value {
        serde_json::json!({
            "agent": agent,
            "answers": self.requests,
            "calls": self.done,
            "cost_micros": self.cost_micros,
        })
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A sub-agent's question as it is asked in its parent, with who asks; `None` for one that is not asked there: what is typed as a secret
/// would stand under another question's name. A consent is about the parent's tool run, which goes on running whatever is said to it.
pub(crate) fn asked_in_parent(
    ask: Ask,
    who: &str,
    tool: ToolRunId,
    (id, run): (AskId, RunId),
) -> Option<Ask> {
    let kind = match ask.kind {
        AskKind::Consent(consent) => AskKind::Consent(Box::new(Consent { tool, ..*consent })),
        AskKind::Text { secret: true, .. } => return None,
        kind => kind,
    };
    let title = format!("Sub-agent {who} asks: {}", ask.title);
    Some(Ask { id, run: Some(run), title, kind, deadline: ask.deadline })
}

/// Who asks, so that two of one name can be told apart: the name with the first words of the task.
pub(crate) fn named_by_task(agent: &str, title: &str) -> String {
    let plain = title.replace(['“', '”', '"'], "'");
    format!("{agent} “{}”", cut(&plain, MAX_TASK))
}

/// A call or a command in one row.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, MAX_NOW)
}

/// The first characters, with a mark where more follow.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
