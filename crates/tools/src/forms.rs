//! JSON as models write it: with a comma too many, or written down twice. Pure. What is no JSON then is none: nothing is guessed, and
//! nothing that was cut off becomes whole.

use serde_json::Value;
use std::borrow::Cow;

/// How often JSON may be written down in a text of JSON.
const MAX_WRAPPED: usize = 3;

/// Reads JSON; commas before a closing bracket do not count.
pub(crate) fn json(text: &str) -> Option<Value> {
    let read = |text: &str| serde_json::from_str(text).ok();
    read(text).or_else(|| match without_commas(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => read(&text),
    })
}

/// The object that a value is, or that a text in it holds as JSON.
pub(crate) fn object(value: Value) -> Result<Value, Value> {
    let mut inner = Cow::Borrowed(&value);
    for _ in 0..MAX_WRAPPED {
        inner = match inner.as_ref() {
            Value::Object(_) => return Ok(inner.into_owned()),
            Value::String(text) => match json(text) {
                Some(inner) => Cow::Owned(inner),
                None => break,
            },
            _ => break,
        };
    }
    match inner {
        Cow::Owned(object @ Value::Object(_)) => Ok(object),
        _ => Err(value),
    }
}

/// The text without commas that stand before a closing bracket.
fn without_commas(text: &str) -> Cow<'_, str> {
    let mut dropped = Vec::new();
    let (mut quoted, mut escaped, mut comma) = (false, false, None);
    for (at, letter) in text.char_indices() {
        if quoted {
            quoted = escaped || letter != '"';
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            '"' => (quoted, comma) = (true, None),
            ',' => comma = Some(at),
            ']' | '}' => dropped.extend(comma.take()),
            _ if letter.is_whitespace() => {}
            _ => comma = None,
        }
    }
    if dropped.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.char_indices().filter(|(at, _)| !dropped.contains(at)).map(|(_, letter)| letter).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_comma_too_many_is_no_trouble_and_texts_keep_theirs() {
        assert_eq!(json(r#"{"a": [1, 2, ], "b": ",]\",}",}"#), Some(json!({"a": [1, 2], "b": ",]\",}"})));
        for cut in [r#"{"a": 1,"#, r#"{"a": "x"#, "{,}x", "", "[1,,]", "[,]1"] {
            assert_eq!(json(cut), None, "{cut}");
        }
    }

    #[test]
    fn what_was_written_down_twice_is_found() {
        let object = json!({"path": "a"});
        let twice = Value::String(object.to_string());
        let thrice = Value::String(twice.to_string());
        for value in [object.clone(), twice, thrice] {
            assert_eq!(super::object(value), Ok(object.clone()));
        }
        for value in [json!([1]), json!("ls -la"), json!("[1]"), json!(null)] {
            assert_eq!(super::object(value.clone()), Err(value));
        }
    }
}
