//! Fidelity tables: for every item of the vocabulary, how a dialect carries it.

/// Every item of the vocabulary that a table must have a row for.
pub const ITEMS: &[&str] = &[
    "prompt",
    "steer",
    "follow-up",
    "queue modes",
    "cancel",
    "answer",
    "context update",
    "session new",
    "session open",
    "session list",
    "session branch",
    "session close",
    "session clear",
    "session save",
    "history",
    "leaf",
    "tree",
    "compact",
    "stats",
    "model list",
    "model set",
    "policy",
    "mcp list",
    "skills list",
    "tools",
    "extension",
    "attachments",
    "run lifecycle",
    "run outcome",
    "turn",
    "step",
    "message text",
    "text deltas",
    "thought",
    "image",
    "code",
    "diff",
    "tool lifecycle",
    "tool progress",
    "tool result",
    "decision",
    "consent",
    "consent scope",
    "denial reason",
    "confirm",
    "choose",
    "text ask",
    "edit ask",
    "ask withdrawn",
    "deadline",
    "queue changes",
    "context left",
    "usage",
    "compaction",
    "plan",
    "retry",
    "notice",
    "notify",
    "status",
    "working",
    "widget",
    "title",
    "editor text",
    "suggestion",
    "resume",
];

/// How an item is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fidelity {
    /// Survives lower and lift unchanged.
    Exact,
    /// Carried another way: how.
    Emulated(&'static str),
    /// Not carried: why that is bearable.
    Dropped(&'static str),
    /// Refused with the dialect's own error: why.
    Refused(&'static str),
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The item, one of [`ITEMS`].
    pub item: &'static str,
    /// Where the document or the programs say so.
    pub wire: &'static str,
    /// How it is carried.
    pub fidelity: Fidelity,
}

/// A deviation of an existing program from its own document, and what we do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// A short name.
    pub name: &'static str,
    /// What the program does.
    pub what: &'static str,
    /// What we do.
    pub ours: &'static str,
}

/// Items without a row, and rows that name no item: both must be empty.
pub fn holes(table: &[Row]) -> (Vec<&'static str>, Vec<&'static str>) {
    let missing = ITEMS.iter().copied().filter(|item| !table.iter().any(|row| row.item == *item)).collect();
    let unknown = table.iter().map(|row| row.item).filter(|item| !ITEMS.contains(item)).collect();
    (missing, unknown)
}
