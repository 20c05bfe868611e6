//! What a asst runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{is, omits, sets};
use crate::check::defects::{Defect, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
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
