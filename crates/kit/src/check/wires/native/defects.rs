//! What a native runtime may get wrong of the words that only its wire has.

use crate::check::defects::Defect;
use crate::check::defects::making::{ignores, omits, sets};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
    vec![
        sets("names no capabilities", &["hello-shape"], "/hello/capabilities", |_| Value::Null),
        sets("speaks a protocol of the future", &["later-protocol"], "/hello/protocol", |_| json!(99)),
        sets("calls every error internal", &["unknown-tag"], "/error/about", |_| json!("internal")),
        sets("refuses without a word", &["refusal"], "/settled/with/refusal", |_| json!({})),
        ignores("passes over what it cannot read", &["unreadable-command"], |line| {
            line.pointer("/command/what/prompt/input").is_some_and(Value::is_number)
        }),
        sets("counts nothing", &["seq-rises"], "/event/event/seq", |_| json!(4)),
        omits("shows no session", &["attached-first"], |line| {
            line.get("attached").is_some() || line.pointer("/event/event/body/session_opened").is_some()
        }),
        sets(
            "answers on a branch that nobody sees",
            &["lawful"],
            "/event/event/body/message_started/parent",
            |_| json!(999_999),
        ),
        omits("leaves messages open", &["balanced"], |line| {
            line.pointer("/event/event/body/message_ended").is_some()
        }),
    ]
}
