//! No event panics a reader, whatever a server sends; and once a response is done it stays done.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const WIRES: [Wire; 4] =
    [Wire::Anthropic, Wire::OpenAiChat { official: false }, Wire::OpenAiResponses, Wire::Gemini];

/// Words of all wires, so that random JSON gets past the first match.
const WORDS: [&str; 40] = [
    "type",
    "index",
    "delta",
    "content_block",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_start",
    "message_delta",
    "message",
    "usage",
    "input_tokens",
    "thinking",
    "signature",
    "tool_use",
    "text",
    "partial_json",
    "id",
    "name",
    "input",
    "choices",
    "tool_calls",
    "function",
    "arguments",
    "finish_reason",
    "content",
    "refusal",
    "item",
    "output_index",
    "function_call",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "thoughtSignature",
    "reasoning",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0u64..3).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_event_is_survived(events in prop::collection::vec((word(), any_json()), 0..12)) {
        for wire in WIRES {
            let mut reader = wire.reader();
            let mut out = Vec::new();
            for (name, value) in &events {
                let event = sse::Event { name: name.clone(), data: value.to_string() };
                let _ = reader.read(&event, &mut out);
            }
            reader.closed(&mut out);
            let ends = out.iter().filter(|delta| matches!(delta, Delta::Done { .. })).count();
            prop_assert_eq!(ends, 0, "the end is said by the caller, once");
        }
    }

    #[test]
    fn any_refusal_is_survived(status in any::<u16>(), body in any_json(), text in any::<String>()) {
        let _ = failure(status, &body.to_string());
        let _ = failure(status, &json!({ "error": body }).to_string());
        let _ = failure(status, &text);
    }
}

#[test]
fn half_a_character_in_an_answer_is_a_mark_on_every_wire() {
    for (wire, data) in [
        (
            Wire::Anthropic,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi \ud83d"}}"#,
        ),
        (Wire::OpenAiChat { official: false }, r#"{"choices":[{"delta":{"content":"hi \ud83d"}}]}"#),
        (Wire::OpenAiResponses, r#"{"type":"response.output_text.delta","delta":"hi \ud83d"}"#),
        (Wire::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"hi \ud83d"}]}}]}"#),
    ] {
        let mut out = Vec::new();
        let event = sse::Event { name: String::new(), data: data.to_owned() };
        wire.reader().read(&event, &mut out).unwrap();
        assert_eq!(out, [Delta::Text("hi \u{fffd}".to_owned())], "{wire:?}");
    }
}
