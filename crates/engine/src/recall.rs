//! `recall`: the model reads a long result again that is no longer in the conversation, because it is old or stands in a summary.
//!
//! What it reads comes from the session's record, not from disk: it is what the tool gave then.

use domain::tool::{LONG_RESULT, ToolResult, ToolRun};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tools::args::Args;
use tools::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError};

pub(crate) const NAME: &str = "recall";
/// Bytes that are read at once.
const MAX_BYTES: usize = 50 * 1024;

/// Where a result was left out: how it is read again.
pub(crate) fn hint(id: &str) -> String {
    format!("`{NAME}` with id {id} reads it again]")
}

/// Long results of a session, by the ids that the model knows their calls by.
#[derive(Debug, Clone, Default)]
pub(crate) struct OldResults(Arc<Mutex<BTreeMap<String, String>>>);

impl OldResults {
    /// Those in the record.
    pub(crate) fn of(tools: &[Arc<ToolRun>]) -> OldResults {
        let results = OldResults::default();
        for run in tools {
            if let Some(result) = run.result.as_ref().filter(|result| result.text.len() > LONG_RESULT) {
                results.keep(crate::chat::call_id(run.id), result.text.clone());
            }
        }
        results
    }

    /// Adds one that leaves the conversation.
    pub(crate) fn keep(&self, id: String, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, text);
    }

    fn get(&self, id: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }
}

/// The tool.
pub(crate) struct Recall(pub(crate) OldResults);

impl Tool for Recall {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.to_owned(),
            description: "Read an old tool result again that was left out, from `line` on.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "line": {"type": "integer"}
                },
                "required": ["id"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let id = Args::new(NAME, args).text(&["id", "call", "call_id"])?;
        Ok(Plan::reading(NAME, args, place, format!("an old result ({id})")))
    }

    fn run(&self, plan: Plan, _: Port) -> BoxFuture<'static, Outcome> {
        let results = self.0.clone();
        Box::pin(async move {
            let said = Args::new(NAME, &plan.args);
            let Ok(id) = said.text(&["id", "call", "call_id"]) else {
                return Outcome::failed("`id` is missing");
            };
            let line = plan.args.get("line").and_then(Value::as_u64).unwrap_or(1);
            match results.get(id) {
                Some(text) => Outcome::done(ToolResult::text(from_line(&text, line))),
                None => Outcome::failed(format!(
                    "there is no long result {id} in this session; call its tool again"
                )),
            }
        })
    }
}

/// The text from a line on, bounded, with where to go on.
fn from_line(text: &str, line: u64) -> String {
    let skip = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let mut read = String::new();
    for (at, next) in text.split_inclusive('\n').enumerate().skip(skip) {
        if !read.is_empty() && read.len() + next.len() > MAX_BYTES {
            read.push_str(&format!("[there is more: go on with line {}]", at + 1));
            return read;
        }
        read.push_str(next);
    }
    if read.is_empty() { format!("[there is no line {line}; it has {}]", text.lines().count()) } else { read }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_read_in_parts() {
        let text: String = (1..=20_000).map(|at| format!("line {at}\n")).collect();
        let (mut read, mut line) = (String::new(), 1);
        loop {
            let part = from_line(&text, line);
            let Some((lines, next)) = part.split_once("[there is more: go on with line ") else {
                read.push_str(&part);
                break;
            };
            read.push_str(lines);
            line = next.trim_end_matches(']').parse().unwrap();
        }
        assert_eq!(read, text);
        assert_eq!(from_line("a\nb", 7), "[there is no line 7; it has 2]");
    }
}
