//! Closes every object of a schema: a member that is not named is refused.
//!
//! The rule is set where a value stands (a member, an element, a whole line), not on definitions: a definition may be one of several
//! parts of the same object, and each part alone does not know the members of the others.

use serde_json::{Map, Value};

/// Closes all objects inside the definitions, and the definitions of `lines` themselves.
pub(super) fn close(defs: &mut Map<String, Value>, lines: &[String]) {
    let before = defs.clone();
    for (name, schema) in defs.iter_mut() {
        if lines.contains(name) {
            value(&before, schema);
        } else {
            parts(&before, schema);
        }
    }
}

/// A schema that a whole value must keep to.
fn value(defs: &Map<String, Value>, schema: &mut Value) {
    parts(defs, schema);
    if names_members(defs, schema)
        && let Some(rules) = schema.as_object_mut()
    {
        rules.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
}

/// What stands inside a schema: schemas for members and elements, and further schemas for the same value.
fn parts(defs: &Map<String, Value>, schema: &mut Value) {
    let Some(rules) = schema.as_object_mut() else { return };
    for (key, rule) in rules.iter_mut() {
        match (key.as_str(), rule) {
            ("properties", Value::Object(members)) => {
                members.values_mut().for_each(|member| value(defs, member));
            }
            ("prefixItems", Value::Array(items)) => items.iter_mut().for_each(|item| value(defs, item)),
            ("items" | "additionalProperties", rule) => value(defs, rule),
            ("oneOf" | "anyOf" | "allOf", Value::Array(same)) => {
                same.iter_mut().for_each(|same| parts(defs, same));
            }
            _ => {}
        }
    }
}

/// Whether a schema names members, itself or by its parts. One that does not leaves objects open on purpose.
fn names_members(defs: &Map<String, Value>, schema: &Value) -> bool {
    let Some(rules) = schema.as_object() else { return false };
    rules.iter().any(|(key, rule)| match key.as_str() {
        "properties" => true,
        "$ref" => {
            let name = rule.as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
            name.and_then(|name| defs.get(name)).is_some_and(|target| names_members(defs, target))
        }
        "oneOf" | "anyOf" | "allOf" => {
            rule.as_array().into_iter().flatten().any(|same| names_members(defs, same))
        }
        _ => false,
    })
}
