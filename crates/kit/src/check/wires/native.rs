//! Our own wire: one key per line says what it is; tickets, refusals, numbered events.

mod defects;

use super::{End, Greeting, RuntimeWire, UiWire, own, quote, text};
use crate::check::shared::{greet, probe, prompt};
use crate::check::talk::Talk;
use crate::check::{Quote, Scenario, Stop};
use crate::peer::Carrier;
use domain::event::{Base, Body, SessionEvent};
use domain::ids::{Millis, Seq};
use domain::state::State;
use serde_json::{Value, json};

/// What the document says about what all runtimes are asked.
fn says(scenario: &str) -> Option<Quote> {
    match scenario {
        "greets" => quote("Hello", "The UI speaks first."),
        "answers" => quote("Commands", "Every command is settled once;"),
        "two-in-one-write" | "torn-line" | "blank-lines" | "only-protocol" => quote(
            "the first paragraph",
            "One lane, UTF-8, one JSON object per line with exactly one key, which says what the line is;",
        ),
        "garbage" | "not-utf8" => quote("Errors", "`about` is `line` (that line only),"),
        "oversized-line" => quote("the first paragraph", "a line is at most 10 MB."),
        "run-ends" | "second-run" | "slow-reader" => quote(
            "What a UI sees",
            "The replay builds the session's state from nothing; events follow from `seq` + 1 on.",
        ),
        "cancel"
        | "cancel-nothing"
        | "consent-yes"
        | "consent-no"
        | "consent-twice"
        | "consent-after-cancel" => quote("Commands", "Every command is settled once;"),
        "leave-while-asked" => {
            quote("Hello", "has a person who can answer; without it nobody is asked over this link")
        }
        _ => None,
    }
}

/// What the document says about what all UIs are asked.
fn says_of_ui(scenario: &str) -> Option<Quote> {
    match scenario {
        "prompts" => quote("Hello", "The UI speaks first."),
        "whole-run" | "failed-run" | "after-the-end" | "answers-once" | "question-withdrawn" => quote(
            "What a UI sees",
            "The replay builds the session's state from nothing; events follow from `seq` + 1 on.",
        ),
        "unknown-words" => quote(
            "the first paragraph",
            "A tag that it does not know is an error that names it, and the link lives on.",
        ),
        "garbage" | "oversized-line" => quote("Errors", "`about` is `line` (that line only),"),
        "torn-lines" | "only-protocol" => quote(
            "the first paragraph",
            "One lane, UTF-8, one JSON object per line with exactly one key, which says what the line is;",
        ),
        _ => None,
    }
}

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
    says,
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
    own: scenarios,
    defects: defects::defects,
    // The document is ours and leaves nothing open.
    permitted: Vec::new,
};

fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "hello-shape",
            quote("Hello", "Both sides say the highest protocol they know and use the lower one;"),
            "the hello names protocol, name, version and capabilities",
            |t| Box::pin(hello_shape(t)),
        ),
        own(
            "later-protocol",
            quote("Hello", "Both sides say the highest protocol they know and use the lower one;"),
            "a UI that knows more is answered with what both know",
            |t| Box::pin(later_protocol(t)),
        ),
        own(
            "unknown-tag",
            quote(
                "the first paragraph",
                "A tag that it does not know is an error that names it, and the link lives on.",
            ),
            "an unknown tag is an error about that line",
            |t| Box::pin(unknown_tag(t)),
        ),
        own(
            "refusal",
            quote("Commands", "Every command is settled once;"),
            "a command that cannot be done is settled with a refusal that has a kind and a message",
            |t| Box::pin(refusal(t)),
        ),
        own(
            "unreadable-command",
            quote("Commands", "one that cannot be read is answered with an `error` that carries its ticket."),
            "a command that cannot be read is an error with its ticket",
            |t| Box::pin(unreadable(t)),
        ),
        own(
            "seq-rises",
            quote("What a UI sees", "numbers rise, not always by one."),
            "numbers of events rise",
            |t| Box::pin(seq(t)),
        ),
        own(
            "attached-first",
            quote(
                "What a UI sees",
                "The replay builds the session's state from nothing; events follow from `seq` + 1 on.",
            ),
            "a session is attached before its events come",
            |t| Box::pin(attached_first(t)),
        ),
        own(
            "balanced",
            quote(
                "What a UI sees",
                "The replay builds the session's state from nothing; events follow from `seq` + 1 on.",
            ),
            "whatever starts in a run has ended when the run has",
            |t| Box::pin(balanced(t)),
        ),
    ]
}

async fn hello_shape(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello()).await?;
    let line = talk.until("a hello", |line| line.get("hello").cloned()).await?;
    let sound = line.get("protocol").is_some_and(Value::is_u64)
        && text(&line, "/name").is_some()
        && text(&line, "/version").is_some()
        && line.get("capabilities").is_some_and(Value::is_array);
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn later_protocol(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&json!({"hello":{"protocol":99,"revision":7,"name":"later","version":"9","capabilities":["telepathy"],"mood":"good"}})).await?;
    let line = talk.until("a hello", |line| line.get("hello").cloned()).await?;
    match line.get("protocol").and_then(Value::as_u64) {
        Some(protocol) if protocol < 99 => Ok(()),
        _ => Err(Stop::wrong(line.to_string())),
    }
}

async fn unknown_tag(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.say(&json!({"no_such_tag":{}})).await?;
    let about = talk.until("an error", |line| line.pointer("/error/about").cloned()).await?;
    if about != "line" {
        return Err(Stop::wrong(format!("the error is about {about}")));
    }
    probe(talk).await
}

async fn refusal(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&command(id, json!({"open_session":{"session":"sess-000000000000"}}))).await?;
    let line = talk.until("its settlement", |line| settles(line, id).then(|| line.clone())).await?;
    let refusal = line.pointer("/settled/with/refusal").cloned().unwrap_or_default();
    let sound = refusal.get("kind").is_some() && text(&refusal, "/message").is_some();
    if sound { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn unreadable(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    talk.say(&command(id, json!({"prompt":{"input":7}}))).await?;
    let line = talk.until("its error", |line| settles(line, id).then(|| line.clone())).await?;
    if line.get("error").is_some() { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn whole_run(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    Ok(talk.until_over(|line| ended(line).is_some()).await)
}

async fn seq(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
    let seqs: Vec<u64> =
        lines.iter().filter_map(|line| line.pointer("/event/event/seq").and_then(Value::as_u64)).collect();
    if seqs.is_empty() {
        return Err(Stop::wrong("no event came"));
    }
    match seqs.windows(2).find(|pair| pair[1] <= pair[0]) {
        None => Ok(()),
        Some(pair) => Err(Stop::wrong(format!("after {} came {}", pair[0], pair[1]))),
    }
}

async fn attached_first(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
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

async fn balanced(talk: &mut Talk) -> Result<(), Stop> {
    let lines = whole_run(talk).await?;
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
    says: says_of_ui,
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
