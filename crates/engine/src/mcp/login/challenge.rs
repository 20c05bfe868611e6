//! What a server says in `WWW-Authenticate` when it wants a token, or one that may do more. Pure.

use serde::{Deserialize, Serialize};

/// Longest value of it that counts, in bytes.
const MAX_VALUE: usize = 2 * 1024;

/// What the header asks of whoever has or gets a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::mcp) struct Challenge {
    /// Where the server describes itself.
    pub(in crate::mcp) metadata: Option<String>,
    /// What a token has to allow, separated by blanks.
    pub(in crate::mcp) scope: Option<String>,
    /// What is wrong with the token that was sent.
    pub(in crate::mcp) error: Option<String>,
}

impl Challenge {
    /// Reads the header; of several ways in, the one by token counts. What cannot be read is as if it were not there.
    pub(in crate::mcp) fn read(header: &str) -> Challenge {
        let (mut challenge, mut is_bearer, mut rest) = (Challenge::default(), false, header);
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let Some(first) = rest.chars().next() else { return challenge };
            let (name, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            if name.is_empty() {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let Some(value) = after.trim_start().strip_prefix('=') else {
                is_bearer = name.eq_ignore_ascii_case("bearer");
                rest = after;
                continue;
            };
            let (value, tail) = value_of(value.trim_start());
            rest = tail;
            if is_bearer && !value.is_empty() && value.len() <= MAX_VALUE {
                challenge.put(name, value);
            }
        }
    }

    /// The first that is said of each counts.
    fn put(&mut self, name: &str, value: String) {
        let place = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            _ => return,
        };
        place.get_or_insert(value);
    }

    /// Whether the token is good and may do too little.
    pub(in crate::mcp) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// A value in quotes or as a word, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (word, rest) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
        return (word.to_owned(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.char_indices());
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (String::new(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_asks_for_is_read_and_the_rest_is_nothing() {
        let read = |header: &str| {
            let Challenge { metadata, scope, error } = Challenge::read(header);
            [metadata, scope, error].map(Option::unwrap_or_default).join("|")
        };
        for (header, wanted) in [
            (r#"Bearer resource_metadata="https://a/m", scope="x y""#, "https://a/m|x y|"),
            (r#"bearer error=invalid_token , scope = "a\"b""#, r#"|a"b|invalid_token"#),
            (r#"Basic realm="x, scope=no", Bearer scope="yes""#, "|yes|"),
            (r#"Negotiate abc==, Bearer scope=s"#, "|s|"),
            (r#"Bearer scope="first", scope="second""#, "|first|"),
            (r#"Bearer scope="open"#, "||"),
            ("Bearer", "||"),
            ("", "||"),
            ("Basic scope=no", "||"),
            ("=\u{fc}=,Bearer \u{fc} scope=s", "|s|"),
        ] {
            assert_eq!(read(header), wanted, "{header}");
        }
        assert_eq!(read(&format!("Bearer scope={}", "s".repeat(MAX_VALUE + 1))), "||");
        assert!(Challenge::read("Bearer error=\"insufficient_scope\"").wants_more());
    }
}
