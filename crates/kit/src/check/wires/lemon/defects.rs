//! What a lemon runtime may get wrong of the words that only its wire has.

use crate::check::defects::Defect;
use crate::check::defects::making::{dies, ignores, is, omits, sets, swaps};
use serde_json::Value;

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
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
        ignores("does not abort", &["abort"], |line| is(line, "/type", "abort")),
        dies("dies of an abort", &["abort-idle"], |line| is(line, "/type", "abort")),
        sets("counts nothing", &["stats"], "/stats", |_| Value::Null),
        dies("dies of answers to nothing", &["stray-response"], |line| is(line, "/id", "never-asked")),
    ]
}
