//! openagent: JSON-RPC over a socket, queries that stream tokens and end with `stream.complete`, approvals of tools.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, named, nothing, text};
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| ScenarioFile::parse(include_str!("openagent/scenarios.txt"), &[]));

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})
}

fn hello() -> Value {
    request(
        900_000,
        "initialize",
        json!({"protocol_version":"1.0.0","client_info":{"name":"parlor-check","version":"0"},
        "terminal_size":{"cols":80,"rows":24},"capabilities":["streaming","blocks","tool_approval"]}),
    )
}

fn answers(line: &Value, id: u64) -> bool {
    line.get("id").and_then(Value::as_u64) == Some(id) && line.get("method").is_none()
}

fn ended(line: &Value) -> Option<End> {
    if text(line, "/method") != Some("stream.complete") {
        return None;
    }
    Some(match text(line, "/params/status").unwrap_or_default() {
        "cancelled" => End::Cancelled,
        "error" | "failed" => End::Failed,
        _ => End::Done,
    })
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "openagent",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Say(hello),
    greeted: |line| answers(line, 900_000) && line.get("result").is_some(),
    reply: |_| Vec::new(),
    session: |_| None,
    announces: nothing,
    not_known: |line, id| answers(line, id) && line.pointer("/error/code") == Some(&json!(-32601)),
    probe: |id| request(id, "parlor.check.unknown", json!({})),
    probed: answers,
    prompt: |id, text| request(id, "agent.query", json!({"message":text})),
    run_id: |line| named(line, "/result/query_id"),
    ended,
    ends_as_it_answers: false,
    last_word: |_| false,
    of_run: |line| {
        text(line, "/method")
            .is_some_and(|method| method.starts_with("stream.") || method.starts_with("tool."))
    },
    cancel: Some(|id, run| request(id, "agent.cancel", json!({"query_id":run}))),
    asked: Some(|line| {
        (text(line, "/method") == Some("tool.request_approval"))
            .then(|| line.pointer("/params/execution_id").cloned())
            .flatten()
    }),
    answer: |id, ask, yes| request(id, "tool.approve", json!({"execution_id":ask,"approved":yes})),
    ends_with_stdin: false,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "openagent", carrier: Carrier::One, told: &TOLD, bound: Bindings::new };
