//! codelia: JSON-RPC over stdio, string ids, `run.start` and one terminal `run.status`.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, UiWire, main_lane, named, own, quote, text};
use crate::check::shared::{greet, probe, prompt};
use crate::check::talk::Talk;
use crate::check::{Quote, Scenario, Stop};
use crate::peer::Carrier;
use serde_json::{Value, json};

/// What the document says about what all runtimes are asked.
fn says(scenario: &str) -> Option<Quote> {
    match scenario {
        "greets" => quote("section 4.1", "### 4.1 `initialize` (required)"),
        "answers" => quote("section 9", "- `-32601` method not found（JSON-RPC）"),
        "two-in-one-write" | "torn-line" => quote("section 2.2", r#"- Each message ends with `\n`"#),
        "run-ends" => quote(
            "section 5.2",
            r#"- `final` is an event that indicates "this turn is completed" and also has a body text."#,
        ),
        "second-run" => quote("section 9", "- `-32001` runtime busy (simultaneous run limit, etc.)"),
        "only-protocol" => quote(
            "section 2.1",
            "- **stdout is for protocol only**, logs are output to **stderr** (prevents stdout pollution)",
        ),
        "cancel" | "consent-after-cancel" => quote(
            "section 5.3",
            r#"If the run is active, it must attempt to stop LLM calls and tool execution and then emit `run.status` with `status: "cancelled"`."#,
        ),
        "cancel-nothing" => {
            quote("section 5.3", "Runtime should treat run.cancel as best-effort and idempotent.")
        }
        "consent-yes" | "consent-no" | "consent-twice" | "leave-while-asked" => {
            quote("section 7", "This is treated as a **Runtime→UI request** (you can wait for the response).")
        }
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => quote("section 4.1", "The UI sends `initialize` immediately after connecting."),
        "whole-run" | "failed-run" => {
            quote("section 5.4", "UI should stop spinners and treat the run as ended.")
        }
        "unknown-words" => quote(
            "section 3",
            "- `params` **allows future expansion** (does not discard unknown/extra fields)",
        ),
        "torn-lines" => quote("section 2.2", r#"- Each message ends with `\n`"#),
        "only-protocol" => quote("section 2.2", "- 1 row = 1 JSON object"),
        "answers-once" => quote(
            "section 3",
            "- Request/response requires **correlation id** (needs to wait with UI confirm etc.)",
        ),
        _ => None,
    }
}

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
    says,
    greeting: Greeting::Say(|| hello("hello", true)),
    greeted: |line| text(line, "/id") == Some("hello") && line.get("result").is_some(),
    reply,
    session: |_| None,
    not_known: |line, id| answers(line, id) && code(line) == Some(-32601),
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
    own: scenarios,
    defects: defects::defects,
    permitted: permitted::permitted,
};

fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "initialize",
            quote(
                "section 4.1",
                "protocol_version: string; // version that server can speak (same if compatible)",
            ),
            "the answer names the protocol version, the server and what it can do",
            |t| Box::pin(initialize(t)),
        ),
        own(
            "method-not-found",
            quote("section 9", "- `-32601` method not found（JSON-RPC）"),
            "an unknown method gets the error -32601",
            |t| Box::pin(method_not_found(t)),
        ),
        own(
            "id-as-sent",
            quote(
                "section 3",
                "- Request/response requires **correlation id** (needs to wait with UI confirm etc.)",
            ),
            "an id comes back with the type it was sent with",
            |t| Box::pin(id_as_sent(t)),
        ),
        own(
            "notification",
            quote("section 3", "- notification is fire-and-forget (without `id`)"),
            "a notification is not answered",
            |t| Box::pin(notification(t)),
        ),
        own("stray-response", None, "an answer to nothing does no harm", |t| Box::pin(stray(t))),
        own(
            "bad-params",
            quote("section 9", "- `-32602` invalid params"),
            "parameters of the wrong shape get the error -32602",
            |t| Box::pin(bad_params(t)),
        ),
        own(
            "run-id",
            quote("section 5.1", "export type RunStartResult = { run_id: string; };"),
            "run.start is answered with a run_id before anything of the run",
            |t| Box::pin(run_id(t)),
        ),
        own(
            "seq-rises",
            quote("section 5.2", "seq: number; // 0..N（ordering）"),
            "seq rises by exactly one from event to event of a run",
            |t| Box::pin(seq(t)),
        ),
        own(
            "events-name-run",
            quote("section 5.2", "export type AgentEventNotify = { run_id: string;"),
            "every agent.event carries the run_id that run.start told",
            |t| Box::pin(events_name_run(t)),
        ),
        own(
            "busy",
            quote("section 9", "- `-32001` runtime busy (simultaneous run limit, etc.)"),
            "a second run.start during a run gets the error -32001",
            |t| Box::pin(busy(t)),
        ),
        own(
            "cancel-unknown",
            quote("section 5.3", "Runtime should treat run.cancel as best-effort and idempotent."),
            "run.cancel of an unknown run is answered",
            |t| Box::pin(cancel_unknown(t)),
        ),
        own(
            "session-list",
            quote("section 5.4", "sessions: Array<{ session_id: string;"),
            "session.list gives a list whose items have a session_id",
            |t| Box::pin(session_list(t)),
        ),
        own(
            "reserved",
            quote("section 8", "These are not required for v0, but keep the method namespace:"),
            "reserved names are not found, and do no harm",
            |t| Box::pin(reserved(t)),
        ),
        own(
            "asks-only-who-can-answer",
            quote("section 4.2", "- `supports_confirm`, `supports_prompt`, `supports_pick`"),
            "a UI that cannot confirm is not asked",
            |t| Box::pin(cannot_confirm(t)),
        ),
    ]
}

async fn initialize(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello("hello", true)).await?;
    let answer = talk
        .until("the answer to initialize", |line| (text(line, "/id") == Some("hello")).then(|| line.clone()))
        .await?;
    for place in ["/result/protocol_version", "/result/server/name", "/result/server/version"] {
        if text(&answer, place).is_none() {
            return Err(Stop::wrong(format!("no text at {place}: {answer}")));
        }
    }
    Ok(())
}

async fn call(talk: &mut Talk, line: Value) -> Result<Value, Stop> {
    let id = line.get("id").cloned().unwrap_or_default();
    talk.say(&line).await?;
    talk.until("the answer", |came| {
        // Numbers and texts are told apart only where that is what is asked.
        let same = came.get("id").is_some_and(|other| bare(other) == bare(&id));
        (same && came.get("method").is_none()).then(|| came.clone())
    })
    .await
}

fn bare(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn code(line: &Value) -> Option<i64> {
    line.pointer("/error/code").and_then(Value::as_i64)
}

fn expect_code(line: &Value, wanted: i64) -> Result<(), Stop> {
    if code(line) == Some(wanted) { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn method_not_found(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    let answer = call(talk, request(id, "no.such.method", json!({}))).await?;
    expect_code(&answer, -32601)
}

async fn id_as_sent(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    for id in [json!(41), json!("41a")] {
        let answer =
            call(talk, json!({"jsonrpc":"2.0","id":id,"method":"no.such.method","params":{}})).await?;
        if answer.get("id") != Some(&id) {
            return Err(Stop::wrong(format!("{id} came back as {answer}")));
        }
    }
    Ok(())
}

async fn notification(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"jsonrpc":"2.0","method":"no.such.notification","params":{}})).await?;
    let heard = talk.lull().await;
    match heard.iter().find(|line| line.get("error").is_some() || line.get("result").is_some()) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("it was answered with {line}"))),
    }
}

async fn stray(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"jsonrpc":"2.0","id":"never-asked","result":{"ok":true}})).await?;
    talk.say(&json!({"jsonrpc":"2.0","id":"never-asked","error":{"code":1,"message":"no"}})).await?;
    probe(talk).await
}

async fn bad_params(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    let answer = call(talk, request(id, "run.start", json!({"input":"not an object"}))).await?;
    expect_code(&answer, -32602)
}

async fn run_id(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    let id = prompt(talk, &wish).await?;
    let first = talk
        .until("the answer to run.start", |line| {
            (answers(line, id) || (RUNTIME.of_run)(line)).then(|| line.clone())
        })
        .await?;
    match named(&first, "/result/run_id") {
        Some(_) => Ok(()),
        None => Err(Stop::wrong(first.to_string())),
    }
}

/// A whole run of the plain prompt.
async fn whole_run(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    Ok(talk.until_over(|line| ended(line).is_some()).await)
}

async fn seq(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.tool.clone();
    prompt(talk, &wish).await?;
    let lines = talk.until_over(|line| ended(line).is_some()).await;
    let seqs: Vec<i64> =
        lines.iter().filter_map(|line| line.pointer("/params/seq").and_then(Value::as_i64)).collect();
    match (seqs.len(), seqs.windows(2).find(|pair| pair[1] != pair[0] + 1)) {
        (0, _) => Err(Stop::wrong("no agent.event with a seq came")),
        (1, _) => Err(Stop::Skipped("only one event came".to_owned())),
        (_, None) => Ok(()),
        (_, Some(pair)) => Err(Stop::wrong(format!("after {} came {}", pair[0], pair[1]))),
    }
}

async fn events_name_run(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let Some(run) = lines.iter().find_map(|line| named(line, "/result/run_id")) else {
        return Err(Stop::Skipped("run.start told no run_id".to_owned()));
    };
    let other = |line: &&Value| {
        text(line, "/method") == Some("agent.event") && line.pointer("/params/run_id") != Some(&run)
    };
    match lines.iter().find(other) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("the run is {run}, and there came {line}"))),
    }
}

async fn busy(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.slow.clone();
    prompt(talk, &wish).await?;
    talk.until("the start of the run", |line| named(line, "/result/run_id")).await?;
    let id = talk.id();
    let answer = call(talk, (RUNTIME.prompt)(id, &wish)).await?;
    expect_code(&answer, -32001)
}

async fn cancel_unknown(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    let answer = call(talk, request(id, "run.cancel", json!({"run_id":"run-that-never-was"}))).await?;
    if answer.get("result").is_some() || code(&answer).is_some() {
        Ok(())
    } else {
        Err(Stop::wrong(answer.to_string()))
    }
}

async fn session_list(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    talk.until_over(|line| ended(line).is_some()).await;
    let id = talk.id();
    let answer = call(talk, request(id, "session.list", json!({"limit":5}))).await?;
    if code(&answer) == Some(-32601) {
        return Err(Stop::Skipped("session.list is recommended, and not there".to_owned()));
    }
    let Some(sessions) = answer.pointer("/result/sessions").and_then(Value::as_array) else {
        return Err(Stop::wrong(answer.to_string()));
    };
    match sessions.iter().find(|session| text(session, "/session_id").is_none()) {
        None => Ok(()),
        Some(session) => Err(Stop::wrong(format!("no session_id: {session}"))),
    }
}

async fn reserved(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    for method in
        ["artifact.get", "workspace.read", "history.export", "todos.update", "clipboard.read", "theme.set"]
    {
        let id = talk.id();
        let answer = call(talk, request(id, method, json!({}))).await?;
        if code(&answer).is_none() && answer.get("result").is_none() {
            return Err(Stop::wrong(format!("{method}: {answer}")));
        }
    }
    Ok(())
}

async fn cannot_confirm(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello("hello", false)).await?;
    talk.until("the answer to initialize", |line| (RUNTIME.greeted)(line).then_some(())).await?;
    let wish = talk.wishes.consent.clone();
    prompt(talk, &wish).await?;
    let lines = talk.until_over(|line| ended(line).is_some()).await;
    match lines.iter().find(|line| text(line, "/method").is_some_and(|method| method.starts_with("ui."))) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(line.to_string())),
    }
}

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
    says: says_of_ui,
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
