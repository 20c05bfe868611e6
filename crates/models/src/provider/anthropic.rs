//! Anthropic Messages. Pure: request → body, events → deltas.
//!
//! Thinking blocks come with a signature and must go back unchanged, before everything else of their message; they
//! are kept whole (`wire` = `anthropic`). Cache marks are set where a next request will begin with the same words.

use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::failure::failure_in_stream;
use super::json::{count, text};
use super::{Draft, Reader, effort, schema};
use crate::{
    ChatMessage, Content, Delta, Effort, ErrorKind, ModelError, OpaquePart, StopReason, ToolCall, Usage, sse,
};

const WIRE: &str = "anthropic";
/// The answer's bound where neither the caller nor the table knows one; the wire demands a number.
const DEFAULT_MAX_TOKENS: u32 = 8_192;
/// Tokens of the answer's bound that thinking leaves to the answer.
const ANSWER_ROOM: u32 = 1_024;
/// The first models that decide themselves how long they think; those before count tokens.
const ADAPTIVE: (u32, u32) = (4, 6);

/// The beta in which a model thinks between its tool calls, too.
pub(super) const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// Whether the model has to be asked to think between its tool calls: Claude 4 to 4.5. Later ones do it by themselves, since adaptive thinking
/// includes it, and earlier ones cannot. (platform.claude.com/docs/en/build-with-claude/extended-thinking, "Interleaved thinking")
pub(super) fn interleaves(draft: &Draft<'_>) -> bool {
    let thinks = !matches!(draft.effort(), Effort::Off | Effort::None);
    let has_it = version(draft.model).is_some_and(|version| ((4, 0)..ADAPTIVE).contains(&version));
    thinks && has_it && !draft.request.tools.is_empty()
}

/// The request in this provider's JSON.
pub(super) fn body(draft: &Draft<'_>) -> Value {
    let request = draft.request;
    let mut max_tokens = request.max_tokens.or(draft.info.max_output).unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = Map::new();
    body.insert("model".into(), json!(draft.model));
    body.insert("stream".into(), json!(true));
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert(
            "system".into(),
            // What stands before it, the tools, is in the cache with it.
            json!([{ "type": "text", "text": system, "cache_control": cache_mark() }]),
        );
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(
            |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }),
        );
        body.insert("tools".into(), tools.collect());
    }
    let version = version(draft.model);
    let by_budget = version.is_some_and(|version| version < ADAPTIVE);
    let thinking = match draft.effort() {
        Effort::Off => None,
        Effort::None if by_budget => None,
        Effort::None => without_thinking(draft.model, version),
        asked if by_budget => {
            // The budget is part of the bound, so a small bound grows to leave room for the answer, as far as the model goes.
            let most = draft.info.max_output.map_or(u32::MAX, |most| most.saturating_sub(ANSWER_ROOM));
            let budget = effort::budget(asked).min(most.max(effort::budget(Effort::Minimal)));
            max_tokens = max_tokens.max(budget.saturating_add(ANSWER_ROOM));
            Some((json!({ "type": "enabled", "budget_tokens": budget }), None))
        }
        asked => Some((json!({ "type": "adaptive" }), Some(word(asked, version)))),
    };
    let thinks = thinking.is_some();
    let mut output = Map::new();
    if let Some((thinking, effort)) = thinking {
        body.insert("thinking".into(), thinking);
        output.extend(effort.map(|effort| ("effort".to_owned(), json!(effort))));
    }
    // From 4.5 on, for schemas of closed objects.
    let schema = schema::of_object(request.schema.as_ref()).filter(|schema| schema::is_strict(schema, false));
    if let Some(schema) = schema.filter(|_| version.is_none_or(|version| version >= (4, 5))) {
        output.insert("format".into(), json!({ "type": "json_schema", "schema": schema }));
    }
    if !output.is_empty() {
        body.insert("output_config".into(), Value::Object(output));
    }
    if let Some(temperature) = request.temperature.filter(|_| by_budget && !thinks) {
        body.insert("temperature".into(), json!(temperature));
    }
    body.insert("max_tokens".into(), json!(max_tokens));
    body.insert("messages".into(), Value::Array(messages(&request.messages)));
    Value::Object(body)
}

/// The version in a name: `claude-opus-4-20250514` is (4, 0), `us.anthropic.claude-sonnet-4-5-v1:0` is (4, 5). Names without one are new.
fn version(model: &str) -> Option<(u32, u32)> {
    let (_, rest) = model.split_once("claude")?;
    let mut parts = rest.split(['-', '.', '@', ':', '_']).skip_while(|part| part.parse::<u32>().is_err());
    // A date is no version.
    let small = |part: &str| part.parse::<u32>().ok().filter(|number| *number < 100);
    let major = parts.next().and_then(small)?;
    Some((major, parts.next().and_then(small).unwrap_or(0)))
}

/// How a newer model is told not to think, if it has to be told: some do it only when they are asked, some cannot leave it out and think
/// as little as they can. (platform.claude.com/docs/en/build-with-claude/adaptive-thinking, "Supported models")
fn without_thinking(model: &str, version: Option<(u32, u32)>) -> Option<(Value, Option<&'static str>)> {
    let can_stop = match version {
        Some((4, _)) => return None,
        Some((5, 0)) => model.contains("opus") || model.contains("sonnet"),
        Some((5, 5)) => model.contains("haiku"),
        _ => false,
    };
    if can_stop {
        return Some((json!({ "type": "disabled" }), None));
    }
    Some((json!({ "type": "adaptive" }), Some("low")))
}

/// The maker's word for an effort; xhigh came with 4.7.
fn word(effort: Effort, version: Option<(u32, u32)>) -> &'static str {
    match effort {
        Effort::Off | Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::Xhigh if version != Some(ADAPTIVE) => "xhigh",
        Effort::High | Effort::Xhigh => "high",
        Effort::Max => "max",
    }
}

fn cache_mark() -> Value {
    json!({ "type": "ephemeral" })
}

/// Marks of the conversation, beside the one of what stands before it; four are allowed in a request. The newest turn of the person is
/// written to the cache. The provider looks only 20 blocks back from a mark for what was written, and a step with 30 calls is 60: so the turn
/// that was the newest in the request before is marked once more, exactly where it was. The one before that is for a step that another model
/// answered.
const MARKED_TURNS: usize = 3;

fn mark_last(blocks: &mut [Value]) {
    if let Some(Value::Object(block)) = blocks.last_mut() {
        block.insert("cache_control".into(), cache_mark());
    }
}

/// Results and prompts in a row are one message of the person: the wire wants roles to take turns.
fn messages(messages: &[ChatMessage]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            ChatMessage::User { content } => ("user", pieces(content)),
            ChatMessage::Tool { call_id, content, is_error, .. } => {
                let block = json!({
                    "type": "tool_result", "tool_use_id": safe_id(call_id), "content": pieces(content), "is_error": is_error,
                });
                ("user", vec![block])
            }
            ChatMessage::Assistant { content, tool_calls, kept } => {
                ("assistant", spoken(content, tool_calls, kept))
            }
        };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    let persons = turns.iter_mut().rev().filter(|(role, _)| *role == "user");
    persons.take(MARKED_TURNS).for_each(|(_, blocks)| mark_last(blocks));
    turns.into_iter().map(|(role, blocks)| json!({ "role": role, "content": blocks })).collect()
}

fn spoken(content: &[Content], calls: &[ToolCall], kept: &[OpaquePart]) -> Vec<Value> {
    let mut blocks: Vec<Value> =
        kept.iter().filter(|kept| kept.wire == WIRE).map(|kept| kept.value.clone()).collect();
    blocks.extend(pieces(content));
    blocks.extend(calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": safe_id(&call.id), "name": call.name, "input": call.args.to_object() })
    }));
    blocks
}

/// The wire refuses empty texts.
fn pieces(content: &[Content]) -> Vec<Value> {
    let blocks = content.iter().filter_map(|piece| match piece {
        Content::Text(text) if text.trim().is_empty() => None,
        Content::Text(text) => Some(json!({ "type": "text", "text": text })),
        Content::Image { mime, base64 } => Some(json!({
            "type": "image", "source": { "type": "base64", "media_type": mime, "data": base64 },
        })),
    });
    blocks.collect()
}

/// Ids of other providers may hold characters that this one refuses.
fn safe_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

/// Turns the stream of events into deltas.
#[derive(Debug)]
pub(super) struct Messages {
    blocks: Vec<(u64, Block)>,
    calls: Calls,
    usage: Usage,
    stop: Option<StopReason>,
    ended: bool,
    ran_tool: bool,
}

#[derive(Debug)]
enum Block {
    /// Kept whole: a thinking block that grows.
    Thinking(Map<String, Value>),
    Tool,
    Other,
}

impl Reader for Messages {
    fn read(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let value: Value = crate::half::read(&event.data).map_err(|error| {
            ModelError::new(ErrorKind::Protocol, "", format!("an event is not JSON: {error}"))
        })?;
        let index = count(&value, "/index");
        match text(&value, "/type").unwrap_or(&event.name) {
            "message_start" => self.count(&value["message"]["usage"], out),
            "content_block_start" => self.open(index, &value["content_block"], out)?,
            "content_block_delta" => self.grow(index, &value["delta"], out)?,
            "content_block_stop" => self.close(index, out),
            "message_delta" => {
                if let Some(reason) = text(&value, "/delta/stop_reason") {
                    self.stop = Some(stop_reason(reason));
                }
                self.count(&value["usage"], out);
            }
            "message_stop" => {
                self.calls.close_all(out);
                self.ended = true;
            }
            "error" => return Err(failure_in_stream(&value["error"])),
            // `ping`, and whatever the wire learns later.
            _ => {}
        }
        Ok(())
    }

    fn ran_tool(&self) -> bool {
        self.ran_tool
    }

    fn done(&self) -> Option<StopReason> {
        self.ended.then(|| self.stop.clone().unwrap_or(StopReason::EndTurn))
    }

    fn closed(&mut self, _out: &mut Vec<Delta>) -> Option<StopReason> {
        None
    }
}

impl Messages {
    /// `seed` keeps the made-up ids of two responses apart.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            blocks: Vec::new(),
            calls: Calls::new(seed),
            usage: Usage::default(),
            stop: None,
            ended: false,
            ran_tool: false,
        }
    }

    fn open(&mut self, index: u64, block: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let kind = match text(block, "/type").unwrap_or_default() {
            "thinking" | "redacted_thinking" => {
                let thought = text(block, "/thinking").unwrap_or_default();
                if !thought.is_empty() {
                    out.push(Delta::Thought(thought.to_owned()));
                }
                Block::Thinking(block.as_object().cloned().unwrap_or_default())
            }
            "tool_use" => {
                let (id, name) =
                    (text(block, "/id").unwrap_or_default(), text(block, "/name").unwrap_or_default());
                self.calls.start(&index.to_string(), id, name, out)?;
                // Some compatible servers give all arguments at once.
                if let Some(input) = block["input"].as_object().filter(|input| !input.is_empty()) {
                    self.calls.args(&index.to_string(), &Value::Object(input.clone()).to_string(), out)?;
                }
                Block::Tool
            }
            kind => {
                // `server_tool_use`, `mcp_tool_use`, and the results of both.
                self.ran_tool |= kind.ends_with("_tool_use") || kind.ends_with("_tool_result");
                let words = text(block, "/text").unwrap_or_default();
                if !words.is_empty() {
                    out.push(Delta::Text(words.to_owned()));
                }
                Block::Other
            }
        };
        self.blocks.retain(|(open, _)| *open != index);
        self.blocks.push((index, kind));
        Ok(())
    }

    fn grow(&mut self, index: u64, delta: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(words) = text(delta, "/text") {
            out.push(Delta::Text(words.to_owned()));
        }
        if let Some(fragment) = text(delta, "/partial_json") {
            self.calls.args(&index.to_string(), fragment, out)?;
        }
        for field in ["thinking", "signature"] {
            let Some(more) = delta.get(field).and_then(Value::as_str) else { continue };
            if field == "thinking" && !more.is_empty() {
                out.push(Delta::Thought(more.to_owned()));
            }
            let block = self.blocks.iter_mut().find(|(open, _)| *open == index);
            if let Some((_, Block::Thinking(kept))) = block {
                match kept.entry(field).or_insert_with(|| Value::String(String::new())) {
                    Value::String(text) => text.push_str(more),
                    other => *other = Value::String(more.to_owned()),
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, index: u64, out: &mut Vec<Delta>) {
        let Some(at) = self.blocks.iter().position(|(open, _)| *open == index) else { return };
        match self.blocks.remove(at).1 {
            Block::Thinking(block) => {
                // Without its signature the provider would refuse the block.
                let whole = block.contains_key("data") || block.get("signature").is_some_and(|s| s != "");
                if whole {
                    out.push(Delta::Keep(OpaquePart { wire: WIRE.to_owned(), value: Value::Object(block) }));
                }
            }
            Block::Tool => self.calls.close(&index.to_string(), None, out),
            Block::Other => {}
        }
    }

    /// Counts come in two events, each with what it knows; a missing one keeps the old.
    fn count(&mut self, usage: &Value, out: &mut Vec<Delta>) {
        if !usage.is_object() {
            return;
        }
        if usage.get("input_tokens").is_some_and(Value::is_u64) {
            self.usage.cache_read = count(usage, "/cache_read_input_tokens");
            self.usage.cache_write = count(usage, "/cache_creation_input_tokens");
            self.usage.input = count(usage, "/input_tokens")
                .saturating_add(self.usage.cache_read)
                .saturating_add(self.usage.cache_write);
        }
        if usage.get("output_tokens").is_some_and(Value::is_u64) {
            self.usage.output = count(usage, "/output_tokens");
        }
        if let Some(thinking) =
            usage.pointer("/output_tokens_details/thinking_tokens").and_then(Value::as_u64)
        {
            self.usage.reasoning = thinking;
        }
        out.push(Delta::Usage(self.usage));
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
