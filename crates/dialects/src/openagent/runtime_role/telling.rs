//! What one query says on this wire: canonical events in, `stream.*`, `tool.*` and `agent.thinking` lines out.
//!
//! Invariants: `index` rises by one; lines keep the order of events; `stream.complete` comes exactly once and nothing after it; each tool
//! run gets at most one `tool.complete`. When the link lags, pieces of text are gathered and go out together.

mod caught_up;
mod ends;
mod tools;

use super::super::fences::{Fences, Piece};
use super::super::plain::{self, Plain};
use super::super::wire::method;
use super::super::wire::notify::{
    Block, BlockMetadata, BlockParams, Piece as WirePiece, Thinking, Token, TokenMetadata, Tokens,
};
use super::client::Style;
use domain::content::{Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, ContextEvent, Failure, MessageEvent, NoteEvent, Outcome, PlanState, RunEvent, ToolEvent,
};
use domain::ids::{MessageId, Millis, RunId, ToolRunId};
use domain::signal::Level;
use serde::Serialize;
use std::collections::BTreeMap;
use tools::Execution;
use wire::jsonrpc;

/// Most pieces of text that are gathered.
const MAX_BATCH: usize = 64;
/// Longest words of `agent.thinking`.
const MAX_WORDS: usize = 160;
/// `metadata.type` of the empty line between two messages of one answer.
pub(in super::super) const BREAK: &str = "break";
/// Languages of blocks that a shell could run as they stand.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "fish", "shell", "console"];

/// Numbers that no two things of one link share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    executions: u64,
    blocks: u64,
}

/// A query that is being told.
#[derive(Debug)]
pub(super) struct Telling {
    /// Its name on the wire.
    pub(super) query_id: String,
    style: Style,
    /// Pieces go out as they come.
    stream: bool,
    began: Millis,
    index: u64,
    /// Pieces that wait for the link.
    gathered: Vec<String>,
    /// The text so far, for a client that does not want pieces.
    whole: String,
    fences: Fences,
    plain: Plain,
    messages: BTreeMap<MessageId, Heard>,
    /// Text of an earlier message was told, and more may follow.
    break_due: bool,
    tools: BTreeMap<ToolRunId, Execution>,
    tools_executed: Vec<String>,
    usage: Usage,
    model: String,
    phase: (&'static str, String),
    error_told: bool,
    over: bool,
    lines: Vec<String>,
}

/// What was told of a message.
#[derive(Debug, Default)]
struct Heard {
    speaks: bool,
    text: usize,
    thought: usize,
    parts: usize,
    ended: bool,
}

impl Telling {
    pub(super) fn new(query_id: String, style: Style, stream: bool, now: Millis) -> Telling {
        Telling {
            query_id,
            style,
            stream,
            began: now,
            index: 0,
            gathered: Vec::new(),
            whole: String::new(),
            fences: Fences::default(),
            plain: Plain::default(),
            messages: BTreeMap::new(),
            break_due: false,
            tools: BTreeMap::new(),
            tools_executed: Vec::new(),
            usage: Usage::default(),
            model: String::new(),
            phase: ("", String::new()),
            error_told: false,
            over: false,
            lines: Vec::new(),
        }
    }

    /// Takes what happened; gives what to say. `behind` means that more is already known than told: text may wait for it.
    pub(super) fn hear(
        &mut self,
        counters: &mut Counters,
        at: Millis,
        body: &Body,
        behind: bool,
    ) -> Vec<String> {
        if self.over {
            return Vec::new();
        }
        self.happened(counters, at, body);
        if !behind || self.gathered.len() >= MAX_BATCH {
            self.flush();
        }
        std::mem::take(&mut self.lines)
    }

    fn happened(&mut self, counters: &mut Counters, at: Millis, body: &Body) {
        match body {
            Body::Run(RunEvent::Started { .. }) => {
                self.began = at;
                self.thinking("analyzing", "Reading your question".to_owned());
            }
            Body::Run(RunEvent::Ended { outcome, .. }) => self.ended(counters, at, outcome),
            Body::Run(RunEvent::StepStarted { model, .. }) => {
                if let Some(model) = model {
                    self.model = model.to_string();
                }
                if !self.tools.is_empty() || !self.messages.values().all(|m| !m.speaks) {
                    self.thinking("generating", "Writing the answer".to_owned());
                }
            }
            Body::Run(RunEvent::StepEnded { usage, .. }) => self.usage = self.usage.plus(*usage),
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                let speaks = *role == Role::Assistant;
                self.messages.entry(*message).or_insert(Heard { speaks, ..Heard::default() });
            }
            Body::Message(MessageEvent::Delta { message, kind, text }) => {
                self.delta(counters, *message, *kind, text);
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => self.part(counters, *message, part),
            Body::Message(MessageEvent::Ended { message, .. }) => self.message_ended(counters, *message),
            Body::Tool(ToolEvent::Proposed { tool, name, args, .. }) => {
                self.proposed(counters, *tool, name, args);
            }
            Body::Tool(ToolEvent::Decided { .. }) => {}
            Body::Tool(ToolEvent::Started { tool }) => self.started(*tool, at),
            Body::Tool(ToolEvent::Progress { tool, progress }) => self.progress(*tool, progress),
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                self.tool_ended(counters, *tool, at, outcome, result);
            }
            Body::Ask(AskEvent::Closed { ask, closing }) => self.ask_closed(*ask, closing),
            Body::Context(ContextEvent::Compacted { .. }) => {
                self.thinking("analyzing", "Older messages were summed up to make room".to_owned());
            }
            Body::Note(NoteEvent::PlanChanged { items }) => {
                let done = items.iter().filter(|item| item.state == PlanState::Done).count();
                let now = items.iter().find(|item| item.state == PlanState::Active).or_else(|| items.last());
                if let Some(item) = now {
                    self.thinking("planning", format!("{done} of {} done: {}", items.len(), item.text));
                }
            }
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason }) => {
                let seconds = delay_ms.div_ceil(1000);
                self.thinking(
                    "generating",
                    format!("Asking again in {seconds} s ({attempt} of {max}): {reason}"),
                );
            }
            Body::Note(NoteEvent::Noticed { level, code, text, .. }) => {
                self.notice(counters, *level, code, text);
            }
            Body::Session(_)
            | Body::Run(RunEvent::TurnStarted { .. } | RunEvent::TurnEnded { .. })
            | Body::Ask(AskEvent::Opened(_))
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Rebased(_) => {}
        }
    }

    /// What is going on, as words of the runtime.
    pub(super) fn working(&mut self, words: &str) -> Vec<String> {
        self.thinking("executing", words.to_owned());
        std::mem::take(&mut self.lines)
    }

    /// A word for the person.
    pub(super) fn notified(&mut self, counters: &mut Counters, level: Level, text: &str) -> Vec<String> {
        self.notice(counters, level, "notify", text);
        std::mem::take(&mut self.lines)
    }

    /// The end of a query that never became a run.
    pub(super) fn failed(&mut self, counters: &mut Counters, now: Millis, failure: Failure) -> Vec<String> {
        let body = Body::Run(RunEvent::Ended { run: RunId(0), outcome: Outcome::Failed(failure) });
        self.hear(counters, now, &body, false)
    }

    /// The end of a query that was stopped before it became a run.
    pub(super) fn cancelled(&mut self, counters: &mut Counters, now: Millis) -> Vec<String> {
        let body = Body::Run(RunEvent::Ended { run: RunId(0), outcome: Outcome::Cancelled });
        self.hear(counters, now, &body, false)
    }

    fn delta(&mut self, counters: &mut Counters, message: MessageId, kind: TextKind, text: &str) {
        let heard = self.messages.entry(message).or_insert(Heard { speaks: true, ..Heard::default() });
        match kind {
            TextKind::Text => heard.text += text.len(),
            TextKind::Thought => heard.thought += text.len(),
        }
        if !heard.speaks {
            return;
        }
        match kind {
            TextKind::Text => self.text(counters, text),
            TextKind::Thought => self.thought(text),
        }
    }

    fn part(&mut self, counters: &mut Counters, message: MessageId, part: &Part) {
        match part {
            Part::Text(text) => return self.delta(counters, message, TextKind::Text, text),
            Part::Thought { text, .. } => return self.delta(counters, message, TextKind::Thought, text),
            Part::Code { .. }
            | Part::Diff { .. }
            | Part::Image { .. }
            | Part::Tool(_)
            | Part::Opaque { .. } => {}
        }
        let heard = self.messages.entry(message).or_insert(Heard { speaks: true, ..Heard::default() });
        heard.parts += 1;
        if !heard.speaks {
            return;
        }
        self.end_text(counters);
        match part {
            Part::Code { language, text, path } => {
                let metadata = BlockMetadata { file: path.clone(), ..BlockMetadata::default() };
                self.code(counters, language.clone(), text, metadata);
            }
            Part::Diff { path, text } => self.diff(counters, path.clone(), text, None),
            Part::Image { mime, .. } => self.text(counters, &format!("[image: {mime}]\n")),
            Part::Opaque { kind, json } => {
                self.block(
                    counters,
                    "interactive",
                    None,
                    json.as_str(),
                    BlockMetadata { code: Some(kind.clone()), ..BlockMetadata::default() },
                );
            }
            Part::Text(_) | Part::Thought { .. } | Part::Tool(_) => {}
        }
    }

    fn message_ended(&mut self, counters: &mut Counters, message: MessageId) {
        let Some(heard) = self.messages.get_mut(&message) else { return };
        heard.ended = true;
        if heard.speaks {
            let spoke = heard.text > 0;
            self.end_text(counters);
            self.break_due |= spoke;
        }
    }

    fn text(&mut self, counters: &mut Counters, text: &str) {
        if std::mem::take(&mut self.break_due) {
            self.separate();
        }
        let text = self.plain.clean(text);
        if !self.style.blocks {
            return self.token(text);
        }
        let pieces = self.fences.push(&text);
        self.pieces(counters, pieces);
    }

    fn pieces(&mut self, counters: &mut Counters, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.token(text),
                Piece::Block { language, text } if matches!(language.as_deref(), Some("diff" | "patch")) => {
                    self.diff(counters, None, &text, None);
                }
                Piece::Block { language, text } => {
                    self.code(counters, language, &text, BlockMetadata::default());
                }
            }
        }
    }

    /// Lets go of what may have become a fence.
    fn end_text(&mut self, counters: &mut Counters) {
        let pieces = self.fences.finish();
        self.pieces(counters, pieces);
        self.flush_whole(counters);
    }

    fn token(&mut self, text: String) {
        if self.stream {
            self.gathered.push(text);
        } else {
            self.whole.push_str(&text);
        }
    }

    /// An empty line between two messages, marked as such.
    fn separate(&mut self) {
        if !self.stream {
            return;
        }
        self.flush();
        self.piece("\n\n".to_owned(), BREAK);
    }

    fn thought(&mut self, text: &str) {
        let text = plain::clean(text);
        let message = last_line(&text);
        if text.is_empty() {
            return;
        }
        let message = if message.is_empty() { "Thinking".to_owned() } else { message };
        let query_id = self.query_id.clone();
        self.say(
            method::THINKING,
            &Thinking { query_id, phase: "planning".to_owned(), message, thought: Some(text) },
        );
    }

    fn thinking(&mut self, phase: &'static str, words: String) {
        let message: String = plain::clean(&words).chars().take(MAX_WORDS).collect();
        let now = (phase, message.clone());
        if std::mem::replace(&mut self.phase, now) == (phase, message.clone()) {
            return;
        }
        let query_id = self.query_id.clone();
        self.say(method::THINKING, &Thinking { query_id, phase: phase.to_owned(), message, thought: None });
    }

    fn notice(&mut self, counters: &mut Counters, level: Level, code: &str, text: &str) {
        self.end_text(counters);
        let (kind, word) = match level {
            Level::Error => ("error", "error"),
            Level::Warning => ("text", "warning"),
            Level::Success => ("text", "success"),
            Level::Info => ("text", "info"),
        };
        self.error_told |= level == Level::Error;
        let metadata = BlockMetadata {
            level: Some(word.to_owned()),
            code: Some(code.to_owned()),
            ..BlockMetadata::default()
        };
        self.block(counters, kind, None, text, metadata);
    }

    fn code(
        &mut self,
        counters: &mut Counters,
        language: Option<String>,
        text: &str,
        mut metadata: BlockMetadata,
    ) {
        metadata.executable = language.as_deref().is_some_and(|language| SHELLS.contains(&language));
        self.block(counters, "code", language, text, metadata);
    }

    fn diff(
        &mut self,
        counters: &mut Counters,
        file: Option<String>,
        text: &str,
        execution_id: Option<String>,
    ) {
        let metadata = BlockMetadata { file, diff: true, execution_id, ..BlockMetadata::default() };
        self.block(counters, "diff", Some("diff".to_owned()), text, metadata);
    }

    fn block(
        &mut self,
        counters: &mut Counters,
        kind: &str,
        language: Option<String>,
        text: &str,
        metadata: BlockMetadata,
    ) {
        self.flush_whole(counters);
        let content = plain::clean(text);
        if !self.style.blocks {
            self.flush();
            let fence = format!("\n```{}\n{content}\n```\n", language.unwrap_or_default());
            return self.piece(
                if matches!(kind, "code" | "diff") { fence } else { format!("\n{content}\n") },
                "text",
            );
        }
        counters.blocks += 1;
        let block = Block {
            kind: kind.to_owned(),
            language: language.clone(),
            content: content.clone(),
            metadata,
            annotations: Vec::new(),
        };
        // The existing client draws code and diffs, and prints anything else as it stands, between what is before and after it.
        let raw = self.style.carriage_returns && !matches!(kind, "code" | "diff");
        let content =
            if raw { format!("\r\n{}\r\n", content.trim_end().replace('\n', "\r\n")) } else { content };
        let params = BlockParams {
            query_id: self.query_id.clone(),
            block_id: Some(format!("block-{}", counters.blocks)),
            block: Some(block),
            kind: Some(kind.to_owned()),
            content: Some(content),
            language,
        };
        self.say(method::BLOCK, &params);
    }

    /// All text so far as one block, for a client that does not want pieces.
    fn flush_whole(&mut self, counters: &mut Counters) {
        let whole = std::mem::take(&mut self.whole);
        if !whole.is_empty() {
            self.block(counters, "text", None, &whole, BlockMetadata::default());
        }
    }

    /// Says a line after all text that was gathered.
    fn say(&mut self, method: &str, params: &impl Serialize) {
        self.flush();
        self.lines.push(jsonrpc::notification(method, params));
    }

    fn flush(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        if self.style.batches && gathered.len() > 1 {
            let from = self.index;
            self.index += gathered.len() as u64;
            let tokens = (from..).zip(gathered).map(|(index, token)| WirePiece { token, index: Some(index) });
            let params = Tokens { query_id: self.query_id.clone(), tokens: tokens.collect() };
            self.lines.push(jsonrpc::notification(method::TOKENS, &params));
        } else if !gathered.is_empty() {
            self.piece(gathered.concat(), "text");
        }
    }

    fn piece(&mut self, text: String, kind: &str) {
        let content = if self.style.carriage_returns { text.replace('\n', "\r\n") } else { text.clone() };
        let params = Token {
            query_id: self.query_id.clone(),
            token: Some(text),
            content: Some(content),
            index: Some(self.index),
            kind: Some("text".to_owned()),
            metadata: Some(TokenMetadata { kind: kind.to_owned() }),
        };
        self.index += 1;
        self.lines.push(jsonrpc::notification(method::TOKEN, &params));
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(MAX_WORDS).collect()
}
