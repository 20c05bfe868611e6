//! Patterns as text, in the one canonical spelling: compact, members in their order, `...` last.
//!
//! Invariant: what is printed parses to an equal pattern, on one line.

use std::fmt::{self, Write};

use super::{Glob, Item, Object, Pattern, Piece, Text, name_length};

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => f.write_str("..."),
            Self::Name(name) => write!(f, "\"${name}\""),
            Self::Null => f.write_str("null"),
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text}"),
            Self::Glob(glob) => write!(f, "{glob}"),
            Self::Array(items) => array(items, f),
            Self::Object(object) => write!(f, "{object}"),
        }
    }
}

fn array(items: &[Item], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('[')?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_char(',')?;
        }
        match item {
            Item::Rest => f.write_str("...")?,
            // Bare dots would mean any number of elements here.
            Item::One(Pattern::Anything) => f.write_str("$_")?,
            Item::One(pattern) => write!(f, "{pattern}")?,
        }
    }
    f.write_char(']')
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (index, (key, pattern)) in self.members.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            write!(f, "{}:{pattern}", quoted(key))?;
        }
        if self.open {
            f.write_str(if self.members.is_empty() { "..." } else { ",..." })?;
        }
        f.write_char('}')
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Name(name) => write!(f, "${{{name}}}")?,
                Piece::Plain(text) => f.write_str(&shield_dollars(text, index == 0))?,
            }
        }
        f.write_char('"')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            self.parts.iter().map(|part| part.replace('\\', "\\\\").replace('*', "\\*")).collect();
        write!(f, "~{}", quoted(&parts.join("*")))
    }
}

/// A JSON string with its quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The inside of a JSON string, dollars escaped where they would otherwise begin a name.
fn shield_dollars(text: &str, at_start: bool) -> String {
    let quoted = quoted(text);
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let mut shielded = String::with_capacity(inside.len());
    for (at, char) in inside.char_indices() {
        let after = &inside[at + char.len_utf8()..];
        let whole_name = at == 0 && at_start && !after.is_empty() && name_length(after) == after.len();
        let names = whole_name || after.starts_with('{');
        if char == '$' && names {
            shielded.push_str("\\u0024");
        } else {
            shielded.push(char);
        }
    }
    shielded
}
