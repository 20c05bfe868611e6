//! What the model does, step by step, and what it must have been told before each step.

use crate::task::wire::ToolExchange;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// One answer of the model.
#[derive(Clone)]
pub(crate) struct Say {
    pub(crate) text: &'static str,
    /// The tool it calls, with its arguments.
    pub(crate) call: Option<(&'static str, Value)>,
    /// What the result of the call must hold.
    pub(crate) gives: &'static str,
    pub(crate) ends: Ends,
    /// What the provider says that it has read, where that is not the usual.
    pub(crate) read: Option<u64>,
    /// It stands for all that was said before, but for the newest part.
    pub(crate) sums_up: bool,
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
        Say { call: Some((tool, args)), gives, ..Say::words(text) }
    }

    pub(crate) fn words(text: &'static str) -> Say {
        Say { text, call: None, gives: "", ends: Ends::Well, read: None, sums_up: false }
    }

    /// The summary of a conversation.
    pub(crate) fn summary(text: &'static str) -> Say {
        Say { sums_up: true, ..Say::words(text) }
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

/// The steps before step `at` that a request must bring back, and how many of them: from the newest, at least and at most. A summary
/// stands for what was before it, but for the newest part.
pub(crate) fn brought(
    story: &[Say],
    at: usize,
    counts: impl Fn(&Say) -> bool,
) -> (Vec<&Say>, RangeInclusive<usize>) {
    let past = story.get(..at).unwrap_or(story);
    let all: Vec<&Say> = past.iter().filter(|say| counts(say)).collect();
    let least = match past.iter().rposition(|say| say.sums_up) {
        Some(summary) => past[summary..].iter().filter(|say| counts(say)).count(),
        None => all.len(),
    };
    // A summary is made from plain words, or at the end of the conversation itself.
    let least = if story.get(at).is_some_and(|say| say.sums_up) { 0 } else { least };
    let most = all.len();
    (all, least..=most)
}

/// Whether a request tells everything that happened before step `at`; what is missing otherwise.
pub(crate) fn check(story: &[Say], at: usize, heard: &[ToolExchange]) -> Result<(), String> {
    let (called, wanted) = brought(story, at, |say| say.call.is_some());
    if !wanted.contains(&heard.len()) {
        return Err(format!("request {at} carries {} results: {heard:?}", heard.len()));
    }
    for (say, heard) in called.into_iter().rev().zip(heard.iter().rev()) {
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
