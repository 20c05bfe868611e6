//! Lines of the runtime, and a turn as this wire tells it.

use crate::asst::wire::{Response, ToolData};
use crate::asst::{CAPABILITIES, VERSION};
use domain::content::{Json, Part, Role, TextKind};
use domain::event::{Body, MessageEvent, Outcome, ToolEvent};
use domain::ids::{MessageId, Millis, ToolRunId};
use domain::state::State;
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
    texted: bool,
    parted: bool,
    pub(super) lost_thought: bool,
}

impl Telling {
    pub(super) fn new(ids: Vec<Value>) -> Telling {
        Telling { ids, texted: false, parted: false, lost_thought: false }
    }

    /// Takes what happened; gives the lines to send.
    pub(super) fn hear(&mut self, now: Millis, state: &State, body: &Body) -> Vec<String> {
        match body {
            Body::Message(MessageEvent::Started { role: Role::Assistant, .. }) => {
                self.parted = self.texted;
                Vec::new()
            }
            Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text }) => {
                self.text(now, state, *message, text)
            }
            Body::Message(MessageEvent::Delta { kind: TextKind::Thought, .. }) => {
                self.lost_thought = true;
                Vec::new()
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => self.part(now, state, *message, part),
            Body::Tool(ToolEvent::Proposed { tool, name, args, .. }) => {
                let input: Value = serde_json::from_str(args.as_str()).unwrap_or_default();
                let data = |id: String| ToolData {
                    input: Some(input.clone()),
                    tool_input: Some(input.clone()),
                    ..named(id, name)
                };
                self.tool(now, "tool_use", *tool, data)
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                let name = state.tool(*tool).map_or("tool", |tool| tool.name.as_str());
                let failed = *outcome != ToolOutcome::Done;
                let error = failed.then(|| Value::String(result.text.clone()));
                let result = if failed { json!({ "error": result.text }) } else { result_value(result) };
                let data = |id: String| ToolData {
                    result: Some(result.clone()),
                    error: error.clone(),
                    ..named(id, name)
                };
                self.tool(now, "tool_result", *tool, data)
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, now: Millis, state: &State, message: MessageId, text: &str) -> Vec<String> {
        let of_model = state.message(message).is_none_or(|message| message.role == Role::Assistant);
        if !of_model || text.is_empty() {
            return Vec::new();
        }
        let parted = std::mem::take(&mut self.parted);
        self.texted = true;
        let token = if parted { format!("{BETWEEN_MESSAGES}{text}") } else { text.to_owned() };
        let tokens = self.ids.iter().map(|id| {
            let (kind, token) = ("token".to_owned(), Some(token.clone()));
            line(Response { kind, id: id.clone(), token, timestamp: now.0, ..Response::default() })
        });
        tokens.collect()
    }

    fn part(&mut self, now: Millis, state: &State, message: MessageId, part: &Part) -> Vec<String> {
        match part {
            Part::Text(text) => self.text(now, state, message, text),
            Part::Code { language, text, .. } => {
                let fenced = format!("\n```{}\n{text}\n```\n", language.as_deref().unwrap_or_default());
                self.text(now, state, message, &fenced)
            }
            Part::Diff { text, .. } => self.text(now, state, message, &format!("\n```diff\n{text}\n```\n")),
            Part::Thought { .. } => {
                self.lost_thought = true;
                Vec::new()
            }
            Part::Image { .. } | Part::Tool(_) | Part::Opaque { .. } => Vec::new(),
        }
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
