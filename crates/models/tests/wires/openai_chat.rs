//! OpenAI Chat Completions, at OpenAI and at servers that differ from it.

use expect_test::expect;
use models::{Effort, Request};

use crate::server::{Server, torn};
use crate::{KEY, TEARS, hello, limits, long_request, masked, model_at, same, shown, stream};

/// Parallel calls whose fragments are interleaved.
const FULL: &str = r#"data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}

data: {"id":"x","choices":[{"index":0,"delta":{"content":"Grüße"},"finish_reason":null}],"usage":null}

data: {"id":"x","choices":[{"index":0,"delta":{"content":" 🦀"},"finish_reason":null}],"usage":null}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"ls","arguments":"{"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}},{"index":1,"function":{"arguments":"}"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"x","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":4}}}

data: [DONE]

"#;

#[tokio::test]
async fn a_full_response_torn_in_every_way() {
    let server = Server::start(TEARS.map(|size| torn(FULL, size)).into()).await;
    let model = model_at(&server.url, "openai-chat/gpt-5", limits());
    expect![[r#"
        text Grüße 🦀
        ToolCallStart { index: 0, id: "call_a", name: "read" }
        args 0 {"path":
        ToolCallStart { index: 1, id: "call_b", name: "ls" }
        args 1 {
        args 0 "a"}
        args 1 }
        Usage(Usage { input: 19, output: 10, cache_read: 5, cache_write: 0, reasoning: 4 })
        ToolCall(ToolCall { id: "call_a", name: "read", args: Parsed(Object {"path": String("a")}) })
        ToolCall(ToolCall { id: "call_b", name: "ls", args: Parsed(Object {}) })
        Done { stop: ToolUse }
    "#]]
    .assert_eq(&same(&*model, TEARS.len()).await);
}

#[tokio::test]
async fn servers_that_differ() {
    let odd = [
        // Reasoning under two names, whole arguments as an object, no index, `stop` although tools are called, no [DONE].
        r#"data: {"choices":[{"delta":{"reasoning_content":"hm "}}]}

data: {"choices":[{"delta":{"reasoning":"so"}}]}

data: {"choices":[{"delta":{"content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":{"x":1}}},{"id":"2","function":{"name":"b","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}

"#,
        // No ids at all, and arguments that are no JSON.
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"a\",\"arguments\":\"{oops\"}}]}}]}\n\n\
         data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
        // A huge index is a name, not a size.
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":4294967295,\"id\":\"z\",\"function\":{\"name\":\"a\"}}]}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"part\"}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]",
        // A refusal.
        "data: {\"choices\":[{\"delta\":{\"refusal\":\"No.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ];
    let server = Server::start(odd.map(|text| torn(text, 64)).into()).await;
    let model = model_at(&server.url, "vllm/qwen", limits());
    let mut all = String::new();
    for _ in odd {
        all.push_str(&masked(&shown(&stream(&*model, hello()).await)));
        all.push_str("--\n");
    }
    expect![[r#"
        thought hm so
        ToolCallStart { index: 0, id: "1", name: "a" }
        args 0 {"x":1}
        ToolCallStart { index: 1, id: "2", name: "b" }
        args 1 {}
        Usage(Usage { input: 1, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 })
        keep openai-chat {"reasoning_content":"hm so"}
        ToolCall(ToolCall { id: "1", name: "a", args: Parsed(Object {"x": Number(1)}) })
        ToolCall(ToolCall { id: "2", name: "b", args: Parsed(Object {}) })
        Done { stop: ToolUse }
        --
        ToolCallStart { index: 0, id: "MADE_UP_0", name: "a" }
        args 0 {oops
        ToolCall(ToolCall { id: "MADE_UP_0", name: "a", args: Unparsed("{oops") })
        Estimated(Usage { input: 2, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Length }
        --
        ToolCallStart { index: 0, id: "z", name: "a" }
        text part
        ToolCall(ToolCall { id: "z", name: "a", args: Parsed(Object {}) })
        Estimated(Usage { input: 2, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: ToolUse }
        --
        text No.
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Refusal }
        --
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn the_request_says_everything() {
    let server = Server::start(vec![torn(FULL, 100), torn(FULL, 100)]).await;
    let local = model_at(&server.url, "vllm/qwen", limits());
    stream(&*local, long_request()).await;
    let openai = model_at(&server.url, "openai/gpt-5", limits());
    stream(&*openai, Request { thinking: Effort::Medium, ..hello() }).await;
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /chat/completions HTTP/1.1");
    assert_eq!(seen[0].header("authorization"), None, "a local server gets no key");
    expect![[r#"
        {
          "max_tokens": 1000,
          "messages": [
            {
              "content": "Be brief.",
              "role": "system"
            },
            {
              "content": [
                {
                  "text": "look",
                  "type": "text"
                },
                {
                  "image_url": {
                    "url": "data:image/png;base64,AAAA"
                  },
                  "type": "image_url"
                }
              ],
              "role": "user"
            },
            {
              "content": "I read.",
              "role": "assistant",
              "tool_calls": [
                {
                  "function": {
                    "arguments": "{\"path\":\"a\"}",
                    "name": "read"
                  },
                  "id": "c.1",
                  "type": "function"
                },
                {
                  "function": {
                    "arguments": "{\"path\":\"b\"}",
                    "name": "read"
                  },
                  "id": "c2",
                  "type": "function"
                }
              ]
            },
            {
              "content": "text of a",
              "role": "tool",
              "tool_call_id": "c.1"
            },
            {
              "content": "no result: the call was interrupted",
              "role": "tool",
              "tool_call_id": "c2"
            },
            {
              "content": "and now?",
              "role": "user"
            }
          ],
          "model": "qwen",
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "temperature": 0.5,
          "tools": [
            {
              "function": {
                "description": "Reads a file",
                "name": "read",
                "parameters": {
                  "properties": {
                    "path": {
                      "type": "string"
                    }
                  },
                  "type": "object"
                }
              },
              "type": "function"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&seen[0].body).unwrap());
    assert_eq!(seen[1].header("authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(seen[1].body["reasoning_effort"], "medium");
    assert_eq!(seen[1].body["messages"][0]["content"], "hello", "plain text stays a plain string");
}
