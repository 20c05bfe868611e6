//! What a model's work cost, in the words of the record. Pure.

use domain::content::Usage;

/// Tokens and, where the price is known, money. What a guess is in it is marked.
pub(crate) fn counted(usage: &models::Usage, estimated: bool, info: &models::ModelInfo) -> Usage {
    let dollars = info.price.as_ref().map_or(0.0, |price| price.cost(usage));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cost is a small positive number"
    )]
    let cost_micros = (dollars * 1_000_000.0).round().max(0.0) as u64;
    Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cost_micros,
        rough: estimated || (info.guessed && cost_micros > 0),
    }
}
