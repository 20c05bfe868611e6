//! What the document of lemon leaves to a runtime, and what its later servers do.

use crate::check::defects::making::is;
use crate::check::defects::{Defect, both, liberty, said};
use serde_json::{Value, json};

/// A session that waits to be opened, silence about what is not understood, other numbers, and words to come.
pub(super) fn permitted() -> Vec<Defect> {
    vec![
        liberty("opens a session when it is told to", || {
            let mut waiting = Some(Vec::new());
            both(
                |mut line| {
                    if is(&line, "/type", "ready") {
                        line["primary_session_id"] = Value::Null;
                        line["active_session_id"] = Value::Null;
                    }
                    vec![line]
                },
                move |line| match &mut waiting {
                    Some(held) if is(&line, "/type", "start_session") => {
                        let mut held = std::mem::take(held);
                        waiting = None;
                        held.insert(0, line);
                        held
                    }
                    Some(held) if is(&line, "/type", "prompt") => {
                        held.push(line);
                        vec![]
                    }
                    _ => vec![line],
                },
            )
        }),
        liberty("keeps what it does not understand to itself", || {
            said(|line| if is(&line, "/type", "error") { vec![] } else { vec![line] })
        }),
        liberty("counts what it likes", || {
            said(|mut line| {
                if let Some(stats) = line.get_mut("stats") {
                    *stats = json!({"turns":1});
                }
                vec![line]
            })
        }),
        liberty("says more than the document knows", || {
            said(|mut line| {
                if let Some(line) = line.as_object_mut() {
                    line.insert("extra".to_owned(), json!({"x":[1,null]}));
                }
                let note = json!({"type":"ui_status","params":{"key":"mood","text":"good"}});
                let began = is(&line, "/event/type", "agent_start");
                [line].into_iter().chain(began.then_some(note)).collect()
            })
        }),
    ]
}
