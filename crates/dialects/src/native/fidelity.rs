//! How the native dialect carries the vocabulary: all of it, unchanged.

use crate::fidelity::{Fidelity, ITEMS, Quirk, Row};

const fn rows() -> [Row; ITEMS.len()] {
    let blank = Row { item: "", wire: "as `record` writes it", fidelity: Fidelity::Exact };
    let mut rows = [blank; ITEMS.len()];
    let mut at = 0;
    while at < ITEMS.len() {
        rows[at].item = ITEMS[at];
        at += 1;
    }
    rows
}

/// The table.
pub const TABLE: [Row; ITEMS.len()] = rows();

/// None: the document and the programs are ours.
pub const QUIRKS: &[Quirk] = &[];
