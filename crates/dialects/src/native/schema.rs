//! Every line of the native wire as a JSON Schema (draft 2020-12). The values inside (commands, bodies, receipts, signals) are those of
//! `crates/record`; the schema names them by their single key and leaves their insides open.

use serde_json::{Value, json};

/// The document.
pub fn schema() -> Value {
    let session = json!({ "type": "string", "minLength": 8 });
    let one_key = json!({ "oneOf": [{ "type": "string" }, { "type": "object", "minProperties": 1, "maxProperties": 1 }] });
    let cursor = object(
        &["session", "seq", "hash"],
        json!({
            "session": session, "seq": { "type": "integer", "minimum": 0 }, "hash": { "type": "string", "pattern": "^[0-9a-f]{16}$" }
        }),
    );
    let replay = json!({ "type": "array", "items": { "type": "array", "prefixItems": [{ "type": "integer" }, { "$ref": "#/$defs/oneKey" }] } });
    let lines = json!({
        "hello": line("hello", &["protocol"], json!({
            "protocol": { "type": "integer", "minimum": 1 }, "revision": { "type": "integer" }, "name": { "type": "string" },
            "version": { "type": "string" }, "capabilities": { "type": "array", "items": { "type": "string" } },
            "session": session, "cursor": { "$ref": "#/$defs/cursor" }
        })),
        "command": line("command", &["ticket", "what"], json!({
            "ticket": { "type": "integer" }, "target": { "$ref": "#/$defs/oneKey" }, "what": { "$ref": "#/$defs/oneKey" }
        })),
        "settled": line("settled", &["ticket", "with"], json!({
            "ticket": { "type": "integer" }, "with": { "$ref": "#/$defs/oneKey" }
        })),
        "attached": line("attached", &["at"], json!({
            "at": { "$ref": "#/$defs/cursor" }, "current": { "type": "boolean" }, "replay": replay,
            "board": { "type": "object" }, "abilities": { "type": "object" }
        })),
        "replay": line("replay", &["session", "items"], json!({ "session": session, "items": replay })),
        "event": line("event", &["session", "event"], json!({
            "session": session,
            "event": object(&["seq", "at", "body"], json!({
                "seq": { "type": "integer", "minimum": 1 }, "at": { "type": "integer" }, "body": { "$ref": "#/$defs/oneKey" }
            }))
        })),
        "signal": line("signal", &["session", "signal"], json!({ "session": session, "signal": { "$ref": "#/$defs/oneKey" } })),
        "detached": line("detached", &["session"], json!({ "session": session })),
        "hash": line("hash", &["session", "seq", "hash"], json!({})),
        "error": line("error", &["about", "message"], json!({
            "about": { "enum": ["line", "session", "hello"] }, "message": { "type": "string" }, "hint": { "type": "string" },
            "ticket": { "type": "integer" }
        })),
        "oneKey": one_key,
        "cursor": cursor,
    });
    let names =
        ["hello", "command", "settled", "attached", "replay", "event", "signal", "detached", "hash", "error"];
    let one_of = names.map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Parlor's native protocol, version 1",
        "description": "One JSON object per line with exactly one key, which says what the line is.",
        "oneOf": one_of,
        "$defs": lines,
    })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn line(key: &str, required: &[&str], properties: Value) -> Value {
    object(&[key], json!({ key: object(required, properties) }))
}
