//! What a asst runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{is, omits, sets};
use crate::check::defects::{Defect, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
    vec![
        sets("says finished where done is meant", &["answers"], "/type", |word| match word.as_str() {
            Some("done") => json!("finished"),
            _ => word.clone(),
        }),
        Defect::new("speaks before it is ready", &["ready-first"], || {
            said(|line| {
                let ready = is(&line, "/type", "ready");
                let early = ready.then(|| json!({"type":"token","id":"req-0","token":"hi","timestamp":1}));
                early.into_iter().chain([line]).collect()
            })
        }),
        sets("tells no state", &["get-status"], "/data/state", |_| Value::Null),
        omits("keeps errors to itself", &["unknown-kind"], |line| is(line, "/type", "error")),
        Defect::new("answers under another id", &["id-comes-back"], || {
            said(|mut line| {
                if is(&line, "/type", "token") {
                    line["id"] = json!("req-other");
                }
                vec![line]
            })
        }),
        sets("says its words under another name", &["tokens"], "/token", |_| Value::Null),
        sets("writes times as texts", &["timestamps"], "/timestamp", |at| json!(at.to_string())),
        omits("never has done", &["done-once", "clear-history"], |line| is(line, "/type", "done")),
    ]
}
