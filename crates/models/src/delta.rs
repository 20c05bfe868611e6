//! What a model says while it answers: the items of one stream. Plain data.

use std::ops::AddAssign;

use crate::{ErrorKind, OpaquePart, ToolCall};

/// One item of a response.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text of the answer.
    Text(String),
    /// More of the thought.
    Thought(String),
    /// A tool call begins; its arguments follow in fragments.
    ToolCallStart {
        /// Position among the calls of this response, from 0.
        index: usize,
        /// The id the complete call will have.
        id: String,
        name: String,
    },
    /// A fragment of a call's arguments, for show only: the complete call follows.
    ToolCallArgs {
        /// The call's position.
        index: usize,
        /// The next characters of the JSON.
        fragment: String,
    },
    /// A complete call. Only this one is to be run.
    ToolCall(ToolCall),
    /// Data to keep with the message, see [`OpaquePart`].
    Keep(OpaquePart),
    /// Tokens so far of this response; a later one replaces an earlier one.
    Usage(Usage),
    /// The same, counted by size where the provider told nothing.
    Estimated(Usage),
    /// An attempt failed; the next starts after the delay and says everything from the beginning. What was said before it
    /// was cut off and does not count; its tokens do.
    Retrying {
        /// The attempt that will follow, from 2.
        attempt: u32,
        /// How many attempts there are at most.
        max: u32,
        /// The wait before it.
        delay_ms: u64,
        reason: String,
        /// Why, where it is known.
        kind: Option<ErrorKind>,
        /// The HTTP status, if there was one.
        status: Option<u16>,
        /// Which model, `provider/name`.
        source: String,
    },
    /// The response is complete. Always the last item.
    Done { stop: StopReason },
}

/// Why a response ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model has said all.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The bound on the answer's length was reached.
    Length,
    /// The model or its provider declined to answer.
    Refusal,
    /// Something else, in the provider's word.
    Other(String),
}

/// Tokens of one response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// All tokens read, those from and to the cache included.
    pub input: u64,
    /// All tokens written, thinking included.
    pub output: u64,
    /// Of `input`: read from the provider's cache.
    pub cache_read: u64,
    /// Of `input`: written to the provider's cache.
    pub cache_write: u64,
    /// Of `output`: spent on thinking.
    pub reasoning: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}
