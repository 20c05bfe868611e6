//! What goes to the model in a turn, piece by piece, and how much it is. Pure.
//!
//! A piece is one entry of the conversation with everything that belongs to it: an answer of the model and the results of the
//! tools it called are never torn apart, so the conversation can be cut between any two pieces.

use crate::briefing::{Known, Told};
use crate::chat;
use crate::recall;
use domain::content::Role;
use domain::ids::EntryId;
use domain::state::{Entry, EntryKind};
use domain::tool::{LONG_RESULT, ToolRun};
use models::{ChatMessage, Content, ToolCall};
use std::sync::Arc;

/// A token is about this many bytes where the provider has not told.
const BYTES_PER_TOKEN: u64 = 4;
/// A picture counts like this many bytes, whatever its size.
const IMAGE_BYTES: u64 = 4_000;
/// A cut keeps the newest part of this share.
const KEPT_SHARE: u64 = 5;
/// Once the room is full, results are left out that lie further back than this share of it. What a provider has in its cache is lost then,
/// so it must happen seldom: the next time is when all that became free is full again.
const YOUNG_SHARE: u64 = 4;
/// Characters of an old result that stay.
const PRUNED_HEAD: usize = 400;
/// Fewer pieces than this are not worth a summary.
const MIN_OLDER: usize = 2;

/// One entry of the conversation as the model reads it.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) entry: EntryId,
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) source: Source,
    /// What the model was told beside it, which stands before its answer.
    pub(crate) told: Option<Told>,
    /// Bytes of old results that were left out of it.
    pub(crate) pruned: u64,
}

/// Whose words a piece has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A person's, without the files that went along.
    Person(String),
    /// A summary of what was said before, with what stands beside it.
    Summary(String),
    /// The model's, with the results of its calls.
    Model,
}

impl Source {
    fn of(entry: &Entry) -> Source {
        match &entry.kind {
            EntryKind::Message(message) if message.role == Role::User => Source::Person(message.text()),
            EntryKind::Compaction(compaction) => Source::Summary(compaction.summary.clone()),
            EntryKind::Message(_) | EntryKind::Notice { .. } => Source::Model,
        }
    }
}

/// The conversation of a turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    pieces: Vec<Piece>,
    /// What stands before the conversation: instructions and the descriptions of tools.
    overhead: u64,
    /// What the provider counted, and how many bytes there were then.
    counted: Option<(u64, u64)>,
}

impl Context {
    /// Begins with a session's entries; those that the model is not shown are left out. `counted` is what was counted up to the
    /// model's newest words.
    pub(crate) fn read(entries: &[Arc<Entry>], tools: &[Arc<ToolRun>], counted: Option<u64>) -> Context {
        let read = |entries: &[Arc<Entry>]| {
            let pieces = entries.iter().map(|entry| {
                let messages = chat::messages(entry, tools);
                let (source, told) = (Source::of(entry), chat::told_before(entry));
                Piece { entry: entry.id, messages, source, told, pruned: 0 }
            });
            pieces.filter(|piece| !piece.messages.is_empty()).collect::<Vec<_>>()
        };
        let (before, since) =
            entries.split_at(entries.iter().rposition(|entry| spoke(entry)).map_or(0, |at| at + 1));
        let mut context = Context { pieces: read(before), overhead: 0, counted: None };
        context.tell_once();
        context.counted(counted.unwrap_or(0));
        context.pieces.extend(read(since));
        context
    }

    /// Counts what every request carries besides the conversation: the system prompt and the tools.
    pub(crate) fn set_overhead(&mut self, bytes: usize) {
        self.overhead = bytes as u64;
    }

    /// The conversation as the next request sends it.
    pub(crate) fn messages(&self) -> Vec<ChatMessage> {
        self.pieces.iter().flat_map(|piece| piece.messages.iter().cloned()).collect()
    }

    /// The tools that the model called, the oldest first.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.pieces.iter().flat_map(|piece| &piece.messages).flat_map(|message| match message {
            ChatMessage::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            ChatMessage::User { .. } | ChatMessage::Tool { .. } => &[],
        })
    }

    /// What the model was told beside it.
    pub(crate) fn known(&self) -> Option<Known<'_>> {
        Known::of(self.pieces.iter().filter_map(|piece| piece.told.as_ref()))
    }

    /// Adds an answer of the model to what it was told before it, which the provider has not counted yet.
    pub(crate) fn push(&mut self, entry: EntryId, told: Told, message: ChatMessage) {
        let messages = told.message().into_iter().chain([message]).collect();
        self.pieces.push(Piece { entry, messages, source: Source::Model, told: Some(told), pruned: 0 });
    }

    /// A tool that was called in some answer has a (new) result.
    pub(crate) fn answer(&mut self, call: &str, result: ChatMessage) {
        let calls = |message: &ChatMessage| match message {
            ChatMessage::Assistant { tool_calls, .. } => tool_calls.iter().any(|known| known.id == call),
            ChatMessage::User { .. } | ChatMessage::Tool { .. } => false,
        };
        let Some(piece) = self.pieces.iter_mut().rfind(|piece| piece.messages.iter().any(calls)) else {
            return;
        };
        let stale =
            |message: &ChatMessage| matches!(message, ChatMessage::Tool { call_id, .. } if call_id == call);
        piece.messages.retain(|message| !stale(message));
        piece.messages.push(result);
    }

    /// The provider has counted everything up to here.
    pub(crate) fn counted(&mut self, tokens: u64) {
        self.counted = (tokens > 0).then(|| (tokens, self.bytes()));
    }

    /// How many tokens it is: what the provider counted, and an estimate for what came since.
    pub(crate) fn tokens(&self) -> u64 {
        match self.counted {
            Some((tokens, bytes)) => {
                tokens.saturating_add(self.bytes().saturating_sub(bytes) / BYTES_PER_TOKEN)
            }
            None => (self.bytes() + self.overhead).div_ceil(BYTES_PER_TOKEN),
        }
    }

    fn bytes(&self) -> u64 {
        self.pieces.iter().map(Piece::bytes).sum()
    }

    /// Leaves long results out that lie far back, once so many tokens are full; hands them over, by the ids of their calls. The same
    /// conversation always loses the same ones, whichever turn looks.
    pub(crate) fn prune(&mut self, room: u64) -> Vec<(String, String)> {
        let room = room.saturating_mul(BYTES_PER_TOKEN);
        let all: u64 = self.pieces.iter().map(|piece| piece.bytes() + piece.pruned).sum();
        let young = room / YOUNG_SHARE;
        let step = (room - young).max(1);
        let limit = all.saturating_sub(young) / step * step;
        let (mut pruned, mut end, mut saved) = (Vec::new(), 0, 0);
        for piece in &mut self.pieces {
            end += piece.bytes() + piece.pruned;
            if end > limit {
                break;
            }
            let before = piece.bytes();
            pruned.extend(piece.messages.iter_mut().filter_map(left_out));
            let less = before.saturating_sub(piece.bytes());
            piece.pruned += less;
            saved += less;
        }
        if let Some((tokens, bytes)) = &mut self.counted {
            *tokens = tokens.saturating_sub(saved / BYTES_PER_TOKEN);
            *bytes = bytes.saturating_sub(saved);
        }
        pruned
    }

    /// Where to cut: what is before goes into a summary, the newest fifth is kept. `None` when that is not worth it.
    pub(crate) fn cut(&self) -> Option<usize> {
        let room = self.bytes() / KEPT_SHARE;
        let mut kept = 0;
        let mut at = self.pieces.len();
        while let Some(piece) = at.checked_sub(1).and_then(|before| self.pieces.get(before)) {
            kept += piece.bytes();
            // The newest piece is kept however long it is.
            if kept > room && at < self.pieces.len() {
                break;
            }
            at -= 1;
        }
        (at >= MIN_OLDER).then_some(at)
    }

    /// The part before the cut, which a summary will replace.
    pub(crate) fn older(&self, cut: usize) -> &[Piece] {
        self.pieces.get(..cut).unwrap_or_default()
    }

    /// The first entry behind the cut: it stays as it is.
    pub(crate) fn first_kept(&self, cut: usize) -> Option<EntryId> {
        self.pieces.get(cut).map(|piece| piece.entry)
    }

    /// Puts a summary in the place of what is before the cut.
    pub(crate) fn compacted(&mut self, cut: usize, entry: EntryId, summary: &str) {
        self.pieces.drain(..cut.min(self.pieces.len()));
        let source = Source::Summary(summary.to_owned());
        let messages = vec![chat::summary(summary)];
        self.pieces.insert(0, Piece { entry, messages, source, told: None, pruned: 0 });
        self.tell_once();
        self.counted = None;
    }

    /// What stands before the conversation covers what was told before that began to stand there.
    fn tell_once(&mut self) {
        let begins = |piece: &Piece| piece.told.as_ref().is_some_and(|told| told.first().is_some());
        let covered = self.pieces.iter().rposition(begins).unwrap_or(self.pieces.len());
        for piece in self.pieces.iter_mut().take(covered) {
            let Some(told) = &mut piece.told else { continue };
            let stood = usize::from(told.message().is_some());
            told.forget_facts();
            piece.messages.splice(..stood, told.message());
        }
    }
}

/// Whether the model said it, or wrote it as a summary.
fn spoke(entry: &Entry) -> bool {
    match &entry.kind {
        EntryKind::Message(message) => message.role == Role::Assistant,
        EntryKind::Compaction(_) => true,
        EntryKind::Notice { .. } => false,
    }
}

/// Takes a long result out of a message, but for its head, and says how it is read again.
fn left_out(message: &mut ChatMessage) -> Option<(String, String)> {
    let ChatMessage::Tool { call_id, content, .. } = message else { return None };
    let [Content::Text(text), ..] = content.as_mut_slice() else { return None };
    if text.len() <= LONG_RESULT {
        return None;
    }
    let (head, count): (String, usize) = (text.chars().take(PRUNED_HEAD).collect(), text.chars().count());
    let rest = count - PRUNED_HEAD.min(count);
    let hint = recall::hint(call_id);
    let short = format!("{head}\n[{rest} more characters of this old result are left out; {hint}");
    Some((call_id.clone(), std::mem::replace(text, short)))
}

impl Piece {
    fn bytes(&self) -> u64 {
        self.messages.iter().map(message_bytes).sum()
    }
}

fn message_bytes(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::User { content } | ChatMessage::Tool { content, .. } => content_bytes(content),
        ChatMessage::Assistant { content, tool_calls, .. } => {
            let calls =
                tool_calls.iter().map(|call| call.name.len() + call.args.to_object().to_string().len());
            content_bytes(content) + calls.sum::<usize>() as u64
        }
    }
}

fn content_bytes(content: &[Content]) -> u64 {
    let bytes = |piece: &Content| match piece {
        Content::Text(text) => text.len() as u64,
        Content::Image { .. } => IMAGE_BYTES,
    };
    content.iter().map(bytes).sum()
}

#[cfg(test)]
mod tests;
