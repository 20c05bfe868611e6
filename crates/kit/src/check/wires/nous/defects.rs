//! What a nous runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{ignores, is, omits, sets};
use crate::check::defects::{Defect, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
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
        ignores("does not abort", &["abort"], |line| is(line, "/type", "abort")),
        sets("tells no state", &["state"], "/payload/run_state", |_| Value::Null),
        sets("forgets what was said", &["messages"], "/payload/messages", |_| json!([])),
    ]
}
