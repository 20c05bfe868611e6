//! asst: requests with an id and a kind, answers with a type and the same id, over stdio; no questions, no cancel.

mod defects;

use super::{End, Greeting, RuntimeWire, Topic, UiWire, main_lane, text};
use crate::check::shared::{greet, prompt};
use crate::check::talk::Talk;
use crate::check::{Scenario, Stop};
use crate::peer::Carrier;
use serde_json::{Value, json};

fn section(topic: Topic) -> &'static str {
    match topic {
        Topic::Hello => "Ready Signal",
        Topic::Framing => "Protocol Rules 1",
        Topic::Errors => "Protocol Rules 4",
        Topic::Run => "Done Response",
        Topic::Cancel | Topic::Consent => "Protocol Rules",
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
    section,
    greeting: Greeting::Hear,
    greeted: |line| text(line, "/type") == Some("ready"),
    probe: |id| json!({"id":id_of(id),"kind":"get_status"}),
    probed: |line, id| about(line, id) && text(line, "/type") == Some("status"),
    prompt: |id, text| json!({"id":id_of(id),"kind":"user_message","message":text}),
    run_id: |line| (text(line, "/type") == Some("token")).then_some(Value::Null),
    ended,
    of_run: |line| matches!(text(line, "/type"), Some("token" | "tool_use" | "tool_result" | "done")),
    cancel: None,
    asked: None,
    answer: |_, _, _| Value::Null,
    ends_with_stdin: true,
    own,
    defects: defects::defects,
};

fn own() -> Vec<Scenario> {
    let scenario = |name, section, expects, act| Scenario { name, section, expects, act };
    vec![
        scenario(
            "ready-first",
            "Ready Signal",
            "the first line is ready, with a version and capabilities",
            |t| Box::pin(ready(t)),
        ),
        scenario(
            "unknown-kind",
            "Protocol Rules 4",
            "an unknown kind is answered with an error under its id",
            |t| Box::pin(unknown(t)),
        ),
        scenario("id-comes-back", "Protocol Rules 2", "every line of a request carries its id", |t| {
            Box::pin(ids(t))
        }),
        scenario("timestamps", "Response Messages", "every line has a number as timestamp", |t| {
            Box::pin(timestamps(t))
        }),
        scenario("done-once", "Protocol Rules 3", "a request ends with one done or one error", |t| {
            Box::pin(done_once(t))
        }),
        scenario("clear-history", "Clear History Request", "clear_history is answered with done", |t| {
            Box::pin(clear(t))
        }),
    ]
}

async fn ready(talk: &mut Talk) -> Result<(), Stop> {
    let line = talk.until("a line", |line| Some(line.clone())).await?;
    let sound = text(&line, "/type") == Some("ready")
        && text(&line, "/version").is_some()
        && line.get("capabilities").is_some_and(Value::is_array);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
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
    let lines = talk.lull().await;
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

async fn clear(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&json!({"id":id_of(id),"kind":"clear_history"})).await?;
    talk.until("done", |line| (about(line, id) && text(line, "/type") == Some("done")).then_some(())).await
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "asst",
    carrier: Carrier::One,
    section,
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
