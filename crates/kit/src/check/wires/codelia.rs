//! codelia: JSON-RPC over stdio, string ids, `run.start` and one terminal `run.status`.

mod defects;
mod permitted;

use super::{CANCEL, End, Greeting, RuntimeWire, Told, UiWire, named, text};
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| ScenarioFile::parse(include_str!("codelia/scenarios.txt"), &[]));

fn hello(id: &str, confirm: bool) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":"initialize","params":{"protocol_version":"0",
        "client":{"name":"parlor-check","version":"0"},
        "ui_capabilities":{"supports_confirm":confirm,"supports_prompt":confirm,"supports_pick":confirm}}})
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc":"2.0","id":id.to_string(),"method":method,"params":params})
}

fn answers(line: &Value, id: u64) -> bool {
    text(line, "/id") == Some(id.to_string().as_str()) && line.get("method").is_none()
}

/// Questions that no scenario is about are answered as a person in a hurry would: a project may ask for its mode before its first run.
fn reply(line: &Value) -> Vec<Value> {
    let first = line.pointer("/params/items/0/id").cloned();
    let result = match text(line, "/method") {
        Some("ui.pick.request") => json!({"ids":first.map_or_else(Vec::new, |id| vec![id])}),
        Some("ui.prompt.request") => json!({"value":line.pointer("/params/default_value")}),
        _ => return Vec::new(),
    };
    vec![json!({"jsonrpc":"2.0","id":line.get("id"),"result":result})]
}

fn announces(line: &Value) -> Vec<(&'static str, bool)> {
    let cancel = line.pointer("/result/server_capabilities/supports_run_cancel").and_then(Value::as_bool);
    cancel.map(|can| (CANCEL, can)).into_iter().collect()
}

fn ended(line: &Value) -> Option<End> {
    if text(line, "/method") != Some("run.status") {
        return None;
    }
    match text(line, "/params/status")? {
        "completed" => Some(End::Done),
        "cancelled" => Some(End::Cancelled),
        "error" => Some(End::Failed),
        _ => None,
    }
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "codelia",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Say(|| hello("hello", true)),
    greeted: |line| text(line, "/id") == Some("hello") && line.get("result").is_some(),
    reply,
    session: |_| None,
    announces,
    not_known: |line, id| answers(line, id) && line.pointer("/error/code") == Some(&json!(-32601)),
    probe: |id| request(id, "parlor.check.unknown", json!({})),
    probed: answers,
    prompt: |id, text| request(id, "run.start", json!({"input":{"type":"text","text":text}})),
    run_id: |line| named(line, "/result/run_id"),
    ended,
    ends_as_it_answers: false,
    last_word: |line| {
        text(line, "/method") == Some("agent.event") && text(line, "/params/event/type") == Some("final")
    },
    of_run: |line| matches!(text(line, "/method"), Some("agent.event" | "run.status")),
    cancel: Some(|id, run| request(id, "run.cancel", json!({"run_id":run}))),
    asked: Some(|line| {
        (text(line, "/method") == Some("ui.confirm.request")).then(|| line.get("id").cloned()).flatten()
    }),
    answer: |_, ask, yes| json!({"jsonrpc":"2.0","id":ask,"result":{"ok":yes,"remember":false,"reason":null}}),
    ends_with_stdin: true,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "codelia", carrier: Carrier::One, told: &TOLD, bound: Bindings::new };
