//! How each provider speaks: a step of the story as its event stream, a request as the calls and results it carries.
//!
//! Written from the providers' documents and not from our own lowering, so that a mistake there shows.

use crate::task::project::KEY;
use crate::task::story::{Ends, Say};
use serde_json::{Value, json};

/// What a model that thinks must get back unchanged.
pub(crate) const SIGNATURE: &str = "U2lnbmF0dXJlIG9mIGEgdGhvdWdodA==";

/// A provider's wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    OpenAiChat,
    OpenAiResponses,
    Gemini,
    /// A server on this machine that knows no keys.
    Local,
}

/// A call with its result, as a request carries them.
#[derive(Debug)]
pub(crate) struct ToolExchange {
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) result: String,
}

impl Wire {
    pub(crate) fn model(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic/claude-sonnet-4-5",
            Wire::OpenAiChat => "openai-chat/gpt-5",
            Wire::OpenAiResponses => "openai-responses/gpt-5",
            Wire::Gemini => "gemini/gemini-2.5-pro",
            Wire::Local => "vllm/tiny-coder",
        }
    }

    pub(crate) fn environment(self, url: &str) -> Vec<(&'static str, String)> {
        let (key, base) = match self {
            Wire::Anthropic => (Some("ANTHROPIC_API_KEY"), "ANTHROPIC_BASE_URL"),
            Wire::OpenAiChat | Wire::OpenAiResponses => (Some("OPENAI_API_KEY"), "OPENAI_BASE_URL"),
            Wire::Gemini => (Some("GEMINI_API_KEY"), "GEMINI_BASE_URL"),
            Wire::Local => (None, "VLLM_BASE_URL"),
        };
        key.map(|key| (key, KEY.to_owned())).into_iter().chain([(base, url.to_owned())]).collect()
    }

    /// Whether a request goes to the right place with the right key.
    pub(crate) fn check_head(self, line: &str, headers: &[(String, String)]) -> Result<(), String> {
        let (path, key) = match self {
            Wire::Anthropic => ("/v1/messages", Some(("x-api-key", KEY.to_owned()))),
            Wire::OpenAiChat => ("/chat/completions", Some(("authorization", format!("Bearer {KEY}")))),
            Wire::OpenAiResponses => ("/responses", Some(("authorization", format!("Bearer {KEY}")))),
            Wire::Gemini => (
                "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
                Some(("x-goog-api-key", KEY.to_owned())),
            ),
            Wire::Local => ("/chat/completions", None),
        };
        if line != format!("POST {path} HTTP/1.1") {
            return Err(format!("asked for {line}"));
        }
        let given: Vec<&(String, String)> =
            headers.iter().filter(|(name, value)| name == "authorization" || value.contains(KEY)).collect();
        match (key, given.as_slice()) {
            (None, []) => Ok(()),
            (Some((name, value)), [given]) if given.0 == name && given.1 == value => Ok(()),
            _ => Err("the key is not where it belongs".to_owned()),
        }
    }

    /// The calls that a request carries, each with its result.
    pub(crate) fn heard(self, body: &Value) -> Result<Vec<ToolExchange>, String> {
        match self {
            Wire::Anthropic => {
                let blocks = flat(&body["messages"], "content");
                paired(
                    of_type(&blocks, "tool_use")
                        .map(|b| (&b["id"], &b["name"], b["input"].clone()))
                        .collect(),
                    of_type(&blocks, "tool_result")
                        .map(|b| (&b["tool_use_id"], b["content"][0]["text"].as_str()))
                        .collect(),
                )
            }
            Wire::OpenAiChat | Wire::Local => {
                let messages = list(&body["messages"]);
                // Servers on this machine often take plain strings only.
                if let Some(odd) =
                    messages.iter().find(|m| !m["content"].is_string() && !m["content"].is_null())
                {
                    return Err(format!("content that is no string: {odd}"));
                }
                let calls = messages.iter().flat_map(|message| list(&message["tool_calls"]));
                paired(
                    calls
                        .map(|c| (&c["id"], &c["function"]["name"], parsed(&c["function"]["arguments"])))
                        .collect(),
                    messages
                        .iter()
                        .filter(|message| message["role"] == "tool")
                        .map(|m| (&m["tool_call_id"], m["content"].as_str()))
                        .collect(),
                )
            }
            Wire::OpenAiResponses => {
                let items: Vec<&Value> = list(&body["input"]).iter().collect();
                paired(
                    of_type(&items, "function_call")
                        .map(|item| (&item["call_id"], &item["name"], parsed(&item["arguments"])))
                        .collect(),
                    of_type(&items, "function_call_output")
                        .map(|item| (&item["call_id"], item["output"].as_str()))
                        .collect(),
                )
            }
            Wire::Gemini => {
                let parts = flat(&body["contents"], "parts");
                let calls: Vec<&Value> =
                    parts.iter().map(|part| &part["functionCall"]).filter(|c| c.is_object()).collect();
                let results: Vec<&Value> =
                    parts.iter().map(|part| &part["functionResponse"]).filter(|r| r.is_object()).collect();
                // Results follow their calls in order, by name; a failed one is told as an error.
                let said = |result: &'_ Value| -> Option<String> {
                    let response = &result["response"];
                    response["output"].as_str().or(response["error"].as_str()).map(str::to_owned)
                };
                if calls.len() != results.len()
                    || calls.iter().zip(&results).any(|(c, r)| c["name"] != r["name"])
                {
                    return Err(format!("calls {calls:?} and results {results:?} do not fit"));
                }
                let heard = calls.iter().zip(&results).map(|(call, result)| {
                    Some(ToolExchange {
                        tool: call["name"].as_str()?.to_owned(),
                        args: call["args"].clone(),
                        result: said(result)?,
                    })
                });
                heard.collect::<Option<Vec<ToolExchange>>>().ok_or_else(|| "a result says nothing".to_owned())
            }
        }
    }

    /// Whether what a thinking model signed in this step comes back. What was cut does not, nor does what made a summary.
    pub(crate) fn signs(self, say: &Say) -> bool {
        let thinks = match self {
            Wire::Anthropic | Wire::OpenAiResponses => true,
            // Only calls are signed.
            Wire::Gemini => say.call.is_some(),
            Wire::OpenAiChat | Wire::Local => false,
        };
        thinks && !say.ends.breaks() && !say.sums_up
    }

    /// An event that says that the provider has trouble.
    pub(crate) fn trouble(self) -> String {
        match self {
            Wire::Anthropic => named(&[
                json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            ]),
            Wire::OpenAiChat | Wire::Local => {
                unnamed(&[json!({ "error": { "message": "Overloaded", "code": 503 } })])
            }
            Wire::OpenAiResponses => named(&[json!({ "type": "response.failed",
                "response": { "error": { "code": "server_error", "message": "Overloaded" } } })]),
            Wire::Gemini => unnamed(&[
                json!({ "error": { "code": 503, "message": "Overloaded", "status": "UNAVAILABLE" } }),
            ]),
        }
    }

    /// One step as an event stream; arguments come in two pieces where the wire has pieces.
    pub(crate) fn stream(self, say: &Say, at: usize) -> String {
        match self {
            Wire::Anthropic => anthropic(say, at),
            Wire::OpenAiChat | Wire::Local => chat(say, at),
            Wire::OpenAiResponses => responses(say, at),
            Wire::Gemini => gemini(say),
        }
    }
}

/// Tokens that the provider counts in the request before this step.
fn read(say: &Say, at: usize) -> u64 {
    say.read.unwrap_or(100 + at as u64)
}

fn anthropic(say: &Say, at: usize) -> String {
    let mut events = vec![
        json!({ "type": "message_start", "message": { "id": "msg_1", "role": "assistant", "content": [],
            "usage": { "input_tokens": read(say, at), "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "Hm." } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": SIGNATURE } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": say.text } }),
        json!({ "type": "content_block_stop", "index": 1 }),
    ];
    if let Some((tool, args)) = &say.call {
        let block = json!({ "type": "tool_use", "id": format!("toolu_{at}"), "name": tool, "input": {} });
        events.push(json!({ "type": "content_block_start", "index": 2, "content_block": block }));
        for piece in halves(args) {
            let delta = json!({ "type": "input_json_delta", "partial_json": piece });
            events.push(json!({ "type": "content_block_delta", "index": 2, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": 2 }));
    }
    let stop = match say.ends {
        Ends::AtLimit => "max_tokens",
        Ends::Refused => "refusal",
        _ if say.call.is_some() => "tool_use",
        _ => "end_turn",
    };
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 20 } }));
    events.push(json!({ "type": "message_stop" }));
    named(&events)
}

fn chat(say: &Say, at: usize) -> String {
    let delta = |delta: Value| json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let mut events = vec![delta(json!({ "role": "assistant", "content": say.text }))];
    if let Some((tool, args)) = &say.call {
        let [first, rest] = halves(args);
        let start = json!({ "index": 0, "id": format!("call_x{at}"), "type": "function",
            "function": { "name": tool, "arguments": first } });
        events.push(delta(json!({ "tool_calls": [start] })));
        events.push(delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": rest } }] })));
    }
    let finish = match say.ends {
        Ends::AtLimit => "length",
        Ends::Refused => "content_filter",
        _ if say.call.is_some() => "tool_calls",
        _ => "stop",
    };
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] }));
    events
        .push(json!({ "choices": [], "usage": { "prompt_tokens": read(say, at), "completion_tokens": 20 } }));
    unnamed(&events) + "data: [DONE]\n\n"
}

fn responses(say: &Say, at: usize) -> String {
    let reasoning = json!({ "id": format!("rs_{at}"), "type": "reasoning", "summary": [], "encrypted_content": SIGNATURE });
    let mut events = vec![
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
        json!({ "type": "response.output_item.added", "output_index": 1, "item": { "id": "msg_1", "type": "message", "content": [] } }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "delta": say.text }),
    ];
    if let Some((tool, args)) = &say.call {
        let item = |arguments: &str| {
            json!({ "id": format!("fc_{at}"), "type": "function_call",
            "call_id": format!("call_y{at}"), "name": tool, "arguments": arguments })
        };
        events.push(json!({ "type": "response.output_item.added", "output_index": 2, "item": item("") }));
        for piece in halves(args) {
            events.push(
                json!({ "type": "response.function_call_arguments.delta", "item_id": format!("fc_{at}"),
                "output_index": 2, "delta": piece }),
            );
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": 2, "item": item(&args.to_string()) }));
    }
    let usage = json!({ "input_tokens": read(say, at), "output_tokens": 20 });
    let incomplete = match say.ends {
        Ends::AtLimit => Some("max_output_tokens"),
        Ends::Refused => Some("content_filter"),
        _ => None,
    };
    events.push(match incomplete {
        Some(reason) => {
            json!({ "type": "response.incomplete", "response": { "status": "incomplete", "usage": usage,
            "incomplete_details": { "reason": reason } } })
        }
        None => {
            json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } })
        }
    });
    named(&events)
}

fn gemini(say: &Say) -> String {
    let mut parts = vec![json!({ "text": say.text })];
    if let Some((tool, args)) = &say.call {
        parts.push(json!({ "functionCall": { "name": tool, "args": args }, "thoughtSignature": SIGNATURE }));
    }
    let last = parts.len() - 1;
    let chunks = parts.into_iter().enumerate().map(|(at, part)| {
        let mut candidate = json!({ "content": { "parts": [part], "role": "model" } });
        if at == last {
            candidate["finishReason"] = json!(match say.ends {
                Ends::AtLimit => "MAX_TOKENS",
                Ends::Refused => "SAFETY",
                _ => "STOP",
            });
        }
        json!({ "candidates": [candidate], "usageMetadata": { "promptTokenCount": read(say, 0), "candidatesTokenCount": 20 } })
    });
    unnamed(&chunks.collect::<Vec<_>>()).replace('\n', "\r\n")
}

fn named(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn unnamed(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn halves(args: &Value) -> [String; 2] {
    let text = args.to_string();
    let (first, rest) = text.split_at(text.len() / 2);
    [first.to_owned(), rest.to_owned()]
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn flat<'a>(messages: &'a Value, field: &str) -> Vec<&'a Value> {
    list(messages).iter().flat_map(|message| list(&message[field])).collect()
}

fn of_type<'a>(items: &'a [&'a Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    items.iter().copied().filter(move |item| item["type"] == kind)
}

fn parsed(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or(Value::Null)
}

/// Calls and results by their ids; a result without a call or a call without a result is a mistake.
fn paired(
    calls: Vec<(&Value, &Value, Value)>,
    results: Vec<(&Value, Option<&str>)>,
) -> Result<Vec<ToolExchange>, String> {
    if calls.len() != results.len() {
        return Err(format!("{} calls, {} results", calls.len(), results.len()));
    }
    let heard = calls.into_iter().map(|(id, name, args)| {
        let (_, text) = results.iter().find(|(of, _)| *of == id)?;
        Some(ToolExchange { tool: name.as_str()?.to_owned(), args, result: (*text)?.to_owned() })
    });
    heard
        .collect::<Option<Vec<ToolExchange>>>()
        .ok_or_else(|| "a call has no result of its id, or an empty one".to_owned())
}
