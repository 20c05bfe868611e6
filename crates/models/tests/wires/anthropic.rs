//! Anthropic Messages.

use expect_test::expect;
use models::{Effort, Request};

use crate::server::{Server, torn};
use crate::{KEY, TEARS, hello, limits, long_request, model_at, same, stream};

const FULL: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":25,"cache_creation_input_tokens":3,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"xyz="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"OPAQUE"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":" 🦀"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".txt\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"ls","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

"#;

#[tokio::test]
async fn a_full_response_torn_in_every_way() {
    let crlf = FULL.replace('\n', "\r\n");
    let plays = TEARS.iter().flat_map(|size| [torn(FULL, *size), torn(&crlf, *size)]).collect();
    let server = Server::start(plays).await;
    let model = model_at(&server.url, "anthropic/claude-sonnet-4-5", limits());
    expect![[r#"
        Usage(Usage { input: 128, output: 1, cache_read: 100, cache_write: 3, reasoning: 0 })
        thought Let me see.
        keep anthropic {"signature":"EqQBxyz=","thinking":"Let me see.","type":"thinking"}
        keep anthropic {"data":"OPAQUE","type":"redacted_thinking"}
        text Grüße 🦀
        ToolCallStart { index: 0, id: "toolu_1", name: "read" }
        args 0 {"path": "a
        args 0 .txt"}
        ToolCall(ToolCall { id: "toolu_1", name: "read", args: Parsed(Object {"path": String("a.txt")}) })
        ToolCallStart { index: 1, id: "toolu_2", name: "ls" }
        ToolCall(ToolCall { id: "toolu_2", name: "ls", args: Parsed(Object {}) })
        Usage(Usage { input: 128, output: 89, cache_read: 100, cache_write: 3, reasoning: 0 })
        Done { stop: ToolUse }
    "#]]
    .assert_eq(&same(&*model, TEARS.len() * 2).await);
}

#[tokio::test]
async fn the_request_says_everything() {
    let server = Server::start(vec![torn(FULL, 100), torn(FULL, 100), torn(FULL, 100)]).await;
    let model = model_at(&server.url, "anthropic/claude-sonnet-4-5", limits());
    stream(&*model, long_request()).await;
    let thinking = Request { thinking: Effort::High, ..hello() };
    stream(&*model, thinking.clone()).await;
    let newer = model_at(&server.url, "anthropic/claude-opus-4-9", limits());
    stream(&*newer, thinking).await;
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /v1/messages HTTP/1.1");
    assert_eq!(seen[0].header("x-api-key").as_deref(), Some(KEY));
    assert_eq!(seen[0].header("anthropic-version").as_deref(), Some("2023-06-01"));
    assert_eq!(seen[0].header("authorization"), None);
    expect![[r#"
        {
          "max_tokens": 1000,
          "messages": [
            {
              "content": [
                {
                  "text": "look",
                  "type": "text"
                },
                {
                  "cache_control": {
                    "type": "ephemeral"
                  },
                  "source": {
                    "data": "AAAA",
                    "media_type": "image/png",
                    "type": "base64"
                  },
                  "type": "image"
                }
              ],
              "role": "user"
            },
            {
              "content": [
                {
                  "signature": "SIG",
                  "thinking": "hm",
                  "type": "thinking"
                },
                {
                  "text": "I read.",
                  "type": "text"
                },
                {
                  "id": "c_1",
                  "input": {
                    "path": "a"
                  },
                  "name": "read",
                  "type": "tool_use"
                },
                {
                  "id": "c2",
                  "input": {
                    "path": "b"
                  },
                  "name": "read",
                  "type": "tool_use"
                }
              ],
              "role": "assistant"
            },
            {
              "content": [
                {
                  "content": [
                    {
                      "text": "text of a",
                      "type": "text"
                    }
                  ],
                  "is_error": false,
                  "tool_use_id": "c_1",
                  "type": "tool_result"
                },
                {
                  "content": [
                    {
                      "text": "no result: the call was interrupted",
                      "type": "text"
                    }
                  ],
                  "is_error": true,
                  "tool_use_id": "c2",
                  "type": "tool_result"
                },
                {
                  "cache_control": {
                    "type": "ephemeral"
                  },
                  "text": "and now?",
                  "type": "text"
                }
              ],
              "role": "user"
            }
          ],
          "model": "claude-sonnet-4-5",
          "stream": true,
          "system": [
            {
              "cache_control": {
                "type": "ephemeral"
              },
              "text": "Be brief.",
              "type": "text"
            }
          ],
          "temperature": 0.5,
          "tools": [
            {
              "description": "Reads a file",
              "input_schema": {
                "properties": {
                  "path": {
                    "type": "string"
                  }
                },
                "type": "object"
              },
              "name": "read"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&seen[0].body).unwrap());
    let short = |at: usize| {
        let body = &seen[at].body;
        format!(
            "{} {} {} {}",
            body["max_tokens"], body["thinking"], body["output_config"], body["temperature"]
        )
    };
    assert_eq!(short(1), r#"64000 {"budget_tokens":24576,"type":"enabled"} null null"#);
    assert_eq!(short(2), r#"64000 {"type":"adaptive"} {"effort":"high"} null"#);
}

#[tokio::test]
async fn who_can_think_between_tool_calls_is_asked_to_where_it_does_not_by_itself() {
    for (model, thinking, tools, asked) in [
        ("claude-sonnet-4-5", Effort::High, true, true),
        ("claude-opus-4-1-20250805", Effort::Low, true, true),
        ("claude-sonnet-4-20250514", Effort::Max, true, true),
        ("claude-sonnet-4-5", Effort::High, false, false),
        ("claude-sonnet-4-5", Effort::None, true, false),
        ("claude-sonnet-4-5", Effort::Off, true, false),
        ("claude-opus-4-6", Effort::High, true, false),
        ("claude-opus-5", Effort::High, true, false),
        ("claude-3-7-sonnet-latest", Effort::High, true, false),
    ] {
        let server = Server::start(vec![torn(FULL, 100)]).await;
        let tools = if tools { long_request().tools } else { vec![] };
        stream(
            &*model_at(&server.url, &format!("anthropic/{model}"), limits()),
            Request { thinking, tools, ..hello() },
        )
        .await;
        let beta = server.seen()[0].header("anthropic-beta");
        assert_eq!(
            beta.as_deref(),
            asked.then_some("interleaved-thinking-2025-05-14"),
            "{model} {thinking:?}"
        );
    }
}
