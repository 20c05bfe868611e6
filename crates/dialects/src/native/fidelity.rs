//! How the native dialect carries the vocabulary: all of it, unchanged.

use roles::Item;
use roles::fidelity::{Fidelity, Quirk, Row};

const fn rows() -> [Row; Item::ALL.len()] {
    let first = Row { item: Item::ALL[0], wire: "as `record` writes it", fidelity: Fidelity::Exact };
    let mut rows = [first; Item::ALL.len()];
    let mut at = 0;
    while at < Item::ALL.len() {
        rows[at].item = Item::ALL[at];
        at += 1;
    }
    rows
}

/// The table.
pub const TABLE: [Row; Item::ALL.len()] = rows();

/// None: the document and the programs are ours.
pub const QUIRKS: &[Quirk] = &[];
