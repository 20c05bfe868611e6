//! What the document leaves to an agent.

use super::update;
use crate::check::defects::making::is;
use crate::check::defects::{Defect, liberty, said};
use serde_json::{Value, json};

/// Capabilities and names that need not be told, ids of messages, words to come.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("says nothing of itself", || {
            said(|mut line| {
                if let Some(result) = line.get_mut("result").and_then(Value::as_object_mut)
                    && result.contains_key("protocolVersion")
                {
                    result.retain(|name, _| name == "protocolVersion");
                }
                vec![line]
            })
        }),
        liberty("names no messages", || {
            said(|mut line| {
                if let Some(update) = line.pointer_mut("/params/update").and_then(Value::as_object_mut) {
                    update.remove("messageId");
                }
                vec![line]
            })
        }),
        liberty("tells how full the context is after the answer", || {
            let mut session = Value::Null;
            said(move |line| {
                if let Some(named) = line.pointer("/params/sessionId") {
                    session = named.clone();
                }
                let usage = json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":session,
                    "update":{"sessionUpdate":"usage_update","used":1,"size":2}}});
                let over = is(&line, "/result/stopReason", "end_turn");
                [line].into_iter().chain(over.then_some(usage)).collect()
            })
        }),
        liberty("says more than the document knows", || {
            said(|mut line| {
                let chunk = update(&line) == Some("agent_message_chunk");
                if let Some(update) = line.pointer_mut("/params/update").and_then(Value::as_object_mut) {
                    update.insert("_meta".to_owned(), json!({"x":[1,null]}));
                }
                let note = json!({"jsonrpc":"2.0","method":"_future/note","params":{}});
                chunk.then_some(note).into_iter().chain([line]).collect()
            })
        }),
    ]
}
