//! The providers against loopback servers that speak their real wire. No network beyond this machine.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panic")]

mod anthropic;
mod caching;
mod efforts;
mod failures;
mod figures;
mod gemini;
mod heals;
mod keys;
mod listing;
mod makers;
mod openai_chat;
mod openai_responses;
mod schemas;
mod server;
mod thoughts;

use std::sync::Arc;
use std::time::Duration;

use models::catalog::Catalog;
use models::{
    ChatMessage, Content, Delta, Effort, Limits, Model, ModelError, OpaquePart, Request, ToolArgs, ToolCall,
    ToolSpec,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The key that must never show anywhere.
pub(crate) const KEY: &str = "topsecret-0123456789";
/// Sizes of pieces into which every sample is torn; the last is the whole.
pub(crate) const TEARS: [usize; 6] = [1, 2, 3, 17, 100, 100_000];

/// No waiting to speak of, and patience only where a test needs it.
pub(crate) fn limits() -> Limits {
    Limits { base_delay: Duration::from_millis(1), probe: Duration::from_secs(60), ..Limits::default() }
}

pub(crate) fn catalog(env: &[(&str, &str)], limits: Limits) -> Catalog {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Catalog::new(env).with_limits(limits)
}

/// Opens a model at a loopback server, with all the variables that could matter.
pub(crate) fn model_at(url: &str, name: &str, limits: Limits) -> Arc<dyn Model> {
    let env = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", url),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url),
        ("GEMINI_API_KEY", KEY),
        ("GEMINI_BASE_URL", url),
        ("VLLM_BASE_URL", url),
    ];
    catalog(&env, limits).open(name).unwrap()
}

pub(crate) async fn stream(model: &dyn Model, request: Request) -> Vec<Result<Delta, ModelError>> {
    let mut deltas = model.stream(request, CancellationToken::new());
    let mut all = Vec::new();
    while let Some(delta) = deltas.recv().await {
        all.push(delta);
    }
    let last = all.last().expect("a stream says something");
    assert!(matches!(last, Err(_) | Ok(Delta::Done { .. })), "{last:?}");
    all
}

/// Asks `times` times, wants the same answer each time, and shows it.
pub(crate) async fn same(model: &dyn Model, times: usize) -> String {
    let first = shown(&stream(model, hello()).await);
    for _ in 1..times {
        assert_eq!(shown(&stream(model, hello()).await), first);
    }
    first
}

/// Deltas one per line, texts in a row joined; nothing may hold the key.
pub(crate) fn shown(deltas: &[Result<Delta, ModelError>]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for delta in deltas {
        let (kind, text) = match delta {
            Ok(Delta::Text(text)) => ("text", text.clone()),
            Ok(Delta::Thought(text)) => ("thought", text.clone()),
            Ok(Delta::ToolCallArgs { index, fragment }) => ("args", format!("{index} {fragment}")),
            Ok(Delta::Keep(OpaquePart { wire, value })) => ("keep", format!("{wire} {value}")),
            Ok(Delta::Retrying { attempt, max, reason, status, .. }) => {
                ("retry", format!("{attempt}/{max} {status:?} {reason}"))
            }
            Ok(other) => ("", format!("{other:?}")),
            Err(error) => ("error", format!("{error} | {}", error.hint())),
        };
        match lines.last_mut() {
            Some(line) if kind == last && matches!(kind, "text" | "thought") => line.push_str(&text),
            _ => lines.push(format!("{kind} {text}").trim_start().to_owned()),
        }
        last = kind;
    }
    let all = lines.join("\n") + "\n";
    assert!(!all.contains(KEY) && !format!("{deltas:?}").contains(KEY), "a key shows: {all}");
    all
}

/// Made-up ids are random; in an expectation they read `MADE_UP`.
pub(crate) fn masked(text: &str) -> String {
    let mut pieces = text.split("call_");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let random =
            piece.get(..9).filter(|id| id.ends_with('_') && id[..8].chars().all(|c| c.is_ascii_hexdigit()));
        match random {
            Some(id) => out.push_str(&format!("MADE_UP_{}", &piece[id.len()..])),
            None => out.push_str(&format!("call_{piece}")),
        }
    }
    out
}

/// A conversation with everything in it: system, picture, parallel calls, one failed result, kept data of three wires.
pub(crate) fn long_request() -> Request {
    let call = |id: &str, path: &str| ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        args: ToolArgs::Parsed(json!({ "path": path })),
    };
    let kept = |wire: &str, value| OpaquePart { wire: wire.to_owned(), value };
    let (a, b) = (call("c.1", "a"), call("c2", "b"));
    Request {
        system: Some("Be brief.".to_owned()),
        messages: vec![
            ChatMessage::User {
                content: vec![
                    Content::Text("look".to_owned()),
                    Content::Image { mime: "image/png".to_owned(), base64: "AAAA".to_owned() },
                ],
            },
            ChatMessage::Assistant {
                content: vec![Content::Text("I read.".to_owned())],
                tool_calls: vec![a.clone(), b],
                kept: vec![
                    kept("anthropic", json!({ "type": "thinking", "thinking": "hm", "signature": "SIG" })),
                    kept(
                        "openai-responses",
                        json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "ENC" }),
                    ),
                    kept("gemini", json!({ "call": 0, "signature": "GSIG" })),
                ],
            },
            ChatMessage::tool(&a, "text of a"),
            ChatMessage::user("and now?"),
        ],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads a file".to_owned(),
            schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        }],
        max_tokens: Some(1000),
        temperature: Some(0.5),
        thinking: Effort::Off,
        schema: None,
        cache_key: None,
    }
}

pub(crate) fn hello() -> Request {
    Request { messages: vec![ChatMessage::user("hello")], ..Request::default() }
}
