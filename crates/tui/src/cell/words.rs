//! What a tool was called with, in words: never as it was written for machines.

use crate::clean::clean_line;
use crate::figures::counted;
use crate::row::fit;
use serde_json::{Map, Value};

/// Fields that say what a call is about, the most telling first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "path",
    "file_path",
    "file",
    "pattern",
    "query",
    "url",
    "question",
    "title",
    "name",
    "message",
];
/// Lists that are a plan, and where each of its steps stands.
const PLANS: &[&str] = &["items", "todos", "plan", "tasks", "steps"];
const STATES: &[&str] = &["state", "status"];
const DONE: &[&str] = &["done", "completed", "cancelled"];
/// Columns of a value among others.
const MAX_VALUE: usize = 40;
/// Begins a patch of several files, and the lines of it that name them.
const PATCH: &str = "*** Begin Patch";
const PATCHED: &[&str] = &["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// What the arguments are about, in a line.
pub(crate) fn summary(args: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(args) else { return clean_line(args) };
    let Value::Object(fields) = &value else { return word(&value) };
    if let Some(words) = plan(fields).or_else(|| task(fields)) {
        return words;
    }
    let telling = TELLING.iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    let only = fields.values().next().filter(|_| fields.len() == 1).and_then(Value::as_str);
    match telling.or(only) {
        Some(text) if text.trim_start().starts_with(PATCH) => patched(text),
        Some(text) => clean_line(text),
        None => {
            let pairs = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", clean_line(name), fit(&word(value), MAX_VALUE)));
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Whether the arguments are a plan, which is shown elsewhere.
pub(super) fn is_plan(args: &str) -> bool {
    let fields = serde_json::from_str::<Map<String, Value>>(args).ok();
    fields.is_some_and(|fields| plan(&fields).is_some())
}

fn plan(fields: &Map<String, Value>) -> Option<String> {
    let steps = PLANS.iter().find_map(|name| fields.get(*name)?.as_array())?;
    let state = |step: &Value| STATES.iter().find_map(|name| step.get(*name)?.as_str().map(str::to_owned));
    // Other lists have these names too.
    let states: Vec<String> = steps.iter().map(state).collect::<Option<_>>()?;
    let done = states.iter().filter(|state| DONE.contains(&state.as_str())).count();
    Some(format!("{}, {done} done", counted(steps.len() as u64, "step")))
}

/// What a sub-agent is to do: who, and a few words for the person or else all that it was told.
fn task(fields: &Map<String, Value>) -> Option<String> {
    let said = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str().map(clean_line));
    let agent = said(&["agent", "subagent_type", "subagent", "agent_type"])?;
    let about = said(&["title", "description", "prompt", "task", "message", "instructions"])?;
    Some(format!("{agent}: {about}"))
}

/// The files of a patch.
fn patched(text: &str) -> String {
    let named = |line: &str| PATCHED.iter().find_map(|begin| line.strip_prefix(begin).map(clean_line));
    let files: Vec<String> = text.lines().filter_map(named).collect();
    if files.is_empty() { "a patch".to_owned() } else { files.join(", ") }
}

/// A value without the signs of JSON.
fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => clean_line(text),
        Value::Array(list) if list.iter().all(|value| value.is_string() || value.is_number()) => {
            list.iter().map(word).collect::<Vec<_>>().join(", ")
        }
        Value::Array(list) => counted(list.len() as u64, "entry"),
        Value::Object(fields) => counted(fields.len() as u64, "field"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_in_words() {
        for (args, words) in [
            (r#"{"command":"ls","timeout":5}"#, "ls"),
            (r#"{"kind":"confirm","message":"more","title":"Go on?"}"#, "Go on?"),
            (r#"{"kind":"confirm","message":"Go on?"}"#, "Go on?"),
            (r#"{"items":[{"text":"a","state":"done"},{"text":"b","state":"active"}]}"#, "2 steps, 1 done"),
            (r#"{"todos":[{"content":"a","status":"pending"}]}"#, "1 step, 0 done"),
            (r#"{"items":["milk","bread"],"shop":"corner"}"#, "items: milk, bread, shop: corner"),
            (r#"{"id":3,"action":"stop","force":true}"#, "action: stop, force: yes, id: 3"),
            (r#"{"at":{"x":1},"list":[{"a":1},{"b":2}]}"#, "at: 1 field, list: 2 entries"),
            (r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: b.rs\n"}"#, "a.rs, b.rs"),
            (r#"{"agent":"explore","prompt":"find the\ntests"}"#, "explore: find the tests"),
            (r#"{"subagent_type":"general","description":"rename","prompt":"all of it"}"#, "general: rename"),
            ("{}", ""),
            ("null", ""),
            ("not json", "not json"),
        ] {
            assert_eq!(summary(args), words, "{args}");
        }
        assert!(is_plan(r#"{"items":[{"text":"a","state":"done"}]}"#) && !is_plan(r#"{"path":"a"}"#));
    }
}
