//! The sending side: a pattern as a template, its names replaced by what they stand for.
//!
//! `...` among members or elements adds nothing. The same line can thus be expected of one role and spoken to the
//! other. The text keeps member order and the spelling of numbers.

use serde_json::Value;

use super::matching::inside_text;
use super::{Bindings, Item, Pattern, Piece, print::quoted};

/// What to do where a template does not say a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Fail: the line must be complete.
    Refuse,
    /// Make one up and bind it: an unbound `$run` becomes `"run-1"`, anything becomes `null`, a glob loses its stars.
    Invent,
}

/// Why a template could not be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    /// A name that no earlier line bound.
    #[error("${0} is not bound by an earlier line; for a literal dollar write \\u0024")]
    Unbound(String),
    /// `...`, `$_` or a glob where a value has to be sent.
    #[error("{0} stands for many values; a line that is sent must name one")]
    Vague(String),
}

impl Pattern {
    /// The JSON text to send.
    pub fn fill(&self, bindings: &mut Bindings, missing: Missing) -> Result<String, Unfilled> {
        let mut out = String::new();
        Filler { bindings, missing, out: &mut out }.value(self)?;
        Ok(out)
    }
}

struct Filler<'b, 'o> {
    bindings: &'b mut Bindings,
    missing: Missing,
    out: &'o mut String,
}

impl Filler<'_, '_> {
    fn value(&mut self, pattern: &Pattern) -> Result<(), Unfilled> {
        match pattern {
            Pattern::Name(name) => {
                let value = self.bound(name)?.to_string();
                self.out.push_str(&value);
            }
            Pattern::Text(text) => {
                let mut filled = String::new();
                for piece in text.pieces() {
                    match piece {
                        Piece::Plain(plain) => filled.push_str(plain),
                        Piece::Name(name) => filled.push_str(&inside_text(&self.bound(name)?)),
                    }
                }
                self.out.push_str(&quoted(&filled));
            }
            Pattern::Anything => {
                self.vague(pattern)?;
                self.out.push_str("null");
            }
            Pattern::Glob(glob) => {
                self.vague(pattern)?;
                self.out.push_str(&quoted(&glob.parts().concat()));
            }
            Pattern::Null | Pattern::Bool(_) | Pattern::Number(_) => self.out.push_str(&pattern.to_string()),
            Pattern::Array(items) => {
                let elements = items.iter().filter_map(|item| match item {
                    Item::One(pattern) => Some((None, pattern)),
                    Item::Rest => None,
                });
                self.list('[', elements, ']')?;
            }
            Pattern::Object(object) => {
                self.list('{', object.members.iter().map(|(key, pattern)| (Some(key), pattern)), '}')?;
            }
        }
        Ok(())
    }

    fn list<'p>(
        &mut self,
        open: char,
        entries: impl Iterator<Item = (Option<&'p String>, &'p Pattern)>,
        close: char,
    ) -> Result<(), Unfilled> {
        self.out.push(open);
        for (index, (key, pattern)) in entries.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            if let Some(key) = key {
                self.out.push_str(&quoted(key));
                self.out.push(':');
            }
            self.value(pattern)?;
        }
        self.out.push(close);
        Ok(())
    }

    fn vague(&self, pattern: &Pattern) -> Result<(), Unfilled> {
        match self.missing {
            Missing::Invent => Ok(()),
            Missing::Refuse => Err(Unfilled::Vague(pattern.to_string())),
        }
    }

    fn bound(&mut self, name: &str) -> Result<Value, Unfilled> {
        if let Some(value) = self.bindings.get(name) {
            return Ok(value.clone());
        }
        match self.missing {
            Missing::Refuse => Err(Unfilled::Unbound(name.to_owned())),
            Missing::Invent => {
                let value = Value::from(format!("{name}-1"));
                self.bindings.bind(name, value.clone());
                Ok(value)
            }
        }
    }
}
