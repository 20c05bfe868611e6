//! Every message of this wire as a JSON Schema (draft 2020-12).

use serde_json::{Map, Value, json};

/// The document.
pub fn schema() -> Value {
    let defs: Map<String, Value> = requests().into_iter().chain(responses()).collect();
    let one_of = |prefix: &str| -> Vec<Value> {
        let names = defs.keys().filter(|name| name.starts_with(prefix));
        names.map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect()
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "asst IPC protocol",
        "description": "One message per line. AgentRequest goes to the runtime, AgentResponse comes from it.",
        "AgentRequest": { "oneOf": one_of("request.") },
        "AgentResponse": { "oneOf": one_of("response.") },
        "oneOf": [{ "$ref": "#/AgentRequest" }, { "$ref": "#/AgentResponse" }],
        "$defs": defs,
    })
}

fn request(kind: &str, required: &[&str], more: Value) -> (String, Value) {
    let mut properties = json!({ "id": { "type": "string" }, "kind": { "const": kind } });
    merge(&mut properties, more);
    let required: Vec<&str> = ["id", "kind"].into_iter().chain(required.iter().copied()).collect();
    (format!("request.{kind}"), json!({ "type": "object", "required": required, "properties": properties }))
}

fn requests() -> Vec<(String, Value)> {
    let file = json!({ "type": "object", "required": ["path", "mime"],
        "properties": { "path": { "type": "string" }, "mime": { "type": "string" } } });
    let metadata = json!({ "type": "object", "properties": { "conversationId": { "type": "string" } } });
    let message = json!({
        "message": { "type": "string" },
        "attachments": { "type": "array", "items": file },
        "images": { "type": "string", "description": "a JSON array of {data, mime_type, name?}; not in the document" },
        "metadata": metadata,
    });
    vec![
        request("user_message", &["message"], message),
        request("clear_history", &[], json!({})),
        request("get_status", &[], json!({})),
        request("new_conversation", &[], json!({ "metadata": { "type": "object" } })),
        request(
            "load_conversation",
            &["conversation_id"],
            json!({ "conversation_id": { "type": "string" } }),
        ),
    ]
}

fn response(kind: &str, required: &[&str], more: Value) -> (String, Value) {
    let mut properties = json!({ "type": { "const": kind }, "timestamp": { "type": "integer" } });
    if kind != "ready" {
        merge(&mut properties, json!({ "id": { "type": ["string", "number"] } }));
    }
    merge(&mut properties, more);
    let id = (kind != "ready").then_some("id");
    let required: Vec<&str> =
        ["type", "timestamp"].into_iter().chain(id).chain(required.iter().copied()).collect();
    (format!("response.{kind}"), json!({ "type": "object", "required": required, "properties": properties }))
}

fn responses() -> Vec<(String, Value)> {
    let named = |more: &[&str]| -> Value {
        let names = ["toolId", "toolName", "tool_use_id", "tool_name"];
        let required: Vec<&str> = names.into_iter().chain(more.iter().copied()).collect();
        json!({ "data": { "type": "object", "required": required } })
    };
    let status =
        json!({ "data": { "type": "object", "required": ["state", "conversationLength", "uptime"] } });
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    vec![
        response("ready", &[], json!({ "version": { "type": "string" }, "capabilities": strings })),
        response("token", &["token"], json!({ "token": { "type": "string" } })),
        response("tool_use", &["data"], named(&["input", "tool_input"])),
        response("tool_result", &["data"], named(&["result"])),
        response("done", &[], json!({ "data": { "type": "object" } })),
        response("error", &["error"], json!({ "error": { "type": "string" } })),
        response("status", &["data"], status),
    ]
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
