//! Keys that are tried before they are kept, with providers on loopback.

use models::catalog::{Trial, Verdict};
use models::{ErrorKind, Secret};

use crate::server::{Play, Server};
use crate::{KEY, catalog, limits};

fn json(status: u16, body: &'static str) -> Play {
    Play::Status(status, vec![("content-type", "application/json")], body)
}

const LIST: &str = r#"{"data":[{"id":"one"},{"id":"two"}]}"#;
const NO: &str = r#"{"error":{"message":"bad key topsecret-0123456789"}}"#;

/// Tries the key with a provider that answers like this, one request after the other.
async fn tried(provider: &str, variable: &str, plays: Vec<Play>) -> (Trial, Vec<(String, bool)>) {
    let server = Server::start(plays).await;
    let catalog = catalog(&[(variable, &server.url)], limits());
    let trial = catalog.try_key(provider, &Secret::new(KEY)).await.unwrap();
    assert!(!format!("{trial:?}").contains(KEY), "{trial:?}");
    let seen = server.seen().into_iter();
    let seen = seen.map(|seen| {
        let path = seen.line.split(' ').nth(1).unwrap_or_default().to_owned();
        (path, seen.headers.iter().any(|header| header.contains(KEY)))
    });
    (trial, seen.collect())
}

#[tokio::test]
async fn a_provider_that_lists_its_models_only_with_a_key_has_taken_it() {
    for (provider, variable, path) in [
        ("anthropic", "ANTHROPIC_BASE_URL", "/v1/models?limit=500"),
        ("openai", "OPENAI_BASE_URL", "/models"),
        ("gemini", "GEMINI_BASE_URL", "/v1beta/models?pageSize=500"),
        ("groq", "GROQ_BASE_URL", "/models"),
        ("deepseek", "DEEPSEEK_BASE_URL", "/models"),
        ("mistral", "MISTRAL_BASE_URL", "/models"),
        ("grok", "XAI_BASE_URL", "/models"),
        ("kimi", "MOONSHOT_BASE_URL", "/models"),
        ("z.ai", "ZAI_BASE_URL", "/models"),
        ("qwen", "DASHSCOPE_BASE_URL", "/models"),
    ] {
        let (trial, seen) = tried(provider, variable, vec![json(200, LIST), json(401, NO)]).await;
        assert_eq!(trial.verdict, Verdict::Taken { models: 2 }, "{provider}");
        assert_eq!(seen, [(path.to_owned(), true), (path.to_owned(), false)]);
    }
}

#[tokio::test]
async fn a_list_that_everybody_gets_proves_nothing() {
    let (trial, _) = tried("vllm", "VLLM_BASE_URL", vec![json(200, LIST), json(200, LIST)]).await;
    assert_eq!(trial.verdict, Verdict::Unproven);
    // Nor does a server that is gone when it is asked once more.
    let (trial, _) = tried("vllm", "VLLM_BASE_URL", vec![json(200, LIST)]).await;
    assert_eq!(trial.verdict, Verdict::Unproven);
}

#[tokio::test]
async fn openrouter_shows_its_list_to_everybody_and_is_asked_for_the_key_itself() {
    let (trial, seen) =
        tried("openrouter", "OPENROUTER_BASE_URL", vec![json(200, "{}"), json(200, LIST)]).await;
    assert_eq!(trial.verdict, Verdict::Taken { models: 2 });
    assert_eq!(seen[0], ("/key".to_owned(), true));
    let (trial, _) = tried("openrouter", "OPENROUTER_BASE_URL", vec![json(401, NO)]).await;
    assert!(matches!(trial.verdict, Verdict::Refused(_)), "{trial:?}");
}

#[tokio::test]
async fn a_refusal_is_told_from_a_provider_that_cannot_be_asked() {
    for (play, refused) in [
        (json(401, NO), true),
        (json(403, NO), true),
        (json(400, r#"{"error":{"details":[{"reason":"API_KEY_INVALID"}],"message":"no"}}"#), true),
        (json(500, "oops"), false),
        (json(429, "slower"), false),
        (json(200, "<html>"), false),
        (json(302, ""), false),
    ] {
        let (trial, _) = tried("gemini", "GEMINI_BASE_URL", vec![play]).await;
        match trial.verdict {
            Verdict::Refused(why) => assert!(refused && why.kind == ErrorKind::Auth, "{why}"),
            Verdict::Untried(why) => assert!(!refused, "{why}"),
            other => panic!("{other:?}"),
        }
    }
}
