//! What is being written: the model's messages and tool outputs so far, and when to say them again.
//!
//! This wire repeats the whole message with every change. Said at every token, an answer of n tokens would cost n² bytes; so changes are
//! gathered, at least [`PACE`] apart and the longer the message the rarer, which keeps one stream below about a megabyte a second
//! and an answer linear in the time it takes. The first change is said at once, the last before the end.

use super::super::lower;
use super::super::wire::event::{Change, ChangeKind, Changed, TaskDetails};
use super::super::wire::message::{AssistantMessage, Block, ToolResult, of};
use domain::content::{Json, Part, TextKind, Usage};
use domain::event::Finish;
use domain::ids::{Millis, ToolRunId};
use domain::session::ModelRef;
use domain::tool::Progress;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// Shortest time between two repetitions of one message.
pub(super) const PACE: Duration = Duration::from_millis(50);
/// Bytes of a message for which it waits another millisecond.
const BYTES_PER_MS: usize = 1_000;
/// Most of a running tool's output that is repeated: its end.
pub(super) const OUTPUT_TAIL: usize = 16 * 1024;

/// When something that changes was last said.
#[derive(Debug, Default)]
struct Pacer {
    said_at: Option<Millis>,
    dirty: bool,
}

impl Pacer {
    /// When it is due; `None` when nothing changed.
    fn due(&self, bytes: usize) -> Option<Millis> {
        let wait = u64::try_from(PACE.as_millis()).unwrap_or(50).max((bytes / BYTES_PER_MS) as u64);
        self.dirty.then(|| self.said_at.map_or(Millis(0), |said| Millis(said.0 + wait)))
    }

    fn said(&mut self, now: Millis) {
        (self.said_at, self.dirty) = (Some(now), false);
    }
}

/// A message that has begun.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) at: Millis,
    pub(super) model: Option<ModelRef>,
    pub(super) parts: Vec<Part>,
    tail_open: bool,
    tools: BTreeMap<ToolRunId, (String, Json)>,
    bytes: usize,
    /// What came since it was last said, of the newest part.
    piece: String,
    pacer: Pacer,
}

impl Draft {
    pub(super) fn new(at: Millis, model: Option<ModelRef>) -> Draft {
        Draft {
            at,
            model,
            parts: Vec::new(),
            tail_open: false,
            tools: BTreeMap::new(),
            bytes: 0,
            piece: String::new(),
            pacer: Pacer::default(),
        }
    }

    /// Adds to the text or thought at the end of the message.
    pub(super) fn text(&mut self, kind: TextKind, text: &str) {
        let extends =
            self.tail_open && self.parts.last().and_then(Part::streamed).is_some_and(|(k, _)| k == kind);
        if !extends {
            self.parts.push(Part::stream(kind));
            self.tail_open = true;
            self.piece.clear();
        }
        if let Some(Part::Text(tail) | Part::Thought { text: tail, .. }) = self.parts.last_mut() {
            tail.push_str(text);
        }
        self.piece.push_str(text);
        self.bytes += text.len();
        self.pacer.dirty = true;
    }

    /// Adds a part that came at once.
    pub(super) fn part(&mut self, part: &Part) {
        self.bytes += match part {
            Part::Image { base64, .. } => base64.len(),
            part => part.streamed().map_or(64, |(_, text)| text.len()),
        };
        self.parts.push(part.clone());
        self.tail_open = false;
        self.piece.clear();
        if let Some((_, text)) = part.streamed() {
            self.piece.push_str(text);
        }
        self.pacer.dirty = true;
    }

    /// Adds a call of a tool.
    pub(super) fn tool(&mut self, id: ToolRunId, name: &str, args: &Json) {
        self.tools.insert(id, (name.to_owned(), args.clone()));
        self.part(&Part::Tool(id));
        self.bytes += args.as_str().len();
    }

    /// After a gap the message is repeated, whether or not it has grown.
    pub(super) fn say_again(&mut self) {
        self.pacer.dirty |= !self.parts.is_empty();
    }

    /// Whether the message calls a tool.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// When the next repetition is due; `None` when nothing changed.
    pub(super) fn due(&self) -> Option<Millis> {
        self.pacer.due(self.bytes)
    }

    /// Notes that everything so far was sent.
    pub(super) fn said(&mut self, now: Millis) {
        self.pacer.said(now);
        self.piece.clear();
    }

    /// The message so far, or whole with `finish`.
    pub(super) fn message(&self, finish: Option<&Finish>, usage: Option<Usage>) -> AssistantMessage<'_> {
        lower::assistant_message(self.blocks(&self.parts), self.model.as_ref(), finish, usage, self.at)
    }

    /// The newest difference, for clients that draw only that.
    pub(super) fn change(&self) -> Change<'_> {
        let at = self.parts.len().saturating_sub(1) as u64;
        let piece = || Changed::Text(self.piece.as_str().into());
        match self.parts.last() {
            Some(Part::Thought { .. }) => Change(ChangeKind::ThinkingDelta, at, piece()),
            Some(part @ Part::Tool(_)) => {
                let block = self.blocks(std::slice::from_ref(part)).into_iter().next();
                Change(ChangeKind::ToolCallEnd, at, block.map_or(Changed::Nothing, Changed::Block))
            }
            _ => Change(ChangeKind::TextDelta, at, piece()),
        }
    }

    fn blocks<'a>(&'a self, parts: &'a [Part]) -> Vec<Block<'a>> {
        lower::blocks(parts, |id| self.tools.get(&id).map(|(name, args)| (name.as_str(), args)))
    }
}

/// A tool that runs.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) args: Json,
    tail: String,
    cut: bool,
    status: Option<(Option<u8>, String)>,
    pacer: Pacer,
}

impl Output {
    pub(super) fn new(name: String, args: Json) -> Output {
        Output { name, args, tail: String::new(), cut: false, status: None, pacer: Pacer::default() }
    }

    /// Adds to a tool's output.
    pub(super) fn take(&mut self, progress: &Progress) {
        match progress {
            Progress::Output(text) => self.tail.push_str(text),
            Progress::Replace(text) => {
                (self.tail, self.cut) = (text.clone(), false);
            }
            Progress::Status { percent, message } => self.status = Some((*percent, message.clone())),
        }
        if self.tail.len() > OUTPUT_TAIL * 2 {
            let mut from = self.tail.len() - OUTPUT_TAIL;
            while !self.tail.is_char_boundary(from) {
                from += 1;
            }
            self.tail.drain(..from);
            self.cut = true;
        }
        self.pacer.dirty = true;
    }

    /// When the next update may be sent, if one waits.
    pub(super) fn due(&self) -> Option<Millis> {
        self.pacer.due(self.tail.len())
    }

    /// Notes that everything so far was sent.
    pub(super) fn said(&mut self, now: Millis) {
        self.pacer.said(now);
    }

    /// What it gave so far.
    pub(super) fn partial(&self) -> ToolResult<'_> {
        let text: Cow<'_, str> = match (&self.status, self.tail.is_empty(), self.cut) {
            (Some((_, message)), true, _) => message.as_str().into(),
            (_, _, true) => format!("…{}", self.tail).into(),
            (_, _, false) => self.tail.as_str().into(),
        };
        let details = self.status.as_ref().and_then(status_details);
        ToolResult { of: of::RESULT, content: vec![lower::text_block(text)], details }
    }
}

fn status_details<'a>((percent, message): &(Option<u8>, String)) -> Option<Cow<'a, RawValue>> {
    let (percent, message) = (percent.map(u64::from), Some(message.clone()));
    to_raw_value(&TaskDetails { percent, message, current_action: None }).ok().map(Cow::Owned)
}
