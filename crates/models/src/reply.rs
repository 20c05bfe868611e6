//! Gathers a stream into the message that goes into the history. Pure; what arrived before a failure is kept.

use crate::{ChatMessage, Content, Delta, OpaquePart, StopReason, ToolCall, Usage};

/// What has arrived of one response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The answer so far.
    pub text: String,
    /// The thought so far.
    pub thought: String,
    /// The complete tool calls so far.
    pub tool_calls: Vec<ToolCall>,
    /// What the provider wants back.
    pub kept: Vec<OpaquePart>,
    /// Tokens so far of the attempt that counts.
    pub usage: Usage,
    /// Some tokens were counted by size.
    pub estimated: bool,
    /// Tokens of attempts that broke: they are paid for all the same.
    pub lost: Usage,
    /// Set when the response is complete.
    pub stop: Option<StopReason>,
}

impl Reply {
    /// Adds what the next delta brings.
    pub fn push(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Thought(text) => self.thought.push_str(&text),
            Delta::ToolCall(call) => self.tool_calls.push(call),
            Delta::Keep(kept) => self.kept.push(kept),
            Delta::Usage(usage) => self.usage = usage,
            Delta::Estimated(usage) => (self.usage, self.estimated) = (usage, true),
            Delta::Done { stop } => self.stop = Some(stop),
            Delta::Retrying { .. } => {
                let mut lost = self.lost;
                lost += self.usage;
                *self = Self { lost, estimated: self.estimated, ..Self::default() };
            }
            Delta::ToolCallStart { .. } | Delta::ToolCallArgs { .. } => {}
        }
    }

    /// Tokens of all attempts.
    pub fn spent(&self) -> Usage {
        let mut spent = self.lost;
        spent += self.usage;
        spent
    }

    /// The message for the history.
    pub fn into_message(self) -> ChatMessage {
        let content = if self.text.is_empty() { Vec::new() } else { vec![Content::Text(self.text)] };
        ChatMessage::Assistant { content, tool_calls: self.tool_calls, kept: self.kept }
    }
}
