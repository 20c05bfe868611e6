//! Right above the composer: what may be completed, the search, what the selection can do, a command the person ran.

use super::appearance;
use crate::cell::duration;
use crate::model::Model;
use crate::row::{Piece, Row, fit, width, wrap};
use crate::theme::Role;
use ratatui::layout::{Position, Rect};

/// Lines of a completion shown at most.
const MAX_OFFERS: usize = 8;
/// Lines of a command's output shown at most.
const MAX_OUTPUT: usize = 8;
const SEARCH: &str = "find: ";

/// The lines above the composer that are not widgets of the runtime.
pub(super) fn rows(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let mut rows = ran(model);
    if !model.screen.attached.is_empty() {
        let names: Vec<&str> = model.screen.attached.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!("▣ {}   goes along with your next prompt, Esc drops it", names.join(", "));
        rows.push(Row::of(fit(&text, look.columns), look.theme.style(Role::Accent)));
    }
    if let Some(search) = &model.screen.search {
        let place = match search.found.len() {
            _ if search.editor.is_empty() => "type words; Enter goes to the older one, Esc closes".to_owned(),
            0 => "nowhere".to_owned(),
            count => format!("{} of {count} · Enter older · ↓ newer · Esc closes", search.at + 1),
        };
        rows.push(Row::from(vec![
            look.piece(SEARCH, Role::Accent),
            look.piece(search.editor.text(), Role::Text),
            look.piece(format!("   {place}"), Role::Dim),
        ]));
    } else if model.screen.selected.is_some() {
        let keys = [
            ("Enter", "opens"),
            ("c", "copies"),
            ("b", "goes back here"),
            ("↑↓", "move"),
            ("p n", "prompts"),
            ("Esc", "leaves"),
        ];
        let mut pieces = Vec::new();
        let back = model.world.seen().abilities.go_back;
        for (key, what) in keys.into_iter().filter(|(key, _)| back || *key != "b") {
            pieces.push(look.piece(key, Role::Accent));
            pieces.push(look.piece(format!("\u{a0}{}   ", what.replace(' ', "\u{a0}")), Role::Dim));
        }
        let none = Piece::default();
        rows.extend(wrap(&pieces, look.columns, &none, &none));
    }
    rows.extend(offers(model));
    rows
}

/// Columns below which a hint must not take the room of what it is about.
const NARROW: usize = 60;

fn ran(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let Some(ran) = &model.screen.ran else { return Vec::new() };
    let word = match &ran.end {
        Some(end) => format!("{end}; goes along with your next prompt, Esc drops it"),
        None if ran.stopping => "stopping…".to_owned(),
        None => {
            let took = duration(model.screen.now.since(ran.since) / 1_000 * 1_000).replace(".0s", "s");
            let twice = if look.columns < NARROW { "" } else { ", twice everything" };
            format!("runs for {took}; Esc stops it{twice}")
        }
    };
    let room = look.columns.saturating_sub(width(&word) + 5);
    let mut rows = vec![Row::from(vec![
        look.piece("$ ", Role::Accent),
        look.piece(fit(&ran.line, room), Role::Text),
        look.piece(format!("   {word}"), Role::Dim),
    ])];
    let lines: Vec<&str> = ran.output.lines().collect();
    // On a small screen the line that tells how to stop it must stay in sight.
    let most = usize::from(model.screen.size.1 / 4).clamp(1, MAX_OUTPUT);
    let hidden = lines.len().saturating_sub(most);
    if hidden > 0 {
        rows.push(Row::of(format!("│ … {hidden} more before"), look.theme.style(Role::Dim)));
    }
    let style = look.theme.style(Role::Dim);
    rows.extend(lines[hidden..].iter().map(|line| Row::of(fit(&format!("│ {line}"), look.columns), style)));
    rows
}

fn offers(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let Some(completion) = &model.screen.completion else { return Vec::new() };
    let offers = &completion.offers;
    let most = usize::from(model.screen.size.1 / 4).clamp(1, MAX_OFFERS);
    let top = completion.cursor.saturating_sub(most - 1);
    let shown = offers.iter().enumerate().skip(top).take(most);
    let column = offers.iter().map(|offer| width(&offer.label)).max().unwrap_or(0).min(look.columns / 2);
    let mut rows: Vec<Row> = shown
        .map(|(at, offer)| {
            let role = if at == completion.cursor { Role::Selected } else { Role::Accent };
            let label = fit(&offer.label, if offer.detail.is_empty() { look.columns } else { column });
            let space = " ".repeat(column.saturating_sub(width(&label)) + 2);
            let detail = fit(&offer.detail, look.columns.saturating_sub(column + 2));
            Row::from(vec![
                look.piece(label, role),
                look.piece(space, Role::Dim),
                look.piece(detail, Role::Dim),
            ])
        })
        .collect();
    let hidden = offers.len().saturating_sub(top + most);
    if hidden > 0 {
        rows.push(Row::of(
            format!("  and {hidden} more · ↑↓ choose · Tab takes"),
            look.theme.style(Role::Dim),
        ));
    }
    rows
}

/// The caret of the search, which stands in the last rows above the composer.
pub(super) fn search_caret(model: &Model, middle: Rect) -> Option<Position> {
    let search = model.screen.search.as_ref()?;
    let below = u16::try_from(offers(model).len()).unwrap_or(0);
    let y = middle.bottom().checked_sub(1 + below).filter(|y| *y >= middle.y)?;
    let before = width(SEARCH) + width(&search.editor.text()[..search.editor.caret()]);
    let x = middle.x + 1 + u16::try_from(before).unwrap_or(0);
    Some(Position::new(x.min(middle.right().saturating_sub(1)), y))
}
