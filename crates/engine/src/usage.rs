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
        rough: estimated || (info.price_guessed && cost_micros > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_that_was_guessed_makes_a_cost_rough_and_no_cost_is_exact() {
        let price = models::Price { input: 2.0, output: 4.0, cache_read: None, cache_write: None };
        let told = models::ModelInfo { price: Some(price), ..models::ModelInfo::default() };
        let guess = models::ModelInfo { price_guessed: true, ..told };
        let some = models::Usage { input: 100, output: 10, ..models::Usage::default() };
        let rough = |usage: &models::Usage, estimated, info: &models::ModelInfo| {
            let usage = counted(usage, estimated, info);
            (usage.cost_micros, usage.rough)
        };
        assert_eq!(rough(&some, false, &told), (240, false));
        assert_eq!(rough(&some, true, &told), (240, true));
        assert_eq!(rough(&some, false, &guess), (240, true));
        assert_eq!(rough(&models::Usage::default(), false, &guess), (0, false));
    }
}
