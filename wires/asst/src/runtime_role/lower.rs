//! Lines of the runtime, and a turn as this wire tells it.

use crate::wire::{Conversation, Response, Status, ToolNames, ToolResult as WireResult, ToolUse};
use crate::{CAPABILITIES, VERSION};
use domain::content::{Json, Part};
use domain::event::{Body, Outcome};
use domain::ids::{Millis, ToolRunId};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::narrator::{Narration, Narrator, Opens};
use serde_json::{Value, json};
use wire::encode;

/// Parts the texts of two messages of one turn, which are one bubble in the shell.
const BETWEEN_MESSAGES: &str = "\n\n";
/// The existing shell shows an empty result as a tool that still runs.
const NOTHING: &str = "(no output)";

/// A response as a line. One that cannot be written becomes an error for the same request, so that nobody waits for it in vain.
fn line(now: Millis, id: &Value, response: &Response) -> String {
    encode(response).unwrap_or_else(|why| {
        let error = format!("Failed to process request: the response is lost, since {why}");
        json!({ "type": "error", "id": id, "error": error, "timestamp": now.0 }).to_string()
    })
}

/// The line that tells the shell that it may begin.
pub(super) fn ready(now: Millis) -> String {
    let (version, capabilities) = (Some(VERSION.to_owned()), CAPABILITIES.map(str::to_owned).to_vec());
    line(now, &Value::Null, &Response::Ready { version, capabilities, timestamp: now.0 })
}

/// The line that ends a request well.
pub(super) fn done(now: Millis, id: &Value, data: Option<Conversation>) -> String {
    line(now, id, &Response::Done { id: id.clone(), data, timestamp: now.0 })
}

/// The line that ends a request badly.
pub(super) fn error(now: Millis, id: &Value, why: impl Into<String>) -> String {
    line(now, id, &Response::Error { id: id.clone(), error: why.into(), timestamp: now.0 })
}

/// The line that answers `get_status`.
pub(super) fn status(now: Millis, id: &Value, data: Status) -> String {
    line(now, id, &Response::Status { id: id.clone(), data, timestamp: now.0 })
}

/// How a request ends with its run; `None` is well.
pub(super) fn why(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Done => None,
        Outcome::Failed(failure) => {
            let hint = failure.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            Some(format!("Failed to process request: {}{hint}", failure.message))
        }
        Outcome::Cancelled => Some("The request was cancelled.".to_owned()),
        Outcome::Interrupted | Outcome::Lost => {
            Some("Failed to process request: the runtime went away in the middle of it".to_owned())
        }
    }
}

/// A turn that answers a request.
#[derive(Debug)]
pub(super) struct Telling {
    /// The requests it answers; usually one.
    pub(super) ids: Vec<Value>,
    narrator: Narrator,
    texted: bool,
    pub(super) lost_thought: bool,
}

impl Telling {
    pub(super) fn new(ids: Vec<Value>, narrator: Narrator) -> Telling {
        Telling { ids, narrator, texted: false, lost_thought: false }
    }

    /// Takes what happened; gives the lines to send.
    pub(super) fn hear(&mut self, at: Millis, body: &Body) -> Vec<String> {
        let told = self.narrator.hear(at, body);
        told.into_iter().flat_map(|told| self.tell(at, told)).collect()
    }

    fn tell(&mut self, now: Millis, told: Narration<'_>) -> Vec<String> {
        match told {
            Narration::Text { text, opens, .. } => self.text(now, text, opens),
            Narration::Thought { .. } => {
                self.lost_thought = true;
                Vec::new()
            }
            Narration::Block { part: Part::Code { language, text, .. }, opens, .. } => {
                let fenced = format!("\n```{}\n{text}\n```\n", language.as_deref().unwrap_or_default());
                self.text(now, &fenced, opens)
            }
            Narration::Block { part: Part::Diff { text, .. }, opens, .. } => {
                self.text(now, &format!("\n```diff\n{text}\n```\n"), opens)
            }
            Narration::Call { tool, name, args, .. } => {
                // What is not JSON (which nobody should have let in) is shown as it is.
                let input =
                    serde_json::from_str(args.as_str()).unwrap_or_else(|_| Value::from(args.as_str()));
                self.tool(now, tool, name, |id, tool| {
                    let data = ToolUse { tool, input: input.clone(), tool_input: input.clone() };
                    Response::ToolUse { id, data, timestamp: now.0 }
                })
            }
            Narration::CallResult { tool, call, outcome, result } => {
                let failed = *outcome != ToolOutcome::Done;
                let error = failed.then(|| Value::String(result.text.clone()));
                let result = if failed { json!({ "error": result.text }) } else { result_value(result) };
                self.tool(now, tool, &call.name, |id, tool| {
                    let data = WireResult { tool, result: result.clone(), error: error.clone() };
                    Response::ToolResult { id, data, timestamp: now.0 }
                })
            }
            Narration::RunStarted
            | Narration::RunEnded { .. }
            | Narration::TurnStarted
            | Narration::TurnEnded
            | Narration::StepStarted { .. }
            | Narration::StepEnded { .. }
            | Narration::MessageStarted { .. }
            | Narration::MessageEnded { .. }
            | Narration::Prompt { .. }
            | Narration::Whole(_)
            | Narration::Block { .. }
            | Narration::CallStarted { .. }
            | Narration::CallProgress { .. } => Vec::new(),
        }
    }

    fn text(&mut self, now: Millis, text: &str, opens: Opens) -> Vec<String> {
        // What was said before somebody asked is none of theirs.
        let parted = std::mem::replace(&mut self.texted, true) && opens == Opens::Message;
        let token = if parted { format!("{BETWEEN_MESSAGES}{text}") } else { text.to_owned() };
        let tokens = self.ids.iter().map(|id| {
            let token = token.clone();
            line(now, id, &Response::Token { id: id.clone(), token, timestamp: now.0 })
        });
        tokens.collect()
    }

    /// A line about a tool for each request that the turn answers.
    fn tool(
        &self,
        now: Millis,
        tool: ToolRunId,
        name: &str,
        response: impl Fn(Value, ToolNames) -> Response,
    ) -> Vec<String> {
        let lines = self.ids.iter().map(|id| {
            // The existing shell shows a tool only if its id holds the id of the message.
            let tool = match id {
                Value::String(id) => format!("{id}:{tool}"),
                other => format!("{other}:{tool}"),
            };
            line(now, id, &response(id.clone(), ToolNames::new(tool, name)))
        });
        lines.collect()
    }
}

fn result_value(result: &ToolResult) -> Value {
    let structured = result.json.as_ref().map(Json::as_str).and_then(|json| serde_json::from_str(json).ok());
    match structured {
        None | Some(Value::Null | Value::Bool(false)) if result.text.is_empty() => {
            Value::String(NOTHING.to_owned())
        }
        None | Some(Value::Null | Value::Bool(false)) => Value::String(result.text.clone()),
        Some(value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_that_cannot_be_written_ends_its_request_with_an_error() {
        let line = line(Millis(7), &json!("m1"), &Response::Unknown);
        let line: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(
            (&line["type"], &line["id"], &line["timestamp"]),
            (&json!("error"), &json!("m1"), &json!(7))
        );
        assert!(line["error"].as_str().is_some_and(|error| error.contains("the response is lost")));
    }
}
