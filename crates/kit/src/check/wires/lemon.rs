//! lemon: frames with a type over stdio, the server greets, whole messages in events, questions as `ui_request`.

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
        "greets" => quote("section 1", "- `ready`, `event`, `stats`, `pong`, `debug`, `error`."),
        "answers" => {
            quote("section 1", "- `prompt`, `abort`, `reset`, `save`, `stats`, `ping`, `debug`, `quit`.")
        }
        "two-in-one-write" | "torn-line" => quote("section 2.4", "Each line is a single JSON object."),
        "run-ends" | "second-run" => quote("section 4.3", "- `agent_end` → clear busy status"),
        "only-protocol" => {
            quote("section 2.4", "Each line is a single JSON object. The top-level always includes `type`.")
        }
        "consent-yes" | "consent-no" | "consent-twice" | "leave-while-asked" => {
            quote("section 2.2", "- **confirm**: `result` is boolean `true/false`.")
        }
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => {
            quote("section 1", "- `prompt`, `abort`, `reset`, `save`, `stats`, `ping`, `debug`, `quit`.")
        }
        "whole-run" => quote("section 4.3", "- `agent_end` → clear busy status"),
        "failed-run" => quote("section 4.3", "- `error` → show error message/banner"),
        "torn-lines" => quote("section 4.1", "- Read stdout line-by-line; parse JSON; route by `type`."),
        "only-protocol" => quote("section 2.4", "Each line is a single JSON object."),
        "answers-once" => quote("section 3.1", "- Waits for `ui_response` with the matching `id`."),
        _ => None,
    }
}

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
    says,
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
    not_known: |_, _| false,
    probe: |_| json!({"type":"ping"}),
    probed: |line, _| text(line, "/type") == Some("pong"),
    prompt: |_, text| json!({"type":"prompt","text":text}),
    run_id: |line| (event_type(line) == Some("agent_start")).then_some(Value::Null),
    ended: |line| match event_type(line)? {
        "agent_end" => Some(End::Done),
        _ => None,
    },
    last_word: |_| false,
    of_run: |line| event_type(line).is_some_and(|kind| kind != "quit"),
    // The end after an abort is the same as any other; its own scenario looks for more.
    cancel: None,
    asked: Some(consent),
    answer: |_, ask, yes| answer(ask, yes),
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
            quote(
                "section 2.4",
                r#"{"type":"ready","cwd":"/path","model":{"provider":"anthropic","id":"claude-3-5"},"debug":false}"#,
            ),
            "the first line is ready, with cwd and model",
            |t| Box::pin(ready(t)),
        ),
        own("unknown-command", None, "an unknown command is answered with an error", |t| {
            Box::pin(unknown(t))
        }),
        own(
            "run-order",
            quote(
                "section 7",
                "- **Message ordering**: rely on `message_start/update/end` semantics; if out-of-order, fallback to full message replacement.",
            ),
            "agent_start comes first, and messages end as often as they start",
            |t| Box::pin(order(t)),
        ),
        own(
            "message-shape",
            quote("section 2.4.2", "The client should treat `role` and `content` as the primary fields."),
            "messages have a role and a content",
            |t| Box::pin(shapes(t)),
        ),
        own("busy", None, "a second prompt during a run is refused with an error", |t| Box::pin(busy(t))),
        own("abort", None, "after an abort agent_end comes", |t| Box::pin(abort(t))),
        own("abort-idle", None, "an abort when nothing runs does no harm", |t| Box::pin(abort_idle(t))),
        own(
            "stats",
            quote("section 2.4", r#"{"type":"stats","stats":{...}}"#),
            "stats tells the session and its counts",
            |t| Box::pin(stats(t)),
        ),
        own("stray-response", None, "an answer to no question does no harm", |t| Box::pin(stray(t))),
    ]
}

async fn ready(talk: &mut Talk) -> Result<(), Stop> {
    let line = talk.until("a line", |line| Some(line.clone())).await;
    let line = line.map_err(|stop| stop.because(GREETS))?;
    let sound = text(&line, "/type") == Some("ready")
        && text(&line, "/cwd").is_some()
        && line.pointer("/model/id").is_some();
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn unknown(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"type":"no_such_command"})).await?;
    talk.until("an error", |line| (text(line, "/type") == Some("error")).then_some(())).await
}

async fn whole_run(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    Ok(talk.until_over(|line| event_type(line) == Some("agent_end")).await)
}

async fn order(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let kinds: Vec<&str> = lines.iter().filter_map(event_type).collect();
    let count = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    if kinds.first() != Some(&"agent_start") {
        return Err(Stop::wrong(format!("the first event was {}", kinds.first().unwrap_or(&"none"))));
    }
    for thing in ["message", "turn", "tool_execution"] {
        let (starts, ends) = (count(&format!("{thing}_start")), count(&format!("{thing}_end")));
        if starts != ends {
            return Err(Stop::wrong(format!("{starts} {thing}_start and {ends} {thing}_end")));
        }
    }
    Ok(())
}

async fn shapes(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let messages = lines
        .iter()
        .filter(|line| event_type(line) == Some("message_end"))
        .filter_map(|line| line.pointer("/event/data/0"));
    let mut seen = 0;
    for message in messages {
        seen += 1;
        if text(message, "/role").is_none() || message.get("content").is_none() {
            return Err(Stop::wrong(message.to_string()));
        }
    }
    if seen > 0 { Ok(()) } else { Err(Stop::wrong("no message came")) }
}

async fn busy(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.slow.clone();
    prompt(talk, &wish).await?;
    talk.until("the start of the run", |line| (event_type(line) == Some("agent_start")).then_some(()))
        .await?;
    prompt(talk, &wish).await?;
    talk.until("an error", |line| (text(line, "/type") == Some("error")).then_some(())).await
}

async fn abort(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.slow.clone();
    prompt(talk, &wish).await?;
    talk.until("the start of the run", |line| (event_type(line) == Some("agent_start")).then_some(()))
        .await?;
    talk.say(&json!({"type":"abort"})).await?;
    talk.until("agent_end", |line| (event_type(line) == Some("agent_end")).then_some(())).await
}

async fn abort_idle(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"type":"abort"})).await?;
    crate::check::shared::probe(talk).await
}

async fn stats(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"type":"stats"})).await?;
    let line =
        talk.until("stats", |line| (text(line, "/type") == Some("stats")).then(|| line.clone())).await?;
    let sound = line.pointer("/stats/session_id").is_some()
        && line.pointer("/stats/message_count").is_some_and(Value::is_u64);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn stray(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"type":"ui_response","id":"never-asked","result":true,"error":null})).await?;
    crate::check::shared::probe(talk).await
}

fn event(kind: &str, data: Value) -> Value {
    json!({"type":"event","session_id":"sess-check1","event":{"type":kind,"data":data}})
}

fn message(content: Value, stop: Value) -> Value {
    json!({"role":"assistant","content":content,"provider":"check","model":"check","usage":null,"stop_reason":stop,"error_message":null,"timestamp":0})
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "lemon",
    carrier: Carrier::One,
    says: says_of_ui,
    opening: || {
        vec![
            json!({"type":"ready","cwd":"/","model":{"provider":"check","id":"check"},"debug":false,"ui":true,
            "primary_session_id":"sess-check1","active_session_id":"sess-check1"}),
        ]
    },
    reply: |line| match text(line, "/type").unwrap_or_default() {
        "ping" => vec![json!({"type":"pong"})],
        "list_sessions" => vec![json!({"type":"sessions_list","sessions":[],"error":null})],
        "list_running_sessions" => vec![json!({"type":"running_sessions","sessions":[],"error":null})],
        "list_models" => vec![json!({"type":"models_list","providers":[],"error":null})],
        "start_session" => vec![
            json!({"type":"session_started","session_id":"sess-check1","cwd":"/","model":{"provider":"check","id":"check"}}),
        ],
        "stats" => vec![
            json!({"type":"stats","session_id":"sess-check1","stats":{"session_id":"sess-check1","message_count":0,"turn_count":0,
            "is_streaming":false,"cwd":"/","model":{"provider":"check","id":"check"},"thinking_level":"off"}}),
        ],
        _ => Vec::new(),
    },
    prompt: |line| {
        (text(line, "/type") == Some("prompt")).then(|| text(line, "/text").unwrap_or_default().to_owned())
    },
    accept: |_| {
        main_lane(vec![
            event("agent_start", json!([])),
            event("turn_start", json!([])),
            event("message_start", json!([message(json!([]), Value::Null)])),
        ])
    },
    text: |text| {
        main_lane(vec![event(
            "message_update",
            json!([message(json!([{"type":"text","text":text}]), Value::Null), ["text_delta", 0, text]]),
        )])
    },
    end: || {
        let done = message(json!([{"type":"text","text":"hello"}]), json!("stop"));
        main_lane(vec![
            event("message_end", json!([done])),
            event("turn_end", json!([done, []])),
            event("agent_end", json!([[done]])),
        ])
    },
    fail: || {
        main_lane(vec![event("error", json!(["broken on purpose", null])), event("agent_end", json!([[]]))])
    },
    ask: |number| {
        main_lane(vec![
            json!({"type":"ui_request","id":format!("ask-{number}"),"method":"confirm","params":{"title":"Run?","message":"true","opts":{}}}),
        ])
    },
    answered: |line, number| {
        let ours = text(line, "/type") == Some("ui_response")
            && text(line, "/id") == Some(format!("ask-{number}").as_str());
        ours.then(|| line.get("result") == Some(&Value::Bool(true)))
    },
    settled: |_| Vec::new(),
    unknown: || json!({"type":"from_the_future","x":[1,{"y":null}]}),
};
