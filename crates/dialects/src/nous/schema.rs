//! The requirement tables as one JSON document: for contract tests that look keys up (`commands`, `events`, `error_codes`)
//! and for validators (`oneOf` with `$defs`, draft 2020-12).

use super::VERSION;
use super::tables::{AnswerRow, COMMANDS, CommandRow, ERROR_CODES, EVENTS, EventRow, Key};
use serde_json::{Map, Value, json};

/// The contract of this wire.
pub fn schema() -> Value {
    let mut defs = Map::new();
    let mut lines = Vec::new();
    let mut define = |name: String, schema: Value| {
        lines.push(json!({ "$ref": format!("#/$defs/{name}") }));
        defs.insert(name, schema);
    };
    for row in COMMANDS {
        define(format!("command.{}", row.name), command_line(row));
        for answer in row.answers {
            define(format!("response.{}.{}", row.name, answer.kind), response_line(answer));
        }
    }
    define("response.error".to_owned(), error_line());
    for row in EVENTS {
        define(format!("event.{}", row.name), event_line(row));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nous NDJSON protocol v1",
        "protocol": { "v": VERSION, "transport": "UDS + NDJSON", "event_socket": "<socket>.events" },
        "envelopes": {
            "command": { "required": ["id", "type"], "optional": ["v", "payload", "ts", "meta"] },
            "response": { "required": ["v", "id", "type", "payload", "ok"], "optional": ["error"] },
            "event": { "required": ["v", "id", "type", "payload", "ts"], "optional": [] },
            "error": { "required": ["code", "message"], "optional": ["cause"] },
        },
        "commands": COMMANDS.iter().map(|row| (row.name.to_owned(), command_table(row))).collect::<Map<_, _>>(),
        "events": EVENTS.iter().map(|row| (row.name.to_owned(), event_table(row))).collect::<Map<_, _>>(),
        "error_codes": ERROR_CODES,
        "oneOf": lines,
        "$defs": defs,
    })
}

fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|(name, _)| *name).collect()
}

fn command_table(row: &CommandRow) -> Value {
    let responses = row.answers.iter().map(|answer| {
        let keys = json!({ "required": names(answer.required), "optional": names(answer.optional) });
        (answer.kind.to_owned(), keys)
    });
    json!({
        "frozen": row.frozen,
        "payload": { "required": names(row.required), "optional": names(row.optional) },
        "responses": responses.collect::<Map<_, _>>(),
    })
}

fn event_table(row: &EventRow) -> Value {
    json!({ "payload": { "required": names(row.required), "optional": names(row.optional) } })
}

fn payload(required: &[Key], optional: &[Key]) -> Value {
    let properties = required.iter().chain(optional);
    let properties: Map<_, _> =
        properties.map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    json!({ "type": "object", "required": names(required), "properties": properties })
}

fn command_line(row: &CommandRow) -> Value {
    let mut required = vec!["id", "type"];
    if !row.required.is_empty() {
        required.push("payload");
    }
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string", "minLength": 1 },
            "type": { "const": row.name },
            "payload": payload(row.required, row.optional),
        },
    })
}

fn response_line(row: &AnswerRow) -> Value {
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload", "ok"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string" },
            "type": { "const": row.kind },
            "payload": payload(row.required, row.optional),
            "ok": { "const": true },
        },
    })
}

fn error_line() -> Value {
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload", "ok", "error"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string" },
            "type": { "const": "error" },
            "payload": { "type": "object" },
            "ok": { "const": false },
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": { "enum": ERROR_CODES },
                    "message": { "type": "string" },
                    "cause": { "type": "string" },
                },
            },
        },
    })
}

fn event_line(row: &EventRow) -> Value {
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload", "ts"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string", "pattern": "^evt-[0-9]+$" },
            "type": { "const": row.name },
            "payload": payload(row.required, row.optional),
            "ts": { "type": "string" },
        },
    })
}
