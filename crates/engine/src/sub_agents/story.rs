//! What is told in a session of what a sub-agent in it does: its calls as lines of the one tool run, its questions under its name, its last
//! words as the result. Pure.
//!
//! A consent is for one tool run of the record, and a sub-agent's calls are none: so it is asked as a choice, with all that a consent shows.

use domain::ask::{Answer, Ask, AskKind, Choice, Closing, Consent, Preview, Risk, Scope};
use domain::content::Usage;
use domain::harmless;
use domain::ids::{AskId, RunId, StepId, ToolRunId};
use domain::tool::{Progress, ToolOutcome};
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of a call in a line.
const MAX_CALL: usize = 160;
/// Most lines that are told of one sub-agent; what it does after that is in its last words alone.
const MAX_LINES: usize = 1_000;
/// Bytes of its words that are held.
const MAX_WORDS: usize = 256 * 1024;
/// Arguments that say best what a call is about.
const TELLING: &[&str] = &["command", "path", "pattern", "url", "name", "id"];
/// What may be chosen where a consent is asked for.
const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const DENY: &str = "deny";

/// What one sub-agent has done so far.
#[derive(Debug, Default)]
pub(crate) struct Story {
    calls: BTreeMap<ToolRunId, String>,
    words: String,
    lines: usize,
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
        self.calls.insert(tool, harmless::in_line(line.trim()).chars().take(MAX_CALL).collect());
    }

    /// A call is about to run.
    pub(crate) fn starts(&self, tool: ToolRunId) -> Progress {
        let message = self.calls.get(&tool).cloned().unwrap_or_default();
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
        self.lines += 1;
        let end = if self.lines == MAX_LINES { "\n… more is not shown" } else { "" };
        (self.lines <= MAX_LINES).then(|| Progress::Output(format!("{text}{end}\n")))
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
/// would stand under another question's name.
pub(crate) fn asked_in_parent(ask: Ask, agent: &str, (id, run): (AskId, RunId)) -> Option<Ask> {
    let kind = match ask.kind {
        AskKind::Consent(consent) => consent_as_choice(&consent),
        AskKind::Text { secret: true, .. } => return None,
        kind => kind,
    };
    let title = format!("Sub-agent {agent} asks: {}", ask.title);
    Some(Ask { id, run: Some(run), title, kind, deadline: ask.deadline })
}

/// Words of ours without the marks around code: a question with choices tells its words as they are. Code with marks in it keeps them.
fn unmarked(words: &str) -> String {
    if words.matches('`').count() == 2 { words.replace('`', "") } else { words.to_owned() }
}

fn consent_as_choice(consent: &Consent) -> AskKind {
    let choice = |id: &str, label: &str, detail: Option<&str>| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        detail: detail.map(str::to_owned),
    };
    let rule = consent.rule.as_deref().map(unmarked);
    let lasting = rule.as_deref().map(|rule| {
        [
            choice(SESSION, "Allow for this session", Some(rule)),
            choice(ALWAYS, "Always allow in this project", Some(rule)),
        ]
    });
    let choices = std::iter::once(choice(ONCE, "Allow once", None))
        .chain(lasting.into_iter().flatten())
        .chain([choice(DENY, "Deny", Some("it is told that, and goes on"))]);
    let shown = match &consent.preview {
        Some(Preview::Text(text)) => text.clone(),
        Some(Preview::Command { line, .. }) => line.clone(),
        Some(Preview::Diff { path, text }) => format!("{path}\n{text}"),
        None => consent.args.as_str().to_owned(),
    };
    let shown = harmless::marked(&shown);
    let assessment = &consent.assessment;
    let undo = if assessment.reversible { "" } else { ", cannot be undone" };
    let reasons: String =
        assessment.reasons.iter().map(|reason| format!("\n· {}", unmarked(reason))).collect();
    let message = format!("{} risk{undo}{reasons}\n\n{shown}", risk(assessment.risk));
    AskKind::Choose { message, choices: choices.collect(), many: false }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "Low",
        Risk::Medium => "Medium",
        Risk::High => "High",
        Risk::Critical => "Critical",
    }
}

/// What the answer in the parent means for the sub-agent's question.
pub(crate) fn answer_of(kind: &AskKind, closing: Closing) -> Closing {
    let (AskKind::Consent(consent), Closing::Answered { answer, by }) = (kind, &closing) else {
        return closing;
    };
    let allow = |scope| Answer::Allow { scope, digest: Some(consent.digest.clone()) };
    let chosen = match answer {
        Answer::Chosen(chosen) => chosen.first().map(String::as_str),
        _ => None,
    };
    let answer = match chosen {
        Some(ONCE) => allow(Scope::Once),
        Some(SESSION) => allow(Scope::Session),
        Some(ALWAYS) => allow(Scope::Always),
        Some(_) => Answer::Deny { reason: Some("the person denied it".to_owned()) },
        None => Answer::Deny { reason: None },
    };
    Closing::Answered { answer, by: by.clone() }
}

/// The sub-agent's own closing of its question, by a rule or another mode, as it is told in the parent.
pub(crate) fn closed_in_parent(closing: Closing) -> Closing {
    match closing {
        Closing::Answered { answer: Answer::Allow { .. }, by } => {
            Closing::Answered { answer: Answer::Chosen(vec![ONCE.to_owned()]), by }
        }
        closing => closing,
    }
}
