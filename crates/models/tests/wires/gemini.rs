//! Gemini `streamGenerateContent`.

use expect_test::expect;
use models::{ChatMessage, Delta, Effort, Reply, Request};

use crate::server::{Server, torn};
use crate::{KEY, TEARS, hello, limits, long_request, model_at, same, shown, stream};

const FULL: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Let me see.\",\"thought\":true}],\"role\":\"model\"}}],\"usageMetadata\":{\"promptTokenCount\":8}}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Grüße\"}],\"role\":\"model\"}}]}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\" 🦀\"},{\"functionCall\":{\"name\":\"read\",\"args\":{\"path\":\"a\"},\"id\":\"g1\"},\"thoughtSignature\":\"SIG\"},{\"functionCall\":{\"name\":\"ls\",\"id\":\"g2\"}}],\"role\":\"model\"},\"finishReason\":\"STOP\"}]}\r\n\r\n\
data: {\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":20,\"cachedContentTokenCount\":2}}\r\n\r\n";

#[tokio::test]
async fn a_full_response_torn_in_every_way() {
    let server = Server::start(TEARS.map(|size| torn(FULL, size)).into()).await;
    let model = model_at(&server.url, "gemini/gemini-2.5-pro", limits());
    expect![[r#"
        thought Let me see.
        Usage(Usage { input: 8, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 })
        text Grüße 🦀
        ToolCallStart { index: 0, id: "g1", name: "read" }
        args 0 {"path":"a"}
        ToolCall(ToolCall { id: "g1", name: "read", args: Parsed(Object {"path": String("a")}) })
        keep gemini {"call":0,"signature":"SIG"}
        ToolCallStart { index: 1, id: "g2", name: "ls" }
        ToolCall(ToolCall { id: "g2", name: "ls", args: Parsed(Object {}) })
        Usage(Usage { input: 8, output: 25, cache_read: 2, cache_write: 0, reasoning: 20 })
        Done { stop: ToolUse }
    "#]]
    .assert_eq(&same(&*model, TEARS.len()).await);
}

#[tokio::test]
async fn other_ends() {
    let ends = [
        r#"data: {"promptFeedback":{"blockReason":"SAFETY"}}

"#,
        r#"data: {"candidates":[{"content":{"parts":[{"text":"half"}]},"finishReason":"MAX_TOKENS"}]}

"#,
        r#"data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}

"#,
        r#"data: {"candidates":[{"content":{"parts":[{"text":"half"}]}}]}

data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}

"#,
    ];
    let server = Server::start(ends.map(|text| torn(text, 30)).into()).await;
    let model = model_at(&server.url, "gemini/gemini-2.5-pro", models::Limits { attempts: 1, ..limits() });
    let mut all = String::new();
    for _ in ends {
        all.push_str(&shown(&stream(&*model, hello()).await));
        all.push_str("--\n");
    }
    expect![[r#"
        Estimated(Usage { input: 2, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Refusal }
        --
        text half
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Length }
        --
        Estimated(Usage { input: 2, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 })
        Done { stop: Other("MALFORMED_FUNCTION_CALL") }
        --
        text half
        Estimated(Usage { input: 2, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        error gemini/gemini-2.5-pro: overloaded (HTTP 503): The model is overloaded. | the provider has trouble: try again soon, or switch the model
        --
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn calls_without_ids_get_ids_and_signatures_find_back() {
    let text = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls"},"thoughtSignature":"S1"},{"functionCall":{"name":"ls"}}]},"finishReason":"STOP"}]}

"#;
    let server = Server::start(vec![torn(text, 50), torn(text, 50)]).await;
    let model = model_at(&server.url, "gemini/gemini-3-pro-preview", limits());
    let mut reply = Reply::default();
    for delta in stream(&*model, hello()).await {
        reply.push(delta.unwrap());
    }
    let ids: Vec<String> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.starts_with("call_")), "{ids:?}");
    let messages = vec![ChatMessage::user("hello"), reply.into_message()];
    let again = stream(&*model, Request { messages, thinking: Effort::High, ..Request::default() }).await;
    assert!(again.iter().all(|delta| !matches!(delta, Ok(Delta::ToolCall(call)) if ids.contains(&call.id))));
    let body = &server.seen()[1].body;
    expect![[r#"
        {
          "contents": [
            {
              "parts": [
                {
                  "text": "hello"
                }
              ],
              "role": "user"
            },
            {
              "parts": [
                {
                  "functionCall": {
                    "args": {},
                    "name": "ls"
                  },
                  "thoughtSignature": "S1"
                },
                {
                  "functionCall": {
                    "args": {},
                    "name": "ls"
                  }
                }
              ],
              "role": "model"
            },
            {
              "parts": [
                {
                  "functionResponse": {
                    "name": "ls",
                    "response": {
                      "error": "no result: the call was interrupted"
                    }
                  }
                },
                {
                  "functionResponse": {
                    "name": "ls",
                    "response": {
                      "error": "no result: the call was interrupted"
                    }
                  }
                }
              ],
              "role": "user"
            }
          ],
          "generationConfig": {
            "thinkingConfig": {
              "includeThoughts": true,
              "thinkingLevel": "high"
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(body).unwrap());
}

#[tokio::test]
async fn the_request_says_everything() {
    let server = Server::start(vec![torn(FULL, 100), torn(FULL, 100)]).await;
    let model = model_at(&server.url, "gemini/gemini-2.5-pro", limits());
    stream(&*model, long_request()).await;
    stream(&*model, Request { thinking: Effort::Low, ..hello() }).await;
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse HTTP/1.1");
    assert_eq!(seen[0].header("x-goog-api-key").as_deref(), Some(KEY));
    expect![[r#"
        {
          "contents": [
            {
              "parts": [
                {
                  "text": "look"
                },
                {
                  "inlineData": {
                    "data": "AAAA",
                    "mimeType": "image/png"
                  }
                }
              ],
              "role": "user"
            },
            {
              "parts": [
                {
                  "text": "I read."
                },
                {
                  "functionCall": {
                    "args": {
                      "path": "a"
                    },
                    "name": "read"
                  },
                  "thoughtSignature": "GSIG"
                },
                {
                  "functionCall": {
                    "args": {
                      "path": "b"
                    },
                    "name": "read"
                  }
                }
              ],
              "role": "model"
            },
            {
              "parts": [
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "output": "text of a"
                    }
                  }
                },
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "error": "no result: the call was interrupted"
                    }
                  }
                },
                {
                  "text": "and now?"
                }
              ],
              "role": "user"
            }
          ],
          "generationConfig": {
            "maxOutputTokens": 1000,
            "temperature": 0.5
          },
          "systemInstruction": {
            "parts": [
              {
                "text": "Be brief."
              }
            ]
          },
          "tools": [
            {
              "functionDeclarations": [
                {
                  "description": "Reads a file",
                  "name": "read",
                  "parametersJsonSchema": {
                    "properties": {
                      "path": {
                        "type": "string"
                      }
                    },
                    "type": "object"
                  }
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&seen[0].body).unwrap());
    assert_eq!(seen[1].body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 2048);
}
