//! A conversation as a tree of entries.

use super::{TITLE, TREE_TEXT, entry_json, put, text};
use crate::paint::{self, Paint, cut};
use domain::ids::EntryId;
use domain::state::{Entry, EntryKind, State};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// Entries by the one before them.
type Children<'a> = BTreeMap<Option<EntryId>, Vec<&'a Entry>>;

/// An entry that is still to be told, what stands before it, and what stands before those below it.
struct Twig<'a> {
    entry: &'a Entry,
    here: String,
    below: String,
}

/// All entries with their branches; the active path is marked.
pub(in crate::sessions) fn tree(state: &State, paint: Paint) -> String {
    let mut children = Children::new();
    for entry in state.entries.values().filter(|entry| !matches!(entry.kind, EntryKind::Notice { .. })) {
        children.entry(entry.parent).or_default().push(entry);
    }
    let active: BTreeSet<EntryId> = state.path().iter().map(|entry| entry.id).collect();
    let mut out = String::new();
    // A stack and not a recursion: conversations are longer than stacks are deep.
    let mut stack = Vec::new();
    branch(&children, None, "", &mut stack);
    while let Some(Twig { entry, here, below }) = stack.pop() {
        let mark = if active.contains(&entry.id) { paint.accent("●") } else { "○".to_owned() };
        let who = match &entry.kind {
            EntryKind::Message(message) => export::speaker(message.role),
            EntryKind::Compaction(_) => "Summary",
            EntryKind::Notice { .. } => "Notice",
        };
        let leaf = if state.leaf == Some(entry.id) { paint.hit(" ← here") } else { String::new() };
        let room = paint.width.unwrap_or(TREE_TEXT).saturating_sub(here.width() + who.len() + 20).max(TITLE);
        let said = cut(&paint::line(&said(state, entry)), room);
        let id = paint.dim(&entry.id.to_string());
        put(&mut out, format_args!("{}{mark} {} {said} {id}{leaf}", paint.dim(&here), paint.strong(who)));
        branch(&children, Some(entry.id), &below, &mut stack);
    }
    if out.is_empty() {
        out.push_str("Nothing was said yet.\n");
    }
    out
}

fn branch<'a>(children: &Children<'a>, of: Option<EntryId>, indent: &str, stack: &mut Vec<Twig<'a>>) {
    let Some(next) = children.get(&of) else { return };
    for (at, entry) in next.iter().enumerate().rev() {
        let (here, below) = match (next.len(), at + 1 == next.len()) {
            (1, _) => ("", ""),
            (_, false) => ("├─ ", "│  "),
            (_, true) => ("└─ ", "   "),
        };
        stack.push(Twig { entry, here: format!("{indent}{here}"), below: format!("{indent}{below}") });
    }
}

/// What an entry says, or which tools it used.
fn said(state: &State, entry: &Entry) -> String {
    let text = text(entry);
    let EntryKind::Message(message) = &entry.kind else { return text };
    if !text.trim().is_empty() {
        return text;
    }
    let tools: Vec<&str> =
        message.tools().filter_map(|id| state.tool(id)).map(|tool| tool.name.as_str()).collect();
    format!("[{}]", tools.join(", "))
}

/// The same for a program.
pub(in crate::sessions) fn tree_json(state: &State) -> String {
    let active: BTreeSet<EntryId> = state.path().iter().map(|entry| entry.id).collect();
    let entries = state.entries.values().map(|entry| {
        let mut value = entry_json(state, entry);
        value["active"] = active.contains(&entry.id).into();
        value
    });
    json!({ "leaf": state.leaf.map(|leaf| leaf.to_string()), "entries": entries.collect::<Vec<_>>() })
        .to_string()
}
