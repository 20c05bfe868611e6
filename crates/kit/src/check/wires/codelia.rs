//! codelia: JSON-RPC over stdio, string ids, `run.start` and one terminal `run.status`.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, main_lane, named, text};
use crate::check::scenes::ScenarioFile;
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
    not_known: |line, id| answers(line, id) && line.pointer("/error/code") == Some(&json!(-32601)),
    probe: |id| request(id, "parlor.check.unknown", json!({})),
    probed: answers,
    prompt: |id, text| request(id, "run.start", json!({"input":{"type":"text","text":text}})),
    run_id: |line| named(line, "/result/run_id"),
    ended,
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

const RUN: &str = "run-check";

fn event(seq: u64, event: Value) -> Value {
    json!({"jsonrpc":"2.0","method":"agent.event","params":{"run_id":RUN,"seq":seq,"event":event}})
}

fn status(status: &str) -> Value {
    json!({"jsonrpc":"2.0","method":"run.status","params":{"run_id":RUN,"status":status}})
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "codelia",
    carrier: Carrier::One,
    told: &TOLD,
    opening: Vec::new,
    reply: |line| {
        let Some(id) = line.get("id").filter(|_| line.get("method").is_some()) else { return Vec::new() };
        let result = match text(line, "/method").unwrap_or_default() {
            "initialize" => json!({"protocol_version":"0","server":{"name":"parlor-check","version":"0"},
                "server_capabilities":{"supports_run_cancel":true,"supports_ui_requests":true}}),
            "session.list" => json!({"sessions":[]}),
            "run.cancel" => json!({"ok":true}),
            _ => {
                return vec![
                    json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"method not found"}}),
                ];
            }
        };
        vec![json!({"jsonrpc":"2.0","id":id,"result":result})]
    },
    prompt: |line| {
        (text(line, "/method") == Some("run.start"))
            .then(|| text(line, "/params/input/text").unwrap_or_default().to_owned())
    },
    accept: |line| {
        main_lane(vec![
            json!({"jsonrpc":"2.0","id":line.get("id"),"result":{"run_id":RUN,"session_id":"sess-check"}}),
            status("running"),
        ])
    },
    text: |text| main_lane(vec![event(0, json!({"type":"final","content":text}))]),
    end: || main_lane(vec![status("completed")]),
    fail: || {
        main_lane(vec![
            json!({"jsonrpc":"2.0","method":"run.status","params":{"run_id":RUN,"status":"error","message":"broken on purpose"}}),
        ])
    },
    ask: |number| {
        main_lane(vec![
            event(
                0,
                json!({"type":"tool_call","tool":"bash","args":{"command":"true"},"tool_call_id":"call-1"}),
            ),
            json!({"jsonrpc":"2.0","id":format!("ui_{number}"),"method":"ui.confirm.request","params":{"run_id":RUN,
                "title":"Run command?","message":"true","allow_remember":false,"allow_reason":true}}),
        ])
    },
    answered: |line, number| {
        let ours = text(line, "/id") == Some(format!("ui_{number}").as_str()) && line.get("method").is_none();
        ours.then(|| line.pointer("/result/ok").and_then(Value::as_bool).unwrap_or(false))
    },
    settled: |_| {
        main_lane(vec![event(
            1,
            json!({"type":"tool_result","tool":"bash","result":"","tool_call_id":"call-1"}),
        )])
    },
    unknown: || json!({"jsonrpc":"2.0","method":"future.notification","params":{"x":[1,{"y":null}]}}),
};
