//! JSON as servers send it, with halves of characters in it.
//!
//! A server that cuts its text by units of UTF-16 may send half of a character as an escape (`\ud83d` alone). That is JSON by its
//! grammar and no text; such a half is read as U+FFFD, as browsers do, and the rest of the answer counts.

use serde_json::Value;
use std::borrow::Cow;

/// Length of an escape: `\u` and four digits.
const ESCAPE: usize = 6;
/// What stands for half a character.
const LOST: &str = "\\ufffd";

/// Reads a JSON text, with U+FFFD for every half of a character.
pub(crate) fn read(text: &str) -> serde_json::Result<Value> {
    let why = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(why) => why,
    };
    match mended(text) {
        Cow::Borrowed(_) => Err(why),
        Cow::Owned(mended) => serde_json::from_str(&mended),
    }
}

/// The text with an escape for U+FFFD in the place of every half that has no other half.
fn mended(text: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        match (unit(text, at), unit(text, at + ESCAPE)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 2 * ESCAPE,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push_str(text.get(copied..at).unwrap_or_default());
                whole.push_str(LOST);
                at += ESCAPE;
                copied = at;
            }
            (Some(_), _) => at += ESCAPE,
            // Another escape: what it escapes begins none.
            (None, _) => {
                at += 1 + text.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The unit of UTF-16 that is escaped here.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn half_a_character_is_a_mark_and_the_rest_stays() {
        for (text, read_as) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00b""#, "\u{fffd}b"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\uD83D ä \uDE00""#, "\u{fffd} ä \u{fffd}"),
            (r#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
        ] {
            assert_eq!(read(text).ok(), Some(json!(read_as)), "{text}");
        }
        for text in [r#""\ud83"#, r#""\ud83x""#, r#"{"a":"\ud83d"#, "\\", "\\ä", ""] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_read_as_it_is(text in ".*") {
            let written = json!(text).to_string();
            prop_assert!(matches!(mended(&written), Cow::Borrowed(_)));
            prop_assert_eq!(read(&written).ok(), Some(json!(text)));
            let _ = read(&text);
        }
    }
}
