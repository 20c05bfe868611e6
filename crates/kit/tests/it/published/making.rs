//! Makes values of a JSON Schema: any that it allows, from a seed, with members strewn in that nobody knows.
//!
//! It knows as much of JSON Schema as the published document uses. Invariant: the same seed makes the same values.

use serde_json::{Map, Value, json};

/// How deep values go before only the smallest are made.
const DEEP: usize = 6;
const WORDS: &[&str] = &[
    "",
    "a",
    "hello there",
    "/w/a.txt",
    "line\nbreak",
    "ä€😀",
    "\"quoted\"",
    "\u{1b}[31m",
    "0",
    "https://example.org/x?y=1#z",
];

pub(crate) struct Maker<'s> {
    schema: &'s Value,
    seed: u64,
    /// Members that nobody knows so far.
    pub(crate) strewn: u64,
}

impl<'s> Maker<'s> {
    /// One for each name, so that tests do not hang on each other.
    pub(crate) fn new(schema: &'s Value, name: &str) -> Maker<'s> {
        let seed = name.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |seed, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Maker { schema, seed: seed | 1, strewn: 0 }
    }

    fn next(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    pub(crate) fn chance(&mut self, of: u64, among: u64) -> bool {
        self.next() % among < of
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(from.len()).ok().filter(|count| *count > 0)?;
        from.get(usize::try_from(self.next() % count).unwrap_or(0))
    }

    /// A value of a definition.
    pub(crate) fn make(&mut self, name: &str) -> Value {
        let definition = &self.schema["$defs"][name];
        self.value(definition, 0)
    }

    fn value(&mut self, schema: &'s Value, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.strip_prefix("#/$defs/").unwrap_or_default();
            let definition = &self.schema["$defs"][name];
            return self.value(definition, depth);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(all) = schema["enum"].as_array() {
            return self.pick(all).cloned().unwrap_or_default();
        }
        // Parts of one value: each adds its members.
        let mut whole = Map::new();
        let mut parts = false;
        for part in schema["allOf"].as_array().into_iter().flatten() {
            parts = true;
            match self.value(part, depth) {
                Value::Object(members) => whole.extend(members),
                other => return other,
            }
        }
        for key in ["oneOf", "anyOf"] {
            let Some(branches) = schema[key].as_array() else { continue };
            let smallest = depth > DEEP;
            let branch = if smallest { branches.last() } else { self.pick(branches) };
            let Some(branch) = branch else { continue };
            parts = true;
            match self.value(branch, depth + 1) {
                Value::Object(members) => whole.extend(members),
                other if schema.get("properties").is_none() => return other,
                _ => {}
            }
        }
        let made = self.of_type(schema, depth);
        match (made, parts) {
            (Some(Value::Object(members)), _) => {
                // What a branch says of a member counts more than what the object says in general.
                let mut all = members;
                all.extend(whole);
                Value::Object(all)
            }
            (Some(other), false) => other,
            (_, true) => Value::Object(whole),
            (None, false) => self.anything(depth),
        }
    }

    fn of_type(&mut self, schema: &'s Value, depth: usize) -> Option<Value> {
        let word = match &schema["type"] {
            Value::String(word) => word.as_str(),
            Value::Array(words) => {
                let at = if self.chance(1, 4) { words.len() - 1 } else { 0 };
                words.get(at).and_then(Value::as_str)?
            }
            _ if schema.get("properties").is_some() => "object",
            _ => return None,
        };
        Some(match word {
            "object" => self.object(schema, depth),
            "array" => {
                let most = if depth > DEEP { 1 } else { 4 };
                let count = self.next() % most;
                (0..count).map(|_| self.value(&schema["items"], depth + 1)).collect()
            }
            "string" => json!(self.word()),
            "integer" => {
                let least = schema["minimum"].as_i64().unwrap_or(-1000);
                let most = schema["maximum"].as_i64().unwrap_or(i64::from(u16::MAX));
                let span = u64::try_from(most.saturating_sub(least).max(1)).unwrap_or(u64::MAX);
                json!(least.saturating_add(i64::try_from(self.next() % span.min(100_000)).unwrap_or(0)))
            }
            "number" => json!((self.next() % 10_000) as f64 / 8.0),
            "boolean" => json!(self.chance(1, 2)),
            _ => Value::Null,
        })
    }

    fn object(&mut self, schema: &'s Value, depth: usize) -> Value {
        let mut made = Map::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = required.contains(&name.as_str());
            if name == "_meta" {
                if self.chance(1, 8) {
                    made.insert(name.clone(), json!({"other.program":{"x":[1,"y"]}}));
                }
            } else if wanted || depth <= DEEP && self.chance(1, 2) {
                let value = self.value(member, depth + 1);
                made.insert(name.clone(), value);
            }
        }
        match &schema["additionalProperties"] {
            members @ Value::Object(_) => {
                for _ in 0..self.next() % 3 {
                    let name = format!("key{}", self.next() % 10);
                    let value = self.value(members, depth + 1);
                    made.insert(name, value);
                }
            }
            _ => {
                if schema.get("properties").is_some() && self.chance(1, 6) {
                    self.strewn += 1;
                    let name = format!("xUnknown{}", self.next() % 5);
                    let value = self.anything(depth + 1);
                    made.insert(name, value);
                }
            }
        }
        Value::Object(made)
    }

    fn word(&mut self) -> String {
        self.pick(WORDS).copied().unwrap_or_default().to_owned()
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.next() % if depth > DEEP { 4 } else { 6 } {
            0 => json!(self.word()),
            1 => json!(self.next() % 100_000),
            2 => json!(true),
            3 => json!(1.5),
            4 => json!([self.word(), {"y": self.next() % 9}]),
            _ => json!({"a": self.word(), "b": [1, 2]}),
        }
    }
}
