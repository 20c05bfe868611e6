//! What one run says on this wire: canonical events in, `agent.event`, `run.status` and `run.context` out.
//!
//! This wire knows whole texts only, and the last one comes as `final`. So a finished text is held until it is known whether something
//! of the run follows (then it is a `text`) or not (then it is the `final`). Used live and for replays alike, so that both number the
//! same events the same way. Invariants: `seq` rises by one from 0; `final` comes at most once and only for a run that is done; a
//! terminal status comes exactly once, and nothing after it.

use super::super::path_alias;
use super::super::wire::{
    AgentEvent, AgentEventNotify, CompactionComplete, CompactionStart, EventMeta, FileChange, LlmRetry,
    RunContextParams, RunStatusParams, Status, StepComplete, StepStart, ToolCall, ToolResult, Words, method,
};
use domain::content::{Json, Part, Role, TextKind};
use domain::event::{Body, ContextEvent, MessageEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{MessageId, Millis, RunId, ToolRunId};
use domain::state::{Run, State};
use domain::tool::{self, ToolOutcome};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wire::jsonrpc;

/// How a denied tool's result begins; the existing UI and model prompts know the phrase.
pub(in super::super) const DENIED: &str = "Permission denied: ";
/// How our engine says that the person gave no reason, and what stands for it on this wire.
const NO_REASON: (&str, &str) = ("Permission denied.", "permission denied");
/// The last word of a run that was stopped by a no, where the model said nothing itself.
pub(in super::super) const STOPPED: &str = "Stopped, because permission was denied.";
/// Tools that the existing UI shows by their file, and what their argument is called there.
const PATH_TOOLS: &[&str] = &["read", "write", "edit"];
/// Tools whose result may carry a diff, in the form that the existing UI draws.
const FILE_TOOLS: &[&str] = &["write", "edit", "apply_patch"];
/// Place of what the person said: outside the numbering.
const OUTSIDE: i64 = -1;

/// Something to say about a run.
#[derive(Debug, Clone)]
pub(super) enum Told {
    /// An `agent.event`.
    Event { seq: i64, event: Box<AgentEvent>, meta: Option<EventMeta> },
    /// A `run.status`.
    Status(Status, Option<String>),
    /// A `run.context`.
    Context(u8),
}

impl Told {
    /// The line that says it.
    pub(super) fn line(&self, run_id: &str) -> String {
        match self {
            Told::Event { seq, event, meta } => {
                let notify = AgentEventNotify { run_id, seq: *seq, event, meta: meta.clone() };
                jsonrpc::notification(method::AGENT_EVENT, &notify)
            }
            Told::Status(status, message) => {
                let (run_id, status, message) = (run_id.to_owned(), status.clone(), message.clone());
                jsonrpc::notification(method::RUN_STATUS, &RunStatusParams { run_id, status, message })
            }
            Told::Context(percent) => {
                let params =
                    RunContextParams { run_id: run_id.to_owned(), context_left_percent: i64::from(*percent) };
                jsonrpc::notification(method::RUN_CONTEXT, &params)
            }
        }
    }
}

/// How texts are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// As the document says.
    Whole,
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
    /// Which run.
    pub(super) run: RunId,
    /// Its name on the wire.
    pub(super) name: String,
    /// The UI asked to stop it.
    pub(super) stopping: bool,
    texts: Texts,
    prompted: Prompted,
    seq: i64,
    messages: BTreeMap<MessageId, Heard>,
    held: Option<Held>,
    last_text: String,
    /// The last tool was denied and the model said nothing since.
    denied: bool,
    calls: u64,
    tools: BTreeMap<ToolRunId, Call>,
    percent: Option<u8>,
    provider: String,
    out: Vec<Told>,
}

/// A message under way; only its last piece can still grow.
#[derive(Debug)]
struct Heard {
    role: Role,
    piece: Option<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    kind: TextKind,
    text: String,
    /// Told already, piece by piece.
    told: bool,
}

/// The text of a finished message, of which it is not yet known what it is.
#[derive(Debug)]
struct Held {
    text: String,
    told: bool,
}

#[derive(Debug)]
struct Call {
    name: String,
    since: Millis,
}

impl Telling {
    /// A run from its beginning.
    pub(super) fn new(run: RunId, name: String, texts: Texts, prompted: Prompted) -> Telling {
        Telling {
            run,
            name,
            stopping: false,
            texts,
            prompted,
            seq: 0,
            messages: BTreeMap::new(),
            held: None,
            last_text: String::new(),
            denied: false,
            calls: 0,
            tools: BTreeMap::new(),
            percent: None,
            provider: String::new(),
            out: Vec::new(),
        }
    }

    /// A run that is under way: what is open in it goes on here, what is over belongs to the history.
    pub(super) fn amid(run: &Run, name: String, texts: Texts, state: &State) -> Telling {
        let mut telling = Telling::new(run.id, name, texts, Prompted::Elsewhere);
        for id in state.open_messages() {
            let Some(message) = state.message(id) else { continue };
            let last = message.parts.last().and_then(Part::streamed);
            let piece = last.map(|(kind, text)| Piece { kind, text: text.to_owned(), told: false });
            telling.messages.insert(id, Heard { role: message.role, piece });
        }
        for tool in state.open_tools().into_iter().filter_map(|id| state.tool(id)) {
            telling.tools.insert(tool.id, Call { name: tool.name.clone(), since: tool.proposed_at });
        }
        telling
    }

    /// Takes what happened; gives what to say.
    pub(super) fn hear(&mut self, at: Millis, body: &Body) -> Vec<Told> {
        match body {
            Body::Run(RunEvent::Started { .. }) => self.out.push(Told::Status(Status::Running, None)),
            Body::Run(RunEvent::Ended { outcome, .. }) => self.ended(at, outcome),
            Body::Run(RunEvent::TurnStarted { .. }) => self.flush(at),
            Body::Run(RunEvent::StepStarted { model, .. }) => {
                self.flush(at);
                self.calls = 0;
                if let Some(model) = model {
                    self.provider.clone_from(&model.provider);
                }
            }
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                if *role == Role::Assistant {
                    self.flush(at);
                }
                self.messages.insert(*message, Heard { role: *role, piece: None });
            }
            Body::Message(MessageEvent::Delta { message, kind, text }) => {
                self.delta(at, *message, *kind, text);
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => self.part(at, *message, part),
            Body::Message(MessageEvent::Ended { message, .. }) => self.message_ended(at, *message),
            Body::Tool(ToolEvent::Proposed { tool, message, name, args }) => {
                self.proposed(at, *tool, *message, name, args);
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                self.tool_ended(at, *tool, outcome, result);
            }
            Body::Context(ContextEvent::Measured { used, window }) => self.context(*used, *window),
            Body::Context(ContextEvent::Compacted { .. }) => {
                let timestamp = Some(at.0);
                self.event(AgentEvent::CompactionStart(CompactionStart { timestamp }));
                self.event(AgentEvent::CompactionComplete(CompactionComplete { timestamp, compacted: true }));
            }
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason }) => {
                self.event(AgentEvent::LlmRetry(LlmRetry {
                    provider: self.provider.clone(),
                    failure_kind: failure_kind(reason).to_owned(),
                    next_attempt: *attempt,
                    max_attempts: *max,
                    delay_ms: *delay_ms,
                    delay_source: "backoff".to_owned(),
                    message: Some(reason.clone()),
                }));
            }
            Body::Session(_)
            | Body::Run(RunEvent::TurnEnded { .. } | RunEvent::StepEnded { .. })
            | Body::Tool(
                ToolEvent::Decided { .. } | ToolEvent::Started { .. } | ToolEvent::Progress { .. },
            )
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Note(_)
            | Body::Rebased(_) => {}
        }
        std::mem::take(&mut self.out)
    }

    /// Numbers events that are not told by what happened but by the desk, such as `permission.ready`.
    pub(super) fn number(&mut self, events: Vec<AgentEvent>) -> Vec<Told> {
        for event in events {
            self.event(event);
        }
        std::mem::take(&mut self.out)
    }

    fn event(&mut self, event: AgentEvent) {
        self.event_with(event, None);
    }

    fn event_with(&mut self, event: AgentEvent, meta: Option<EventMeta>) {
        self.out.push(Told::Event { seq: self.seq, event: Box::new(event), meta });
        self.seq += 1;
    }

    fn delta(&mut self, at: Millis, message: MessageId, kind: TextKind, text: &str) {
        let heard = self.messages.entry(message).or_insert(Heard { role: Role::Assistant, piece: None });
        let pieces = self.texts == Texts::Pieces && heard.role == Role::Assistant;
        match &mut heard.piece {
            Some(piece) if piece.kind == kind => piece.text.push_str(text),
            open => {
                let whole = open.replace(Piece { kind, text: text.to_owned(), told: pieces });
                self.finished(at, whole);
            }
        }
        if pieces {
            let meta = EventMeta { delta: true, message: Some(message.to_string()) };
            self.event_with(words(kind, text.to_owned(), at), Some(meta));
        }
    }

    fn part(&mut self, at: Millis, message: MessageId, part: &Part) {
        let heard = self.messages.entry(message).or_insert(Heard { role: Role::Assistant, piece: None });
        match part {
            Part::Text(text) | Part::Thought { text, .. } => {
                let kind = if matches!(part, Part::Text(_)) { TextKind::Text } else { TextKind::Thought };
                let whole = heard.piece.replace(Piece { kind, text: text.clone(), told: false });
                if heard.role == Role::User {
                    join_into(&mut heard.piece, whole);
                } else {
                    self.finished(at, whole);
                }
            }
            Part::Code { language, text, .. } => {
                let fence = format!("```{}\n{text}\n```", language.as_deref().unwrap_or_default());
                self.beside(at, message, fence);
            }
            Part::Diff { text, .. } => self.beside(at, message, format!("```diff\n{text}\n```")),
            Part::Image { .. } => self.beside(at, message, "[image]".to_owned()),
            Part::Tool(_) | Part::Opaque { .. } => {}
        }
    }

    /// Something that stands under the text as one block of it.
    fn beside(&mut self, at: Millis, message: MessageId, block: String) {
        let Some(heard) = self.messages.get_mut(&message) else { return };
        match &mut heard.piece {
            Some(piece) if piece.kind == TextKind::Text && !piece.told => {
                if !piece.text.is_empty() {
                    piece.text.push_str("\n\n");
                }
                piece.text.push_str(&block);
            }
            open => {
                let whole = open.replace(Piece { kind: TextKind::Text, text: block, told: false });
                self.finished(at, whole);
            }
        }
    }

    /// A piece that something follows.
    fn finished(&mut self, at: Millis, piece: Option<Piece>) {
        let Some(piece) = piece.filter(|piece| !piece.text.is_empty()) else { return };
        if piece.kind == TextKind::Text {
            self.last_text.clone_from(&piece.text);
        }
        if !piece.told {
            self.event(words(piece.kind, piece.text, at));
        }
    }

    /// Something follows the last finished message, so its text was not the final one.
    fn flush(&mut self, at: Millis) {
        if let Some(Held { text, told }) = self.held.take() {
            self.finished(at, Some(Piece { kind: TextKind::Text, text, told }));
        }
    }

    fn message_ended(&mut self, at: Millis, message: MessageId) {
        let Some(heard) = self.messages.remove(&message) else { return };
        match (heard.role, heard.piece) {
            (Role::User, piece) => {
                // The UI that started the run shows its prompt by itself.
                if std::mem::replace(&mut self.prompted, Prompted::Elsewhere) == Prompted::Elsewhere {
                    let content = piece.map(|piece| piece.text).unwrap_or_default();
                    let event = AgentEvent::HiddenUserMessage(Words { content, timestamp: Some(at.0) });
                    self.out.push(Told::Event { seq: OUTSIDE, event: Box::new(event), meta: None });
                }
            }
            (Role::Assistant, Some(Piece { kind: TextKind::Text, text, told })) => {
                if !text.is_empty() {
                    self.flush(at);
                    self.held = Some(Held { text, told });
                }
            }
            (Role::Assistant, thought) => self.finished(at, thought),
            (Role::System, _) => {}
        }
    }

    fn proposed(&mut self, at: Millis, tool: ToolRunId, message: MessageId, name: &str, args: &Json) {
        let before = self.messages.get_mut(&message).and_then(|heard| heard.piece.take());
        self.finished(at, before);
        self.calls += 1;
        let id = tool.to_string();
        let start = StepStart { step_id: id.clone(), title: name.to_owned(), step_number: Some(self.calls) };
        self.event(AgentEvent::StepStart(start));
        let args = Some(args_object(name, args));
        self.event(AgentEvent::ToolCall(ToolCall {
            tool: name.to_owned(),
            args,
            tool_call_id: id,
            display_name: None,
        }));
        self.tools.insert(tool, Call { name: name.to_owned(), since: at });
    }

    fn tool_ended(&mut self, at: Millis, tool: ToolRunId, outcome: &ToolOutcome, result: &tool::ToolResult) {
        let call = self.tools.remove(&tool);
        let (name, since) = call.map_or((String::new(), at), |call| (call.name, call.since));
        let id = tool.to_string();
        let is_error = *outcome != ToolOutcome::Done;
        self.denied = *outcome == ToolOutcome::Denied;
        self.event(AgentEvent::ToolResult(ToolResult {
            result: Some(raw_text(&result_text(&name, outcome, result))),
            tool: name,
            tool_call_id: id.clone(),
            is_error,
        }));
        let status = if is_error { "error" } else { "completed" };
        let duration_ms = Some(at.since(since));
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
            self.out.push(Told::Context(percent));
        }
    }

    fn ended(&mut self, at: Millis, outcome: &Outcome) {
        let (status, message) = match outcome {
            Outcome::Done => {
                let mut content =
                    self.held.take().map_or_else(|| std::mem::take(&mut self.last_text), |held| held.text);
                if content.is_empty() && self.denied {
                    STOPPED.clone_into(&mut content);
                }
                self.event(AgentEvent::Final(Words { content, timestamp: Some(at.0) }));
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
        self.flush(at);
        self.out.push(Told::Status(status, message));
    }
}

/// Several texts of the person's message are one to the UI.
fn join_into(now: &mut Option<Piece>, before: Option<Piece>) {
    if let (Some(now), Some(before)) = (now, before) {
        now.text = format!("{}\n\n{}", before.text, now.text);
    }
}

fn words(kind: TextKind, content: String, at: Millis) -> AgentEvent {
    let words = Words { content, timestamp: Some(at.0) };
    match kind {
        TextKind::Text => AgentEvent::Text(words),
        TextKind::Thought => AgentEvent::Reasoning(words),
    }
}

/// Arguments must be an object on this wire. Of file tools it also says the path as the existing programs call it.
fn args_object(tool: &str, args: &Json) -> Box<RawValue> {
    let raw = RawValue::from_string(args.as_str().trim().to_owned()).ok();
    match raw {
        Some(raw) if raw.get().starts_with('{') => {
            let named = PATH_TOOLS.contains(&tool).then(|| path_alias::add(raw.get())).flatten();
            named.and_then(|named| RawValue::from_string(named).ok()).unwrap_or(raw)
        }
        _ => {
            let wrapped = format!("{{\"_raw\":{}}}", raw_text(args.as_str()));
            RawValue::from_string(wrapped).unwrap_or_default()
        }
    }
}

fn raw_text(text: &str) -> Box<RawValue> {
    serde_json::value::to_raw_value(text).unwrap_or_default()
}

fn result_text(name: &str, outcome: &ToolOutcome, result: &tool::ToolResult) -> String {
    let diff = result.parts.iter().find_map(|part| match part {
        Part::Diff { path, text } => Some((path.clone(), text.clone())),
        _ => None,
    });
    match (outcome, diff) {
        (ToolOutcome::Denied, _) if result.text == NO_REASON.0 => format!("{DENIED}{}", NO_REASON.1),
        (ToolOutcome::Denied, _) if !result.text.starts_with(DENIED) => format!("{DENIED}{}", result.text),
        (ToolOutcome::Done, Some((file_path, diff))) if FILE_TOOLS.contains(&name) => {
            let change = FileChange { summary: result.text.clone(), diff, file_path };
            serde_json::to_string(&change).unwrap_or_else(|_| result.text.clone())
        }
        _ => result.text.clone(),
    }
}

/// The existing UI knows five kinds; ours come as words.
fn failure_kind(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if has(&["rate", "429"]) {
        "rate_limit"
    } else if has(&["overload", "529"]) {
        "overloaded"
    } else if has(&["timeout", "timed out", "stall"]) {
        "timeout"
    } else if has(&["network", "connect", "dns"]) {
        "network"
    } else {
        "provider"
    }
}
