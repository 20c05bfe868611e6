//! What an agent may get wrong of the words that only this wire has.

use super::{hello, update};
use crate::check::defects::making::{is, omits, sets, swaps};
use crate::check::defects::{Defect, heard, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
    vec![
        sets("names no version", &["initialize", "newer-client"], "/result/protocolVersion", |_| Value::Null),
        sets(
            "says true where an object belongs",
            &["initialize"],
            "/result/agentCapabilities/sessionCapabilities/list",
            |_| json!(true),
        ),
        sets("has one error for everything", &["method-not-found", "bad-params"], "/error/code", |_| {
            json!(-32000)
        }),
        sets("makes texts of numbers", &["id-as-sent"], "/id", |id| {
            if id.is_number() { json!(id.to_string()) } else { id.clone() }
        }),
        Defect::new("answers notifications", &["notification"], || {
            heard(|mut line| {
                if is(&line, "/method", "_no.such/notification") {
                    line["id"] = json!("n");
                }
                vec![line]
            })
        }),
        Defect::new("refuses links", &["resource-link"], || {
            heard(|mut line| {
                if line.pointer("/params/prompt/1/uri").is_some() {
                    line["params"]["prompt"] = json!("a link");
                }
                vec![line]
            })
        }),
        Defect::new("names another session", &["updates-name-session"], || {
            said(|mut line| {
                if update(&line).is_some() {
                    line["params"]["sessionId"] = json!("session-other");
                }
                vec![line]
            })
        }),
        swaps(
            "tells of a session before it gives it",
            &["answer-first"],
            |line| line.pointer("/result/sessionId").is_some(),
            |line| update(line).is_some(),
        ),
        omits("asks about calls that it never told", &["call-before-question"], |line| {
            update(line) == Some("tool_call")
        }),
        Defect::new("takes any session for the one there is", &["unknown-session"], || {
            let mut session = Value::Null;
            let greeting = hello(1);
            heard(move |mut line| {
                if let Some(named) = line.pointer_mut("/params/sessionId") {
                    if session.is_null() {
                        session = named.clone();
                    }
                    *named = session.clone();
                }
                if line == greeting { vec![greeting.clone()] } else { vec![line] }
            })
        }),
    ]
}
