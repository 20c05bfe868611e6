//! Tool results → the words that tell the person what came out. Pure.

use std::fmt::Write as _;

use crate::{ChatMessage, ToolCall};

/// What the tool that asks says when the person closed its question.
const NO_ANSWER: &str = "the question was closed without an answer";

/// Characters of a result that are quoted.
const MAX_QUOTE: usize = 4_000;
/// Characters of one prompt in a summary.
const MAX_SUMMARY_LINE: usize = 200;
/// How a result begins when the person (or a rule) did not allow the call.
const DECLINED: [&str; 7] = [
    "the person declined",
    "declined",
    "denied",
    "permission denied",
    "the person denied",
    "rejected",
    "not allowed",
];

/// What to say about the results.
pub(super) struct News {
    pub(super) text: String,
    /// A call was declined: do not go on.
    pub(super) declined: bool,
}

/// Reports the results of the last calls in `messages`.
pub(super) fn report(messages: &[ChatMessage]) -> News {
    let last = messages.iter().rposition(
        |message| matches!(message, ChatMessage::Assistant { tool_calls, .. } if !tool_calls.is_empty()),
    );
    let Some(last) = last else { return News { text: String::new(), declined: false } };
    let calls: &[ToolCall] = match &messages[last] {
        ChatMessage::Assistant { tool_calls, .. } => tool_calls,
        ChatMessage::User { .. } | ChatMessage::Tool { .. } => &[],
    };
    let mut declined = false;
    let mut texts = Vec::new();
    for call in calls {
        let result = messages[last + 1..].iter().find_map(|message| match message {
            ChatMessage::Tool { call_id, is_error, .. } if *call_id == call.id => {
                Some((message.text(), *is_error))
            }
            _ => None,
        });
        texts.push(match result {
            None => format!("`{}` gave no result.", call.name),
            Some((text, true)) => match denial(&text) {
                Some(reason) => {
                    declined = true;
                    reason
                        .map_or("This was denied.".to_owned(), |reason| format!("This was denied: {reason}"))
                }
                None => format!("`{}` failed: {}", call.name, shorten(text.trim(), MAX_QUOTE)),
            },
            Some((text, false)) => success(call, &text),
        });
    }
    News { text: texts.join("\n\n"), declined }
}

/// That a result is a denial, with its reason if it has one.
fn denial(text: &str) -> Option<Option<String>> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    DECLINED.iter().any(|word| lower.starts_with(word)).then(|| match text.split_once(": ") {
        Some((_, reason)) if !reason.trim().is_empty() => Some(shorten(reason.trim(), MAX_QUOTE)),
        _ => None,
    })
}

fn success(call: &ToolCall, text: &str) -> String {
    let args = call.args.to_object();
    let arg = |name: &str| args.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let quote = quote(text);
    match call.name.as_str() {
        "ls" => format!("Here is what is in `{}`:\n\n{quote}", arg("path")),
        "read" => format!("`{}` reads:\n\n{quote}", arg("path")),
        "bash" => format!("`{}` printed:\n\n{quote}", arg("command")),
        "grep" | "find" => format!("This is what I found for `{}`:\n\n{quote}", arg("pattern")),
        "write" | "edit" => format!("Done with `{}`. {}", arg("path"), shorten(text.trim(), MAX_QUOTE)),
        "ask" if text.trim() == NO_ANSWER => "You gave no answer.".to_owned(),
        "ask" => format!("You answered: {}", shorten(text.trim(), MAX_QUOTE)),
        "todo" => "The plan is made.".to_owned(),
        other => format!("`{other}` gave:\n\n{quote}"),
    }
}

/// A fence longer than every run of backticks inside.
fn quote(text: &str) -> String {
    let text = text.trim_end();
    if text.trim().is_empty() {
        return "(nothing)".to_owned();
    }
    let text = shorten(text, MAX_QUOTE);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}… ({} characters in all)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

/// How a message begins that the program wrote and no person.
const NOTE: &str = "[note from Parlor]";

/// Whether a person said it.
pub(super) fn is_prompt(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::User { .. }) && !message.text().starts_with(NOTE)
}

/// The conversation in a few lines, as a compaction wants it.
pub(super) fn summary(messages: &[ChatMessage]) -> String {
    let mut text = String::from("What happened so far:\n");
    let mut any = false;
    for message in messages {
        match message {
            ChatMessage::User { .. } if !is_prompt(message) => {}
            ChatMessage::User { .. } => {
                let said = message.text();
                let line = said.lines().next().unwrap_or_default();
                let _ = write!(text, "\n- The person said: {}", shorten(line, MAX_SUMMARY_LINE));
                any = true;
            }
            ChatMessage::Assistant { tool_calls, .. } => {
                for call in tool_calls {
                    let _ = write!(text, "\n- I called `{}`.", call.name);
                }
            }
            ChatMessage::Tool { .. } => {}
        }
    }
    if any { text } else { "Nothing has happened yet.".to_owned() }
}
