//! Tables for the notation, and what a played script looks like.

use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::ChatMessage;

fn cues(line: &str) -> String {
    match parse_line(line) {
        Ok(cues) => cues.iter().map(|cue| format!("{cue:?}\n")).collect(),
        Err(what) => format!("error: {what}\n"),
    }
}

async fn played(model: &Scripted) -> Vec<Result<Delta, ModelError>> {
    let mut deltas = model.stream(Request::default(), CancellationToken::new());
    let mut all = Vec::new();
    while let Some(delta) = deltas.recv().await {
        all.push(delta);
    }
    all
}

#[test]
fn every_cue_is_read() {
    let lines = [
        r#"model text "To | \"opt\"" | thought "hm"|tool read {"path":"a | b"} | error"#,
        r#"model tool ls | tool read#c9 {"a":[1]} | tool bash "not {json""#,
        "model usage in=10 out=5 cache_read=1 cache_write=2 reasoning=3 | end",
        r#"model pause 30s | pause 50ms | pause forever | retry 2/4 1s "busy" | end length"#,
        r#"model error rate_limited "slow down""#,
        "model step",
    ];
    expect![[r#"
        Text("To | \"opt\"")
        Thought("hm")
        Tool { id: None, name: "read", args: Parsed(Object {"path": String("a | b")}) }
        Error(Overloaded, "the script says so")
        Tool { id: None, name: "ls", args: Parsed(Object {}) }
        Tool { id: Some("c9"), name: "read", args: Parsed(Object {"a": Array [Number(1)]}) }
        Tool { id: None, name: "bash", args: Unparsed("not {json") }
        Usage(Usage { input: 10, output: 5, cache_read: 1, cache_write: 2, reasoning: 3 })
        End(None)
        Pause(Some(30s))
        Pause(Some(50ms))
        Pause(None)
        Retry { attempt: 2, max: 4, delay: 1s, reason: "busy" }
        End(Some(Length))
        Error(RateLimited, "slow down")
        Step
    "#]]
    .assert_eq(&lines.map(cues).concat());
}

#[test]
fn bad_lines_say_what_was_expected() {
    let lines = [
        "text \"x\"",
        "model",
        "model sing \"la\"",
        "model text x",
        "model text 5",
        "model text \"a\" text \"b\"",
        "model tool",
        "model tool a# {}",
        "model usage in=x",
        "model usage tea=1",
        "model pause 3",
        "model pause 99999999999999999999s",
        "model error odd",
        "model retry 2 1s",
        "model text \"a\" |",
    ];
    expect![[r#"
        error: expected `model`, found `text`
        error: expected a cue: text, thought, tool, usage, pause, retry, error, end or step
        error: unknown cue `sing`; known are text, thought, tool, usage, pause, retry, error, end and step
        error: bad JSON: expected value at line 1 column 1
        error: expected a JSON string in double quotes, found 5
        error: expected `|` or the end of the line, found `text "b"`
        error: expected a tool's name after `tool`
        error: expected NAME#ID, found `a#`
        error: `x` is not a count of tokens
        error: unknown count `tea`; known are in, out, cache_read, cache_write and reasoning
        error: expected a time such as 50ms, 30s or 2m (at most a day), found `3`
        error: expected a time such as 50ms, 30s or 2m (at most a day), found `99999999999999999999s`
        error: unknown error `odd`; known are auth, rate_limited, overloaded, context_overflow, bad_request, network, cut, empty, timeout, stall and protocol
        error: expected ATTEMPT/MAX, found `2`
        error: expected a cue: text, thought, tool, usage, pause, retry, error, end or step
    "#]]
    .assert_eq(&lines.map(cues).concat());
    let error = parse("# head\n\nmodel text \"a\"\nmodel oops").unwrap_err();
    assert_eq!(error.line, 4);
    assert!(error.to_string().starts_with("line 4: unknown cue `oops`"));
}

#[test]
fn responses_are_cut_at_steps_ends_and_errors() {
    let table = [
        ("", 0),
        ("---\n---", 0),
        ("model text \"a\"\nmodel text \"b\"", 1),
        ("model text \"a\"\n---\nmodel text \"b\"", 2),
        ("model text \"a\" | end\nmodel step\nmodel text \"b\" | error\nmodel text \"c\"", 3),
        ("model end\nmodel end", 2),
    ];
    for (text, want) in table {
        assert_eq!(parse(text).unwrap().len(), want, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_plays_response_by_response() {
    let model = Scripted::parse(
        "model thought \"hm\" | text \"To\" | tool read {\"path\":\"a\"} | tool ls | usage in=3 out=4\n\
         ---\nmodel text \"half\" | pause 30s | error overloaded \"busy\"",
    )
    .unwrap();
    let call = |id: &str, name: &str, args: &str| {
        let (id, name) = (id.to_owned(), name.to_owned());
        ToolCall { id, name, args: ToolArgs::read(args) }
    };
    let first: Vec<Delta> = played(&model).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(
        first,
        [
            Delta::Thought("hm".into()),
            Delta::Text("To".into()),
            Delta::ToolCallStart { index: 0, id: "call_1".into(), name: "read".into() },
            Delta::ToolCallArgs { index: 0, fragment: "{\"path\":\"a\"}".into() },
            Delta::ToolCall(call("call_1", "read", "{\"path\":\"a\"}")),
            Delta::ToolCallStart { index: 1, id: "call_2".into(), name: "ls".into() },
            Delta::ToolCallArgs { index: 1, fragment: "{}".into() },
            Delta::ToolCall(call("call_2", "ls", "")),
            Delta::Usage(Usage { input: 3, output: 4, ..Usage::default() }),
            Delta::Done { stop: StopReason::ToolUse },
        ]
    );
    let second = played(&model).await;
    assert_eq!(second[0], Ok(Delta::Text("half".into())));
    assert_eq!(second[1].as_ref().unwrap_err().to_string(), "scripted/scripted: overloaded: busy");
    let third = played(&model).await;
    assert_eq!(third[0], Ok(Delta::Text(SCRIPT_ENDED.into())));
    assert_eq!(third[1], Ok(Delta::Done { stop: StopReason::EndTurn }));
    assert_eq!((model.seen().len(), model.remaining()), (3, 0));
}

#[tokio::test]
async fn cancel_ends_a_pause_at_once_and_keeps_what_arrived() {
    let model: Arc<dyn Model> =
        Arc::new(Scripted::parse("model text \"a\" | pause forever | text \"b\"").unwrap());
    let cancel = CancellationToken::new();
    let request = Request { messages: vec![ChatMessage::user("hi")], ..Request::default() };
    let mut deltas = model.stream(request, cancel.clone());
    assert_eq!(deltas.recv().await, Some(Ok(Delta::Text("a".into()))));
    cancel.cancel();
    let last = deltas.recv().await.unwrap().unwrap_err();
    assert_eq!(last.kind, ErrorKind::Cancelled);
    assert_eq!(deltas.recv().await, None);
}

proptest! {
    #[test]
    fn no_text_panics_the_parser(text in "\\PC*") {
        let _ = parse(&text);
        let _ = parse_line(&format!("model {text}"));
        for verb in ["text", "tool", "usage", "pause", "retry", "error", "end"] {
            let _ = parse_line(&format!("model {verb} {text}"));
        }
    }

    #[test]
    fn any_text_survives_quoting(text in any::<String>()) {
        let line = format!("model text {} | thought \"x\"", serde_json::to_string(&text).unwrap());
        let cues = parse_line(&line).unwrap();
        prop_assert_eq!(cues, vec![Cue::Text(text), Cue::Thought("x".into())]);
    }
}
