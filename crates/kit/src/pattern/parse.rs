//! The reader of patterns: hand-written, since `...`, `$name` and `~"glob*"` are not JSON.
//!
//! Recursive, with the depth capped; every failure names the byte where it happened.

use std::collections::BTreeSet;

use super::{Glob, Item, MAX_DEPTH, MAX_NAME, Number, Object, Pattern, Piece, Text, name_length};

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at byte {at})")]
pub struct PatternError {
    /// The byte offset where it went wrong.
    pub at: usize,
    /// What is wrong and what to write instead.
    pub what: String,
}

/// Whether a dollar may begin a name and dots may stand for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dollars {
    AreNames,
    ArePlain,
}

/// Reads a pattern that fills its text.
pub(super) fn whole(text: &str, dollars: Dollars) -> Result<Pattern, PatternError> {
    let mut reader = PatternReader { text, at: 0, dollars };
    let pattern = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.error(format!("the value ended before {}", reader.seen())));
    }
    Ok(pattern)
}

/// Reads a pattern at the beginning of a text, and says where it ends.
pub(super) fn prefix(text: &str) -> Result<(Pattern, usize), PatternError> {
    let mut reader = PatternReader { text, at: 0, dollars: Dollars::AreNames };
    let pattern = reader.value(0)?;
    Ok((pattern, reader.at))
}

struct PatternReader<'t> {
    text: &'t str,
    at: usize,
    dollars: Dollars,
}

impl<'t> PatternReader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn take_dots(&mut self) -> bool {
        self.dollars == Dollars::AreNames && self.take("...")
    }

    fn error(&self, what: impl Into<String>) -> PatternError {
        PatternError { at: self.at, what: what.into() }
    }

    fn seen(&self) -> String {
        match self.peek() {
            Some(char) => format!("{char:?}"),
            None => "the end".to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Pattern, PatternError> {
        if depth >= MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.skip_space();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => self.string(),
            Some('-' | '0'..='9') => self.number(),
            Some('$') if self.dollars == Dollars::AreNames => self.name(),
            Some('~') if self.dollars == Dollars::AreNames => self.glob(),
            Some('.') if self.take_dots() => Ok(Pattern::Anything),
            Some('n') if self.take("null") => Ok(Pattern::Null),
            Some('t') if self.take("true") => Ok(Pattern::Bool(true)),
            Some('f') if self.take("false") => Ok(Pattern::Bool(false)),
            _ => Err(self.error(format!("expected a JSON value, `...` or `$name`, found {}", self.seen()))),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Pattern, PatternError> {
        self.at += 1;
        let mut object = Object::default();
        let mut keys = BTreeSet::new();
        self.skip_space();
        if self.take("}") {
            return Ok(Pattern::Object(object));
        }
        loop {
            self.skip_space();
            if self.take_dots() {
                object.open = true;
            } else {
                let start = self.at;
                let key = self.key()?;
                if !keys.insert(key.clone()) {
                    let what = format!("member {key:?} stands twice; to send such a line, use `!`");
                    return Err(PatternError { at: start, what });
                }
                self.skip_space();
                if !self.take(":") {
                    return Err(self.error(format!("expected `:` after {key:?}, found {}", self.seen())));
                }
                object.members.push((key, self.value(depth + 1)?));
            }
            self.skip_space();
            if self.take("}") {
                return Ok(Pattern::Object(object));
            }
            if !self.take(",") {
                return Err(self.error(format!("expected `,` or `}}`, found {}", self.seen())));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Pattern, PatternError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take("]") {
            return Ok(Pattern::Array(items));
        }
        loop {
            self.skip_space();
            if self.take_dots() {
                if items.last() != Some(&Item::Rest) {
                    items.push(Item::Rest);
                }
            } else {
                items.push(Item::One(self.value(depth + 1)?));
            }
            self.skip_space();
            if self.take("]") {
                return Ok(Pattern::Array(items));
            }
            if !self.take(",") {
                return Err(self.error(format!("expected `,` or `]`, found {}", self.seen())));
            }
        }
    }

    fn number(&mut self) -> Result<Pattern, PatternError> {
        let (number, length) =
            Number::parse_prefix(self.rest()).ok_or_else(|| self.error("not a JSON number"))?;
        self.at += length;
        Ok(Pattern::Number(number))
    }

    fn name(&mut self) -> Result<Pattern, PatternError> {
        let name = self.rest().get(1..).unwrap_or_default();
        let length = name_length(name);
        if length == 0 {
            let what = format!("a name is lower-case letters, digits and `_`, at most {MAX_NAME}: `$run_id`");
            return Err(self.error(what));
        }
        self.at += 1 + length;
        Ok(named(&name[..length]))
    }

    fn glob(&mut self) -> Result<Pattern, PatternError> {
        self.at += 1;
        if self.peek() != Some('"') {
            return Err(self.error("expected a string after `~`"));
        }
        Ok(Pattern::Glob(Glob::new(&self.plain_string()?)))
    }

    fn key(&mut self) -> Result<String, PatternError> {
        if self.peek() != Some('"') {
            return Err(self.error(format!("expected a member name in quotes, found {}", self.seen())));
        }
        self.plain_string()
    }

    fn plain_string(&mut self) -> Result<String, PatternError> {
        let dollars = std::mem::replace(&mut self.dollars, Dollars::ArePlain);
        let read = self.string();
        self.dollars = dollars;
        let Pattern::Text(text) = read? else { return Ok(String::new()) };
        Ok(text
            .pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Plain(text) | Piece::Name(text) => text,
            })
            .collect())
    }

    /// A quoted string. Names are found in the source text, before escapes are read, so an escaped dollar is plain.
    fn string(&mut self) -> Result<Pattern, PatternError> {
        let start = self.at;
        self.at += 1;
        if self.dollars == Dollars::AreNames
            && let Some(name) = self.rest().strip_prefix('$')
        {
            let length = name_length(name);
            if length > 0 && name[length..].starts_with('"') {
                self.at += length + 2;
                return Ok(named(&name[..length]));
            }
        }
        let mut pieces = Vec::new();
        let mut plain = String::new();
        loop {
            let Some(char) = self.peek() else {
                return Err(PatternError { at: start, what: "this string is not closed".to_owned() });
            };
            match char {
                '"' => {
                    self.at += 1;
                    pieces.push(Piece::Plain(plain));
                    return Ok(Pattern::Text(Text::from_pieces(pieces)));
                }
                '\\' => plain.push(self.escape()?),
                '$' => match self.inner_name() {
                    Some(name) => {
                        pieces.push(Piece::Plain(std::mem::take(&mut plain)));
                        pieces.push(Piece::Name(name));
                    }
                    None => {
                        self.at += 1;
                        plain.push('$');
                    }
                },
                '\n' | '\r' => {
                    return Err(PatternError {
                        at: start,
                        what: "this string is not closed on its line".to_owned(),
                    });
                }
                control if control < ' ' => {
                    let what = format!("write the control character as \\u{:04x}", u32::from(control));
                    return Err(self.error(what));
                }
                char => {
                    self.at += char.len_utf8();
                    plain.push(char);
                }
            }
        }
    }

    /// `${name}` at this place, if it is one and names are looked for.
    fn inner_name(&mut self) -> Option<String> {
        if self.dollars == Dollars::ArePlain {
            return None;
        }
        let name = self.rest().strip_prefix("${")?;
        let length = name_length(name);
        if length == 0 || !name[length..].starts_with('}') {
            return None;
        }
        self.at += length + 3;
        Some(name[..length].to_owned())
    }

    fn escape(&mut self) -> Result<char, PatternError> {
        let mut chars = self.rest().chars();
        chars.next();
        let plain = match chars.next() {
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(),
            _ => return Err(self.error("unknown escape in a string; a backslash is written `\\\\`")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, PatternError> {
        let start = self.at;
        let lone = || PatternError { at: start, what: "half of a surrogate pair in a string".to_owned() };
        let unit = self.unit().ok_or_else(|| self.error("`\\u` needs four hex digits"))?;
        if !(0xd800..0xe000).contains(&unit) {
            return char::from_u32(unit).ok_or_else(lone);
        }
        let low = self.unit().ok_or_else(lone)?;
        if unit >= 0xdc00 || !(0xdc00..0xe000).contains(&low) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).ok_or_else(lone)
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().strip_prefix("\\u")?.get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let unit = u32::from_str_radix(digits, 16).ok()?;
        self.at += 6;
        Some(unit)
    }
}

fn named(name: &str) -> Pattern {
    if name == "_" { Pattern::Anything } else { Pattern::Name(name.to_owned()) }
}
