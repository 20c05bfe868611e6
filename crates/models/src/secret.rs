//! Keys that cannot be printed, and the scrubbing of texts that come from elsewhere.

use std::fmt;

/// An API key. `Debug` and `Display` show nothing of it; [`Secret::expose`] is called only where a header is built.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; surrounding blanks are a copy-and-paste slip and dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key in the clear.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Beginnings of words that are keys of known providers.
const KEY_PREFIXES: [&str; 7] = ["sk-", "sk_", "AIza", "gsk_", "xai-", "key-", "hf_"];
/// A word shorter than this after a prefix is prose, not a key.
const KEY_MIN_LEN: usize = 12;
/// What stands where a key was.
const REDACTED: &str = "***";

/// Takes the given key and everything that looks like a key out of a text.
///
/// Providers quote (part of) a wrong key in their error texts, hence both.
pub fn redact(text: &str, key: Option<&Secret>) -> String {
    let text = match key {
        Some(key) if !key.is_empty() => text.replace(key.expose(), REDACTED),
        _ => text.to_owned(),
    };
    let mut out = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(|c: char| !is_key_char(c)) {
        let word = piece.trim_end_matches(|c: char| !is_key_char(c));
        let looks_like_key = word.len() >= KEY_MIN_LEN && KEY_PREFIXES.iter().any(|p| word.starts_with(p));
        if looks_like_key || (after_bearer && word.len() >= KEY_MIN_LEN) {
            out.push_str(REDACTED);
            out.push_str(&piece[word.len()..]);
        } else {
            out.push_str(piece);
        }
        if !word.is_empty() {
            after_bearer = word.eq_ignore_ascii_case("bearer");
        }
    }
    out
}

// `*` belongs to a key because providers print keys half masked (`sk-abc***xyz`).
fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        let key = Secret::new(" sk-ant-very-secret ");
        assert_eq!(format!("{key:?} {key}"), "Secret(***) ***");
        assert_eq!(key.expose(), "sk-ant-very-secret");
    }

    #[test]
    fn texts_lose_keys_and_nothing_else() {
        let own = Secret::new("hunter2hunter2");
        let table = [
            ("bad key hunter2hunter2!", "bad key ***!"),
            ("Incorrect API key provided: sk-proj-abcd****wxyz.", "Incorrect API key provided: ***."),
            ("key=AIzaSyA1234567890 expired", "key=*** expired"),
            ("Authorization: Bearer abcdefghijkl1234", "Authorization: Bearer ***"),
            ("a bearer of bad news, sk-8", "a bearer of bad news, sk-8"),
            ("Ünïcode bleibt: sk-äöü", "Ünïcode bleibt: sk-äöü"),
        ];
        for (text, want) in table {
            assert_eq!(redact(text, Some(&own)), want);
        }
    }
}
