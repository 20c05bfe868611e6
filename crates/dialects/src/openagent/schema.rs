//! A JSON Schema (draft 2020-12) of every message of this wire, as we write it and as the existing programs do: what a message must
//! hold, and what its known members are. Extra members inside `params` and `result` are allowed everywhere.

use super::wire::{PROTOCOL_VERSION, method};
use serde_json::{Map, Value, json};

/// Types of params members, in short: `?` marks what may be missing.
const PARAMS: &[(&str, &[(&str, &str)])] = &[
    (
        method::INITIALIZE,
        &[
            ("protocol_version?", "string"),
            ("client_info?", "object"),
            ("terminal_size?", "object"),
            ("capabilities?", "array"),
            ("config?", "object"),
        ],
    ),
    (method::QUERY, &[("message", "string"), ("context?", "object"), ("options?", "object")]),
    (method::CANCEL, &[("query_id", "string")]),
    (
        method::APPROVE,
        &[("execution_id", "string"), ("approved", "boolean"), ("options?", "object"), ("reason?", "string")],
    ),
    (
        method::CONTEXT,
        &[
            ("cwd?", "string"),
            ("shell?", "string"),
            ("env?", "object"),
            ("recent_commands?", "array"),
            ("recent_output?", "string"),
            ("open_files?", "array"),
            ("terminal_size?", "object"),
        ],
    ),
    (method::SAVE, &[("path?", "string"), ("include_history?", "boolean"), ("include_blocks?", "boolean")]),
    (method::LOAD, &[("path?", "string"), ("session_id?", "string")]),
    (method::LIST, &[("limit?", "integer")]),
    (method::EXPORT, &[("format?", "string"), ("session_id?", "string")]),
    (method::DELETE, &[("session_id", "string")]),
    (
        method::TOKEN,
        &[
            ("query_id", "string"),
            ("token?", "string"),
            ("content?", "string"),
            ("index?", "integer"),
            ("type?", "string"),
            ("metadata?", "object"),
        ],
    ),
    (method::TOKENS, &[("query_id", "string"), ("tokens", "array")]),
    (
        method::BLOCK,
        &[
            ("query_id", "string"),
            ("block_id?", "string"),
            ("block?", "object"),
            ("type?", "string"),
            ("content?", "string"),
            ("language?", "string"),
        ],
    ),
    (
        method::COMPLETE,
        &[("query_id", "string"), ("status", "string"), ("metadata?", "object"), ("error?", "string")],
    ),
    (method::ERROR, &[("query_id", "string"), ("error", "object")]),
    (
        method::REQUEST_APPROVAL,
        &[
            ("execution_id", "string"),
            ("query_id?", "string"),
            ("tool?", "object"),
            ("arguments?", "object"),
            ("preview?", "object|string"),
            ("risk_assessment?", "object"),
            ("timeout?", "integer"),
            ("tool_name?", "string"),
            ("description?", "string"),
            ("risk_level?", "string"),
            ("rule?", "string"),
            ("takes_reason?", "boolean"),
        ],
    ),
    (
        method::PROGRESS,
        &[
            ("execution_id", "string"),
            ("progress", "object"),
            ("query_id?", "string"),
            ("tool?", "object"),
            ("arguments?", "object"),
        ],
    ),
    (
        method::TOOL_COMPLETE,
        &[
            ("execution_id", "string"),
            ("status", "string"),
            ("result", "object"),
            ("query_id?", "string"),
            ("tool_name?", "string"),
        ],
    ),
    (method::TOOL_RESULT, &[("execution_id", "string"), ("status", "string"), ("result", "any")]),
    (
        method::THINKING,
        &[("query_id", "string"), ("phase", "string"), ("message", "string"), ("thought?", "string")],
    ),
    (
        method::SUGGESTION,
        &[("suggestion", "string"), ("confidence", "number"), ("source", "string"), ("context", "string")],
    ),
];

/// The same for results, by the method they answer.
const RESULTS: &[(&str, &[(&str, &str)])] = &[
    (
        method::INITIALIZE,
        &[
            ("status", "string"),
            ("server_info", "object"),
            ("capabilities", "array"),
            ("models?", "array"),
            ("protocol_version?", "string"),
        ],
    ),
    (method::QUERY, &[("query_id", "string|null"), ("status", "string"), ("error?", "string")]),
    (method::CANCEL, &[("cancelled?", "boolean"), ("query_id?", "string"), ("status?", "string")]),
    (
        method::APPROVE,
        &[
            ("status", "string"),
            ("execution_id?", "string"),
            ("result?", "any"),
            ("message?", "string"),
            ("error?", "string"),
        ],
    ),
    (method::CONTEXT, &[("status", "string")]),
    (method::SAVE, &[("saved", "boolean"), ("path", "string"), ("size", "integer")]),
    (
        method::LOAD,
        &[
            ("loaded?", "boolean"),
            ("session?", "object"),
            ("status?", "string"),
            ("session_id?", "string"),
            ("message_count?", "integer"),
            ("messages?", "array"),
            ("error?", "string"),
        ],
    ),
    (method::LIST, &[("status", "string"), ("sessions?", "array"), ("error?", "string")]),
    (
        method::EXPORT,
        &[("status", "string"), ("format?", "string"), ("content?", "string"), ("error?", "string")],
    ),
    (method::DELETE, &[("status", "string"), ("deleted?", "string"), ("error?", "string")]),
];

/// Methods that want an answer.
const REQUESTS: &[&str] = &[
    method::INITIALIZE,
    method::QUERY,
    method::CANCEL,
    method::APPROVE,
    method::SAVE,
    method::LOAD,
    method::LIST,
    method::EXPORT,
    method::DELETE,
];

/// The schema document: `$defs` holds one schema for each request, notification and result, and one for errors.
pub fn schema() -> Value {
    let mut defs = Map::new();
    let mut messages = Vec::new();
    for (method, members) in PARAMS {
        let params = object(members);
        let mut message = json!({
            "type": "object",
            "properties": {
                "jsonrpc": { "const": "2.0" },
                "method": { "const": method },
                "params": params,
            },
            "required": ["jsonrpc", "method", "params"],
            "additionalProperties": false,
        });
        if REQUESTS.contains(method) {
            message["properties"]["id"] = json!({ "type": ["integer", "string"] });
            message["required"] = json!(["jsonrpc", "id", "method"]);
        }
        let name = (*method).to_owned();
        messages.push(json!({ "$ref": format!("#/$defs/{name}") }));
        defs.insert(name, message);
    }
    for (method, members) in RESULTS {
        let name = format!("{method}.result");
        let message = json!({
            "type": "object",
            "properties": {
                "jsonrpc": { "const": "2.0" },
                "id": { "type": ["integer", "string"] },
                "result": object(members),
            },
            "required": ["jsonrpc", "id", "result"],
            "additionalProperties": false,
        });
        messages.push(json!({ "$ref": format!("#/$defs/{name}") }));
        defs.insert(name, message);
    }
    let error = json!({
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": { "type": ["integer", "string", "null"] },
            "error": {
                "type": "object",
                "properties": { "code": { "type": "integer" }, "message": { "type": "string" }, "data": true },
                "required": ["code", "message"],
            },
        },
        "required": ["jsonrpc", "id", "error"],
        "additionalProperties": false,
    });
    messages.push(json!({ "$ref": "#/$defs/error" }));
    defs.insert("error".to_owned(), error);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("OpenAgent-Terminal protocol {PROTOCOL_VERSION}: one message per line"),
        "oneOf": messages,
        "$defs": defs,
    })
}

fn object(members: &[(&str, &str)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind) in members {
        let bare = name.trim_end_matches('?');
        if bare.len() == name.len() {
            required.push(bare);
        }
        let kinds: Vec<&str> = kind.split('|').collect();
        properties.insert(
            bare.to_owned(),
            match kinds.as_slice() {
                ["any"] => json!(true),
                [one] => json!({ "type": one }),
                many => json!({ "type": many }),
            },
        );
    }
    json!({ "type": "object", "properties": properties, "required": required })
}
