//! What models thought goes back to their makers where these want it: tools work with all of them, over several prompts.

use models::{ChatMessage, Effort, Model, OpaquePart, Reply, Request, ToolArgs, ToolCall, ToolSpec};
use serde_json::{Value, json};

use crate::makers::{self, Maker};
use crate::server::{Play, Seen, Server, torn};
use crate::{KEY, catalog, limits, stream};

/// A model that asks for a tool and never gets enough would ask for ever.
const MAX_ROUNDS: usize = 20;

/// Two prompts, each with a tool call; what is said in the end, and the conversation.
async fn talk(
    model: &dyn Model,
    mut messages: Vec<ChatMessage>,
    thinking: Effort,
) -> (Result<String, String>, Vec<ChatMessage>) {
    let look =
        ToolSpec { name: "look".to_owned(), description: String::new(), schema: json!({ "type": "object" }) };
    let mut said = String::new();
    for prompt in ["first", "second"] {
        messages.push(ChatMessage::user(prompt));
        for round in 0.. {
            assert!(round < MAX_ROUNDS);
            let request = Request {
                system: Some("Be brief.".to_owned()),
                messages: messages.clone(),
                tools: vec![look.clone()],
                thinking,
                ..Request::default()
            };
            let mut reply = Reply::default();
            for delta in stream(model, request).await {
                match delta {
                    Ok(delta) => reply.push(delta),
                    Err(why) => return (Err(why.to_string()), messages),
                }
            }
            let calls = reply.tool_calls.clone();
            said.clone_from(&reply.text);
            messages.push(through_the_record(reply.into_message()));
            if calls.is_empty() {
                break;
            }
            messages.extend(calls.iter().map(|call| ChatMessage::tool(call, "seen")));
        }
    }
    (Ok(said), messages)
}

/// What is kept is written down and read again in between.
fn through_the_record(message: ChatMessage) -> ChatMessage {
    let ChatMessage::Assistant { content, tool_calls, kept } = message else { return message };
    let written = kept.iter().map(|kept| serde_json::to_string(kept).unwrap());
    let kept = written.map(|text| serde_json::from_str::<OpaquePart>(&text).unwrap()).collect();
    ChatMessage::Assistant { content, tool_calls, kept }
}

const MAKERS: [Maker; 5] = [makers::DEEPSEEK, makers::KIMI, makers::GLM, makers::QWEN, makers::OPENROUTER];

#[tokio::test]
async fn tools_work_with_every_maker_that_wants_its_thoughts_back() {
    for maker in MAKERS {
        let (server, model) = maker.open().await;
        let (said, _) = talk(&*model, vec![], Effort::Off).await;
        assert_eq!(said.as_deref(), Ok("answer 8"), "{}", maker.model);
        assert_eq!(server.seen().len(), 4, "{}", maker.model);
    }
}

/// A conversation that another model began, whose thoughts nobody has.
fn of_another() -> Vec<ChatMessage> {
    let call = ToolCall { id: "old".to_owned(), name: "read".to_owned(), args: ToolArgs::read("{}") };
    let kept =
        OpaquePart { wire: "anthropic".to_owned(), value: json!({ "type": "thinking", "signature": "S" }) };
    vec![
        ChatMessage::user("before"),
        ChatMessage::Assistant { content: vec![], tool_calls: vec![call.clone()], kept: vec![kept] },
        ChatMessage::tool(&call, "text"),
        ChatMessage::assistant("so it is"),
    ]
}

#[tokio::test]
async fn a_conversation_of_another_model_goes_on_with_makers_that_refuse_messages_without_a_thought() {
    for maker in [makers::DEEPSEEK, makers::KIMI, makers::OPENROUTER] {
        let (_server, model) = maker.open().await;
        let history = if maker.model.starts_with("openrouter") { vec![] } else { of_another() };
        let (said, _) = talk(&*model, history, Effort::Off).await;
        assert!(said.is_ok(), "{}: {said:?}", maker.model);
    }
}

#[tokio::test]
async fn thoughts_of_one_maker_reach_the_next_in_its_own_form() {
    let (_server, router) = makers::OPENROUTER.open().await;
    let (_, history) = talk(&*router, vec![], Effort::Off).await;
    let (server, deepseek) = makers::DEEPSEEK.open().await;
    let (said, _) = talk(&*deepseek, history, Effort::Off).await;
    assert!(said.is_ok(), "{said:?}");
    let first = &server.seen()[0].body["messages"][2];
    assert_eq!(first["reasoning_content"], "I think\nabout 2.");
    assert_eq!(first.get("reasoning_details"), None);
}

#[tokio::test]
async fn who_refuses_members_that_it_does_not_know_gets_none() {
    const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (_maker, router) = makers::OPENROUTER.open().await;
    let (_, messages) = talk(&*router, vec![], Effort::Off).await;
    for (model, key, base) in [
        ("mistral/mistral-large-latest", "MISTRAL_API_KEY", "MISTRAL_BASE_URL"),
        ("groq/llama-4", "GROQ_API_KEY", "GROQ_BASE_URL"),
    ] {
        let server = Server::start(vec![torn(ANSWER, 99)]).await;
        let model = catalog(&[(key, KEY), (base, &server.url)], limits()).open(model).unwrap();
        stream(&*model, Request { messages: messages.clone(), ..Request::default() }).await;
        let sent = server.seen()[0].body["messages"].to_string();
        assert!(!sent.contains("reasoning"), "{sent}");
    }
    // A server that nobody knows gets back what one of its kind said, by the same names.
    let server = Server::start(vec![torn(ANSWER, 99)]).await;
    let model = catalog(&[("VLLM_BASE_URL", &server.url)], limits()).open("vllm/any").unwrap();
    stream(&*model, Request { messages, ..Request::default() }).await;
    let sent = &server.seen()[0].body["messages"][1];
    assert_eq!(
        (&sent["reasoning"], sent["reasoning_details"].as_array().map(Vec::len)),
        (&json!("I think\nabout 2."), Some(3))
    );
}

#[tokio::test]
async fn thoughts_that_are_too_long_are_not_kept_in_part() {
    let long = "x".repeat(1024 * 1024);
    let chunk = json!({ "choices": [{ "delta": { "reasoning_content": long } }] });
    let text = format!(
        "{}data: {{\"choices\":[{{\"delta\":{{\"content\":\"ok\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n",
        format!("data: {chunk}\n\n").repeat(5)
    );
    let server = Server::start(vec![torn(&text, 1024 * 1024)]).await;
    let model = catalog(&[("VLLM_BASE_URL", &server.url)], limits()).open("vllm/any").unwrap();
    let mut reply = Reply::default();
    stream(&*model, crate::hello()).await.into_iter().for_each(|delta| reply.push(delta.unwrap()));
    assert_eq!((reply.text.as_str(), reply.thought.len(), reply.kept.len()), ("ok", 5 * long.len(), 0));
}

/// "Send the encrypted reasoning content back to the API with every turn." and "The Chat Completions API is deprecated, and it has no field
/// for the model's encrypted reasoning, so every multi-turn or tool-calling conversation sent through it discards the model's earlier
/// thinking." (docs.x.ai/developers/model-capabilities/text/best-practices)
fn grok(request: &Seen) -> Play {
    if request.line != "POST /responses HTTP/1.1" {
        return makers::refusal("Chat Completions is deprecated: use the Responses API");
    }
    if request.body["include"] != json!(["reasoning.encrypted_content"]) {
        return makers::refusal("the encrypted reasoning is not asked for");
    }
    let items = request.body["input"].as_array().unwrap();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| item["type"] == "function_call") {
        let before = at.checked_sub(1).map(|before| &items[before]);
        let whole = before.is_some_and(|item| item["encrypted_content"] == format!("ENC{}", at - 1));
        if !whole {
            return makers::refusal(&format!("the reasoning before {} is missing", item["call_id"]));
        }
    }
    let at = items.len();
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let thought = json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": [], "encrypted_content": format!("ENC{at}"), "status": "completed" });
    let said = if items.last().is_some_and(|item| item["type"] == "function_call_output") {
        event(
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": format!("answer {at}") }),
        )
    } else {
        let call = json!({ "type": "function_call", "id": "fc", "call_id": format!("call_{at}"), "name": "look", "arguments": "{}" });
        event(json!({ "type": "response.output_item.done", "output_index": 1, "item": call }))
    };
    let thought = event(json!({ "type": "response.output_item.done", "output_index": 0, "item": thought }));
    let end = event(
        json!({ "type": "response.completed", "response": { "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
    );
    torn(&format!("{thought}{said}{end}"), 40)
}

#[tokio::test]
async fn grok_gets_its_encrypted_thoughts_back() {
    let server = Server::deciding(grok).await;
    let model = catalog(&[("XAI_API_KEY", KEY), ("XAI_BASE_URL", &server.url)], limits())
        .open("xai/grok-4.5")
        .unwrap();
    let (said, _) = talk(&*model, vec![], Effort::Off).await;
    assert!(said.as_ref().is_ok_and(|said| said.starts_with("answer")), "{said:?}");
    assert_eq!(server.seen()[0].header("authorization"), Some(format!("Bearer {KEY}")));
}
