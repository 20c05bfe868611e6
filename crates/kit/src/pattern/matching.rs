//! Matching a value against a pattern, with names that bind.
//!
//! Invariants: a failed match leaves the bindings as they were; work is at most pattern size times value size (array
//! elements between two `...` are found leftmost first, without further backtracking); a string equal to the
//! pattern's own source always matches, so any JSON matches itself.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::{Item, Object, Pattern, Piece, Text};

/// How much of a value a mismatch shows.
const MAX_SHOWN: usize = 300;

/// The values names stand for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bindings {
    values: BTreeMap<String, Value>,
}

impl Bindings {
    /// No names yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Lets a name stand for a value, in place of what it stood for before.
    pub fn bind(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// The names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// The first place where a value is not what the pattern says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: expected {expected}, got {got}", if .path.is_empty() { "at the top" } else { .path })]
pub struct Mismatch {
    /// Where, as a JSON pointer into the value.
    pub path: String,
    /// What the pattern says there.
    pub expected: String,
    /// What the value has there.
    pub got: String,
}

/// Whether a value fits a pattern. On success names seen for the first time are bound.
pub fn matches(pattern: &Pattern, value: &Value, bindings: &mut Bindings) -> Result<(), Mismatch> {
    let mut matcher = Matcher { bindings, fresh: Vec::new(), path: Vec::new() };
    let result = matcher.value(pattern, value);
    if result.is_err() {
        matcher.forget(0);
    }
    result
}

/// A step of the path to the value at hand.
#[derive(Clone, Copy)]
enum PathStep<'v> {
    Member(&'v str),
    Element(usize),
}

struct Matcher<'b, 'v> {
    bindings: &'b mut Bindings,
    /// Names bound by this match, to be undone when a branch fails.
    fresh: Vec<String>,
    path: Vec<PathStep<'v>>,
}

impl<'v> Matcher<'_, 'v> {
    fn forget(&mut self, keep: usize) {
        for name in self.fresh.drain(keep..) {
            self.bindings.values.remove(&name);
        }
    }

    fn mismatch(&self, expected: impl fmt::Display, got: impl fmt::Display) -> Mismatch {
        let path = self.path.iter().map(|step| match step {
            PathStep::Member(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            PathStep::Element(index) => format!("/{index}"),
        });
        Mismatch {
            path: path.collect(),
            expected: clip(&expected.to_string(), MAX_SHOWN),
            got: clip(&got.to_string(), MAX_SHOWN),
        }
    }

    fn value(&mut self, pattern: &Pattern, value: &'v Value) -> Result<(), Mismatch> {
        let fits = match (pattern, value) {
            (Pattern::Anything, _) | (Pattern::Null, Value::Null) => true,
            (Pattern::Name(name), value) => return self.name(name, value),
            (Pattern::Bool(ours), Value::Bool(got)) => ours == got,
            (Pattern::Number(ours), Value::Number(got)) => ours.is(got),
            (Pattern::Text(text), Value::String(got)) => return self.text(text, got),
            (Pattern::Glob(glob), Value::String(got)) => glob.fits(got),
            (Pattern::Array(items), Value::Array(got)) => return self.array(items, got),
            (Pattern::Object(object), Value::Object(got)) => return self.object(object, got),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.mismatch(pattern, value)) }
    }

    fn name(&mut self, name: &str, value: &'v Value) -> Result<(), Mismatch> {
        let Some(bound) = self.bindings.get(name) else {
            self.fresh.push(name.to_owned());
            self.bindings.bind(name, value.clone());
            return Ok(());
        };
        // Through a literal pattern, so that numbers compare by value here too.
        let itself = matches!(value, Value::String(text) if text.strip_prefix('$') == Some(name));
        if itself || matches(&Pattern::literal(bound), value, &mut Bindings::new()).is_ok() {
            return Ok(());
        }
        let expected = format!("{bound} (${name} from before)");
        Err(self.mismatch(expected, value))
    }

    fn text(&mut self, text: &Text, got: &str) -> Result<(), Mismatch> {
        let mut filled = String::new();
        let mut source = String::new();
        let mut unbound = None;
        for piece in text.pieces() {
            match piece {
                Piece::Plain(plain) => {
                    filled.push_str(plain);
                    source.push_str(plain);
                }
                Piece::Name(name) => {
                    source.push_str(&format!("${{{name}}}"));
                    match self.bindings.get(name) {
                        Some(bound) => filled.push_str(&inside_text(bound)),
                        None => unbound = unbound.or(Some(name)),
                    }
                }
            }
        }
        if got == source || (unbound.is_none() && got == filled) {
            return Ok(());
        }
        let got = Value::from(got);
        Err(match unbound {
            Some(name) => self.mismatch(format!("{text} (where ${name} is not bound yet)"), got),
            None => self.mismatch(Text::plain(&filled), got),
        })
    }

    fn object(&mut self, object: &Object, got: &'v Map<String, Value>) -> Result<(), Mismatch> {
        for (key, pattern) in &object.members {
            let Some((key, value)) = got.get_key_value(key) else {
                let expected = format!("member {key:?}: {pattern}");
                return Err(self.mismatch(expected, format!("no such member among {}", keys(got))));
            };
            self.path.push(PathStep::Member(key));
            self.value(pattern, value)?;
            self.path.pop();
        }
        if object.open || got.len() == object.members.len() {
            return Ok(());
        }
        let extra = got.iter().find(|(key, _)| !object.members.iter().any(|(ours, _)| ours == *key));
        match extra {
            Some((key, value)) => {
                let more = format!("member {key:?}: {value}");
                Err(self.mismatch("no more members (`...` would allow them)", more))
            }
            None => Ok(()),
        }
    }

    fn array(&mut self, items: &[Item], got: &'v [Value]) -> Result<(), Mismatch> {
        let mut runs = items.split(|item| *item == Item::Rest);
        let first = runs.next().unwrap_or_default();
        let middle: Vec<_> = runs.collect();
        let Some((last, middle)) = middle.split_last() else {
            if first.len() != got.len() {
                let expected = format!("{} elements", first.len());
                return Err(self.mismatch(expected, format!("{}: {}", got.len(), Value::from(got))));
            }
            return self.run(first, got, 0);
        };
        let least: usize = first.len() + last.len() + middle.iter().map(|run| run.len()).sum::<usize>();
        if got.len() < least {
            let expected = format!("at least {least} elements");
            return Err(self.mismatch(expected, format!("{}: {}", got.len(), Value::from(got))));
        }
        self.run(first, got, 0)?;
        let tail = got.len() - last.len();
        let mut at = first.len();
        for run in middle {
            at = self.find(run, got, at, tail)? + run.len();
        }
        self.run(last, got, tail)
    }

    /// Elements side by side, beginning at an index.
    fn run(&mut self, run: &[Item], got: &'v [Value], from: usize) -> Result<(), Mismatch> {
        for (index, (item, value)) in run.iter().zip(got.iter().skip(from)).enumerate() {
            let Item::One(pattern) = item else { continue };
            self.path.push(PathStep::Element(from + index));
            self.value(pattern, value)?;
            self.path.pop();
        }
        Ok(())
    }

    /// The leftmost place between two indices where a run of elements fits.
    fn find(&mut self, run: &[Item], got: &'v [Value], from: usize, to: usize) -> Result<usize, Mismatch> {
        let (depth, bound) = (self.path.len(), self.fresh.len());
        for at in from..=to.saturating_sub(run.len()) {
            if self.run(run, got, at).is_ok() {
                return Ok(at);
            }
            self.path.truncate(depth);
            self.forget(bound);
        }
        let expected = format!("{} somewhere from element {from} on", Pattern::Array(run.to_vec()));
        Err(self.mismatch(expected, Value::from(got)))
    }
}

fn keys(map: &Map<String, Value>) -> String {
    let keys: Vec<_> = map.keys().map(String::as_str).collect();
    if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }
}

/// A value as it stands inside a string: text as it is, anything else as JSON.
pub(super) fn inside_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// The beginning of a long text, saying how much was left out.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
    }
}
