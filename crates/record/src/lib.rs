//! The one written form of the vocabulary: JSON, versioned. The native wire, the store and the export share it.
//!
//! [`encode`] and [`decode`] take every noun of the vocabulary that is [`Written`]; inside serde types of other crates [`written::As`]
//! stands behind `#[serde(with = "As::<Noun>")]`. What is *not* here: framing, files, negotiation.
//!
//! Invariants: `decode(encode(x)) == x`; an encoded value is one line; fields that are not known are ignored, tags that are not
//! known are an error that names them. A variant added to the vocabulary does not compile until it has a written form.

mod abilities;
mod ask;
mod command;
mod content;
mod event;
mod fleet;
mod grouped;
mod receipt;
mod session;
mod signal;
mod tool;
pub mod written;

use thiserror::Error;
pub use written::Written;

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
pub fn encode<T: Written>(value: &T) -> String {
    // Writing to memory fails only for maps with keys that are no strings, and there are none.
    serde_json::to_string(&written::Ref(value)).unwrap_or_default()
}

/// Reads a value back.
///
/// # Errors
/// When the text is not JSON or not this kind of value; a tag that is not known is named.
pub fn decode<T: Written>(text: &str) -> Result<T, RecordError> {
    match serde_json::from_str::<written::Own<T>>(text) {
        Ok(written::Own(value)) => Ok(value),
        Err(error) => Err(RecordError { detail: error.to_string() }),
    }
}

#[cfg(test)]
mod tests;
