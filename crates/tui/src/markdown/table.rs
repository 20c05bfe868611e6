//! Tables: columns as wide as they need, narrowed together when the screen is too small.

use crate::look::Appearance;
use crate::row::{Piece, Row, width, wrap};
use crate::theme::Role;

/// Columns drawn at most.
const MAX_COLUMNS: usize = 32;
/// No column is narrowed below this.
const LEAST: usize = 3;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

/// A table as it is read; the first row is its head.
#[derive(Debug)]
pub(super) struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<Vec<Piece>>>,
}

impl Table {
    pub(super) fn new(aligns: Vec<Align>) -> Table {
        Table { aligns, rows: Vec::new() }
    }

    /// Begins a row; the first is the heading.
    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the row that was begun last; cells past the bound are dropped.
    pub(super) fn cell(&mut self, pieces: Vec<Piece>) {
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_COLUMNS) {
            row.push(pieces);
        }
    }

    /// Lays the table out in the columns there are, with `lead` before each line.
    pub(super) fn rows(&self, lead: &Piece, look: Appearance) -> Vec<Row> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if count == 0 {
            return Vec::new();
        }
        let room = look.columns.saturating_sub(width(&lead.text) + 3 * (count - 1)).max(count);
        let widths = self.widths(count, room);
        let dim = look.theme.style(Role::Border);
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            out.extend(self.lines(row, &widths, lead, look, at == 0));
            if at == 0 {
                let rule = widths.iter().map(|w| "─".repeat(*w)).collect::<Vec<_>>().join("─┼─");
                out.push(Row::from(vec![lead.clone(), Piece::new(rule, dim)]));
            }
        }
        out
    }

    fn widths(&self, count: usize, room: usize) -> Vec<usize> {
        let wanted = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.iter().map(|piece| width(&piece.text)).sum()).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..count).map(wanted).collect();
        // The widest gives way first, so that short columns stay readable.
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = (0..count).max_by_key(|at| widths[*at]).filter(|at| widths[*at] > LEAST)
            else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }

    fn lines(
        &self,
        row: &[Vec<Piece>],
        widths: &[usize],
        lead: &Piece,
        look: Appearance,
        head: bool,
    ) -> Vec<Row> {
        let none = Piece::default();
        let dim = look.theme.style(Role::Border);
        let cells: Vec<Vec<Row>> = widths
            .iter()
            .enumerate()
            .map(|(at, columns)| {
                let mut pieces = row.get(at).cloned().unwrap_or_default();
                if head {
                    pieces.iter_mut().for_each(|piece| piece.style = look.theme.style(Role::Heading));
                }
                wrap(&pieces, *columns, &none, &none)
            })
            .collect();
        let high = cells.iter().map(Vec::len).max().unwrap_or(1);
        let line = |line: usize| {
            let mut pieces = vec![lead.clone()];
            for (at, columns) in widths.iter().enumerate() {
                if at > 0 {
                    pieces.push(Piece::new(" │ ", dim));
                }
                let row = cells[at].get(line).cloned().unwrap_or_default();
                let free = columns.saturating_sub(row.width());
                let before = match self.aligns.get(at).copied().unwrap_or(Align::Left) {
                    Align::Left => 0,
                    Align::Center => free / 2,
                    Align::Right => free,
                };
                pieces.push(Piece::new(" ".repeat(before), dim));
                pieces.extend(row.pieces);
                pieces.push(Piece::new(" ".repeat(free - before), dim));
            }
            Row::from(pieces)
        };
        (0..high).map(line).collect()
    }
}
