//! Answers that break off after their first word, on each wire: asked again, unless the provider ran a tool of its own.

use std::time::Duration;

use models::{Delta, ErrorKind, Limits, ModelError, Reply, Usage};

use crate::server::{End, Play, Server, torn};
use crate::{hello, limits, model_at, stream};

/// Samples of one wire.
struct Wire {
    model: &'static str,
    /// Tokens, told at the beginning where the wire does so.
    start: &'static str,
    word: &'static str,
    /// The provider ran a tool of its own.
    tool: &'static str,
    trouble: &'static str,
    end: &'static str,
}

const WIRES: [Wire; 4] = [
    Wire {
        model: "anthropic/claude-sonnet-4-5",
        start: r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        word: r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}"#,
        tool: r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","name":"web_search"}}"#,
        trouble: r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
        end: r#"{"type":"message_stop"}"#,
    },
    Wire {
        model: "vllm/tiny",
        start: r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
        word: r#"{"choices":[{"delta":{"content":"half"}}]}"#,
        tool: r#"{"choices":[{"delta":{"executed_tools":[{"type":"search"}]}}]}"#,
        trouble: r#"{"error":{"message":"busy","code":503}}"#,
        end: "[DONE]",
    },
    Wire {
        model: "openai-responses/gpt-5",
        start: r#"{"type":"response.created","response":{}}"#,
        word: r#"{"type":"response.output_text.delta","delta":"half"}"#,
        tool: r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"web_search_call"}}"#,
        trouble: r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"busy"}}}"#,
        end: r#"{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
    },
    Wire {
        model: "gemini/gemini-2.5-pro",
        start: r#"{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}"#,
        word: r#"{"candidates":[{"content":{"parts":[{"text":"half"}]}}]}"#,
        tool: r#"{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1+1"}}]}}]}"#,
        trouble: r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#,
        end: r#"{"candidates":[{"finishReason":"STOP"}]}"#,
    },
];

fn events(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// What a stream came to.
async fn played(wire: &Wire, plays: Vec<Play>, limits: Limits) -> (Vec<Result<Delta, ModelError>>, usize) {
    let server = Server::start(plays).await;
    let model = model_at(&server.url, wire.model, limits);
    let deltas = stream(&*model, hello()).await;
    let requests = server.seen().len();
    (deltas, requests)
}

/// The kinds of trouble after which the model was asked again, and the answer.
fn summed(deltas: &[Result<Delta, ModelError>]) -> (Vec<ErrorKind>, Reply, Option<ModelError>) {
    let (mut again, mut reply, mut failed) = (Vec::new(), Reply::default(), None);
    for delta in deltas {
        match delta {
            Ok(delta) => {
                if let Delta::Retrying { kind, .. } = delta {
                    again.extend(*kind);
                }
                reply.push(delta.clone());
            }
            Err(error) => failed = Some(error.clone()),
        }
    }
    (again, reply, failed)
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again_and_says_everything_once() {
    for wire in &WIRES {
        let half = || vec![events(&[wire.start, wire.word]).into_bytes()];
        let plays = vec![
            Play::Stream(half(), End::Cut),
            Play::Stream(half(), End::Proper),
            torn(&events(&[wire.start, wire.word, wire.trouble]), 30),
            torn(&events(&[wire.word, wire.end]), 30),
        ];
        let (deltas, requests) = played(wire, plays, limits()).await;
        let (again, reply, failed) = summed(&deltas);
        assert_eq!((requests, failed), (4, None), "{}", wire.model);
        assert_eq!(again, [ErrorKind::Cut, ErrorKind::Cut, ErrorKind::Overloaded], "{}", wire.model);
        assert_eq!(reply.text, "half", "{}", wire.model);
        let first = deltas.iter().position(|delta| matches!(delta, Ok(Delta::Retrying { .. })));
        let said = deltas.iter().position(|delta| *delta == Ok(Delta::Text("half".to_owned())));
        assert!(said < first, "what was said before the cut was handed out at once: {}", wire.model);
    }
}

#[tokio::test]
async fn an_end_without_the_reason_that_was_promised_is_a_cut() {
    let wire = &WIRES[1];
    let promised = r#"{"choices":[{"delta":{"content":"half"},"finish_reason":null}]}"#;
    let reason = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let plays = vec![
        // A gateway that ends in order although what stands behind it broke off.
        torn(&events(&[promised, wire.end]), 30),
        torn(&events(&[promised, reason, wire.end]), 30),
    ];
    let (again, reply, failed) = summed(&played(wire, plays, limits()).await.0);
    assert_eq!((again, failed), (vec![ErrorKind::Cut], None));
    assert_eq!(reply.text, "half");
    // Who never speaks of a reason is taken at its word.
    let (again, reply, failed) =
        summed(&played(wire, vec![torn(&events(&[wire.word, wire.end]), 30)], limits()).await.0);
    assert_eq!((again, failed, reply.text.as_str()), (Vec::new(), None, "half"));
}

#[tokio::test]
async fn tokens_of_an_attempt_that_broke_count() {
    for wire in WIRES.iter().filter(|wire| wire.model != "openai-responses/gpt-5") {
        let plays = vec![
            Play::Stream(vec![events(&[wire.start, wire.word]).into_bytes()], End::Cut),
            torn(&events(&[wire.start, wire.word, wire.end]), 30),
        ];
        let (_, reply, _) = summed(&played(wire, plays, limits()).await.0);
        let one = Usage { input: 3, output: 1, ..Usage::default() };
        assert_eq!((reply.lost, reply.usage), (one, one), "{}", wire.model);
        assert_eq!(reply.spent(), Usage { input: 6, output: 2, ..Usage::default() }, "{}", wire.model);
    }
}

#[tokio::test]
async fn a_stall_after_a_word_is_asked_again_once() {
    for wire in &WIRES {
        let stall = || Play::Stream(vec![events(&[wire.word]).into_bytes()], End::Stall);
        let limits = Limits { idle: Duration::from_millis(60), ..limits() };
        let (deltas, requests) = played(wire, vec![stall(), stall(), stall()], limits).await;
        let (again, _, failed) = summed(&deltas);
        assert_eq!((requests, again.len()), (2, 1), "{}", wire.model);
        assert!(matches!(failed.map(|error| error.kind), Some(ErrorKind::Timeout { .. })), "{}", wire.model);
    }
}

#[tokio::test]
async fn nothing_is_asked_again_after_the_provider_ran_a_tool() {
    for wire in &WIRES {
        let broken = || Play::Stream(vec![events(&[wire.word, wire.tool]).into_bytes()], End::Cut);
        let told = || torn(&events(&[wire.tool, wire.trouble]), 30);
        for play in [broken(), told()] {
            let good = torn(&events(&[wire.word, wire.end]), 30);
            let (deltas, requests) = played(wire, vec![play, good], limits()).await;
            let (again, _, failed) = summed(&deltas);
            assert_eq!((requests, again), (1, vec![]), "{}", wire.model);
            let failed = failed.unwrap();
            assert_eq!(failed.kind, ErrorKind::Cut, "{}", wire.model);
            assert!(!failed.another_may_answer(), "another model would do it again: {}", wire.model);
        }
    }
}

#[tokio::test]
async fn a_server_that_ends_without_a_word_is_told_as_what_it_may_be() {
    for wire in &WIRES {
        let plays = (0..4).map(|_| Play::Stream(vec![], End::Proper)).collect();
        let (deltas, requests) = played(wire, plays, limits()).await;
        let failed = summed(&deltas).2.unwrap();
        assert_eq!((requests, failed.kind), (2, ErrorKind::Empty), "{}", wire.model);
        assert!(failed.hint().contains("window") && !failed.hint().contains("network"), "{}", failed.hint());
    }
}
