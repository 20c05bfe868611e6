//! nous: an envelope with version, id, type and payload; answers on one socket, events on another.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, named, nothing, text};
use crate::check::Stop;
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
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
    announces: nothing,
    not_known: |_, _| false,
    probe: |id| envelope(id, "ping", json!({})),
    probed: |line, id| answers(line, id) && text(line, "/type") == Some("pong"),
    prompt: |id, text| envelope(id, "prompt", json!({"text":text,"wait":false})),
    run_id: |line| named(line, "/payload/run_id"),
    ended,
    ends_as_it_answers: false,
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

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "nous", carrier: Carrier::Two, told: &TOLD, bound: Bindings::new };
