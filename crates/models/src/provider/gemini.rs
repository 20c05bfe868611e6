//! Gemini `streamGenerateContent`. Pure: request → body, events → deltas.
//!
//! Calls arrive whole and without ids, so ids are made up. Parts may carry a `thoughtSignature`, which is kept with
//! the place of its call in the answer (`wire` = `gemini`) and goes back on the same part: whoever keeps the
//! conversation may give calls other ids, but not another order.

use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::failure::failure_in_stream;
use super::json::{count, list, text};
use super::{Draft, Reader};
use crate::chat::join_text;
use crate::{
    ChatMessage, Content, Delta, Effort, ErrorKind, ModelError, OpaquePart, StopReason, ToolCall, Usage, sse,
};

const WIRE: &str = "gemini";
/// What the provider documents for calls of a history that another model wrote and therefore nobody signed.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The request in this provider's JSON.
pub(super) fn body(draft: &Draft<'_>) -> Value {
    let request = draft.request;
    let mut body = Map::new();
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert("systemInstruction".into(), json!({ "parts": [{ "text": system }] }));
    }
    let signed_only = draft.model.starts_with("gemini-3");
    body.insert("contents".into(), Value::Array(contents(&request.messages, signed_only)));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema })
        });
        body.insert("tools".into(), json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]));
    }
    let mut config = Map::new();
    if let Some(max) = request.max_tokens {
        config.insert("maxOutputTokens".into(), json!(max));
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), json!(temperature));
    }
    if draft.info.thinking && request.thinking != Effort::Off {
        let mut thinking = json!({ "includeThoughts": true });
        let (level, budget) = match request.thinking {
            Effort::Off | Effort::Low => ("low", 2_048),
            Effort::Medium => ("medium", 8_192),
            Effort::High => ("high", 24_576),
        };
        if signed_only {
            thinking["thinkingLevel"] = json!(level);
        } else {
            thinking["thinkingBudget"] = json!(budget);
        }
        config.insert("thinkingConfig".into(), thinking);
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    Value::Object(body)
}

fn contents(messages: &[ChatMessage], signed_only: bool) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            ChatMessage::User { content } => ("user", pieces(content)),
            ChatMessage::Tool { name, content, is_error, .. } => ("user", result(name, content, *is_error)),
            ChatMessage::Assistant { content, tool_calls, kept } => {
                ("model", spoken(content, tool_calls, kept, signed_only))
            }
        };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    turns.retain(|(_, parts)| !parts.is_empty());
    turns.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn spoken(content: &[Content], calls: &[ToolCall], kept: &[OpaquePart], signed_only: bool) -> Vec<Value> {
    let signature = |call: Option<usize>| {
        let mine = kept.iter().filter(|kept| kept.wire == WIRE);
        mine.filter(|kept| kept.value.get("call") == call.map(Value::from).as_ref())
            .find_map(|kept| text(&kept.value, "/signature"))
    };
    let mut parts = pieces(content);
    if let (Some(Value::Object(part)), Some(signature)) = (parts.last_mut(), signature(None)) {
        part.insert("thoughtSignature".into(), json!(signature));
    }
    for (at, call) in calls.iter().enumerate() {
        let mut part = json!({ "functionCall": { "name": call.name, "args": call.args.to_object() } });
        // Only the first call of a step is signed.
        let fallback = (signed_only && at == 0).then_some(UNSIGNED);
        if let Some(signature) = signature(Some(at)).or(fallback) {
            part["thoughtSignature"] = json!(signature);
        }
        parts.push(part);
    }
    parts
}

fn result(name: &str, content: &[Content], is_error: bool) -> Vec<Value> {
    let field = if is_error { "error" } else { "output" };
    let response = json!({ "name": name, "response": { field: join_text(content) } });
    let images =
        content.iter().filter(|piece| matches!(piece, Content::Image { .. })).cloned().collect::<Vec<_>>();
    let mut parts = vec![json!({ "functionResponse": response })];
    parts.extend(pieces(&images));
    parts
}

fn pieces(content: &[Content]) -> Vec<Value> {
    let parts = content.iter().filter_map(|piece| match piece {
        Content::Text(text) if text.is_empty() => None,
        Content::Text(text) => Some(json!({ "text": text })),
        Content::Image { mime, base64 } => {
            Some(json!({ "inlineData": { "mimeType": mime, "data": base64 } }))
        }
    });
    parts.collect()
}

/// Turns the stream of events into deltas.
#[derive(Debug)]
pub(super) struct Candidates {
    calls: Calls,
    ran_tool: bool,
    stop: Option<StopReason>,
}

impl Candidates {
    /// `seed` keeps the made-up ids of two responses apart.
    pub(super) fn new(seed: u64) -> Self {
        Self { calls: Calls::new(seed), ran_tool: false, stop: None }
    }

    fn part(&mut self, part: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut place = None;
        self.ran_tool |= part.get("executableCode").is_some() || part.get("codeExecutionResult").is_some();
        if let Some(call) = part.get("functionCall") {
            let id = text(call, "/id").map_or_else(|| self.calls.made_up_id(), str::to_owned);
            self.calls.start(&id, &id, text(call, "/name").unwrap_or_default(), out)?;
            if let Some(args) = call.get("args") {
                self.calls.args(&id, &args.to_string(), out)?;
            }
            self.calls.close(&id, None, out);
            place = self.calls.last_place();
        } else if let Some(words) = text(part, "/text").filter(|words| !words.is_empty()) {
            let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
            out.push(if thought { Delta::Thought(words.to_owned()) } else { Delta::Text(words.to_owned()) });
        }
        if let Some(signature) = text(part, "/thoughtSignature") {
            let value = match place {
                Some(place) => json!({ "call": place, "signature": signature }),
                None => json!({ "signature": signature }),
            };
            out.push(Delta::Keep(OpaquePart { wire: WIRE.to_owned(), value }));
        }
        Ok(())
    }
}

impl Reader for Candidates {
    fn read(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let value: Value = crate::half::read(&event.data).map_err(|error| {
            ModelError::new(ErrorKind::Protocol, "", format!("an event is not JSON: {error}"))
        })?;
        if let Some(error) = value.get("error") {
            return Err(failure_in_stream(error));
        }
        for part in list(&value, "/candidates/0/content/parts") {
            self.part(part, out)?;
        }
        if let Some(usage) = value.get("usageMetadata") {
            let reasoning = count(usage, "/thoughtsTokenCount");
            out.push(Delta::Usage(Usage {
                input: count(usage, "/promptTokenCount"),
                output: count(usage, "/candidatesTokenCount").saturating_add(reasoning),
                cache_read: count(usage, "/cachedContentTokenCount"),
                cache_write: 0,
                reasoning,
            }));
        }
        let blocked = text(&value, "/promptFeedback/blockReason").map(|_| StopReason::Refusal);
        let finished =
            text(&value, "/candidates/0/finishReason").map(|reason| stop_reason(reason, self.calls.any()));
        self.stop = blocked.or(finished).or(self.stop.take());
        Ok(())
    }

    fn ran_tool(&self) -> bool {
        self.ran_tool
    }

    /// Usage may follow the finish reason, so only the end of the stream is the end.
    fn done(&self) -> Option<StopReason> {
        None
    }

    fn closed(&mut self, _out: &mut Vec<Delta>) -> Option<StopReason> {
        self.stop.clone()
    }
}

fn stop_reason(reason: &str, called: bool) -> StopReason {
    match reason {
        "STOP" if called => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
            StopReason::Refusal
        }
        other => StopReason::Other(other.to_owned()),
    }
}
