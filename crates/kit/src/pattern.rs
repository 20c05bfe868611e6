//! Patterns over JSON: what an expected line of a transcript may look like, and what a sent line is made from.
//!
//! A pattern is JSON with four additions: `...` (as a member: other members may follow; as an array element: any
//! number of elements; as a value: anything), `$name` or `"$name"` (binds on first sight, must agree afterwards;
//! `$_` agrees with everything), `${name}` inside a string, and `~"glob*"` for strings. A dollar written `\u0024`
//! is never a name. Names are lower-case, so `"$HOME"` is an ordinary string.
//!
//! It is not a schema language and knows nothing of dialects. Invariants: no text makes it panic; depth is capped;
//! any JSON text is a pattern that matches its own value; `parse(print(p)) == p`.

mod adapt;
mod fill;
mod matching;
mod number;
mod parse;
mod print;
#[cfg(test)]
pub(crate) mod tests;

use serde_json::Value;

pub use fill::{Missing, Unfilled};
pub(crate) use matching::clip;
pub use matching::{Bindings, Mismatch, matches};
pub use number::Number;
pub use parse::PatternError;

/// The deepest nesting a pattern may have; the same as the wire allows.
pub const MAX_DEPTH: usize = 128;
/// The longest name after a dollar.
pub const MAX_NAME: usize = 64;

/// What a JSON value may look like. Members keep the order they were written in, numbers their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Any value: `...` as a value, or `$_`.
    Anything,
    /// `$name`: binds on first sight, must be equal afterwards.
    Name(String),
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, compared by value.
    Number(Number),
    /// A string, perhaps with names inside.
    Text(Text),
    Glob(Glob),
    Array(Vec<Item>),
    Object(Object),
}

/// An element of an array pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Exactly one element.
    One(Pattern),
    /// `...`: any number of elements, none included.
    Rest,
}

/// The members of an object pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Members in the order written; no key stands twice.
    pub members: Vec<(String, Pattern)>,
    /// Whether `...` stood among them, which allows any others.
    pub open: bool,
}

/// A string with names inside: `"run ${run} ended"`. No plain piece is empty and no two stand side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pieces: Vec<Piece>,
}

/// A piece of a [`Text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal characters.
    Plain(String),
    Name(String),
}

/// A string with stars: the literal parts between them, so `a*` is `["a", ""]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<String>,
}

impl Pattern {
    /// Reads a whole text as one pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parse::whole(text, parse::Dollars::AreNames)
    }

    /// Reads strict JSON as a pattern that matches exactly that value: dollars are ordinary characters, and key
    /// order and the spelling of numbers are kept. This is what a recorder uses.
    pub fn parse_literal(json: &str) -> Result<Self, PatternError> {
        parse::whole(json, parse::Dollars::ArePlain)
    }

    /// Reads a pattern from the beginning of a text; returns it and the number of bytes it took.
    pub fn parse_prefix(text: &str) -> Result<(Self, usize), PatternError> {
        parse::prefix(text)
    }

    /// The pattern that matches exactly this value.
    pub fn literal(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => Self::Number(Number::from(number)),
            Value::String(text) => Self::Text(Text::plain(text)),
            Value::Array(items) => {
                Self::Array(items.iter().map(|item| Item::One(Self::literal(item))).collect())
            }
            Value::Object(members) => Self::Object(Object {
                members: members.iter().map(|(key, value)| (key.clone(), Self::literal(value))).collect(),
                open: false,
            }),
        }
    }
}

impl Text {
    /// A string without names.
    pub fn plain(text: &str) -> Self {
        Self::from_pieces([Piece::Plain(text.to_owned())])
    }

    /// A string from pieces; empty plain pieces go, neighbours are joined.
    pub fn from_pieces(pieces: impl IntoIterator<Item = Piece>) -> Self {
        let mut joined: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (_, Piece::Plain(text)) if text.is_empty() => {}
                (Some(Piece::Plain(before)), Piece::Plain(text)) => before.push_str(&text),
                (_, piece) => joined.push(piece),
            }
        }
        Self { pieces: joined }
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

impl Glob {
    /// Reads `a*b`; `\*` is a star and `\\` a backslash.
    pub fn new(source: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut chars = source.chars().peekable();
        while let Some(char) = chars.next() {
            if char == '*' {
                parts.push(String::new());
                continue;
            }
            let escaped = match (char, chars.peek()) {
                ('\\', Some(&next @ ('*' | '\\'))) => {
                    chars.next();
                    next
                }
                _ => char,
            };
            if let Some(part) = parts.last_mut() {
                part.push(escaped);
            }
        }
        Self { parts }
    }

    /// Whether a string fits.
    pub fn fits(&self, text: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else { return text.is_empty() };
        let Some((last, middle)) = rest.split_last() else { return text == first };
        let Some(mut left) = text.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            match left.find(part.as_str()) {
                Some(at) => left = &left[at + part.len()..],
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    }

    /// The literal parts between the stars.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }
}

/// The length of the name a text begins with, 0 if none: lower-case letters, digits and `_`, not a digit first.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'a'..=b'z' | b'_')) {
        return 0;
    }
    let length = bytes.iter().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).count();
    if length <= MAX_NAME { length } else { 0 }
}
