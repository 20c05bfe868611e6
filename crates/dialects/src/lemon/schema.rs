//! A JSON Schema (draft 2020-12) of every line of this wire, for programs that want to check theirs.
//!
//! It says what the document and the later programs have in common: required keys are required by all, the rest is optional. Unknown
//! keys are allowed everywhere.

use serde_json::{Map, Value, json};

/// The whole document; `#/$defs/from_ui` and `#/$defs/from_runtime` are the two directions.
pub fn schema() -> Value {
    let mut defs = Map::new();
    for (name, schema) in shapes() {
        defs.insert(name.to_owned(), schema);
    }
    for (name, lines) in [("from_ui", from_ui()), ("from_runtime", from_runtime()), ("event", events())] {
        defs.insert(name.to_owned(), json!({ "oneOf": lines }));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lemon",
        "oneOf": [of("from_ui"), of("from_runtime")],
        "$defs": defs,
    })
}

/// An object with a `type`, keys that it must have and keys that it may have.
fn line(kind: &str, must: &[(&str, Value)], may: &[(&str, Value)]) -> Value {
    let mut properties = Map::from_iter([("type".to_owned(), json!({ "const": kind }))]);
    properties.extend(must.iter().chain(may).map(|(key, schema)| ((*key).to_owned(), schema.clone())));
    let required: Vec<&str> = ["type"].into_iter().chain(must.iter().map(|(key, _)| *key)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn object(must: &[(&str, Value)], may: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        must.iter().chain(may).map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = must.iter().map(|(key, _)| *key).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// An event: its tag and what stands in its tuple.
fn event(kind: &str, items: &[Value]) -> Value {
    let mut data = json!({ "type": "array", "minItems": items.len() });
    if !items.is_empty() {
        data["prefixItems"] = items.into();
    }
    let data = [("data", data)];
    // Existing servers leave an empty tuple out.
    if items.is_empty() { line(kind, &[], &data) } else { line(kind, &data, &[]) }
}

fn of(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn map() -> Value {
    json!({ "type": "object" })
}

fn any() -> Value {
    json!(true)
}

fn or_null(schema: Value) -> Value {
    json!({ "oneOf": [schema, { "type": "null" }] })
}

fn list(schema: Value) -> Value {
    json!({ "type": "array", "items": schema })
}

fn from_ui() -> Vec<Value> {
    let session = [("session_id", text())];
    let mut lines = vec![
        line("prompt", &[("text", text())], &session),
        line("ui_response", &[("id", text())], &[("result", any()), ("error", or_null(text()))]),
        line(
            "start_session",
            &[],
            &[
                ("cwd", text()),
                ("model", text()),
                ("system_prompt", text()),
                ("session_file", text()),
                ("parent_session", text()),
            ],
        ),
        line("set_config", &[("key", text()), ("value", flag())], &[]),
    ];
    lines.extend(["close_session", "set_active_session"].map(|kind| line(kind, &session, &[])));
    lines.extend(["abort", "reset", "save", "stats"].map(|kind| line(kind, &[], &session)));
    let bare =
        ["ping", "debug", "quit", "list_sessions", "list_running_sessions", "list_models", "get_config"];
    lines.extend(bare.map(|kind| line(kind, &[], &[])));
    lines
}

fn from_runtime() -> Vec<Value> {
    let session = ("session_id", text());
    let named = or_null(text());
    let params = |must: &[(&str, Value)], may: &[(&str, Value)]| [("params", object(must, may))];
    let request = [("id", text()), ("method", json!({ "enum": ["select", "confirm", "input", "editor"] }))];
    let question = object(
        &[("title", text()), ("opts", map())],
        &[
            ("message", text()),
            ("options", list(of("option"))),
            ("placeholder", or_null(text())),
            ("prefill", or_null(text())),
        ],
    );
    let levels = json!({ "enum": ["info", "warn", "warning", "error", "success"] });
    let content = json!({ "oneOf": [text(), list(text()), { "type": "null" }] });
    vec![
        line(
            "ready",
            &[("cwd", text()), ("model", of("model")), ("debug", flag())],
            &[
                ("ui", flag()),
                ("primary_session_id", named.clone()),
                ("active_session_id", named.clone()),
                ("protocol_version", number()),
                ("history", flag()),
            ],
        ),
        line("event", &[("event", of("event"))], &[session.clone(), ("event_seq", number())]),
        line("stats", &[("stats", of("stats"))], std::slice::from_ref(&session)),
        line("pong", &[], &[]),
        line("debug", &[("message", text())], &[("argv", list(text()))]),
        line("error", &[("message", text())], std::slice::from_ref(&session)),
        line("ui_request", &[request[0].clone(), request[1].clone(), ("params", question)], &[]),
        line("ui_notify", &params(&[("message", text()), ("notify_type", levels)], &[]), &[]),
        line("ui_status", &params(&[("key", text()), ("text", or_null(text()))], &[]), &[]),
        line("ui_widget", &params(&[("key", text()), ("content", content), ("opts", map())], &[]), &[]),
        line("ui_working", &params(&[("message", or_null(text()))], &[]), &[]),
        line("ui_set_title", &params(&[("title", text())], &[]), &[]),
        line("ui_set_editor_text", &params(&[("text", text())], &[]), &[]),
        line(
            "save_result",
            &[("ok", flag()), session.clone()],
            &[("path", text()), ("error", or_null(text()))],
        ),
        line("sessions_list", &[("sessions", list(of("saved_session")))], &[("error", or_null(text()))]),
        line("running_sessions", &[("sessions", list(of("running_session")))], &[("error", or_null(text()))]),
        line("models_list", &[("providers", list(of("provider")))], &[("error", or_null(text()))]),
        line(
            "session_started",
            &[session.clone(), ("cwd", text()), ("model", of("model"))],
            &[("history", flag())],
        ),
        line(
            "session_closed",
            &[session, ("reason", json!({ "enum": ["normal", "not_found", "error"] }))],
            &[],
        ),
        line("active_session", &[("session_id", named)], &[]),
        line("config_state", &[("config", map())], &[]),
    ]
}

fn events() -> Vec<Value> {
    let message = || of("message");
    vec![
        event("agent_start", &[]),
        event("agent_end", &[list(message())]),
        event("turn_start", &[]),
        event("turn_end", &[message(), list(of("tool_result_message"))]),
        event("message_start", &[message()]),
        event("message_update", &[of("assistant_message"), any()]),
        event("message_end", &[message()]),
        event("tool_execution_start", &[text(), text(), any()]),
        event("tool_execution_update", &[text(), text(), any(), of("tool_result")]),
        event("tool_execution_end", &[text(), text(), of("tool_result"), flag()]),
        event("error", &[any(), any()]),
        event("canceled", &[any()]),
        event("compaction_complete", &[map()]),
        event("branch_summarized", &[map()]),
        event("extension_status_report", &[map()]),
        event("quit", &[]),
    ]
}

fn shapes() -> Vec<(&'static str, Value)> {
    let model = object(&[("provider", text()), ("id", text())], &[]);
    let role = |name: &str| ("role", json!({ "const": name }));
    let of_struct = ("__struct__", text());
    let blocks = list(of("block"));
    let stop = or_null(json!({ "enum": ["stop", "length", "tool_use", "error", "aborted", "redirected"] }));
    vec![
        ("model", model),
        (
            "message",
            json!({ "oneOf": [of("user_message"), of("assistant_message"), of("tool_result_message")] }),
        ),
        (
            "user_message",
            object(
                &[role("user"), ("content", json!({ "oneOf": [text(), blocks] })), ("timestamp", number())],
                std::slice::from_ref(&of_struct),
            ),
        ),
        (
            "assistant_message",
            object(
                &[role("assistant"), ("content", blocks.clone()), ("timestamp", number())],
                &[
                    of_struct.clone(),
                    ("provider", text()),
                    ("model", text()),
                    ("api", text()),
                    ("usage", or_null(of("usage"))),
                    ("stop_reason", stop),
                    ("error_message", or_null(text())),
                ],
            ),
        ),
        (
            "tool_result_message",
            object(
                &[
                    role("tool_result"),
                    ("tool_call_id", text()),
                    ("tool_name", text()),
                    ("content", blocks.clone()),
                    ("is_error", flag()),
                    ("timestamp", number()),
                ],
                &[of_struct.clone(), ("details", any()), ("trust", text())],
            ),
        ),
        ("tool_result", object(&[("content", blocks)], &[of_struct, ("details", any()), ("trust", text())])),
        (
            "block",
            json!({ "oneOf": [
                line("text", &[("text", text())], &[("text_signature", or_null(text()))]),
                line("thinking", &[("thinking", text())], &[("thinking_signature", or_null(text()))]),
                line("tool_call", &[("id", text()), ("name", text()), ("arguments", any())], &[]),
                line("image", &[("data", text()), ("mime_type", text())], &[]),
            ] }),
        ),
        (
            "usage",
            object(
                &[("input", number()), ("output", number())],
                &[
                    ("cache_read", number()),
                    ("cache_write", number()),
                    ("total_tokens", number()),
                    ("cost", map()),
                ],
            ),
        ),
        ("option", object(&[("label", text()), ("value", text())], &[("description", or_null(text()))])),
        (
            "stats",
            object(
                &[
                    ("session_id", text()),
                    ("message_count", number()),
                    ("turn_count", number()),
                    ("is_streaming", flag()),
                    ("cwd", text()),
                    ("model", of("model")),
                ],
                &[("thinking_level", text())],
            ),
        ),
        (
            "saved_session",
            object(
                &[("path", text()), ("id", text()), ("timestamp", number()), ("cwd", text())],
                &[("title", text())],
            ),
        ),
        (
            "running_session",
            object(
                &[("session_id", text()), ("cwd", text()), ("is_streaming", flag())],
                &[("model", of("model"))],
            ),
        ),
        (
            "provider",
            object(
                &[("id", text()), ("models", list(object(&[("id", text()), ("name", text())], &[])))],
                &[],
            ),
        ),
    ]
}
