//! How deep a JSON text nests, found without parsing it.
//!
//! The parser refuses deep texts too, but late, with a message about its own recursion, and only where it builds
//! values; raw parts go through it unchecked. This runs before parsing and treats every path alike. Does not say
//! whether the text is JSON.

/// The deepest nesting accepted: arrays and objects inside each other.
///
/// The parser's own bound is one lower for whole values. A JSON-RPC message of this depth still parses, since its
/// parameters sit inside the envelope.
pub const MAX_DEPTH: usize = 128;

/// The text nests deeper than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("JSON nested deeper than {max} levels (at byte {at})")]
pub struct TooDeep {
    /// The bound that was exceeded.
    pub max: usize,
    /// Byte offset of the bracket that exceeded it.
    pub at: usize,
}

/// Checks against [`MAX_DEPTH`].
pub fn check(text: &str) -> Result<(), TooDeep> {
    check_to(text, MAX_DEPTH)
}

/// Checks that `text` nests at most `max` levels.
pub fn check_to(text: &str, max: usize) -> Result<(), TooDeep> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return Err(TooDeep { max, at });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// The index of the quote that closes the string opened at `open`, or the end of the text.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn the_bound_itself_passes() {
        assert_eq!(check(&nested(MAX_DEPTH)), Ok(()));
        assert_eq!(check(&nested(MAX_DEPTH + 1)), Err(TooDeep { max: MAX_DEPTH, at: MAX_DEPTH }));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let cases =
            [r#"["[[[["]"#, r#"{"a\"[[":"\\"}"#, r#"["\\","[","\"["]"#, r#""[[["#, r#""\"#, "", "]]]]["];
        for text in cases {
            assert_eq!(check_to(text, 1), Ok(()), "{text}");
        }
        assert!(check_to(r#"["\\",["a"]]"#, 1).is_err());
    }

    #[test]
    fn breadth_is_not_depth() {
        assert_eq!(check_to(&"[]".repeat(1000), 1), Ok(()));
    }

    #[test]
    fn parameters_of_a_message_at_the_bound_still_parse() {
        let params = nested(MAX_DEPTH - 1);
        assert_eq!(check(&format!("{{\"params\":{params}}}")), Ok(()));
        assert!(serde_json::from_str::<serde_json::Value>(&params).is_ok());
    }

    proptest! {
        #[test]
        fn never_panics_and_is_monotone(text in r#"[\[\]{}"\\a,:]{0,60}"#, max in 0usize..10) {
            if check_to(&text, max).is_ok() {
                prop_assert_eq!(check_to(&text, max + 1), Ok(()));
            }
        }
    }
}
