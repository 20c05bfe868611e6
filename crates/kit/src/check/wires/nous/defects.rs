//! What a nous runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{ignores, is, omits, sets};
use crate::check::defects::{Defect, heard, said};
use serde_json::{Value, json};

/// Commands that a runtime may take for a ping, and who finds it out.
const MISTAKEN: &[(&str, &[&str], &str)] = &[
    ("takes a steer for a ping", &["steer"], "steer"),
    ("takes a follow-up for a ping", &["follow-up"], "follow_up"),
    ("takes a new session for a ping", &["new-session"], "new_session"),
    ("takes a switch for a ping", &["switch-session"], "switch_session"),
    ("takes a branch for a ping", &["branch-session"], "branch_session"),
    ("takes a choice of tools for a ping", &["active-tools"], "set_active_tools"),
    ("takes a mode for a ping", &["queue-modes"], "set_steering_mode"),
    ("takes an extension for a ping", &["extension"], "extension_command"),
];

fn mistaken((name, found_by, command): (&'static str, &'static [&'static str], &'static str)) -> Defect {
    Defect::new(name, found_by, move || {
        heard(move |mut line| {
            if is(&line, "/type", command) {
                line["type"] = json!("ping");
            }
            vec![line]
        })
    })
}

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
    let mut all = vec![
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
        ignores("does not abort", &["abort"], |line| is(line, "/type", "abort")),
        sets("tells no state", &["state"], "/payload/run_state", |_| Value::Null),
        sets("forgets what was said", &["messages"], "/payload/messages", |_| json!([])),
        Defect::new("sets one mode for the other", &["queue-modes"], || {
            heard(|mut line| {
                if is(&line, "/type", "set_follow_up_mode") {
                    line["type"] = json!("set_steering_mode");
                }
                vec![line]
            })
        }),
    ];
    all.extend(MISTAKEN.iter().copied().map(mistaken));
    all
}
