//! Words in passing: on the line above the composer, on rows of their own where they are longer, and below pages and lists. They never
//! lie over what is read.

use super::appearance;
use crate::cell::level_role;
use crate::keymap::Action;
use crate::model::Model;
use crate::row::{Row, fit, width, wrap_text};
use crate::theme::Role;
use ratatui_core::layout::Rect;

/// Rows of one word at most; all of it is among the notices.
const MAX_ROWS: usize = 4;
/// Columns of the line above the composer that stay a line.
const LINE: usize = 6;
/// Between two words on one line.
const BETWEEN: &str = " · ";
/// Rows of a screen that has none to spare: there words are cut at the end of the line.
const FEW_ROWS: u16 = 9;
/// Rows that a page or a list keeps.
const LEAST_PAGE: u16 = 6;

/// What stands in the line above the composer: where the conversation goes on, and words in passing, with how loud the last of them is.
pub(crate) fn line(model: &Model) -> (String, Role) {
    let more = if model.screen.transcript.is_at_end() {
        String::new()
    } else {
        format!("↓ more below ({})", model.screen.preferences.keymap().shown(Action::ToEnd))
    };
    let Some(last) = model.screen.toasts.shown().next_back() else { return (more, Role::Border) };
    let columns = appearance(model).columns.saturating_sub(LINE);
    let all = joined(model, &more);
    if width(&all) <= columns {
        (all, level_role(last.level))
    } else if is_small(model) {
        (fit(&last.text, columns), level_role(last.level))
    } else {
        (more, Role::Border)
    }
}

/// Words that are too long for that line.
pub(super) fn rows(model: &Model) -> Vec<Row> {
    let more = line(model).0;
    let on_line = model.screen.toasts.shown().next_back().is_none_or(|last| more.contains(&last.text));
    if on_line || is_small(model) || model.screen.over.is_open() { Vec::new() } else { all_rows(model) }
}

/// Words in passing below what covers the screen.
pub(crate) fn over_rows(model: &Model) -> Vec<Row> {
    let most = model.screen.window.size().1.saturating_sub(LEAST_PAGE);
    let mut rows = all_rows(model);
    rows.drain(..rows.len().saturating_sub(usize::from(most)));
    rows
}

/// Where a page or a list stands.
pub(crate) fn over_area(model: &Model) -> Rect {
    let (columns, rows) = model.screen.window.size();
    let below = u16::try_from(over_rows(model).len()).unwrap_or(u16::MAX);
    Rect::new(0, 0, columns, rows.saturating_sub(below))
}

fn all_rows(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let toasts = model.screen.toasts.shown();
    toasts
        .flat_map(|toast| {
            let style = look.theme.style(level_role(toast.level));
            let rows = wrap_text(&toast.text, look.columns.saturating_sub(2), style);
            rows.into_iter().take(MAX_ROWS).map(move |row| row.after("▏ ", style))
        })
        .collect()
}

fn joined(model: &Model, more: &str) -> String {
    let words = model.screen.toasts.shown().map(|toast| toast.text.as_str());
    let all: Vec<&str> = [more].into_iter().filter(|more| !more.is_empty()).chain(words).collect();
    all.join(BETWEEN)
}

fn is_small(model: &Model) -> bool {
    model.screen.window.size().1 <= FEW_ROWS
}
