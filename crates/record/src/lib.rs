//! The one written form of the vocabulary: JSON, versioned. The native wire, the store and the export share it.
//!
//! The form stands on the types of `domain`, as attributes; here are lines of it ([`encode`] and [`decode`]), their version, and the tests
//! that hold it still. What is *not* here: framing, files, negotiation.
//!
//! Invariants: `decode(encode(x)) == x`; an encoded value is one line; fields that are not known are ignored, tags that are not
//! known are an error that names them.

use domain::command::{Receipt, Refusal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// Version of the written form. A reader takes every version up to its own; whoever keeps or sends records says which it is.
pub const VERSION: u32 = 1;

/// Text that is not the record it should be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("not a readable record: {detail}")]
pub struct RecordError {
    /// What is wrong and where.
    pub detail: String,
}

/// Writes a value as one line of JSON.
pub fn encode<T: Serialize>(value: &T) -> String {
    // Writing to memory fails only for maps with keys that are no strings, and there are none.
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads a value back.
///
/// # Errors
/// When the text is not JSON or not this kind of value; a tag that is not known is named.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|error| RecordError { detail: error.to_string() })
}

/// The written name of a variant.
pub fn name_of(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(members)) => members.into_iter().next().map(|(name, _)| name).unwrap_or_default(),
        _ => String::new(),
    }
}

/// How a result is written, `{"receipt": …}` or `{"refusal": …}`: `#[serde(with = "Settlement")]`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(remote = "Result<Receipt, Refusal>")]
pub enum Settlement {
    #[serde(rename = "receipt")]
    Ok(Receipt),
    #[serde(rename = "refusal")]
    Err(Refusal),
}

#[cfg(test)]
mod tests;
