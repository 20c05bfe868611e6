//! Which pages of a write-ahead log count.

use super::{number_at, read_at};
use std::collections::HashMap;
use std::fs::File;

/// What a log begins with; its last bit says in which order the bytes of its checksums are.
const MAGIC: u32 = 0x377f_0682;
const FORMAT: u32 = 3_007_000;
const HEADER: usize = 32;
const FRAME: usize = 24;

/// What is committed in a log.
pub(super) struct Committed {
    /// The size of its pages.
    pub(super) size: usize,
    /// Where each page stands, the newest of each.
    pub(super) pages: HashMap<u32, u64>,
}

/// Reads the log as far as its checksums hold; `None` when it is none, or one of a file with other pages.
pub(super) fn committed(log: &File, wanted: Option<usize>) -> Option<Committed> {
    let header = read_at(log, 0, HEADER).ok().filter(|header| header.len() == HEADER)?;
    let size = number_at(&header, 8) as usize;
    let sized = size.is_power_of_two() && (512..=65_536).contains(&size);
    if number_at(&header, 0) & !1 != MAGIC || number_at(&header, 4) != FORMAT || !sized {
        return None;
    }
    if wanted.is_some_and(|wanted| wanted != size) {
        return None;
    }
    let mut sum = Sum { big_endian: number_at(&header, 0) & 1 == 1, state: (0, 0) };
    sum.take(&header[..24]);
    if !sum.is(&header[24..]) {
        return None;
    }
    let (mut pages, mut open) = (HashMap::new(), HashMap::new());
    let mut at = HEADER as u64;
    while let Ok(frame) = read_at(log, at, FRAME + size) {
        if frame.len() < FRAME + size || frame[8..16] != header[16..24] {
            break;
        }
        sum.take(&frame[..8]);
        sum.take(&frame[FRAME..]);
        if !sum.is(&frame[16..24]) {
            break;
        }
        open.insert(number_at(&frame, 0), at + FRAME as u64);
        if number_at(&frame, 4) > 0 {
            pages.extend(open.drain());
        }
        at += (FRAME + size) as u64;
    }
    Some(Committed { size, pages })
}

/// The checksum that runs through a log.
struct Sum {
    big_endian: bool,
    state: (u32, u32),
}

impl Sum {
    fn take(&mut self, bytes: &[u8]) {
        let (mut a, mut b) = self.state;
        for eight in bytes.chunks_exact(8) {
            let word = |at: usize| {
                let word = number_at(eight, at);
                if self.big_endian { word } else { word.swap_bytes() }
            };
            a = a.wrapping_add(word(0)).wrapping_add(b);
            b = b.wrapping_add(word(4)).wrapping_add(a);
        }
        self.state = (a, b);
    }

    fn is(&self, written: &[u8]) -> bool {
        (number_at(written, 0), number_at(written, 4)) == self.state
    }
}
