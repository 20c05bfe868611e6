//! How hard a model thinks, in the words of this wire. It has more of them than we do: the hardest that we know stands for what is
//! harder, and the answer says so.

use domain::session::Effort;

/// Words that mean the hardest there is.
const HARDEST: &[&str] = &["xhigh", "max"];

/// `None` for a word that is not one of the wire's.
pub(super) fn read(word: &str) -> Option<Effort> {
    let hardest = HARDEST.contains(&word).then_some(Effort::High);
    Effort::named(word).or(hardest)
}
