//! acp: JSON-RPC over stdio, one `session/prompt` for each turn, answered when the turn is over.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, nothing, text};
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| ScenarioFile::parse(include_str!("acp/scenarios.txt"), &[]));

/// The id of the greeting, and of the session that follows it.
const HELLO: &str = "hello";
const SESSION: &str = "session";

fn hello(version: u64) -> Value {
    json!({"jsonrpc":"2.0","id":HELLO,"method":"initialize","params":{"protocolVersion":version,
        "clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},
        "clientInfo":{"name":"parlor-check","version":"0"}}})
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})
}

fn answers(line: &Value, id: u64) -> bool {
    line.get("id") == Some(&json!(id)) && line.get("method").is_none()
}

fn code(line: &Value) -> Option<i64> {
    line.pointer("/error/code").and_then(Value::as_i64)
}

/// The kind of an update.
fn update(line: &Value) -> Option<&str> {
    text(line, "/params/update/sessionUpdate").filter(|_| text(line, "/method") == Some("session/update"))
}

/// Whether an update belongs to a turn; others may come at any time.
fn of_turn(line: &Value) -> bool {
    update(line).is_some_and(|kind| {
        matches!(
            kind,
            "agent_message_chunk" | "agent_thought_chunk" | "tool_call" | "tool_call_update" | "plan"
        )
    })
}

fn ended(line: &Value) -> Option<End> {
    if code(line) == Some(-32603) {
        return Some(End::Failed);
    }
    match text(line, "/result/stopReason")? {
        "cancelled" => Some(End::Cancelled),
        "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" => Some(End::Done),
        _ => Some(End::Failed),
    }
}

/// A question with the options that mean yes and no.
fn asked(line: &Value) -> Option<Value> {
    if text(line, "/method") != Some("session/request_permission") {
        return None;
    }
    let options = line.pointer("/params/options").and_then(Value::as_array)?;
    let of_kind = |kind: &str| {
        options
            .iter()
            .find(|option| text(option, "/kind") == Some(kind))
            .map(|option| option["optionId"].clone())
    };
    Some(json!({"id":line.get("id"),"yes":of_kind("allow_once"),"no":of_kind("reject_once")}))
}

fn answer(ask: &Value, yes: bool) -> Value {
    let option = if yes { &ask["yes"] } else { &ask["no"] };
    let outcome = match option {
        Value::Null => json!({"outcome":"cancelled"}),
        option => json!({"outcome":"selected","optionId":option}),
    };
    json!({"jsonrpc":"2.0","id":ask["id"],"result":{"outcome":outcome}})
}

/// A client opens a session once it was greeted.
fn reply(line: &Value) -> Vec<Value> {
    if text(line, "/id") == Some(HELLO) && line.get("result").is_some() {
        return vec![
            json!({"jsonrpc":"2.0","id":SESSION,"method":"session/new","params":{"cwd":"{cwd}","mcpServers":[]}}),
        ];
    }
    Vec::new()
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "acp",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Say(|| hello(1)),
    greeted: |line| text(line, "/id") == Some(SESSION) && text(line, "/result/sessionId").is_some(),
    reply,
    session: |line| text(line, "/result/sessionId").map(ToOwned::to_owned),
    announces: nothing,
    not_known: |line, id| answers(line, id) && code(line) == Some(-32601),
    probe: |id| request(id, "_parlor.check/unknown", json!({})),
    probed: answers,
    prompt: |id, text| {
        request(id, "session/prompt", json!({"sessionId":"{session}","prompt":[{"type":"text","text":text}]}))
    },
    run_id: |line| of_turn(line).then_some(Value::Null),
    ended,
    ends_as_it_answers: false,
    last_word: |_| false,
    of_run: |line| of_turn(line) || text(line, "/result/stopReason").is_some(),
    cancel: Some(
        |_, _| json!({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"{session}"}}),
    ),
    asked: Some(asked),
    answer: |_, ask, yes| answer(ask, yes),
    ends_with_stdin: true,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "acp", carrier: Carrier::One, told: &TOLD, bound: Bindings::new };
