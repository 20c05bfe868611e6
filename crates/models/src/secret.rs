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
/// A key shorter than this is taken out only where it stands as a word of its own. No provider gives out such a key; people make them up
/// for servers of their own (`x`, `none`), and the letters stand in half of all words: taken out there, they would show in each gap, and
/// nobody could read the message. It may still be somebody's password, so it is not shown where it is quoted.
const SHORT_KEY: usize = 8;
/// What stands where a key was.
const REDACTED: &str = "***";

/// Takes the given key and everything that looks like a key out of a text.
///
/// Providers quote (part of) a wrong key in their error texts, hence both.
pub fn redact(text: &str, key: Option<&Secret>) -> String {
    let text = match key {
        Some(key) if key.is_empty() => text.to_owned(),
        Some(key) if key.expose().chars().count() < SHORT_KEY => without_word(text, key.expose()),
        Some(key) => text.replace(key.expose(), REDACTED),
        None => text.to_owned(),
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

/// Takes a word out where it is no part of another.
fn without_word(text: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        let joins = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_alphanumeric() || is_key_char(letter))
        };
        if !joins(text[..at].chars().next_back()) && !joins(text[end..].chars().next()) {
            out.push_str(&text[done..at]);
            out.push_str(REDACTED);
            done = end;
        }
    }
    out.push_str(&text[done..]);
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
    fn a_short_key_is_taken_out_as_a_word_and_leaves_other_words_whole() {
        let table = [
            ("k", "the connection broke: bad key \"k\", k", "the connection broke: bad key \"***\", ***"),
            ("none", "nonetheless none, none-such, Änone", "nonetheless ***, none-such, Änone"),
            ("a.b", "a.b at a.b.c and xa.b", "*** at ***.c and xa.b"),
            ("1234567", "no 12345678, but 1234567", "no 12345678, but ***"),
            ("12345678", "also in 123456789", "also in ***9"),
        ];
        for (key, text, want) in table {
            assert_eq!(redact(text, Some(&Secret::new(key))), want);
        }
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
