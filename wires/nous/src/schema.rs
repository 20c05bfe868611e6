//! The schema of nous's wire, made of the requirement tables: for contract tests that look keys up (`commands`, `events`,
//! `error_codes`) and for validators.

use super::VERSION;
use super::tables::{AnswerRow, COMMANDS, CommandRow, ERROR_CODES, EVENTS, EventRow, Key, Kind};
use super::wire::{FlatEvent, MessageEntry, Node, PendingCounts};
use rolekit::schema::{Document, Side};
use serde_json::{Map, Value, json};

/// Every command, answer and event.
pub fn document() -> String {
    let about = "One message per line; commands and answers on one socket, events on the other.";
    let mut document = Document::new("nous NDJSON protocol v1", about);
    let commands = COMMANDS.iter().map(|row| (row.name.to_owned(), command_table(row)));
    document.member("commands", Value::Object(commands.collect()));
    let events = EVENTS.iter().map(|row| (row.name.to_owned(), event_table(row)));
    document.member("events", Value::Object(events.collect()));
    document.member("error_codes", json!(ERROR_CODES));
    for row in COMMANDS {
        let line = command_line(&mut document, row);
        document.line(Side::Ui, &format!("command.{}", row.name), line);
        for answer in row.answers {
            let line = answer_line(&mut document, row, answer);
            document.answer(Side::Runtime, &format!("response.{}.{}", row.name, answer.kind), line);
        }
    }
    document.line(Side::Runtime, "response.error", error_line());
    for row in EVENTS {
        let line = event_line(&mut document, row);
        document.line(Side::Runtime, &format!("event.{}", row.name), line);
    }
    document.finish()
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

fn value(document: &mut Document, kind: Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::AnyObject => json!({ "type": "object" }),
        Kind::Names => document.schema_of::<Vec<String>>(),
        Kind::Counts => document.schema_of::<PendingCounts>(),
        Kind::Events => document.schema_of::<Vec<FlatEvent>>(),
        Kind::Messages => document.schema_of::<Vec<MessageEntry>>(),
        Kind::Nodes => document.schema_of::<Vec<Node>>(),
    }
}

fn payload(document: &mut Document, required: &[Key], optional: &[Key]) -> Value {
    let properties = required.iter().chain(optional);
    let properties: Map<_, _> =
        properties.map(|(name, kind)| ((*name).to_owned(), value(document, *kind))).collect();
    json!({ "type": "object", "required": names(required), "properties": properties })
}

fn command_line(document: &mut Document, row: &CommandRow) -> Value {
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string", "minLength": 1 },
            "type": { "const": row.name },
            "payload": payload(document, row.required, row.optional),
        },
    })
}

fn answer_line(document: &mut Document, row: &CommandRow, answer: &AnswerRow) -> Value {
    let payload = match row.name {
        // What an extension answers is its own affair.
        "extension_command" => json!({ "type": "object" }),
        name => {
            let mut payload = payload(document, answer.required, answer.optional);
            if payload["properties"].get("command").is_some() {
                payload["properties"]["command"] = json!({ "const": name });
            }
            payload
        }
    };
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload", "ok"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string" },
            "type": { "const": answer.kind },
            "payload": payload,
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
            "payload": { "type": "object", "properties": {} },
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

fn event_line(document: &mut Document, row: &EventRow) -> Value {
    json!({
        "type": "object",
        "required": ["v", "id", "type", "payload", "ts"],
        "properties": {
            "v": { "const": VERSION },
            "id": { "type": "string", "pattern": "^evt-[0-9]+$" },
            "type": { "const": row.name },
            "payload": payload(document, row.required, row.optional),
            "ts": { "type": "string" },
        },
    })
}
