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

/// What is known of a model. Unknown numbers are `None`, never guessed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelInfo {
    /// Tokens that fit in one request with its answer.
    pub context_window: Option<u32>,
    /// Tokens of the longest answer.
    pub max_output: Option<u32>,
    pub price: Option<Price>,
    /// Takes pictures.
    pub images: bool,
    /// Can think before it answers.
    pub thinking: bool,
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
    fn cost_counts_cached_tokens_at_their_own_price() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage =
            Usage { input: 1_000_000, output: 1_000_000, cache_read: 500_000, cache_write: 0, reasoning: 10 };
        assert!((price.cost(&usage) - 16.65).abs() < 1e-9);
    }
}
