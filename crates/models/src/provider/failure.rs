//! A provider's refusal (status and body, or an error inside a stream) → [`ModelError`]. Pure.

use std::time::Duration;

use serde_json::Value;

use super::json::{list, text};
use crate::{ErrorKind, ModelError};

/// Words by which providers say that the conversation is too long.
const OVERFLOW: [&str; 11] = [
    "prompt is too long",
    "input is too long",
    "context_length_exceeded",
    "context length",
    "context window",
    "maximum context",
    "exceed_context_size",
    "context size",
    "exceeds the maximum number of tokens",
    "input token count",
    "request_too_large",
];

/// Reads the body of a failed answer.
pub(crate) fn failure(status: u16, body: &str) -> ModelError {
    let parsed: Value = crate::half::read(body).unwrap_or(Value::Null);
    // Gemini wraps the object in a list when no stream was asked for.
    let parsed = parsed.get(0).unwrap_or(&parsed);
    let inner = parsed.get("error").unwrap_or(parsed);
    let message = match status {
        300..400 => "the server redirects to another address; that is not followed".to_owned(),
        _ => words(inner).or_else(|| words(parsed)).map_or_else(|| plain(body), str::to_owned),
    };
    classify(Some(status), inner, &message)
}

/// Reads an error object from inside a stream.
pub(super) fn failure_in_stream(error: &Value) -> ModelError {
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let message = words(error).map_or_else(|| error.to_string(), str::to_owned);
    classify(status.filter(|code| (400..600).contains(code)), error, &message)
}

fn classify(status: Option<u16>, error: &Value, message: &str) -> ModelError {
    let codes = [text(error, "/type"), text(error, "/code"), text(error, "/status")];
    let has = |words: &[&str]| codes.iter().flatten().any(|code| words.contains(code));
    let lower = message.to_ascii_lowercase();
    let overflow = OVERFLOW.iter().any(|word| lower.contains(word))
        || codes.iter().flatten().any(|code| OVERFLOW.contains(code));

    let spent = has(&["insufficient_quota", "billing_error", "insufficient_balance"]) || status == Some(402);
    let kind = if has(&["authentication_error", "permission_error", "invalid_api_key", "UNAUTHENTICATED"])
        || list(error, "/details").iter().any(|detail| text(detail, "/reason") == Some("API_KEY_INVALID"))
    {
        ErrorKind::Auth
    } else if spent || has(&["rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"]) {
        ErrorKind::RateLimited
    } else if has(&[
        "overloaded_error",
        "api_error",
        "server_error",
        "UNAVAILABLE",
        "INTERNAL",
        "timeout_error",
    ]) && status.is_none_or(|status| status >= 500 || status == 200)
    {
        ErrorKind::Overloaded
    } else {
        match status {
            Some(401 | 403) => ErrorKind::Auth,
            Some(429) => ErrorKind::RateLimited,
            Some(413) => ErrorKind::ContextOverflow,
            Some(408 | 425 | 500..) => ErrorKind::Overloaded,
            Some(400..) if overflow => ErrorKind::ContextOverflow,
            None if overflow => ErrorKind::ContextOverflow,
            Some(400..) => ErrorKind::BadRequest,
            Some(300..400) => ErrorKind::BadRequest,
            Some(_) => ErrorKind::Protocol,
            None => ErrorKind::Overloaded,
        }
    };
    let error = ModelError::new(kind, "", message).with_retry_after(asked_delay(error)).retryable(!spent);
    match status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

/// Gemini says in the body how long to wait: `"retryDelay": "34s"`.
fn asked_delay(error: &Value) -> Option<Duration> {
    let delay = list(error, "/details").iter().find_map(|detail| text(detail, "/retryDelay"))?;
    let seconds = delay.strip_suffix('s')?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn words(value: &Value) -> Option<&str> {
    let found = text(value, "/message").or_else(|| text(value, "/detail")).or_else(|| value.as_str());
    found.filter(|words| !words.trim().is_empty())
}

fn plain(body: &str) -> String {
    let body = body.trim();
    if body.is_empty() || body == "{}" {
        "the server gave no reason".to_owned()
    } else if body.starts_with('<') {
        "the server sent a web page instead of an answer".to_owned()
    } else {
        body.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn refusals_of_all_providers() {
        let table = [
            (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000"}}"#,
            ),
            (413, r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
            (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
            (429, r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            ),
            (404, r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#),
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.5s"}]}}]"#,
            ),
            (503, r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#),
            (404, r#"{"error":"model 'x' not found, try pulling it first"}"#),
            (500, "Internal Server Error"),
            (502, "<html><body>Bad gateway</body></html>"),
            (307, ""),
            (200, "<html>welcome</html>"),
            (200, r#"{"error":{"message":"key sk-proj-1234567890abcdef is bad","type":"server_error"}}"#),
        ];
        let lines = table.map(|(status, body)| {
            let error = failure(status, body);
            format!("{error} [again: {}, wait: {:?}]\n", error.is_transient(), error.retry_after)
        });
        expect![[r#"
            : overloaded (HTTP 529): Overloaded [again: true, wait: None]
            : not authorized (HTTP 401): invalid x-api-key [again: false, wait: None]
            : the conversation is too long (HTTP 400): prompt is too long: 208310 tokens > 200000 [again: false, wait: None]
            : the conversation is too long (HTTP 413): Request exceeds the maximum size [again: false, wait: None]
            : rate limited (HTTP 429): You exceeded your current quota [again: false, wait: None]
            : rate limited (HTTP 429): Rate limit reached [again: true, wait: None]
            : the conversation is too long (HTTP 400): This model's maximum context length is 8192 tokens [again: false, wait: None]
            : bad request (HTTP 404): The model `x` does not exist [again: false, wait: None]
            : not authorized (HTTP 400): API key not valid. [again: false, wait: None]
            : rate limited (HTTP 429), asks to wait 35 s: Quota [again: true, wait: Some(34.5s)]
            : overloaded (HTTP 503): The model is overloaded. [again: true, wait: None]
            : bad request (HTTP 404): model 'x' not found, try pulling it first [again: false, wait: None]
            : overloaded (HTTP 500): Internal Server Error [again: true, wait: None]
            : overloaded (HTTP 502): the server sent a web page instead of an answer [again: true, wait: None]
            : bad request (HTTP 307): the server redirects to another address; that is not followed [again: false, wait: None]
            : unexpected answer (HTTP 200): the server sent a web page instead of an answer [again: false, wait: None]
            : overloaded (HTTP 200): key *** is bad [again: true, wait: None]
        "#]].assert_eq(&lines.concat());
    }

    #[test]
    fn refusals_in_a_stream() {
        let table = [
            r#"{"type":"overloaded_error","message":"Overloaded"}"#,
            r#"{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}"#,
            r#"{"code":"server_error","message":"sorry"}"#,
            r#"{"code":"context_length_exceeded","message":"too long"}"#,
            r#""just words""#,
        ];
        let lines = table.map(|error| {
            let error = failure_in_stream(&serde_json::from_str(error).unwrap());
            format!("{error} [{:?}]\n", error.kind)
        });
        expect![[r#"
            : overloaded: Overloaded [Overloaded]
            : rate limited (HTTP 429): slow [RateLimited]
            : overloaded: sorry [Overloaded]
            : the conversation is too long: too long [ContextOverflow]
            : overloaded: just words [Overloaded]
        "#]]
        .assert_eq(&lines.concat());
    }
}
