//! Draws the conversation where it stands, with the selection, the found words and what the mouse is drawn over.

use super::place::tail;
use super::{CellCache, MARGIN, Transcript, TranscriptPage};
use crate::cell;
use crate::picture::{Framed, PLACEHOLDER};
use crate::row::{Links, Row, draw};
use crate::search;
use crate::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Draws the conversation at its scroll position, with the selection and the found words.
pub(crate) fn view(
    transcript: &Transcript,
    page: TranscriptPage<'_>,
    cache: &mut CellCache,
    buf: &mut Buffer,
    links: &mut Links,
) {
    cache.begin();
    let (area, theme) = (page.area, page.look.theme);
    let cells = page.seen.thread.cells();
    let rows = page.rows();
    let place = transcript.scrolled_to(page).unwrap_or_else(|| {
        tail(cells.len(), rows, |at| page.lead(at) + cache.rows(transcript, page, cells[at]).len())
    });
    let mut y = 0usize;
    let mut skip = place.line;
    for (at, cell) in cells.iter().enumerate().skip(place.cell) {
        if y >= rows {
            break;
        }
        let laid = cache.rows(transcript, page, *cell);
        let blank = page.lead(at);
        let selected = transcript.selected == Some(cell.key);
        for line in skip..blank + laid.len() {
            if y >= rows {
                break;
            }
            let row_y = area.y + u16::try_from(y).unwrap_or(u16::MAX);
            if line >= blank {
                let Some(row) = laid.get(line - blank) else { break };
                let at = Position::new(area.x + MARGIN, row_y);
                draw(row, at, area.width.saturating_sub(2 * MARGIN), buf, links);
                mark_found(transcript, theme, row, at, buf);
                mark_dragged(transcript, theme, row, at, area, buf);
                if selected {
                    buf[(area.x, row_y)].set_symbol("▌").set_style(theme.style(Role::Accent));
                }
            }
            y += 1;
        }
        skip = skip.saturating_sub(blank + laid.len());
    }
}

/// The pictures on the screen.
pub(crate) fn pictures(
    transcript: &Transcript,
    page: TranscriptPage<'_>,
    cache: &mut CellCache,
) -> Vec<Framed> {
    let cells = page.seen.thread.cells();
    let rows = page.rows();
    let mut high = |at: usize| page.lead(at) + cache.rows(transcript, page, cells[at]).len();
    let first = transcript.scrolled_to(page).unwrap_or_else(|| tail(cells.len(), rows, &mut high)).cell;
    let (mut used, mut shown) = (0, Vec::new());
    for (at, cell) in cells.iter().enumerate().skip(first) {
        // The first cell may be cut at its top.
        if used > rows {
            break;
        }
        shown.extend(cell::pictures(&page.seen.state, cell.key, transcript.look(page, cell.key)));
        used += if at == first { 0 } else { high(at) };
    }
    shown
}

/// Marks the words that are being looked for.
fn mark_found(transcript: &Transcript, theme: Theme, row: &Row, at: Position, buf: &mut Buffer) {
    let Some(search) = transcript.search.as_ref().filter(|search| !search.editor().is_empty()) else {
        return;
    };
    for (from, to) in search::columns(&row.text(), search.editor().text()) {
        for column in from..to {
            let x = at.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
            if let Some(cell) = buf.cell_mut((x, at.y)) {
                cell.set_style(theme.style(Role::Found));
            }
        }
    }
}

/// Marks what the mouse is drawn over and would be copied.
fn mark_dragged(
    transcript: &Transcript,
    theme: Theme,
    row: &Row,
    at: Position,
    area: Rect,
    buf: &mut Buffer,
) {
    let Some((from, to)) = transcript.drag.filter(|(from, to)| from != to) else { return };
    let (from, to) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    if at.y < from.y || at.y > to.y {
        return;
    }
    let text = row.copied().next().map_or(row.width(), |(column, _)| column);
    let begin = at.x.saturating_add(u16::try_from(text).unwrap_or(u16::MAX));
    let first = if at.y == from.y { from.x.max(begin) } else { begin };
    let last = if at.y == to.y { to.x } else { area.right().saturating_sub(1) };
    for x in first..=last.min(area.right().saturating_sub(1)) {
        // The colour of a picture's cell is its number.
        let cell = buf.cell_mut((x, at.y)).filter(|cell| !cell.symbol().starts_with(PLACEHOLDER));
        if let Some(cell) = cell {
            cell.set_style(theme.style(Role::Selected));
        }
    }
}
