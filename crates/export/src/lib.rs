//! A session as text, and back: Markdown and HTML for people, records and one JSON file for programs; and how a reader is shown code.
//!
//! Pure: a [`State`](domain::state::State) or its events go in, text comes out, and the other way round. Files are
//! read and written elsewhere.
//!
//! Invariants: what [`jsonl`] or [`save`] wrote, [`read`] takes back with an equal conversation, but for what only a provider can
//! read, which leaves the house in no form; what [`read`] gives is
//! grammatical, has nothing open, and grants nothing: a file can choose neither its policy nor where tools work.

pub mod code;
mod html;
mod markdown;
mod reading;
mod records;

pub use html::html;
pub use markdown::markdown;
pub use reading::{Destination, Import, MAX_IMPORT, NotASession, read};
pub use records::{FORMAT, events_of, jsonl, save};

use domain::content::{Part, Role};
use domain::ids::{EntryId, Millis};
use domain::state::{Entry, EntryKind, State};
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a reader sees: the active path, and the notices that hang off it, in order.
pub fn conversation(state: &State) -> Vec<&Entry> {
    let path: BTreeSet<EntryId> = state.path().iter().map(|entry| entry.id).collect();
    let seen = |entry: &&Entry| match &entry.kind {
        EntryKind::Message(_) | EntryKind::Compaction(_) => path.contains(&entry.id),
        EntryKind::Notice { .. } => entry.parent.is_none_or(|parent| path.contains(&parent)),
    };
    state.entries.values().map(Arc::as_ref).filter(seen).collect()
}

/// Who speaks, in a word.
pub fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "You",
        Role::Assistant => "Agent",
        Role::System => "Program",
    }
}

/// How a tool run stands, in a few words.
pub fn standing(tool: &ToolRun) -> String {
    let word = match &tool.phase {
        ToolPhase::Proposed => "proposed",
        ToolPhase::Awaiting(_) => "waits for consent",
        ToolPhase::Allowed => "allowed",
        ToolPhase::Running => "running",
        ToolPhase::Ended(ToolOutcome::Done) => "done",
        ToolPhase::Ended(ToolOutcome::Failed) => "failed",
        ToolPhase::Ended(ToolOutcome::Denied) => "denied",
        ToolPhase::Ended(ToolOutcome::Skipped) => "skipped",
        ToolPhase::Ended(ToolOutcome::Cancelled) => "cancelled",
        ToolPhase::Ended(ToolOutcome::Unknown) => "outcome unknown",
    };
    match tool.duration() {
        Some(ms) if tool.started_at.is_some() => format!("{word}, {}.{} s", ms / 1000, ms % 1000 / 100),
        Some(_) | None => word.to_owned(),
    }
}

/// What a tool run gave back, or has said so far.
fn output(tool: &ToolRun) -> &str {
    tool.result.as_ref().map_or(tool.output.as_str(), |result| result.text.as_str())
}

/// What a tool run shows beside its text: diffs, pictures. A tool run in there would be told without an end.
fn beside(tool: &ToolRun) -> impl Iterator<Item = &Part> {
    let parts = tool.result.iter().flat_map(|result| &result.parts);
    parts.filter(|part| !matches!(part, Part::Tool(_)))
}

/// `2026-11-15 00:16 UTC`.
fn when(at: Millis) -> String {
    let written = wire::time::write(at.0);
    format!("{} {} UTC", &written[..10], &written[11..16])
}

/// Dollars with as many digits as matter.
fn money(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

/// What stands above a conversation: name and value.
fn facts(state: &State) -> Vec<(&'static str, String)> {
    let stats = state.stats();
    let mut facts = vec![("Started", when(state.created_at)), ("Last change", when(state.updated_at))];
    if !state.settings.cwd.is_empty() {
        facts.push(("Directory", state.settings.cwd.clone()));
    }
    if let Some(model) = &state.settings.model {
        facts.push(("Model", model.to_string()));
    }
    facts.push(("Messages", format!("{} in {} turns", stats.messages, stats.turns)));
    let rough = if stats.usage.rough { "about " } else { "" };
    if stats.usage.total() > 0 {
        facts.push(("Tokens", format!("{rough}{} in, {} out", stats.usage.input, stats.usage.output)));
    }
    if stats.usage.cost_micros > 0 {
        facts.push(("Cost", format!("{rough}{}", money(stats.usage.cost_micros))));
    }
    let shown = conversation(state).len();
    if shown < state.entries.len() {
        facts.push(("Other branches", format!("{} entries that are not shown", state.entries.len() - shown)));
    }
    facts
}

#[cfg(test)]
mod tests;
