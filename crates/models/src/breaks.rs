//! Arguments as models write them, with line breaks and tabs in texts that JSON wants escaped. Pure.
//!
//! It mends nothing else: what is cut, or has a quote too many, stays unreadable, since it could mean two things.

use serde_json::Value;

/// Reads a JSON text, also where its texts have control characters as they are.
pub(crate) fn read(text: &str) -> serde_json::Result<Value> {
    crate::half::read(text).or_else(|why| match text.contains(|sign: char| sign.is_ascii_control()) {
        true => crate::half::read(&escaped(text)).map_err(|_| why),
        false => Err(why),
    })
}

/// The text with an escape for every control character that stands within quotes.
fn escaped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let (mut quoted, mut after_escape) = (false, false);
    for sign in text.chars() {
        let is_escaped = std::mem::take(&mut after_escape);
        match sign {
            '"' if !is_escaped => quoted = !quoted,
            '\\' if quoted && !is_escaped => after_escape = true,
            _ => {}
        }
        if quoted && sign.is_ascii_control() {
            whole.push_str(&format!("\\u{:04x}", u32::from(sign)));
        } else {
            whole.push(sign);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn line_breaks_within_texts_are_read_and_nothing_else_is_mended() {
        for (text, read_as) in [
            ("{\"a\":\"one\ntwo\"}", Some(json!({"a":"one\ntwo"}))),
            ("{\n\"a\":\n\"tab\there\\n\"\n}", Some(json!({"a":"tab\there\n"}))),
            (
                "{\"a\":\"say \\\"hi\\\"\nnow\",\"b\":\"\\\\\",\"c\":1}",
                Some(json!({"a":"say \"hi\"\nnow","b":"\\","c":1})),
            ),
            ("{\"a\":\"\\ud83d alone\n\"}", Some(json!({"a":"\u{fffd} alone\n"}))),
            ("{\"a\":\"cut\nhere", None),
            ("{\"a\":\"one \"two\"\n\"}", None),
        ] {
            assert_eq!(read(text).ok(), read_as, "{text:?}");
        }
    }
}
