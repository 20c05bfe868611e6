//! A text that streams in: its finished blocks are handed out to the scrollback, the last one stays live.
//!
//! Rows of the last block can leave the screen before they are final: because the screen became too small, or because the block is
//! longer than it. They count as handed out as they were. What follows is found by counting letters and digits, which neither another
//! width nor markup that is closed later changes.

use crate::look::Appearance;
use crate::markdown::Stream;
use crate::row::{Piece, Row};
use crate::thread::CellKey;
use unicode_segmentation::UnicodeSegmentation;

/// A text of which a part was handed out.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) key: CellKey,
    /// Whether any of its rows were handed out.
    pub(super) begun: bool,
    /// The rows that may change, without what was handed out.
    pub(super) open: Vec<Row>,
    revision: Option<u64>,
    look: Appearance,
    stream: Stream,
    frozen: Frozen,
}

/// Text that was handed out before it was final, as it follows the finished blocks.
#[derive(Debug, Default)]
struct Frozen {
    letters: usize,
    /// Other signs after the last letter.
    trail: String,
}

impl Growing {
    pub(super) fn new(key: CellKey, look: Appearance) -> Growing {
        let (stream, frozen) = (Stream::default(), Frozen::default());
        Growing { key, begun: false, open: Vec::new(), revision: None, look, stream, frozen }
    }

    /// The rows of `text` that are finished and were not handed out; those that may change are kept in `open`.
    pub(super) fn advance(&mut self, text: &str, revision: u64, look: Appearance) -> Vec<Row> {
        if self.revision == Some(revision) && self.look == look {
            return Vec::new();
        }
        if look != self.look {
            self.look = look;
            self.stream = self.stream.remainder();
        }
        self.revision = Some(revision);
        let (head, tail) = self.stream.rows(text, look);
        if !head.is_empty() {
            self.stream = self.stream.remainder();
        }
        let finished = self.frozen.drop_from(head.to_vec());
        self.frozen.pass(&head);
        self.open = self.frozen.drop_from(tail);
        self.begun |= !finished.is_empty();
        finished
    }

    /// These rows, the first that may change, are handed out as they are.
    pub(super) fn freeze(&mut self, rows: &[Row]) {
        self.begun |= !rows.is_empty();
        for row in rows {
            self.frozen.add(row);
        }
        // What follows is laid out anew.
        self.revision = None;
    }
}

impl Frozen {
    fn add(&mut self, row: &Row) {
        for sign in signs(row) {
            if sign.is_alphanumeric() {
                self.letters += 1;
                self.trail.clear();
            } else {
                self.trail.push(sign);
            }
        }
    }

    /// These rows were handed out by now; what was frozen of them is no more.
    fn pass(&mut self, rows: &[Row]) {
        let letters = rows.iter().flat_map(signs).filter(|sign| sign.is_alphanumeric()).count();
        match self.letters.checked_sub(letters).filter(|left| *left > 0) {
            Some(left) => self.letters = left,
            None if rows.is_empty() => {}
            None => *self = Frozen::default(),
        }
    }

    /// The rows without what was handed out.
    fn drop_from(&self, rows: Vec<Row>) -> Vec<Row> {
        if self.letters == 0 && self.trail.is_empty() {
            return rows;
        }
        let (mut left, mut trail) = (self.letters, self.trail.chars().peekable());
        let mut over = false;
        let mut out = Vec::new();
        for row in rows {
            if over {
                out.push(row);
                continue;
            }
            let mut kept = Row { pieces: Vec::new(), ..row.clone() };
            for piece in row.pieces {
                let mut text = String::new();
                for grapheme in piece.text.graphemes(true) {
                    let sign = grapheme.chars().next().unwrap_or(' ');
                    if !over && !sign.is_whitespace() {
                        if left > 0 {
                            left -= usize::from(sign.is_alphanumeric());
                        } else if trail.next_if_eq(&sign).is_none() {
                            over = true;
                        }
                    }
                    if over {
                        text.push_str(grapheme);
                    }
                }
                if !text.is_empty() {
                    kept.pieces.push(Piece { text, ..piece });
                }
            }
            if over {
                out.push(kept);
            }
        }
        out
    }
}

/// What can be seen of a row, sign by sign.
fn signs(row: &Row) -> impl Iterator<Item = char> {
    row.pieces
        .iter()
        .flat_map(|piece| piece.text.graphemes(true))
        .filter_map(|grapheme| grapheme.chars().next().filter(|sign| !sign.is_whitespace()))
}
