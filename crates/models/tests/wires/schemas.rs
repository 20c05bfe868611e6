//! Answers of a form: providers that hold their models to a schema get it, each in its place; others get nothing, and who refuses it is asked
//! without.

use models::{Delta, Request};
use serde_json::{Value, json};

use crate::makers::refusal;
use crate::server::{Server, torn};
use crate::{KEY, catalog, hello, limits, long_request, stream};

const CHAT: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn answer(line: &str) -> &'static str {
    match line {
        line if line.contains("/responses") => "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
        line if line.contains("/messages") => "data: {\"type\":\"message_stop\"}\n\n",
        line if line.contains(":stream") => "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
        _ => CHAT,
    }
}

fn closed() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"], "additionalProperties": false })
}

/// What a provider gets for a schema: the request, with tools or without.
async fn sent(model: &str, variables: [&str; 2], schema: &Value, tools: bool) -> Value {
    let server = Server::deciding(|request| torn(answer(&request.line), 99)).await;
    let env = [(variables[0], KEY), (variables[1], &*server.url)];
    let model = catalog(&env, limits()).open(model).unwrap();
    let tools = if tools { long_request().tools } else { vec![] };
    let deltas = stream(&*model, Request { schema: Some(schema.clone()), tools, ..hello() }).await;
    assert!(matches!(deltas.last(), Some(Ok(Delta::Done { .. }))), "{deltas:?}");
    server.seen()[0].body.clone()
}

#[tokio::test]
async fn each_provider_gets_the_schema_in_its_own_place() {
    let openai = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    let (open, closed) = (json!({ "type": "object", "properties": { "n": { "minimum": 1 } } }), closed());
    for (schema, strict) in [(&closed, true), (&open, false)] {
        let body = sent("openai-responses/gpt-5", openai, schema, true).await;
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": strict });
        assert_eq!(body["text"]["format"], format);
    }
    let azure = ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"];
    let body = sent("azure/my-gpt", azure, &closed, true).await;
    let form = json!({ "name": "answer", "schema": closed, "strict": true });
    assert_eq!(body["response_format"], json!({ "type": "json_schema", "json_schema": form }));
    let grok = sent("xai/grok-4.5", ["XAI_API_KEY", "XAI_BASE_URL"], &closed, true).await;
    assert_eq!(grok["text"]["format"]["schema"], closed);
    let claude = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"];
    for (model, schema, has) in [
        ("anthropic/claude-sonnet-4-5", &closed, true),
        ("anthropic/claude-opus-5", &closed, true),
        ("anthropic/claude-opus-5", &open, false),
        ("anthropic/claude-opus-4-1", &closed, false),
    ] {
        let body = sent(model, claude, schema, true).await;
        let format = has.then(|| json!({ "format": { "type": "json_schema", "schema": schema } }));
        assert_eq!(body.get("output_config"), format.as_ref(), "{model}");
    }
    let gemini = ["GEMINI_API_KEY", "GEMINI_BASE_URL"];
    for (model, tools, has) in [
        ("gemini/gemini-3-pro", true, true),
        ("gemini/gemini-2.5-pro", true, false),
        ("gemini/gemini-2.5-pro", false, true),
    ] {
        let config = sent(model, gemini, &closed, tools).await["generationConfig"].clone();
        let wanted = if has {
            json!({ "responseMimeType": "application/json", "responseJsonSchema": closed })
        } else {
            Value::Null
        };
        assert_eq!(config, wanted, "{model}");
    }
}

#[tokio::test]
async fn who_does_not_have_it_gets_nothing_of_it() {
    for (model, variables) in [
        ("deepseek/deepseek-v4-pro", ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"]),
        ("groq/openai/gpt-oss-120b", ["GROQ_API_KEY", "GROQ_BASE_URL"]),
        ("openrouter/a/b", ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"]),
        ("vllm/any", ["VLLM_API_KEY", "VLLM_BASE_URL"]),
    ] {
        let body = sent(model, variables, &closed(), true).await;
        assert_eq!(body.get("response_format"), None, "{model}");
    }
    let list = json!({ "type": "array" });
    let body = sent("openai-responses/gpt-5", ["OPENAI_API_KEY", "OPENAI_BASE_URL"], &list, true).await;
    assert_eq!(body.get("text"), None, "an answer that is no object");
}

#[tokio::test]
async fn a_schema_that_is_refused_is_left_out_from_then_on() {
    let server = Server::deciding(|request| match request.body.get("text") {
        Some(_) => refusal("Invalid schema for response_format 'answer'"),
        None => torn(answer(&request.line), 99),
    })
    .await;
    let env = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &*server.url)];
    let model = catalog(&env, limits()).open("openai-responses/gpt-5").unwrap();
    for asked in [2, 3] {
        let deltas = stream(&*model, Request { schema: Some(closed()), ..hello() }).await;
        assert!(matches!(deltas.last(), Some(Ok(Delta::Done { .. }))), "{deltas:?}");
        assert!(!deltas.iter().any(|delta| matches!(delta, Ok(Delta::Retrying { .. }))), "nobody waits");
        assert_eq!(server.seen().len(), asked);
    }
    // What is refused for another reason is told, and asked once.
    let server = Server::deciding(|_| refusal("no such model")).await;
    let env = [("DEEPSEEK_API_KEY", KEY), ("DEEPSEEK_BASE_URL", &*server.url)];
    let model = catalog(&env, limits()).open("deepseek/x").unwrap();
    let deltas = stream(&*model, Request { schema: Some(closed()), ..hello() }).await;
    assert!(matches!(deltas.last(), Some(Err(_))), "{deltas:?}");
    assert_eq!(server.seen().len(), 1);
}
