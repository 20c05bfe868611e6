//! What one run says on this wire: canonical events in, `agent.event`, `run.status` and `run.context` out.
//!
//! This wire knows whole texts only, and the last one comes as `final`: the [`Narrator`] holds a finished text until it is known whether
//! something of the run follows (then it is a `text`) or not (then it is the `final`). Used live and for replays alike, so that both
//! number the same events the same way. Invariants: `seq` rises by one from 0; `final` comes at most once and only for a run that is done; a
//! terminal status comes exactly once, and nothing after it.

use super::super::retry_kind;
use super::super::wire::{
    AgentEvent, AgentEventNotify, CompactionComplete, CompactionStart, EventMeta, LlmRetry, RunContextParams,
    RunDiagnosticsParams, RunStatusParams, Status, StepComplete, StepStart, ToolCall, ToolResult, Words,
};
use super::diagnostics::Diagnostics;
use super::paragraphs::Paragraphs;
use super::tool_words;
use domain::content::{Json, Part, TextKind};
use domain::event::{Body, ContextEvent, MessageEvent, Outcome, RunEvent};
use domain::ids::{MessageId, Millis, RunId, ToolRunId};
use domain::state::{Run, State};
use domain::tool::{self, ToolOutcome};
use rolekit::narrator::{self, Came, NarratedCall, Narrator, Whole};
use rolekit::rpc;

/// The last word of a run that was stopped by a no, where the model said nothing itself.
pub(in super::super) const STOPPED: &str = "Stopped, because permission was denied.";
/// Most errors of a run that wait for its end; past it they are told at once.
const MAX_ERRORS: usize = 16;
/// Place of what the person said: outside the numbering.
const OUTSIDE: i64 = -1;

/// Something to say about a run.
#[derive(Debug, Clone)]
pub(super) enum RunLine {
    Event {
        seq: i64,
        event: Box<AgentEvent>,
        meta: Option<EventMeta>,
    },
    /// With what the runtime says about it, if anything.
    Status(Status, Option<String>),
    /// How many percent of the window are left.
    Context(u8),
    /// Numbers for developers.
    Diagnostics(Box<RunDiagnosticsParams>),
}

impl RunLine {
    /// The line that says it.
    pub(super) fn line(&self, run_id: &str) -> String {
        match self {
            RunLine::Event { seq, event, meta } => {
                let notify = AgentEventNotify { run_id: run_id.into(), seq: *seq, event, meta: meta.clone() };
                rpc::notification(&notify)
            }
            RunLine::Status(status, message) => {
                let (run_id, status, message) = (run_id.to_owned(), status.clone(), message.clone());
                rpc::notification(&RunStatusParams { run_id, status, message })
            }
            RunLine::Context(percent) => {
                let params =
                    RunContextParams { run_id: run_id.to_owned(), context_left_percent: i64::from(*percent) };
                rpc::notification(&params)
            }
            RunLine::Diagnostics(params) => rpc::notification(&**params),
        }
    }
}

/// How texts are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// As the document says.
    Whole,
    /// Paragraph by paragraph, each as a text of its own; the last one is repeated as the `final`, which the terminal UI drops then.
    Paragraphs,
    /// Piece by piece as well, marked as such.
    Pieces,
}

/// Whether the run's prompt came over this link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompted {
    /// It did: the UI knows what was said.
    Here,
    /// It did not: what was said has to be told.
    Elsewhere,
}

/// A run that is being told.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) run: RunId,
    /// Its name on the wire.
    pub(super) name: String,
    /// The UI asked to stop it.
    pub(super) stopping: bool,
    narrator: Narrator,
    texts: Texts,
    prompted: Prompted,
    seq: i64,
    last_text: String,
    /// The text that comes, where it is told by paragraphs.
    paragraphs: Paragraphs,
    /// Errors that were told to the conversation: the end of the run may say them again.
    errors: Vec<String>,
    /// The last tool was denied and the model said nothing since.
    denied: bool,
    calls: u64,
    percent: Option<u8>,
    provider: String,
    /// Numbers about each call of the model, where they are wanted.
    pub(super) diagnostics: Option<Diagnostics>,
    out: Vec<RunLine>,
}

impl Telling {
    /// A run from its beginning.
    pub(super) fn new(run: RunId, name: String, texts: Texts, prompted: Prompted) -> Telling {
        Telling {
            run,
            name,
            stopping: false,
            narrator: Narrator::new(run),
            texts,
            prompted,
            seq: 0,
            last_text: String::new(),
            paragraphs: Paragraphs::default(),
            errors: Vec::new(),
            denied: false,
            calls: 0,
            percent: None,
            provider: String::new(),
            diagnostics: None,
            out: Vec::new(),
        }
    }

    /// A run that is under way: what is open in it goes on here, what is over belongs to the history.
    pub(super) fn amid(run: &Run, name: String, texts: Texts, state: &State) -> Telling {
        let narrator = Narrator::amid(run.id, state);
        // Once the model was asked, the beginning of a paragraph may be missing.
        let asked = run.turns.iter().any(|turn| !turn.steps.is_empty());
        let texts = if asked && texts == Texts::Paragraphs { Texts::Whole } else { texts };
        Telling { narrator, ..Telling::new(run.id, name, texts, Prompted::Elsewhere) }
    }

    /// An error that the conversation keeps; gives it back when it is to be told at once.
    pub(super) fn error(&mut self, text: &str) -> Option<String> {
        if self.errors.len() >= MAX_ERRORS {
            return Some(text.to_owned());
        }
        self.errors.push(text.to_owned());
        None
    }

    /// The errors that the end of the run does not say itself.
    pub(super) fn other_errors(&mut self, outcome: &Outcome) -> Vec<String> {
        let mut errors = std::mem::take(&mut self.errors);
        if let Outcome::Failed(failure) = outcome {
            errors.retain(|error| !error.starts_with(&failure.message));
        }
        errors
    }

    /// Takes what happened; gives what to say.
    pub(super) fn hear(&mut self, at: Millis, body: &Body) -> Vec<RunLine> {
        self.diagnose(at, body);
        for told in self.narrator.hear(at, body) {
            self.tell(at, told);
        }
        match body {
            Body::Context(ContextEvent::Measured { used, window, .. }) => self.context(*used, *window),
            Body::Context(ContextEvent::Compacted { .. }) => {
                let timestamp = at.0;
                self.event(AgentEvent::CompactionStart(CompactionStart { timestamp }));
                self.event(AgentEvent::CompactionComplete(CompactionComplete { timestamp, compacted: true }));
            }
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, kind }) => {
                self.event(AgentEvent::LlmRetry(LlmRetry {
                    provider: self.provider.clone(),
                    failure_kind: retry_kind::write(*kind).to_owned(),
                    next_attempt: *attempt,
                    max_attempts: *max,
                    delay_ms: *delay_ms,
                    delay_source: "backoff".to_owned(),
                    message: Some(reason.clone()),
                }));
            }
            Body::Session(_)
            | Body::Run(_)
            | Body::Message(_)
            | Body::Tool(_)
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Note(_)
            | Body::Rebased(_) => {}
        }
        std::mem::take(&mut self.out)
    }

    fn diagnose(&mut self, at: Millis, body: &Body) {
        let Some(diagnostics) = &mut self.diagnostics else { return };
        let line = match body {
            Body::Run(RunEvent::StepStarted { model, .. }) => {
                diagnostics.asked(at, model.as_ref());
                None
            }
            Body::Message(MessageEvent::Ended { .. }) => {
                diagnostics.answered(at);
                None
            }
            Body::Run(RunEvent::StepEnded { usage, .. }) => diagnostics.over(at, *usage, &self.name),
            Body::Run(RunEvent::Ended { run, .. }) if *run == self.run => {
                Some(diagnostics.summary(&self.name))
            }
            _ => None,
        };
        self.out.extend(line.map(|line| RunLine::Diagnostics(Box::new(line))));
    }

    fn tell(&mut self, at: Millis, told: narrator::Narration<'_>) {
        use narrator::Narration;
        match told {
            Narration::RunStarted => self.out.push(RunLine::Status(Status::Running, None)),
            Narration::RunEnded { outcome, last } => self.ended(at, outcome, last),
            Narration::StepStarted { model, .. } => {
                self.calls = 0;
                if let Some(model) = model {
                    self.provider.clone_from(&model.provider);
                }
            }
            Narration::Prompt { parts, .. } => self.prompt(at, &parts),
            Narration::Text { message, text, came: Came::InPieces, .. } => {
                self.piece(at, message, TextKind::Text, text);
            }
            Narration::Thought { message, text, came: Came::InPieces } => {
                self.piece(at, message, TextKind::Thought, text);
            }
            Narration::Whole(whole) => self.whole(at, &whole),
            Narration::Call { tool, name, args, .. } => self.call(tool, name, args),
            Narration::CallResult { tool, call, outcome, result } => {
                self.call_result(at, tool, call, outcome, result);
            }
            Narration::TurnStarted
            | Narration::TurnEnded
            | Narration::StepEnded { .. }
            | Narration::MessageStarted { .. }
            | Narration::MessageEnded { .. }
            | Narration::Text { came: Came::AtOnce(_), .. }
            | Narration::Thought { came: Came::AtOnce(_), .. }
            | Narration::Block { .. }
            | Narration::CallStarted { .. }
            | Narration::CallProgress { .. } => {}
        }
    }

    /// Numbers events that are not told by what happened but by the desk, such as `permission.ready`.
    pub(super) fn number(&mut self, events: Vec<AgentEvent>) -> Vec<RunLine> {
        for event in events {
            self.event(event);
        }
        std::mem::take(&mut self.out)
    }

    fn event(&mut self, event: AgentEvent) {
        self.event_with(event, None);
    }

    fn event_with(&mut self, event: AgentEvent, meta: Option<EventMeta>) {
        self.out.push(RunLine::Event { seq: self.seq, event: Box::new(event), meta });
        self.seq += 1;
    }

    fn piece(&mut self, at: Millis, message: MessageId, kind: TextKind, text: &str) {
        match (self.texts, kind) {
            (Texts::Pieces, _) => {
                let meta = EventMeta { delta: true, message: Some(message.to_string()) };
                self.event_with(words(kind, text.to_owned(), at), Some(meta));
            }
            (Texts::Paragraphs, TextKind::Text) => {
                for paragraph in self.paragraphs.add(text) {
                    self.event(words(kind, paragraph, at));
                }
            }
            (Texts::Whole, _) | (Texts::Paragraphs, TextKind::Thought) => {}
        }
    }

    /// What was not told in pieces of something that is whole now.
    fn unsaid(&mut self, whole: &Whole) -> Vec<String> {
        if whole.kind == TextKind::Text
            && let Some(unsaid) = self.unsaid_paragraphs(whole)
        {
            return unsaid;
        }
        let pieces = self.texts == Texts::Pieces;
        let mut unsaid = Vec::new();
        for parts in whole.parts.chunk_by(|(_, one), (_, other)| !pieces || one == other) {
            let content = joined(parts.iter().map(|(part, _)| part));
            if content.is_empty() {
                continue;
            }
            if whole.kind == TextKind::Text {
                self.last_text.clone_from(&content);
            }
            if !(pieces && parts.iter().all(|(_, streamed)| *streamed)) {
                unsaid.push(content);
            }
        }
        unsaid
    }

    /// The end of a text whose first paragraphs were told; `None` when none of it was.
    fn unsaid_paragraphs(&mut self, whole: &Whole) -> Option<Vec<String>> {
        let mut paragraphs = std::mem::take(&mut self.paragraphs);
        let told = paragraphs.last.is_some();
        let rest = paragraphs.finish();
        let below = joined(whole.parts.iter().filter(|(_, streamed)| !streamed).map(|(part, _)| part));
        let unsaid: Vec<String> =
            rest.into_iter().chain(Some(below).filter(|below| !below.is_empty())).collect();
        if !told {
            return None;
        }
        self.last_text = unsaid.last().cloned().or(paragraphs.last).unwrap_or_default();
        Some(unsaid)
    }

    fn whole(&mut self, at: Millis, whole: &Whole) {
        for content in self.unsaid(whole) {
            self.event(words(whole.kind, content, at));
        }
    }

    /// The UI that started the run shows its prompt by itself.
    fn prompt(&mut self, at: Millis, parts: &[Part]) {
        if std::mem::replace(&mut self.prompted, Prompted::Elsewhere) == Prompted::Elsewhere {
            let words = Words { content: joined(parts), timestamp: at.0 };
            let event = Box::new(AgentEvent::HiddenUserMessage(words));
            self.out.push(RunLine::Event { seq: OUTSIDE, event, meta: None });
        }
    }

    fn call(&mut self, tool: ToolRunId, name: &str, args: &Json) {
        self.calls += 1;
        let id = tool.to_string();
        let wire_name = tool_words::name(name);
        let start = StepStart { step_id: id.clone(), title: wire_name.to_owned(), step_number: self.calls };
        self.event(AgentEvent::StepStart(start));
        let args = Some(tool_words::args(name, args));
        self.event(AgentEvent::ToolCall(ToolCall {
            tool: wire_name.to_owned(),
            args,
            tool_call_id: id,
            display_name: None,
        }));
    }

    fn call_result(
        &mut self,
        at: Millis,
        tool: ToolRunId,
        call: NarratedCall,
        outcome: &ToolOutcome,
        result: &tool::ToolResult,
    ) {
        let id = tool.to_string();
        let is_error = *outcome != ToolOutcome::Done;
        self.denied = *outcome == ToolOutcome::Denied;
        let duration_ms = at.since(call.proposed_at);
        let took = at.since(call.started_at.unwrap_or(call.proposed_at));
        self.event(AgentEvent::ToolResult(ToolResult {
            result: Some(tool_words::result(&call, took, outcome, result)),
            tool: tool_words::name(&call.name).to_owned(),
            tool_call_id: id.clone(),
            is_error,
        }));
        let status = if is_error { "error" } else { "completed" };
        self.event(AgentEvent::StepComplete(StepComplete {
            step_id: id,
            status: status.to_owned(),
            duration_ms,
        }));
    }

    fn context(&mut self, used: u64, window: u64) {
        if window == 0 {
            return;
        }
        let left = window.saturating_sub(used).saturating_mul(100) / window;
        let percent = u8::try_from(left).unwrap_or(100);
        if self.percent.replace(percent) != Some(percent) {
            self.out.push(RunLine::Context(percent));
        }
    }

    fn ended(&mut self, at: Millis, outcome: &Outcome, last: Option<Whole>) {
        let by_paragraphs = self.paragraphs.last.is_some();
        let unsaid = last.as_ref().map(|last| self.unsaid(last)).unwrap_or_default();
        if by_paragraphs || *outcome != Outcome::Done {
            unsaid.into_iter().for_each(|content| self.event(words(TextKind::Text, content, at)));
        }
        let (status, message) = match outcome {
            Outcome::Done => {
                let mut content = std::mem::take(&mut self.last_text);
                if content.is_empty() && self.denied {
                    STOPPED.clone_into(&mut content);
                }
                self.event(AgentEvent::Final(Words { content, timestamp: at.0 }));
                (Status::Completed, None)
            }
            Outcome::Cancelled => (Status::Cancelled, None),
            Outcome::Failed(failure) => {
                let hint = failure.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                (Status::Error, Some(format!("{}{hint}", failure.message)))
            }
            Outcome::Interrupted => {
                (Status::Error, Some("the run was interrupted; send the prompt again".to_owned()))
            }
            Outcome::Lost => {
                (Status::Error, Some("the runtime behind this one went away; start it again".to_owned()))
            }
        };
        self.out.push(RunLine::Status(status, message));
    }
}

/// Several parts as one text.
fn joined<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) | Part::Thought { text, .. } => Some(text.clone()),
        Part::Code { language, text, .. } => {
            Some(format!("```{}\n{text}\n```", language.as_deref().unwrap_or_default()))
        }
        Part::Diff { text, .. } => Some(format!("```diff\n{text}\n```")),
        Part::Image { .. } => Some("[image]".to_owned()),
        Part::Tool(_) | Part::Opaque { .. } => None,
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn words(kind: TextKind, content: String, at: Millis) -> AgentEvent {
    let words = Words { content, timestamp: at.0 };
    match kind {
        TextKind::Text => AgentEvent::Text(words),
        TextKind::Thought => AgentEvent::Reasoning(words),
    }
}
