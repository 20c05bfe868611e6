//! What a runtime may get wrong of the words that only its wire has.

use super::{Defect, alike, dies_of, heard, json, said};
use serde_json::{Value, json};

pub(super) fn defects(dialect: &str) -> Vec<Defect> {
    match dialect {
        "native" => native(),
        "codelia" => codelia(),
        "nous" => nous(),
        "lemon" => lemon(),
        "openagent" => openagent(),
        "asst" => asst(),
        _ => Vec::new(),
    }
}

/// Puts something in a place of every line that has it.
fn sets(
    name: &'static str,
    found_by: &'static [&'static str],
    place: &'static str,
    to: fn(&Value) -> Value,
) -> Defect {
    Defect::new(name, found_by, move || {
        said(move |mut line| {
            if let Some(at) = line.pointer_mut(place) {
                *at = to(at);
            }
            vec![line]
        })
    })
}

/// Says some lines not at all.
fn omits(name: &'static str, found_by: &'static [&'static str], which: fn(&Value) -> bool) -> Defect {
    Defect::new(name, found_by, move || said(move |line| if which(&line) { vec![] } else { vec![line] }))
}

/// Holds a line back until another is said.
fn swaps(
    name: &'static str,
    found_by: &'static [&'static str],
    which: fn(&Value) -> bool,
    until: fn(&Value) -> bool,
) -> Defect {
    Defect::new(name, found_by, move || {
        let mut held: Option<Value> = None;
        said(move |line| match which(&line) {
            true => held.replace(line).into_iter().collect(),
            false if until(&line) => std::iter::once(line).chain(held.take()).collect(),
            false => vec![line],
        })
    })
}

/// Does not hear some lines.
fn deaf_to(name: &'static str, found_by: &'static [&'static str], which: fn(&Value) -> bool) -> Defect {
    Defect::new(name, found_by, move || heard(move |line| if which(&line) { vec![] } else { vec![line] }))
}

/// Dies of some lines.
fn dies(name: &'static str, found_by: &'static [&'static str], which: fn(&Value) -> bool) -> Defect {
    Defect::new(name, found_by, move || dies_of(move |line| json(line).is_some_and(|line| which(&line))))
}

fn is(line: &Value, place: &str, text: &str) -> bool {
    line.pointer(place).and_then(Value::as_str) == Some(text)
}

fn native() -> Vec<Defect> {
    vec![
        sets("names no capabilities", &["hello-shape"], "/hello/capabilities", |_| Value::Null),
        sets("speaks a protocol of the future", &["later-protocol"], "/hello/protocol", |_| json!(99)),
        sets("calls every error internal", &["unknown-tag"], "/error/about", |_| json!("internal")),
        sets("refuses without a word", &["refusal"], "/settled/with/refusal", |_| json!({})),
        deaf_to("passes over what it cannot read", &["unreadable-command"], |line| {
            line.pointer("/command/what/prompt/input").is_some_and(Value::is_number)
        }),
        sets("counts nothing", &["seq-rises"], "/event/event/seq", |_| json!(4)),
        omits("shows no session", &["attached-first"], |line| {
            line.get("attached").is_some() || line.pointer("/event/event/body/session_opened").is_some()
        }),
        omits("leaves messages open", &["balanced"], |line| {
            line.pointer("/event/event/body/message_ended").is_some()
        }),
    ]
}

fn codelia() -> Vec<Defect> {
    vec![
        sets("names no version", &["initialize"], "/result/protocol_version", |_| Value::Null),
        sets(
            "has one error for everything",
            &["method-not-found", "bad-params", "busy"],
            "/error/code",
            |_| json!(-32603),
        ),
        sets("makes texts of numbers", &["id-as-sent"], "/id", |id| {
            if id.is_number() { json!(id.to_string()) } else { id.clone() }
        }),
        Defect::new("answers notifications", &["notification"], || {
            heard(|mut line| {
                if is(&line, "/method", "no.such.notification") {
                    line["id"] = json!("n");
                }
                vec![line]
            })
        }),
        dies("dies of answers to nothing", &["stray-response"], |line| is(line, "/id", "never-asked")),
        swaps(
            "tells the run after its first event",
            &["run-id"],
            |line| line.pointer("/result/run_id").is_some(),
            |line| is(line, "/method", "agent.event"),
        ),
        sets("counts nothing", &["seq-rises"], "/params/seq", |_| json!(4)),
        Defect::new("names another run", &["events-name-run"], || {
            said(|mut line| {
                if is(&line, "/method", "agent.event") {
                    line["params"]["run_id"] = json!("run-other");
                }
                vec![line]
            })
        }),
        dies("dies of a cancel of nothing", &["cancel-unknown"], |line| {
            is(line, "/params/run_id", "run-that-never-was")
        }),
        sets("lists sessions without ids", &["session-list"], "/result/sessions", |_| json!([{}])),
        deaf_to("passes over reserved names", &["reserved"], |line| is(line, "/method", "theme.set")),
        Defect::new("asks who cannot answer", &["asks-only-who-can-answer"], || {
            heard(|mut line| {
                if let Some(can) = line.pointer_mut("/params/ui_capabilities/supports_confirm") {
                    *can = json!(true);
                }
                vec![line]
            })
        }),
    ]
}

fn nous() -> Vec<Defect> {
    vec![
        sets("names another version", &["envelope"], "/v", |_| json!("2")),
        sets("gives no error code", &["unknown-command"], "/error/code", |_| Value::Null),
        sets("accepts without a run", &["accepted"], "/payload/run_id", |_| json!("")),
        omits("leaves messages open", &["events-balanced"], |line| is(line, "/type", "message_end")),
        Defect::new("names no run in messages", &["events-name-run"], || {
            said(|mut line| {
                if is(&line, "/type", "message_end")
                    && let Some(payload) = line.get_mut("payload").and_then(Value::as_object_mut)
                {
                    payload.remove("run_id");
                }
                vec![line]
            })
        }),
        sets("says yes to everything", &["busy"], "/ok", |_| json!(true)),
        deaf_to("does not abort", &["abort"], |line| is(line, "/type", "abort")),
        sets("tells no state", &["state"], "/payload/run_state", |_| Value::Null),
        sets("forgets what was said", &["messages"], "/payload/messages", |_| json!([])),
    ]
}

fn lemon() -> Vec<Defect> {
    vec![
        sets("names no model", &["ready-first"], "/model", |_| Value::Null),
        omits("keeps errors to itself", &["unknown-command", "busy"], |line| is(line, "/type", "error")),
        omits("leaves messages open", &["run-order"], |line| {
            is(line, "/event/type", "message_end") && is(line, "/event/data/0/role", "assistant")
        }),
        swaps(
            "begins before its beginning",
            &["run-order"],
            |line| is(line, "/event/type", "agent_start"),
            |line| is(line, "/type", "event"),
        ),
        sets("has messages of nobody", &["message-shape"], "/event/data/0/role", |_| Value::Null),
        deaf_to("does not abort", &["abort"], |line| is(line, "/type", "abort")),
        dies("dies of an abort", &["abort-idle"], |line| is(line, "/type", "abort")),
        sets("counts nothing", &["stats"], "/stats/message_count", |_| Value::Null),
        dies("dies of answers to nothing", &["stray-response"], |line| is(line, "/id", "never-asked")),
    ]
}

fn openagent() -> Vec<Defect> {
    let unknown = |line: &Value| {
        alike(line, &json!({"jsonrpc":"2.0","id":0,"method":"agent.cancel","params":{"query_id":""}}))
            && is(line, "/params/query_id", "q-that-never-was")
    };
    vec![
        sets("is never ready", &["initialize"], "/result/status", |_| json!("starting")),
        sets("has one error for everything", &["method-not-found", "bad-params"], "/error/code", |_| {
            json!(-32603)
        }),
        sets("makes texts of numbers", &["id-as-sent"], "/id", |id| {
            if id == 41 { json!("41") } else { id.clone() }
        }),
        swaps(
            "tells the query after its first token",
            &["query-id"],
            |line| line.pointer("/result/query_id").is_some(),
            |line| is(line, "/method", "stream.token"),
        ),
        sets("counts nothing", &["tokens-indexed"], "/params/index", |_| json!(0)),
        sets("names another query", &["stream-names-query"], "/params/query_id", |_| json!("q-other")),
        deaf_to("passes over a cancel of nothing", &["cancel-unknown"], unknown),
        Defect::new("approves what was never asked", &["approve-unknown"], || {
            said(|line| match line.get("error") {
                Some(_) => vec![json!({"jsonrpc":"2.0","id":line["id"],"result":{"status":"approved"}})],
                None => vec![line],
            })
        }),
    ]
}

fn asst() -> Vec<Defect> {
    vec![
        sets("is ready without a version", &["ready-first"], "/version", |_| Value::Null),
        omits("keeps errors to itself", &["unknown-kind"], |line| is(line, "/type", "error")),
        Defect::new("answers under another id", &["id-comes-back"], || {
            said(|mut line| {
                if is(&line, "/type", "token") {
                    line["id"] = json!("req-other");
                }
                vec![line]
            })
        }),
        sets("writes times as texts", &["timestamps"], "/timestamp", |at| json!(at.to_string())),
        omits("never has done", &["done-once", "clear-history"], |line| is(line, "/type", "done")),
    ]
}
