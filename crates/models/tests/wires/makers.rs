//! Makers of models on loopback, each with the rule that it documents about the thoughts of its model: what breaks it is refused in the
//! maker's words. A maker thinks before everything that it says, and calls a tool once for each prompt.

use std::sync::Arc;

use models::Model;
use serde_json::{Value, json};

use crate::server::{Play, Seen, Server, torn};
use crate::{KEY, catalog, limits};

/// A maker: what a person calls its models, where its address is set, and how it judges a request.
pub(crate) struct Maker {
    pub(crate) model: &'static str,
    variables: [&'static str; 2],
    /// The name of its words of thought in a stream.
    says: &'static str,
    judge: fn(&Seen) -> Result<(), String>,
}

pub(crate) const DEEPSEEK: Maker = Maker {
    model: "deepseek/deepseek-v4-pro",
    variables: ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"],
    says: "reasoning_content",
    judge: deepseek,
};

/// "For turns that do perform tool calls, the `reasoning_content` must be fully passed back to the API in all subsequent requests. If your
/// code does not correctly pass back `reasoning_content`, the API will return a 400 error."
/// (api-docs.deepseek.com/guides/thinking_mode; thinking is on unless `thinking.type` is `disabled`.) Observed beyond that: every message
/// of the model must have one once a tool was called, and an empty one counts as none (github.com/BerriAI/litellm/pull/28057).
fn deepseek(request: &Seen) -> Result<(), String> {
    let called = assistants(request).any(|(_, message)| message.get("tool_calls").is_some());
    if request.body["thinking"]["type"] == "disabled" || !called {
        return Ok(());
    }
    let refused =
        || "The `reasoning_content` in the thinking mode must be passed back to the API.".to_owned();
    for (at, message) in assistants(request) {
        match message.get("reasoning_content").and_then(Value::as_str) {
            Some("") | None => return Err(refused()),
            Some(words) if is_own(message) && words != thought(at) => return Err(refused()),
            Some(_) => {}
        }
    }
    Ok(())
}

pub(crate) const KIMI: Maker = Maker {
    model: "moonshot/kimi-k3",
    variables: ["MOONSHOT_API_KEY", "MOONSHOT_BASE_URL"],
    says: "reasoning_content",
    judge: kimi,
};

/// "thinking is enabled but reasoning_content is missing in assistant tool call message" is what a request is refused with, "See Moonshot's
/// documentation" (platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model#frequently-asked-questions, quoted by
/// librechat.ai/docs/configuration/librechat_yaml/ai_endpoints/moonshot).
fn kimi(request: &Seen) -> Result<(), String> {
    let thinks = request.body["thinking"]["type"] != "disabled";
    for (at, message) in
        assistants(request).filter(|(_, message)| thinks && message.get("tool_calls").is_some())
    {
        let words = message.get("reasoning_content").and_then(Value::as_str).unwrap_or_default();
        if words.is_empty() || is_own(message) && words != thought(at) {
            return Err(format!(
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
            ));
        }
    }
    Ok(())
}

pub(crate) const GLM: Maker = Maker {
    model: "zai/glm-5.2",
    variables: ["ZAI_API_KEY", "ZAI_BASE_URL"],
    says: "reasoning_content",
    judge: glm,
};

/// "When using interleaved thinking with tools, thinking blocks should be explicitly preserved and returned together with the tool results."
/// (docs.z.ai/guides/capabilities/thinking-mode.) To keep them over turns, which is what it recommends for agents, `clear_thinking` is false
/// and all of them go back complete and unmodified. The maker itself refuses nothing: its model only thinks worse.
fn glm(request: &Seen) -> Result<(), String> {
    if request.body["thinking"]["clear_thinking"] != false {
        return Err("clear_thinking is not false: thoughts of earlier turns are lost".to_owned());
    }
    all_returned(request)
}

pub(crate) const QWEN: Maker = Maker {
    model: "qwen/qwen3.6-plus",
    variables: ["DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL"],
    says: "reasoning_content",
    judge: qwen,
};

/// "This capability is particularly beneficial for agent scenarios, where maintaining full reasoning context can enhance decision consistency
/// and, in many cases, reduce overall token consumption by minimizing redundant reasoning." (Of `preserve_thinking`,
/// huggingface.co/Qwen/Qwen3.6-35B-A3B; it is off unless it is asked for.) The maker itself refuses nothing.
fn qwen(request: &Seen) -> Result<(), String> {
    if request.body["preserve_thinking"] != true {
        return Err("preserve_thinking is not true: thoughts of earlier turns are lost".to_owned());
    }
    all_returned(request)
}

fn all_returned(request: &Seen) -> Result<(), String> {
    let lost = assistants(request).find(|(at, message)| message["reasoning_content"] != thought(*at));
    lost.map_or(Ok(()), |(at, _)| Err(format!("the reasoning_content of message {at} is not what was said")))
}

pub(crate) const OPENROUTER: Maker = Maker {
    model: "openrouter/google/gemini-3-pro",
    variables: ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"],
    says: "reasoning",
    judge: openrouter,
};

/// "When providing `reasoning_details` blocks, the entire sequence of consecutive reasoning blocks must match the outputs generated by the
/// model during the original request; you cannot rearrange or modify the sequence of these blocks."
/// (openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks)
fn openrouter(request: &Seen) -> Result<(), String> {
    let broken = assistants(request).any(|(at, message)| {
        message.get("tool_calls").is_some() && message.get("reasoning_details") != Some(&details(at))
    });
    if broken {
        return Err(
            "Gemini models require OpenRouter reasoning details to be preserved in each request.".to_owned()
        );
    }
    Ok(())
}

/// The blocks of a message, as they are when their pieces are put together.
fn details(at: usize) -> Value {
    json!([
        { "type": "reasoning.text", "text": thought(at), "signature": format!("SIG{at}"), "format": "google-gemini-v1", "index": 0 },
        { "type": "reasoning.encrypted", "data": format!("ENC{at}"), "id": "call_1", "format": "google-gemini-v1", "index": 1 },
        { "type": "reasoning.encrypted", "data": format!("MORE{at}"), "id": "call_2", "format": "google-gemini-v1", "index": 1 },
    ])
}

/// Messages of the model with their places.
fn assistants(request: &Seen) -> impl Iterator<Item = (usize, &Value)> {
    let messages = request.body["messages"].as_array().into_iter().flatten().enumerate();
    messages.filter(|(_, message)| message["role"] == "assistant")
}

/// What the model thinks when it says the message of this place.
fn thought(at: usize) -> String {
    format!("I think\nabout {at}.")
}

/// Whether the maker itself has said it; else it is of another model.
fn is_own(message: &Value) -> bool {
    let said = message["content"].as_str().is_some_and(|words| words.starts_with("answer"));
    said || message["tool_calls"][0]["function"]["name"] == "look"
}

impl Maker {
    /// The maker's server, and its model there.
    pub(crate) async fn open(&self) -> (Server, Arc<dyn Model>) {
        let (says, judge) = (self.says, self.judge);
        let server = Server::deciding(move |request| match judge(request) {
            Ok(()) => torn(&answer(request, says), 40),
            Err(why) => refusal(&why),
        })
        .await;
        let [key, base] = self.variables;
        let model = catalog(&[(key, KEY), (base, &server.url)], limits()).open(self.model).unwrap();
        (server, model)
    }
}

/// A refusal in the maker's words.
pub(crate) fn refusal(why: &str) -> Play {
    let body = json!({ "error": { "message": why, "type": "invalid_request_error" } }).to_string();
    Play::Status(400, vec![("content-type", "application/json")], Box::leak(body.into_boxed_str()))
}

/// Thinks, then calls a tool; after its result it answers.
fn answer(request: &Seen, says: &str) -> String {
    let messages = request.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let at = messages.len();
    let chunk = |delta: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let mut stream = String::new();
    let words = thought(at);
    let pieces = words.split_inclusive('\n');
    for piece in pieces {
        let mut delta = json!({ "content": "", says: piece });
        if says == "reasoning" {
            delta["reasoning_details"] = json!([{ "type": "reasoning.text", "text": piece, "format": "google-gemini-v1", "index": 0 }]);
        }
        stream.push_str(&chunk(delta));
    }
    if says == "reasoning" {
        let last =
            json!({ "type": "reasoning.text", "text": "", "signature": format!("SIG{at}"), "index": 0 });
        stream.push_str(&chunk(json!({ "reasoning_details": [last] })));
        for at in 1..=2 {
            stream.push_str(&chunk(json!({ "reasoning_details": [details(messages.len())[at]] })));
        }
    }
    let finish = if messages.last().is_some_and(|message| message["role"] == "tool") {
        stream.push_str(&chunk(json!({ "content": format!("answer {at}") })));
        "stop"
    } else {
        let call = json!({ "index": 0, "id": format!("call_{at}"), "type": "function", "function": { "name": "look", "arguments": "{}" } });
        stream.push_str(&chunk(json!({ "tool_calls": [call] })));
        "tool_calls"
    };
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    format!("{stream}data: {end}\n\ndata: [DONE]\n\n")
}
