//! asst: requests with an id and a kind, answers with a type and the same id, over stdio; no questions, no cancel.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, UiWire, main_lane, own, quote, text};
use crate::check::shared::{GREETS, greet, prompt};
use crate::check::talk::Talk;
use crate::check::{Quote, Scenario, Stop};
use crate::peer::Carrier;
use serde_json::{Value, json};

/// What the document says about what all runtimes are asked.
fn says(scenario: &str) -> Option<Quote> {
    match scenario {
        "greets" => quote("Ready Signal", "Sent once when agent runtime starts."),
        "answers" => quote("Done Response", "Sent when request processing is complete."),
        "two-in-one-write" | "torn-line" => quote("Protocol Rules 1", r#"- Terminated with `\n`"#),
        "garbage" => quote("Protocol Rules 4", "- Malformed JSON → log error, continue listening"),
        "run-ends" => {
            quote("Protocol Rules 3", "4. One `done` response (success) OR one `error` response (failure)")
        }
        "second-run" => quote("Done Response", "Sent when request processing is complete."),
        "only-protocol" => quote("Protocol Rules 1", "- Each message is a single line"),
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => quote("User Message Request", "Sent when the user submits a message."),
        "whole-run" | "failed-run" => {
            quote("Protocol Rules 3", "4. One `done` response (success) OR one `error` response (failure)")
        }
        "torn-lines" => quote("Protocol Rules 1", r#"- Terminated with `\n`"#),
        "only-protocol" => quote("Protocol Rules 1", "- Each message is a single line"),
        _ => None,
    }
}

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
    says,
    greeting: Greeting::Hear,
    greeted: |line| text(line, "/type") == Some("ready"),
    reply: |_| Vec::new(),
    session: |_| None,
    not_known: |_, _| false,
    probe: |id| json!({"id":id_of(id),"kind":"clear_history"}),
    probed: |line, id| about(line, id) && text(line, "/type") == Some("done"),
    prompt: |id, text| json!({"id":id_of(id),"kind":"user_message","message":text}),
    run_id: |line| (text(line, "/type") == Some("token")).then_some(Value::Null),
    ended,
    last_word: |_| false,
    of_run: |line| matches!(text(line, "/type"), Some("token" | "tool_use" | "tool_result" | "done")),
    cancel: None,
    asked: None,
    answer: |_, _, _| Value::Null,
    ends_with_stdin: true,
    later: None,
    own: scenarios,
    defects: defects::defects,
    permitted: permitted::permitted,
};

fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "ready-first",
            quote("Ready Signal", "Sent once when agent runtime starts."),
            "the first line is ready, with a version and capabilities",
            |t| Box::pin(ready(t)),
        ),
        own(
            "unknown-kind",
            quote("Protocol Rules 4", "- Unknown request type → send error response"),
            "an unknown kind is answered with an error under its id",
            |t| Box::pin(unknown(t)),
        ),
        own(
            "id-comes-back",
            quote("Protocol Rules 2", "- Every response includes the original request `id`"),
            "every line of a request carries its id",
            |t| Box::pin(ids(t)),
        ),
        own(
            "timestamps",
            quote("Response Messages", "- `timestamp`: Unix timestamp (milliseconds)"),
            "every line has a number as timestamp",
            |t| Box::pin(timestamps(t)),
        ),
        own(
            "done-once",
            quote("Protocol Rules 3", "4. One `done` response (success) OR one `error` response (failure)"),
            "a request ends with one done or one error",
            |t| Box::pin(done_once(t)),
        ),
        own(
            "get-status",
            quote("Status Response", "Response to get_status request."),
            "get_status is answered with state, length and uptime",
            |t| Box::pin(status(t)),
        ),
        own(
            "clear-history",
            quote("Clear History Request", "Clears the conversation history."),
            "clear_history is answered with done",
            |t| Box::pin(clear(t)),
        ),
    ]
}

async fn ready(talk: &mut Talk) -> Result<(), Stop> {
    let line = talk.until("a line", |line| Some(line.clone())).await;
    let line = line.map_err(|stop| stop.because(GREETS))?;
    if text(&line, "/type") == Some("ready") { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn unknown(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&json!({"id":id_of(id),"kind":"no_such_kind"})).await?;
    talk.until("an error", |line| (about(line, id) && text(line, "/type") == Some("error")).then_some(()))
        .await
}

/// A whole request; the id, and what came.
async fn whole_run(talk: &mut Talk) -> Result<(u64, Vec<Value>), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    let id = prompt(talk, &wish).await?;
    let mut lines = talk.until_over(|line| ended(line).is_some()).await;
    lines.extend(talk.lull().await);
    Ok((id, lines))
}

async fn ids(talk: &mut Talk) -> Result<(), Stop> {
    let (id, lines) = whole_run(talk).await?;
    match lines.iter().filter(|line| text(line, "/type") != Some("ready")).find(|line| !about(line, id)) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(line.to_string())),
    }
}

async fn timestamps(talk: &mut Talk) -> Result<(), Stop> {
    let (_, lines) = whole_run(talk).await?;
    match lines.iter().find(|line| !line.get("timestamp").is_some_and(Value::is_number)) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(line.to_string())),
    }
}

async fn done_once(talk: &mut Talk) -> Result<(), Stop> {
    let (id, lines) = whole_run(talk).await?;
    let ends = lines.iter().filter(|line| about(line, id) && ended(line).is_some()).count();
    if ends == 1 { Ok(()) } else { Err(Stop::wrong(format!("it ended {ends} times"))) }
}

async fn status(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&json!({"id":id_of(id),"kind":"get_status"})).await?;
    let line = talk.until("the status", |line| about(line, id).then(|| line.clone())).await?;
    let sound = text(&line, "/type") == Some("status")
        && text(&line, "/data/state").is_some()
        && line.pointer("/data/conversationLength").is_some_and(Value::is_number)
        && line.pointer("/data/uptime").is_some_and(Value::is_number);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn clear(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&json!({"id":id_of(id),"kind":"clear_history"})).await?;
    talk.until("done", |line| (about(line, id) && text(line, "/type") == Some("done")).then_some(())).await
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "asst",
    carrier: Carrier::One,
    says: says_of_ui,
    opening: || {
        vec![json!({"type":"ready","version":"1.0.0","capabilities":["streaming","tools"],"timestamp":1})]
    },
    reply: |line| {
        let Some(id) = line.get("id") else { return Vec::new() };
        match text(line, "/kind").unwrap_or_default() {
            "get_status" => vec![
                json!({"type":"status","id":id,"data":{"state":"idle","conversationLength":0,"uptime":1},"timestamp":1}),
            ],
            "clear_history" => vec![json!({"type":"done","id":id,"timestamp":1})],
            _ => vec![json!({"type":"error","id":id,"error":"not in this check","timestamp":1})],
        }
    },
    prompt: |line| {
        (text(line, "/kind") == Some("user_message"))
            .then(|| text(line, "/message").unwrap_or_default().to_owned())
    },
    // Lines of a request carry its id, which only the prompt tells: see `ui::under`.
    accept: |_| Vec::new(),
    text: |text| main_lane(vec![json!({"type":"token","id":"{id}","token":text,"timestamp":1})]),
    end: || main_lane(vec![json!({"type":"done","id":"{id}","timestamp":1})]),
    fail: || main_lane(vec![json!({"type":"error","id":"{id}","error":"broken on purpose","timestamp":1})]),
    ask: |_| Vec::new(),
    answered: |_, _| None,
    settled: |_| Vec::new(),
    unknown: || json!({"type":"from_the_future","id":"x","x":[1,{"y":null}],"timestamp":1}),
};
