//! The conversation as a model reads it: entries to chat messages. Pure.

use crate::briefing::Told;
use domain::content::{KEPT, Part, Role};
use domain::event::Finish;
use domain::state::{Entry, EntryKind, Message};
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use models::{ChatMessage, Content, OpaquePart, ToolArgs, ToolCall};
use std::sync::Arc;

/// One entry as the model reads it; empty when it is not for the model.
pub(crate) fn messages(entry: &Entry, tools: &[Arc<ToolRun>]) -> Vec<ChatMessage> {
    let mut chat = Vec::new();
    match &entry.kind {
        EntryKind::Message(message) => add_message(&mut chat, message, tools),
        EntryKind::Compaction(compaction) => chat.push(summary(&compaction.summary)),
        EntryKind::Notice { .. } => {}
    }
    chat
}

/// How a summary begins.
const SUMMARY: &str = "Summary of our conversation so far:\n";

/// A summary in the place of what was said before.
pub(crate) fn summary(text: &str) -> ChatMessage {
    ChatMessage::user(format!("{SUMMARY}{text}"))
}

/// By how it begins: a person who writes the same is taken for one, which costs nothing but a word.
pub(crate) fn is_summary(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::User { .. }) && message.text().starts_with(SUMMARY)
}

fn add_message(chat: &mut Vec<ChatMessage>, message: &Message, tools: &[Arc<ToolRun>]) {
    let content = content(&message.parts);
    match message.role {
        Role::User | Role::System => chat.push(ChatMessage::User { content }),
        // The message after it says all of it.
        Role::Assistant if message.finish == Some(Finish::Cut) => {}
        Role::Assistant => {
            let runs: Vec<&ToolRun> = message
                .tools()
                .filter_map(|id| tools.iter().find(|tool| tool.id == id))
                .map(Arc::as_ref)
                .collect();
            let tool_calls: Vec<ToolCall> = runs.iter().map(|run| call(run)).collect();
            if content.is_empty() && tool_calls.is_empty() {
                return;
            }
            chat.extend(message.parts.iter().filter_map(told).filter_map(|told| told.message()));
            let kept = message.parts.iter().filter_map(kept).filter(|kept| Told::of_part(kept).is_none());
            chat.push(ChatMessage::Assistant { content, tool_calls, kept: kept.collect() });
            for run in runs {
                chat.push(answer(run));
            }
        }
    }
}

fn content(parts: &[Part]) -> Vec<Content> {
    let piece = |part: &Part| match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(Content::Text(text.clone())),
        Part::Code { language, text, path } => {
            Some(Content::Text(fenced(language.as_deref(), text, path.as_deref())))
        }
        Part::Diff { text, .. } => Some(Content::Text(format!("```diff\n{text}\n```"))),
        Part::Image { mime, base64 } => {
            Some(Content::Image { mime: mime.clone(), base64: base64.to_string() })
        }
        Part::Thought { .. } | Part::Tool(_) | Part::Opaque { .. } => None,
    };
    parts.iter().filter_map(piece).collect()
}

/// Code as a model reads it, with the file that it is, if that is known. What looks like a fence in it does not end it.
fn fenced(language: Option<&str>, text: &str, path: Option<&str>) -> String {
    let longest = text.lines().map(|line| line.bytes().take_while(|byte| *byte == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let head = path.map(|path| format!("{path}:\n")).unwrap_or_default();
    format!("{head}{fence}{}\n{text}\n{fence}", language.unwrap_or_default())
}

/// What the model was told right before an answer.
pub(crate) fn told_before(entry: &Entry) -> Option<Told> {
    match &entry.kind {
        EntryKind::Message(message) => message.parts.iter().find_map(told),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    }
}

fn told(part: &Part) -> Option<Told> {
    kept(part).as_ref().and_then(Told::of_part)
}

fn kept(part: &Part) -> Option<OpaquePart> {
    match part {
        Part::Opaque { kind, json } if kind == KEPT => serde_json::from_str(json.as_str()).ok(),
        _ => None,
    }
}

/// The call as the model made it, for the history that it is sent.
pub(crate) fn call(run: &ToolRun) -> ToolCall {
    ToolCall { id: call_id(run.id), name: run.name.clone(), args: ToolArgs::read(run.args.as_str()) }
}

/// Providers accept only letters, digits, `-` and `_` in ids of calls; ours are such.
pub(crate) fn call_id(id: domain::ids::ToolRunId) -> String {
    format!("call_{}", id.0)
}

/// What the model reads of a tool that ended (or never did: every call must have an answer).
pub(crate) fn answer(run: &ToolRun) -> ChatMessage {
    let result = run.result.as_ref();
    let mut text = result.map(|result| result.text.clone()).unwrap_or_default();
    let failed = !matches!(run.phase, ToolPhase::Ended(ToolOutcome::Done));
    if text.is_empty() && failed {
        "This tool did not run.".clone_into(&mut text);
    }
    let mut content = vec![Content::Text(text)];
    let images = result.iter().flat_map(|result| &result.parts).filter_map(|part| match part {
        Part::Image { mime, base64 } => {
            Some(Content::Image { mime: mime.clone(), base64: base64.to_string() })
        }
        _ => None,
    });
    content.extend(images);
    ChatMessage::Tool { call_id: call_id(run.id), name: run.name.clone(), content, is_error: failed }
}
