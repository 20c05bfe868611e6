//! Frames as bytes: only what changed since the last frame is written. Knows escape sequences, does no I/O.
//!
//! Invariant: after the bytes of a frame, an emulator shows exactly the buffer; nothing is ever cleared to be drawn again.

#[cfg(test)]
mod hostile_tests;
mod inline;
#[cfg(test)]
mod inline_tests;
mod shift;
#[cfg(test)]
mod tests;

pub(crate) use inline::{InlinePainter, Resized};

use crate::row::Links;
use crate::theme::Depth;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Color, Modifier};
use std::fmt::Write;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr;

/// What the terminal can do with a frame, as far as is known by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Able {
    /// Whether frames are put between marks that make them appear at once.
    pub(crate) synchronized: bool,
    /// The colours that it shows: no other is ever written.
    pub(crate) depth: Depth,
}

/// Remembers what the terminal shows.
#[derive(Debug)]
pub(crate) struct Painter {
    shown: Buffer,
    links: Links,
    caret: Option<Position>,
    able: Able,
}

impl Painter {
    pub(crate) fn new(able: Able) -> Painter {
        let shown = Buffer::empty(Rect::default());
        Painter { shown, links: Links::new(), caret: None, able }
    }

    /// The terminal can do this from now on. Other colours mean that all is written again.
    pub(crate) fn enable(&mut self, able: Able) {
        if able.depth != self.able.depth {
            self.forget();
        }
        self.able = able;
    }

    /// Forgets what is shown: the next frame is written whole.
    pub(crate) fn forget(&mut self) {
        self.shown = Buffer::empty(Rect::default());
        self.caret = None;
    }

    /// The bytes that make the terminal show `next`; empty when it does already.
    pub(crate) fn frame(&mut self, next: Buffer, links: &Links, caret: Option<Position>) -> String {
        let mut out = String::new();
        let mut pen = Pen { depth: self.able.depth, ..Pen::default() };
        if next.area != self.shown.area {
            self.shown = Buffer::empty(next.area);
            self.links.clear();
            out.push_str("\x1b[0m\x1b[2J");
        }
        if let Some(shift) = shift::find(&self.shown, &next) {
            shift.write(&mut out);
            shift.apply(&mut self.shown);
            // Links move with their rows; those are written again, which is rare and always right.
            self.links.clear();
        }
        let relinked = relinked(&self.links, links);
        changed(&self.shown, &next, &relinked, |x, y, cell| {
            pen.put(&mut out, x, y, cell, link_at(links, x, y), next.area.right());
        });
        pen.finish(&mut out);
        if let Some(caret) = caret.filter(|caret| !out.is_empty() || Some(*caret) != self.caret) {
            pen.move_to(&mut out, caret.x, caret.y);
        }
        let frame = framed(out, self.able.synchronized, self.caret.is_some(), caret.is_some());
        self.shown = next;
        self.links.clone_from(links);
        self.caret = caret;
        frame
    }
}

/// Places whose link changed: they are drawn again even if they look the same.
fn relinked(before: &Links, after: &Links) -> Links {
    let gone = before.iter().filter(|link| !after.contains(link));
    let come = after.iter().filter(|link| !before.contains(link));
    gone.chain(come).cloned().collect()
}

/// Calls `put` for each cell that must be written to turn `shown` into `next`.
fn changed<'a>(shown: &Buffer, next: &'a Buffer, again: &Links, mut put: impl FnMut(u16, u16, &'a Cell)) {
    let area = next.area;
    for y in area.y..area.bottom() {
        if is_uncertain(shown, y, next, y) {
            put_row(next, y, &mut put);
            continue;
        }
        // Columns that a wide character at the left still covers, or covered before.
        let (mut covered, mut spoilt) = (0u16, 0u16);
        let mut after = None;
        for x in area.x..area.right() {
            let (Some(old), Some(new)) = (shown.cell((x, y)), next.cell((x, y))) else { continue };
            let (was, is) = (columns(old), columns(new));
            if covered == 0 && (old != new || spoilt > 0 || link_at(again, x, y).is_some()) {
                for near in gap(next, y, after, x) {
                    put(near, y, &next[(near, y)]);
                }
                put(x, y, new);
                after = Some(x + is);
            }
            spoilt = spoilt.saturating_sub(1).max(if old == new { 0 } else { was.max(is) - 1 });
            covered = if covered > 0 { covered - 1 } else { is - 1 };
        }
    }
}

/// Whether a row changes that has a sign in it of which terminals do not know alike how wide it is: what stands after it may have
/// moved, so all of it is written.
fn is_uncertain(shown: &Buffer, from: u16, next: &Buffer, to: u16) -> bool {
    let has = |buffer: &Buffer, y: u16| {
        (buffer.area.x..buffer.area.right())
            .any(|x| buffer.cell((x, y)).is_some_and(|cell| uneven(cell.symbol())))
    };
    let changes = || (next.area.x..next.area.right()).any(|x| shown.cell((x, from)) != next.cell((x, to)));
    (has(next, to) || has(shown, from)) && changes()
}

/// A sign put together from several, such as a thumb with a colour, which terminals draw in one, two or four columns.
fn uneven(symbol: &str) -> bool {
    let joins = |c: char| matches!(c, '\u{fe0f}' | '\u{200d}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{1f1e6}'..='\u{1f1ff}');
    symbol.len() > 3 && symbol.chars().any(joins)
}

/// Every cell of a row.
fn put_row<'a>(next: &'a Buffer, y: u16, put: &mut impl FnMut(u16, u16, &'a Cell)) {
    let mut x = next.area.x;
    while let Some(cell) = next.cell((x, y)).filter(|_| x < next.area.right()) {
        put(x, y, cell);
        x += columns(cell);
    }
}

/// Cells between two that are written which cost less to write again than to pass over.
fn gap(next: &Buffer, y: u16, after: Option<u16>, to: u16) -> std::ops::Range<u16> {
    let none = to..to;
    let Some(from) = after.filter(|from| *from < to && to - from <= NEAR) else { return none };
    let look = |x: u16| (next[(x, y)].fg, next[(x, y)].bg, next[(x, y)].modifier);
    let alike = |x: u16| look(x) == look(to) && next[(x, y)].symbol().len() == 1;
    if (from..to).all(alike) { from..to } else { none }
}

fn columns(cell: &Cell) -> u16 {
    u16::try_from(cell.symbol().width().clamp(1, 2)).unwrap_or(1)
}

fn link_at(links: &Links, x: u16, y: u16) -> Option<&Arc<str>> {
    links.iter().find(|(row, from, to, _)| *row == y && (*from..*to).contains(&x)).map(|(_, _, _, link)| link)
}

/// As many cells are passed over by writing them.
const NEAR: u16 = 3;
/// Smaller frames are not put between marks: they are written at once anyway, and the marks would cost more than they do.
const SMALL: usize = 120;

/// The bytes of a frame, made to appear at once, without a cursor that runs about.
fn framed(out: String, synchronized: bool, was_seen: bool, seen: bool) -> String {
    let large = out.len() > SMALL;
    let hidden = !seen || large && !synchronized;
    let hide = if was_seen && hidden { "\x1b[?25l" } else { "" };
    let show = if seen && (hidden || !was_seen) { "\x1b[?25h" } else { "" };
    if large && synchronized {
        return format!("\x1b[?2026h{hide}{out}{show}\x1b[?2026l");
    }
    if hide.is_empty() && show.is_empty() { out } else { format!("{hide}{out}{show}") }
}

/// Whether nothing is seen of a cell.
fn blank(cell: &Cell) -> bool {
    let seen = Modifier::UNDERLINED | Modifier::REVERSED | Modifier::CROSSED_OUT;
    cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(seen)
}

#[derive(Default)]
struct Pen {
    depth: Depth,
    /// Rows are counted from the row where the cursor was, not from the top of the screen.
    relative: bool,
    /// Where the cursor is, as far as it is known. The row of a relative pen always is.
    x: Option<u16>,
    row: Option<i32>,
    look: Option<(Color, Color, Modifier)>,
    link: Option<Arc<str>>,
}

impl Pen {
    /// A pen that counts rows from where the cursor is now.
    fn relative(depth: Depth, x: Option<u16>, row: i32) -> Pen {
        Pen { depth, relative: true, x, row: Some(row), ..Pen::default() }
    }

    fn move_to(&mut self, out: &mut String, x: u16, y: u16) {
        let to = i32::from(y);
        let down = self.row.map(|row| to - row);
        let _ = match down {
            Some(0) => Ok(()),
            Some(-1) if self.relative => write!(out, "\x1b[A"),
            Some(1) if self.relative => write!(out, "\x1b[B"),
            Some(down) if self.relative && down < 0 => write!(out, "\x1b[{}A", -down),
            Some(down) if self.relative => write!(out, "\x1b[{down}B"),
            _ => {
                self.x = Some(x);
                write!(out, "\x1b[{};{}H", y + 1, x + 1)
            }
        };
        self.row = Some(to);
        if self.x != Some(x) {
            let _ = match self.x {
                _ if x == 0 => write!(out, "\r"),
                Some(from) if x > from => write!(out, "\x1b[{}C", x - from),
                _ => write!(out, "\x1b[{}G", x + 1),
            };
            self.x = Some(x);
        }
    }

    fn put(&mut self, out: &mut String, x: u16, y: u16, cell: &Cell, link: Option<&Arc<str>>, right: u16) {
        self.move_to(out, x, y);
        if self.link.as_ref() != link {
            let _ = write!(out, "\x1b]8;;{}\x1b\\", link.map_or("", |link| link));
            self.link = link.cloned();
        }
        let look = (cell.fg, cell.bg, cell.modifier);
        if self.look != Some(look)
            && !(self.look.is_none() && look == (Color::Reset, Color::Reset, Modifier::empty()))
        {
            out.push_str("\x1b[0");
            modifiers(out, cell.modifier);
            colour(out, self.depth.reduce(cell.fg), 30);
            colour(out, self.depth.reduce(cell.bg), 40);
            out.push('m');
        }
        self.look = Some(look);
        out.push_str(cell.symbol());
        // Past the last column terminals disagree about where the cursor stands.
        self.x = Some(x + columns(cell)).filter(|x| *x < right && !uneven(cell.symbol()));
    }

    fn finish(&mut self, out: &mut String) {
        if self.link.take().is_some() {
            out.push_str("\x1b]8;;\x1b\\");
        }
        if self.look.is_some_and(|look| look != (Color::Reset, Color::Reset, Modifier::empty())) {
            out.push_str("\x1b[0m");
        }
        self.look = None;
    }
}

fn modifiers(out: &mut String, modifier: Modifier) {
    for (bit, code) in [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::ITALIC, ";3"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
        (Modifier::CROSSED_OUT, ";9"),
    ] {
        if modifier.contains(bit) {
            out.push_str(code);
        }
    }
}

fn colour(out: &mut String, colour: Color, base: u8) {
    let plain = |n: u8| u16::from(base) + u16::from(n);
    let bright = |n: u8| u16::from(base) + 60 + u16::from(n);
    let code = match colour {
        Color::Reset => return,
        Color::Black => plain(0),
        Color::Red => plain(1),
        Color::Green => plain(2),
        Color::Yellow => plain(3),
        Color::Blue => plain(4),
        Color::Magenta => plain(5),
        Color::Cyan => plain(6),
        Color::Gray => plain(7),
        Color::DarkGray => bright(0),
        Color::LightRed => bright(1),
        Color::LightGreen => bright(2),
        Color::LightYellow => bright(3),
        Color::LightBlue => bright(4),
        Color::LightMagenta => bright(5),
        Color::LightCyan => bright(6),
        Color::White => bright(7),
        Color::Indexed(n) if n < 8 => plain(n),
        Color::Indexed(n) if n < 16 => bright(n - 8),
        Color::Indexed(n) => {
            let _ = write!(out, ";{};5;{n}", base + 8);
            return;
        }
        Color::Rgb(r, g, b) => {
            let _ = write!(out, ";{};2;{r};{g};{b}", base + 8);
            return;
        }
    };
    let _ = write!(out, ";{code}");
}
