//! Lines of the runtime, and a turn as this wire tells it.

use crate::asst::wire::{Response, ToolData};
use crate::asst::{CAPABILITIES, VERSION};
use crate::narrator::{Narrator, Opens, Told};
use domain::content::{Json, Part};
use domain::event::{Body, Outcome};
use domain::ids::{Millis, ToolRunId};
use domain::tool::{ToolOutcome, ToolResult};
use serde_json::{Value, json};

/// Parts the texts of two messages of one turn, which are one bubble in the shell.
const BETWEEN_MESSAGES: &str = "\n\n";
/// The existing shell shows an empty result as a tool that still runs.
const NOTHING: &str = "(no output)";

fn line(response: Response) -> String {
    serde_json::to_string(&response).unwrap_or_default()
}

pub(super) fn ready(now: Millis) -> String {
    line(Response {
        kind: "ready".to_owned(),
        version: Some(VERSION.to_owned()),
        capabilities: Some(CAPABILITIES.map(str::to_owned).to_vec()),
        timestamp: now.0,
        ..Response::default()
    })
}

pub(super) fn done(now: Millis, id: &Value, data: Option<Value>) -> String {
    line(Response { kind: "done".to_owned(), id: id.clone(), data, timestamp: now.0, ..Response::default() })
}

pub(super) fn error(now: Millis, id: &Value, why: impl Into<String>) -> String {
    let (kind, error) = ("error".to_owned(), Some(why.into()));
    line(Response { kind, id: id.clone(), error, timestamp: now.0, ..Response::default() })
}

pub(super) fn status(now: Millis, id: &Value, state: &str, length: u64, uptime: u64) -> String {
    let data = Some(json!({ "state": state, "conversationLength": length, "uptime": uptime }));
    line(Response {
        kind: "status".to_owned(),
        id: id.clone(),
        data,
        timestamp: now.0,
        ..Response::default()
    })
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

    fn tell(&mut self, now: Millis, told: Told<'_>) -> Vec<String> {
        match told {
            Told::Text { text, opens, .. } => self.text(now, text, opens),
            Told::Thought { .. } => {
                self.lost_thought = true;
                Vec::new()
            }
            Told::Block { part: Part::Code { language, text, .. }, opens, .. } => {
                let fenced = format!("\n```{}\n{text}\n```\n", language.as_deref().unwrap_or_default());
                self.text(now, &fenced, opens)
            }
            Told::Block { part: Part::Diff { text, .. }, opens, .. } => {
                self.text(now, &format!("\n```diff\n{text}\n```\n"), opens)
            }
            Told::Call { tool, name, args, .. } => {
                let input: Value = serde_json::from_str(args.as_str()).unwrap_or_default();
                let data = |id: String| ToolData {
                    input: Some(input.clone()),
                    tool_input: Some(input.clone()),
                    ..named(id, name)
                };
                self.tool(now, "tool_use", tool, data)
            }
            Told::CallResult { tool, call, outcome, result } => {
                let failed = *outcome != ToolOutcome::Done;
                let error = failed.then(|| Value::String(result.text.clone()));
                let result = if failed { json!({ "error": result.text }) } else { result_value(result) };
                let data = |id: String| ToolData {
                    result: Some(result.clone()),
                    error: error.clone(),
                    ..named(id, &call.name)
                };
                self.tool(now, "tool_result", tool, data)
            }
            Told::RunStarted
            | Told::RunEnded { .. }
            | Told::TurnStarted
            | Told::TurnEnded
            | Told::StepStarted { .. }
            | Told::StepEnded { .. }
            | Told::MessageStarted { .. }
            | Told::MessageEnded { .. }
            | Told::Prompt { .. }
            | Told::Whole(_)
            | Told::Block { .. }
            | Told::CallStarted { .. }
            | Told::CallProgress { .. } => Vec::new(),
        }
    }

    fn text(&mut self, now: Millis, text: &str, opens: Opens) -> Vec<String> {
        // What was said before somebody asked is none of theirs.
        let parted = std::mem::replace(&mut self.texted, true) && opens == Opens::Message;
        let token = if parted { format!("{BETWEEN_MESSAGES}{text}") } else { text.to_owned() };
        let tokens = self.ids.iter().map(|id| {
            let (kind, token) = ("token".to_owned(), Some(token.clone()));
            line(Response { kind, id: id.clone(), token, timestamp: now.0, ..Response::default() })
        });
        tokens.collect()
    }

    fn tool(
        &self,
        now: Millis,
        kind: &str,
        tool: ToolRunId,
        data: impl Fn(String) -> ToolData,
    ) -> Vec<String> {
        let lines = self.ids.iter().map(|id| {
            // The existing shell shows a tool only if its id holds the id of the message.
            let name = match id {
                Value::String(id) => format!("{id}:{tool}"),
                other => format!("{other}:{tool}"),
            };
            let data = serde_json::to_value(data(name)).ok();
            let kind = kind.to_owned();
            line(Response { kind, id: id.clone(), data, timestamp: now.0, ..Response::default() })
        });
        lines.collect()
    }
}

fn named(id: String, name: &str) -> ToolData {
    ToolData {
        tool_id: id.clone(),
        tool_use_id: id,
        tool_name: name.to_owned(),
        tool_name_too: name.to_owned(),
        ..ToolData::default()
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
