//! A tool run as rows: one line that opens to its arguments, its output (colours kept) and what it changed.

use super::words::{is_plan, summary};
use crate::clean::{clean, clean_line, colours, settled};
use crate::figures::{counted, duration};
use crate::look::Appearance;
use crate::row::{Piece, Row, fit, fit_words, width, wrap};
use crate::theme::Role;
use crate::{diff, picture};
use domain::content::Part;
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use ratatui_core::style::{Modifier, Style};
use serde_json::Value;

/// Rows of output under a folded tool line while it runs: the last.
const RUNNING: usize = 4;
/// Rows of its beginning and of its end once it is done: what it began with, and how it ended.
const DONE: (usize, usize) = (2, 4);
/// The same when it failed: why it did is somewhere in there.
const FAILED: (usize, usize) = (10, 30);
/// So many rows are shown rather than told to be left out: that would save one at most.
const FEW: usize = 2;
/// Rows of a diff under a folded tool line.
const DIFF_PREVIEW: usize = 12;
/// Rows of output of an open tool line; what was first and what was last is shown.
const OPEN: (usize, usize) = (100, 300);
/// The same while words are looked for in it.
const WHOLE: (usize, usize) = (10_000, 10_000);
/// Milliseconds from which it is told how long a tool took.
const NOTICED_MS: u64 = 100;
/// Bytes of output that are drawn at most, at either end.
const MAX_PART: usize = 64 * 1024;
/// The same while words are looked for in it.
const MAX_WHOLE: usize = 1024 * 1024;

/// One tool run: a headline, then as much of its output as is open.
pub(super) fn rows(tool: &ToolRun, look: Appearance) -> Vec<Row> {
    let mut rows = vec![first_row(tool, look)];
    let inner = inner(look);
    let mut body = Vec::new();
    if let ToolPhase::Ended(ToolOutcome::Denied) = tool.phase {
        let reason = tool.decision.as_ref().and_then(|decision| decision.reason.as_deref());
        body.extend(reason.map(|reason| {
            Row::of(fit(&format!("reason: {}", clean_line(reason)), inner.columns), text(look))
        }));
    }
    if look.open {
        body.extend(arguments(tool, inner));
    }
    let parts = tool.result.as_ref().map(|result| result.parts.as_slice()).unwrap_or_default();
    let mut shown_diff = false;
    for part in parts {
        if let Part::Diff { path, text } = part {
            shown_diff = true;
            let most = match (look.whole, look.open) {
                (true, _) => diff::MAX_DIFF_LINES,
                (false, true) => OPEN.0 + OPEN.1,
                (false, false) => DIFF_PREVIEW,
            };
            let rows = diff::rows(text, path.as_deref(), inner.columns, look.theme);
            body.extend(shorten(rows, (most, 0), look));
        }
        if let Part::Image { mime, base64 } = part {
            body.extend(picture::part(mime, base64, inner));
        }
    }
    if look.open || !shown_diff {
        let most = match (look.whole, look.open) {
            (true, _) => WHOLE,
            (false, true) => OPEN,
            (false, false) => preview(tool),
        };
        body.extend(output(tool, most, inner));
    }
    let bar = look.theme.style(Role::Border);
    rows.extend(body.into_iter().map(|row| row.after("│ ", bar)));
    rows
}

/// The look of what stands right of the bar.
pub(super) fn inner(look: Appearance) -> Appearance {
    Appearance { columns: look.columns.saturating_sub(2), ..look }
}

/// The line that stands for the tool run: mark, name, what it is about.
pub(crate) fn headline(tool: &ToolRun) -> String {
    format!("{} {}", name(tool), summary(tool.args.as_str()))
}

/// What a tool is called: one that keeps the plan, whatever its own name, as the panel that shows it.
fn name(tool: &ToolRun) -> String {
    if is_plan(tool.args.as_str()) { "plan".to_owned() } else { clean_line(&tool.name) }
}

/// What a tool run would do, in words: of a command, only the command.
pub(super) fn deed(tool: &ToolRun) -> String {
    let about = summary(tool.args.as_str());
    match serde_json::from_str::<Value>(tool.args.as_str()) {
        Ok(Value::Object(fields)) if fields.contains_key("command") => about,
        Ok(_) | Err(_) => headline(tool),
    }
}

fn first_row(tool: &ToolRun, look: Appearance) -> Row {
    let (mark, role, word) = match &tool.phase {
        ToolPhase::Proposed => ("○", Role::Dim, String::new()),
        ToolPhase::Awaiting(_) => ("?", Role::Warn, String::new()),
        ToolPhase::Allowed => ("○", Role::Accent, String::new()),
        ToolPhase::Running => ("●", Role::Accent, running(tool)),
        ToolPhase::Ended(outcome) => ended(tool, outcome),
    };
    let tail = if word.is_empty() { String::new() } else { format!("  {word}") };
    let name = name(tool);
    let room = look.columns.saturating_sub(width(mark) + width(&name) + width(&tail) + 2);
    let about = fit_words(&summary(tool.args.as_str()), room);
    Row::from(vec![
        look.piece(format!("{mark} "), role),
        look.piece(name, Role::Accent),
        look.piece(format!(" {about}"), Role::Text),
        look.piece(tail, if role == Role::Accent || role == Role::Ok { Role::Dim } else { role }),
    ])
}

fn running(tool: &ToolRun) -> String {
    match &tool.status {
        Some((Some(percent), message)) => format!("{percent}% {}", clean_line(message)),
        Some((None, message)) => clean_line(message),
        None => "running".to_owned(),
    }
}

fn ended(tool: &ToolRun, outcome: &ToolOutcome) -> (&'static str, Role, String) {
    // What took no time that anybody would notice says nothing.
    let took = tool.duration().filter(|took| tool.started_at.is_some() && *took >= NOTICED_MS);
    let took = took.map(duration).unwrap_or_default();
    match outcome {
        ToolOutcome::Done => ("✓", Role::Ok, took),
        ToolOutcome::Failed => ("✗", Role::Bad, format!("failed {took}").trim_end().to_owned()),
        ToolOutcome::Denied => ("⊘", Role::Warn, "denied".to_owned()),
        ToolOutcome::Skipped => ("–", Role::Dim, "skipped".to_owned()),
        ToolOutcome::Cancelled => ("■", Role::Warn, "stopped".to_owned()),
        ToolOutcome::Unknown => ("?", Role::Warn, "nobody knows how far it came".to_owned()),
    }
}

/// Rows of the beginning and of the end of the output that are shown while it is folded.
fn preview(tool: &ToolRun) -> (usize, usize) {
    match tool.phase {
        ToolPhase::Running => (0, RUNNING),
        ToolPhase::Ended(ToolOutcome::Failed) => FAILED,
        // A plan is told in its line, and shown on its own.
        ToolPhase::Ended(ToolOutcome::Done) if is_plan(tool.args.as_str()) => (0, 0),
        ToolPhase::Ended(ToolOutcome::Done) => DONE,
        ToolPhase::Ended(_) | ToolPhase::Proposed | ToolPhase::Awaiting(_) | ToolPhase::Allowed => (0, 0),
    }
}

fn text(look: Appearance) -> Style {
    look.theme.style(Role::Dim)
}

fn arguments(tool: &ToolRun, look: Appearance) -> Vec<Row> {
    let mut rows = Vec::new();
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(tool.args.as_str()) else {
        return rows;
    };
    for (name, value) in fields {
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let lead = look.piece(format!("{}: ", clean_line(&name)), Role::Accent);
        let rest = look.piece("  ", Role::Dim);
        for (at, line) in clean(&text).trim_end().split('\n').enumerate() {
            let lead = if at == 0 { &lead } else { &rest };
            rows.extend(wrap(&[look.piece(line, Role::Dim)], look.columns, lead, &rest));
        }
    }
    rows
}

/// What the tool said: so many rows of its beginning and its end; the rest of a long output is counted, not drawn.
fn output(tool: &ToolRun, (head, tail): (usize, usize), look: Appearance) -> Vec<Row> {
    let said = said(tool).trim_end();
    if said.is_empty() || head + tail == 0 {
        return Vec::new();
    }
    let style = look.theme.style(Role::Dim);
    // A colour of the program's own is not made faint: it could not be read.
    let read = |own: Style| {
        let own = look.theme.own(own);
        if own.fg == style.fg { own } else { own.remove_modifier(Modifier::DIM) }
    };
    let none = Piece::default();
    let rows_of = |part: &str| -> Vec<Row> {
        let lines = colours(&settled(part), style).into_iter();
        let pieces = lines.map(|line| line.into_iter().map(|(text, own)| Piece::new(text, read(own))));
        pieces.flat_map(|line| wrap(&line.collect::<Vec<_>>(), look.columns, &none, &none)).collect()
    };
    // Where few more would be left out, they are shown.
    let breaks = said.bytes().filter(|byte| *byte == b'\n').count();
    let part = if look.whole { MAX_WHOLE } else { MAX_PART };
    let mut rows = if breaks < head + tail + FEW && said.len() <= 2 * part {
        shorten(rows_of(said), (head, tail), look)
    } else {
        let (first, last) = (first_lines(said, head, part), last_lines(said, tail, part));
        let hidden = (breaks + 1).saturating_sub(head + tail);
        let (mut first, last) = (rows_of(first), rows_of(last));
        first.truncate(head);
        let skip = last.len().saturating_sub(tail);
        first.push(left_out(hidden, look));
        first.extend(last.into_iter().skip(skip));
        first
    };
    if tool.result.as_ref().is_some_and(|result| result.truncated) {
        rows.push(Row::of("… the output was cut", look.theme.style(Role::Warn)));
    }
    rows
}

/// What the tool answered, or wrote so far.
fn said(tool: &ToolRun) -> &str {
    let result = tool.result.as_ref().map(|result| result.text.as_str());
    result.filter(|text| !text.is_empty()).unwrap_or(&tool.output)
}

/// The last place up to `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first lines of a text, not more than `most` bytes of it.
fn first_lines(text: &str, lines: usize, most: usize) -> &str {
    if lines == 0 {
        return "";
    }
    let end = text.match_indices('\n').nth(lines - 1).map_or(text.len(), |(at, _)| at);
    &text[..floor(text, end.min(most))]
}

/// The last lines of a text, not more than `most` bytes of it.
fn last_lines(text: &str, lines: usize, most: usize) -> &str {
    if lines == 0 {
        return "";
    }
    let from = text.rmatch_indices('\n').nth(lines - 1).map_or(0, |(at, _)| at + 1);
    &text[floor(text, from.max(text.len().saturating_sub(most)))..]
}

/// Keeps so many of the first and of the last rows, and says how many more there are.
fn shorten(rows: Vec<Row>, (head, tail): (usize, usize), look: Appearance) -> Vec<Row> {
    let hidden = rows.len().saturating_sub(head + tail);
    if hidden <= FEW {
        return rows;
    }
    let last = rows.len() - tail;
    let (mut first, mut last) = (rows.clone(), rows[last..].to_vec());
    first.truncate(head);
    first.push(left_out(hidden, look));
    first.append(&mut last);
    first
}

fn left_out(hidden: usize, look: Appearance) -> Row {
    let how = if look.open { String::new() } else { look.how_to_open() };
    let word =
        fit(&format!("… {}{how}", counted(hidden as u64, "more line")), look.columns.saturating_sub(2));
    Row::of(word, look.theme.style(Role::Dim))
}

/// The same with all that an open line shows, in its order.
pub(super) fn searched(tool: &ToolRun) -> String {
    let mut texts = vec![headline(tool)];
    if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(tool.args.as_str()) {
        texts.extend(fields.into_iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            other => format!("{name}: {other}"),
        }));
    }
    let parts = tool.result.as_ref().map(|result| result.parts.as_slice()).unwrap_or_default();
    let diffs =
        parts.iter().filter_map(|part| if let Part::Diff { text, .. } = part { Some(text) } else { None });
    texts.extend(diffs.map(|text| diff::changed_text(text)));
    texts.push(settled(said(tool)).into_owned());
    clean(&texts.join("\n")).into_owned()
}

/// Headline and output without any layout, for copying.
pub(super) fn plain(tool: &ToolRun) -> String {
    let said = clean(&settled(said(tool))).into_owned();
    format!("{}\n{said}", headline(tool)).trim_end().to_owned()
}
