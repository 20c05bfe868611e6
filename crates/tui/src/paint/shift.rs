//! Rows that only moved up or down: the terminal moves them itself, so that a growing text does not write the screen again.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fewer rows than this are cheaper to write than to move.
const LEAST_ROWS: usize = 3;
/// Rows by which something is looked for above and below.
const FARTHEST: usize = 40;

/// Rows `top..bottom` of the screen move by `by` (up when negative).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    top: u16,
    bottom: u16,
    by: i32,
}

/// The move that saves most, if one does.
pub(super) fn find(shown: &Buffer, next: &Buffer) -> Option<Shift> {
    if shown.area != next.area {
        return None;
    }
    let (old, new) = (hashes(shown), hashes(next));
    let high = old.len();
    let (first, last) = ((0..high).find(|y| old[*y] != new[*y])?, (0..high).rfind(|y| old[*y] != new[*y])?);
    if last - first < LEAST_ROWS {
        return None;
    }
    let blank = hash_row(&Buffer::empty(Rect::new(0, 0, shown.area.width, 1)), 0);
    let mut best: Option<(usize, Shift)> = None;
    for far in 1..=FARTHEST.min(high.saturating_sub(1)) {
        for up in [true, false] {
            let (gained, shift) = longest(&old, &new, far, up, blank);
            if gained >= LEAST_ROWS && best.is_none_or(|(most, _)| gained > most) {
                best = shift.map(|shift| (gained, shift)).or(best);
            }
        }
    }
    best.map(|(_, shift)| shift)
}

/// The longest run of rows that moved by `far`: how many rows it saves, and the move.
fn longest(old: &[u64], new: &[u64], far: usize, up: bool, blank: u64) -> (usize, Option<Shift>) {
    let high = old.len();
    let mut best = (0, None);
    let mut run = (0, 0);
    for y in 0..=high {
        let from = if up { y.checked_add(far).filter(|from| *from < high) } else { y.checked_sub(far) };
        let same = y < high && from.is_some_and(|from| new[y] == old[from]);
        if same {
            let worth = usize::from(new[y] != blank && new[y] != old[y]);
            run = (run.0 + 1, run.1 + worth);
        } else {
            if run.1 > best.0 {
                // Rows y-run.0..y of the next frame stand `far` below (or above) in this one.
                let (first, after) = (y - run.0, y);
                let (top, bottom) = if up { (first, after + far) } else { (first - far, after) };
                let by = i32::try_from(far).unwrap_or(0);
                let place = |row: usize| u16::try_from(row).unwrap_or(u16::MAX);
                let shift = Shift { top: place(top), bottom: place(bottom), by: if up { -by } else { by } };
                best = (run.1, Some(shift));
            }
            run = (0, 0);
        }
    }
    best
}

fn hashes(buffer: &Buffer) -> Vec<u64> {
    (0..buffer.area.height).map(|y| hash_row(buffer, y)).collect()
}

fn hash_row(buffer: &Buffer, y: u16) -> u64 {
    let mut hasher = DefaultHasher::new();
    for x in 0..buffer.area.width {
        if let Some(cell) = buffer.cell((buffer.area.x + x, buffer.area.y + y)) {
            cell.hash(&mut hasher);
        }
    }
    hasher.finish()
}

impl Shift {
    /// The bytes that make the terminal move the rows. The cursor's place is unknown afterwards.
    pub(super) fn write(self, out: &mut String) {
        let way = if self.by < 0 { 'S' } else { 'T' };
        let far = self.by.unsigned_abs();
        let _ = write!(out, "\x1b[0m\x1b[{};{}r\x1b[{far}{way}\x1b[r", self.top + 1, self.bottom);
    }

    /// The same on what is known to be shown.
    pub(super) fn apply(self, shown: &mut Buffer) {
        let area = shown.area;
        let before = shown.clone();
        for y in self.top..self.bottom {
            let from = i32::from(y) - self.by;
            let from = u16::try_from(from).ok().filter(|from| (self.top..self.bottom).contains(from));
            for x in 0..area.width {
                let moved = from.and_then(|from| before.cell((x, from)).cloned()).unwrap_or_default();
                if let Some(cell) = shown.cell_mut((x, y)) {
                    *cell = moved;
                }
            }
        }
    }
}
