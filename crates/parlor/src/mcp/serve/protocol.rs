//! What an MCP client says on a line, and what it is answered. Pure.

use serde_json::{Map, Value, json};

/// The codes of JSON-RPC.
pub(super) const PARSE: i64 = -32700;
pub(super) const INVALID: i64 = -32600;
const UNKNOWN: i64 = -32601;
const ARGUMENTS: i64 = -32602;

/// The versions of the protocol that are spoken, the newest first. Later ones begin without a greeting; clients of those fall back.
const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a client is told of all tools.
const INSTRUCTIONS: &str = "Sessions of Parlor's coding agent in the folder that this server was started in. Begin one, wait for it, read it. \
What it may do is set by its person, who is asked where a yes is needed: `wait` tells when that is so, and no tool here answers.";

/// What a line wants.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// A tool, in its own time.
    Call(Call),
    /// Answered already.
    Answered(String),
    /// The client no longer waits for the call of this id.
    CalledOff(Value),
    Nothing,
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Asked {
    if line.trim().is_empty() {
        return Asked::Nothing;
    }
    let message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(why) => {
            return Asked::Answered(refused(&Value::Null, PARSE, &format!("this line is no JSON: {why}")));
        }
    };
    let id = message.get("id").cloned().unwrap_or_default();
    let is_id = id.is_string() || id.is_i64() || id.is_u64();
    let params = &message["params"];
    let refuse = |code: i64, why: &str| Asked::Answered(refused(&id, code, why));
    match message.get("method").and_then(Value::as_str) {
        _ if !message.is_object() => {
            refuse(INVALID, "one message is one object; batches are no longer part of MCP")
        }
        // An answer to a question: none is ever put.
        None if message.get("result").is_some() || message.get("error").is_some() => Asked::Nothing,
        None => refuse(INVALID, "a message has a `method`"),
        Some("notifications/cancelled") => Asked::CalledOff(params["requestId"].clone()),
        Some(_) if message.get("id").is_none() => Asked::Nothing,
        Some(_) if !is_id => {
            Asked::Answered(refused(&Value::Null, INVALID, "an `id` is a text or a whole number"))
        }
        Some("initialize") => {
            let wanted = params["protocolVersion"].as_str().unwrap_or_default();
            let version = VERSIONS.iter().find(|known| **known == wanted).unwrap_or(&VERSIONS[0]);
            answered(
                &id,
                &json!({
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "parlor", "title": "Parlor", "version": env!("CARGO_PKG_VERSION")},
                    "instructions": INSTRUCTIONS,
                }),
            )
        }
        Some("ping") => answered(&id, &json!({})),
        Some("tools/list") => answered(&id, &json!({ "tools": tools() })),
        Some("tools/call") => {
            let Some(name) = params["name"].as_str().map(str::to_owned) else {
                return refuse(ARGUMENTS, "`name` says which tool");
            };
            let arguments = match params.get("arguments") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(arguments)) => arguments.clone(),
                Some(_) => return refuse(ARGUMENTS, "`arguments` is an object"),
            };
            if !tools().iter().any(|tool| tool["name"] == name.as_str()) {
                let why = format!("there is no tool {name:?}; tools/list says which there are");
                return refuse(ARGUMENTS, &why);
            }
            Asked::Call(Call { id, name, arguments })
        }
        Some(method) => {
            let method = domain::harmless::quoted(method);
            refuse(UNKNOWN, &format!("{method} is not offered; this server has tools and nothing else"))
        }
    }
}

fn answered(id: &Value, result: &Value) -> Asked {
    Asked::Answered(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// The line that refuses a request.
pub(super) fn refused(id: &Value, code: i64, why: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}).to_string()
}

/// The line that answers a call: what it gave as an object, or why it could not be done, so that the model of the client can go on.
pub(super) fn result(id: &Value, told: Result<Value, String>) -> String {
    let result = match told {
        Ok(object) => {
            json!({"content": [{"type": "text", "text": object.to_string()}], "structuredContent": object, "isError": false})
        }
        Err(why) => json!({"content": [{"type": "text", "text": why}], "isError": true}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn tools() -> Vec<Value> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str, least: u64, most: u64| json!({"type": "integer", "minimum": least, "maximum": most, "description": about});
    let session = || text("the id that begin gave");
    let tool = |name: &str,
                title: &str,
                about: &str,
                only_reads: bool,
                properties: Value,
                required: &[&str]| {
        json!({
            "name": name,
            "title": title,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
            "annotations": {"title": title, "readOnlyHint": only_reads, "openWorldHint": !only_reads},
        })
    };
    vec![
        tool(
            "begin",
            "Begin a session",
            "Begins a session with Parlor's coding agent, and says the first prompt in it. Comes back at once; `wait` waits for the answer.",
            false,
            json!({"prompt": text("the task, with all that the agent has to know")}),
            &["prompt"],
        ),
        tool(
            "say",
            "Say something",
            "Says something more in a session. While it is at work the words wait for the end of that.",
            false,
            json!({"session": session(), "text": text("what is said")}),
            &["session", "text"],
        ),
        tool(
            "wait",
            "Wait for a session",
            "Waits until a session has answered, or its person is asked something, or the time is over. Gives its state and its last words.",
            true,
            json!({"session": session(), "seconds": number("how long at most; 60 where nothing is said", 0, super::desk::MAX_WAIT_S)}),
            &["session"],
        ),
        tool(
            "read",
            "Read a session",
            "Reads a session's conversation from an entry on: what was said, and which tools ran.",
            true,
            json!({"session": session(), "from": number("the first entry; 0 where nothing is said", 0, 1_000_000)}),
            &["session"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Value {
        match read(line) {
            Asked::Answered(answer) => serde_json::from_str(&answer).unwrap(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_request_gets_the_answer_of_the_protocol() {
        let hello = |version: &str| {
            said(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": version}}).to_string())
        };
        assert_eq!(hello("2025-06-18")["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(hello("2099-01-01")["result"]["protocolVersion"], VERSIONS[0]);
        for (line, code) in [
            ("{", PARSE),
            ("[]", INVALID),
            (r#"{"id": 1}"#, INVALID),
            (r#"{"id": {}, "method": "ping"}"#, INVALID),
            (r#"{"id": 1, "method": "server/discover"}"#, UNKNOWN),
            (r#"{"id": 1, "method": "tools/call", "params": {}}"#, ARGUMENTS),
            (
                r#"{"id": 1, "method": "tools/call", "params": {"name": "answer", "arguments": {}}}"#,
                ARGUMENTS,
            ),
            (r#"{"id": 1, "method": "tools/call", "params": {"name": "begin", "arguments": []}}"#, ARGUMENTS),
        ] {
            assert_eq!(said(line)["error"]["code"], code, "{line}");
        }
        for line in ["", r#"{"method": "notifications/initialized"}"#, r#"{"id": 7, "result": {}}"#] {
            assert_eq!(read(line), Asked::Nothing, "{line}");
        }
        let off = read(r#"{"method": "notifications/cancelled", "params": {"requestId": 7}}"#);
        assert_eq!(off, Asked::CalledOff(json!(7)));
    }

    #[test]
    fn no_tool_answers_a_question_or_chooses_a_mode() {
        let tools = said(r#"{"id": 1, "method": "tools/list"}"#)["result"]["tools"].clone();
        let names: Vec<&str> =
            tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["begin", "say", "wait", "read"]);
        for tool in tools.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["additionalProperties"], false);
            let known = tool["inputSchema"]["properties"].as_object().unwrap();
            assert!(
                known
                    .keys()
                    .all(|key| ["prompt", "session", "text", "seconds", "from"].contains(&key.as_str()))
            );
        }
    }
}
