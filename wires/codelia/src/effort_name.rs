//! How hard a model thinks, in the words of this wire. It has no word for less than low, which stands for that too.

use domain::session::Effort;

/// The words of the wire.
pub(super) const WORDS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// `None` for a word that is not one of the wire's.
pub(super) fn read(word: &str) -> Option<Effort> {
    WORDS.contains(&word).then(|| Effort::named(word))?
}

/// The nearest word of the wire.
pub(super) fn write(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal => Effort::Low.name(),
        other => other.name(),
    }
}
