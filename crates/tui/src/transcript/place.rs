//! Where the transcript stands, and what is there: scrolling by lines, bringing a cell into sight, finding what is on a row.

use super::{MARGIN, Scroll, Transcript, TranscriptPage};
use crate::cell;
use crate::look::Appearance;
use crate::row::{Row, between};
use crate::search::{self, Hit};
use crate::thread::CellKey;
use ratatui_core::layout::Position;
use std::collections::HashMap;

/// Heights that are remembered at most.
const MAX_HEIGHTS: usize = 4_096;

/// Heights of cells at their revision and look.
#[derive(Debug, Default)]
pub(super) struct Heights(HashMap<CellKey, (u64, Appearance, usize)>);

impl Heights {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A place: which cell, which line of it (a gap before the cell counts as its first line).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellLine {
    pub(super) cell: usize,
    pub(super) line: usize,
}

/// The place from which `rows` lines reach the end.
pub(super) fn tail(count: usize, rows: usize, mut height: impl FnMut(usize) -> usize) -> CellLine {
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

impl Transcript {
    /// The place that was scrolled to, if it is still there.
    pub(super) fn scrolled_to(&self, page: TranscriptPage<'_>) -> Option<CellLine> {
        match self.scroll {
            Scroll::At { key, line } => page.seen.thread.position(key).map(|cell| CellLine { cell, line }),
            Scroll::Tail => None,
        }
    }

    fn measure(&mut self, page: TranscriptPage<'_>, at: usize) -> usize {
        let Some(cell) = page.seen.thread.cells().get(at).copied() else { return 0 };
        let look = self.look(page, cell.key);
        let known = self.heights.0.get(&cell.key).filter(|(r, l, _)| *r == cell.revision && *l == look);
        let high = match known {
            Some((_, _, high)) => *high,
            None => {
                let high = cell::rows(&page.seen.state, cell.key, look).len();
                if self.heights.0.len() >= MAX_HEIGHTS {
                    self.heights.0.clear();
                }
                self.heights.0.insert(cell.key, (cell.revision, look, high));
                high
            }
        };
        high + page.lead(at)
    }

    /// Rows that the conversation takes in all, counted until there are `most`.
    pub(crate) fn height(&self, page: TranscriptPage<'_>, most: usize) -> usize {
        let mut high = 0;
        for (at, cell) in page.seen.thread.cells().iter().enumerate() {
            let look = self.look(page, cell.key);
            let known = self.heights.0.get(&cell.key).filter(|(r, l, _)| *r == cell.revision && *l == look);
            let rows = || cell::rows(&page.seen.state, cell.key, look).len();
            high += page.lead(at) + known.map_or_else(rows, |(_, _, high)| *high);
            if high >= most {
                return most;
            }
        }
        high
    }

    fn bottom(&mut self, page: TranscriptPage<'_>) -> CellLine {
        tail(page.seen.thread.cells().len(), page.rows(), |at| self.measure(page, at))
    }

    fn top(&mut self, page: TranscriptPage<'_>) -> CellLine {
        self.scrolled_to(page).unwrap_or_else(|| self.bottom(page))
    }

    /// Moves by lines; down is positive.
    pub(crate) fn scroll_by(&mut self, page: TranscriptPage<'_>, lines: i64) {
        let count = page.seen.thread.cells().len();
        if count == 0 {
            return;
        }
        let bottom = self.bottom(page);
        let mut place = self.scrolled_to(page).unwrap_or(bottom);
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
                place.line = self.measure(page, place.cell);
            }
            place.line -= left.min(place.line);
        } else {
            loop {
                let high = self.measure(page, place.cell);
                if place.line + left < high || place.cell + 1 >= count {
                    place.line = (place.line + left).min(high.saturating_sub(1));
                    break;
                }
                left -= high - place.line.min(high);
                place = CellLine { cell: place.cell + 1, line: 0 };
            }
        }
        self.settle(page, place, bottom);
    }

    /// Stands at a place; one at the end or beyond is the end.
    fn settle(&mut self, page: TranscriptPage<'_>, place: CellLine, bottom: CellLine) {
        self.scroll = match page.seen.thread.cells().get(place.cell) {
            Some(cell) if place < bottom => Scroll::At { key: cell.key, line: place.line },
            _ => Scroll::Tail,
        };
    }

    /// Scrolls so that a hit is seen: to the middle, unless it is on the screen already.
    pub(super) fn show_words(&mut self, page: TranscriptPage<'_>, hit: Hit, words: &str) {
        let Some(cell) = page.seen.thread.position(hit.key) else { return };
        let rows = cell::rows(&page.seen.state, hit.key, self.look(page, hit.key));
        let found = rows.iter().enumerate().flat_map(|(at, row)| {
            let hits = search::columns(&row.text(), words).len();
            std::iter::repeat_n(at, hits)
        });
        // A word that is torn at the end of a row counts as the one before it.
        let Some(row) = found.take(hit.nth + 1).last() else { return self.show(page, hit.key) };
        let (top, high) = (self.top(page), page.rows());
        let line = page.lead(cell) + row;
        let above: usize =
            if cell >= top.cell { (top.cell..cell).map(|at| self.measure(page, at)).sum() } else { 0 };
        if (cell, line) >= (top.cell, top.line) && above + line < top.line + high {
            return;
        }
        self.scroll = Scroll::At { key: hit.key, line };
        self.scroll_by(page, -i64::try_from(high / 2).unwrap_or(0));
    }

    /// Scrolls so that a cell is seen: its beginning comes to the top unless it is on the screen already.
    pub(crate) fn show(&mut self, page: TranscriptPage<'_>, key: CellKey) {
        let Some(cell) = page.seen.thread.position(key) else { return };
        let rows = page.rows();
        let bottom = self.bottom(page);
        let top = self.scrolled_to(page).unwrap_or(bottom);
        let mut above = 0usize;
        if (cell, 0) >= (top.cell, top.line) {
            for at in top.cell..=cell {
                above += self.measure(page, at);
                if above > rows + top.line {
                    break;
                }
            }
            if above <= rows + top.line {
                return;
            }
        }
        self.settle(page, CellLine { cell, line: page.lead(cell) }, bottom);
    }

    /// The cell that stands on a row of the screen.
    pub(super) fn cell_at(&mut self, page: TranscriptPage<'_>, row: u16) -> Option<CellKey> {
        let wanted = usize::from(row.checked_sub(page.area.y).filter(|row| *row < page.area.height)?);
        let top = self.top(page);
        let mut below = wanted + top.line;
        for (at, cell) in page.seen.thread.cells().iter().enumerate().skip(top.cell) {
            let high = self.measure(page, at);
            if below < high {
                return Some(cell.key);
            }
            below -= high;
        }
        None
    }

    /// The rows that stand on the screen, top to bottom.
    fn on_screen(&mut self, page: TranscriptPage<'_>) -> Vec<Row> {
        let high = page.rows();
        let top = self.top(page);
        let mut rows = Vec::new();
        let mut skip = top.line;
        for (at, cell) in page.seen.thread.cells().iter().enumerate().skip(top.cell) {
            rows.extend((0..page.lead(at)).map(|_| Row::empty()));
            rows.extend(cell::rows(&page.seen.state, cell.key, self.look(page, cell.key)));
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

    /// The text between two places of the screen, both included, without what only decorates it; rows that go on with the same line
    /// are joined.
    pub(super) fn text_between(&mut self, page: TranscriptPage<'_>, from: Position, to: Position) -> String {
        let (from, to) = if (from.y, from.x) <= (to.y, to.x) { (from, to) } else { (to, from) };
        let area = page.area;
        let rows = self.on_screen(page);
        let mut text = String::new();
        for y in from.y.max(area.y)..=to.y.min(area.bottom().saturating_sub(1)) {
            let Some(row) = rows.get(usize::from(y - area.y)) else { break };
            let column = |x: u16| usize::from(x.saturating_sub(area.x + MARGIN));
            let first = if y == from.y { column(from.x) } else { 0 };
            let last = if y == to.y { column(to.x) + 1 } else { usize::MAX };
            for (from, piece) in row.copied() {
                text.push_str(&between(piece, first.saturating_sub(from), last.saturating_sub(from)));
            }
            match row.soft {
                _ if y == to.y => {}
                Some(blanks) => (0..blanks).for_each(|_| text.push(' ')),
                None => {
                    text.truncate(text.trim_end_matches(' ').len());
                    text.push('\n');
                }
            }
        }
        text
    }
}
