//! What lets a provider find the conversation in its cache: where Anthropic's marks stand, and roles in the order that each server takes.

use models::{ChatMessage, Request, ToolArgs, ToolCall};
use serde_json::{Value, json};

use crate::server::{Server, torn};
use crate::{KEY, catalog, limits, model_at, stream};

fn calls(step: usize, count: usize) -> Vec<ChatMessage> {
    let call = |at| ToolCall {
        id: format!("c{step}_{at}"),
        name: "read".to_owned(),
        args: ToolArgs::Parsed(json!({ "path": at })),
    };
    let calls: Vec<ToolCall> = (0..count).map(call).collect();
    let results: Vec<ChatMessage> = calls.iter().map(|call| ChatMessage::tool(call, "text")).collect();
    let asked = ChatMessage::Assistant { content: vec![], tool_calls: calls, kept: vec![] };
    [asked].into_iter().chain(results).collect()
}

/// The places of marks: of system, of tools, and of each message its blocks.
fn marks(body: &Value) -> Vec<String> {
    let marked = |blocks: &Value, name: &str| {
        let blocks = blocks.as_array().cloned().unwrap_or_default().into_iter().enumerate();
        let marked = blocks.filter(|(_, block)| block.get("cache_control").is_some());
        marked.map(|(at, _)| format!("{name}{at}")).collect::<Vec<_>>()
    };
    let mut all = marked(&body["tools"], "tool ");
    all.extend(marked(&body["system"], "system "));
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        all.extend(marked(&message["content"], &format!("{at}:")));
    }
    all
}

#[tokio::test]
async fn a_step_of_many_calls_has_a_mark_where_the_request_before_had_its_last() {
    let server = Server::deciding(|_| crate::makers::refusal("this one only looks")).await;
    let model = model_at(&server.url, "anthropic/claude-sonnet-4-5", limits());
    let mut request = Request {
        system: Some("Be brief.".to_owned()),
        tools: crate::long_request().tools,
        messages: vec![ChatMessage::user("look")],
        ..Request::default()
    };
    let mut told = Vec::new();
    for step in 0..3 {
        stream(&*model, request.clone()).await;
        told.push(marks(&server.seen().last().unwrap().body));
        request.messages.extend(calls(step, 30));
        request.messages.push(ChatMessage::user("a note"));
    }
    // System (with the tools before it), then the last blocks of the person's newest turns: 30 results and a note have the places 0 to 30.
    assert_eq!(told[0], ["system 0", "0:0"]);
    assert_eq!(told[1], ["system 0", "0:0", "2:30"]);
    assert_eq!(told[2], ["system 0", "0:0", "2:30", "4:30"]);
}

#[tokio::test]
async fn roles_take_turns_where_a_server_or_its_template_wants_that() {
    let server = Server::start(vec![torn("data: [DONE]\n\n", 99), torn("data: [DONE]\n\n", 99)]).await;
    let mut messages = vec![ChatMessage::user("look"), ChatMessage::user("a note")];
    messages.extend(calls(0, 1));
    messages.push(ChatMessage::user("another"));
    let request = Request { messages, cache_key: Some("s7".to_owned()), ..Request::default() };
    let local = model_at(&server.url, "vllm/qwen", limits());
    stream(&*local, request.clone()).await;
    let env = [("MISTRAL_API_KEY", KEY), ("MISTRAL_BASE_URL", &server.url)];
    let mistral = catalog(&env, limits()).open("mistral/devstral-medium").unwrap();
    stream(&*mistral, request).await;
    let seen = server.seen();
    let roles = |at: usize| {
        let all = seen[at].body["messages"].as_array().unwrap().iter();
        all.map(|message| message["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(0), ["user", "assistant", "tool", "user"]);
    assert_eq!(seen[0].body["messages"][0]["content"], "look\na note");
    // "Unexpected role 'user' after role 'tool'"
    assert_eq!(roles(1), ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(
        (&seen[0].body["prompt_cache_key"], &seen[1].body["prompt_cache_key"]),
        (&Value::Null, &json!("s7"))
    );
}

#[tokio::test]
async fn every_maker_says_in_its_own_field_what_was_cached() {
    for (usage, want) in [
        (
            json!({ "prompt_tokens": 9, "prompt_tokens_details": { "cached_tokens": 5, "cache_write_tokens": 2 } }),
            (5, 2),
        ),
        (json!({ "prompt_tokens": 9, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5 }), (4, 0)),
        (json!({ "prompt_tokens": 9, "cached_tokens": 3 }), (3, 0)),
    ] {
        let chunk =
            json!({ "choices": [{ "delta": { "content": "hi" }, "finish_reason": "stop" }], "usage": usage });
        let server = Server::start(vec![torn(&format!("data: {chunk}\n\ndata: [DONE]\n\n"), 99)]).await;
        let model = model_at(&server.url, "vllm/qwen", limits());
        let told = stream(&*model, crate::hello()).await;
        let counted = told.iter().find_map(|delta| match delta {
            Ok(models::Delta::Usage(usage)) => Some((usage.cache_read, usage.cache_write)),
            _ => None,
        });
        assert_eq!(counted, Some(want));
    }
}
