//! nous: an envelope with version, id, type and payload; answers on one socket, events on another.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, named, text};
use crate::check::Stop;
use crate::check::scenes::ScenarioFile;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| {
    ScenarioFile::parse(include_str!("nous/scenarios.txt"), &[("all-name-one-run", all_name_one_run)])
});

fn envelope(id: u64, kind: &str, payload: Value) -> Value {
    json!({"v":"1","id":format!("c{id}"),"type":kind,"payload":payload})
}

fn answers(line: &Value, id: u64) -> bool {
    text(line, "/id") == Some(format!("c{id}").as_str())
}

fn is_event(line: &Value) -> bool {
    line.get("ok").is_none()
}

fn ended(line: &Value) -> Option<End> {
    (is_event(line) && text(line, "/type") == Some("agent_end")).then_some(())?;
    Some(End::Done)
}

const OF_RUN: &[&str] = &[
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
];

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "nous",
    carrier: Carrier::Two,
    told: &TOLD,
    greeting: Greeting::None,
    greeted: |_| true,
    reply: |_| Vec::new(),
    session: |_| None,
    not_known: |_, _| false,
    probe: |id| envelope(id, "ping", json!({})),
    probed: |line, id| answers(line, id) && text(line, "/type") == Some("pong"),
    prompt: |id, text| envelope(id, "prompt", json!({"text":text,"wait":false})),
    run_id: |line| named(line, "/payload/run_id"),
    ended,
    last_word: |_| false,
    of_run: |line| is_event(line) && text(line, "/type").is_some_and(|kind| OF_RUN.contains(&kind)),
    // An abort ends the run with the same words as anything else.
    cancel: None,
    asked: None,
    answer: |_, _, _| Value::Null,
    ends_with_stdin: false,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

/// Every event of the run names it.
fn all_name_one_run(lines: &[Value]) -> Result<(), Stop> {
    let events: Vec<&Value> = lines.iter().filter(|line| (RUNTIME.of_run)(line)).collect();
    let runs: Vec<&Value> = events.iter().filter_map(|line| line.pointer("/payload/run_id")).collect();
    match runs.first() {
        Some(first) if runs.len() == events.len() && runs.iter().all(|run| run == first) => Ok(()),
        _ => Err(Stop::wrong(format!("{} of {} events name a run", runs.len(), events.len()))),
    }
}

fn event(number: u64, kind: &str, payload: Value) -> (u8, Value) {
    (
        1,
        json!({"v":"1","id":format!("evt-{number}"),"type":kind,"payload":payload,"ts":"2026-01-01T00:00:00Z"}),
    )
}

const RUN: &str = "run-1";

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "nous",
    carrier: Carrier::Two,
    told: &TOLD,
    opening: Vec::new,
    reply: |line| {
        let Some(id) = line.get("id") else { return Vec::new() };
        let ok = |kind: &str, payload: Value| {
            vec![json!({"v":"1","id":id,"type":kind,"payload":payload,"ok":true})]
        };
        match text(line, "/type").unwrap_or_default() {
            "ping" => ok("pong", json!({"message":"pong"})),
            "get_state" => ok(
                "state",
                json!({"run_state":"idle","run_id":"","session_id":"sess-check1","steering_mode":"one-at-a-time",
                "follow_up_mode":"one-at-a-time","pending_counts":{"steer":0,"follow_up":0}}),
            ),
            "get_messages" => ok("messages", json!({"session_id":"sess-check1","messages":[]})),
            "new_session" | "switch_session" => ok("session", json!({"session_id":"sess-check1"})),
            _ => vec![
                json!({"v":"1","id":id,"type":"error","payload":{},"ok":false,"error":{"code":"invalid_command","message":"not in this check"}}),
            ],
        }
    },
    prompt: |line| {
        (text(line, "/type") == Some("prompt"))
            .then(|| text(line, "/payload/text").unwrap_or_default().to_owned())
    },
    accept: |line| {
        vec![
            (
                0,
                json!({"v":"1","id":line.get("id"),"type":"accepted","payload":{"command":"prompt","run_id":RUN,"session_id":"sess-check1"},"ok":true}),
            ),
            event(1, "agent_start", json!({"run_id":RUN})),
            event(2, "turn_start", json!({"run_id":RUN,"turn_id":"1"})),
            event(
                3,
                "message_start",
                json!({"run_id":RUN,"turn_id":"1","message_id":"m1","role":"assistant"}),
            ),
        ]
    },
    text: |text| {
        vec![event(4, "message_update", json!({"run_id":RUN,"turn_id":"1","message_id":"m1","delta":text}))]
    },
    end: || {
        vec![
            event(5, "message_end", json!({"run_id":RUN,"turn_id":"1","message_id":"m1"})),
            event(6, "turn_end", json!({"run_id":RUN,"turn_id":"1"})),
            event(7, "agent_end", json!({"run_id":RUN})),
        ]
    },
    fail: || {
        vec![
            event(5, "error", json!({"run_id":RUN,"turn_id":"1","message":"broken on purpose"})),
            event(6, "agent_end", json!({"run_id":RUN})),
        ]
    },
    ask: |_| Vec::new(),
    answered: |_, _| None,
    settled: |_| Vec::new(),
    unknown: || json!({"v":"1","id":"evt-99","type":"from_the_future","payload":{"x":[1,{"y":null}]}}),
};
