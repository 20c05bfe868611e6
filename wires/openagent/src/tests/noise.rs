//! Whatever comes over the wire, in whatever order: nothing panics, every request is answered once, every stream is closed once.

use super::{by_the_book, query, ui_by_the_book};
use domain::command::{Refusal, RefusalKind};
use domain::event::Outcome;
use proptest::prelude::*;
use serde_json::{Value, json};

const METHODS: &[&str] = &[
    "initialize",
    "agent.query",
    "agent.cancel",
    "tool.approve",
    "context.update",
    "session.save",
    "session.load",
    "session.list",
    "session.export",
    "session.delete",
    "stream.token",
    "stream.tokens",
    "stream.block",
    "stream.complete",
    "stream.error",
    "tool.request_approval",
    "tool.progress",
    "tool.complete",
    "tool.result",
    "agent.thinking",
    "suggestion.inline",
    "nope",
];

const NAMES: &[&str] = &[
    "message",
    "query_id",
    "execution_id",
    "approved",
    "options",
    "session_id",
    "path",
    "format",
    "limit",
    "context",
    "token",
    "content",
    "tokens",
    "block",
    "type",
    "status",
    "error",
    "tool",
    "preview",
    "progress",
    "result",
    "timeout",
    "metadata",
    "risk_level",
    "thought",
    "reason",
    "cwd",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(
            &["q-1", "q-9", "exec-1", "success", "code", "error", "sess-0123abcd", "x", ""][..]
        )
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..4).prop_map(|members| {
                Value::Object(members.into_iter().map(|(n, v)| (n.to_owned(), v)).collect())
            }),
        ]
    })
}

fn line() -> impl Strategy<Value = String> {
    let params = prop::collection::vec((prop::sample::select(NAMES), value()), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().map(|(n, v)| (n.to_owned(), v)).collect()));
    let call = (prop::sample::select(METHODS), prop::option::of(0u32..6), params).prop_map(
        |(method, id, params)| match id {
            Some(id) => json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}).to_string(),
            None => json!({"jsonrpc":"2.0","method":method,"params":params}).to_string(),
        },
    );
    let answer =
        (0u32..6, value()).prop_map(|(id, v)| json!({"jsonrpc":"2.0","id":id,"result":v}).to_string());
    prop_oneof![6 => call, 2 => answer, 1 => "[{}\\[\\]\":,a-z0-9]{0,20}"]
}

proptest! {
    #![proptest_config(testkit::cases(96))]

    #[test]
    fn a_runtime_answers_every_request_once(lines in prop::collection::vec(line(), 0..40)) {
        let mut bench = by_the_book();
        query(&mut bench);
        bench.sent();
        for line in &lines {
            bench.say(line);
        }
        for (ticket, ..) in bench.commands() {
            bench.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, "no")));
        }
        bench.end(Outcome::Done);
        for (ticket, ..) in bench.commands() {
            bench.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, "no")));
        }
        let request = |line: &&String| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            value["method"].is_string() && value["id"].is_number()
        };
        let sent = bench.sent();
        let answered = sent.iter().filter(|line| line["id"].is_number()).count();
        prop_assert_eq!(answered, lines.iter().filter(request).count(), "{:?}", sent);
        let ends = sent.iter().filter(|l| l["method"] == "stream.complete" && l["params"]["query_id"] == "q-1").count();
        prop_assert_eq!(ends, 1);
    }

    #[test]
    fn a_ui_keeps_its_session_in_order(lines in prop::collection::vec(line(), 0..40)) {
        // The bench watches the grammar; a prompt is settled exactly once.
        let mut bench = ui_by_the_book();
        let ticket = bench.prompt("go");
        for line in &lines {
            bench.hear(line);
        }
        bench.gone();
        prop_assert!(bench.settlement(ticket).is_some());
        prop_assert!(bench.settlement(ticket).is_none());
    }
}
