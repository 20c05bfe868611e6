//! Every message of codelia's wire as a JSON Schema (draft 2020-12), the document's own and those that existing programs add.

use serde_json::{Map, Value, json};

/// The document. `methods` tells params and result of each; `events` the union inside `agent.event`.
pub fn schema() -> Value {
    let mut defs = Map::new();
    for (method, direction, params, result) in methods() {
        let mut message = json!({
            "type": "object", "description": direction, "required": ["jsonrpc", "method"],
            "properties": { "jsonrpc": { "const": "2.0" }, "id": { "type": "string" }, "method": { "const": method }, "params": params }
        });
        if let Some(result) = result {
            message["required"] = json!(["jsonrpc", "id", "method"]);
            defs.insert(format!("result.{method}"), result);
        }
        defs.insert(format!("message.{method}"), message);
    }
    for (kind, required) in events() {
        let mut properties = json!({ "type": { "const": kind } });
        for name in *required {
            properties[*name] = json!({});
        }
        let required: Vec<&str> = std::iter::once("type").chain(required.iter().copied()).collect();
        defs.insert(
            format!("event.{kind}"),
            json!({ "type": "object", "required": required, "properties": properties }),
        );
    }
    let refs = |prefix: &str| -> Vec<Value> {
        let names = defs.keys().filter(|name| name.starts_with(prefix));
        names.map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect()
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "codelia UI protocol, version 0",
        "description": "JSON-RPC 2.0, one message per line, ids are strings.",
        "oneOf": refs("message."),
        "event": { "oneOf": refs("event.") },
        "error": { "type": "object", "required": ["code", "message"],
            "properties": { "code": { "enum": [-32700, -32600, -32601, -32602, -32000, -32001, -32002, -32003, -32004, -32005, -32006] },
                "message": { "type": "string" } } },
        "$defs": defs,
    })
}

type Method = (&'static str, &'static str, Value, Option<Value>);

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn methods() -> Vec<Method> {
    let (text, number, flag) =
        (json!({ "type": "string" }), json!({ "type": "integer" }), json!({ "type": "boolean" }));
    let who = object(&["name", "version"], json!({ "name": text, "version": text }));
    let context = json!({ "type": "object" });
    let to_runtime = "UI to runtime";
    let to_ui = "runtime to UI";
    vec![
        (
            "initialize",
            to_runtime,
            object(
                &["protocol_version", "client"],
                json!({ "protocol_version": text, "client": who, "ui_capabilities": context }),
            ),
            Some(object(
                &["protocol_version", "server"],
                json!({ "protocol_version": text, "server": who, "server_capabilities": context }),
            )),
        ),
        (
            "run.start",
            to_runtime,
            object(
                &["input"],
                json!({ "input": object(&["type"], json!({ "type": { "enum": ["text", "parts"] }, "text": text, "parts": { "type": "array" } })),
                "session_id": text, "ui_context": context, "meta": context, "force_compaction": flag }),
            ),
            Some(object(&["run_id"], json!({ "run_id": text, "session_id": text }))),
        ),
        (
            "run.cancel",
            to_runtime,
            object(&["run_id"], json!({ "run_id": text, "reason": text })),
            Some(object(
                &["ok"],
                json!({ "ok": flag, "status": { "enum": ["running", "completed", "error", "cancelled"] } }),
            )),
        ),
        (
            "session.list",
            to_runtime,
            object(&[], json!({ "limit": number, "scope": { "enum": ["current_workspace", "all"] } })),
            Some(object(
                &["sessions"],
                json!({ "sessions": { "type": "array", "items": object(&["session_id", "updated_at"], json!({})) } }),
            )),
        ),
        (
            "session.history",
            to_runtime,
            object(&["session_id"], json!({ "session_id": text, "max_runs": number, "max_events": number })),
            Some(object(
                &["runs", "events_sent"],
                json!({ "runs": number, "events_sent": number, "truncated": flag }),
            )),
        ),
        (
            "model.list",
            to_runtime,
            object(&[], json!({ "provider": text, "include_details": flag })),
            Some(object(
                &["provider", "models"],
                json!({ "provider": text, "models": { "type": "array", "items": text }, "current": text, "details": context }),
            )),
        ),
        (
            "model.set",
            to_runtime,
            object(&["name"], json!({ "name": text, "provider": text })),
            Some(object(&["provider", "name"], json!({ "provider": text, "name": text }))),
        ),
        (
            "mcp.list",
            to_runtime,
            object(&[], json!({ "scope": { "enum": ["loaded", "configured"] } })),
            Some(object(
                &["servers"],
                json!({ "servers": { "type": "array", "items": object(&["id", "transport", "enabled", "state"], json!({})) } }),
            )),
        ),
        (
            "skills.list",
            to_runtime,
            object(&[], json!({ "cwd": text, "force_reload": flag })),
            Some(object(
                &["skills", "errors", "truncated"],
                json!({ "skills": { "type": "array" }, "errors": { "type": "array" }, "truncated": flag }),
            )),
        ),
        (
            "ui.context.update",
            to_runtime,
            object(
                &[],
                json!({ "cwd": text, "workspace_root": text, "active_file": context, "selection": context, "extensions": context }),
            ),
            None,
        ),
        (
            "agent.event",
            to_ui,
            object(
                &["run_id", "seq", "event"],
                json!({ "run_id": text, "seq": number, "event": { "$ref": "#/event" }, "meta": context }),
            ),
            None,
        ),
        (
            "run.status",
            to_ui,
            object(
                &["run_id", "status"],
                json!({ "run_id": text, "status": { "enum": ["running", "awaiting_ui", "completed", "error", "cancelled"] }, "message": text }),
            ),
            None,
        ),
        (
            "run.context",
            to_ui,
            object(
                &["run_id", "context_left_percent"],
                json!({ "run_id": text, "context_left_percent": { "type": "integer", "minimum": 0, "maximum": 100 } }),
            ),
            None,
        ),
        (
            "ui.confirm.request",
            to_ui,
            object(
                &["title", "message"],
                json!({ "run_id": text, "title": text, "message": text, "confirm_label": text, "cancel_label": text,
                "danger_level": { "enum": ["normal", "danger"] }, "allow_remember": flag, "allow_reason": flag }),
            ),
            Some(object(
                &["ok"],
                json!({ "ok": flag, "remember": flag, "reason": { "type": ["string", "null"] } }),
            )),
        ),
        (
            "ui.prompt.request",
            to_ui,
            object(
                &["title", "message"],
                json!({ "run_id": text, "title": text, "message": text, "default_value": text, "multiline": flag, "secret": flag }),
            ),
            Some(object(&["value"], json!({ "value": { "type": ["string", "null"] } }))),
        ),
        (
            "ui.pick.request",
            to_ui,
            object(
                &["title", "items"],
                json!({ "run_id": text, "title": text, "multi": flag,
                "items": { "type": "array", "items": object(&["id", "label"], json!({ "id": text, "label": text, "detail": text })) } }),
            ),
            Some(object(&["ids"], json!({ "ids": { "type": "array", "items": text } }))),
        ),
    ]
}

/// The union inside `agent.event`, with what each must have.
fn events() -> &'static [(&'static str, &'static [&'static str])] {
    &[
        ("text", &["content", "timestamp"]),
        ("reasoning", &["content", "timestamp"]),
        ("step_start", &["step_id", "title", "step_number"]),
        ("tool_call", &["tool", "args", "tool_call_id"]),
        ("tool_result", &["tool", "result", "tool_call_id"]),
        ("step_complete", &["step_id", "status", "duration_ms"]),
        ("compaction_start", &["timestamp"]),
        ("compaction_complete", &["timestamp", "compacted"]),
        ("hidden_user_message", &["content"]),
        ("final", &["content"]),
        ("permission.preview", &["tool"]),
        ("permission.ready", &["tool"]),
        ("llm.retry", &["next_attempt", "max_attempts", "delay_ms"]),
    ]
}
