//! The made-up sessions leave nothing out: every variant of a body, and of every noun in it, every member both told and left out where the
//! schema lets it be, every list with something in it and without. A fold in another language that is held against them is held against
//! all of that.

use super::vectors::{SESSIONS, made_up};
use super::*;
use domain::state::State;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What no session has in the middle of it: where it is said, and what.
const NEVER: [&str; 1] = ["Body: rebased"];

/// How often what may be was seen.
#[derive(Default)]
struct Seen(BTreeMap<String, usize>);

impl Seen {
    fn count(&mut self, what: String, seen: bool) {
        *self.0.entry(what).or_default() += usize::from(seen);
    }

    /// Walks through a value beside what the schema says of it. `place` is the noun, or the way to it.
    fn walk(&mut self, schema: &Value, of: &Value, place: &str, value: &Value) {
        let (of, place) = match of["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            Some(noun) => (&schema["$defs"][noun], noun),
            None => (of, place),
        };
        if let Some(ways) = of["oneOf"].as_array() {
            for way in ways {
                self.variant(schema, way, place, value);
            }
        } else if let (Some(members), Some(inside)) = (of["properties"].as_object(), value.as_object()) {
            for (name, what) in members {
                let within = format!("{place}.{name}");
                let is_required =
                    of["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
                if !is_required {
                    self.count(format!("{within} told"), inside.contains_key(name));
                    self.count(format!("{within} left out"), !inside.contains_key(name));
                }
                if let Some(inner) = inside.get(name) {
                    self.walk(schema, what, &within, inner);
                }
            }
        } else if let (Some(each), Some(values)) = (of.get("items"), value.as_array()) {
            self.count(format!("{place} filled"), !values.is_empty());
            values.iter().for_each(|inner| self.walk(schema, each, &format!("{place}[]"), inner));
        } else if let Some(names) = of["enum"].as_array() {
            for name in names {
                self.count(format!("{place}: {}", name.as_str().unwrap_or_default()), name == value);
            }
        }
    }

    /// One of several forms that a value may have: a name, or an object of one member.
    fn variant(&mut self, schema: &Value, of: &Value, place: &str, value: &Value) {
        let names = of["enum"].as_array().cloned().or_else(|| of.get("const").map(|name| vec![name.clone()]));
        for name in names.into_iter().flatten() {
            self.count(format!("{place}: {}", name.as_str().unwrap_or_default()), name == *value);
        }
        let Some((name, what)) = of["properties"].as_object().and_then(|members| members.iter().next())
        else {
            return;
        };
        let inside = value.get(name);
        self.count(format!("{place}: {name}"), inside.is_some());
        if let Some(inner) = inside {
            self.walk(schema, what, &format!("{place}.{name}"), inner);
        }
    }
}

#[test]
fn every_variant_and_every_member_told_and_left_out_is_in_a_session() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wires/native/src/schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let mut seen = Seen::default();
    for seed in 0..SESSIONS {
        let mut state = State::new();
        for event in made_up(seed).events {
            // What was refused is held against nothing.
            let is_applied = state.fold(&event).is_ok();
            if let (true, Ok(body)) = (is_applied, serde_json::from_str(&encode(&event.body))) {
                seen.walk(&schema, &schema["$defs"]["Body"], "Body", &body);
            }
        }
    }
    let unseen: Vec<&str> =
        seen.0.iter().filter(|(_, many)| **many == 0).map(|(what, _)| what.as_str()).collect();
    assert_eq!(unseen, NEVER);
    assert!(seen.0.len() > 150, "only {} things were looked for", seen.0.len());
}
