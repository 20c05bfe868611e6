//! What a openagent runtime may get wrong of the words that only its wire has.

use crate::check::defects::making::{ignores, is, sets, swaps};
use crate::check::defects::{Defect, alike, said};
use serde_json::{Value, json};

/// One for each scenario that only this wire has.
pub(super) fn defects() -> Vec<Defect> {
    let unknown = |line: &Value| {
        alike(line, &json!({"jsonrpc":"2.0","id":0,"method":"agent.cancel","params":{"query_id":""}}))
            && is(line, "/params/query_id", "q-that-never-was")
    };
    vec![
        sets("is never ready", &["initialize"], "/result/status", |_| json!("starting")),
        sets("has one error for everything", &["method-not-found", "bad-params"], "/error/code", |_| {
            json!(-32603)
        }),
        sets("makes texts of numbers", &["id-as-sent"], "/id", |id| {
            if id == 41 { json!("41") } else { id.clone() }
        }),
        swaps(
            "tells the query after its first token",
            &["query-id"],
            |line| line.pointer("/result/query_id").is_some(),
            |line| is(line, "/method", "stream.token"),
        ),
        Defect::new("has its words under another name", &["token-text"], || {
            said(|mut line| {
                if is(&line, "/method", "stream.token")
                    && let Some(params) = line.get_mut("params").and_then(Value::as_object_mut)
                {
                    let text = params.remove("token").unwrap_or_default();
                    params.insert("content".to_owned(), text);
                }
                vec![line]
            })
        }),
        sets("names another query", &["stream-names-query"], "/params/query_id", |_| json!("q-other")),
        ignores("passes over a cancel of nothing", &["cancel-unknown"], unknown),
        Defect::new("approves what was never asked", &["approve-unknown"], || {
            said(|line| match line.get("error") {
                Some(_) => vec![json!({"jsonrpc":"2.0","id":line["id"],"result":{"status":"approved"}})],
                None => vec![line],
            })
        }),
    ]
}
