//! What goes wrong: statuses, waits, errors in mid-stream, cut and stalled streams, cancel.

use std::time::Duration;

use expect_test::expect;
use models::{Delta, ErrorKind, Limits, Wait};
use tokio_util::sync::CancellationToken;

use crate::server::{End, Play, Server, torn};
use crate::{KEY, hello, limits, model_at, shown, stream};

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n";
const WORD: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"half\"}}\n\n";
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const BUSY: &str = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
const MODEL: &str = "anthropic/claude-sonnet-4-5";

fn good() -> Play {
    torn(&[START, WORD, STOP].concat(), 40)
}

/// Plays the answers and shows the stream, with the number of requests behind it.
async fn told(plays: Vec<Play>, limits: Limits) -> String {
    let server = Server::start(plays).await;
    let model = model_at(&server.url, MODEL, limits);
    let shown = shown(&stream(&*model, hello()).await);
    format!("{shown}{} request(s)\n", server.seen().len())
}

#[tokio::test]
async fn passing_trouble_is_retried_and_announced() {
    let plays = vec![
        Play::Status(
            529,
            vec![],
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        Play::Status(500, vec![], "oops"),
        Play::Status(
            429,
            vec![("retry-after", "0.01")],
            r#"{"error":{"type":"rate_limit_error","message":"slow"}}"#,
        ),
        good(),
    ];
    expect![[r#"
        retry 2/5 Some(529) anthropic/claude-sonnet-4-5: overloaded (HTTP 529): Overloaded
        retry 3/5 Some(500) anthropic/claude-sonnet-4-5: overloaded (HTTP 500): oops
        retry 4/5 Some(429) anthropic/claude-sonnet-4-5: rate limited (HTTP 429), asks to wait 1 s: slow
        Usage(Usage { input: 3, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        text half
        Done { stop: EndTurn }
        4 request(s)
    "#]]
    .assert_eq(&told(plays, limits()).await);
}

#[tokio::test]
async fn the_wait_that_was_asked_for_is_waited() {
    let server = Server::start(vec![Play::Status(429, vec![("retry-after-ms", "30")], "{}"), good()]).await;
    let model = model_at(&server.url, MODEL, limits());
    let start = std::time::Instant::now();
    let deltas = stream(&*model, hello()).await;
    assert!(matches!(deltas[0], Ok(Delta::Retrying { delay_ms: 30, attempt: 2, status: Some(429), .. })));
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn lasting_trouble_is_told_at_once() {
    let bad = [
        Play::Status(
            401,
            vec![],
            r#"{"error":{"type":"authentication_error","message":"invalid x-api-key topsecret-0123456789"}}"#,
        ),
        Play::Status(
            429,
            vec![("retry-after", "3600")],
            r#"{"error":{"type":"rate_limit_error","message":"tomorrow"}}"#,
        ),
        Play::Status(429, vec![], r#"{"error":{"code":"insufficient_quota","message":"no credit"}}"#),
        Play::Status(503, vec![("x-should-retry", "false")], "{}"),
        Play::Status(
            400,
            vec![],
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
        ),
        Play::Status(302, vec![("location", "http://127.0.0.1:1/")], ""),
        Play::Status(200, vec![("content-type", "text/html")], "<html>hello</html>"),
        torn("event: x\ndata: {broken\n\n", 9),
    ];
    let mut all = String::new();
    for play in bad {
        all.push_str(&told(vec![play], limits()).await);
    }
    expect![[r#"
        error anthropic/claude-sonnet-4-5: not authorized (HTTP 401): invalid x-api-key *** | check the provider's key (`parlor doctor` shows which one is used, `parlor login` adds another)
        1 request(s)
        error anthropic/claude-sonnet-4-5: rate limited (HTTP 429), asks to wait 3600 s: tomorrow | wait a little and try again, check the account's limits and credit, or switch the model
        1 request(s)
        error anthropic/claude-sonnet-4-5: rate limited (HTTP 429): no credit | wait a little and try again, check the account's limits and credit, or switch the model
        1 request(s)
        error anthropic/claude-sonnet-4-5: overloaded (HTTP 503): the server gave no reason | the provider has trouble: try again soon, or switch the model
        1 request(s)
        error anthropic/claude-sonnet-4-5: the conversation is too long (HTTP 400): prompt is too long: 9 > 8 | compact the conversation, start a new one, or switch to a model with a larger window
        1 request(s)
        error anthropic/claude-sonnet-4-5: bad request (HTTP 302): the server redirects to another address; that is not followed | `parlor models` lists what is there; check the model's name and the base URL
        1 request(s)
        error anthropic/claude-sonnet-4-5: unexpected answer (HTTP 200): the server sent a web page instead of an answer | check that the base URL belongs to this provider's interface
        1 request(s)
        error anthropic/claude-sonnet-4-5: unexpected answer: an event is not JSON: key must be a string at line 1 column 2 | check that the base URL belongs to this provider's interface
        1 request(s)
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn an_error_is_retried_before_the_first_word_and_after_it() {
    let before = torn(&[START, BUSY].concat(), 50);
    let after = torn(&[START, WORD, BUSY].concat(), 50);
    let limits = Limits { attempts: 2, ..limits() };
    expect![[r#"
        Usage(Usage { input: 3, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        retry 2/2 None anthropic/claude-sonnet-4-5: overloaded: Overloaded
        Usage(Usage { input: 3, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 })
        text half
        error anthropic/claude-sonnet-4-5: overloaded: Overloaded | the provider has trouble: try again soon, or switch the model
        2 request(s)
    "#]].assert_eq(&told(vec![before, after], limits).await);
}

#[tokio::test]
async fn all_attempts_fail() {
    let plays = (0..9).map(|_| Play::Status(503, vec![], "")).collect();
    let limits = Limits { attempts: 3, ..limits() };
    expect![[r#"
        retry 2/3 Some(503) anthropic/claude-sonnet-4-5: overloaded (HTTP 503): the server gave no reason
        retry 3/3 Some(503) anthropic/claude-sonnet-4-5: overloaded (HTTP 503): the server gave no reason
        error anthropic/claude-sonnet-4-5: overloaded (HTTP 503): the server gave no reason | the provider has trouble: try again soon, or switch the model
        3 request(s)
    "#]].assert_eq(&told(plays, limits).await);
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://me:{KEY}@{}", listener.local_addr().unwrap());
    drop(listener);
    let model = model_at(&url, MODEL, Limits { attempts: 2, ..limits() });
    let deltas = stream(&*model, hello()).await;
    shown(&deltas);
    assert!(matches!(deltas[0], Ok(Delta::Retrying { status: None, .. })), "{deltas:?}");
    assert_eq!(deltas[1].as_ref().unwrap_err().kind, ErrorKind::Network);
}

#[tokio::test]
async fn a_cut_stream_keeps_what_arrived_and_is_an_error() {
    let bytes = [START, WORD].concat().into_bytes();
    for end in [End::Cut, End::Proper] {
        let server = Server::start(vec![Play::Stream(vec![bytes.clone()], end)]).await;
        let model = model_at(&server.url, MODEL, Limits { attempts: 1, ..limits() });
        let deltas = stream(&*model, hello()).await;
        assert_eq!(deltas[1], Ok(Delta::Text("half".to_owned())));
        assert_eq!(deltas[2].as_ref().unwrap_err().kind, ErrorKind::Cut);
    }
}

#[tokio::test]
async fn silence_ends_by_watchdog() {
    let tiny = Duration::from_millis(60);
    let bytes = [START, WORD].concat().into_bytes();
    let server = Server::start(vec![Play::Stream(vec![bytes], End::Stall)]).await;
    let model = model_at(&server.url, MODEL, Limits { idle: tiny, attempts: 1, ..limits() });
    let deltas = stream(&*model, hello()).await;
    assert_eq!(deltas[1], Ok(Delta::Text("half".to_owned())));
    assert_eq!(deltas[2].as_ref().unwrap_err().kind, ErrorKind::Timeout { which: Wait::Idle });
    server.client_gone().await;

    let silent = || Play::Stream(vec![], End::Stall);
    let server = Server::start(vec![silent(), silent()]).await;
    let model = model_at(&server.url, MODEL, Limits { first_byte: tiny, attempts: 2, ..limits() });
    expect![[r#"
        retry 2/2 None anthropic/claude-sonnet-4-5: no answer in time: nothing arrived for 60 ms
        error anthropic/claude-sonnet-4-5: no answer in time: nothing arrived for 60 ms | send the prompt again; if it keeps happening, switch the model or check the server; `[network]` in the settings sets how long is waited
    "#]].assert_eq(&shown(&stream(&*model, hello()).await));
    server.client_gone().await;
    server.client_gone().await;
}

#[tokio::test]
async fn cancel_closes_the_connection_at_once() {
    let bytes = [START, WORD].concat().into_bytes();
    for pieces in [vec![bytes], vec![]] {
        let waits_for_word = !pieces.is_empty();
        let server = Server::start(vec![Play::Stream(pieces, End::Stall)]).await;
        let model = model_at(&server.url, MODEL, limits());
        let cancel = CancellationToken::new();
        let mut deltas = model.stream(hello(), cancel.clone());
        while waits_for_word && deltas.recv().await != Some(Ok(Delta::Text("half".to_owned()))) {}
        cancel.cancel();
        let last = deltas.recv().await.unwrap().unwrap_err();
        assert_eq!(last.kind, ErrorKind::Cancelled);
        assert_eq!(deltas.recv().await, None);
        if waits_for_word {
            server.client_gone().await;
        }
    }
}

#[tokio::test]
async fn a_dropped_reader_closes_the_connection() {
    let bytes = [START, WORD].concat().into_bytes();
    let server = Server::start(vec![Play::Stream(vec![bytes], End::Stall)]).await;
    let model = model_at(&server.url, MODEL, limits());
    let mut deltas = model.stream(hello(), CancellationToken::new());
    assert!(deltas.recv().await.is_some());
    drop(deltas);
    server.client_gone().await;
}

#[tokio::test]
async fn cancel_ends_the_wait_before_a_retry() {
    let server = Server::start(vec![Play::Status(429, vec![("retry-after", "60")], "{}"), good()]).await;
    let model = model_at(&server.url, MODEL, limits());
    let cancel = CancellationToken::new();
    let mut deltas = model.stream(hello(), cancel.clone());
    assert!(matches!(deltas.recv().await, Some(Ok(Delta::Retrying { delay_ms: 60_000, .. }))));
    cancel.cancel();
    assert_eq!(deltas.recv().await.unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(server.seen().len(), 1, "nothing starts after a cancel");
}

#[tokio::test]
async fn a_key_with_a_line_break_is_refused_without_showing_it() {
    let env = [("ANTHROPIC_API_KEY", "abc\ndef-hidden"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    let model = crate::catalog(&env, limits()).open(MODEL).unwrap();
    let error = stream(&*model, hello()).await.pop().unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert!(!error.to_string().contains("hidden"));
}
