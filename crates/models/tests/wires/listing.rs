//! Lists of models, and the choice among what answers.

use models::ErrorKind;
use models::catalog::KeyFrom;

use crate::server::{Play, Server};
use crate::{KEY, catalog, limits};

fn json(body: &'static str) -> Play {
    Play::Status(200, vec![("content-type", "application/json")], body)
}

/// An address where nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn all_providers_are_asked_and_troubles_told() {
    let anthropic =
        Server::start(vec![json(r#"{"data":[{"id":"claude-sonnet-4-5-20250929"},{"id":"claude-next"}]}"#)])
            .await;
    let openai = Server::start(vec![Play::Status(
        401,
        vec![],
        r#"{"error":{"message":"bad key topsecret-0123456789"}}"#,
    )])
    .await;
    let gemini = Server::start(vec![json(
        r#"{"models":[{"name":"models/gemini-9","inputTokenLimit":77,"supportedGenerationMethods":["generateContent"]}]}"#,
    )])
    .await;
    let vllm = Server::start(vec![json(r#"{"data":[{"id":"org/qwen","max_model_len":4096}]}"#)]).await;
    let none = nowhere();
    let env = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &anthropic.url),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", &openai.url),
        ("GEMINI_API_KEY", KEY),
        ("GEMINI_BASE_URL", &gemini.url),
        ("VLLM_BASE_URL", &vllm.url),
        ("OLLAMA_HOST", &none),
    ];
    let catalog = catalog(&env, limits());
    let listing = catalog.list().await;
    let lines: Vec<String> = listing
        .models
        .iter()
        .filter(|listed| !(listed.name.provider == "openai" && listed.name.name != "gpt-5"))
        .map(|listed| format!("{} {:?} {}", listed.name, listed.info.context_window, listed.confirmed))
        .collect();
    assert_eq!(
        lines,
        [
            "anthropic/claude-sonnet-4-5-20250929 Some(200000) true",
            "anthropic/claude-next Some(200000) true",
            "openai/gpt-5 Some(400000) false",
            "gemini/gemini-9 Some(77) true",
            "vllm/org/qwen Some(4096) true",
            "offline/offline Some(100000) true",
        ]
    );
    let kinds: Vec<_> =
        listing.troubles.iter().map(|error| (error.source_name.as_str(), error.kind)).collect();
    assert_eq!(kinds, [("openai", ErrorKind::Auth), ("ollama", ErrorKind::Network)]);
    assert!(!format!("{listing:?}").contains(KEY));
    assert_eq!(
        catalog.open("vllm/org/qwen").unwrap().info().context_window,
        Some(4096),
        "what was learned stays"
    );
}

#[tokio::test]
async fn without_a_key_a_local_server_that_answers_is_chosen() {
    let ollama = Server::start(vec![json(
        r#"{"object":"list","data":[{"id":"nomic-embed-text"},{"id":"qwen3:8b"}]}"#,
    )])
    .await;
    let chosen = catalog(&[("OLLAMA_HOST", &ollama.url)], limits()).choose().await;
    assert_eq!(chosen.to_string(), "ollama/qwen3:8b");
    assert_eq!(ollama.seen()[0].line, "GET /v1/models HTTP/1.1");
    let none = nowhere();
    assert_eq!(catalog(&[("OLLAMA_HOST", &none)], limits()).choose().await.to_string(), "offline/offline");
    let keyed = catalog(&[("OLLAMA_HOST", &none), ("OPENAI_API_KEY", KEY)], limits());
    assert_eq!(keyed.choose().await.to_string(), "openai/gpt-5", "a key is asked nobody about");
}

#[tokio::test]
async fn a_server_at_its_own_address_is_asked_what_it_has() {
    let table = [
        (r#"{"data":[{"id":"own"},{"id":"gpt-5"}]}"#, KEY, "openai/gpt-5"),
        (r#"{"data":[{"id":"own"}]}"#, KEY, "openai/own"),
        (r#"{"data":[{"id":"own"}]}"#, "", "openai/own"),
        ("nonsense", KEY, "openai/gpt-5"),
    ];
    for (list, key, want) in table {
        let server = Server::start(vec![json(list)]).await;
        let none = nowhere();
        let env = [("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", &server.url), ("OLLAMA_HOST", &none)];
        assert_eq!(catalog(&env, limits()).choose().await.to_string(), want, "{list}");
    }
}

#[tokio::test]
async fn the_environment_is_explained() {
    let env = [
        ("OPENAI_API_KEY", KEY),
        ("VLLM_BASE_URL", "http://me:topsecret-0123456789@h/v1"),
        ("OLLAMA_HOST", "ftp://x"),
    ];
    let states = catalog(&env, limits()).providers();
    let state = |id: &str| states.iter().find(|state| state.provider == id).unwrap();
    assert_eq!(state("openai").key_from, Some(KeyFrom::Variable("OPENAI_API_KEY")));
    assert!(state("openai").offered && !state("anthropic").offered);
    assert_eq!(state("vllm").address.as_deref(), Ok("http://h/v1"));
    assert!(state("ollama").address.is_err() && state("anthropic").address.is_err());
    assert!(!format!("{states:?}").contains(KEY));
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_looked_up_in_its_providers_list() {
    let listed = || json(r#"{"data":[{"id":"org/qwen","max_model_len":4096}]}"#);
    let vllm = Server::start(vec![listed(), listed()]).await;
    let none = nowhere();
    let env = [("VLLM_BASE_URL", vllm.url.as_str()), ("OLLAMA_HOST", &none), ("OPENAI_API_KEY", KEY)];
    let catalog = catalog(&env, limits());
    for (text, there) in [
        ("vllm/org/qwen", true),
        ("vllm/nope", false),
        // What the table has needs nobody, and who cannot be asked is believed.
        ("openai/gpt-5-2025-08-07", true),
        ("ollama/whatever", true),
        ("offline/offline", true),
        ("offline/nope", false),
    ] {
        let name = catalog.resolve(text).unwrap();
        let checked = catalog.check(&name).await;
        assert_eq!(checked.is_ok(), there, "{text}: {checked:?}");
        if let Err(why) = checked {
            assert!(why.to_string().contains("has no model `nope`"), "{why}");
        }
    }
}
