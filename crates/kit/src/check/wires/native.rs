//! Our own wire: one key per line says what it is; tickets, refusals, numbered events.

mod defects;

use super::{CANCEL, CONSENT, End, Greeting, RuntimeWire, Told, UiWire};
use crate::check::Stop;
use crate::check::scenes::ScenarioFile;
use crate::pattern::Bindings;
use crate::peer::Carrier;
use domain::event::{Base, Body, Event, SessionEvent};
use domain::grammar::Grammar;
use domain::ids::{Millis, Seq};
use domain::state::State;
use serde_json::{Value, json};
use std::sync::LazyLock;

static TOLD: Told = LazyLock::new(|| {
    ScenarioFile::parse(
        include_str!("native/scenarios.txt"),
        &[
            ("attached-before-events", attached_first),
            ("what-starts-ends", balanced),
            ("law", lawful),
            ("numbers-go-on", goes_on),
        ],
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

/// The abilities that a scenario can give occasion to show. One that is left out is not there.
const SHOWN: &[&str] = &[CANCEL, CONSENT, "sessions", "models", "servers", "skills"];

fn announces(line: &Value) -> Vec<(&'static str, bool)> {
    let told = line.pointer("/attached/abilities").or_else(|| line.pointer("/attached_begin/abilities"));
    let Some(told) = told else { return Vec::new() };
    SHOWN.iter().map(|name| (*name, told.get(name) == Some(&Value::Bool(true)))).collect()
}

pub(in crate::check) static RUNTIME: RuntimeWire = RuntimeWire {
    dialect: "native",
    carrier: Carrier::One,
    told: &TOLD,
    greeting: Greeting::Say(hello),
    greeted: |line| line.get("hello").is_some(),
    reply: |_| Vec::new(),
    session: |_| None,
    announces,
    not_known: |line, id| {
        settles(line, id)
            && line.pointer("/settled/with/refusal/kind").and_then(Value::as_str) == Some("unsupported")
    },
    probe: |id| command(id, json!({"list_sessions":{}})),
    probed: settles,
    prompt: |id, text| command(id, json!({"prompt":{"input":{"text":text}}})),
    run_id: |line| bodies(line).into_iter().find_map(|body| body.pointer("/run_started/run")).cloned(),
    ended,
    ends_as_it_answers: false,
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

/// Whether the events go on where the session was shown: behind the number in `at`, which is that of the replay, too.
fn goes_on(lines: &[Value]) -> Result<(), Stop> {
    let number = |line: &Value, place: &str| line.pointer(place).and_then(Value::as_u64);
    let mut last = None;
    for line in lines {
        for shown in ["attached", "attached_begin"].iter().filter_map(|key| line.get(key)) {
            let seq = number(shown, "/at/seq");
            let replay = shown.pointer("/replay").and_then(Value::as_array);
            let rebased = replay.and_then(|replay| number(replay.last()?, "/1/rebased/seq"));
            if let (Some(told), Some(seq)) = (rebased, seq)
                && told != seq
            {
                return Err(Stop::wrong(format!("`at` says {seq}, and the `rebased` of the replay {told}")));
            }
            last = seq;
        }
        let Some(seq) = number(line, "/event/event/seq") else { continue };
        // Deltas of one stream that arrive joined have the number of the last.
        let joins = body(line)
            .is_some_and(|body| body.get("message_delta").is_some() || body.get("tool_progress").is_some());
        match last {
            Some(last) if seq != last + 1 && !(joins && seq > last) => {
                return Err(Stop::wrong(format!("after {last} came event {seq}")));
            }
            _ => last = Some(seq),
        }
    }
    Ok(())
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

/// Whether the laws of the event stream hold, and each event fits what came before it. Numbers are another scenario's business.
fn lawful(lines: &[Value]) -> Result<(), Stop> {
    fn read(body: &Value) -> Result<Body, Stop> {
        let unreadable = |why| Stop::wrong(format!("an event that cannot be read ({why}): {body}"));
        serde_json::from_value(body.clone()).map_err(unreadable)
    }
    let (mut state, mut grammar, mut seq) = (State::new(), Grammar::new(), Seq(0));
    for line in lines {
        if let Some(replay) = line.pointer("/attached/replay").and_then(Value::as_array) {
            state = State::new();
            for told in replay.iter().filter_map(|entry| entry.get(1)) {
                let applied = state.apply(Millis(0), &read(told)?);
                applied
                    .map_err(|why| Stop::wrong(format!("the replay does not fit itself ({why}): {told}")))?;
            }
            (grammar, seq) = (Grammar::at(&state), state.seq);
        }
        let Some(told) = body(line) else { continue };
        let event = Event { seq: seq.next(), at: Millis(0), body: read(told)? };
        seq = event.seq;
        let broken = |why: String| Stop::wrong(format!("{why}: {told}"));
        grammar
            .check(&event)
            .map_err(|why| broken(format!("against law {} of docs/domain.md#laws, {}", why.law, why.what)))?;
        state.apply(event.at, &event.body).map_err(|why| broken(why.to_string()))?;
    }
    Ok(())
}

/// The proof of what the replay of an empty session builds.
fn proof() -> Bindings {
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
    let mut bindings = Bindings::new();
    bindings.bind("hash", Value::from(state.hash().to_string()));
    bindings
}

pub(in crate::check) static UI: UiWire =
    UiWire { dialect: "native", carrier: Carrier::One, told: &TOLD, bound: proof };
