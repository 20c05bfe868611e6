//! Why the model is asked again, in the five words of this wire.

use domain::event::RetryKind;

const WORDS: &[(&str, RetryKind)] = &[
    ("rate_limit", RetryKind::RateLimit),
    ("overloaded", RetryKind::Overloaded),
    ("timeout", RetryKind::Timeout),
    ("network", RetryKind::Network),
    ("provider", RetryKind::Provider),
];

/// The wire demands a word: what is not known is the provider's doing.
pub(super) fn write(kind: Option<RetryKind>) -> &'static str {
    let kind = kind.unwrap_or(RetryKind::Provider);
    WORDS.iter().find(|(_, of)| *of == kind).map_or("provider", |(word, _)| word)
}

/// `None` for a word that is not one of the five.
pub(super) fn read(word: &str) -> Option<RetryKind> {
    WORDS.iter().find(|(of, _)| *of == word).map(|(_, kind)| *kind)
}
