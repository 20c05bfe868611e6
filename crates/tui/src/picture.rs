//! Pictures in the conversation: how large they stand there, and which cells stand for them.
//!
//! A picture is a block of ordinary cells, so it scrolls, is cut off and is drawn over like text, and nothing of it can stay behind.
//! Each cell holds the placeholder character of the kitty graphics protocol with its row and column; its colour is the picture's
//! number. A terminal that knows them draws the picture there; elsewhere [`paint`] turns them into half blocks. Sixel and iTerm2's
//! form draw beside the cells instead: every scroll would have to send the picture again and wipe the old one, so they are left out.
//!
//! Pure: decoding is the shell's. Nothing of a picture's bytes is ever written as it came.

#[cfg(test)]
pub(crate) mod tests;

use crate::look::Appearance;
use crate::row::{Piece, Row};
use crate::theme::direct;
use base64::Engine;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use std::collections::VecDeque;
use std::sync::Arc;

/// Columns of a picture at most; there is a mark for each.
pub(crate) const MAX_COLUMNS: usize = 60;
/// Rows of a picture at most.
pub(crate) const MAX_ROWS: usize = 16;
/// Longest picture that is shown, as Base64.
pub(crate) const MAX_BASE64: usize = 16 * 1024 * 1024;
/// Pictures kept decoded, and known to the terminal.
pub(crate) const MAX_KEPT: usize = 32;
/// How much of a picture is looked at to learn its size.
const HEAD: usize = 128 * 1024;
/// Pixels that one column is worth: a small picture is not blown up.
const PIXELS_PER_COLUMN: u32 = 8;

/// The character that stands for a piece of a picture. Text from outside never holds it: `clean` drops it.
pub(crate) const PLACEHOLDER: char = domain::harmless::PICTURE;

/// The marks by which the protocol numbers rows and columns, in its order.
const MARKS: [u32; 64] = [
    0x305, 0x30d, 0x30e, 0x310, 0x312, 0x33d, 0x33e, 0x33f, 0x346, 0x34a, 0x34b, 0x34c, 0x350, 0x351, 0x352,
    0x357, 0x35b, 0x363, 0x364, 0x365, 0x366, 0x367, 0x368, 0x369, 0x36a, 0x36b, 0x36c, 0x36d, 0x36e, 0x36f,
    0x483, 0x484, 0x485, 0x486, 0x487, 0x592, 0x593, 0x594, 0x595, 0x597, 0x598, 0x599, 0x59c, 0x59d, 0x59e,
    0x59f, 0x5a0, 0x5a1, 0x5a8, 0x5a9, 0x5ab, 0x5ac, 0x5af, 0x5c4, 0x610, 0x611, 0x612, 0x613, 0x614, 0x615,
    0x616, 0x617, 0x657, 0x658,
];

/// What the terminal can do with pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Graphics {
    /// Nothing: their names stand for them.
    #[default]
    None,
    /// All colours: half blocks.
    Blocks,
    /// It draws them where the placeholders stand.
    Placeholders,
}

/// A picture as it stands in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Framed {
    /// Its number: 24 bits, of its content and its size here.
    pub(crate) id: u32,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) base64: Arc<str>,
}

/// A small copy of a picture, for half blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Red, green, blue of each, row by row.
    pub(crate) rgb: Arc<[u8]>,
}

/// A picture that was decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// For half blocks.
    pub(crate) pixels: Pixels,
    /// As PNG, for a terminal that draws it; only there.
    pub(crate) png: Option<Arc<[u8]>>,
}

/// Pictures that were decoded, oldest first; `None` for one that could not be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pictures(VecDeque<(u32, Option<Pixels>)>);

impl Pictures {
    /// Keeps a picture; past [`MAX_KEPT`] the oldest goes.
    pub(crate) fn keep(&mut self, id: u32, pixels: Option<Pixels>) {
        self.0.retain(|(known, _)| *known != id);
        self.0.push_back((id, pixels));
        while self.0.len() > MAX_KEPT {
            self.0.pop_front();
        }
    }

    fn get(&self, id: u32) -> Option<&Pixels> {
        self.0.iter().find(|(known, _)| *known == id).and_then(|(_, pixels)| pixels.as_ref())
    }
}

/// The picture fitted into `columns`; `None` when its size cannot be told.
pub(crate) fn framed(base64: &Arc<str>, columns: usize) -> Option<Framed> {
    if base64.len() > MAX_BASE64 {
        return None;
    }
    let (width, height) = size(base64)?;
    let (columns, rows) = fitted(width, height, columns);
    let id = number(base64, columns, rows);
    Some(Framed { id, columns, rows, base64: base64.clone() })
}

/// Columns and rows for a picture of this many pixels; a row is about as high as two columns are wide.
fn fitted(width: u32, height: u32, most: usize) -> (u16, u16) {
    let most = u64::try_from(most.clamp(1, MAX_COLUMNS)).unwrap_or(1);
    let (width, height) = (u64::from(width.max(1)), u64::from(height.max(1)));
    let mut columns = width.div_ceil(u64::from(PIXELS_PER_COLUMN)).clamp(1, most);
    let rows_of = |columns: u64| (columns * height).div_ceil(width * 2).max(1);
    if rows_of(columns) > MAX_ROWS as u64 {
        columns = (MAX_ROWS as u64 * 2 * width / height).clamp(1, columns);
    }
    let rows = rows_of(columns).min(MAX_ROWS as u64);
    (u16::try_from(columns).unwrap_or(1), u16::try_from(rows).unwrap_or(1))
}

/// A number of 24 bits, never 0, from the beginning, middle and end of the picture.
fn number(base64: &str, columns: u16, rows: u16) -> u32 {
    const WINDOW: usize = 256;
    let bytes = base64.as_bytes();
    let middle = bytes.len() / 2;
    let windows = [0, middle, bytes.len().saturating_sub(WINDOW)];
    let sampled = windows.iter().flat_map(|from| bytes[*from..].iter().take(WINDOW).copied());
    let size = [columns.to_le_bytes(), rows.to_le_bytes()].concat();
    let length = bytes.len().to_le_bytes();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in sampled.chain(size).chain(length) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let folded = u32::try_from((hash >> 40) ^ (hash & 0xff_ffff)).unwrap_or(1);
    (folded & 0xff_ffff).max(1)
}

/// The rows that stand for a picture.
pub(crate) fn rows(framed: &Framed) -> Vec<Row> {
    let style = Style::new().fg(colour(framed.id));
    let mark = |at: u16| MARKS.get(usize::from(at)).and_then(|mark| char::from_u32(*mark)).unwrap_or(' ');
    let row = |row: u16| {
        let cells = (0..framed.columns).flat_map(|column| [PLACEHOLDER, mark(row), mark(column)]);
        Row::from(vec![Piece::new(cells.collect::<String>(), style)])
    };
    (0..framed.rows).map(row).collect()
}

/// The name of a picture and, where pictures are shown, its rows.
pub(crate) fn part(mime: &str, base64: &Arc<str>, look: Appearance) -> Vec<Row> {
    let kilobytes = base64.len() / 4 * 3 / 1024;
    let framed = framed(base64, look.columns).filter(|_| look.pictures);
    let pixels = size(base64).map_or(String::new(), |(width, height)| format!(", {width}×{height}"));
    let name = format!("▣ image ({}{pixels}, {kilobytes} KB)", crate::clean::clean_line(mime));
    let name = crate::row::fit(&name, look.columns);
    let mut all = vec![Row::of(name, look.theme.style(crate::theme::Role::Dim))];
    all.extend(framed.iter().flat_map(rows));
    all
}

fn colour(id: u32) -> Color {
    let byte = |shift: u32| u8::try_from((id >> shift) & 0xff).unwrap_or(0);
    direct(byte(16), byte(8), byte(0))
}

/// Which picture a cell stands for, and which row and column of it.
fn read(symbol: &str, fg: Color) -> Option<(u32, u16, u16)> {
    let mut chars = symbol.chars();
    if chars.next() != Some(PLACEHOLDER) {
        return None;
    }
    let mut place = || {
        let mark = u32::from(chars.next()?);
        MARKS.iter().position(|known| *known == mark).and_then(|at| u16::try_from(at).ok())
    };
    let (row, column) = (place()?, place()?);
    let Color::Rgb(red, green, blue) = fg else { return None };
    Some((u32::from_be_bytes([0, red, green, blue]), row, column))
}

/// Turns placeholders into half blocks; what is not decoded yet is left free.
pub(crate) fn paint(pictures: &Pictures, shown: &[Framed], area: Rect, buf: &mut Buffer) {
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            let cell = &mut buf[(x, y)];
            if !cell.symbol().starts_with(PLACEHOLDER) {
                continue;
            }
            let here = read(cell.symbol(), cell.fg);
            cell.reset();
            let Some((id, row, column)) = here else { continue };
            let framed = shown.iter().find(|framed| framed.id == id);
            let (Some(pixels), Some(framed)) = (pictures.get(id), framed) else { continue };
            let colour = |half: u16| pixels.colour(framed, column, row * 2 + half);
            cell.set_symbol("▀").set_style(Style::new().fg(colour(0)).bg(colour(1)));
        }
    }
}

impl Pixels {
    /// The mean colour of what a half block covers.
    fn colour(&self, framed: &Framed, column: u16, half: u16) -> Color {
        let span = |at: u16, of: u32, all: u32| {
            let from = u32::from(at) * all / of.max(1);
            let to = ((u32::from(at) + 1) * all).div_ceil(of.max(1)).min(all);
            from.min(all.saturating_sub(1))..to.max(from + 1).min(all)
        };
        let across = span(column, u32::from(framed.columns), self.width);
        let down = span(half, u32::from(framed.rows) * 2, self.height);
        let mut sums = [0u32; 3];
        let mut count = 0;
        for y in down {
            for x in across.clone() {
                let at = usize::try_from((y * self.width + x) * 3).unwrap_or(usize::MAX);
                let Some(pixel) = at.checked_add(3).and_then(|end| self.rgb.get(at..end)) else { continue };
                sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += u32::from(*value));
                count += 1;
            }
        }
        let mean = |sum: u32| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX);
        direct(mean(sums[0]), mean(sums[1]), mean(sums[2]))
    }
}

/// Width and height in pixels, from how the picture begins.
pub(crate) fn size(base64: &str) -> Option<(u32, u32)> {
    // Whole groups of four characters, so that the head can be decoded by itself.
    let head = base64.get(..base64.len().min(HEAD) / 4 * 4)?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(head).ok()?;
    let size = match bytes.get(..4)? {
        b"\x89PNG" => (big(&bytes, 16)?, big(&bytes, 20)?),
        b"GIF8" => (small(&bytes, 6)?, small(&bytes, 8)?),
        b"RIFF" => webp(&bytes)?,
        [0xff, 0xd8, ..] => jpeg(&bytes)?,
        _ => return None,
    };
    (size.0 > 0 && size.1 > 0).then_some(size)
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn small(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let three = |at: usize| Some(small(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
    match bytes.get(12..16)? {
        b"VP8 " => Some((small(bytes, 26)? & 0x3fff, small(bytes, 28)? & 0x3fff)),
        b"VP8X" => Some((three(24)? + 1, three(27)? + 1)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// Goes from segment to segment to the one that tells the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let kind = *bytes.get(at + 1)?;
        if kind == 0xff {
            at += 1;
            continue;
        }
        let two = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            return Some((two(at + 7)?, two(at + 5)?));
        }
        at += 2 + usize::try_from(two(at + 2)?).ok()?;
    }
}
