//! OpenAI Chat Completions, as OpenAI and the many compatible servers speak it. Pure.
//!
//! Compatible servers differ: content goes out as a plain string wherever it is only text, indexes of calls may be
//! missing, arguments may be an object, the stream may end without `[DONE]`. All of that is taken. Who never speaks of a finish reason
//! ends with `[DONE]`; who says in each piece that there is none yet and then ends without one was cut off, by whatever stands before it.
//! What goes back of thoughts is `reasoning.rs`.

use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::failure::failure_in_stream;
use super::house::plain_name;
use super::json::{count, list, text};
use super::reasoning::{self, Gathered};
use super::{Draft, House, Reader, cache, effort, schema};
use crate::chat::join_text;
use crate::{ChatMessage, Content, Delta, Effort, ErrorKind, ModelError, StopReason, ToolCall, Usage, sse};

/// The families of Mistral's models, by parts of their names.
const MISTRALS: [&str; 6] = ["mistral", "mixtral", "ministral", "devstral", "codestral", "magistral"];
/// What such a model seems to say between results of tools and a word of the person.
const BRIDGE: &str = "I have read the results.";

/// Writes the request. `official`: OpenAI itself, which renamed a field that older servers do not know.
pub(super) fn body(draft: &Draft<'_>, official: bool) -> Value {
    let request = draft.request;
    let mut body = Map::new();
    body.insert("model".into(), json!(draft.model));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({ "include_usage": true }));
    let mut messages = Vec::new();
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        messages.push(json!({ "role": "system", "content": system }));
    }
    let asked = draft.effort();
    let returns = (draft.house, asked != Effort::None);
    let turns = taking_turns(&request.messages, wants_a_bridge(draft));
    lower_messages(&turns, returns, &mut messages);
    body.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function =
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            json!({ "type": "function", "function": function })
        });
        body.insert("tools".into(), tools.collect());
    }
    cache::write_chat(draft, &mut body);
    if let Some(max) = request.max_tokens {
        let field = if official { "max_completion_tokens" } else { "max_tokens" };
        body.insert(field.into(), json!(max));
    }
    reasoning::ask_to_read(draft.house, draft.model, &mut body);
    effort::write(draft.house, draft.model, asked, &mut body);
    // Others know it too, but not beside tools, or not all of their models.
    if let Some(schema) = schema::of_object(request.schema.as_ref()).filter(|_| draft.house == House::OpenAi)
    {
        let form = json!({ "name": "answer", "schema": schema, "strict": schema::is_strict(schema, true) });
        body.insert("response_format".into(), json!({ "type": "json_schema", "json_schema": form }));
    }
    // OpenAI's thinking models refuse a temperature.
    if let Some(temperature) =
        request.temperature.filter(|_| !(official && draft.info.thinking == Some(true)))
    {
        body.insert("temperature".into(), json!(temperature));
    }
    Value::Object(body)
}

/// Whether the model refuses a word of the person right after results of tools: "Unexpected role 'user' after role 'tool'", as Mistral's do
/// wherever they run.
fn wants_a_bridge(draft: &Draft<'_>) -> bool {
    let name = plain_name(draft.model);
    draft.house == House::Mistral || MISTRALS.iter().any(|family| name.contains(family))
}

/// Prompts in a row become one: templates of many models that run locally want roles to take turns.
fn taking_turns(messages: &[ChatMessage], bridged: bool) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        match (out.last_mut(), message) {
            (Some(ChatMessage::User { content: before }), ChatMessage::User { content }) => {
                before.extend(content.iter().cloned());
            }
            (Some(ChatMessage::Tool { .. }), ChatMessage::User { .. }) if bridged => {
                out.extend([ChatMessage::assistant(BRIDGE), message.clone()]);
            }
            _ => out.push(message.clone()),
        }
    }
    out
}

fn lower_messages(messages: &[ChatMessage], (house, thinks): (House, bool), out: &mut Vec<Value>) {
    // Results take no pictures on this wire: they follow as a message of the person after the last result.
    let mut pictures: Vec<Content> = Vec::new();
    for message in messages {
        if !matches!(message, ChatMessage::Tool { .. }) && !pictures.is_empty() {
            out.push(json!({ "role": "user", "content": content_of(&std::mem::take(&mut pictures)) }));
        }
        match message {
            ChatMessage::User { content } => {
                out.push(json!({ "role": "user", "content": content_of(content) }));
            }
            ChatMessage::Assistant { content, tool_calls, kept } => {
                let words = join_text(content);
                let mut spoken = Map::new();
                spoken.insert("role".into(), json!("assistant"));
                let words =
                    if words.is_empty() && !tool_calls.is_empty() { Value::Null } else { json!(words) };
                spoken.insert("content".into(), words);
                if !tool_calls.is_empty() {
                    spoken.insert("tool_calls".into(), tool_calls.iter().map(lower_call).collect());
                }
                reasoning::give_back(house, thinks, kept, &mut spoken);
                out.push(Value::Object(spoken));
            }
            ChatMessage::Tool { call_id, content, .. } => {
                let mut words = join_text(content);
                let images = content.iter().filter(|piece| matches!(piece, Content::Image { .. }));
                let before = pictures.len();
                pictures.extend(images.cloned());
                if words.is_empty() && pictures.len() > before {
                    words = "the picture follows".to_owned();
                }
                out.push(json!({ "role": "tool", "tool_call_id": call_id, "content": words }));
            }
        }
    }
    if !pictures.is_empty() {
        out.push(json!({ "role": "user", "content": content_of(&pictures) }));
    }
}

fn lower_call(call: &ToolCall) -> Value {
    let arguments = call.args.to_object().to_string();
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

fn content_of(content: &[Content]) -> Value {
    if content.iter().all(|piece| matches!(piece, Content::Text(_))) {
        return json!(join_text(content));
    }
    let parts = content.iter().map(|piece| match piece {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Image { mime, base64 } => {
            json!({ "type": "image_url", "image_url": { "url": format!("data:{mime};base64,{base64}") } })
        }
    });
    parts.collect()
}

/// Turns the stream of chunks into deltas.
#[derive(Debug)]
pub(super) struct Chunks {
    calls: Calls,
    thoughts: Gathered,
    ran_tool: bool,
    /// The server said that there is no finish reason yet: it will say one.
    owes_reason: bool,
    stop: Option<StopReason>,
    ended: bool,
}

impl Reader for Chunks {
    fn read(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" {
            if self.stop.is_none() && self.owes_reason {
                let text = "the answer ended without a reason why it ended";
                return Err(ModelError::new(ErrorKind::Cut, "", text));
            }
            self.thoughts.keep(out);
            self.calls.close_all(out);
            self.ended = true;
            return Ok(());
        }
        let chunk: Value = crate::half::read(&event.data).map_err(|error| {
            ModelError::new(ErrorKind::Protocol, "", format!("a chunk is not JSON: {error}"))
        })?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(failure_in_stream(error));
        }
        if event.name == "error" {
            return Err(failure_in_stream(&chunk));
        }
        for choice in list(&chunk, "/choices").iter().take(1) {
            self.read_choice(choice, out)?;
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            out.push(Delta::Usage(read_usage(usage)));
        }
        Ok(())
    }

    fn ran_tool(&self) -> bool {
        self.ran_tool
    }

    fn done(&self) -> Option<StopReason> {
        if self.ended { Some(self.stop()) } else { None }
    }

    fn closed(&mut self, out: &mut Vec<Delta>) -> Option<StopReason> {
        // Some servers close after the finish reason without `[DONE]`; without a reason the answer was cut off.
        self.stop.is_some().then(|| {
            self.thoughts.keep(out);
            self.calls.close_all(out);
            self.stop()
        })
    }
}

impl Chunks {
    /// `seed` keeps the made-up ids of two responses apart.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            calls: Calls::new(seed),
            thoughts: Gathered::default(),
            ran_tool: false,
            owes_reason: false,
            stop: None,
            ended: false,
        }
    }

    /// Servers say `stop` although they called tools; the calls decide.
    fn stop(&self) -> StopReason {
        match &self.stop {
            None | Some(StopReason::EndTurn) if self.calls.any() => StopReason::ToolUse,
            None => StopReason::EndTurn,
            Some(stop) => stop.clone(),
        }
    }

    fn read_choice(&mut self, choice: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let delta = &choice["delta"];
        self.owes_reason |= choice.get("finish_reason").is_some_and(Value::is_null);
        self.thoughts.read(delta, out);
        match delta.get("content") {
            Some(Value::String(words)) if !words.is_empty() => out.push(Delta::Text(words.clone())),
            Some(Value::Array(parts)) => {
                let words = parts.iter().filter_map(|part| text(part, "/text"));
                out.extend(words.map(|words| Delta::Text(words.to_owned())));
            }
            _ => {}
        }
        if let Some(refusal) = text(delta, "/refusal").filter(|text| !text.is_empty()) {
            out.push(Delta::Text(refusal.to_owned()));
            self.stop = Some(StopReason::Refusal);
        }
        // Servers that search or compute by themselves tell it so.
        self.ran_tool |= !list(delta, "/executed_tools").is_empty();
        for call in list(delta, "/tool_calls") {
            self.read_call(call, out)?;
        }
        if let Some(reason) =
            text(choice, "/finish_reason").filter(|_| self.stop != Some(StopReason::Refusal))
        {
            self.stop = Some(stop_reason(reason));
        }
        Ok(())
    }

    fn read_call(&mut self, call: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let id = text(call, "/id").unwrap_or_default();
        let name = text(call, "/function/name").unwrap_or_default();
        let key = match call.get("index").and_then(Value::as_u64) {
            Some(index) => index.to_string(),
            // Without an index a new id or name begins a call, anything else goes on with the last one.
            None if !id.is_empty() => format!("id {id}"),
            None if !name.is_empty() => format!("name {name} {}", self.calls.last_key().unwrap_or_default()),
            None => self.calls.last_key().unwrap_or_default().to_owned(),
        };
        if !self.calls.is_open(&key) {
            if name.is_empty() {
                return Ok(());
            }
            self.calls.start(&key, id, name, out)?;
        }
        match call.pointer("/function/arguments") {
            Some(Value::String(fragment)) => self.calls.args(&key, fragment, out),
            Some(object @ Value::Object(_)) => self.calls.args(&key, &object.to_string(), out),
            _ => Ok(()),
        }
    }
}

fn read_usage(usage: &Value) -> Usage {
    // OpenAI's field, DeepSeek's and Kimi's.
    let read = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];
    Usage {
        input: count(usage, "/prompt_tokens"),
        output: count(usage, "/completion_tokens"),
        cache_read: read.iter().map(|field| count(usage, field)).max().unwrap_or(0),
        cache_write: count(usage, "/prompt_tokens_details/cache_write_tokens"),
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
