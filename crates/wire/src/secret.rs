//! Secrets in running text, in the words of a command and under a key: known by what stands before them or by their form.
//!
//! It errs on the side of finding one, and cannot know a secret that looks like ordinary text. Not: where the text stands in a line, and
//! what a person typed into a question that asked for a secret.

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Pieces of a key's name that make its value a secret.
const TELLING_KEYS: &[&str] = &[
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "authorization",
    "credential",
    "cookie",
    "privatekey",
    "accesskey",
    "bearer",
];

/// Beginnings of keys that well-known services give out, and how many characters must follow.
const TELLING_BEGINNINGS: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("AIza", 30),
    ("hf_", 20),
    ("npm_", 30),
    ("eyJ", 60),
];
/// Words that announce a secret in running text.
const ANNOUNCING: &[&str] = &["bearer ", "authorization: basic "];
/// Ends of names whose value is a secret, in any case: `OPENAI_API_KEY=…`, `password: …`, `db.pwd = '…'`.
const TELLING_NAMES: &[&str] = &[
    "accesskey",
    "access_key",
    "access-key",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "private_key",
    "private-key",
    "pwd",
    "secret",
    "token",
];
/// Last words of such names that stand in other words too: `pw=…`, `db_pass: …`.
const TELLING_WORDS: &[&str] = &["pass", "psw", "pw"];
/// Ends of the names of variables, which are written in capitals; in running text the word says nothing.
const TELLING_VARIABLES: &[&str] = &["KEY", "PASS", "PAT"];
/// Names that end so and hold no secret.
const INNOCENT_NAMES: &[&str] = &["PWD", "OLDPWD"];
/// Shortest value that is taken for a secret.
const MIN_VALUE: usize = 4;
/// Values of such names that are no secrets: types, marks, words of a program.
const INNOCENT_VALUES: &[&str] = &[
    "bool",
    "boolean",
    "false",
    "none",
    "null",
    "option",
    "required",
    "self",
    "string",
    "true",
    "undefined",
];

/// Running text without its secrets; `None` when there are none.
pub fn without_secrets(text: &str) -> Option<String> {
    let mut clean = String::new();
    let mut rest = text;
    while let Some((before, secret)) = first_secret(rest) {
        clean.push_str(&rest[..before]);
        clean.push_str(REDACTED);
        rest = &rest[before + secret..];
    }
    (rest.len() < text.len()).then(|| clean + rest)
}

/// The words of a command with what looks like a secret taken out: after a telling option (`--api-key KEY`), behind its `=`, in the
/// assignment of a telling variable, and keys of well-known services.
pub fn words(words: &[String]) -> Vec<String> {
    let mut is_value = false;
    let clean = words.iter().map(|word| {
        if std::mem::take(&mut is_value) && !word.starts_with('-') {
            return REDACTED.to_owned();
        }
        match (word.starts_with('-'), word.split_once('=')) {
            (true, Some((option, value))) if is_telling(option, value) && !value.is_empty() => {
                return format!("{option}={REDACTED}");
            }
            (option, None) => is_value = option && is_telling(word, word),
            _ => {}
        }
        without_secrets(word).unwrap_or_else(|| word.clone())
    });
    clean.collect()
}

/// Whether the value under a key is a secret.
pub fn is_telling(key: &str, value: &str) -> bool {
    let key: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if key == "token" {
        // Several wires call a streamed piece of text a token.
        return looks_made(value);
    }
    key.ends_with("token") || TELLING_KEYS.iter().any(|telling| key.contains(telling))
}

/// Long, without spaces, letters and digits mixed: made by a machine.
fn looks_made(value: &str) -> bool {
    value.len() >= 20
        && !value.contains(char::is_whitespace)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic())
}

/// Where the first secret in running text begins, and its length.
fn first_secret(text: &str) -> Option<(usize, usize)> {
    let known = TELLING_BEGINNINGS.iter().filter_map(|(beginning, least)| {
        text.match_indices(beginning).find_map(|(at, _)| {
            let inside_word = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let length = key_length(&text[at..]);
            (!inside_word && length >= beginning.len() + least).then_some((at, length))
        })
    });
    let lower = text.to_ascii_lowercase();
    let announced = ANNOUNCING.iter().filter_map(|word| {
        lower.match_indices(word).find_map(|(at, _)| {
            let at = at + word.len();
            let length = key_length(&text[at..]);
            (length >= 8).then_some((at, length))
        })
    });
    let found = [
        first_assigned(text, &lower),
        first_option(text, &lower),
        first_login(text),
        first_private_key(text),
        first_cookie(text, &lower),
    ];
    known.chain(announced).chain(found.into_iter().flatten()).min_by_key(|(at, _)| *at)
}

/// Whether the value of a name is a secret; `written` is the name in its own case.
fn is_telling_name(name: &str, written: &str) -> bool {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or(name);
    TELLING_NAMES.iter().any(|end| name.ends_with(end))
        || TELLING_WORDS.contains(&last)
        || TELLING_VARIABLES.iter().any(|end| written.ends_with(end))
}

/// The first value behind a telling option: `--password …`.
fn first_option(text: &str, lower: &str) -> Option<(usize, usize)> {
    lower.match_indices("--").find_map(|(at, dashes)| {
        let from = at + dashes.len();
        let name =
            lower[from..].split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next()?;
        let behind = text.get(from + name.len()..)?;
        let spaced = behind.trim_start_matches([' ', '\t']);
        if !is_telling_name(name, "") || spaced.len() == behind.len() || spaced.starts_with('-') {
            return None;
        }
        value(text, spaced)
    })
}

/// The first password in an address: `scheme://user:…@host`.
fn first_login(text: &str) -> Option<(usize, usize)> {
    text.match_indices("://").find_map(|(at, sign)| {
        let from = at + sign.len();
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\');
        let authority = text[from..].split(ends).next()?;
        let (login, _) = authority.rsplit_once('@')?;
        let (user, password) = login.split_once(':')?;
        let shown = password.is_empty() || password == REDACTED || password.starts_with('$');
        (!shown).then_some((from + user.len() + 1, password.len()))
    })
}

/// The first private key in PEM, between its two lines; to the end of the text where the second is missing.
fn first_private_key(text: &str) -> Option<(usize, usize)> {
    text.match_indices("-----BEGIN ").find_map(|(at, begin)| {
        let rest = &text[at + begin.len()..];
        let (label, body) = rest.split_once("-----")?;
        let body = &body[..body.find("-----END").unwrap_or(body.len())];
        let shown = body.trim().is_empty() || body == REDACTED;
        let is_key = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
        (is_key && !shown).then_some((at + begin.len() + label.len() + "-----".len(), body.len()))
    })
}

/// The value of the first header that brings or sets cookies, to the end of its line.
fn first_cookie(text: &str, lower: &str) -> Option<(usize, usize)> {
    lower.match_indices("cookie:").find_map(|(at, header)| {
        let name = lower[..at].trim_end_matches("set-");
        let behind = &text[at + header.len()..];
        let value = behind.trim_start_matches([' ', '\t']);
        let length = value.find(['\n', '\r', '"', '\'']).unwrap_or(value.len());
        let found = value[..length].trim_end();
        // In running text the word may be about something else.
        let is_header = !name.ends_with(|c: char| c.is_ascii_alphanumeric()) && found.contains('=');
        is_header.then_some((text.len() - value.len(), found.len()))
    })
}

/// The first value that is given to a telling name, with `=` or `:`.
fn first_assigned(text: &str, lower: &str) -> Option<(usize, usize)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut signs = text.match_indices(['=', ':']);
    signs.find_map(|(at, sign)| {
        // `"password": "…"` in a text, `password = …` in a file.
        let name = lower[..at].trim_end_matches([' ', '\t']).trim_end_matches(['"', '\'']);
        let from = name.trim_end_matches(is_name).len();
        let (name, written) = (name.get(from..)?, text.get(from..name.len())?);
        if !is_telling_name(name, written) || INNOCENT_NAMES.contains(&written) {
            return None;
        }
        let value = text.get(at + 1..)?;
        // `a == b`, `a::b` and `https://` give nothing to anybody.
        if value.starts_with(['=', ':', '/']) || sign == ":" && !value.starts_with([' ', '"', '\'']) {
            return None;
        }
        self::value(text, value.trim_start_matches([' ', '\t']))
    })
}

/// The value with which `spaced`, the end of the text, begins; `None` when it is no secret.
fn value(text: &str, spaced: &str) -> Option<(usize, usize)> {
    let bare = spaced.trim_start_matches(['"', '\'', '`']);
    let quote = spaced[..spaced.len() - bare.len()].chars().next();
    let length = match quote {
        // In quotes anything is the value, up to the quote or the end of the line.
        Some(quote) => bare.find([quote, '\n']).unwrap_or(bare.len()),
        None if bare.starts_with(REDACTED) => REDACTED.len(),
        None => {
            bare.find(|c: char| c.is_whitespace() || "\"'`,;&|<>()[]{}".contains(c)).unwrap_or(bare.len())
        }
    };
    let found = &bare[..length];
    let is_variable = found.strip_prefix('$').is_some_and(|name| {
        name.starts_with('{') || name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    let is_blank = found.starts_with('<') && found.ends_with('>') || found.chars().all(|c| c == '*');
    let shown = found == REDACTED || is_variable || is_blank;
    let innocent = INNOCENT_VALUES.contains(&found.to_ascii_lowercase().as_str());
    let begins = text.len() - bare.len();
    (length >= MIN_VALUE && !shown && !innocent).then_some((begins, length))
}

/// How far a text goes on with the characters of a key.
fn key_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.+/=~".contains(c))).unwrap_or(text.len())
}
