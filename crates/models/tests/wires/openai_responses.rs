//! OpenAI Responses.

use expect_test::expect;
use models::{Effort, Request};

use crate::server::{Server, torn};
use crate::{TEARS, hello, limits, long_request, model_at, same, shown, stream};

const FULL: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"**One**"}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"**Two**"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","status":"completed","summary":[],"encrypted_content":"ENC"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"delta":"Grüße 🦀"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":""}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"ls","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"path\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":3,"delta":"{}"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"\"a\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"ls","arguments":"{}"}}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":7},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":3}}}}

"#;

#[tokio::test]
async fn a_full_response_torn_in_every_way() {
    let server = Server::start(TEARS.map(|size| torn(FULL, size)).into()).await;
    let model = model_at(&server.url, "openai-responses/gpt-5", limits());
    expect![[r#"
        thought **One**

        **Two**
        keep openai-responses {"encrypted_content":"ENC","id":"rs_1","summary":[],"type":"reasoning"}
        text Grüße 🦀
        ToolCallStart { index: 0, id: "call_a", name: "read" }
        ToolCallStart { index: 1, id: "call_b", name: "ls" }
        args 0 {"path":
        args 1 {}
        args 0 "a"}
        ToolCall(ToolCall { id: "call_a", name: "read", args: Parsed(Object {"path": String("a")}) })
        ToolCall(ToolCall { id: "call_b", name: "ls", args: Parsed(Object {}) })
        Usage(Usage { input: 37, output: 11, cache_read: 7, cache_write: 0, reasoning: 3 })
        Done { stop: ToolUse }
    "#]]
    .assert_eq(&same(&*model, TEARS.len()).await);
}

#[tokio::test]
async fn other_ends() {
    let ends = [
        r#"data: {"type":"response.output_text.delta","delta":"half"}

data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}

"#,
        r#"data: {"type":"response.refusal.delta","delta":"No."}

data: {"type":"response.completed","response":{}}

"#,
        r#"data: {"type":"response.output_text.delta","delta":"half"}

data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry."}}}

"#,
        r#"data: {"type":"response.output_text.delta","delta":"half"}

data: {"type":"error","code":"rate_limit_exceeded","message":"Slow down."}

"#,
    ];
    let server = Server::start(ends.map(|text| torn(text, 30)).into()).await;
    let model = model_at(&server.url, "openai-responses/gpt-5", models::Limits { attempts: 1, ..limits() });
    let mut all = String::new();
    for _ in ends {
        all.push_str(&shown(&stream(&*model, hello()).await));
        all.push_str("--\n");
    }
    expect![[r#"
        text half
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Length }
        --
        text No.
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Refusal }
        --
        text half
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        error openai-responses/gpt-5: overloaded: Sorry. | the provider has trouble: try again soon, or switch the model
        --
        text half
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        error openai-responses/gpt-5: rate limited: Slow down. | wait a little and try again, check the account's limits and credit, or switch the model
        --
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn the_request_says_everything() {
    let server = Server::start(vec![torn(FULL, 100), torn(FULL, 100)]).await;
    let model = model_at(&server.url, "openai-responses/gpt-5", limits());
    stream(&*model, Request { thinking: Effort::Low, ..long_request() }).await;
    let plain = model_at(&server.url, "openai-responses/gpt-4.1", limits());
    stream(&*plain, long_request()).await;
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /responses HTTP/1.1");
    expect![[r#"
        {
          "include": [
            "reasoning.encrypted_content"
          ],
          "input": [
            {
              "content": [
                {
                  "text": "look",
                  "type": "input_text"
                },
                {
                  "image_url": "data:image/png;base64,AAAA",
                  "type": "input_image"
                }
              ],
              "role": "user"
            },
            {
              "encrypted_content": "ENC",
              "id": "rs_1",
              "type": "reasoning"
            },
            {
              "content": [
                {
                  "text": "I read.",
                  "type": "output_text"
                }
              ],
              "role": "assistant"
            },
            {
              "arguments": "{\"path\":\"a\"}",
              "call_id": "c.1",
              "name": "read",
              "type": "function_call"
            },
            {
              "arguments": "{\"path\":\"b\"}",
              "call_id": "c2",
              "name": "read",
              "type": "function_call"
            },
            {
              "call_id": "c.1",
              "output": "text of a",
              "type": "function_call_output"
            },
            {
              "call_id": "c2",
              "output": "no result: the call was interrupted",
              "type": "function_call_output"
            },
            {
              "content": [
                {
                  "text": "and now?",
                  "type": "input_text"
                }
              ],
              "role": "user"
            }
          ],
          "instructions": "Be brief.",
          "max_output_tokens": 1000,
          "model": "gpt-5",
          "reasoning": {
            "effort": "low",
            "summary": "auto"
          },
          "store": false,
          "stream": true,
          "tools": [
            {
              "description": "Reads a file",
              "name": "read",
              "parameters": {
                "properties": {
                  "path": {
                    "type": "string"
                  }
                },
                "type": "object"
              },
              "strict": false,
              "type": "function"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&seen[0].body).unwrap());
    assert_eq!(seen[1].body.get("include"), None);
    assert_eq!(seen[1].body["temperature"], 0.5);
}
