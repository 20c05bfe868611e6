//! How much a request and an answer are, by size, for servers that do not count tokens. Pure; no tokenizer, so only about.

use crate::{ChatMessage, Content, Delta, Request};

/// A token is about this many bytes.
pub(super) const BYTES_PER_TOKEN: u64 = 4;
/// A picture counts like this many bytes, whatever its size.
const IMAGE_BYTES: usize = 4_000;

/// Bytes of what a model reads.
pub(super) fn of_request(request: &Request) -> u64 {
    let tools = request.tools.iter();
    let tools = tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
    let system = request.system.as_ref().map_or(0, String::len);
    let messages = request.messages.iter().map(of_message);
    (system + tools.sum::<usize>() + messages.sum::<usize>()) as u64
}

fn of_message(message: &ChatMessage) -> usize {
    let of_content = |content: &[Content]| -> usize {
        let piece = |piece: &Content| match piece {
            Content::Text(text) => text.len(),
            Content::Image { .. } => IMAGE_BYTES,
        };
        content.iter().map(piece).sum()
    };
    match message {
        ChatMessage::User { content } | ChatMessage::Tool { content, .. } => of_content(content),
        ChatMessage::Assistant { content, tool_calls, .. } => {
            let calls =
                tool_calls.iter().map(|call| call.name.len() + call.args.to_object().to_string().len());
            of_content(content) + calls.sum::<usize>()
        }
    }
}

/// Bytes of what a model writes.
pub(super) fn of_delta(delta: &Delta) -> u64 {
    let bytes = match delta {
        Delta::Text(text) | Delta::Thought(text) | Delta::ToolCallArgs { fragment: text, .. } => text.len(),
        Delta::ToolCallStart { name, .. } => name.len(),
        Delta::ToolCall(_)
        | Delta::Keep(_)
        | Delta::Usage(_)
        | Delta::Estimated(_)
        | Delta::Retrying { .. }
        | Delta::Done { .. } => 0,
    };
    bytes as u64
}
