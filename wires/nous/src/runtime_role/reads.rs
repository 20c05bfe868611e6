//! What the read commands answer with: the conversation and the tree, newest kept when there is too much for one line.

use super::MAX_ANSWER_BYTES;
use super::run_names::RunNames;
use crate::entry_name;
use crate::wire::{MessageEntry, Node, ToolEntry};
use domain::content::Role;
use domain::event::{Cause, Finish};
use domain::ids::{EntryId, SessionId};
use domain::state::{Entry, EntryKind, Message, State};
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use serde_json::{Value, json};
use wire::time;

/// Longest text of a node.
const SNIPPET_BYTES: usize = 80;
/// What an entry weighs beside its text.
const ENTRY_BYTES: usize = 256;

/// The payload of `messages`.
pub(super) fn messages(session: &SessionId, state: &State, leaf: Option<EntryId>, runs: &RunNames) -> Value {
    let leaf = leaf.or(state.leaf);
    let path = state.path_to(leaf);
    let told = path.iter().filter_map(|entry| message(session, state, entry, runs));
    let (messages, truncated) = newest(told.collect(), weight);
    let mut payload = json!({ "session_id": session.as_str(), "messages": messages });
    put_leaf(&mut payload, state, leaf);
    if truncated {
        payload["truncated"] = Value::Bool(true);
    }
    payload
}

/// The payload of `tree`.
pub(super) fn tree(session: &SessionId, state: &State) -> Value {
    let nodes = state.entries.values().filter_map(|entry| node(state, entry));
    let (nodes, truncated) = newest(nodes.collect(), |node: &Node| ENTRY_BYTES + node.snippet.len());
    let mut payload = json!({ "session_id": session.as_str(), "nodes": nodes });
    put_leaf(&mut payload, state, state.leaf);
    if truncated {
        payload["truncated"] = Value::Bool(true);
    }
    payload
}

fn put_leaf(payload: &mut Value, state: &State, leaf: Option<EntryId>) {
    let entry = leaf.and_then(|leaf| state.entries.get(&leaf));
    if let Some(name) = entry.and_then(|entry| entry_name::write(entry)) {
        payload["leaf_id"] = Value::String(name);
    }
}

/// As many of the newest as one line may carry.
fn newest<T>(mut all: Vec<T>, weight: impl Fn(&T) -> usize) -> (Vec<T>, bool) {
    let mut left = MAX_ANSWER_BYTES;
    let fits = all.iter().rev().take_while(|item| {
        let weight = weight(item);
        let fits = weight <= left;
        left = left.saturating_sub(weight);
        fits
    });
    let dropped = all.len() - fits.count();
    (all.split_off(dropped), dropped > 0)
}

fn weight(entry: &MessageEntry) -> usize {
    let tools: usize = entry.tools.iter().map(|tool| ENTRY_BYTES + tool.output.len()).sum();
    ENTRY_BYTES + entry.text.len() + tools
}

fn message(session: &SessionId, state: &State, entry: &Entry, runs: &RunNames) -> Option<MessageEntry> {
    let base = MessageEntry {
        kind: "message".to_owned(),
        id: entry_name::write(entry)?,
        parent_id: parent(state, entry),
        created_at: time::write(entry.at.0),
        ..MessageEntry::default()
    };
    match &entry.kind {
        EntryKind::Message(message) => Some(MessageEntry {
            role: role(message.role).to_owned(),
            text: message.text(),
            run_id: message.run.map(|run| runs.name(session, run)),
            turn_kind: turn_kind(state, message).map(str::to_owned),
            partial: matches!(
                message.finish,
                None | Some(Finish::Interrupted | Finish::Failed | Finish::Cut)
            ),
            tools: message.tools().filter_map(|tool| state.tool(tool)).map(tool_entry).collect(),
            ..base
        }),
        EntryKind::Compaction(compaction) => {
            Some(MessageEntry { role: "assistant".to_owned(), text: compaction.summary.clone(), ..base })
        }
        EntryKind::Notice { .. } => None,
    }
}

fn tool_entry(tool: &ToolRun) -> ToolEntry {
    let status = match &tool.phase {
        ToolPhase::Proposed | ToolPhase::Awaiting(_) | ToolPhase::Allowed => "pending",
        ToolPhase::Running => "running",
        ToolPhase::Ended(ToolOutcome::Done) => "done",
        ToolPhase::Ended(ToolOutcome::Failed) => "failed",
        ToolPhase::Ended(ToolOutcome::Denied) => "blocked",
        ToolPhase::Ended(ToolOutcome::Skipped) => "skipped",
        ToolPhase::Ended(ToolOutcome::Cancelled) => "aborted",
        ToolPhase::Ended(ToolOutcome::Unknown) => "unknown",
    };
    let output = tool.result.as_ref().map_or(&tool.output, |result| &result.text);
    ToolEntry {
        tool_call_id: tool.id.to_string(),
        tool_name: tool.name.clone(),
        status: status.to_owned(),
        output: output.clone(),
    }
}

fn node(state: &State, entry: &Entry) -> Option<Node> {
    let (role, text) = match &entry.kind {
        EntryKind::Message(message) => (role(message.role), message.text()),
        EntryKind::Compaction(compaction) => ("assistant", compaction.summary.clone()),
        EntryKind::Notice { .. } => return None,
    };
    let parent_id = parent(state, entry).unwrap_or_default();
    Some(Node { id: entry_name::write(entry)?, parent_id, role, snippet: snippet(&text) })
}

fn parent(state: &State, entry: &Entry) -> Option<String> {
    entry_name::write(state.entries.get(&entry.parent?)?)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    }
}

fn turn_kind(state: &State, message: &Message) -> Option<&'static str> {
    let run = state.run(message.run?)?;
    let turn = run.turns.iter().find(|turn| Some(turn.id) == message.turn)?;
    Some(match turn.cause {
        Cause::Prompt => "prompt",
        Cause::Steer => "steer",
        Cause::FollowUp => "follow_up",
    })
}

fn snippet(text: &str) -> String {
    if text.len() <= SNIPPET_BYTES {
        return text.to_owned();
    }
    let end = (0..=SNIPPET_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &text[..end])
}
