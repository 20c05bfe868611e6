//! Inline frames as bytes: rows that are finished flow into the scrollback as ordinary output, the live part is drawn below them.
//!
//! Uses no scroll region: not every terminal keeps what leaves one. Knows where the live part begins; after something else had the
//! terminal that is not known any more, and [`InlinePainter::restart`] begins at its last row.

use super::{Painter, Pen};
use crate::row::{Links, Row, draw};
use crate::view::InlineFrame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::fmt::Write;

/// Remembers where the live part stands.
#[derive(Debug)]
pub(crate) struct InlinePainter {
    painter: Painter,
    top: u16,
    high: u16,
}

impl InlinePainter {
    /// Begins at a row of the screen.
    pub(crate) fn new(synchronized: bool, top: u16) -> InlinePainter {
        let mut painter = Painter::new(synchronized);
        painter.origin = Some(top);
        InlinePainter { painter, top, high: 0 }
    }

    /// The bytes of a frame on a screen of `rows`.
    pub(crate) fn frame(&mut self, rows: u16, frame: InlineFrame) -> String {
        let mut out = String::new();
        if frame.anew {
            out.push_str("\x1b[0m\x1b[H\x1b[2J\x1b[3J");
            (self.top, self.high) = (0, 0);
            self.painter.forget();
        }
        let high = frame.live.area.height;
        if !frame.commit.is_empty() || high != self.high {
            self.top = self.top.min(rows.saturating_sub(1));
            let _ = write!(out, "\x1b[?25l\x1b[0m\x1b[{};1H\x1b[J", self.top + 1);
            let width = frame.live.area.width;
            for row in &frame.commit {
                write_row(&mut out, row, width);
                out.push_str("\r\n");
                self.top = (self.top + 1).min(rows.saturating_sub(1));
            }
            let beyond = (self.top + high).saturating_sub(rows);
            if beyond > 0 {
                let _ = write!(out, "\x1b[{rows};1H");
                (0..beyond).for_each(|_| out.push_str("\r\n"));
                self.top -= beyond.min(self.top);
            }
            self.high = high;
            self.painter.forget();
        }
        self.painter.origin = Some(self.top);
        let live = self.painter.frame(frame.live, &frame.links, frame.caret);
        if self.painter.synchronized && !out.is_empty() {
            return format!("\x1b[?2026h{out}{live}\x1b[?2026l");
        }
        out + &live
    }

    /// Takes the live part away; the cursor stands where it was.
    pub(crate) fn erase(&mut self) -> String {
        self.high = 0;
        self.painter.forget();
        format!("\x1b[0m\x1b[{};1H\x1b[J\x1b[?25h", self.top + 1)
    }

    /// Begins anew at the last row, which is made free.
    pub(crate) fn restart(&mut self, rows: u16) -> String {
        (self.top, self.high) = (rows.saturating_sub(1), 0);
        self.painter.forget();
        format!("\x1b[{rows};1H\r\n")
    }
}

fn write_row(out: &mut String, row: &Row, width: u16) {
    let mut line = Buffer::empty(Rect::new(0, 0, width, 1));
    let mut links = Links::new();
    draw(row, Position::new(1, 0), width.saturating_sub(2), &mut line, &mut links);
    let blank = ratatui::buffer::Cell::default();
    let last = (0..width).rev().find(|x| line[(*x, 0)] != blank);
    let mut pen = Pen { at: Some((0, 0)), ..Pen::default() };
    let mut covered = 0;
    for x in 0..last.map_or(0, |last| last + 1) {
        if covered == 0 {
            let cell = &line[(x, 0)];
            pen.put(out, x, 0, cell, super::link_at(&links, x, 0), width);
            covered = super::columns(cell);
        }
        covered -= 1;
    }
    pen.finish(out);
}
