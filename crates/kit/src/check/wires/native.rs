//! Our own wire: one key per line says what it is; tickets, refusals, numbered events.

mod defects;

use super::{End, Greeting, RuntimeWire, Told, UiWire, text};
use crate::check::Stop;
use crate::check::scenes::ScenarioFile;
use crate::peer::Carrier;
use domain::event::{Base, Body, SessionEvent};
use domain::ids::{Millis, Seq};
use domain::state::State;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| {
    ScenarioFile::parse(
        include_str!("native/scenarios.txt"),
        &[("attached-before-events", attached_first), ("what-starts-ends", balanced)],
    )
});

fn hello() -> Value {
    json!({"hello":{"protocol":1,"revision":2,"name":"parlor-check","version":"0","capabilities":["hash","cursor","answers"]}})
}

fn command(ticket: u64, what: Value) -> Value {
    json!({"command":{"ticket":ticket,"what":what}})
}

fn settles(line: &Value, ticket: u64) -> bool {
    line.pointer("/settled/ticket").and_then(Value::as_u64) == Some(ticket)
        || line.pointer("/error/ticket").and_then(Value::as_u64) == Some(ticket)
}

fn body(line: &Value) -> Option<&Value> {
    line.pointer("/event/event/body")
}

/// Bodies of a line: one event, or the replay that a session is attached with.
fn bodies(line: &Value) -> Vec<&Value> {
    let replay = line.pointer("/attached/replay").and_then(Value::as_array);
    body(line).into_iter().chain(replay.into_iter().flatten().filter_map(|entry| entry.get(1))).collect()
}

fn ended(line: &Value) -> Option<End> {
    let outcome = bodies(line).into_iter().find_map(|body| body.pointer("/run_ended/outcome"))?;
    Some(match outcome.as_str() {
        Some("done") => End::Done,
        Some("cancelled") => End::Cancelled,
        _ => End::Failed,
    })
}

fn opened(line: &Value) -> Option<Value> {
    bodies(line).into_iter().find_map(|body| body.pointer("/ask_opened/id")).cloned()
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "native",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Say(hello),
    greeted: |line| line.get("hello").is_some(),
    reply: |_| Vec::new(),
    session: |_| None,
    not_known: |_, _| false,
    probe: |id| command(id, json!({"list_sessions":{}})),
    probed: settles,
    prompt: |id, text| command(id, json!({"prompt":{"input":{"text":text}}})),
    run_id: |line| bodies(line).into_iter().find_map(|body| body.pointer("/run_started/run")).cloned(),
    ended,
    last_word: |_| false,
    of_run: |line| {
        body(line).is_some_and(|body| body.get("context_measured").is_none() && body.get("renamed").is_none())
    },
    cancel: Some(|id, _| command(id, json!({"cancel":{}}))),
    asked: Some(opened),
    answer: |id, ask, yes| {
        let answer = if yes { json!({"allow":{"scope":"once"}}) } else { json!({"deny":{}}) };
        command(id, json!({"answer":{"ask":ask,"answer":answer}}))
    },
    ends_with_stdin: true,
    later: Some(|id, text| {
        command(id, json!({"prompt":{"input":{"text":text},"options":{"when_busy":"queue"}}}))
    }),
    defects: defects::defects,
    // The document is ours and leaves nothing open.
    permitted: Vec::new,
};

fn attached_first(lines: &[Value]) -> Result<(), Stop> {
    let attached =
        lines.iter().position(|line| line.get("attached").is_some() || line.get("attached_begin").is_some());
    let event = lines.iter().position(|line| line.get("event").is_some());
    match (attached, event) {
        (Some(attached), Some(event)) if attached < event => Ok(()),
        (Some(_), None) => Err(Stop::wrong("no event came")),
        // A session that begins empty may come as its first event.
        (None, Some(at)) if body(&lines[at]).is_some_and(|body| body.get("session_opened").is_some()) => {
            Ok(())
        }
        _ => Err(Stop::wrong("an event came of a session that is not attached")),
    }
}

fn balanced(lines: &[Value]) -> Result<(), Stop> {
    let mut open: Vec<String> = Vec::new();
    for body in lines.iter().flat_map(bodies) {
        for thing in ["run", "turn", "step", "message"] {
            let id = |how: &str| {
                body.pointer(&format!("/{thing}_{how}/{thing}")).map(|id| format!("{thing} {id}"))
            };
            open.extend(id("started"));
            if let Some(id) = id("ended") {
                match open.iter().position(|other| *other == id) {
                    Some(at) => drop(open.remove(at)),
                    None => return Err(Stop::wrong(format!("{id} ended without a start"))),
                }
            }
        }
    }
    // The end of the run itself is another scenario's business.
    open.retain(|thing| !thing.starts_with("run"));
    if open.is_empty() {
        Ok(())
    } else {
        Err(Stop::wrong(format!("still open at the end: {}", open.join(", "))))
    }
}

const SESSION: &str = "sess-0000000c4ec5";

/// An event; its number is the next one, whatever was said before.
fn happened(body: Value) -> (u8, Value) {
    (0, json!({"event":{"session":SESSION,"event":{"seq":"{seq}","at":1_730_000_000_000_u64,"body":body}}}))
}

/// An empty session, with the proof of what its replay builds.
fn attached() -> Value {
    let at = Millis(1_730_000_000_000);
    let opened =
        Body::Session(SessionEvent::Opened { cwd: "/".to_owned(), project: "/".to_owned(), parent: None });
    let base = Base { seq: Seq(1), updated_at: at, ..Base::default() };
    let mut state = State::new();
    for body in [opened, Body::Session(SessionEvent::LeafMoved { leaf: None }), Body::Rebased(Box::new(base))]
    {
        // None of them can fail on an empty state; a proof that does not fit would show as a UI that asks again.
        let _ = state.apply(at, &body);
    }
    let replay = json!([
        [at.0, {"session_opened":{"cwd":"/","project":"/"}}],
        [at.0, {"leaf_moved":{}}],
        [at.0, {"rebased":{"seq":1,"updated_at":at.0,"last_id":0,"usage":{}}}]
    ]);
    let abilities = json!({"name":"parlor-check","cancel":true,"consent":true});
    let at = json!({"session":SESSION,"seq":1,"hash":state.hash().to_string()});
    json!({"attached":{"at":at,"replay":replay,"board":{},"abilities":abilities}})
}

pub(in crate::check) static UI: UiWire = UiWire {
    dialect: "native",
    carrier: Carrier::One,
    told: &TOLD,
    opening: Vec::new,
    reply: |line| {
        if line.get("hello").is_some() {
            return vec![
                json!({"hello":{"protocol":1,"revision":2,"name":"parlor-check","version":"0","capabilities":["cursor"]}}),
            ];
        }
        let Some(ticket) = line.pointer("/command/ticket") else { return Vec::new() };
        let refusal = json!({"kind":"unsupported","message":"not in this check"});
        vec![json!({"settled":{"ticket":ticket,"with":{"refusal":refusal}}})]
    },
    prompt: |line| text(line, "/command/what/prompt/input/text").map(str::to_owned),
    accept: |line| {
        let ticket = line.pointer("/command/ticket");
        vec![
            (0, attached()),
            (
                0,
                json!({"settled":{"ticket":ticket,"with":{"receipt":{"started":{"session":SESSION,"run":1}}}}}),
            ),
            happened(json!({"run_started":{"run":1}})),
            happened(json!({"turn_started":{"run":1,"turn":2,"cause":"prompt"}})),
            happened(json!({"step_started":{"turn":2,"step":3}})),
            happened(json!({"message_started":{"message":4,"role":"assistant","turn":2,"step":3}})),
        ]
    },
    text: |text| vec![happened(json!({"part_added":{"message":4,"part":{"text":text}}}))],
    end: || {
        vec![
            happened(json!({"message_ended":{"message":4,"finish":"complete"}})),
            happened(json!({"step_ended":{"step":3,"usage":{}}})),
            happened(json!({"turn_ended":{"turn":2}})),
            happened(json!({"run_ended":{"run":1,"outcome":"done"}})),
        ]
    },
    fail: || {
        vec![
            happened(json!({"message_ended":{"message":4,"finish":"failed"}})),
            happened(json!({"step_ended":{"step":3,"usage":{}}})),
            happened(json!({"turn_ended":{"turn":2}})),
            happened(
                json!({"run_ended":{"run":1,"outcome":{"failed":{"code":"broken","message":"broken on purpose"}}}}),
            ),
        ]
    },
    ask: |number| {
        vec![
            happened(json!({"tool_proposed":{"tool":6,"message":4,"name":"bash","args":{"command":"true"}}})),
            happened(
                json!({"ask_opened":{"id":number,"run":1,"title":"run `true`","kind":{"consent":{"tool":6,"name":"bash",
                "args":{"command":"true"},"preview":{"command":{"line":"true","inner":["true"]}},
                "assessment":{"risk":"medium","reasons":[],"reversible":true},"digest":"d","takes_reason":true}}}}),
            ),
        ]
    },
    answered: |line, number| {
        let answer = line.pointer("/command/what/answer")?;
        let ours = answer.get("ask").and_then(Value::as_u64) == Some(number);
        ours.then(|| answer.pointer("/answer/allow").is_some())
    },
    settled: |number| {
        vec![
            happened(json!({"ask_closed":{"ask":number,"closing":"withdrawn"}})),
            happened(json!({"tool_ended":{"tool":6,"outcome":"skipped","result":{"text":""}}})),
        ]
    },
    unknown: || json!({"from_the_future":{"x":[1,{"y":null}]}}),
};
