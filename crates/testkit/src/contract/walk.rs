//! Goes through a line and its schema side by side: which members are required where, and which alternatives were taken.

use super::Contract;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A place in a line, as a JSON pointer.
type Place = String;

/// What the schema demands of a line.
#[derive(Debug, Default)]
pub(super) struct Demands {
    /// Required members: the object that has it, its name, and where the schema of its value is.
    required: BTreeMap<(Place, String), Option<String>>,
    /// Objects whose members are named.
    named: BTreeSet<Place>,
}

/// Goes through a line that is of this kind.
pub(super) fn walk(contract: &mut Contract, kind: &str, line: &Value) -> Demands {
    let mut demands = Demands::default();
    contract.seen.insert(kind.to_owned());
    step(contract, &format!("/$defs/{kind}"), line, "", &mut demands);
    demands
}

fn step(contract: &mut Contract, schema: &str, value: &Value, place: &str, demands: &mut Demands) {
    let root = Arc::clone(&contract.root);
    let Some(Value::Object(rules)) = root.pointer(schema) else { return };
    if let Some(target) =
        rules.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
    {
        step(contract, target, value, place, demands);
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        for (at, branch) in rules.get(word).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let pointer = format!("{schema}/{word}/{at}");
            if contract.accepts(&pointer, value) {
                if let Some(name) = alternative(schema, branch) {
                    contract.seen.insert(name);
                }
                step(contract, &pointer, value, place, demands);
            }
        }
    }
    for word in rules.get("enum").and_then(Value::as_array).into_iter().flatten() {
        if word == value {
            contract.seen.extend(named(schema, word));
        }
    }
    if let (Some(Value::Object(members)), Some(object)) = (rules.get("properties"), value.as_object()) {
        demands.named.insert(place.to_owned());
        for name in members.keys() {
            if let Some(member) = object.get(name) {
                let pointer = format!("{schema}/properties/{}", escaped(name));
                step(contract, &pointer, member, &format!("{place}/{}", escaped(name)), demands);
            }
        }
        for name in
            rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            let pointer =
                members.contains_key(name).then(|| format!("{schema}/properties/{}", escaped(name)));
            let known = demands.required.entry((place.to_owned(), name.to_owned())).or_default();
            *known = known.take().or(pointer);
        }
    }
    if let (Some(_), Some(object)) = (rules.get("additionalProperties"), value.as_object()) {
        let members = rules.get("properties").and_then(Value::as_object);
        for (name, member) in object.iter().filter(|(name, _)| members.is_none_or(|m| !m.contains_key(*name)))
        {
            let pointer = format!("{schema}/additionalProperties");
            step(contract, &pointer, member, &format!("{place}/{}", escaped(name)), demands);
        }
    }
    let first = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        let pointer =
            if at < first { format!("{schema}/prefixItems/{at}") } else { format!("{schema}/items") };
        step(contract, &pointer, item, &format!("{place}/{at}"), demands);
    }
}

impl Demands {
    /// Leaves out what was demanded of an earlier line of this kind; elements of an array count as one.
    pub(super) fn only_new(&mut self, kind: &str, tried: &mut BTreeSet<String>) {
        let bare = |place: &str| -> String {
            let steps = place.split('/').map(|step| if step.parse::<usize>().is_ok() { "#" } else { step });
            steps.collect::<Vec<_>>().join("/")
        };
        self.required.retain(|(place, name), schema| {
            tried.insert(format!("{kind} {}/{name} {schema:?}", bare(place)))
        });
        self.named.retain(|place| tried.insert(format!("{kind} {}", bare(place))));
    }

    /// The line, broken in each way that the schema must notice.
    pub(super) fn breakages(&self, root: &Value, line: &Value) -> Vec<(String, Value)> {
        let mut broken = Vec::new();
        for ((place, name), schema) in &self.required {
            let Some(was) = line.pointer(place).and_then(|object| object.get(name)) else { continue };
            let change = |with: &dyn Fn(&mut serde_json::Map<String, Value>)| {
                let mut line = line.clone();
                if let Some(Value::Object(object)) = line.pointer_mut(place) {
                    with(object);
                }
                line
            };
            broken.push((
                format!("that {place}/{name} is missing"),
                change(&|object| drop(object.remove(name))),
            ));
            let renamed = change(&|object| {
                let was = object.remove(name).unwrap_or_default();
                object.insert(format!("{name}x"), was);
            });
            broken.push((format!("that {place}/{name} has another name"), renamed));
            let allowed = schema.as_ref().and_then(|schema| types(root, schema));
            for (kind, other) in others(was) {
                if allowed.as_ref().is_some_and(|allowed| !allowed.contains(kind)) {
                    let of_other_type = change(&|object| drop(object.insert(name.clone(), other.clone())));
                    broken.push((format!("that {place}/{name} is {other}"), of_other_type));
                }
            }
        }
        for place in &self.named {
            let mut line = line.clone();
            if let Some(Value::Object(object)) = line.pointer_mut(place) {
                object.insert("nobody_knows".to_owned(), Value::Bool(true));
                broken.push((format!("an unknown member in {place:?}"), line));
            }
        }
        broken
    }
}

/// A value of each JSON type but the one that it has.
fn others(value: &Value) -> Vec<(&'static str, Value)> {
    let all = [
        ("null", Value::Null),
        ("boolean", Value::Bool(true)),
        ("number", json!(7.5)),
        ("string", json!("odd")),
        ("array", json!(["odd"])),
        ("object", json!({ "odd": true })),
    ];
    all.into_iter()
        .filter(|(_, other)| std::mem::discriminant(other) != std::mem::discriminant(value))
        .collect()
}

/// The JSON types that a schema allows; `None` when it allows all of them.
fn types(root: &Value, schema: &str) -> Option<BTreeSet<String>> {
    let rules = root.pointer(schema)?.as_object()?;
    if let Some(word) = rules.get("const") {
        return Some([type_of(word).to_owned()].into());
    }
    if let Some(Value::Array(words)) = rules.get("enum") {
        return Some(words.iter().map(|word| type_of(word).to_owned()).collect());
    }
    match rules.get("type") {
        Some(Value::String(one)) => return Some([one.clone()].into()),
        Some(Value::Array(some)) => {
            return Some(some.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect());
        }
        _ => {}
    }
    if let Some(target) =
        rules.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
    {
        return types(root, target);
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(branches) = rules.get(word).and_then(Value::as_array) {
            let mut all = BTreeSet::new();
            for at in 0..branches.len() {
                all.extend(types(root, &format!("{schema}/{word}/{at}"))?);
            }
            return Some(all);
        }
    }
    None
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The name of a branch that a word tells from the others: the definition and the word.
fn alternative(schema: &str, branch: &Value) -> Option<String> {
    if let Some(word) = branch.get("const") {
        return named(schema, word);
    }
    let members = branch.get("properties")?.as_object()?;
    let constant = members.values().find_map(|member| member.get("const"));
    let only = || members.keys().next().filter(|_| members.len() == 1).map(|name| Value::from(name.as_str()));
    named(schema, &constant.cloned().or_else(only)?)
}

/// Only definitions have names; a word inside a line's own schema belongs to the line.
fn named(schema: &str, word: &Value) -> Option<String> {
    let name = schema.strip_prefix("/$defs/").filter(|name| !name.contains('/'))?;
    Some(format!("{name}: {}", word.as_str().map_or_else(|| word.to_string(), ToOwned::to_owned)))
}

/// The kinds themselves, and every alternative that can be reached from them.
pub(super) fn alternatives(root: &Value, kinds: &[String]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = kinds.iter().cloned().collect();
    let mut waiting: Vec<String> = kinds.iter().map(|kind| format!("/$defs/{kind}")).collect();
    let mut met = BTreeSet::new();
    while let Some(schema) = waiting.pop() {
        if !met.insert(schema.clone()) {
            continue;
        }
        let Some(Value::Object(rules)) = root.pointer(&schema) else { continue };
        for (key, rule) in rules {
            match (key.as_str(), rule) {
                ("$ref", Value::String(target)) => {
                    waiting.extend(target.strip_prefix('#').map(ToOwned::to_owned));
                }
                ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(branches)) => {
                    for (at, branch) in branches.iter().enumerate() {
                        found.extend(alternative(&schema, branch).filter(|_| key != "prefixItems"));
                        waiting.push(format!("{schema}/{key}/{at}"));
                    }
                }
                ("enum", Value::Array(words)) => {
                    found.extend(words.iter().filter_map(|word| named(&schema, word)));
                }
                ("properties", Value::Object(members)) => {
                    waiting
                        .extend(members.keys().map(|name| format!("{schema}/properties/{}", escaped(name))));
                }
                ("items" | "additionalProperties", _) => waiting.push(format!("{schema}/{key}")),
                _ => {}
            }
        }
    }
    found
}

/// As a step of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
