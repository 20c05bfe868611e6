//! Rewriting a pattern so that a value it refused fits: parts that still match stay, the rest becomes literal.
//!
//! Invariant: the adapted pattern matches the value under the given bindings.

use serde_json::{Map, Value};

use super::{Bindings, Item, Object, Pattern, matches};

/// Strings shorter than this are not taken for the value of a name: they may be equal by chance.
const MIN_TELLING: usize = 6;

impl Pattern {
    /// A pattern that the value fits, as close to this one as can be. Strings equal to a bound value are written as
    /// that name, since such values are mostly made anew in every run.
    #[must_use]
    pub fn adapt(&self, value: &Value, bindings: &Bindings) -> Self {
        if matches(self, value, &mut bindings.clone()).is_ok() {
            return self.clone();
        }
        let mut scratch = bindings.clone();
        let adapted = adapt(self, value, &mut scratch);
        // Names bound in two kept parts may disagree with one another; then only the literal is right.
        if matches(&adapted, value, &mut bindings.clone()).is_ok() { adapted } else { Self::literal(value) }
    }

    /// The literal of a value, with names where a string says exactly what a name stands for.
    pub fn literal_with_names(value: &Value, bindings: &Bindings) -> Self {
        named_literal(value, bindings)
    }
}

fn adapt(pattern: &Pattern, value: &Value, bindings: &mut Bindings) -> Pattern {
    if matches(pattern, value, bindings).is_ok() {
        return pattern.clone();
    }
    match (pattern, value) {
        (Pattern::Object(object), Value::Object(got)) => Pattern::Object(adapt_object(object, got, bindings)),
        (Pattern::Array(items), Value::Array(got))
            if items.len() == got.len() && !items.contains(&Item::Rest) =>
        {
            let adapted = items.iter().zip(got).map(|(item, value)| match item {
                Item::One(pattern) => Item::One(adapt(pattern, value, bindings)),
                Item::Rest => Item::Rest,
            });
            Pattern::Array(adapted.collect())
        }
        _ => named_literal(value, bindings),
    }
}

fn adapt_object(object: &Object, got: &Map<String, Value>, bindings: &mut Bindings) -> Object {
    let mut members = Vec::new();
    for (key, pattern) in &object.members {
        if let Some(value) = got.get(key) {
            members.push((key.clone(), adapt(pattern, value, bindings)));
        }
    }
    if !object.open {
        for (key, value) in got {
            if !object.members.iter().any(|(ours, _)| ours == key) {
                members.push((key.clone(), named_literal(value, bindings)));
            }
        }
    }
    Object { members, open: object.open }
}

fn named_literal(value: &Value, bindings: &Bindings) -> Pattern {
    match value {
        Value::String(text) if text.len() >= MIN_TELLING => {
            match bindings.iter().find(|(_, bound)| *bound == value) {
                Some((name, _)) => Pattern::Name(name.to_owned()),
                None => Pattern::literal(value),
            }
        }
        Value::Array(items) => {
            Pattern::Array(items.iter().map(|item| Item::One(named_literal(item, bindings))).collect())
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), named_literal(value, bindings)));
            Pattern::Object(Object { members: members.collect(), open: false })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Pattern::literal(value),
    }
}
