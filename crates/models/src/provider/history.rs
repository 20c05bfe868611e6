//! Mends a conversation before it goes out. Pure.
//!
//! Providers refuse a history in which a tool call has no result or a result has no call; a cancelled run or a
//! shortened history leaves such holes. A missing result is filled in with words that say so; a result
//! without a call is dropped.

use std::collections::HashSet;

use crate::{ChatMessage, Content, ToolCall};

/// What stands for a result that never came.
const NO_RESULT: &str = "no result: the call was interrupted";

/// The conversation with exactly one result for each call, right after it.
pub(super) fn mend(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut out = Vec::with_capacity(messages.len());
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            ChatMessage::Assistant { tool_calls, content, kept } => {
                if tool_calls.is_empty() && !has_words(content) {
                    // An answer that broke off before its first word says nothing.
                    continue;
                }
                out.push(ChatMessage::Assistant {
                    content: content.clone(),
                    tool_calls: tool_calls.clone(),
                    kept: kept.clone(),
                });
                let results =
                    rest.iter().take_while(|message| matches!(message, ChatMessage::Tool { .. })).count();
                out.extend(answers(tool_calls, &rest[..results]));
                rest = &rest[results..];
            }
            ChatMessage::User { content } if content.is_empty() => {}
            ChatMessage::User { .. } => out.push(message.clone()),
            // A result without its call.
            ChatMessage::Tool { .. } => {}
        }
    }
    out
}

fn has_words(content: &[Content]) -> bool {
    content.iter().any(|piece| match piece {
        Content::Text(text) => !text.trim().is_empty(),
        Content::Image { .. } => true,
    })
}

fn answers(calls: &[ToolCall], results: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut seen = HashSet::new();
    let fresh = calls.iter().filter(|call| seen.insert(call.id.as_str()));
    fresh
        .map(|call| {
            let found = results
                .iter()
                .find(|message| matches!(message, ChatMessage::Tool { call_id, .. } if *call_id == call.id));
            found.cloned().unwrap_or_else(|| ChatMessage::Tool {
                call_id: call.id.clone(),
                name: call.name.clone(),
                content: vec![Content::Text(NO_RESULT.to_owned())],
                is_error: true,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolArgs;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "t".to_owned(), args: ToolArgs::read("") }
    }

    fn calling(ids: &[&str]) -> ChatMessage {
        ChatMessage::Assistant {
            content: vec![],
            tool_calls: ids.iter().map(|id| call(id)).collect(),
            kept: vec![],
        }
    }

    #[test]
    fn holes_are_filled_and_strays_dropped() {
        let messages = [
            ChatMessage::tool(&call("stray"), "x"),
            ChatMessage::user("hi"),
            calling(&["a", "b"]),
            ChatMessage::tool(&call("b"), "two"),
            ChatMessage::user("go on"),
            ChatMessage::assistant("  "),
            calling(&["c"]),
        ];
        let mended = mend(&messages);
        let shape: Vec<String> = mended
            .iter()
            .map(|message| match message {
                ChatMessage::User { .. } => "user".to_owned(),
                ChatMessage::Assistant { .. } => "model".to_owned(),
                ChatMessage::Tool { call_id, is_error, .. } => format!("{call_id} {is_error}"),
            })
            .collect();
        assert_eq!(shape, ["user", "model", "a true", "b false", "user", "model", "c true"]);
        assert_eq!(mend(&mended), mended, "mending twice changes nothing");
    }
}
