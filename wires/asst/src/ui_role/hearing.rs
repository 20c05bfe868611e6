//! Responses to one message become facts. Both sets of names in `data` are understood.

use crate::wire::{ToolNames, ToolResult as WireResult, ToolUse};
use domain::content::{Input, Json, TextKind};
use domain::fact::{Key, Said};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::listener::Listener;
use roles::{Drift, UiCx};
use serde_json::Value;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Hearing {
    pub(super) id: String,
    listener: Listener<()>,
}

impl Hearing {
    pub(super) fn new(id: &str) -> Hearing {
        Hearing { id: id.to_owned(), listener: Listener::new(id.into()) }
    }

    /// Says something of this run.
    pub(super) fn fact(&self, cx: &mut UiCx<'_>, said: Said) {
        self.listener.say(cx, said);
    }

    /// What the person said; the wire does not repeat it.
    pub(super) fn user(&self, cx: &mut UiCx<'_>, input: &Input) {
        self.listener.prompt(cx, Some(Key::from(format!("{}:user", self.id))), input.parts());
    }

    /// The model says a piece of text.
    pub(super) fn token(&mut self, cx: &mut UiCx<'_>, text: String) {
        self.listener.text(cx, TextKind::Text, text);
    }

    /// The model uses a tool; the wire does not tell when it begins to run, so it runs from here on.
    pub(super) fn tool_use(&mut self, cx: &mut UiCx<'_>, data: ToolUse, line: &str) {
        let Some((tool, name)) = read(cx, &data.tool, line) else { return };
        let input = [data.input, data.tool_input].into_iter().find(|input| !input.is_null());
        let args = input.map_or_else(Json::empty, |input| Json::verbatim(input.to_string()));
        self.listener.call(cx, tool.clone(), name, args, ());
        self.fact(cx, Said::ToolStarted { tool, name: None, args: None });
    }

    /// A tool has ended.
    pub(super) fn tool_result(&mut self, cx: &mut UiCx<'_>, data: WireResult, line: &str) {
        let Some((tool, _)) = read(cx, &data.tool, line) else { return };
        let (outcome, result) = match (data.error, data.result) {
            (Some(error), _) => (ToolOutcome::Failed, ToolResult::text(words(&error))),
            (None, Value::Null) => (ToolOutcome::Done, ToolResult::default()),
            (None, Value::String(text)) => (ToolOutcome::Done, ToolResult::text(text)),
            (None, result) => {
                let json = Some(Json::verbatim(result.to_string()));
                let text = readable(&result).unwrap_or_else(|| words(&result));
                (ToolOutcome::Done, ToolResult { json, ..ToolResult::text(text) })
            }
        };
        self.listener.result(cx, &tool, outcome, result);
    }
}

/// Results of the existing runtime's tools as a person reads them: names, lines, the content of a file, what a command wrote. `None`
/// for any other shape.
fn readable(result: &Value) -> Option<String> {
    let lines = |list: &[Value], line: fn(&Value) -> Option<String>| {
        let lines: Option<Vec<String>> = list.iter().map(line).collect();
        lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
    };
    match result {
        Value::Array(list) => {
            lines(list, |item| item.as_str().map(str::to_owned)).or_else(|| lines(list, entry))
        }
        Value::Object(object) => {
            let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            let wrote = [text("stdout"), text("stderr")];
            match text("content") {
                Some(content) => Some(content.to_owned()),
                None if object.contains_key("stdout") => {
                    Some(wrote.into_iter().flatten().map(str::trim_end).collect::<Vec<_>>().join("\n"))
                }
                None => None,
            }
        }
        _ => None,
    }
}

/// A file or folder in a list.
fn entry(item: &Value) -> Option<String> {
    let name = item.get("path").or_else(|| item.get("name"))?.as_str()?;
    let folder = item.get("type").and_then(Value::as_str) == Some("directory");
    Some(if folder { format!("{name}/") } else { name.to_owned() })
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The tool's id and name.
fn read(cx: &mut UiCx<'_>, tool: &ToolNames, line: &str) -> Option<(Key, String)> {
    if tool.id().is_empty() {
        cx.drift(Drift::new("tool data", "it names no tool", line));
        return None;
    }
    let name = if tool.name().is_empty() { "tool" } else { tool.name() };
    Some((Key::from(tool.id()), name.to_owned()))
}
