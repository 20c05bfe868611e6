//! nous: an envelope with version, id, type and payload; answers on one socket, events on another.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, UiWire, named, own, quote, text};
use crate::check::shared::prompt;
use crate::check::talk::Talk;
use crate::check::{Quote, Scenario, Stop};
use crate::peer::Carrier;
use serde_json::{Value, json};

/// What the document says about what all runtimes are asked.
fn says(scenario: &str) -> Option<Quote> {
    match scenario {
        "answers" => quote("section 3", "14. `ping`"),
        "two-in-one-write" | "torn-line" => quote("section 1", "2. Transport is `UDS + NDJSON`."),
        "run-ends" => quote("section 4", "1. One logical run emits one `agent_start` and one `agent_end`."),
        "second-run" => quote("section 3", "Core commands required by product TUI: 1. `prompt`"),
        "only-protocol" => quote("section 1", "2. Transport is `UDS + NDJSON`."),
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => quote("section 2", r#"1. Send `prompt` with `{"wait": false}`."#),
        "whole-run" => {
            quote("section 2", "3. Drive run/turn/message/tool UX from events, not sync response payload.")
        }
        "failed-run" => quote(
            "section 6",
            "4. Show error envelopes (`ok=false`) with `error.code`, `error.message`, optional `error.cause`.",
        ),
        "unknown-words" => {
            quote("section 6", "1. Treat unknown payload fields as forward-compatible extras.")
        }
        "torn-lines" | "only-protocol" => quote("section 1", "2. Transport is `UDS + NDJSON`."),
        "runtime-dies" => {
            quote("section 7", "6. Reconnect path can recover UI state using `get_state` and `get_messages`.")
        }
        _ => None,
    }
}

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
    says,
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
    own: scenarios,
    defects: defects::defects,
    permitted: permitted::permitted,
};

fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "envelope",
            quote(
                "section 6",
                "4. Show error envelopes (`ok=false`) with `error.code`, `error.message`, optional `error.cause`.",
            ),
            "an answer has the version, the request's id, a type, a payload and ok",
            |t| Box::pin(shape(t)),
        ),
        own(
            "unknown-command",
            quote(
                "section 6",
                "4. Show error envelopes (`ok=false`) with `error.code`, `error.message`, optional `error.cause`.",
            ),
            "an unknown command is answered with ok false and an error code",
            |t| Box::pin(unknown(t)),
        ),
        own(
            "accepted",
            quote("section 2", r#"1. Send `prompt` with `{"wait": false}`."#),
            "a prompt that does not wait is accepted with a run_id",
            |t| Box::pin(accepted(t)),
        ),
        own(
            "events-balanced",
            quote(
                "section 4",
                "3. Message stream uses `message_start` -> `message_update` -> `message_end`.",
            ),
            "starts and ends of agent, turns, messages and tools match",
            |t| Box::pin(balanced(t)),
        ),
        own(
            "events-name-run",
            quote("section 6", "3. Correlate run-scoped UI state via `run_id`."),
            "every event of a run carries its run_id",
            |t| Box::pin(events_name_run(t)),
        ),
        own("busy", None, "a second prompt during a run is refused", |t| Box::pin(busy(t))),
        own(
            "abort",
            quote("section 7", "3. `steer`, `follow_up`, `abort` controls work during active run."),
            "an abort is answered, and the run ends",
            |t| Box::pin(abort(t)),
        ),
        own(
            "state",
            quote("section 5", "1. `run_state`, `run_id`, `session_id`"),
            "get_state tells whether a run is under way",
            |t| Box::pin(state(t)),
        ),
        own(
            "messages",
            quote("section 5", "`get_messages` is required for session transcript/state restore:"),
            "after a run get_messages has the prompt and the answer",
            |t| Box::pin(messages(t)),
        ),
    ]
}

async fn call(talk: &mut Talk, kind: &str, payload: Value) -> Result<Value, Stop> {
    let id = talk.id();
    talk.say(&envelope(id, kind, payload)).await?;
    talk.until(&format!("the answer to {kind}"), |line| {
        (answers(line, id) && !is_event(line)).then(|| line.clone())
    })
    .await
}

async fn shape(talk: &mut Talk) -> Result<(), Stop> {
    let line = call(talk, "ping", json!({})).await?;
    let sound = text(&line, "/v") == Some("1")
        && line.get("ok") == Some(&Value::Bool(true))
        && line.get("payload").is_some_and(Value::is_object);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn unknown(talk: &mut Talk) -> Result<(), Stop> {
    let id = talk.id();
    talk.say(&envelope(id, "no_such_command", json!({}))).await?;
    let line = talk
        .until("an error", |line| (line.get("ok") == Some(&Value::Bool(false))).then(|| line.clone()))
        .await?;
    if text(&line, "/error/code").is_some() { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn accepted(talk: &mut Talk) -> Result<(), Stop> {
    let wish = talk.wishes.plain.clone();
    let line = call(talk, "prompt", json!({"text":wish,"wait":false})).await?;
    let sound = text(&line, "/type") == Some("accepted") && named(&line, "/payload/run_id").is_some();
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

/// How often to try again when the beginning of a run was not heard.
const TRIES: u32 = 4;

/// A whole run. A core may register whoever listens a moment after it has accepted the connection, so only a run whose beginning was
/// heard is judged.
async fn whole_run(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    let wish = talk.wishes.plain.clone();
    let mut lines = Vec::new();
    for _ in 0..TRIES {
        prompt(talk, &wish).await?;
        lines = talk.until_over(|line| ended(line).is_some()).await;
        if lines.iter().any(|line| text(line, "/type") == Some("agent_start")) {
            break;
        }
    }
    Ok(lines)
}

async fn balanced(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    for thing in ["turn", "message", "tool_execution"] {
        let count = |how: &str| {
            lines.iter().filter(|line| text(line, "/type") == Some(&format!("{thing}_{how}"))).count()
        };
        if count("start") != count("end") {
            return Err(Stop::wrong(format!(
                "{} {thing}_start and {} {thing}_end",
                count("start"),
                count("end")
            )));
        }
    }
    if lines.iter().any(|line| text(line, "/type") == Some("agent_start")) {
        Ok(())
    } else {
        Err(Stop::wrong("no agent_start came"))
    }
}

async fn events_name_run(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let runs: Vec<&Value> = lines
        .iter()
        .filter(|line| (RUNTIME.of_run)(line))
        .filter_map(|line| line.pointer("/payload/run_id"))
        .collect();
    let events = lines.iter().filter(|line| (RUNTIME.of_run)(line)).count();
    match runs.first() {
        Some(first) if runs.len() == events && runs.iter().all(|run| run == first) => Ok(()),
        _ => Err(Stop::wrong(format!("{} of {events} events name a run", runs.len()))),
    }
}

async fn busy(talk: &mut Talk) -> Result<(), Stop> {
    let wish = talk.wishes.slow.clone();
    call(talk, "prompt", json!({"text":wish,"wait":false})).await?;
    let line = call(talk, "prompt", json!({"text":wish,"wait":false})).await?;
    if line.get("ok") == Some(&Value::Bool(false)) { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn abort(talk: &mut Talk) -> Result<(), Stop> {
    let wish = talk.wishes.slow.clone();
    call(talk, "prompt", json!({"text":wish,"wait":false})).await?;
    let id = talk.id();
    talk.say(&envelope(id, "abort", json!({}))).await?;
    let (mut answered, mut over) = (false, false);
    talk.until("the answer to abort and the end of the run", |line| {
        answered |= answers(line, id);
        over |= ended(line).is_some();
        (answered && over).then_some(())
    })
    .await
}

async fn state(talk: &mut Talk) -> Result<(), Stop> {
    let line = call(talk, "get_state", json!({})).await?;
    if text(&line, "/payload/run_state").is_some() { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn messages(talk: &mut Talk) -> Result<(), Stop> {
    whole_run(talk).await?;
    let line = call(talk, "get_messages", json!({})).await?;
    let list = line.pointer("/payload/messages").and_then(Value::as_array);
    let has =
        |role: &str| list.is_some_and(|list| list.iter().any(|message| text(message, "/role") == Some(role)));
    if has("user") && has("assistant") { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
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
    says: says_of_ui,
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
