//! Inline frames as bytes: rows that are finished flow into the scrollback as ordinary output, the live part is drawn below them.
//!
//! Everything is addressed from where the cursor stands, never from the top of the screen: rows may be pushed out at the top or pulled
//! back at any time, and the cursor moves with them. No scroll region is used, since not every terminal keeps what leaves one; nothing
//! above the live part is ever written to. A row is written only as far as it has something to show, so that its length is the same
//! for every terminal when it wraps rows anew for another width.

use super::{Able, Pen, blank, columns, framed, relinked};
use crate::row::{Links, draw};
use crate::view::InlineFrame;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect};
use std::fmt::Write;

/// How the terminal behaves when its size changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resized {
    /// The columns it has now.
    pub(crate) columns: u16,
    /// The rows it has now.
    pub(crate) rows: u16,
    /// The row and column of the cursor, from 0, if the terminal told.
    pub(crate) cursor: Option<(u16, u16)>,
    /// Whether it wraps what was written for the width it has now.
    pub(crate) reflows: bool,
}

/// Clears everything from the cursor's row on; the cursor stands in its first column. Not from the first column: where that is the
/// first of the screen, some terminals (tmux) take it for clearing the screen and keep all of it in the scrollback.
const CLEAR: &str = "\x1b[0m\x1b[2K\x1b[2G\x1b[J\r";

/// Remembers what the live part shows.
#[derive(Debug)]
pub(crate) struct InlinePainter {
    able: Able,
    shown: Buffer,
    links: Links,
    /// The row of the live part that the cursor is in.
    at: u16,
    caret: Option<Position>,
    /// Rows above the live part that were part of it and could not be taken away: they left the screen when it shrank. If they come
    /// back before anything else is handed out, they go.
    stale: Vec<Vec<u16>>,
    /// Whether the last of them was cut in the middle: for the terminal the first row of the live part goes on with it.
    joined: bool,
    /// The live part is written anew, this many rows above the cursor.
    anew: Option<u16>,
}

impl InlinePainter {
    /// Begins in the row where the cursor is, which is empty.
    pub(crate) fn new(able: Able) -> InlinePainter {
        InlinePainter {
            able,
            shown: Buffer::empty(Rect::default()),
            links: Links::new(),
            at: 0,
            caret: None,
            stale: Vec::new(),
            joined: false,
            anew: Some(0),
        }
    }

    /// The terminal can do this from now on. Other colours mean that the live part is written again.
    pub(crate) fn enable(&mut self, able: Able) {
        if able.depth != self.able.depth {
            self.forget();
        }
        self.able = able;
    }

    /// Writes the live part anew where it is.
    pub(crate) fn forget(&mut self) {
        self.anew.get_or_insert(self.at);
    }

    /// Rows of the live part below the cursor.
    pub(crate) fn below(&self) -> u16 {
        self.shown.area.height.saturating_sub(self.at + 1)
    }

    /// Finds the live part again after the size changed. The first `adoptable` of its rows may stay where they are if they are not on the
    /// screen any more: how many do.
    pub(crate) fn resized(&mut self, to: Resized, adoptable: usize) -> usize {
        let lead = self.stale.len();
        let high = |row: &[u16]| if to.reflows { wrapped(row, to.columns) } else { 1 };
        let mut above = std::mem::take(&mut self.stale);
        let mut heights: Vec<u16> = above.iter().map(|row| high(row)).collect();
        for y in 0..self.at {
            let (before, row) = (self.begun(y, &above), shape(&self.shown, y));
            let whole: Vec<u16> = before.iter().chain(&row).copied().collect();
            heights.push(if before.is_empty() { high(&row) } else { high(&whole) - high(before) });
            above.push(row);
        }
        let turns = self.turns(to, self.begun(self.at, &above));
        let total: u16 = heights.iter().sum::<u16>() + turns;
        let last = to.rows.saturating_sub(1);
        let room = to.cursor.map_or(last, |(row, _)| row.min(last));
        self.joined = false;
        let Some(mut out) = total.checked_sub(room).filter(|out| *out > 0) else {
            self.anew = Some(total);
            return 0;
        };
        // The first rows are out of the screen, the last of them perhaps only in part.
        let mut gone = 0;
        while gone < heights.len() && heights[gone] <= out {
            out -= heights[gone];
            gone += 1;
        }
        let cut = out > 0 && gone < heights.len();
        if cut && gone >= lead && gone < lead + adoptable {
            // What is left of it on the screen stays as well.
            self.anew = Some(room - (heights[gone] - out).min(room));
            return gone + 1 - lead;
        }
        self.anew = Some(room);
        // What was stale before is there for good as soon as anything after it is.
        let adopted = gone.saturating_sub(lead).min(adoptable);
        let stale = gone + usize::from(cut);
        if cut {
            above[gone] = first_rows(&above[gone], to.columns, out);
        }
        self.joined = cut;
        self.stale = above.drain(if adopted > 0 { lead + adopted } else { 0 }..stale).collect();
        adopted
    }

    /// What a row of the live part goes on with.
    fn begun<'a>(&self, y: u16, above: &'a [Vec<u16>]) -> &'a [u16] {
        let joined = self.joined && y == 0;
        above.last().filter(|_| joined).map_or(&[], Vec::as_slice)
    }

    /// By how many rows the cursor's own row was wrapped before the cursor.
    fn turns(&self, to: Resized, begun: &[u16]) -> u16 {
        let Some(caret) = self.caret.filter(|_| to.reflows) else { return 0 };
        let mut before = begun.to_vec();
        let mut x = 0;
        for wide in shape(&self.shown, self.at).into_iter().chain(std::iter::repeat(1)) {
            if x >= caret.x {
                break;
            }
            before.push(wide);
            x += wide;
        }
        let full = wrapped(&before, to.columns);
        before.push(1);
        let turns = wrapped(&before, to.columns) - 1;
        // At the very end of a row some terminals let the cursor stand in its last column.
        let waits = to.cursor.is_some_and(|(_, column)| column + 1 == to.columns);
        let turns = turns - u16::from(waits && turns > 0 && full == turns);
        if begun.is_empty() { turns } else { turns + 1 - wrapped(begun, to.columns) }
    }

    /// The bytes of a frame on a screen of `rows`; empty when it shows nothing new.
    pub(crate) fn frame(&mut self, rows: u16, frame: InlineFrame) -> String {
        let mut out = String::new();
        let mut pen = Pen::relative(self.able.depth, self.caret.map(|caret| caret.x), self.at.into());
        if !frame.commit.is_empty() {
            self.stale.clear();
            self.joined = false;
        }
        let wanted = frame.commit.len() + usize::from(frame.live.area.height);
        let same = self.shown.area.width == frame.live.area.width && !self.shown.area.is_empty();
        if let Some(up) = self.anew.take() {
            pen.row = Some(up.into());
            self.write_anew(&mut out, &mut pen, &frame);
        } else if !same || wanted > usize::from(rows) {
            self.write_anew(&mut out, &mut pen, &frame);
        } else {
            self.patch(&mut out, &mut pen, &frame);
        }
        pen.finish(&mut out);
        match frame.caret {
            Some(caret) => pen.move_to(&mut out, caret.x, caret.y),
            // The cursor is not left in what was handed out.
            None if pen.row.is_none_or(|row| row < 0) => pen.move_to(&mut out, 0, 0),
            None => {}
        }
        let bytes = framed(out, self.able.synchronized, self.caret.is_some(), frame.caret.is_some());
        self.at = pen.row.and_then(|row| u16::try_from(row).ok()).unwrap_or(0);
        self.caret = frame.caret;
        (self.shown, self.links) = (frame.live, frame.links);
        bytes
    }

    /// Takes the live part away; the cursor stands where it began.
    pub(crate) fn erase(&mut self) -> String {
        let mut out = String::new();
        let mut pen = Pen::relative(self.able.depth, None, self.anew.unwrap_or(self.at).into());
        pen.move_to(&mut out, 0, 0);
        out.push_str(CLEAR);
        out.push_str("\x1b[?25h");
        *self = InlinePainter::new(self.able);
        self.caret = Some(Position::new(0, 0));
        out
    }

    /// Everything from the top of the live part on is written.
    fn write_anew(&mut self, out: &mut String, pen: &mut Pen, frame: &InlineFrame) {
        pen.move_to(out, 0, 0);
        out.push_str(CLEAR);
        let width = frame.live.area.width;
        let mut line = Buffer::empty(Rect::new(0, 0, width, 1));
        let empty = line.clone();
        for row in &frame.commit {
            line.reset();
            let mut links = Links::new();
            draw(row, Position::new(1, 0), width.saturating_sub(2), &mut line, &mut links);
            write_row(out, pen, (&empty, 0), (&line, 0), &links, 0);
            pen.finish(out);
            out.push_str("\r\n");
            *pen = Pen::relative(self.able.depth, Some(0), 0);
        }
        for y in 0..frame.live.area.height {
            if y > 0 {
                pen.finish(out);
                out.push_str("\r\n");
                *pen = Pen::relative(self.able.depth, Some(0), y.into());
            }
            write_row(out, pen, (&empty, 0), (&frame.live, y), &frame.links, y);
        }
    }

    /// Only what changed is written: rows are pushed in or taken out where the two differ, then cells.
    fn patch(&mut self, out: &mut String, pen: &mut Pen, frame: &InlineFrame) {
        let width = frame.live.area.width;
        let (old, count) = (usize::from(self.shown.area.height), frame.commit.len());
        let new = count + usize::from(frame.live.area.height);
        let place = |row: usize| u16::try_from(row).unwrap_or(u16::MAX);
        let mut next = Buffer::empty(Rect::new(0, 0, width, place(new)));
        let mut links: Links = Links::new();
        for (row, y) in frame.commit.iter().zip(0..) {
            draw(row, Position::new(1, y), width.saturating_sub(2), &mut next, &mut links);
        }
        for y in 0..frame.live.area.height {
            for x in 0..width {
                next[(x, place(count) + y)] = frame.live[(x, y)].clone();
            }
        }
        let lower =
            |(y, from, to, link): &(u16, u16, u16, _)| (y + place(count), *from, *to, Clone::clone(link));
        links.extend(frame.links.iter().map(lower));
        let less = old.min(new);
        let differ = |y: usize, z: usize| differing(&self.shown, place(y), &next, place(z));
        let first = (0..less).take_while(|y| differ(*y, *y) == 0).count();
        let near = |back: &usize| differ(old - 1 - back, new - 1 - back) <= usize::from(width) / 4;
        let last = (0..less - first).take_while(near).count();
        // The rows that are shown, as they stand once rows were pushed in (`None`) or taken out.
        let mut shown: Vec<Option<usize>> = (0..old).map(Some).collect();
        if new > old {
            let more = new - old;
            pen.move_to(out, 0, place(old - 1));
            (0..more).for_each(|_| out.push('\n'));
            pen.row = Some(place(old - 1 + more).into());
            if last > 0 {
                pen.move_to(out, 0, place(old - last));
                let _ = write!(out, "\x1b[{more}L");
            }
            shown.splice(old - last..old - last, std::iter::repeat_n(None, more));
        } else if new < old && old - last - (old - new) == 0 {
            // Some terminals keep a row that is deleted at the top of the screen in their scrollback.
            return self.write_anew(out, pen, frame);
        } else if new < old {
            let fewer = old - new;
            pen.move_to(out, 0, place(old - last - fewer));
            let _ = write!(out, "\x1b[{fewer}M");
            shown.drain(old - last - fewer..old - last);
        }
        let empty = Buffer::empty(Rect::new(0, 0, width, 1));
        let known = shown.iter().zip(0..).flat_map(|(row, y)| {
            let of = move |link: &&(u16, u16, u16, _)| Some(usize::from(link.0)) == *row;
            self.links.iter().filter(of).map(move |(_, from, to, link)| (y, *from, *to, link.clone()))
        });
        let again = relinked(&known.collect(), &links);
        for (row, y) in shown.into_iter().zip(0..) {
            let before = row.map_or((&empty, 0), |row| (&self.shown, place(row)));
            let anew = again.iter().any(|(row, ..)| *row == y);
            if anew {
                pen.finish(out);
                pen.move_to(out, 0, y);
                out.push_str("\x1b[2K");
            }
            write_row(out, pen, if anew { (&empty, 0) } else { before }, (&next, y), &links, y);
        }
        // Rows that are handed out are above the live part now.
        pen.row = pen.row.map(|row| row - i32::from(place(count)));
    }
}

/// Writes what makes a row that shows `before` show `after`.
fn write_row(
    out: &mut String,
    pen: &mut Pen,
    before: (&Buffer, u16),
    after: (&Buffer, u16),
    links: &Links,
    y: u16,
) {
    let new = length(after.0, after.1);
    let right = after.0.area.width;
    // A row that becomes shorter is written whole: some terminals count cells that were only cleared when they wrap rows anew.
    let shorter =
        length(before.0, before.1) > new || super::is_uncertain(before.0, before.1, after.0, after.1);
    let none = Cell::default();
    if shorter {
        pen.finish(out);
        pen.move_to(out, 0, y);
        out.push_str("\x1b[2K");
    }
    let (mut covered, mut spoilt, mut written) = (0u16, 0u16, None);
    for x in 0..new {
        let was = if shorter { &none } else { &before.0[(x, before.1)] };
        let is = &after.0[(x, after.1)];
        let differ = was != is;
        if covered == 0 && (differ || spoilt > 0) {
            for near in super::gap(after.0, after.1, written, x) {
                pen.put(out, near, y, &after.0[(near, after.1)], super::link_at(links, near, y), right);
            }
            written = Some(x + columns(is));
            pen.put(out, x, y, is, super::link_at(links, x, y), right);
        }
        spoilt = spoilt.saturating_sub(1).max(if differ { columns(was).max(columns(is)) - 1 } else { 0 });
        covered = if covered > 0 { covered - 1 } else { columns(is) - 1 };
    }
}

/// How far a row has something to show.
fn length(buffer: &Buffer, y: u16) -> u16 {
    (0..buffer.area.width)
        .rev()
        .find(|x| !blank(&buffer[(*x, y)]))
        .map_or(0, |x| x + columns(&buffer[(x, y)]).min(buffer.area.width - x))
}

/// The widths of what a row shows, left to right.
fn shape(buffer: &Buffer, y: u16) -> Vec<u16> {
    let (mut widths, mut x) = (Vec::new(), 0);
    while x < length(buffer, y) {
        let wide = columns(&buffer[(x, y)]);
        widths.push(wide);
        x += wide;
    }
    widths
}

/// Rows that something of these widths takes on a screen of `columns`.
fn wrapped(widths: &[u16], columns: u16) -> u16 {
    let (mut rows, mut used) = (1, 0);
    for wide in widths {
        if used + wide > columns.max(2) {
            (rows, used) = (rows + 1, 0);
        }
        used += wide;
    }
    rows
}

/// What stands in the first rows of something of these widths.
fn first_rows(widths: &[u16], columns: u16, rows: u16) -> Vec<u16> {
    let fits = |upto: &usize| wrapped(&widths[..*upto], columns) <= rows;
    let upto = (0..=widths.len()).take_while(fits).last().unwrap_or(0);
    widths[..upto].to_vec()
}

/// How many cells of two rows differ.
fn differing(one: &Buffer, y: u16, other: &Buffer, z: u16) -> usize {
    let cells = |buffer: &Buffer, x: u16, y: u16| -> Option<Cell> { buffer.cell((x, y)).cloned() };
    (0..one.area.width).filter(|x| cells(one, *x, y) != cells(other, *x, z)).count()
}
