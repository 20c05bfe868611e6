//! A value as a line of JSON. That it is one line is seen to by whoever sends it, since JSON that is passed on may have several.
//!
//! Writing to memory fails only for a value that cannot be JSON, such as a variant that a wire reads and never writes. That is a fault of
//! ours, and it is told: nothing here gives an empty line in its place.

use serde::Serialize;

/// A value that cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("it cannot be written as JSON: {0}")]
pub struct Unwritable(#[from] serde_json::Error);

/// The line, without the newline at its end.
///
/// # Errors
/// When the value cannot be JSON. Whoever sends the line tells its peer or its person so, in the words of its wire.
pub fn encode(value: &impl Serialize) -> Result<String, Unwritable> {
    Ok(serde_json::to_string(value)?)
}

#[cfg(test)]
mod tests {
    use super::encode;
    use serde::{Serialize, Serializer};

    struct NotJson;

    impl Serialize for NotJson {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no words for it"))
        }
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        assert_eq!(encode(&[1, 2]).unwrap(), "[1,2]");
        let why = encode(&[NotJson]).unwrap_err();
        assert_eq!(why.to_string(), "it cannot be written as JSON: no words for it");
    }
}
