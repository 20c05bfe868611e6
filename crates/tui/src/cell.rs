//! Cells as rows: pure functions of what the session holds, the width and the theme.

mod message;
mod tool;
mod words;

use crate::clean::{clean, clean_line};
use crate::figures::{count, duration};
use crate::look::Appearance;
use crate::picture::{self, Framed};
use crate::row::{Row, wrap, wrap_text};
use crate::theme::Role;
use crate::thread::{CellKey, denied_last};
use domain::content::Part;
use domain::event::Outcome;
use domain::ids::{EntryId, RunId};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use domain::tool::ToolRun;

pub(crate) use words::summary;

/// The rows of a cell.
pub(crate) fn rows(state: &State, key: CellKey, look: Appearance) -> Vec<Row> {
    match key {
        CellKey::Prompt(entry) => message::prompt(state, entry, look),
        CellKey::Part(entry, part) => message::part(state, entry, part, look),
        CellKey::Tool(tool) => state.tool(tool).map(|tool| tool::rows(tool, look)).unwrap_or_default(),
        CellKey::Notice(entry) => match state.entries.get(&entry).map(|entry| &entry.kind) {
            Some(EntryKind::Notice { level, text, .. }) => notice(*level, text, look),
            _ => Vec::new(),
        },
        CellKey::Summary(entry) => message::summary(state, entry, look),
        CellKey::End(run) => end(state, run, look),
    }
}

/// The pictures in a cell, as they stand there.
pub(crate) fn pictures(state: &State, key: CellKey, look: Appearance) -> Vec<Framed> {
    if !look.pictures {
        return Vec::new();
    }
    let message = |entry: EntryId| state.message(domain::ids::MessageId(entry.0));
    let (parts, columns): (&[Part], usize) = match key {
        CellKey::Prompt(entry) => (message(entry).map_or(&[], |m| m.parts.as_slice()), look.columns),
        CellKey::Part(entry, at) => {
            (message(entry).and_then(|m| m.parts.get(at..=at)).unwrap_or_default(), look.columns)
        }
        CellKey::Tool(tool) => {
            let result = state.tool(tool).and_then(|tool| tool.result.as_ref());
            (result.map_or(&[], |result| result.parts.as_slice()), tool::inner(look).columns)
        }
        CellKey::Notice(_) | CellKey::Summary(_) | CellKey::End(_) => return Vec::new(),
    };
    let framed = parts.iter().filter_map(|part| match part {
        Part::Image { base64, .. } => picture::framed(base64, columns),
        _ => None,
    });
    framed.collect()
}

/// The text of a cell that is drawn as it streams in.
pub(crate) fn streamed(state: &State, key: CellKey) -> Option<&str> {
    match key {
        CellKey::Part(entry, at) => message::streamed(state, entry, at),
        CellKey::Prompt(_)
        | CellKey::Tool(_)
        | CellKey::Notice(_)
        | CellKey::Summary(_)
        | CellKey::End(_) => None,
    }
}

/// Whether nothing that happens can change the cell any more.
pub(crate) fn is_final(state: &State, key: CellKey) -> bool {
    let of_message = |entry: EntryId| state.message(domain::ids::MessageId(entry.0));
    match key {
        CellKey::Prompt(entry) => of_message(entry).is_none_or(|message| message.finish.is_some()),
        CellKey::Part(entry, at) => {
            of_message(entry).is_none_or(|message| message.finish.is_some() || at + 1 < message.parts.len())
        }
        CellKey::Tool(tool) => state.tool(tool).is_none_or(ToolRun::ended),
        CellKey::Notice(_) | CellKey::Summary(_) | CellKey::End(_) => true,
    }
}

/// Rows that say that a streamed cell was cut, when it was.
pub(crate) fn cut_rows(state: &State, key: CellKey, look: Appearance) -> Vec<Row> {
    match key {
        CellKey::Part(entry, at) => message::cut_rows(state, entry, at, look),
        CellKey::Prompt(_)
        | CellKey::Tool(_)
        | CellKey::Notice(_)
        | CellKey::Summary(_)
        | CellKey::End(_) => Vec::new(),
    }
}

/// Whether something stands between two cells.
pub(crate) fn gap(before: CellKey, cell: CellKey) -> usize {
    let both_tools = matches!((before, cell), (CellKey::Tool(_), CellKey::Tool(_)));
    usize::from(!both_tools)
}

/// Whether a cell can be folded.
pub(crate) fn folds(state: &State, key: CellKey) -> bool {
    match key {
        CellKey::Tool(_) | CellKey::Summary(_) => true,
        CellKey::Prompt(entry) => message::is_long(state, entry),
        CellKey::Part(entry, at) => message::is_thought(state, entry, at),
        CellKey::Notice(_) | CellKey::End(_) => false,
    }
}

/// The text of a cell as it is copied and searched.
pub(crate) fn plain(state: &State, key: CellKey) -> String {
    match key {
        CellKey::Prompt(entry) | CellKey::Part(entry, _) => message::plain(state, entry, key),
        CellKey::Tool(tool) => state.tool(tool).map(tool::plain).unwrap_or_default(),
        CellKey::Notice(entry) => match state.entries.get(&entry).map(|entry| &entry.kind) {
            Some(EntryKind::Notice { text, .. }) => clean(text).into_owned(),
            _ => String::new(),
        },
        CellKey::Summary(entry) => match state.entries.get(&entry).map(|entry| &entry.kind) {
            Some(EntryKind::Compaction(compaction)) => clean(&compaction.summary).into_owned(),
            _ => String::new(),
        },
        CellKey::End(_) => String::new(),
    }
}

/// The text in which words are looked for: all that can be read in the cell once it is open, in that order.
pub(crate) fn searched(state: &State, key: CellKey) -> String {
    match key {
        CellKey::Tool(tool) => state.tool(tool).map(tool::searched).unwrap_or_default(),
        CellKey::Prompt(_)
        | CellKey::Part(..)
        | CellKey::Notice(_)
        | CellKey::Summary(_)
        | CellKey::End(_) => plain(state, key),
    }
}

/// How loud a word is, as a role.
pub(crate) fn level_role(level: Level) -> Role {
    match level {
        Level::Info => Role::Dim,
        Level::Success => Role::Ok,
        Level::Warning => Role::Warn,
        Level::Error => Role::Bad,
    }
}

fn notice(level: Level, text: &str, look: Appearance) -> Vec<Row> {
    let mark = match level {
        Level::Info => "· ",
        Level::Success => "✓ ",
        Level::Warning => "! ",
        Level::Error => "✗ ",
    };
    let role = level_role(level);
    let (first, rest) = (look.piece(mark, role), look.piece("  ", role));
    let text = clean(text);
    text.split('\n').flat_map(|line| wrap(&[look.piece(line, role)], look.prose(), &first, &rest)).collect()
}

fn end(state: &State, run: RunId, look: Appearance) -> Vec<Row> {
    let Some(run) = state.run(run) else { return Vec::new() };
    let Some((at, outcome)) = &run.ended else { return Vec::new() };
    let took = duration(at.since(run.started_at));
    let used = run.usage();
    let tokens = if used.total() > 0 { format!(" · {} tokens", count(used.total())) } else { String::new() };
    let (text, role) = match outcome {
        Outcome::Done => match denied_last(state, run) {
            Some(tool) => (format!("■ stopped: you denied {}", tool::deed(tool)), Role::Warn),
            None => (format!("── done in {took}{tokens}"), Role::Dim),
        },
        Outcome::Cancelled => (format!("■ stopped by you after {took}"), Role::Warn),
        Outcome::Interrupted => {
            ("■ interrupted: the program ended in the middle. Send a prompt to go on.".to_owned(), Role::Warn)
        }
        Outcome::Lost => {
            ("■ the runtime went away in the middle. What it had said is above.".to_owned(), Role::Bad)
        }
        Outcome::Failed(failure) if is_told(state, run.id, &failure.message) => {
            (format!("── failed after {took}{tokens}"), Role::Dim)
        }
        Outcome::Failed(failure) => (format!("✗ {}", clean_line(&failure.message)), Role::Bad),
    };
    let mut rows = wrap_text(&text, look.prose(), look.theme.style(role));
    if let Outcome::Failed(failure) = outcome
        && let Some(hint) = &failure.hint
        && !is_told(state, run.id, &failure.message)
    {
        let lead = look.piece("  ", Role::Text);
        rows.extend(wrap(&[look.piece(clean_line(hint), Role::Text)], look.prose(), &lead, &lead));
    }
    if let Outcome::Failed(failure) = outcome
        && !is_told(state, run.id, &failure.message)
    {
        rows.push(Row::empty());
        rows.push(Row::of(format!("── failed after {took}{tokens}"), look.theme.style(Role::Dim)));
    }
    rows
}

/// Whether a notice of the run says already what went wrong.
fn is_told(state: &State, run: RunId, message: &str) -> bool {
    let says = |kind: &EntryKind| match kind {
        EntryKind::Notice { level: Level::Error, text, run: Some(of), .. } => {
            *of == run && text.starts_with(message)
        }
        _ => false,
    };
    let next = state.runs.iter().find(|next| next.id > run).map_or(u64::MAX, |next| next.id.0);
    state.entries.range(EntryId(run.0)..EntryId(next)).rev().any(|(_, entry)| says(&entry.kind))
}
