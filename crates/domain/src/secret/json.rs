//! JSON text with secrets in it: what stands in strings is looked at as it is meant, and it is JSON afterwards.

use super::Secrets;
use crate::content::Json;
use std::borrow::Cow;
use std::fmt::Write as _;

impl Secrets {
    /// The value with marks in the place of secrets. A number that holds one becomes a string.
    pub fn mask_json(&self, json: &Json) -> Json {
        if self.is_empty() {
            return json.clone();
        }
        let text = json.as_str();
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| !is_structure(c)) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = if rest.starts_with('"') { string_length(rest) } else { bare_length(rest) };
            let (token, after) = rest.split_at(length);
            self.push_token(&mut out, token);
            rest = after;
        }
        out.push_str(rest);
        if out == text { json.clone() } else { Json::verbatim(out) }
    }

    fn push_token(&self, out: &mut String, token: &str) {
        let inside = token.strip_prefix('"').map(|inside| inside.strip_suffix('"').unwrap_or(inside));
        match inside {
            Some(inside) => {
                let meant = unescaped(inside);
                match self.mask(&meant) {
                    Cow::Owned(masked) => {
                        let _ = write!(out, "\"{}\"", escaped(&masked));
                    }
                    Cow::Borrowed(_) => out.push_str(token),
                }
            }
            None => match self.mask(token) {
                Cow::Owned(masked) => {
                    let _ = write!(out, "\"{}\"", escaped(&masked));
                }
                Cow::Borrowed(_) => out.push_str(token),
            },
        }
    }
}

fn is_structure(c: char) -> bool {
    matches!(c, '{' | '}' | '[' | ']' | ':' | ',') || c.is_whitespace()
}

/// Bytes of the string that begins here, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escapes = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escapes => escapes = false,
            '\\' => escapes = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the number or word that begins here.
fn bare_length(text: &str) -> usize {
    text.find(|c: char| is_structure(c) || c == '"').unwrap_or(text.len())
}

/// The text as it stands between the quotes of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// The same in ASCII, as some programs write it.
pub(super) fn escaped_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in escaped(text).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// What the text between the quotes of a JSON string means. What is no escape stays as it is.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = chars.clone().take(4).collect();
                    if let Ok(unit) = u16::from_str_radix(&digits, 16)
                        && digits.len() == 4
                    {
                        units.push(unit);
                        chars = chars.as_str().get(4..).unwrap_or_default().chars();
                        continue;
                    }
                    'u'
                }
                Some(other) => other,
                None => '\\',
            },
            c => c,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    Cow::Owned(String::from_utf16_lossy(&units))
}
