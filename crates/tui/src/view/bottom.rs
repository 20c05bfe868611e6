//! Draws the composer and the line above it.

use crate::ask::Keyboard;
use crate::keymap::Action;
use crate::layout::{composer_columns, composer_line, loss};
use crate::model::Model;
use crate::row::{Links, Piece, Row, draw, fit, fitting, width};
use crate::theme::Role;
use domain::event::Outcome;
use domain::port::LinkState;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// A line across, with a word in it.
pub(super) fn rule(
    (word, role): (&str, Role),
    model: &Model,
    area: Rect,
    buf: &mut Buffer,
    links: &mut Links,
) {
    let theme = model.screen.preferences.theme();
    let columns = usize::from(area.width);
    let word =
        if word.is_empty() { String::new() } else { format!(" {} ", fit(word, columns.saturating_sub(6))) };
    let left = 2.min(columns);
    let right = columns.saturating_sub(left + width(&word));
    let line = |count: usize| Piece::new("─".repeat(count), theme.style(Role::Border));
    let row = Row::from(vec![line(left), Piece::new(word, theme.style(role)), line(right)]);
    draw(&row, Position::new(area.x, area.y), area.width, buf, links);
}

/// The composer; the caret.
pub(super) fn composer(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    if area.height == 0 {
        return None;
    }
    let (word, role) = composer_line(model);
    rule((&word, role), model, area, buf, links);
    let text = model.screen.composer.text();
    let laid = model.screen.composer.laid_out(composer_columns(model));
    let high = usize::from(area.height.saturating_sub(1));
    let top = laid.caret.row.saturating_sub(high.saturating_sub(1));
    let theme = model.screen.preferences.theme();
    // Who does not have the keyboard does not look like it.
    let idle = model.keyboard() == Keyboard::Question;
    let (sign_role, text_role) = if idle { (Role::Dim, Role::Dim) } else { (Role::Accent, Role::Text) };
    for (line, (from, to)) in laid.rows.iter().enumerate().skip(top).take(high) {
        let y = area.y + 1 + u16::try_from(line - top).unwrap_or(0);
        let sign = if line == 0 { "> " } else { "  " };
        let mut row = Row::of(sign, theme.style(sign_role));
        row.pieces.push(Piece::new(&text[*from..*to], theme.style(text_role)));
        if text.is_empty() {
            let ghost = model.screen.composer.suggestion().filter(|_| !model.screen.asks.is_open());
            let ghost = ghost.map(|text| format!("{text}   (Tab inserts it)"));
            // The caret stands before it, and covers none of it.
            row.pieces.push(Piece::new(" ", theme.style(Role::Text)));
            let columns = composer_columns(model).saturating_sub(1);
            let hint = ghost.map_or_else(|| placeholder(model, columns), |ghost| fit(&ghost, columns));
            row.pieces.push(Piece::new(hint, theme.style(Role::Dim)));
        }
        draw(&row, Position::new(area.x + 1, y), area.width.saturating_sub(1), buf, links);
    }
    let x = area.x + 3 + u16::try_from(laid.caret.column).unwrap_or(0);
    let y = area.y + 1 + u16::try_from(laid.caret.row - top).unwrap_or(0);
    Some(Position::new(x.min(area.right().saturating_sub(1)), y.min(area.bottom().saturating_sub(1))))
}

/// Whether the last run failed, and its prompt can be said again.
fn failed(model: &Model) -> bool {
    let last = model.world.state().runs.last();
    let failed = last.is_some_and(|run| matches!(run.ended, Some((_, Outcome::Failed(_)))));
    failed && model.screen.composer.has_prompts()
}

/// What stands where nothing is written yet: what can be done from here, in as many words as there is room for.
fn placeholder(model: &Model, columns: usize) -> String {
    let keys = model.screen.preferences.keymap().shown(Action::Keys);
    let tries = if model.keyboard() == Keyboard::Question {
        // What is written while a run waits for the answer comes after it.
        let does = if model.world.is_running() { "queue" } else { "write" };
        vec![format!("Tab to {does} a prompt")]
    } else if let LinkState::Lost(why) = &model.world.link {
        match loss(why).1 {
            Some(_) => vec!["/restart to go on".to_owned()],
            None => {
                vec!["what you write stays here until it is back".to_owned(), "it may come back".to_owned()]
            }
        }
    } else if model.world.is_running() {
        vec!["type to queue what comes next".to_owned()]
    } else if failed(model) {
        vec![
            format!("↑ brings your prompt back · / commands · {keys} keys"),
            "↑ brings your prompt back".to_owned(),
        ]
    } else {
        vec![
            format!("ask anything · / commands · @ files · {keys} keys"),
            format!("ask anything · / commands · {keys} keys"),
            format!("/ commands · {keys} keys"),
        ]
    };
    fitting(&tries, columns)
}
