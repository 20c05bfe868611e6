//! Asks providers what they have. Bounded in time and size; a provider that does not answer in time is reported and left out.

use std::time::Duration;

use serde_json::Value;

use crate::http::{self, Call, Clients};
use crate::provider::{Target, Wire, failure};
use crate::{ErrorKind, Figures, ModelError, Price, Wait};

/// Bytes of a list at most.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// Models of one provider at most.
const MAX_MODELS: usize = 500;
/// Parts of names of models that do not chat.
const NOT_CHAT: [&str; 13] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "transcribe",
    "realtime",
    "audio",
    "image",
    "davinci",
    "babbage",
    "sora",
    "rerank",
];

/// A model as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedModel {
    pub(super) name: String,
    /// What the server tells of it.
    pub(super) figures: Figures,
}

/// Asks one provider for its models; it may take `time` for that.
pub(super) async fn ask(
    clients: &Clients,
    target: &Target,
    source: &str,
    time: Duration,
) -> Result<Vec<ListedModel>, ModelError> {
    let path = match target.wire {
        Wire::Anthropic => "/v1/models?limit=500",
        Wire::Gemini => "/models?pageSize=500",
        Wire::OpenAiChat { .. } | Wire::OpenAiResponses => "/models",
    };
    get(clients, target, path, source, time).await.and_then(|body| read(&body, source))
}

/// Gets what is behind a path of one provider.
pub(super) async fn get(
    clients: &Clients,
    target: &Target,
    path: &str,
    source: &str,
    time: Duration,
) -> Result<Vec<u8>, ModelError> {
    let call = target.call(path, None);
    let answer = tokio::time::timeout(time, fetch(clients, &call, source)).await;
    let late = || ModelError::new(ErrorKind::Timeout { which: Wait::FirstByte }, source, "no list in time");
    let body = answer.unwrap_or_else(|_| Err(late()));
    body.map_err(|error| {
        ModelError { source_name: source.to_owned(), ..error }.without(target.login.secret())
    })
}

async fn fetch(clients: &Clients, call: &Call, source: &str) -> Result<Vec<u8>, ModelError> {
    let mut response = http::send(clients, call, source).await?;
    let status = response.status();
    if !status.is_success() {
        return Err(failure(status.as_u16(), &http::error_body(response).await));
    }
    let mut body = Vec::new();
    let broken = |error: reqwest::Error| {
        ModelError::new(ErrorKind::Network, source, http::describe(&error.without_url()))
    };
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        body.extend_from_slice(&piece);
        if body.len() > MAX_BODY {
            return Err(ModelError::new(ErrorKind::Protocol, source, "the list of models is too long"));
        }
    }
    Ok(body)
}

/// Reads the lists of all wires: `data[].id`, or `models[].name` with Gemini's prefix.
fn read(body: &[u8], source: &str) -> Result<Vec<ListedModel>, ModelError> {
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        ModelError::new(ErrorKind::Protocol, source, format!("no list of models: {error}"))
    })?;
    let list = value.get("data").or_else(|| value.get("models")).and_then(Value::as_array);
    let list =
        list.ok_or_else(|| ModelError::new(ErrorKind::Protocol, source, "no list of models in the answer"))?;
    Ok(list.iter().filter_map(found).take(MAX_MODELS).collect())
}

fn found(model: &Value) -> Option<ListedModel> {
    let name = model.get("id").or_else(|| model.get("name")).and_then(Value::as_str)?;
    let name = name.strip_prefix("models/").unwrap_or(name);
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    let chats = methods.is_none_or(|all| all.iter().any(|method| method == "generateContent"));
    if !chats || name.is_empty() || NOT_CHAT.iter().any(|part| name.contains(part)) {
        return None;
    }
    let number = |pointers: &[&str]| {
        let found = pointers.iter().find_map(|pointer| model.pointer(pointer).and_then(Value::as_u64));
        found.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
    };
    // Dollars for one token, as a text.
    let price = |pointer: &str| {
        let text = model.pointer(pointer).and_then(Value::as_str)?;
        text.parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0).map(|price| price * 1e6)
    };
    let both = price("/pricing/prompt").zip(price("/pricing/completion"));
    let figures = Figures {
        window: number(&[
            "/inputTokenLimit",
            "/max_input_tokens",
            "/max_model_len",
            "/context_length",
            "/context_window",
            "/max_context_length",
            "/meta/n_ctx",
        ]),
        max_output: number(&[
            "/outputTokenLimit",
            "/max_output_tokens",
            "/max_tokens",
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
        ]),
        price: both.map(|(input, output)| Price {
            input,
            output,
            cache_read: price("/pricing/input_cache_read"),
            cache_write: price("/pricing/input_cache_write"),
        }),
    };
    Some(ListedModel { name: name.to_owned(), figures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_wires() {
        let names = |body: &str| -> Vec<String> {
            read(body.as_bytes(), "x")
                .unwrap()
                .into_iter()
                .map(|f| format!("{} {:?}", f.name, f.figures.window))
                .collect()
        };
        assert_eq!(
            names(
                r#"{"data":[{"id":"gpt-5"},{"id":"text-embedding-3"},{"id":7},{"id":"q","max_model_len":4096},{"id":"r","max_model_len":0}]}"#
            ),
            ["gpt-5 None", "q Some(4096)", "r None"]
        );
        assert_eq!(
            names(
                r#"{"models":[{"name":"models/gemini-2.5-pro","inputTokenLimit":1048576,
                    "supportedGenerationMethods":["generateContent"]},
                    {"name":"models/aqa","supportedGenerationMethods":["generateAnswer"]}]}"#
            ),
            ["gemini-2.5-pro Some(1048576)"]
        );
        let priced = r#"{"data":[{"id":"a/b","context_length":1000,"top_provider":{"max_completion_tokens":50},
            "pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"}},
            {"id":"c","pricing":{"prompt":"-1","completion":"x"}}]}"#;
        let found = read(priced.as_bytes(), "x").unwrap();
        let price = found[0].figures.price.unwrap();
        assert!((price.input - 3.0).abs() < 1e-9 && (price.output - 15.0).abs() < 1e-9, "{price:?}");
        assert!(price.cache_read.is_some_and(|cached| (cached - 0.3).abs() < 1e-9), "{price:?}");
        assert_eq!((found[0].figures.max_output, found[1].figures), (Some(50), Figures::default()));
        for bad in ["", "{}", "[1]", r#"{"data":3}"#] {
            assert!(read(bad.as_bytes(), "x").is_err(), "{bad}");
        }
    }
}
