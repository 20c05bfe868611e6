//! What a schema requires, as a list for people: one line for each object, with the members that it must have.
//!
//! The list is kept by hand beside the schema, read against the wire's own document. The schema is derived from our types; without the
//! list, a member that becomes optional there would become optional everywhere at once.

use serde_json::Value;
use std::collections::BTreeMap;

/// Every object of the schema and its required members, `NAME: a, b`.
pub fn requirements(schema: &Value) -> String {
    let mut found = BTreeMap::new();
    for (name, def) in schema["$defs"].as_object().into_iter().flatten() {
        collect(name, def, &mut found);
    }
    let line = |(name, members): (String, Vec<String>)| {
        format!("{name}: {}\n", members.join(", ")).replace(": \n", ":\n")
    };
    found.into_iter().map(line).collect()
}

fn collect(name: &str, schema: &Value, found: &mut BTreeMap<String, Vec<String>>) {
    let Some(rules) = schema.as_object() else { return };
    if let Some(members) = rules.get("properties").and_then(Value::as_object) {
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut required: Vec<String> = required.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        for (member, schema) in members {
            let constant =
                schema.get("const").map(|word| format!("{member}={}", word.as_str().unwrap_or("?")));
            if let (Some(constant), Some(plain)) =
                (constant, required.iter_mut().find(|name| *name == member))
            {
                *plain = constant;
            }
            collect(&format!("{name}/{member}"), schema, found);
        }
        required.sort_unstable();
        found.entry(name.to_owned()).or_default().extend(required);
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        for branch in rules.get(key).and_then(Value::as_array).into_iter().flatten() {
            let word =
                branch["properties"].as_object().into_iter().flatten().find_map(|(_, m)| m["const"].as_str());
            let name = word.map_or_else(|| name.to_owned(), |word| format!("{name}: {word}"));
            collect(&name, branch, found);
        }
    }
    for key in ["items", "additionalProperties"] {
        collect(&format!("{name}[]"), rules.get(key).unwrap_or(&Value::Null), found);
    }
}
