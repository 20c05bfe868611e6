//! What the document of openagent leaves to a runtime.

use crate::check::defects::making::is;
use crate::check::defects::{Defect, liberty, said};
use serde_json::{Value, json};

/// The shorter words of the examples, tokens in groups, a refusal as a result, and notifications that nobody has to send.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("is ready in the words of the example", || {
            said(|mut line| {
                if let Some(result) = line.get_mut("result").and_then(Value::as_object_mut)
                    && result.get("status") == Some(&json!("ready"))
                {
                    result.remove("protocol_version");
                    result.insert("models".to_owned(), json!([]));
                }
                vec![line]
            })
        }),
        liberty("joins tokens and does not number them", || {
            said(|line| {
                if !is(&line, "/method", "stream.token") {
                    return vec![line];
                }
                let token = json!({"token":line["params"]["token"]});
                let params = json!({"query_id":line["params"]["query_id"],"tokens":[token]});
                vec![json!({"jsonrpc":"2.0","method":"stream.tokens","params":params})]
            })
        }),
        liberty("refuses an approval of nothing in its answer", || {
            said(|line| match line.pointer("/error/code").and_then(Value::as_i64) {
                Some(-32601 | -32602 | -32700 | -32600) | None => vec![line],
                Some(_) => {
                    vec![
                        json!({"jsonrpc":"2.0","id":line["id"],"result":{"status":"error","cancelled":false}}),
                    ]
                }
            })
        }),
        liberty("thinks aloud and suggests", || {
            said(|line| {
                let query = line.pointer("/result/query_id").cloned();
                let thinking = query.map(|query| {
                    json!({"jsonrpc":"2.0","method":"agent.thinking","params":{"query_id":query,"phase":"planning","message":"…"}})
                });
                [line].into_iter().chain(thinking).collect()
            })
        }),
    ]
}
