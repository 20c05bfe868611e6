//! What a native runtime may get wrong of the words that only its wire has.

use crate::check::MARK;
use crate::check::defects::making::{ignores, omits, sets};
use crate::check::defects::{Defect, heard, said};
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
        sets("says another number than it goes on with", &["seq-goes-on"], "/event/event/seq", |seq| {
            json!(seq.as_u64().map(|seq| seq + 7))
        }),
        omits("shows no session", &["attached-first"], |line| {
            line.get("attached").is_some() || line.pointer("/event/event/body/session_opened").is_some()
        }),
        sets(
            "answers on a branch that nobody sees",
            &["lawful", "lawful-tool"],
            "/event/event/body/message_started/parent",
            |_| json!(999_999),
        ),
        omits("leaves messages open", &["balanced"], |line| {
            line.pointer("/event/event/body/message_ended").is_some()
        }),
        takes_for("announces consent and never asks", &["consent-yes"], |text| text.contains(MARK)),
        takes_for("announces a cancel that never comes", &["cancel"], |text| text.contains("slowly")),
        refuses("has no sessions after all", &["lists-sessions"], "sessions"),
        refuses("has no models after all", &["lists-models"], "models"),
        refuses("has no servers after all", &["lists-servers"], "servers"),
        refuses("has no skills after all", &["lists-skills"], "skills"),
    ]
}

/// Takes some prompts for a greeting, which gives no occasion to anything, and hears no cancel of what it does then.
fn takes_for(name: &'static str, found_by: &'static [&'static str], which: fn(&str) -> bool) -> Defect {
    Defect::new(name, found_by, move || {
        let mut taken = false;
        heard(move |mut line| {
            let text = line.pointer_mut("/command/what/prompt/input/text");
            if let Some(text) = text.filter(|text| text.as_str().is_some_and(which)) {
                (*text, taken) = (json!("Say hello."), true);
            }
            if taken && line.pointer("/command/what/cancel").is_some() { vec![] } else { vec![line] }
        })
    })
}

/// Announces something, and refuses it.
fn refuses(name: &'static str, found_by: &'static [&'static str], receipt: &'static str) -> Defect {
    Defect::new(name, found_by, move || {
        said(move |mut line| {
            if line.pointer("/settled/with/receipt").is_some_and(|told| told.get(receipt).is_some()) {
                line["settled"]["with"] = json!({"refusal":{"kind":"unsupported","message":"not here"}});
            }
            vec![line]
        })
    })
}
