//! The providers as a page tells of them: what is the same on every machine.

use super::providers::{Offered, PROVIDERS};

/// A provider, whatever the environment says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProvider {
    /// The name before the slash.
    pub name: &'static str,
    /// Variables that may hold its key; the first that is set counts.
    pub keys: &'static [&'static str],
    /// Variables that may hold another address; the first that is set counts.
    pub addresses: &'static [&'static str],
    /// Where it is otherwise; empty where everybody has an address of their own.
    pub usual_address: &'static str,
    /// What is taken when only the provider is named.
    pub usual_model: Option<&'static str>,
    /// When its models are offered without being named, in words.
    pub offered: &'static str,
}

/// All of them, in the order in which the environment is searched.
pub fn known_providers() -> impl Iterator<Item = KnownProvider> {
    PROVIDERS.iter().map(|provider| KnownProvider {
        name: provider.id,
        keys: provider.keys,
        addresses: provider.bases,
        usual_address: provider.default_base,
        usual_model: provider.default_model,
        offered: match provider.offered {
            Offered::WithKey => "with a key or an address",
            Offered::IfAnswers => "when it answers",
            Offered::IfSet => "when its address is set",
            Offered::ByName => "only by name",
        },
    })
}
