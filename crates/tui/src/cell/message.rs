//! Messages as rows: what the person said, and each part of what the model said.

use crate::clean::{clean, clean_line};
use crate::figures::{count, counted};
use crate::look::Appearance;
use crate::row::{Piece, Row, fit, wrap, wrap_text};
use crate::theme::Role;
use crate::thread::CellKey;
use crate::{diff, markdown, picture};
use domain::content::Part;
use domain::event::{Finish, Trigger};
use domain::ids::{EntryId, MessageId};
use domain::state::{EntryKind, Message, State};

/// Rows of a prompt that are shown while it is folded.
const LONG_PROMPT: usize = 40;
/// Rows of a folded thought.
const THOUGHT_PREVIEW: usize = 1;

/// The rows of what the person said.
pub(super) fn prompt(state: &State, entry: EntryId, look: Appearance) -> Vec<Row> {
    let Some(message) = state.message(MessageId(entry.0)) else { return Vec::new() };
    let mut rows = Vec::new();
    let ground = look.theme.style(Role::User);
    let first = Piece::decor("> ", look.theme.over(Role::User, Role::Accent));
    let rest = Piece::decor("  ", ground);
    for part in &message.parts {
        match part {
            Part::Text(text) => {
                for line in clean(text).trim_end().split('\n') {
                    let lead = if rows.is_empty() { &first } else { &rest };
                    rows.extend(wrap(&[look.piece(line, Role::User)], look.prose(), lead, &rest));
                }
            }
            other => rows.extend(whole_part(other, look)),
        }
    }
    if ground.bg.is_some() {
        rows.iter_mut().for_each(|row| row.fill = Some(ground));
    }
    let hidden = rows.len().saturating_sub(LONG_PROMPT);
    if hidden > 0 && !look.open {
        rows.truncate(LONG_PROMPT);
        let more = counted(hidden as u64, "more line");
        let word = fit(&format!("  … {more}{}", look.how_to_open()), look.columns);
        rows.push(Row::of(word, look.theme.style(Role::Dim)));
    }
    rows
}

/// The rows of one part of an answer; a thought that nothing follows yet is shown as going on.
pub(super) fn part(state: &State, entry: EntryId, at: usize, look: Appearance) -> Vec<Row> {
    let Some(message) = state.message(MessageId(entry.0)) else { return Vec::new() };
    let mut rows = message.parts.get(at).map(|part| whole_part(part, look)).unwrap_or_default();
    if let (Some(Part::Thought { text, .. }), true) = (message.parts.get(at), is_last(message, at)) {
        let thinking = message.finish.is_none();
        rows = thought(text, thinking, look);
    }
    rows.extend(cut_rows(state, entry, at, look));
    rows
}

/// The text so far of a part that is drawn piece by piece as it comes.
pub(super) fn streamed(state: &State, entry: EntryId, at: usize) -> Option<&str> {
    match state.message(MessageId(entry.0))?.parts.get(at)? {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

/// Rows that say that the message was cut, when it was; they stand below its last part.
pub(super) fn cut_rows(state: &State, entry: EntryId, at: usize, look: Appearance) -> Vec<Row> {
    let message = state.message(MessageId(entry.0)).filter(|message| is_last(message, at));
    message.map(|message| cut(message, look)).unwrap_or_default()
}

/// Whether a prompt has more lines than are shown while it is folded.
pub(super) fn is_long(state: &State, entry: EntryId) -> bool {
    let message = state.message(MessageId(entry.0));
    message.is_some_and(|message| message.text().lines().count() > LONG_PROMPT)
}

/// Whether the part is one of the model's thoughts, which are folded.
pub(super) fn is_thought(state: &State, entry: EntryId, at: usize) -> bool {
    let part = state.message(MessageId(entry.0)).and_then(|message| message.parts.get(at));
    matches!(part, Some(Part::Thought { .. }))
}

fn is_last(message: &Message, at: usize) -> bool {
    message.parts.get(at + 1..).is_some_and(|rest| rest.iter().all(Part::is_private))
}

fn cut(message: &Message, look: Appearance) -> Vec<Row> {
    let text = match message.finish {
        Some(Finish::Length) => {
            "… cut: the answer reached the model's length limit. Say \"go on\" to continue."
        }
        Some(Finish::Interrupted) => "… cut here.",
        Some(Finish::Failed) => "… cut here by a failure.",
        Some(Finish::Cut) => "… cut here: the model was asked again, and repeats it below.",
        Some(Finish::Refused) => "… the model or its provider declined to answer.",
        Some(Finish::Complete) | None => return Vec::new(),
    };
    wrap_text(text, look.prose(), look.theme.style(Role::Warn))
}

fn whole_part(part: &Part, look: Appearance) -> Vec<Row> {
    match part {
        Part::Text(text) => markdown::rows(text, look),
        Part::Thought { text, .. } => thought(text, false, look),
        Part::Image { mime, base64 } => picture::part(mime, base64, look),
        Part::Code { language, text, path } => {
            let mut rows = Vec::new();
            if let Some(path) = path {
                rows.push(Row::of(fit(&clean_line(path), look.columns), look.theme.style(Role::Dim)));
            }
            rows.extend(markdown::code_block(text, language.as_deref().unwrap_or(""), look));
            rows
        }
        Part::Diff { path, text } => {
            let (added, removed) = diff::counts(text);
            let name = clean_line(path.as_deref().unwrap_or("diff"));
            let head = format!("{name} (+{added} −{removed})");
            let mut rows = vec![Row::of(fit(&head, look.columns), look.theme.style(Role::Accent))];
            rows.extend(diff::rows(text, path.as_deref(), look.columns, look.theme));
            rows
        }
        Part::Tool(_) => Vec::new(),
        Part::Opaque { kind, json } => {
            let text = format!("{}: {}", clean_line(kind), clean_line(json.as_str()));
            vec![Row::of(fit(&text, look.columns), look.theme.style(Role::Dim))]
        }
    }
}

fn thought(text: &str, thinking: bool, look: Appearance) -> Vec<Row> {
    let text = clean(text);
    let text = text.trim();
    let style = look.theme.style(Role::Thought);
    if look.open {
        let mut rows = vec![Row::of("▾ thought", look.theme.style(Role::Dim))];
        let lead = look.piece("  ", Role::Thought);
        let lines = text.split('\n');
        rows.extend(
            lines.flat_map(|line| wrap(&[look.piece(line, Role::Thought)], look.prose(), &lead, &lead)),
        );
        return rows;
    }
    let head = if thinking { "▸ thinking… " } else { "▸ thought · " };
    let line = if thinking { text.lines().last() } else { text.lines().next() }.unwrap_or("");
    let room = look.prose().saturating_sub(crate::row::width(head));
    let mut rows = Vec::with_capacity(THOUGHT_PREVIEW);
    rows.push(Row::of(fit(line, room), style).after(head, look.theme.style(Role::Dim)));
    rows
}

/// The rows of a compaction, with the reason for it.
pub(super) fn summary(state: &State, entry: EntryId, look: Appearance) -> Vec<Row> {
    let Some(EntryKind::Compaction(compaction)) = state.entries.get(&entry).map(|entry| &entry.kind) else {
        return Vec::new();
    };
    let why = match compaction.trigger {
        _ if compaction.unexplained => None,
        Trigger::Manual => Some("as you asked".to_owned()),
        Trigger::Threshold => Some("the context was nearly full".to_owned()),
        Trigger::Overflow => Some("the context was full".to_owned()),
    };
    let sign = if look.open { "▾" } else { "▸" };
    let before = compaction.tokens_before;
    let tokens = (before > 0).then(|| format!("{} tokens before", count(before)));
    let known: Vec<String> = why.into_iter().chain(tokens).collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
    let head = format!("{sign} Older messages were summarised{known}");
    let mut rows = wrap_text(&head, look.columns, look.theme.style(Role::Dim));
    if look.open {
        rows.extend(markdown::rows(&compaction.summary, look));
    }
    rows
}

/// The text without any layout, for copying.
pub(super) fn plain(state: &State, entry: EntryId, key: CellKey) -> String {
    let Some(message) = state.message(MessageId(entry.0)) else { return String::new() };
    let text = match key {
        CellKey::Part(_, at) => match message.parts.get(at) {
            Some(Part::Text(text) | Part::Thought { text, .. }) => text.clone(),
            Some(Part::Code { text, .. } | Part::Diff { text, .. }) => text.clone(),
            _ => String::new(),
        },
        _ => message.text(),
    };
    clean(&text).into_owned()
}
