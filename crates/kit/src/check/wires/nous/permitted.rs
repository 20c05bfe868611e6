//! What the document of nous leaves to a core, and what the existing one does.

use crate::check::defects::making::is;
use crate::check::defects::{Defect, liberty, said};
use serde_json::{Value, json};

/// Words to come, and a queue for prompts where another core refuses them.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("says more than the document knows", || {
            said(|mut line| {
                if let Some(payload) = line.get_mut("payload").and_then(Value::as_object_mut) {
                    payload.insert("extra".to_owned(), json!({"x":[1,null]}));
                }
                let note =
                    json!({"v":"1","id":"evt-note","type":"mood","payload":{},"ts":"2026-01-01T00:00:00Z"});
                let began = is(&line, "/type", "agent_start");
                [line].into_iter().chain(began.then_some(note)).collect()
            })
        }),
        liberty("takes a second prompt into its queue", || {
            said(|line| {
                if !is(&line, "/error/message", "run_in_progress") {
                    return vec![line];
                }
                vec![
                    json!({"v":"1","id":line["id"],"type":"accepted","payload":{"run_id":"run-1"},"ok":true}),
                ]
            })
        }),
    ]
}
