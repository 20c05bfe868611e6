//! Definitions for TypeScript, written from the schema of a wire: what a page needs to read its lines and to write its own.
//!
//! It knows the constructs that our schemas are made of ([`crate::schema`]), and says of any other that it does not. Definitions with a
//! capital are nouns and become types; the others are kinds of lines and stand in the unions `FromUi` and `FromRuntime`.
//! Nothing here names a wire.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Widest union that stands on one line.
const WIDE: usize = 100;

/// The definitions of a schema.
///
/// # Errors
/// When the text is no JSON Schema, or has something in it that this writer does not know; the words say what.
pub fn definitions(schema: &str) -> Result<String, String> {
    let document: Value = serde_json::from_str(schema).map_err(|why| format!("no JSON Schema: {why}"))?;
    let defs = document["$defs"].as_object().ok_or("a schema without definitions")?;
    let title = document["title"].as_str().unwrap_or_default();
    let mut text = format!(
        "// {title}. Written by `parlor schema --typescript`: change the types in Rust, not this file.\n\n\
         /** Any JSON value. */\nexport type Json = unknown;\n"
    );
    for (name, schema) in defs.iter().filter(|(name, _)| is_noun(name)) {
        // Writing to memory does not fail.
        let _ = write!(text, "\nexport type {name} ={};\n", spaced(&written(schema, 0)?));
    }
    for (name, key) in [("FromUi", "from_ui"), ("FromRuntime", "from_runtime")] {
        let _ = write!(text, "\nexport type {name} ={};\n", spaced(&written(&lines(defs, key)?, 0)?));
    }
    Ok(text)
}

/// What one side says: its kinds of lines, each in place.
fn lines(defs: &Map<String, Value>, key: &str) -> Result<Value, String> {
    let said = defs.get(key).and_then(|said| said["anyOf"].as_array()).ok_or("a schema without sides")?;
    let line = |one: &Value| referred(one).and_then(|name| defs.get(name)).cloned();
    let said: Option<Vec<Value>> = said.iter().map(line).collect();
    Ok(serde_json::json!({ "oneOf": said.ok_or("a kind of line that is not defined")? }))
}

/// After a mark: on the same line, unless it has lines of its own.
fn spaced(written: &str) -> String {
    if written.starts_with('\n') { written.to_owned() } else { format!(" {written}") }
}

fn is_noun(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// A schema as a type, its further lines indented by `depth`.
fn written(schema: &Value, depth: usize) -> Result<String, String> {
    let is_any = |rules: &Map<String, Value>| rules.keys().all(|key| key == "description");
    if *schema == Value::Bool(true) || schema.as_object().is_some_and(is_any) {
        return Ok("Json".to_owned());
    }
    if let Some(name) = referred(schema) {
        return Ok(name.to_owned());
    }
    if let Some(only) = schema.get("const") {
        return Ok(only.to_string());
    }
    if let Some(values) = schema["enum"].as_array() {
        return Ok(union(values.iter().map(Value::to_string).collect(), depth));
    }
    if let Some(branches) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        let mut all = Vec::new();
        for branch in branches {
            // Words among the variants stand beside them, not in a union of their own.
            match branch["enum"].as_array() {
                Some(words) => all.extend(words.iter().map(Value::to_string)),
                None => all.push(written(branch, depth + 1)?),
            }
        }
        return Ok(union(all, depth));
    }
    match &schema["type"] {
        Value::String(kind) => of_kind(kind, schema, depth),
        Value::Array(kinds) => {
            let kinds = kinds.iter().map(|kind| of_kind(kind.as_str().unwrap_or_default(), schema, depth));
            Ok(union(kinds.collect::<Result<_, _>>()?, depth))
        }
        _ => Err(format!("this cannot be written in TypeScript: {schema}")),
    }
}

fn of_kind(kind: &str, schema: &Value, depth: usize) -> Result<String, String> {
    match kind {
        "string" | "boolean" | "null" => Ok(kind.to_owned()),
        "integer" | "number" => Ok("number".to_owned()),
        "array" => list(schema, depth),
        "object" => object(schema, depth),
        other => Err(format!("an unknown kind of value: {other:?} in {schema}")),
    }
}

fn list(schema: &Value, depth: usize) -> Result<String, String> {
    if let Some(items) = schema["prefixItems"].as_array() {
        let items = items.iter().map(|item| written(item, depth));
        return Ok(format!("[{}]", items.collect::<Result<Vec<_>, _>>()?.join(", ")));
    }
    let item = written(schema.get("items").unwrap_or(&Value::Bool(true)), depth)?;
    Ok(if item.contains([' ', '\n']) { format!("Array<{item}>") } else { format!("{item}[]") })
}

fn object(schema: &Value, depth: usize) -> Result<String, String> {
    let Some(members) = schema["properties"].as_object() else {
        let value = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
        return Ok(format!("Record<string, {}>", written(value, depth)?));
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut written_members = Vec::new();
    for (name, member) in members {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        written_members.push(format!("{name}{mark}:{}", spaced(&written(member, depth + 1)?)));
    }
    let short = format!("{{ {} }}", written_members.join("; "));
    if short.len() <= WIDE && !short.contains('\n') {
        return Ok(short);
    }
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    let members: String = written_members.into_iter().map(|member| format!("{inner}{member};\n")).collect();
    Ok(format!("{{\n{members}{outer}}}"))
}

fn union(branches: Vec<String>, depth: usize) -> String {
    let short = branches.join(" | ");
    if branches.len() == 1 || (short.len() <= WIDE && !short.contains('\n')) {
        return short;
    }
    let indent = "  ".repeat(depth + 1);
    branches.into_iter().map(|branch| format!("\n{indent}| {branch}")).collect()
}

#[cfg(test)]
mod tests {
    use super::definitions;
    use expect_test::{expect, expect_file};

    /// What the page is typed by is what the wire's types say now.
    #[test]
    fn the_page_is_typed_by_the_wire_of_our_own_uis() {
        let text = definitions(include_str!("schema.json")).expect("definitions");
        expect_file!["../../../page/src/model/types.ts"].assert_eq(&text);
    }

    #[test]
    fn every_construct_of_our_schemas_is_written() {
        let schema = r##"{ "title": "A wire", "$defs": {
            "Way": { "oneOf": [
                { "enum": ["left", "right"], "type": "string" },
                { "type": "object", "properties": { "up": { "$ref": "#/$defs/Step" } }, "required": ["up"] } ] },
            "Step": { "type": "object", "required": ["far", "pair", "each"], "properties": {
                "far": { "type": ["integer", "null"] }, "why": { "type": "string" }, "json": true,
                "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "const": "x" }] },
                "each": { "type": "array", "items": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] } },
                "by": { "type": "object", "additionalProperties": { "type": "number" } } } },
            "go": { "type": "object", "properties": { "go": { "$ref": "#/$defs/Way" } }, "required": ["go"] },
            "from_ui": { "anyOf": [{ "$ref": "#/$defs/go" }] },
            "from_runtime": { "anyOf": [{ "$ref": "#/$defs/go" }] } } }"##;
        expect![[r#"
            // A wire. Written by `parlor schema --typescript`: change the types in Rust, not this file.

            /** Any JSON value. */
            export type Json = unknown;

            export type Step = {
              by?: Record<string, number>;
              each: Array<boolean | null>;
              far: number | null;
              json?: Json;
              pair: [string, "x"];
              why?: string;
            };

            export type Way = "left" | "right" | { up: Step };

            export type FromUi = { go: Way };

            export type FromRuntime = { go: Way };
        "#]]
        .assert_eq(&definitions(schema).expect("definitions"));
    }

    #[test]
    fn what_is_not_known_is_said() {
        for (schema, word) in [
            ("rows", "no JSON Schema"),
            ("{}", "without definitions"),
            (r#"{"$defs":{"A":{"type":"duck"}}}"#, "duck"),
            (r#"{"$defs":{"A":{"not":{}}}}"#, "cannot be written"),
            (r#"{"$defs":{}}"#, "without sides"),
        ] {
            let why = definitions(schema).expect_err(schema);
            assert!(why.contains(word), "{why}");
        }
    }
}
