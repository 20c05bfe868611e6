//! OpenAI Responses. Pure: request → body, events → deltas.
//!
//! Nothing is stored at the provider: reasoning comes encrypted, is kept whole (`wire` = `openai-responses`) and goes
//! back before the items it led to.

use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::failure::failure_in_stream;
use super::json::{count, text};
use super::{Draft, House, Reader, cache, effort, schema};
use crate::chat::join_text;
use crate::{ChatMessage, Content, Delta, ErrorKind, ModelError, OpaquePart, StopReason, Usage, sse};

const WIRE: &str = "openai-responses";
/// Calls that somebody else than the provider performs.
const OUTSIDE_CALLS: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
];

/// The request in this provider's JSON.
pub(super) fn body(draft: &Draft<'_>) -> Value {
    let request = draft.request;
    let mut body = Map::new();
    body.insert("model".into(), json!(draft.model));
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert("instructions".into(), json!(system));
    }
    body.insert("input".into(), Value::Array(input(&request.messages)));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.schema, "strict": false,
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    cache::write_responses(draft, &mut body);
    if let Some(max) = request.max_tokens {
        body.insert("max_output_tokens".into(), json!(max));
    }
    // At xAI models think that take no effort.
    let thinks = match draft.house {
        House::Xai => !draft.model.contains("non-reasoning"),
        _ => draft.info.thinking != Some(false),
    };
    if thinks {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(word) = effort::word(house_of(draft), draft.model, draft.effort()) {
        body.insert("reasoning".into(), json!({ "effort": word, "summary": "auto" }));
    }
    if let Some(schema) = schema::of_object(request.schema.as_ref()) {
        let strict = schema::is_strict(schema, true);
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": strict });
        body.insert("text".into(), json!({ "format": format }));
    }
    if let Some(temperature) = request.temperature.filter(|_| !thinks || draft.house == House::Xai) {
        body.insert("temperature".into(), json!(temperature));
    }
    Value::Object(body)
}

/// Whoever else speaks this wire speaks it as OpenAI does.
fn house_of(draft: &Draft<'_>) -> House {
    if draft.house == House::Xai { House::Xai } else { House::OpenAi }
}

fn input(messages: &[ChatMessage]) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages {
        match message {
            ChatMessage::User { content } => items.push(json!({ "role": "user", "content": parts(content) })),
            ChatMessage::Assistant { content, tool_calls, kept } => {
                items.extend(kept.iter().filter(|kept| kept.wire == WIRE).map(|kept| kept.value.clone()));
                let words = join_text(content);
                if !words.is_empty() {
                    let content = json!([{ "type": "output_text", "text": words }]);
                    items.push(json!({ "role": "assistant", "content": content }));
                }
                items.extend(tool_calls.iter().map(|call| {
                    json!({
                        "type": "function_call", "call_id": call.id, "name": call.name,
                        "arguments": call.args.to_object().to_string(),
                    })
                }));
            }
            ChatMessage::Tool { call_id, content, .. } => {
                let plain = content.iter().all(|piece| matches!(piece, Content::Text(_)));
                let output = if plain { json!(join_text(content)) } else { parts(content) };
                items.push(json!({ "type": "function_call_output", "call_id": call_id, "output": output }));
            }
        }
    }
    items
}

fn parts(content: &[Content]) -> Value {
    let parts = content.iter().map(|piece| match piece {
        Content::Text(text) => json!({ "type": "input_text", "text": text }),
        Content::Image { mime, base64 } => {
            json!({ "type": "input_image", "image_url": format!("data:{mime};base64,{base64}") })
        }
    });
    parts.collect()
}

/// Turns the stream of events into deltas.
#[derive(Debug)]
pub(super) struct Items {
    calls: Calls,
    refused: bool,
    thought: bool,
    ran_tool: bool,
    stop: Option<StopReason>,
}

impl Reader for Items {
    fn read(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" {
            return Ok(());
        }
        let value: Value = crate::half::read(&event.data).map_err(|error| {
            ModelError::new(ErrorKind::Protocol, "", format!("an event is not JSON: {error}"))
        })?;
        let delta = text(&value, "/delta").unwrap_or_default();
        let key = count(&value, "/output_index").to_string();
        match text(&value, "/type").unwrap_or(&event.name) {
            "response.output_text.delta" => out.push(Delta::Text(delta.to_owned())),
            "response.refusal.delta" => {
                self.refused = true;
                out.push(Delta::Text(delta.to_owned()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought = true;
                out.push(Delta::Thought(delta.to_owned()));
            }
            "response.reasoning_summary_part.added" if self.thought => {
                out.push(Delta::Thought("\n\n".to_owned()));
            }
            "response.output_item.added" => self.added(&key, &value["item"], out)?,
            "response.function_call_arguments.delta" => self.calls.args(&key, delta, out)?,
            "response.output_item.done" => self.item_done(&key, &value["item"], out)?,
            "response.completed" | "response.incomplete" => self.ended(&value["response"], out),
            "response.failed" => return Err(failure_in_stream(&value["response"]["error"])),
            "error" => return Err(failure_in_stream(value.get("error").unwrap_or(&value))),
            // Progress marks, and whatever the wire learns later.
            _ => {}
        }
        Ok(())
    }

    fn ran_tool(&self) -> bool {
        self.ran_tool
    }

    fn done(&self) -> Option<StopReason> {
        self.stop.clone()
    }

    fn closed(&mut self, _out: &mut Vec<Delta>) -> Option<StopReason> {
        None
    }
}

impl Items {
    /// `seed` keeps the made-up ids of two responses apart.
    pub(super) fn new(seed: u64) -> Self {
        Self { calls: Calls::new(seed), refused: false, thought: false, ran_tool: false, stop: None }
    }

    fn added(&mut self, key: &str, item: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let kind = text(item, "/type").unwrap_or_default();
        self.ran_tool |= kind.ends_with("_call") && !OUTSIDE_CALLS.contains(&kind);
        if kind != "function_call" || self.calls.is_open(key) {
            return Ok(());
        }
        let id = text(item, "/call_id").or_else(|| text(item, "/id")).unwrap_or_default();
        self.calls.start(key, id, text(item, "/name").unwrap_or_default(), out)
    }

    fn item_done(&mut self, key: &str, item: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        match text(item, "/type") {
            Some("function_call") => {
                self.added(key, item, out)?;
                self.calls.close(key, text(item, "/arguments"), out);
            }
            Some("reasoning") if item.get("encrypted_content").is_some_and(Value::is_string) => {
                let mut value = item.clone();
                // The state of the item is the server's business and not taken back.
                if let Value::Object(fields) = &mut value {
                    fields.remove("status");
                }
                out.push(Delta::Keep(OpaquePart { wire: WIRE.to_owned(), value }));
            }
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, response: &Value, out: &mut Vec<Delta>) {
        self.calls.close_all(out);
        if response.get("usage").is_some_and(Value::is_object) {
            out.push(Delta::Usage(Usage {
                input: count(response, "/usage/input_tokens"),
                output: count(response, "/usage/output_tokens"),
                cache_read: count(response, "/usage/input_tokens_details/cached_tokens"),
                cache_write: count(response, "/usage/input_tokens_details/cache_write_tokens"),
                reasoning: count(response, "/usage/output_tokens_details/reasoning_tokens"),
            }));
        }
        self.stop = Some(match text(response, "/incomplete_details/reason") {
            Some("max_output_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Refusal,
            Some(other) => StopReason::Other(other.to_owned()),
            None if self.refused => StopReason::Refusal,
            None if self.calls.any() => StopReason::ToolUse,
            None => StopReason::EndTurn,
        });
    }
}
