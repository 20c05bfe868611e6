//! lemon: frames with a type over stdio, the server greets, whole messages in events, questions as `ui_request`.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, Told, UiWire, nothing, text};
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| ScenarioFile::parse(include_str!("lemon/scenarios.txt"), &[]));

/// Whether a server says that no session is open; one that says nothing of sessions has one.
fn waits_for_session(ready: &Value) -> bool {
    ready.get("active_session_id").is_some_and(Value::is_null)
}

fn event_type(line: &Value) -> Option<&str> {
    if text(line, "/type") == Some("event") { text(line, "/event/type") } else { None }
}

fn consent(line: &Value) -> Option<Value> {
    let asks = text(line, "/type") == Some("ui_request")
        && matches!(text(line, "/method"), Some("confirm" | "select"));
    // The answer depends on the question: a yes, or the value of an option.
    asks.then(|| line.clone())
}

fn answer(ask: &Value, yes: bool) -> Value {
    let options = ask.pointer("/params/options").and_then(Value::as_array);
    let result = match (text(ask, "/method"), options) {
        (Some("select"), Some(options)) => {
            let word = if yes { "allow" } else { "deny" };
            let fits = |option: &&Value| {
                text(option, "/value").is_some_and(|value| value.to_lowercase().contains(word))
            };
            let wanted = options.iter().find(fits).or(if yes { options.first() } else { options.last() });
            wanted.and_then(|option| option.get("value")).cloned().unwrap_or_default()
        }
        _ => Value::Bool(yes),
    };
    json!({"type":"ui_response","id":ask.get("id"),"result":result,"error":null})
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "lemon",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Hear,
    greeted: |line| match text(line, "/type") {
        Some("ready") => !waits_for_session(line),
        Some("session_started") => true,
        _ => false,
    },
    // A later server opens no session by itself.
    reply: |line| match text(line, "/type") {
        Some("ready") if waits_for_session(line) => vec![json!({"type":"start_session"})],
        _ => Vec::new(),
    },
    session: |_| None,
    announces: nothing,
    not_known: |_, _| false,
    probe: |_| json!({"type":"ping"}),
    probed: |line, _| text(line, "/type") == Some("pong"),
    prompt: |_, text| json!({"type":"prompt","text":text}),
    run_id: |line| (event_type(line) == Some("agent_start")).then_some(Value::Null),
    ended: |line| match event_type(line)? {
        "agent_end" => Some(End::Done),
        _ => None,
    },
    ends_as_it_answers: false,
    last_word: |_| false,
    of_run: |line| event_type(line).is_some_and(|kind| kind != "quit"),
    // The end after an abort is the same as any other; its own scenario looks for more.
    cancel: None,
    asked: Some(consent),
    answer: |_, ask, yes| answer(ask, yes),
    ends_with_stdin: true,
    later: None,
    defects: defects::defects,
    permitted: permitted::permitted,
};

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "lemon", carrier: Carrier::One, told: &TOLD, bound: Bindings::new };
