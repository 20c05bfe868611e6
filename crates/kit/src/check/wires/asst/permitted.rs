//! What the document of asst leaves to a runtime.

use crate::check::defects::making::is;
use crate::check::defects::{Defect, liberty, said};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What `ready` may leave out, and what may stand in any line besides.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("is ready and says no more", || {
            said(|line| {
                if is(&line, "/type", "ready") {
                    vec![json!({"type":"ready","timestamp":line["timestamp"]})]
                } else {
                    vec![line]
                }
            })
        }),
        liberty("has an error for every message", || {
            let mut runs = BTreeSet::new();
            said(move |line| {
                let id = line["id"].to_string();
                match line["type"].as_str() {
                    Some("token" | "tool_use" | "tool_result") => {
                        runs.insert(id);
                        vec![]
                    }
                    Some("done") if runs.contains(&id) => {
                        let (id, timestamp) = (&line["id"], &line["timestamp"]);
                        vec![json!({"type":"error","id":id,"error":"no model is here","timestamp":timestamp})]
                    }
                    _ => vec![line],
                }
            })
        }),
        liberty("says more than the document knows", || {
            said(|mut line| {
                if let Some(line) = line.as_object_mut() {
                    line.insert("extra".to_owned(), json!({"x":[1,null]}));
                }
                if is(&line, "/type", "done") && line.pointer("/id").is_some_and(Value::is_string) {
                    let note = json!({"type":"usage","id":line["id"],"data":{"tokens":3},"timestamp":1});
                    return vec![note, line];
                }
                vec![line]
            })
        }),
    ]
}
