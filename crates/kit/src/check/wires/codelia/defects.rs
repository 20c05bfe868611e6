//! What a codelia runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{dies, ignores, is, sets, swaps};
use crate::check::defects::{Defect, heard, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
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
        ignores("passes over reserved names", &["reserved"], |line| is(line, "/method", "theme.set")),
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
