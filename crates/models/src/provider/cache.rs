//! How requests of one conversation reach the machine that has its beginning in the cache. Pure.
//!
//! Only who documents a key is sent one: a compatible server may refuse fields that it does not know. Anthropic has marks instead, see
//! `anthropic.rs`; DeepSeek, Kimi, GLM, Qwen, Groq and Gemini find the beginning by themselves.

use serde_json::{Map, Value, json};

use super::{Draft, House};

/// Longest key; OpenAI takes no longer one.
const MAX_KEY: usize = 64;

/// What the requests of this conversation have in common, where that can be said.
fn key<'a>(draft: &'a Draft<'_>) -> Option<&'a str> {
    let key = draft.request.cache_key.as_deref()?;
    (!key.is_empty() && key.len() <= MAX_KEY && key.bytes().all(|byte| byte.is_ascii_graphic()))
        .then_some(key)
}

/// Writes the key into a request of Chat Completions.
pub(super) fn write_chat(draft: &Draft<'_>, body: &mut Map<String, Value>) {
    let field = match draft.house {
        // developers.openai.com/api/docs/guides/prompt-caching; docs.mistral.ai, "Prompt caching".
        House::OpenAi | House::Mistral => "prompt_cache_key",
        // openrouter.ai/docs/api: "OpenRouter uses it as the sticky routing key, routing all requests in the session to the same provider".
        House::OpenRouter => "session_id",
        _ => return,
    };
    if let Some(key) = key(draft) {
        body.insert(field.into(), json!(key));
    }
    // openrouter.ai/docs, "Prompt caching": Claude's cache has to be asked for; the whole request is marked at its end.
    if draft.house == House::OpenRouter && draft.model.starts_with("anthropic/") {
        body.insert("cache_control".into(), json!({ "type": "ephemeral" }));
    }
}

/// Writes the key into a request of Responses.
pub(super) fn write_responses(draft: &Draft<'_>, body: &mut Map<String, Value>) {
    // docs.x.ai, "Maximizing cache hits": the same field as OpenAI's.
    if let (House::OpenAi | House::Xai, Some(key)) = (draft.house, key(draft)) {
        body.insert("prompt_cache_key".into(), json!(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Wire;
    use crate::{ModelInfo, Request};

    #[test]
    fn only_who_documents_a_key_is_sent_one() {
        let sent = |wire: Wire, house: House, model: &str, key: &str| {
            let request = Request { cache_key: Some(key.to_owned()), ..Request::default() };
            let body = wire.draft(&Draft { model, house, info: &ModelInfo::default(), request: &request }).1;
            let fields = ["prompt_cache_key", "session_id", "cache_control"];
            fields.into_iter().filter(|field| body.get(field).is_some()).collect::<Vec<_>>()
        };
        let chat = Wire::OpenAiChat { official: false };
        let key = |wire, house, model| sent(wire, house, model, "s1");
        assert_eq!(key(Wire::OpenAiResponses, House::OpenAi, "gpt-5"), ["prompt_cache_key"]);
        assert_eq!(key(Wire::OpenAiResponses, House::Xai, "grok-4"), ["prompt_cache_key"]);
        assert_eq!(key(Wire::OpenAiResponses, House::Other, "any"), Vec::<&str>::new());
        assert_eq!(key(chat, House::OpenAi, "gpt-5"), ["prompt_cache_key"]);
        assert_eq!(key(chat, House::Mistral, "devstral"), ["prompt_cache_key"]);
        assert_eq!(key(chat, House::OpenRouter, "openai/gpt-5"), ["session_id"]);
        assert_eq!(key(chat, House::OpenRouter, "anthropic/claude"), ["session_id", "cache_control"]);
        for house in [House::Other, House::DeepSeek, House::Groq, House::Moonshot, House::Zai, House::Qwen] {
            assert_eq!(key(chat, house, "any"), Vec::<&str>::new(), "{house:?}");
        }
        for wire in [Wire::Anthropic, Wire::Gemini] {
            assert_eq!(key(wire, House::Other, "any"), Vec::<&str>::new());
        }
        // What a provider would refuse is left out.
        for bad in ["", "with blank", &"x".repeat(MAX_KEY + 1)] {
            assert_eq!(sent(Wire::OpenAiResponses, House::OpenAi, "gpt-5", bad), Vec::<&str>::new());
        }
    }
}
