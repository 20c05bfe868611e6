//! The transcript: which cells stand where. Virtual: only what is on the screen (and what a scroll passes over) is laid out.
//!
//! Invariant: a frame costs what it shows, however long the session is. The place is kept by cell, not by line number, so that it
//! stays where the person looks while text streams in below, cells fold or the window changes.

#[cfg(test)]
mod tests;

use crate::cell::{self, Appearance, gap};
use crate::keymap::Action;
use crate::markdown::Stream;
use crate::model::Model;
use crate::picture::{Framed, PLACEHOLDER};
use crate::row::{Links, Row, draw};
use crate::search;
use crate::theme::Role;
use crate::thread::{Cell, CellKey};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;
use std::rc::Rc;

/// Laid-out cells kept; past this, those that were not drawn lately go.
const MAX_CACHED: usize = 512;
/// Heights that are remembered at most.
const MAX_HEIGHTS: usize = 4_096;

/// Where the transcript stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scroll {
    /// At the end, following what comes.
    #[default]
    Tail,
    /// This line of this cell is on top.
    At { key: CellKey, line: usize },
}

/// Heights of cells at their revision and look.
#[derive(Debug, Default)]
pub struct Heights(pub(crate) HashMap<CellKey, (u64, Appearance, usize)>);

/// Rows of cells, so that a frame lays out only what changed.
#[derive(Debug, Default)]
pub struct CellCache {
    cells: HashMap<CellKey, Cached>,
    frame: u64,
}

#[derive(Debug)]
struct Cached {
    revision: u64,
    look: Appearance,
    rows: Laid,
    stream: Stream,
    frame: u64,
}

/// Rows of a cell: those that stay while text streams in, and those that may change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Laid {
    head: Rc<Vec<Row>>,
    tail: Rc<Vec<Row>>,
}

impl Laid {
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.head.iter().chain(self.tail.iter())
    }

    fn get(&self, at: usize) -> Option<&Row> {
        self.head.get(at).or_else(|| self.tail.get(at.checked_sub(self.head.len())?))
    }
}

impl CellCache {
    /// Lays a cell out, or takes what was laid out for the same revision and look.
    pub(crate) fn rows(&mut self, model: &Model, cell: Cell, columns: usize) -> Laid {
        let look = appearance(model, cell.key, columns);
        let frame = self.frame;
        let state = model.world.state();
        if let Some(cached) = self.cells.get_mut(&cell.key)
            && cached.revision == cell.revision
            && cached.look == look
        {
            cached.frame = frame;
            return cached.rows.clone();
        }
        let known = self.cells.remove(&cell.key).filter(|cached| cached.look == look);
        let mut stream = known.map(|cached| cached.stream).unwrap_or_default();
        let rows = match cell::streamed(state, cell.key) {
            Some(text) => {
                let (head, mut tail) = stream.rows(text, look);
                tail.extend(cell::cut_rows(state, cell.key, look));
                Laid { head, tail: Rc::new(tail) }
            }
            None => Laid { head: Rc::default(), tail: Rc::new(cell::rows(state, cell.key, look)) },
        };
        let cached = Cached { revision: cell.revision, look, rows: rows.clone(), stream, frame };
        self.cells.insert(cell.key, cached);
        rows
    }

    /// A frame begins: what was not drawn lately may go.
    pub(crate) fn begin(&mut self) {
        self.frame += 1;
        if self.cells.len() > MAX_CACHED {
            let frame = self.frame;
            self.cells.retain(|_, cached| cached.frame + 1 >= frame);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Forgets everything, for instance because another session is shown.
    pub fn clear(&mut self) {
        self.cells.clear();
    }
}

/// How a cell of the transcript is drawn now.
pub(crate) fn appearance(model: &Model, key: CellKey, columns: usize) -> Appearance {
    let opens = model.screen.keymap.first(Action::Fold);
    Appearance {
        columns,
        theme: model.screen.theme,
        open: model.is_open(key),
        opens,
        pictures: model.shows_pictures(),
    }
}

/// A place: which cell, which line of it (a gap before the cell counts as its first line).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CellLine {
    cell: usize,
    line: usize,
}

/// Columns left free at both sides.
const MARGIN: u16 = 1;

fn columns(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(2 * MARGIN)).max(1)
}

/// Empty rows before a cell.
pub(crate) fn lead(model: &Model, at: usize) -> usize {
    let cells = model.world.seen().thread.cells();
    match at.checked_sub(1).and_then(|before| cells.get(before)).zip(cells.get(at)) {
        Some((before, cell)) => gap(before.key, cell.key),
        None => 0,
    }
}

/// The place from which `rows` lines reach the end.
fn tail(count: usize, rows: usize, mut height: impl FnMut(usize) -> usize) -> CellLine {
    let mut left = rows;
    for cell in (0..count).rev() {
        let high = height(cell);
        if high >= left {
            return CellLine { cell, line: high - left };
        }
        left -= high;
    }
    CellLine { cell: 0, line: 0 }
}

fn measure(model: &mut Model, at: usize, columns: usize) -> usize {
    let Some(cell) = model.world.seen().thread.cells().get(at).copied() else { return 0 };
    let look = appearance(model, cell.key, columns);
    let known = model.screen.heights.0.get(&cell.key).filter(|(r, l, _)| *r == cell.revision && *l == look);
    let high = match known {
        Some((_, _, high)) => *high,
        None => {
            let high = cell::rows(model.world.state(), cell.key, look).len();
            if model.screen.heights.0.len() >= MAX_HEIGHTS {
                model.screen.heights.0.clear();
            }
            model.screen.heights.0.insert(cell.key, (cell.revision, look, high));
            high
        }
    };
    high + lead(model, at)
}

/// Moves the transcript by lines; down is positive.
pub fn scroll_by(model: &mut Model, area: Rect, lines: i64) {
    let (columns, rows) = (columns(area), usize::from(area.height));
    let count = model.world.seen().thread.cells().len();
    if count == 0 {
        return;
    }
    let bottom = tail(count, rows, |at| measure(model, at, columns));
    let mut place = match model.screen.scroll {
        Scroll::Tail => bottom,
        Scroll::At { key, line } => match model.world.seen().thread.position(key) {
            Some(cell) => CellLine { cell, line },
            None => bottom,
        },
    };
    let mut left = usize::try_from(lines.unsigned_abs()).unwrap_or(usize::MAX);
    if lines < 0 {
        while left > place.line {
            if place.cell == 0 {
                left = 0;
                place.line = 0;
                break;
            }
            left -= place.line;
            place.cell -= 1;
            place.line = measure(model, place.cell, columns);
        }
        place.line -= left.min(place.line);
    } else {
        loop {
            let high = measure(model, place.cell, columns);
            if place.line + left < high || place.cell + 1 >= count {
                place.line = (place.line + left).min(high.saturating_sub(1));
                break;
            }
            left -= high - place.line.min(high);
            place = CellLine { cell: place.cell + 1, line: 0 };
        }
    }
    let at_the_end = (place.cell, place.line) >= (bottom.cell, bottom.line);
    settle(model, if at_the_end { None } else { Some(place) });
}

fn settle(model: &mut Model, place: Option<CellLine>) {
    let cell = place.and_then(|place| model.world.seen().thread.cells().get(place.cell).copied());
    model.screen.scroll = match (place, cell) {
        (Some(place), Some(cell)) => Scroll::At { key: cell.key, line: place.line },
        _ => Scroll::Tail,
    };
}

/// Scrolls so that the first line of a cell that holds `words` is seen.
pub fn show_words(model: &mut Model, area: Rect, key: CellKey, words: &str) {
    let rows = cell::rows(model.world.state(), key, appearance(model, key, columns(area)));
    let found = rows.iter().position(|row| !search::columns(&row.text(), words).is_empty());
    let high = usize::from(area.height);
    match (found, model.world.seen().thread.position(key)) {
        // Near its beginning the cell is shown from there.
        (Some(line), Some(cell)) if line + 2 > high => {
            let line = lead(model, cell) + line - high / 2;
            settle(model, Some(CellLine { cell, line }));
        }
        _ => show(model, area, key),
    }
}

/// Scrolls so that a cell is seen: its beginning comes to the top unless it is on the screen already.
pub fn show(model: &mut Model, area: Rect, key: CellKey) {
    let Some(cell) = model.world.seen().thread.position(key) else { return };
    let (columns, rows) = (columns(area), usize::from(area.height));
    let count = model.world.seen().thread.cells().len();
    let bottom = tail(count, rows, |at| measure(model, at, columns));
    let top = match model.screen.scroll {
        Scroll::Tail => bottom,
        Scroll::At { key, line } => {
            model.world.seen().thread.position(key).map_or(bottom, |cell| CellLine { cell, line })
        }
    };
    let mut above = 0usize;
    if (cell, 0) >= (top.cell, top.line) {
        for at in top.cell..=cell {
            above += measure(model, at, columns);
            if above > rows + top.line {
                break;
            }
        }
        if above <= rows + top.line {
            return;
        }
    }
    let line = lead(model, cell);
    let at_the_end = (cell, line) >= (bottom.cell, bottom.line);
    settle(model, if at_the_end { None } else { Some(CellLine { cell, line }) });
}

/// The cell that stands on a row of the screen.
pub fn cell_at(model: &mut Model, area: Rect, row: u16) -> Option<CellKey> {
    let wanted = usize::from(row.checked_sub(area.y).filter(|row| *row < area.height)?);
    let (columns, rows) = (columns(area), usize::from(area.height));
    let count = model.world.seen().thread.cells().len();
    let top = match model.screen.scroll {
        Scroll::At { key, line } => {
            model.world.seen().thread.position(key).map(|cell| CellLine { cell, line })
        }
        Scroll::Tail => None,
    };
    let top = top.unwrap_or_else(|| tail(count, rows, |at| measure(model, at, columns)));
    let mut below = wanted + top.line;
    for at in top.cell..count {
        let high = measure(model, at, columns);
        if below < high {
            return model.world.seen().thread.cells().get(at).map(|cell| cell.key);
        }
        below -= high;
    }
    None
}

/// The rows that stand on the screen, top to bottom.
fn on_screen(model: &mut Model, area: Rect) -> Vec<Row> {
    let (columns, high) = (columns(area), usize::from(area.height));
    let count = model.world.seen().thread.cells().len();
    let top = match model.screen.scroll {
        Scroll::At { key, line } => {
            model.world.seen().thread.position(key).map(|cell| CellLine { cell, line })
        }
        Scroll::Tail => None,
    };
    let top = top.unwrap_or_else(|| tail(count, high, |at| measure(model, at, columns)));
    let mut rows = Vec::new();
    let mut skip = top.line;
    for at in top.cell..count {
        let Some(cell) = model.world.seen().thread.cells().get(at).copied() else { break };
        rows.extend((0..lead(model, at)).map(|_| Row::empty()));
        rows.extend(cell::rows(model.world.state(), cell.key, appearance(model, cell.key, columns)));
        let cut = skip.min(rows.len());
        rows.drain(..cut);
        skip -= cut;
        if rows.len() >= high {
            break;
        }
    }
    rows.truncate(high);
    rows
}

/// The text between two places of the screen, both included; rows that go on with the same line are joined.
pub fn text_between(model: &mut Model, area: Rect, from: Position, to: Position) -> String {
    let (from, to) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    let rows = on_screen(model, area);
    let mut text = String::new();
    for y in from.y.max(area.y)..=to.y.min(area.bottom().saturating_sub(1)) {
        let Some(row) = rows.get(usize::from(y - area.y)) else { break };
        let column = |x: u16| usize::from(x.saturating_sub(area.x + MARGIN));
        let first = if y == from.y { column(from.x) } else { 0 };
        let last = if y == to.y { column(to.x) + 1 } else { usize::MAX };
        text.push_str(crate::row::between(&row.text(), first, last).trim_end());
        if y != to.y {
            text.push(if row.soft { ' ' } else { '\n' });
        }
    }
    text
}

/// Draws the conversation at its scroll position, with the selection and the found words.
pub fn view(model: &Model, cache: &mut CellCache, area: Rect, buf: &mut Buffer, links: &mut Links) {
    cache.begin();
    let columns = columns(area);
    let cells = model.world.seen().thread.cells();
    let rows = usize::from(area.height);
    let place = match model.screen.scroll {
        Scroll::At { key, line } => {
            model.world.seen().thread.position(key).map(|cell| CellLine { cell, line })
        }
        Scroll::Tail => None,
    };
    let place = place.unwrap_or_else(|| {
        tail(cells.len(), rows, |at| lead(model, at) + cache.rows(model, cells[at], columns).len())
    });
    let mut y = 0usize;
    let mut skip = place.line;
    for (at, cell) in cells.iter().enumerate().skip(place.cell) {
        if y >= rows {
            break;
        }
        let laid = cache.rows(model, *cell, columns);
        let blank = lead(model, at);
        let selected = model.screen.selected == Some(cell.key);
        for line in skip..blank + laid.len() {
            if y >= rows {
                break;
            }
            let row_y = area.y + u16::try_from(y).unwrap_or(u16::MAX);
            if line >= blank {
                let Some(row) = laid.get(line - blank) else { break };
                let at = Position::new(area.x + MARGIN, row_y);
                draw(row, at, area.width.saturating_sub(2 * MARGIN), buf, links);
                mark_found(model, row, at, buf);
                mark_dragged(model, at, area, buf);
                if selected {
                    buf[(area.x, row_y)].set_symbol("▌").set_style(model.screen.theme.style(Role::Accent));
                }
            }
            y += 1;
        }
        skip = skip.saturating_sub(blank + laid.len());
    }
}

/// The pictures on the screen.
pub(crate) fn pictures(model: &Model, cache: &mut CellCache, area: Rect) -> Vec<Framed> {
    let columns = columns(area);
    let cells = model.world.seen().thread.cells();
    let first = match model.screen.scroll {
        Scroll::At { key, .. } => model.world.seen().thread.position(key),
        Scroll::Tail => None,
    };
    let rows = usize::from(area.height);
    let mut high = |at: usize| lead(model, at) + cache.rows(model, cells[at], columns).len();
    let first = first.unwrap_or_else(|| tail(cells.len(), rows, &mut high).cell);
    let (mut used, mut shown) = (0, Vec::new());
    for (at, cell) in cells.iter().enumerate().skip(first) {
        // The first cell may be cut at its top.
        if used > rows {
            break;
        }
        shown.extend(cell::pictures(model.world.state(), cell.key, appearance(model, cell.key, columns)));
        used += if at == first { 0 } else { high(at) };
    }
    shown
}

/// Marks the words that are being looked for.
fn mark_found(model: &Model, row: &Row, at: Position, buf: &mut Buffer) {
    let Some(search) = model.screen.search.as_ref().filter(|search| !search.editor.is_empty()) else {
        return;
    };
    for (from, to) in search::columns(&row.text(), search.editor.text()) {
        for column in from..to {
            let x = at.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
            if let Some(cell) = buf.cell_mut((x, at.y)) {
                cell.set_style(model.screen.theme.style(Role::Found));
            }
        }
    }
}

/// Marks what the mouse is drawn over.
fn mark_dragged(model: &Model, at: Position, area: Rect, buf: &mut Buffer) {
    let Some((from, to)) = model.screen.drag.filter(|(from, to)| from != to) else { return };
    let (from, to) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
    if at.y < from.y || at.y > to.y {
        return;
    }
    let first = if at.y == from.y { from.x } else { at.x };
    let last = if at.y == to.y { to.x } else { area.right().saturating_sub(1) };
    for x in first..=last.min(area.right().saturating_sub(1)) {
        // The colour of a picture's cell is its number.
        let cell = buf.cell_mut((x, at.y)).filter(|cell| !cell.symbol().starts_with(PLACEHOLDER));
        if let Some(cell) = cell {
            cell.set_style(model.screen.theme.style(Role::Selected));
        }
    }
}
