//! Names of models and what is known about them.

use std::fmt;

use crate::Usage;

/// `provider/name`, such as `anthropic/claude-sonnet-4-5` or `offline/offline`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelName {
    pub provider: String,
    /// The provider's own name for it; may contain `/`.
    pub name: String,
}

impl ModelName {
    /// Puts the two halves together.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self { provider: provider.into(), name: name.into() }
    }

    /// Splits `provider/name` at the first slash. `None` when there is none or a half is empty.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, name) = text.trim().split_once('/')?;
        (!provider.is_empty() && !name.is_empty()).then(|| Self::new(provider, name))
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// What is known of a model. Unknown numbers are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelInfo {
    /// Tokens that fit in one request with its answer.
    pub context_window: Option<u32>,
    /// Tokens of the longest answer.
    pub max_output: Option<u32>,
    pub price: Option<Price>,
    /// Takes pictures.
    pub images: bool,
    /// Takes an effort of thinking; `None` where nobody knows.
    pub thinking: Option<bool>,
    /// Nobody told the window: it is that of the newest model of its family that is known.
    pub window_guessed: bool,
    /// The same of the price.
    pub price_guessed: bool,
}

/// Figures of a model that somebody told: its provider's list, or the person's settings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Tokens that fit in one request with its answer.
    pub window: Option<u32>,
    /// Tokens of the longest answer.
    pub max_output: Option<u32>,
    pub price: Option<Price>,
    /// Whether it takes an effort of thinking.
    pub thinking: Option<bool>,
}

impl ModelInfo {
    /// Whether one of the figures that a person sees is a guess.
    pub fn is_guessed(&self) -> bool {
        self.window_guessed || self.price_guessed
    }

    /// The same with figures that go before a guess; `over` lets them go before what is known, too.
    #[must_use]
    pub(crate) fn with(self, told: Figures, over: bool) -> Self {
        fn chosen<T>(known: Option<T>, told: Option<T>, told_first: bool) -> Option<T> {
            if told_first { told.or(known) } else { known.or(told) }
        }
        let first = over || self.is_guessed();
        Self {
            context_window: chosen(self.context_window, told.window, first),
            max_output: chosen(self.max_output, told.max_output, first),
            price: chosen(self.price, told.price, first),
            thinking: chosen(self.thinking, told.thinking, over),
            window_guessed: self.window_guessed && told.window.is_none(),
            price_guessed: self.price_guessed && told.price.is_none(),
            ..self
        }
    }
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Read from the cache; `None` counts as `input`.
    pub cache_read: Option<f64>,
    /// Written to the cache; `None` counts as `input`.
    pub cache_write: Option<f64>,
}

impl Price {
    /// US dollars for one response.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cache_read.saturating_add(usage.cache_write);
        let plain = usage.input.saturating_sub(cached) as f64 * self.input;
        let read = usage.cache_read as f64 * self.cache_read.unwrap_or(self.input);
        let written = usage.cache_write as f64 * self.cache_write.unwrap_or(self.input);
        (plain + read + written + usage.output as f64 * self.output) / 1_000_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_splits_at_the_first_slash() {
        assert_eq!(ModelName::parse("ollama/library/qwen"), Some(ModelName::new("ollama", "library/qwen")));
        assert_eq!(ModelName::parse(" a/b ").map(|n| n.to_string()).as_deref(), Some("a/b"));
        for bad in ["", "a", "/a", "a/"] {
            assert_eq!(ModelName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_told_goes_before_a_guess_and_what_is_set_before_everything() {
        let price = |input| Price { input, output: 1.0, cache_read: None, cache_write: None };
        let info = |guessed| ModelInfo {
            context_window: Some(10),
            price: Some(price(1.0)),
            window_guessed: guessed,
            price_guessed: guessed,
            ..ModelInfo::default()
        };
        let told = Figures { window: Some(20), max_output: Some(5), ..Figures::default() };
        let known = info(false).with(told, false);
        assert_eq!((known.context_window, known.max_output), (Some(10), Some(5)));
        let guess = info(true).with(told, false);
        assert_eq!((guess.context_window, guess.window_guessed), (Some(20), false));
        assert!(guess.price_guessed && guess.is_guessed(), "the price is still a guess");
        let whole = guess.with(Figures { price: Some(price(2.0)), ..told }, false);
        assert_eq!((whole.price, whole.is_guessed()), (Some(price(2.0)), false));
        assert_eq!(info(false).with(told, true).context_window, Some(20));
        assert_eq!(info(false).with(Figures::default(), true), info(false), "what is not set stays");
        let thinks = |known, told, over| {
            let told = Figures { thinking: told, ..Figures::default() };
            ModelInfo { thinking: known, ..ModelInfo::default() }.with(told, over).thinking
        };
        assert_eq!(thinks(None, Some(true), false), Some(true));
        assert_eq!(thinks(Some(true), Some(false), false), Some(true));
        assert_eq!(thinks(Some(false), Some(true), true), Some(true));
    }

    #[test]
    fn cost_counts_cached_tokens_at_their_own_price() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage =
            Usage { input: 1_000_000, output: 1_000_000, cache_read: 500_000, cache_write: 0, reasoning: 10 };
        assert!((price.cost(&usage) - 16.65).abs() < 1e-9);
    }
}
