//! What is known of a model: told by its server, set by the person, counted by size; and where Azure's models are.

use std::collections::BTreeMap;

use models::{Delta, Figures, Price, Reply, Usage};

use crate::server::{End, Play, Server, torn};
use crate::{KEY, catalog, hello, limits, stream};

fn json(body: &'static str) -> Play {
    Play::Status(200, vec![("content-type", "application/json")], body)
}

const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"four words of text\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[tokio::test]
async fn a_server_tells_the_figures_of_a_model_that_is_open_already_and_is_asked_once() {
    let list = r#"{"data":[{"id":"org/new","context_length":9000,"pricing":{"prompt":"0.000002","completion":"0.000004"}}]}"#;
    let server = Server::start(vec![json(list)]).await;
    let env = [("OPENROUTER_API_KEY", KEY), ("OPENROUTER_BASE_URL", &server.url)];
    let catalog = catalog(&env, limits());
    let model = catalog.open("openrouter/org/new").unwrap();
    assert_eq!(model.info().context_window, None);
    for _ in 0..3 {
        catalog.learn(model.name()).await;
    }
    assert_eq!(server.seen().len(), 1);
    let info = model.info();
    assert_eq!((info.context_window, info.is_guessed()), (Some(9000), false));
    let price = info.price.unwrap();
    assert!((price.input - 2.0).abs() < 1e-9 && (price.output - 4.0).abs() < 1e-9, "{price:?}");
}

#[tokio::test]
async fn a_model_in_the_table_needs_no_list_and_a_guess_is_mended_by_one() {
    let list = r#"{"models":[{"name":"models/gemini-9-pro","inputTokenLimit":5000,"supportedGenerationMethods":["generateContent"]}]}"#;
    let server = Server::start(vec![json(list)]).await;
    let env = [("GEMINI_API_KEY", KEY), ("GEMINI_BASE_URL", &server.url)];
    let catalog = catalog(&env, limits());
    catalog.learn(catalog.open("gemini/gemini-2.5-pro").unwrap().name()).await;
    assert_eq!(server.seen().len(), 0);
    let model = catalog.open("gemini/gemini-9-pro").unwrap();
    assert_eq!((model.info().context_window, model.info().is_guessed()), (Some(1_048_576), true));
    catalog.learn(model.name()).await;
    assert_eq!(model.info().context_window, Some(5000));
    assert!(model.info().is_guessed(), "nobody told the price");
}

#[tokio::test]
async fn what_the_person_has_set_goes_before_the_table_and_the_guess() {
    let price = Price { input: 1.0, output: 2.0, cache_read: None, cache_write: None };
    let figures =
        Figures { window: Some(123), max_output: Some(45), price: Some(price), ..Figures::default() };
    let set = BTreeMap::from([
        ("anthropic/claude-opus-9".to_owned(), figures),
        ("google/gemini-2.5-pro".to_owned(), Figures { window: Some(7), ..Figures::default() }),
        ("nobody/x".to_owned(), figures),
    ]);
    let server = Server::start(vec![torn("data: {\"type\":\"message_stop\"}\n\n", 99)]).await;
    let env = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", &server.url), ("GEMINI_API_KEY", KEY)];
    let catalog = catalog(&env, limits()).with_figures(&set);
    let model = catalog.open("anthropic/claude-opus-9").unwrap();
    let info = model.info();
    assert_eq!((info.context_window, info.price, info.is_guessed()), (Some(123), Some(price), false));
    stream(&*model, hello()).await;
    assert_eq!(server.seen()[0].body["max_tokens"], 45);
    let known = catalog.open("gemini/gemini-2.5-pro").unwrap().info();
    assert_eq!((known.context_window, known.max_output), (Some(7), Some(65_536)));
}

#[tokio::test]
async fn what_the_person_has_set_goes_before_what_the_server_tells() {
    let list = r#"{"data":[{"id":"org/new","context_length":9000,"max_completion_tokens":800}]}"#;
    let server = Server::start(vec![json(list)]).await;
    let env = [("OPENROUTER_API_KEY", KEY), ("OPENROUTER_BASE_URL", &server.url)];
    let set = Figures { max_output: Some(45), ..Figures::default() };
    let catalog =
        catalog(&env, limits()).with_figures(&BTreeMap::from([("openrouter/org/new".to_owned(), set)]));
    let model = catalog.open("openrouter/org/new").unwrap();
    catalog.learn(model.name()).await;
    assert_eq!((model.info().context_window, model.info().max_output), (Some(9000), Some(45)));
}

#[tokio::test]
async fn a_server_that_does_not_list_a_model_is_not_asked_for_it_again() {
    let list = r#"{"data":[{"id":"org/other","context_length":0}]}"#;
    let server = Server::start(vec![json(list), json(list)]).await;
    let env = [("OPENROUTER_API_KEY", KEY), ("OPENROUTER_BASE_URL", &server.url)];
    let catalog = catalog(&env, limits());
    let model = catalog.open("openrouter/org/new").unwrap();
    for _ in 0..2 {
        catalog.learn(model.name()).await;
    }
    assert_eq!((server.seen().len(), model.info().context_window), (1, None));
}

#[tokio::test]
async fn tokens_that_a_server_does_not_count_are_counted_by_size_and_marked() {
    let server = Server::start(vec![
        torn(ANSWER, 50),
        Play::Stream(
            vec![b"data: {\"choices\":[{\"delta\":{\"content\":\"half of it\"}}]}\n\n".to_vec()],
            End::Cut,
        ),
        torn(ANSWER, 50),
    ])
    .await;
    let model = catalog(&[("VLLM_BASE_URL", &server.url)], limits()).open("vllm/tiny").unwrap();
    let mut replies = Vec::new();
    for _ in 0..2 {
        let mut reply = Reply::default();
        stream(&*model, hello()).await.into_iter().for_each(|delta| reply.push(delta.unwrap()));
        replies.push(reply);
    }
    // `hello` is five bytes, the answer 18, the half of one 10; a token is four.
    let whole = Usage { input: 2, output: 5, ..Usage::default() };
    assert_eq!((replies[0].spent(), replies[0].estimated), (whole, true));
    let both = Usage { input: 4, output: 8, ..Usage::default() };
    assert_eq!((replies[1].spent(), replies[1].estimated), (both, true), "an attempt that broke is paid for");
}

#[tokio::test]
async fn azure_is_asked_at_its_own_addresses() {
    for (endpoint, version, line) in [
        ("", None, "POST /openai/v1/chat/completions HTTP/1.1"),
        ("/", None, "POST /openai/v1/chat/completions HTTP/1.1"),
        ("/openai/v1/", None, "POST /openai/v1/chat/completions HTTP/1.1"),
        (
            "",
            Some("2024-10-21"),
            "POST /openai/deployments/my-gpt/chat/completions?api-version=2024-10-21 HTTP/1.1",
        ),
        ("", Some("v1"), "POST /openai/v1/chat/completions HTTP/1.1"),
    ] {
        let server = Server::start(vec![torn(ANSWER, 50)]).await;
        let endpoint = format!("{}{endpoint}", server.url);
        let mut env = vec![("AZURE_OPENAI_API_KEY", KEY), ("AZURE_OPENAI_ENDPOINT", &*endpoint)];
        env.extend(version.map(|version| ("AZURE_OPENAI_API_VERSION", version)));
        let model = catalog(&env, limits()).open("azure/my-gpt").unwrap();
        let deltas = stream(&*model, hello()).await;
        assert!(matches!(deltas.last(), Some(Ok(Delta::Done { .. }))), "{deltas:?}");
        let seen = server.seen();
        assert_eq!(seen[0].line, line);
        assert_eq!(
            (seen[0].header("api-key").as_deref(), seen[0].header("authorization")),
            (Some(KEY), None)
        );
    }
    let wrong = catalog(&[("AZURE_OPENAI_API_KEY", KEY)], limits()).open("azure/my-gpt").err().unwrap();
    assert!(wrong.to_string().contains("AZURE_OPENAI_ENDPOINT"), "{wrong}");
}
