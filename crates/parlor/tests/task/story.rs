//! What the model does, step by step, and what it must have been told before each step.

use crate::wire::ToolExchange;
use serde_json::{Value, json};

/// One answer of the model.
#[derive(Clone)]
pub(crate) struct Say {
    pub(crate) text: &'static str,
    /// The tool it calls, with its arguments.
    pub(crate) call: Option<(&'static str, Value)>,
    /// What the result of the call must hold.
    pub(crate) gives: &'static str,
    pub(crate) ends: Ends,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Well,
    /// Nothing more comes after the words, not even an end.
    Stalled,
    /// The connection breaks after the words.
    Cut,
    /// The provider says after the words that it has trouble.
    InError,
    /// The answer's limit is reached.
    AtLimit,
    /// The provider declines.
    Refused,
}

impl Ends {
    /// Whether only the words come.
    pub(crate) fn breaks(self) -> bool {
        matches!(self, Ends::Stalled | Ends::Cut | Ends::InError)
    }
}

impl Say {
    pub(crate) fn call(text: &'static str, tool: &'static str, args: Value, gives: &'static str) -> Say {
        Say { text, call: Some((tool, args)), gives, ends: Ends::Well }
    }

    pub(crate) fn words(text: &'static str) -> Say {
        Say { text, call: None, gives: "", ends: Ends::Well }
    }

    pub(crate) fn stall(text: &'static str) -> Say {
        Say::ending(text, Ends::Stalled)
    }

    pub(crate) fn ending(text: &'static str, ends: Ends) -> Say {
        Say { ends, ..Say::words(text) }
    }
}

/// Read, edit, test, edit, test, tell.
pub(crate) fn mend() -> Vec<Say> {
    let edit = |old: &str, new: &str| json!({ "path": "sum.sh", "edits": [{ "old": format!("$1 {old} $2"), "new": format!("$1 {new} $2") }] });
    let test = || json!({ "command": "sh test.sh" });
    vec![
        Say::call("I look at it first.", "read", json!({ "path": "sum.sh" }), "echo $(( $1 - $2 ))"),
        Say::call("That takes away.", "edit", edit("-", "*"), "+1 -1 lines"),
        Say::call("Does the test like it?", "bash", test(), "FAILED: 2 and 3 made 6"),
        Say::call("No: it must add.", "edit", edit("*", "+"), "+1 -1 lines"),
        Say::call("Once more.", "bash", test(), "ok: 2 and 3 make 5"),
        Say::words("It adds now, and the test passes."),
    ]
}

/// Whether a request tells everything that happened before step `at`; what is missing otherwise.
pub(crate) fn check(story: &[Say], at: usize, heard: &[ToolExchange]) -> Result<(), String> {
    let called: Vec<&Say> = story.iter().take(at).filter(|say| say.call.is_some()).collect();
    if heard.len() != called.len() {
        return Err(format!("request {at} carries {} results: {heard:?}", heard.len()));
    }
    for (say, heard) in called.into_iter().zip(heard) {
        let Some((tool, args)) = &say.call else { return Err("words have no result".to_owned()) };
        if heard.tool != *tool || heard.args != *args {
            return Err(format!("the call {tool} {args} came back as {} {}", heard.tool, heard.args));
        }
        if !heard.result.contains(say.gives) {
            return Err(format!("the result of {tool} lacks {:?}: {}", say.gives, heard.result));
        }
    }
    Ok(())
}
