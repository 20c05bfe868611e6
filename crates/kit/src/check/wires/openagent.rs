//! openagent: JSON-RPC over a socket, queries that stream tokens and end with `stream.complete`, approvals of tools.

mod defects;
mod permitted;

use super::{End, Greeting, RuntimeWire, UiWire, main_lane, named, own, quote, text};
use crate::check::shared::{greet, prompt};
use crate::check::talk::Talk;
use crate::check::{Quote, Scenario, Stop};
use crate::peer::Carrier;
use serde_json::{Value, json};

/// What the document says about what all runtimes are asked.
fn says(scenario: &str) -> Option<Quote> {
    match scenario {
        "greets" => quote("Lifecycle", "3. Handshake via `initialize` method"),
        "answers" => quote("Error Codes", "| -32601 | Method not found | Method doesn't exist |"),
        "two-in-one-write" | "torn-line" | "only-protocol" => {
            quote("Connection", "- **Framing:** Newline-delimited JSON (one message per line)")
        }
        "garbage" => quote("Error Codes", "| -32700 | Parse error | Invalid JSON |"),
        "oversized-line" => quote("Message Validation", "- Maximum message size enforced (10MB)"),
        "run-ends" | "second-run" => {
            quote("Notifications 3", "**Description:** Signal that streaming is complete")
        }
        "cancel" => quote("Notifications 3", "- `cancelled` - Cancelled by user"),
        "cancel-nothing" => quote("Methods 3", "**Description:** Cancel an in-progress query"),
        "consent-yes" | "consent-no" | "consent-twice" | "consent-after-cancel" | "leave-while-asked" => {
            quote("Rate Limiting", "- Tool execution requires explicit approval")
        }
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => quote("Lifecycle", "3. Handshake via `initialize` method"),
        "whole-run" => quote("Notifications 3", "**Description:** Signal that streaming is complete"),
        "failed-run" => quote("Notifications 4", "**Description:** Signal an error during streaming"),
        "torn-lines" | "only-protocol" => {
            quote("Connection", "- **Framing:** Newline-delimited JSON (one message per line)")
        }
        "answers-once" => quote("Methods 4", "**Description:** Approve or reject a tool execution"),
        _ => None,
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})
}

fn hello() -> Value {
    request(
        900_000,
        "initialize",
        json!({"protocol_version":"1.0.0","client_info":{"name":"parlor-check","version":"0"},
        "terminal_size":{"cols":80,"rows":24},"capabilities":["streaming","blocks","tool_approval"]}),
    )
}

fn answers(line: &Value, id: u64) -> bool {
    line.get("id").and_then(Value::as_u64) == Some(id) && line.get("method").is_none()
}

fn ended(line: &Value) -> Option<End> {
    if text(line, "/method") != Some("stream.complete") {
        return None;
    }
    Some(match text(line, "/params/status").unwrap_or_default() {
        "cancelled" => End::Cancelled,
        "error" | "failed" => End::Failed,
        _ => End::Done,
    })
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "openagent",
    carrier: Carrier::One,
    says,
    greeting: Greeting::Say(hello),
    greeted: |line| answers(line, 900_000) && line.get("result").is_some(),
    reply: |_| Vec::new(),
    session: |_| None,
    not_known: |line, id| answers(line, id) && line.pointer("/error/code") == Some(&json!(-32601)),
    probe: |id| request(id, "parlor.check.unknown", json!({})),
    probed: answers,
    prompt: |id, text| request(id, "agent.query", json!({"message":text})),
    run_id: |line| named(line, "/result/query_id"),
    ended,
    last_word: |_| false,
    of_run: |line| {
        text(line, "/method")
            .is_some_and(|method| method.starts_with("stream.") || method.starts_with("tool."))
    },
    cancel: Some(|id, run| request(id, "agent.cancel", json!({"query_id":run}))),
    asked: Some(|line| {
        (text(line, "/method") == Some("tool.request_approval"))
            .then(|| line.pointer("/params/execution_id").cloned())
            .flatten()
    }),
    answer: |id, ask, yes| request(id, "tool.approve", json!({"execution_id":ask,"approved":yes})),
    ends_with_stdin: false,
    later: None,
    own: scenarios,
    defects: defects::defects,
    permitted: permitted::permitted,
};

fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "initialize",
            quote("Methods 1", r#""status": "ready","#),
            "the answer has the status ready and capabilities",
            |t| Box::pin(initialize(t)),
        ),
        own(
            "method-not-found",
            quote("Error Codes", "| -32601 | Method not found | Method doesn't exist |"),
            "an unknown method gets the error -32601",
            |t| Box::pin(not_found(t)),
        ),
        own(
            "bad-params",
            quote("Error Codes", "| -32602 | Invalid params | Invalid method parameters |"),
            "parameters of the wrong shape get the error -32602",
            |t| Box::pin(bad_params(t)),
        ),
        own(
            "id-as-sent",
            quote("Message Format", r#""id": <number|string>,"#),
            "an id comes back with the type it was sent with",
            |t| Box::pin(id_as_sent(t)),
        ),
        own(
            "query-id",
            quote("Methods 2", "**Response (immediate):**"),
            "agent.query is answered with a query_id before anything of the query",
            |t| Box::pin(query_id(t)),
        ),
        own("tokens-indexed", quote("Notifications 1", r#""index": 0,"#), "the index of tokens rises", |t| {
            Box::pin(tokens(t))
        }),
        own(
            "stream-names-query",
            quote("Notifications 1", r#""query_id": "q-123abc", "token": "To optimize","#),
            "every line of a stream carries the query_id",
            |t| Box::pin(names_query(t)),
        ),
        own(
            "cancel-unknown",
            quote("Message Format", "All messages follow JSON-RPC 2.0 specification."),
            "agent.cancel of an unknown query is answered",
            |t| Box::pin(cancel_unknown(t)),
        ),
        own("approve-unknown", None, "tool.approve of an unknown execution is refused", |t| {
            Box::pin(approve_unknown(t))
        }),
    ]
}

async fn call(talk: &mut Talk, method: &str, params: Value) -> Result<Value, Stop> {
    let id = talk.id();
    talk.say(&request(id, method, params)).await?;
    talk.until(&format!("the answer to {method}"), |line| answers(line, id).then(|| line.clone())).await
}

fn expect_code(line: &Value, wanted: i64) -> Result<(), Stop> {
    let code = line.pointer("/error/code").and_then(Value::as_i64);
    if code == Some(wanted) { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn initialize(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello()).await?;
    let line =
        talk.until("the answer to initialize", |line| answers(line, 900_000).then(|| line.clone())).await?;
    let sound = text(&line, "/result/status") == Some("ready")
        && line.pointer("/result/capabilities").is_some_and(Value::is_array);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn not_found(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    expect_code(&call(talk, "no.such.method", json!({})).await?, -32601)
}

async fn bad_params(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    expect_code(&call(talk, "agent.query", json!({"message":5})).await?, -32602)
}

async fn id_as_sent(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    for id in [json!(41), json!("41a")] {
        talk.say(&json!({"jsonrpc":"2.0","id":id,"method":"no.such.method","params":{}})).await?;
        let bare = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let came = talk
            .until("the answer", |line| line.get("id").filter(|other| bare(other) == bare(&id)).cloned())
            .await?;
        if came != id {
            return Err(Stop::wrong(format!("{id} came back as {came}")));
        }
    }
    Ok(())
}

async fn query_id(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    let id = prompt(talk, &wish).await?;
    let first = talk
        .until("the answer to agent.query", |line| {
            (answers(line, id) || (RUNTIME.of_run)(line)).then(|| line.clone())
        })
        .await?;
    if named(&first, "/result/query_id").is_some() { Ok(()) } else { Err(Stop::wrong(first.to_string())) }
}

async fn whole_run(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    Ok(talk.until_over(|line| ended(line).is_some()).await)
}

async fn tokens(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    // A long answer: a short one may come as one token.
    let wish = talk.wishes.slow.clone();
    prompt(talk, &wish).await?;
    let lines = talk.until_over(|line| ended(line).is_some()).await;
    // Several may come in one line.
    let tokens = lines.iter().flat_map(|line| match text(line, "/method") {
        Some("stream.token") => line.get("params").into_iter().collect(),
        Some("stream.tokens") => {
            line.pointer("/params/tokens").and_then(Value::as_array).into_iter().flatten().collect()
        }
        _ => Vec::new(),
    });
    let tokens: Vec<&Value> = tokens.collect();
    if tokens.is_empty() {
        return Err(Stop::Skipped("the answer came without stream.token".to_owned()));
    }
    let indices: Vec<u64> =
        tokens.iter().filter_map(|token| token.get("index").and_then(Value::as_u64)).collect();
    if let Some(token) = tokens.iter().find(|token| token.get("index").is_none()) {
        return Err(Stop::wrong(format!("a token without an index: {token}")));
    }
    match indices.windows(2).find(|pair| pair[1] <= pair[0]) {
        None => Ok(()),
        Some(pair) => Err(Stop::wrong(format!("after {} came {}", pair[0], pair[1]))),
    }
}

async fn names_query(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let Some(query) = lines.iter().find_map(|line| named(line, "/result/query_id")) else {
        return Err(Stop::Skipped("agent.query told no query_id".to_owned()));
    };
    let nameless = |line: &&Value| {
        text(line, "/method").is_some_and(|method| method.starts_with("stream."))
            && line.pointer("/params/query_id") != Some(&query)
    };
    match lines.iter().find(nameless) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(line.to_string())),
    }
}

async fn cancel_unknown(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    call(talk, "agent.cancel", json!({"query_id":"q-that-never-was"})).await.map(|_| ())
}

async fn approve_unknown(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let line =
        call(talk, "tool.approve", json!({"execution_id":"exec-that-never-was","approved":true})).await?;
    let refused = line.get("error").is_some() || text(&line, "/result/status") == Some("error");
    if refused { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

const QUERY: &str = "q-check";

fn notify(method: &str, params: Value) -> Value {
    json!({"jsonrpc":"2.0","method":method,"params":params})
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "openagent",
    carrier: Carrier::One,
    says: says_of_ui,
    opening: Vec::new,
    reply: |line| {
        let Some(id) = line.get("id").filter(|_| line.get("method").is_some()) else { return Vec::new() };
        let result = match text(line, "/method").unwrap_or_default() {
            "initialize" => {
                json!({"status":"ready","protocol_version":"1.0.0","server_info":{"name":"parlor-check","version":"0"},
                "capabilities":["streaming","blocks","tool_execution","tool_approval"]})
            }
            "context.update" => json!({"status":"updated"}),
            "agent.cancel" => json!({"cancelled":true,"query_id":QUERY}),
            "tool.approve" => json!({"status":"approved"}),
            _ => {
                return vec![
                    json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"Method not found"}}),
                ];
            }
        };
        vec![json!({"jsonrpc":"2.0","id":id,"result":result})]
    },
    prompt: |line| {
        (text(line, "/method") == Some("agent.query"))
            .then(|| text(line, "/params/message").unwrap_or_default().to_owned())
    },
    accept: |line| {
        main_lane(vec![
            json!({"jsonrpc":"2.0","id":line.get("id"),"result":{"query_id":QUERY,"status":"processing"}}),
        ])
    },
    text: |text| {
        main_lane(vec![notify(
            "stream.token",
            json!({"query_id":QUERY,"token":text,"index":0,"metadata":{"type":"text"}}),
        )])
    },
    end: || {
        main_lane(vec![notify("stream.complete", json!({"query_id":QUERY,"status":"success","metadata":{}}))])
    },
    fail: || {
        main_lane(vec![
            notify(
                "stream.error",
                json!({"query_id":QUERY,"error":{"code":-32002,"message":"broken on purpose"}}),
            ),
            notify("stream.complete", json!({"query_id":QUERY,"status":"error","metadata":{}})),
        ])
    },
    ask: |number| {
        main_lane(vec![notify(
            "tool.request_approval",
            json!({"execution_id":format!("exec-{number}"),"query_id":QUERY,
            "tool":{"name":"bash","description":"runs a command","category":"system"},"arguments":{"command":"true"},
            "risk_assessment":{"level":"medium","reasons":[],"reversible":true},"timeout":30}),
        )])
    },
    answered: |line, number| {
        let ours = text(line, "/method") == Some("tool.approve")
            && text(line, "/params/execution_id") == Some(format!("exec-{number}").as_str());
        ours.then(|| line.pointer("/params/approved").and_then(Value::as_bool).unwrap_or(false))
    },
    settled: |number| {
        main_lane(vec![notify(
            "tool.complete",
            json!({"execution_id":format!("exec-{number}"),"query_id":QUERY,"status":"denied","result":{"output":""}}),
        )])
    },
    unknown: || notify("future.notification", json!({"x":[1,{"y":null}]})),
};
