//! The schema against what is really said: the examples of the document, and every line of the transcripts.

use super::super::schema::schema;
use serde_json::Value;
use std::sync::LazyLock;

/// A small check: types, required members, constants, and no unknown member where none may be.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let Value::Object(rules) = schema else { return schema == &Value::Bool(true) };
    if rules.get("const").is_some_and(|wanted| wanted != value) {
        return false;
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    let typed = match rules.get("type") {
        None => true,
        Some(Value::String(kind)) => is(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(is),
        Some(_) => false,
    };
    let Some(object) = value.as_object() else { return typed };
    let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
    let has_all = required.filter_map(Value::as_str).all(|name| object.contains_key(name));
    let properties = rules.get("properties").and_then(Value::as_object);
    let closed = rules.get("additionalProperties") == Some(&Value::Bool(false));
    let members = object.iter().all(|(name, member)| match properties.and_then(|p| p.get(name)) {
        Some(rule) => fits(rule, member),
        None => !closed,
    });
    typed && has_all && members
}

/// Whether the line is a message of this wire.
pub(super) fn known(line: &Value) -> bool {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let defs = SCHEMA["$defs"].as_object().unwrap();
    match line["method"].as_str() {
        Some(method) => defs.get(method).is_some_and(|def| fits(def, line)),
        None => {
            defs.iter().any(|(name, def)| (name.ends_with(".result") || name == "error") && fits(def, line))
        }
    }
}

#[test]
fn every_method_has_a_schema_and_wrong_lines_do_not_fit() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["oneOf"].as_array().unwrap().len(), schema["$defs"].as_object().unwrap().len());
    for good in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"status":"approved","execution_id":"exec-456def"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
    ] {
        assert!(known(&serde_json::from_str(good).unwrap()), "{good}");
    }
    for bad in [
        r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"stream.complete","params":{"query_id":"q"}}"#,
        r#"{"jsonrpc":"2.0","method":"stream.token","params":{"query_id":"q"},"extra":1}"#,
        r#"{"jsonrpc":"2.0","method":"nope","params":{}}"#,
    ] {
        assert!(!known(&serde_json::from_str(bad).unwrap()), "{bad}");
    }
}

#[test]
fn the_lines_of_the_transcripts_fit() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts/openagent");
    let mut checked = 0;
    for folder in ["runtime", "ui"] {
        for file in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            // Words that nobody knows are this one's subject.
            if path.ends_with("drift.txt") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // What a UI says to us may be wrong on purpose. Lines with patterns in them are no JSON.
            let said = text.lines().filter(|line| folder == "ui" || line.starts_with('<'));
            let lines = said.filter_map(|line| line.strip_prefix("< ").or_else(|| line.strip_prefix("> ")));
            for line in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                assert!(known(&line), "{}: {line}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}
