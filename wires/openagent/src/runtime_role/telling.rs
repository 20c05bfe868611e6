//! What one query says on this wire: canonical events in, `stream.*`, `tool.*` and `agent.thinking` lines out.
//!
//! Invariants: `index` rises by one; lines keep the order of events; `stream.complete` comes exactly once and nothing after it; each tool
//! run gets at most one `tool.complete`. When the link lags, pieces of text are gathered and go out together.

mod ends;
mod tools;

use super::super::fences::{Fenced, Fences};
use super::super::plain::{self, Plain};
use super::super::wire::notify::{
    Block, BlockMetadata, BlockParams, Piece, Thinking, Token, TokenMetadata, Tokens,
};
use super::client::Style;
use domain::content::{Part, Role, Usage};
use domain::event::{AskEvent, Body, ContextEvent, Failure, NoteEvent, Outcome, PlanState, RunEvent};
use domain::ids::{Millis, RunId, ToolRunId};
use domain::signal::Level;
use domain::state::State;
use rolekit::narrator::{Narration, Narrator, Opens};
use rolekit::rpc::{self, Call};
use serde::Serialize;
use std::collections::BTreeMap;
use tools::Execution;

/// Most pieces of text that are gathered.
const MAX_BATCH: usize = 64;
/// Longest words of `agent.thinking`.
const MAX_WORDS: usize = 160;
/// `metadata.type` of the empty line between two messages of one answer.
pub(in super::super) const BREAK: &str = "break";
/// Languages of blocks that a shell could run as they stand.
pub(in super::super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "fish", "shell", "console"];

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
    /// The runtime is another program, which may not tell everything.
    follows: bool,
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
    /// What the model thinks, until a line is full.
    thoughts: String,
    /// The run, once it is known.
    narrator: Option<Narrator>,
    /// The model has begun to answer.
    answers: bool,
    tools: BTreeMap<ToolRunId, Execution>,
    tools_executed: Vec<String>,
    usage: Usage,
    model: String,
    phase: (&'static str, String),
    error_told: bool,
    over: bool,
    lines: Vec<String>,
}

impl Telling {
    pub(super) fn new(query_id: String, style: Style, follows: bool, stream: bool, now: Millis) -> Telling {
        Telling {
            query_id,
            style,
            follows,
            stream,
            began: now,
            index: 0,
            gathered: Vec::new(),
            whole: String::new(),
            fences: Fences::default(),
            plain: Plain::default(),
            thoughts: String::new(),
            narrator: None,
            answers: false,
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

    /// Takes what happened in `run`; gives what to say. `behind` means that more is already known than told: text may wait for it.
    pub(super) fn hear(
        &mut self,
        counters: &mut Counters,
        run: RunId,
        at: Millis,
        body: &Body,
        behind: bool,
    ) -> Vec<String> {
        if self.over {
            return Vec::new();
        }
        let narrator = self.narrator.get_or_insert_with(|| Narrator::new(run));
        for told in narrator.hear(at, body) {
            self.tell(counters, at, told);
        }
        self.happened(counters, body);
        if !behind || self.gathered.len() >= MAX_BATCH {
            self.flush();
        }
        std::mem::take(&mut self.lines)
    }

    /// Tells what `state` knows of `run` beyond what was told.
    pub(super) fn catch_up(&mut self, counters: &mut Counters, state: &State, run: RunId) -> Vec<String> {
        let narrator = self.narrator.get_or_insert_with(|| Narrator::new(run));
        let missed = narrator.missed(state);
        let mut lines = Vec::new();
        for (at, body) in missed {
            match &body {
                // What was going on then is not going on now.
                Body::Run(event) if !matches!(event, RunEvent::Ended { .. }) => {
                    self.narrator.as_mut().map(|narrator| narrator.hear(at, &body).len());
                }
                Body::Context(_) | Body::Note(_) => {}
                _ => lines.extend(self.hear(counters, run, at, &body, false)),
            }
        }
        lines
    }

    fn tell(&mut self, counters: &mut Counters, at: Millis, told: Narration<'_>) {
        if !matches!(told, Narration::Thought { .. }) {
            self.end_thought();
        }
        match told {
            Narration::RunStarted => {
                self.began = at;
                self.thinking("analyzing", "Reading your question".to_owned());
            }
            Narration::RunEnded { outcome, .. } => self.ended(counters, at, outcome),
            Narration::StepStarted { model, .. } => {
                if let Some(model) = model {
                    self.model = model.to_string();
                }
                if !self.tools.is_empty() || self.answers {
                    self.thinking("generating", "Writing the answer".to_owned());
                }
            }
            Narration::StepEnded { usage, .. } => self.usage = self.usage.plus(usage),
            Narration::MessageStarted { role, .. } => self.answers |= role == Role::Assistant,
            Narration::Text { text, opens, .. } => {
                self.part_from_before(opens);
                self.text(counters, text);
            }
            Narration::Thought { text, .. } => self.thought(text),
            Narration::Block { part, opens, .. } => {
                self.part_from_before(opens);
                self.part(counters, part);
            }
            Narration::MessageEnded { role: Role::Assistant, .. } => self.end_text(counters),
            Narration::Call { tool, name, .. } => self.proposed(counters, tool, name),
            Narration::CallStarted { tool } => self.started(tool),
            Narration::CallProgress { tool, progress, .. } => self.progress(tool, progress),
            Narration::CallResult { tool, call, outcome, result } => {
                self.tool_ended(counters, at, tool, call, outcome, result);
            }
            Narration::TurnStarted
            | Narration::TurnEnded
            | Narration::Prompt { .. }
            | Narration::Whole(_)
            | Narration::MessageEnded { .. } => {}
        }
    }

    /// What is no part of the run's story.
    fn happened(&mut self, counters: &mut Counters, body: &Body) {
        match body {
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
            Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, .. }) => {
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
            | Body::Run(_)
            | Body::Message(_)
            | Body::Tool(_)
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
        self.noticed(counters, level, "notify", text)
    }

    /// A word that was said before the query began.
    pub(super) fn noticed(
        &mut self,
        counters: &mut Counters,
        level: Level,
        code: &str,
        text: &str,
    ) -> Vec<String> {
        self.notice(counters, level, code, text);
        std::mem::take(&mut self.lines)
    }

    /// The end of a query that never became a run.
    pub(super) fn failed(&mut self, counters: &mut Counters, now: Millis, failure: Failure) -> Vec<String> {
        self.never_ran(counters, now, &Outcome::Failed(failure))
    }

    /// The end of a query that was stopped before it became a run.
    pub(super) fn cancelled(&mut self, counters: &mut Counters, now: Millis) -> Vec<String> {
        self.never_ran(counters, now, &Outcome::Cancelled)
    }

    fn never_ran(&mut self, counters: &mut Counters, now: Millis, outcome: &Outcome) -> Vec<String> {
        if !self.over {
            self.ended(counters, now, outcome);
        }
        std::mem::take(&mut self.lines)
    }

    fn part(&mut self, counters: &mut Counters, part: &Part) {
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

    /// Parts what is said from what an earlier message said.
    fn part_from_before(&mut self, opens: Opens) {
        if matches!(opens, Opens::Turn | Opens::Message) {
            self.separate();
        }
    }

    fn text(&mut self, counters: &mut Counters, text: &str) {
        let text = self.plain.clean(text);
        if !self.style.blocks {
            return self.token(text);
        }
        let pieces = self.fences.push(&text);
        self.pieces(counters, pieces);
    }

    fn pieces(&mut self, counters: &mut Counters, pieces: Vec<Fenced>) {
        for piece in pieces {
            match piece {
                Fenced::Text(text) => self.token(text),
                Fenced::Block { language, text } if matches!(language.as_deref(), Some("diff" | "patch")) => {
                    self.diff(counters, None, &text, None);
                }
                Fenced::Block { language, text } => {
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

    /// Thoughts come word by word; they are told line by line.
    fn thought(&mut self, text: &str) {
        self.thoughts.push_str(&plain::clean(text));
        if self.thoughts.ends_with('\n') || self.thoughts.len() >= MAX_WORDS {
            self.end_thought();
        }
    }

    fn end_thought(&mut self) {
        let text = std::mem::take(&mut self.thoughts);
        if text.is_empty() {
            return;
        }
        let message = last_line(&text);
        let message = if message.is_empty() { "Thinking".to_owned() } else { message };
        let query_id = self.query_id.clone();
        self.say(&Thinking { query_id, phase: "planning".to_owned(), message, thought: Some(text) });
    }

    fn thinking(&mut self, phase: &'static str, words: String) {
        let message: String = plain::clean(&words).chars().take(MAX_WORDS).collect();
        let now = (phase, message.clone());
        if std::mem::replace(&mut self.phase, now) == (phase, message.clone()) {
            return;
        }
        let query_id = self.query_id.clone();
        self.say(&Thinking { query_id, phase: phase.to_owned(), message, thought: None });
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
        self.say(&params);
    }

    /// All text so far as one block, for a client that does not want pieces.
    fn flush_whole(&mut self, counters: &mut Counters) {
        let whole = std::mem::take(&mut self.whole);
        if !whole.is_empty() {
            self.block(counters, "text", None, &whole, BlockMetadata::default());
        }
    }

    /// Says a line after all text that was gathered.
    fn say(&mut self, params: &(impl Call + Serialize)) {
        self.flush();
        self.lines.push(rpc::notification(params));
    }

    fn flush(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        if self.style.batches && gathered.len() > 1 {
            let from = self.index;
            self.index += gathered.len() as u64;
            let tokens = (from..).zip(gathered).map(|(index, token)| Piece { token, index: Some(index) });
            let params = Tokens { query_id: self.query_id.clone(), tokens: tokens.collect() };
            self.lines.push(rpc::notification(&params));
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
        self.lines.push(rpc::notification(&params));
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(MAX_WORDS).collect()
}
