//! asst: requests with an id and a kind, answers with a type and the same id, over stdio; no questions, no cancel.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, nothing, text};
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| ScenarioFile::parse(include_str!("asst/scenarios.txt"), &[]));

fn id_of(id: u64) -> String {
    format!("req-{id}")
}

fn about(line: &Value, id: u64) -> bool {
    text(line, "/id") == Some(id_of(id).as_str())
}

fn ended(line: &Value) -> Option<End> {
    match text(line, "/type")? {
        "done" => Some(End::Done),
        "error" => Some(End::Failed),
        _ => None,
    }
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "asst",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Hear,
    greeted: |line| text(line, "/type") == Some("ready"),
    reply: |_| Vec::new(),
    session: |_| None,
    announces: nothing,
    not_known: |_, _| false,
    probe: |id| json!({"id":id_of(id),"kind":"clear_history"}),
    probed: |line, id| about(line, id) && text(line, "/type") == Some("done"),
    prompt: |id, text| json!({"id":id_of(id),"kind":"user_message","message":text}),
    run_id: |line| (text(line, "/type") == Some("token")).then_some(Value::Null),
    ended,
    ends_as_it_answers: true,
    last_word: |_| false,
    of_run: |line| matches!(text(line, "/type"), Some("token" | "tool_use" | "tool_result" | "done")),
    cancel: None,
    asked: None,
    answer: |_, _, _| Value::Null,
    ends_with_stdin: true,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "asst", carrier: Carrier::One, told: &TOLD, bound: Bindings::new };
