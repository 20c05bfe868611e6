//! What the document of codelia leaves to a runtime.

use crate::check::defects::making::is;
use crate::check::defects::{Defect, both, liberty, locked, said};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const PICK: &str = "pick-of-the-project";

/// Whether the person was asked to choose.
#[derive(PartialEq)]
enum Pick {
    /// Nobody said yet that they can.
    Not,
    May,
    /// They were, and these lines wait for the answer.
    Waits(Vec<Value>),
    Done,
}

/// Whether a run is over.
#[derive(PartialEq)]
enum Over {
    Not,
    JustNow,
    /// And a prompt was refused under this id.
    Refused(Value),
}

/// Abilities and endings that need not be told, a question and a refusal that a UI must bear, and words to come.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("says nothing of its abilities", || {
            said(|mut line| {
                if let Some(result) = line.get_mut("result").and_then(Value::as_object_mut) {
                    result.remove("server_capabilities");
                }
                vec![line]
            })
        }),
        liberty("tells the end of a run by its last word alone", || {
            said(|line| {
                let optional = ["running", "awaiting_ui", "completed"];
                let status = is(&line, "/method", "run.status")
                    && optional.iter().any(|status| is(&line, "/params/status", status));
                if status { vec![] } else { vec![line] }
            })
        }),
        liberty("asks for something before its first run", || {
            let pick = Arc::new(Mutex::new(Pick::Not));
            let asked = pick.clone();
            both(
                move |line| {
                    let mut pick = locked(&asked);
                    let greeted = line.pointer("/result/protocol_version").is_some();
                    if !greeted || *pick != Pick::May {
                        return vec![line];
                    }
                    *pick = Pick::Waits(Vec::new());
                    vec![
                        line,
                        json!({"jsonrpc":"2.0","id":PICK,"method":"ui.pick.request","params":{
                        "title":"Choose a mode","items":[{"id":"ask","label":"Ask"},{"id":"all","label":"All"}]}}),
                    ]
                },
                move |line| {
                    let mut pick = locked(&pick);
                    let can = line.pointer("/params/ui_capabilities/supports_pick") == Some(&json!(true));
                    match &mut *pick {
                        Pick::Not if can => *pick = Pick::May,
                        Pick::Waits(held) if is(&line, "/id", PICK) => {
                            let held = std::mem::take(held);
                            *pick = Pick::Done;
                            return held;
                        }
                        Pick::Waits(held) if is(&line, "/method", "run.start") => {
                            held.push(line);
                            return vec![];
                        }
                        Pick::Not | Pick::May | Pick::Waits(_) | Pick::Done => {}
                    }
                    vec![line]
                },
            )
        }),
        liberty("is busy for a moment after a run", || {
            let over = Arc::new(Mutex::new(Over::Not));
            let seen = over.clone();
            both(
                move |mut line| {
                    let mut over = locked(&seen);
                    if is(&line, "/params/event/type", "final") {
                        *over = Over::JustNow;
                    }
                    if let Over::Refused(id) = &*over
                        && line.get("id") == Some(id)
                        && let Some(error) = line.get_mut("error")
                    {
                        *error = json!({"code":-32001,"message":"runtime busy"});
                    }
                    vec![line]
                },
                move |mut line| {
                    let mut over = locked(&over);
                    if *over == Over::JustNow && is(&line, "/method", "run.start") {
                        // Refused by the program, which has no such method.
                        line["method"] = json!("runtime.busy");
                        *over = Over::Refused(line["id"].clone());
                    }
                    vec![line]
                },
            )
        }),
        liberty("says more than the document knows", || {
            said(|mut line| {
                if let Some(params) = line.get_mut("params").and_then(Value::as_object_mut) {
                    params.insert("extra".to_owned(), json!({"x":[1,null]}));
                }
                let note = json!({"jsonrpc":"2.0","method":"future.note","params":{}});
                let started = line.pointer("/result/run_id").is_some();
                [line].into_iter().chain(started.then_some(note)).collect()
            })
        }),
    ]
}
