//! How the composer's text falls into rows, and where the caret stands in them. Pure.

use crate::row::grapheme_width;
use unicode_segmentation::UnicodeSegmentation;

/// Where the caret stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Caret {
    /// Row of the laid-out text.
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// The composer's text broken into rows, and where the caret is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComposerRows {
    /// Byte ranges of the rows.
    pub(crate) rows: Vec<(usize, usize)>,
    pub(crate) caret: Caret,
}

impl ComposerRows {
    /// The byte at which a row shows `column`.
    pub(crate) fn byte_at(&self, text: &str, row: usize, column: usize) -> usize {
        let Some((from, to)) = self.rows.get(row).copied() else { return text.len() };
        let mut used = 0;
        for (at, grapheme) in text[from..to].grapheme_indices(true) {
            if used >= column {
                return from + at;
            }
            used += grapheme_width(grapheme);
        }
        to
    }
}

/// Lays `text` out in rows of at most `columns`; the caret may stand one column past the last.
pub(crate) fn lay_out(text: &str, caret: usize, columns: usize) -> ComposerRows {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    let mut place = Caret::default();
    let mut from = 0;
    let mut used = 0;
    let mut last_break = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        if at == caret {
            place = Caret { row: rows.len(), column: used };
        }
        if grapheme == "\n" {
            rows.push((from, at));
            (from, used, last_break) = (at + 1, 0, None);
            continue;
        }
        let wide = grapheme_width(grapheme);
        while used + wide > columns && at > from {
            let cut = last_break.filter(|cut| *cut > from).unwrap_or(at);
            rows.push((from, cut));
            from = cut;
            used = text[cut..at].graphemes(true).map(grapheme_width).sum();
            last_break = None;
            if caret >= cut && caret <= at {
                let column = text[cut..caret].graphemes(true).map(grapheme_width).sum();
                place = Caret { row: rows.len(), column };
            }
        }
        used += wide;
        if grapheme == " " {
            last_break = Some(at + 1);
        }
    }
    rows.push((from, text.len()));
    if caret >= text.len() {
        place = Caret { row: rows.len() - 1, column: used };
    }
    ComposerRows { rows, caret: place }
}
