//! How the native dialect carries the vocabulary: all of it, unchanged. That is computed as for any other wire.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: &WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: &[] };

/// There is one thing to say, and it holds for each item.
const WORDS: [Words; Item::ALL.len()] = {
    let mut words = [Words { item: Item::ALL[0], wire: "as `record` writes it", why: "" }; Item::ALL.len()];
    let mut at = 0;
    while at < Item::ALL.len() {
        words[at].item = Item::ALL[at];
        at += 1;
    }
    words
};
