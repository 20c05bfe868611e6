//! A tool run as rows: one line that opens to its arguments, its output (colours kept) and what it changed.

use super::{Appearance, duration};
use crate::clean::{clean, clean_line, colours};
use crate::row::{Piece, Row, fit, width, wrap};
use crate::theme::Role;
use crate::{diff, picture};
use domain::content::Part;
use domain::tool::{ToolOutcome, ToolPhase, ToolRun};
use serde_json::Value;

/// Rows of output under a folded tool line.
const PREVIEW: usize = 4;
/// Rows of a diff under a folded tool line.
const DIFF_PREVIEW: usize = 12;
/// Rows of output of an open tool line; what was first and what was last is shown.
const MAX_OPEN: usize = 400;
/// Bytes of output that are drawn at most.
const MAX_PART: usize = 64 * 1024;

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
        if let Part::Diff { text, .. } = part {
            shown_diff = true;
            let limit = if look.open { MAX_OPEN } else { DIFF_PREVIEW };
            body.extend(shorten(diff::rows(text, inner.columns, look.theme), limit, Keep::Head, 0, look));
        }
        if let Part::Image { mime, base64 } = part {
            body.extend(picture::part(mime, base64, inner));
        }
    }
    if look.open || !shown_diff {
        let limit = if look.open { MAX_OPEN } else { preview(tool) };
        let keep = if tool.ended() && !look.open { Keep::Head } else { Keep::Tail };
        body.extend(output(tool, limit, keep, inner));
    }
    let bar = look.theme.style(Role::Dim);
    rows.extend(body.into_iter().map(|row| row.after("│ ", bar)));
    rows
}

/// The look of what stands right of the bar.
pub(super) fn inner(look: Appearance) -> Appearance {
    Appearance { columns: look.columns.saturating_sub(2), ..look }
}

/// The line that stands for the tool run: mark, name, what it is about.
pub fn headline(tool: &ToolRun) -> String {
    format!("{} {}", clean_line(&tool.name), summary(tool.args.as_str()))
}

fn first_row(tool: &ToolRun, look: Appearance) -> Row {
    let (mark, role, word) = match &tool.phase {
        ToolPhase::Proposed => ("○", Role::Dim, String::new()),
        ToolPhase::Awaiting(_) => ("?", Role::Warn, "waits for you".to_owned()),
        ToolPhase::Allowed => ("○", Role::Accent, String::new()),
        ToolPhase::Running => ("●", Role::Accent, running(tool)),
        ToolPhase::Ended(outcome) => ended(tool, outcome),
    };
    let tail = if word.is_empty() { String::new() } else { format!("  {word}") };
    let name = clean_line(&tool.name);
    let room = look.columns.saturating_sub(width(mark) + width(&name) + width(&tail) + 2);
    let about = fit(&summary(tool.args.as_str()), room);
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
    let took = tool.duration().filter(|_| tool.started_at.is_some()).map(duration).unwrap_or_default();
    match outcome {
        ToolOutcome::Done => ("✓", Role::Ok, took),
        ToolOutcome::Failed => ("✗", Role::Bad, format!("failed {took}").trim_end().to_owned()),
        ToolOutcome::Denied => ("⊘", Role::Warn, "denied".to_owned()),
        ToolOutcome::Skipped => ("–", Role::Dim, "skipped".to_owned()),
        ToolOutcome::Cancelled => ("■", Role::Warn, "stopped".to_owned()),
        ToolOutcome::Unknown => ("?", Role::Warn, "nobody knows how far it came".to_owned()),
    }
}

fn preview(tool: &ToolRun) -> usize {
    match tool.phase {
        ToolPhase::Running => PREVIEW,
        ToolPhase::Ended(ToolOutcome::Failed) => PREVIEW,
        ToolPhase::Ended(ToolOutcome::Done) => PREVIEW,
        ToolPhase::Ended(_) | ToolPhase::Proposed | ToolPhase::Awaiting(_) | ToolPhase::Allowed => 0,
    }
}

fn text(look: Appearance) -> ratatui::style::Style {
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

/// What the tool said, as at most `limit` rows (and a few): the rest of a long output is counted, not drawn.
fn output(tool: &ToolRun, limit: usize, keep: Keep, look: Appearance) -> Vec<Row> {
    let result = tool.result.as_ref().map(|result| result.text.as_str());
    let said = result.filter(|text| !text.is_empty()).unwrap_or(&tool.output).trim_end();
    if said.is_empty() || limit == 0 {
        return Vec::new();
    }
    let (part, hidden) = part_of(said, limit, keep);
    let none = Piece::default();
    let lines = colours(part, look.theme.style(Role::Dim));
    let rows: Vec<Row> = lines
        .into_iter()
        .flat_map(|line| {
            let pieces: Vec<Piece> = line.into_iter().map(|(text, style)| Piece::new(text, style)).collect();
            wrap(&pieces, look.columns, &none, &none)
        })
        .collect();
    let mut rows = shorten(rows, limit, keep, hidden, look);
    if tool.result.as_ref().is_some_and(|result| result.truncated) {
        rows.push(Row::of("… the output was cut", look.theme.style(Role::Warn)));
    }
    rows
}

/// The first or last `limit` lines of a text, not more than [`MAX_PART`] bytes of it, and how many lines are left out.
fn part_of(text: &str, limit: usize, keep: Keep) -> (&str, usize) {
    let floor = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let part = match keep {
        Keep::Head => {
            let end = text.match_indices('\n').nth(limit.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
            &text[..floor(end.min(MAX_PART))]
        }
        Keep::Tail => {
            let from = text.rmatch_indices('\n').nth(limit.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
            &text[floor(from.max(text.len().saturating_sub(MAX_PART)))..]
        }
    };
    let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    (part, breaks(text).saturating_sub(breaks(part)))
}

#[derive(Clone, Copy, PartialEq)]
enum Keep {
    Head,
    Tail,
}

/// Keeps `limit` rows and says how many more there are; `hidden` were left out before.
fn shorten(rows: Vec<Row>, limit: usize, keep: Keep, hidden: usize, look: Appearance) -> Vec<Row> {
    let over = rows.len().saturating_sub(limit);
    if over + hidden == 0 {
        return rows;
    }
    let hidden = over + hidden;
    let how = if look.open { String::new() } else { look.how_to_open() };
    let word = Row::of(
        fit(&format!("… {hidden} more lines{how}"), look.columns.saturating_sub(2)),
        look.theme.style(Role::Dim),
    );
    match keep {
        Keep::Head => rows.into_iter().take(limit).chain([word]).collect(),
        Keep::Tail => [word].into_iter().chain(rows.into_iter().skip(over)).collect(),
    }
}

/// What the arguments are about, in a line.
pub fn summary(args: &str) -> String {
    const TELLING: &[&str] =
        &["command", "cmd", "path", "file_path", "file", "pattern", "query", "url", "question", "name"];
    let Ok(value) = serde_json::from_str::<Value>(args) else { return clean_line(args) };
    let Value::Object(fields) = &value else {
        return match value {
            Value::Null => String::new(),
            other => clean_line(&other.to_string()),
        };
    };
    let telling = TELLING.iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    let only = fields.values().next().filter(|_| fields.len() == 1).and_then(Value::as_str);
    match telling.or(only) {
        Some(text) => clean_line(text),
        None if fields.is_empty() => String::new(),
        None => clean_line(&value.to_string()),
    }
}

/// Headline and output without any layout, for copying.
pub(super) fn plain(tool: &ToolRun) -> String {
    let result = tool.result.as_ref().map(|result| result.text.as_str()).filter(|text| !text.is_empty());
    let said = clean(result.unwrap_or(&tool.output)).into_owned();
    format!("{}\n{said}", headline(tool)).trim_end().to_owned()
}
