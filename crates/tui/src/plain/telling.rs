//! What happens in the session, line by line: one for each change of state. Pure.

use super::words::{Speech, aloud, diff, many, prompted, some_of, span};
use crate::cell::summary;
use crate::clean::{clean, clean_line};
use crate::diff::counts;
use domain::content::{Part, Role, TextKind};
use domain::event::{
    Body, Cause, ContextEvent, Finish, Leaving, MessageEvent, NoteEvent, Outcome, PlanState, QueueEvent,
    RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{EntryId, MessageId, Millis, RunId, ToolRunId};
use domain::session::Effort;
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, Message, State};
use domain::tool::{Progress, ToolOutcome, ToolRun};
use std::collections::{BTreeMap, BTreeSet};

/// The same field of a runtime's status is told again after this long, at the earliest.
const STATUS_MS: u64 = 10_000;
/// Fields whose last time is kept.
const MAX_FIELDS: usize = 64;
/// When a run that goes on is spoken of, in seconds; after the last of them every so many again.
const STILL: &[u64] = &[10, 30, 60];

/// What was told so far.
#[derive(Debug, Default)]
pub(super) struct Telling {
    speech: Speech,
    /// The message that is being said.
    saying: Option<MessageId>,
    /// Bytes of its text that were taken.
    heard: BTreeMap<MessageId, usize>,
    /// Entries that were told, whole or in part.
    told: BTreeSet<EntryId>,
    /// The thought that was spoken of.
    thinking: Option<MessageId>,
    /// How far each tool was when it was told.
    progress: BTreeMap<ToolRunId, String>,
    /// When each field of the status was told, and what it said.
    fields: BTreeMap<String, (Millis, String)>,
    /// Seconds of the run under way at which it was spoken of.
    still: u64,
    /// A run has begun, and it is not said yet: the prompt that begins it goes first.
    begins: bool,
    /// Prompts that the person sees, since they typed them where typing is shown.
    typed: Vec<String>,
}

/// How far the prompt that begins a run was told.
enum Prompts {
    /// It may still come.
    Begins,
    Told,
    /// None comes any more.
    Over,
}

fn prompts(state: &State, body: &Body) -> Prompts {
    let message = match body {
        Body::Run(RunEvent::Started { .. } | RunEvent::TurnStarted { .. }) | Body::Session(_) => {
            return Prompts::Begins;
        }
        Body::Message(
            MessageEvent::Started { message, .. }
            | MessageEvent::Delta { message, .. }
            | MessageEvent::PartAdded { message, .. }
            | MessageEvent::Ended { message, .. },
        ) => *message,
        _ => return Prompts::Over,
    };
    match (state.message(message).map(|said| said.role), body) {
        (Some(Role::User), Body::Message(MessageEvent::Ended { .. })) => Prompts::Told,
        (Some(Role::User), _) => Prompts::Begins,
        _ => Prompts::Over,
    }
}

impl Telling {
    /// The person typed this prompt, and sees it.
    pub(super) fn typed(&mut self, prompt: &str) {
        self.typed.push(prompt.trim().to_owned());
    }

    /// A session is shown: what of it was not told yet. Of a past that was never told, only the last words.
    pub(super) fn shown(&mut self, state: &State, again: bool) -> Vec<String> {
        let mut lines = self.break_off();
        if !again {
            *self = Telling { typed: std::mem::take(&mut self.typed), ..Telling::default() };
            let path: Vec<EntryId> = state.path().iter().map(|entry| entry.id).collect();
            let is_prompt = |id: &EntryId| {
                state.message(MessageId(id.0)).is_some_and(|message| message.role == Role::User)
            };
            let from = path.iter().rposition(is_prompt).unwrap_or(path.len());
            if !path.is_empty() {
                let title = clean_line(&state.title());
                lines.push(format!(
                    "Going on with \"{title}\", {} so far. \"/print\" tells them all. The last:",
                    many(path.len() as u64, "entry").replace("entrys", "entries")
                ));
            }
            self.told.extend(&path[..from]);
        }
        lines.extend(self.rest(state));
        lines
    }

    /// All of the conversation.
    pub(super) fn all(state: &State) -> Vec<String> {
        Telling::default().rest(state)
    }

    /// The entries that were not told.
    fn rest(&mut self, state: &State) -> Vec<String> {
        let mut lines = Vec::new();
        for entry in state.path() {
            if !self.told.insert(entry.id) {
                continue;
            }
            match &entry.kind {
                EntryKind::Message(message) if message.role == Role::User => {
                    lines.push(prompted(&message.text()));
                }
                EntryKind::Message(message) => lines.extend(self.whole(state, message)),
                EntryKind::Compaction(_) => lines.push(SUMMARISED.to_owned()),
                EntryKind::Notice { level, text, .. } => lines.extend(noticed(*level, text)),
            }
        }
        lines
    }

    /// A message of the model's as it stands now, with its tools.
    fn whole(&mut self, state: &State, message: &Message) -> Vec<String> {
        let mut lines = self.said(message.id, &message.text());
        if message.finish.is_some() {
            lines.extend(self.break_off());
        }
        let tools = message.tools().filter_map(|tool| state.tool(tool));
        lines.extend(tools.filter(|tool| tool.ended()).map(tool_ended));
        lines
    }

    /// Something happened; `state` has it already.
    pub(super) fn happened(&mut self, state: &State, at: Millis, body: &Body) -> Vec<String> {
        let mut lines = self.tell(state, at, body);
        let place = match prompts(state, body) {
            Prompts::Begins => return lines,
            Prompts::Told => lines.len(),
            Prompts::Over => 0,
        };
        if std::mem::take(&mut self.begins) {
            lines.insert(place, "Working.".to_owned());
        }
        lines
    }

    fn tell(&mut self, state: &State, at: Millis, body: &Body) -> Vec<String> {
        let mut lines = Vec::new();
        // What the model says is told to its end before anything else is.
        if !matches!(body, Body::Message(_) | Body::Context(ContextEvent::Measured { .. }) | Body::Queue(_)) {
            lines.extend(self.break_off());
        }
        match body {
            Body::Message(event) => lines.extend(self.message(state, event)),
            Body::Run(event) => lines.extend(self.run(state, at, event)),
            Body::Tool(event) => lines.extend(self.tool(state, event)),
            Body::Session(event) => lines.extend(session(state, event)),
            Body::Queue(event) => lines.extend(queue(event)),
            Body::Context(ContextEvent::Compacted { entry, .. }) => {
                self.told.insert(*entry);
                lines.push(SUMMARISED.to_owned());
            }
            Body::Note(NoteEvent::Noticed { entry, level, text, .. }) => {
                self.told.insert(*entry);
                lines.extend(noticed(*level, text));
            }
            Body::Note(NoteEvent::PlanChanged { items }) => {
                let done = items.iter().filter(|item| item.state == PlanState::Done).count();
                let now = items.iter().find(|item| item.state == PlanState::Active);
                let now = now.map(|item| format!(" Now: {}", clean_line(&item.text))).unwrap_or_default();
                lines.push(format!("Plan: {done} of {} done.{now}", items.len()));
            }
            // Questions are told where they stand in line, not when they come.
            Body::Ask(_) | Body::Context(ContextEvent::Measured { .. }) | Body::Rebased(_) => {}
        }
        lines
    }

    fn message(&mut self, state: &State, event: &MessageEvent) -> Vec<String> {
        match event {
            MessageEvent::Started { message, .. } => {
                self.told.insert((*message).into());
                Vec::new()
            }
            MessageEvent::Delta { message, kind: TextKind::Thought, .. } => {
                if self.thinking.replace(*message) == Some(*message) {
                    return Vec::new();
                }
                let mut lines = self.break_off();
                lines.push("The model thinks.".to_owned());
                lines
            }
            MessageEvent::Delta { message, kind: TextKind::Text, .. } => match state.message(*message) {
                Some(said) if said.role == Role::Assistant => self.said(*message, &said.text()),
                _ => Vec::new(),
            },
            MessageEvent::PartAdded { message, part } => match state.message(*message) {
                Some(said) if said.role == Role::Assistant => {
                    let mut lines = self.said(*message, &said.text());
                    if let Part::Image { .. } = part {
                        lines.push("A picture.".to_owned());
                    }
                    lines
                }
                _ => Vec::new(),
            },
            MessageEvent::Ended { message, finish } => {
                let Some(said) = state.message(*message) else { return Vec::new() };
                if said.role != Role::User {
                    let mut lines = self.break_off();
                    lines.extend(cut(finish).map(str::to_owned));
                    return lines;
                }
                let text = said.text().trim().to_owned();
                match self.typed.iter().position(|typed| *typed == text) {
                    Some(at) => {
                        self.typed.remove(at);
                        Vec::new()
                    }
                    None => vec![prompted(&text)],
                }
            }
        }
    }

    /// The text of a message as far as it goes: the lines of it that were not told.
    fn said(&mut self, message: MessageId, text: &str) -> Vec<String> {
        let mut lines = if self.saying == Some(message) { Vec::new() } else { self.break_off() };
        let heard = self.heard.entry(message).or_default();
        let begins = *heard == 0;
        let more = text.get(*heard..).unwrap_or_default();
        if more.is_empty() {
            return lines;
        }
        *heard = text.len();
        self.saying = Some(message);
        if begins {
            lines.push("The model says:".to_owned());
        }
        lines.extend(self.speech.feed(more));
        lines
    }

    /// What was begun to be said is told as far as it goes.
    fn break_off(&mut self) -> Vec<String> {
        self.saying = None;
        self.speech.end().into_iter().collect()
    }

    fn run(&mut self, state: &State, at: Millis, event: &RunEvent) -> Vec<String> {
        match event {
            RunEvent::Started { .. } => {
                (self.still, self.begins) = (0, true);
                Vec::new()
            }
            RunEvent::Ended { run, outcome } => vec![ended(state, *run, at, outcome)],
            RunEvent::Retrying { attempt, max, delay_ms, reason, .. } => vec![format!(
                "The model is asked again in {}, try {attempt} of {max}: {}",
                span(*delay_ms),
                aloud(reason)
            )],
            RunEvent::TurnStarted { cause: Cause::Steer, .. } => {
                vec!["The model hears what you added.".to_owned()]
            }
            RunEvent::TurnStarted { .. }
            | RunEvent::TurnEnded { .. }
            | RunEvent::StepStarted { .. }
            | RunEvent::StepBilled { .. }
            | RunEvent::StepEnded { .. } => Vec::new(),
        }
    }

    fn tool(&mut self, state: &State, event: &ToolEvent) -> Vec<String> {
        match event {
            ToolEvent::Started { tool } => {
                state.tool(*tool).map(|tool| format!("Tool {} runs.", named(tool))).into_iter().collect()
            }
            ToolEvent::Progress { tool, progress: Progress::Status { percent, message } } => {
                // Of a measure that rises one by one only the quarters are told.
                let quarter = percent.map(|percent| percent / 25 * 25);
                let words = match quarter {
                    Some(percent) => format!("{percent} percent, {}", aloud(message)),
                    None => aloud(message),
                };
                if self.progress.get(tool) == Some(&words) {
                    return Vec::new();
                }
                self.progress.insert(*tool, words.clone());
                let name = state.tool(*tool).map(|tool| clean_line(&tool.name)).unwrap_or_default();
                vec![format!("Tool {name}: {words}")]
            }
            ToolEvent::Ended { tool, .. } => {
                self.progress.remove(tool);
                let Some(tool) = state.tool(*tool) else { return Vec::new() };
                let mut lines = vec![tool_ended(tool)];
                lines.extend(output(tool));
                lines
            }
            ToolEvent::Proposed { .. } | ToolEvent::Decided { .. } | ToolEvent::Progress { .. } => Vec::new(),
        }
    }

    /// A word of the runtime that stands on a screen for as long as it holds.
    pub(super) fn signal(&mut self, now: Millis, signal: &Signal) -> Vec<String> {
        let (key, text) = match signal {
            Signal::Status { key, text: Some(text) } => (key.as_str(), aloud(text)),
            Signal::Working(Some(text)) => ("working", aloud(text)),
            Signal::Widget { key, lines, .. } if !lines.is_empty() => {
                (key.as_str(), aloud(&lines.join(", ")))
            }
            _ => return Vec::new(),
        };
        let known = self.fields.get(key);
        if text.is_empty()
            || known.is_some_and(|(at, told)| *told == text || now.since(*at) < STATUS_MS)
            || known.is_none() && self.fields.len() >= MAX_FIELDS
        {
            return Vec::new();
        }
        self.fields.insert(key.to_owned(), (now, text.clone()));
        vec![format!("Status: {text}")]
    }

    /// Time passes: a run that takes long is spoken of.
    pub(super) fn tick(&mut self, state: &State, now: Millis) -> Vec<String> {
        let Some(run) = state.open_run() else { return Vec::new() };
        let seconds = now.since(run.started_at) / 1_000;
        if !state.asks.is_empty() {
            // It is the person who takes their time.
            self.still = seconds;
            return Vec::new();
        }
        let last = STILL.last().copied().unwrap_or(60);
        let due =
            STILL.iter().copied().find(|at| *at > self.still).unwrap_or(self.still / last * last + last);
        if seconds < due {
            return Vec::new();
        }
        self.still = seconds;
        let tool = state.open_tools().into_iter().filter_map(|tool| state.tool(tool)).next_back();
        let doing = tool.map(|tool| format!(" Tool {} runs.", named(tool))).unwrap_or_default();
        let mut lines = self.break_off();
        lines.push(format!("Still working, {} so far.{doing}", span(seconds * 1_000)));
        lines
    }
}

const SUMMARISED: &str = "Older messages were summarised.";

fn named(tool: &ToolRun) -> String {
    let about = summary(tool.args.as_str());
    let name = clean_line(&tool.name);
    if about.is_empty() { name } else { format!("{name} ({about})") }
}

fn tool_ended(tool: &ToolRun) -> String {
    let name = named(tool);
    match &tool.phase {
        domain::tool::ToolPhase::Ended(outcome) => match outcome {
            ToolOutcome::Done => format!("Tool {name} is done."),
            ToolOutcome::Failed => format!("Tool {name} failed."),
            ToolOutcome::Denied => format!("Tool {name} was denied."),
            ToolOutcome::Skipped => format!("Tool {name} was skipped."),
            ToolOutcome::Cancelled => format!("Tool {name} was stopped."),
            ToolOutcome::Unknown => format!("Tool {name}: nobody knows how far it came."),
        },
        _ => format!("Tool {name} is under way."),
    }
}

/// What a tool that is over gave back, for the person.
fn output(tool: &ToolRun) -> Vec<String> {
    let Some(result) = &tool.result else { return Vec::new() };
    let mut changed = false;
    let mut lines = Vec::new();
    for part in &result.parts {
        match part {
            Part::Diff { path, text } => {
                changed = true;
                let (added, removed) = counts(text);
                let path = path.as_deref().map(clean_line).unwrap_or_default();
                lines.push(format!(
                    "Changed {path}: {} added, {removed} removed.",
                    many(added as u64, "line")
                ));
                let words = diff(text).into_iter().filter(|line| !line.starts_with("File ")).collect();
                lines.extend(some_of(words, "; \"/diff\" tells them all"));
            }
            Part::Image { .. } => lines.push("A picture.".to_owned()),
            _ => {}
        }
    }
    if !changed {
        let said = clean(result.text.trim_end());
        let said = said.lines().map(str::trim_end).filter(|line| !line.is_empty());
        lines.extend(some_of(said.map(|line| format!("  {line}")).collect(), ""));
    }
    lines
}

fn ended(state: &State, run: RunId, at: Millis, outcome: &Outcome) -> String {
    let took = state.run(run).map(|run| span(at.since(run.started_at)));
    let after = took.as_ref().map(|took| format!(" after {took}")).unwrap_or_default();
    match outcome {
        Outcome::Done => took.map_or("Done.".to_owned(), |took| format!("Done, in {took}.")),
        Outcome::Cancelled => format!("Stopped{after}."),
        Outcome::Interrupted => "Interrupted: the program ended in the middle.".to_owned(),
        Outcome::Lost => "The runtime went away in the middle.".to_owned(),
        Outcome::Failed(failure) => {
            let hint = failure.hint.as_deref().map(|hint| format!(" {}", aloud(hint))).unwrap_or_default();
            format!("Failed: {}{hint}", aloud(&failure.message))
        }
    }
}

fn cut(finish: &Finish) -> Option<&'static str> {
    match finish {
        Finish::Complete => None,
        Finish::Length => {
            Some("The answer is cut: it reached the model's length limit. Say \"go on\" to continue.")
        }
        Finish::Interrupted => Some("Cut here."),
        Finish::Failed => Some("Cut here by a failure."),
        Finish::Cut => Some("Cut here: the model was asked again and repeats it."),
        Finish::Refused => Some("The model or its provider declined to answer."),
    }
}

fn session(state: &State, event: &SessionEvent) -> Vec<String> {
    let line = match event {
        SessionEvent::Renamed { title } => format!("The session is called \"{}\".", clean_line(title)),
        SessionEvent::ModelChosen { model } => format!("The model is {}.", clean_line(&model.to_string())),
        SessionEvent::EffortChosen { effort } => {
            format!("The effort is {}.", effort.map_or("as the provider decides", Effort::name))
        }
        SessionEvent::PolicyChosen { policy } => format!("The mode is {}.", policy.name()),
        SessionEvent::LeafMoved { .. } => {
            format!("The conversation goes on from {}.", many(state.path().len() as u64, "message"))
        }
        SessionEvent::Opened { .. }
        | SessionEvent::CameFrom { .. }
        | SessionEvent::BudgetChosen { .. }
        | SessionEvent::ToolsChosen { .. } => return Vec::new(),
    };
    vec![line]
}

fn queue(event: &QueueEvent) -> Vec<String> {
    match event {
        QueueEvent::Added { input, .. } => {
            vec![format!("It waits until the model can hear it: {}", clean_line(&input.text))]
        }
        QueueEvent::Left { leaving: Leaving::Dropped, .. } => vec!["What waited was dropped.".to_owned()],
        QueueEvent::Left { .. } | QueueEvent::Edited { .. } | QueueEvent::ModeSet { .. } => Vec::new(),
    }
}

/// A word for the person.
pub(super) fn noticed(level: Level, text: &str) -> Vec<String> {
    let lead = match level {
        Level::Info | Level::Success => "",
        Level::Warning => "Warning: ",
        Level::Error => "Error: ",
    };
    let text = clean(text);
    text.lines().map(aloud).filter(|line| !line.is_empty()).map(|line| format!("{lead}{line}")).collect()
}
