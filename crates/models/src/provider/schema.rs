//! Answers of a form: who holds its model to a JSON Schema by itself, and which schemas it takes. Pure.
//!
//! A wish, not a promise: whoever asks tells the model the form in words too and judges the answer. So it is sent only where it is documented
//! to work beside tools, and left out otherwise.

use serde_json::Value;

/// Words of a schema that every provider that holds to one knows.
const WORDS: [&str; 13] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "title",
    "description",
    "$schema",
];

/// A schema whose answer is an object; others are taken by nobody.
pub(super) fn of_object(schema: Option<&Value>) -> Option<&Value> {
    schema.filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"))
}

/// Whether a schema keeps to what is held without exception: plain words, and objects that are closed. `complete`: all that an object may have,
/// it must have.
pub(super) fn is_strict(schema: &Value, complete: bool) -> bool {
    let Some(fields) = schema.as_object() else { return false };
    let all = |value: Option<&Value>| {
        let inside: Vec<&Value> = match value {
            Some(Value::Array(list)) => list.iter().collect(),
            Some(Value::Object(map)) => map.values().collect(),
            Some(_) | None => Vec::new(),
        };
        inside.into_iter().all(|schema| is_strict(schema, complete))
    };
    let is_closed = || {
        let names: Vec<&String> =
            schema["properties"].as_object().into_iter().flat_map(|map| map.keys()).collect();
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let is_required = |name: &&String| required.iter().any(|required| required == name.as_str());
        schema["additionalProperties"] == false && (!complete || names.iter().all(is_required))
    };
    let is_object =
        fields.contains_key("properties") || fields.get("type").is_some_and(|kind| kind == "object");
    fields.keys().all(|word| WORDS.contains(&word.as_str()))
        && (!is_object || is_closed())
        && all(fields.get("properties"))
        && all(fields.get("$defs"))
        && all(fields.get("anyOf"))
        && fields.get("items").is_none_or(|items| is_strict(items, complete))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_closed_objects_of_plain_words_are_strict() {
        let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
        let n = json!({ "n": { "type": "integer" } });
        for (schema, loose, complete) in [
            (object(n.clone(), json!(["n"])), true, true),
            (object(n.clone(), json!([])), true, false),
            (
                object(
                    json!({ "a": { "type": "array", "items": object(n.clone(), json!(["n"])) } }),
                    json!(["a"]),
                ),
                true,
                true,
            ),
            (json!({ "type": "object", "properties": n }), false, false),
            (object(json!({ "n": { "type": "integer", "minimum": 1 } }), json!(["n"])), false, false),
            (object(json!({ "o": { "type": "object" } }), json!(["o"])), false, false),
            (object(json!({ "o": { "anyOf": [{ "type": "object" }] } }), json!(["o"])), false, false),
            (json!(true), false, false),
        ] {
            assert_eq!((is_strict(&schema, false), is_strict(&schema, true)), (loose, complete), "{schema}");
        }
        assert!(
            of_object(Some(&json!({ "type": "array" }))).is_none() && of_object(Some(&json!({}))).is_none()
        );
    }
}
