//! What the settings say about providers: how long is waited for them, and figures of models that nobody else tells. Pure.

use super::{Budget, ConfigError, shown};
use models::{Figures, Limits, Price};
use std::collections::BTreeMap;
use std::time::Duration;
use toml::{Table, Value};

/// Longest wait for a provider that may be set.
const MAX_NETWORK_S: u64 = 60 * 60;
/// Most attempts that may be set.
const MAX_ATTEMPTS: u64 = 20;
/// Most steps that a budget may name.
const MAX_STEPS: u64 = 1_000_000;
/// Longest time that a budget may name.
const MAX_BUDGET_S: u64 = 30 * 24 * 60 * 60;
/// Most dollars that a budget may name.
const MAX_DOLLARS: f64 = 1_000_000.0;
/// What may be said about a model.
const FIGURES: [&str; 4] = ["window", "max_output", "price", "thinking"];
/// What may be said about a price, in dollars for a million tokens.
const PRICES: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// How long is waited for a provider, and how often it is asked; what cannot be used is told and left out.
pub(super) fn network(
    value: &Value,
    limits: &mut Limits,
    wrong: &mut Vec<ConfigError>,
) -> Result<(), ConfigError> {
    let words = "must be a table: [network] with first_byte_s, idle_s and attempts";
    let part = value.as_table().ok_or_else(|| ConfigError::value("network", words))?;
    let mut number = |name: &str, most: u64| number("network", part, name, most, wrong);
    if let Some(seconds) = number("first_byte_s", MAX_NETWORK_S) {
        limits.first_byte = Duration::from_secs(seconds);
    }
    if let Some(seconds) = number("idle_s", MAX_NETWORK_S) {
        limits.idle = Duration::from_secs(seconds);
    }
    if let Some(attempts) = number("attempts", MAX_ATTEMPTS) {
        limits.attempts = u32::try_from(attempts).unwrap_or(limits.attempts);
    }
    Ok(())
}

/// A number from 1 to `most`, or a word about what stands there instead.
fn number(at: &str, part: &Table, name: &str, most: u64, wrong: &mut Vec<ConfigError>) -> Option<u64> {
    let value = part.get(name)?;
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    let number = number.filter(|number| (1..=most).contains(number));
    if number.is_none() {
        let why = format!("{} is no number from 1 to {most}", shown(value));
        wrong.push(ConfigError::value(format!("{at}.{name}"), why));
    }
    number
}

/// What may be spent; what cannot be used is told and left out.
pub(super) fn budget(
    value: &Value,
    budget: &mut Budget,
    wrong: &mut Vec<ConfigError>,
) -> Result<(), ConfigError> {
    let words = "must be a table: [budget] with max_cost, max_steps and max_time_s";
    let part = value.as_table().ok_or_else(|| ConfigError::value("budget", words))?;
    budget.max_steps = number("budget", part, "max_steps", MAX_STEPS, wrong);
    budget.max_time_s = number("budget", part, "max_time_s", MAX_BUDGET_S, wrong);
    if let Some(value) = part.get("max_cost") {
        #[expect(clippy::cast_precision_loss, reason = "a budget is a small number")]
        let dollars = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        budget.max_cost_micros = dollars.and_then(cost_micros);
        if budget.max_cost_micros.is_none() {
            wrong.push(ConfigError::value("budget.max_cost", "must be dollars, such as 2.50"));
        }
    }
    Ok(())
}

/// Dollars as millionths; nothing for what is no sum that could be spent.
pub fn cost_micros(dollars: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within the bounds")]
    let micros = || (dollars * 1_000_000.0).round() as u64;
    (dollars > 0.0 && dollars <= MAX_DOLLARS).then(micros).filter(|micros| *micros > 0)
}

/// Figures of models; what cannot be used is told and left out.
pub(super) fn models(
    value: &Value,
    into: &mut BTreeMap<String, Figures>,
    wrong: &mut Vec<ConfigError>,
) -> Result<(), ConfigError> {
    let words = "must be tables: [models.\"PROVIDER/NAME\"] with window, max_output, price and thinking";
    for (name, entry) in value.as_table().ok_or_else(|| ConfigError::value("models", words))? {
        let at = format!("models.{name}");
        match entry.as_table() {
            Some(entry) => drop(into.insert(name.clone(), figures(&at, entry, wrong))),
            None => wrong.push(ConfigError::value(at, words)),
        }
    }
    Ok(())
}

fn figures(at: &str, entry: &Table, wrong: &mut Vec<ConfigError>) -> Figures {
    unknown(at, entry, &FIGURES, wrong);
    let mut number = |name: &str| {
        let value = entry.get(name)?;
        let number =
            value.as_integer().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        if number.is_none() {
            wrong.push(ConfigError::value(
                format!("{at}.{name}"),
                format!("{} is no number of tokens", shown(value)),
            ));
        }
        number
    };
    let (window, max_output) = (number("window"), number("max_output"));
    let price = entry.get("price").and_then(|value| price(&format!("{at}.price"), value, wrong));
    let thinking = entry.get("thinking").and_then(|value| {
        let thinking = value.as_bool();
        if thinking.is_none() {
            wrong.push(ConfigError::value(format!("{at}.thinking"), "must be true or false"));
        }
        thinking
    });
    Figures { window, max_output, price, thinking }
}

fn price(at: &str, value: &Value, wrong: &mut Vec<ConfigError>) -> Option<Price> {
    let Some(entry) = value.as_table() else {
        let words =
            "must be a table such as { input = 1.25, output = 10.0 }, in dollars for a million tokens";
        wrong.push(ConfigError::value(at, words));
        return None;
    };
    unknown(at, entry, &PRICES, wrong);
    let before = wrong.len();
    let mut dollars = |name: &str| {
        let value = entry.get(name)?;
        #[expect(clippy::cast_precision_loss, reason = "a price is a small number")]
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            wrong.push(ConfigError::value(format!("{at}.{name}"), "must be dollars for a million tokens"));
        }
        number
    };
    let [input, output, cache_read, cache_write] = PRICES.map(&mut dollars);
    match (input, output) {
        (Some(input), Some(output)) => Some(Price { input, output, cache_read, cache_write }),
        _ => {
            if wrong.len() == before {
                wrong.push(ConfigError::value(at, "needs input and output"));
            }
            None
        }
    }
}

/// Names that mean nothing are told.
fn unknown(at: &str, entry: &Table, known: &[&str], wrong: &mut Vec<ConfigError>) {
    for name in entry.keys().filter(|name| !known.contains(&name.as_str())) {
        let words = format!("is not known; there are {}", known.join(", "));
        wrong.push(ConfigError::value(format!("{at}.{name}"), words));
    }
}
