//! Tables of lines and what they are taken for, and properties of reading and writing.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A short notation of what a line was taken for.
fn seen(text: &str) -> String {
    let raw = |raw: &RawValue| raw.get().to_owned();
    match classify(text) {
        Message::Request { id, method, params } => format!("request {id} {method} {:?}", params.map(raw)),
        Message::Notification { method, params } => format!("notification {method} {:?}", params.map(raw)),
        Message::Response { id, outcome: Ok(result) } => format!("result {id} {result}"),
        Message::Response { id, outcome: Err(error) } => {
            format!("error {id} {error} {:?}", error.data.as_deref().map(raw))
        }
        Message::Invalid { id, why } => {
            let id = id.map_or("-".to_owned(), |id| id.to_string());
            let why = format!("{why:?}");
            format!("invalid {id} {}", why.split('{').next().unwrap_or_default().trim())
        }
    }
}

#[test]
fn lines_are_what_they_are() {
    for (line, want) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#, r#"request 1 a Some("{\"x\":1}")"#),
        (r#"{"id":"1","method":"a"}"#, r#"request "1" a None"#),
        (r#"{"id":1.0,"method":"a","params":null}"#, r#"request 1.0 a Some("null")"#),
        (r#"{"method":"a","params":[]}"#, r#"notification a Some("[]")"#),
        (r#" {"method":"a","extra":{"id":3}} "#, "notification a None"),
        (r#"{"id":1,"method":"a","result":null,"error":null}"#, "request 1 a None"),
        (r#"{"id":1,"result":null}"#, "result 1 null"),
        (r#"{"id":1,"result":{"ok":true},"error":null}"#, r#"result 1 {"ok":true}"#),
        (r#"{"id":1,"result":null,"error":null}"#, "result 1 null"),
        (r#"{"id":7,"result":null,"error":{"code":-1,"message":"no"}}"#, "error 7 no (-1) None"),
        (r#"{"id":7,"error":{"code":-32001.0,"data":[1]}}"#, r#"error 7  (-32001) Some("[1]")"#),
        (r#"{"id":7,"error":{"code":5,"message":{"a":1}}}"#, r#"error 7 {"a":1} (5) None"#),
        (r#"{"id":1,"id":2,"method":"a"}"#, "request 2 a None"),
        (r#"{"\u0069d":1,"method":"\u0061"}"#, "request 1 a None"),
    ] {
        assert_eq!(seen(line), want, "{line}");
    }
}

#[test]
fn a_bad_id_is_never_a_notification() {
    for (line, want) in [
        (r#"{"id":null,"method":"a"}"#, "invalid - BadId(Null)"),
        (r#"{"id":{"a":1},"method":"a"}"#, "invalid - BadId(WrongType)"),
        (r#"{"id":true,"method":"a"}"#, "invalid - BadId(WrongType)"),
        (r#"{"id":1.5,"method":"a"}"#, "invalid - BadId(NotWhole)"),
        (r#"{"id":[],"method":"a"}"#, "invalid - BadId(WrongType)"),
    ] {
        assert_eq!(seen(line), want, "{line}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (line, want) in [
        ("[]", "invalid - Batch"),
        (r#"[{"id":1,"method":"a"}]"#, "invalid - Batch"),
        ("null", "invalid - NotObject"),
        ("\"a\"", "invalid - NotObject"),
        ("{}", "invalid - NoMethod"),
        (r#"{"id":4}"#, "invalid 4 NoMethod"),
        (r#"{"id":4,"method":5}"#, "invalid 4 BadMethod"),
        (r#"{"id":4,"method":null}"#, "invalid 4 BadMethod"),
        (r#"{"id":4,"method":"a","result":1}"#, "invalid 4 MethodAndOutcome"),
        (r#"{"id":4,"result":1,"error":{"code":1,"message":""}}"#, "invalid 4 BothResultAndError"),
        (r#"{"id":4,"error":null}"#, "invalid 4 BadError"),
        (r#"{"id":4,"error":"broken"}"#, "invalid 4 BadError"),
        (r#"{"id":4,"error":{"message":"no code"}}"#, "invalid 4 BadError"),
        (r#"{"result":1}"#, "invalid - NoId"),
        (r#"{"id":null,"result":1}"#, "invalid - NoId"),
        (r#"{"id":null,"error":{"code":-32700,"message":"bad"}}"#, "invalid - ErrorWithoutId(RpcError"),
        (r#"{"error":{"code":-32700,"message":"bad"}}"#, "invalid - ErrorWithoutId(RpcError"),
    ] {
        assert_eq!(seen(line), want, "{line}");
    }
    for line in [
        "",
        " ",
        "{",
        "[",
        "{]",
        "x",
        r#"{"id":1,"method":"a"} x"#,
        r#"{"id":1 "method":"a"}"#,
        "{\"a\":tru}",
    ] {
        assert!(seen(line).starts_with("invalid - NotJson"), "{line}");
    }
}

#[test]
fn a_mark_of_the_byte_order_is_passed_over() {
    assert_eq!(seen("\u{feff}{\"id\":4}"), "invalid 4 NoMethod");
    assert!(seen("\u{feff}\u{feff}{\"id\":4}").starts_with("invalid - NotJson"));
}

#[test]
fn deep_messages_keep_their_id() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for (line, want) in [
        (format!(r#"{{"id":1,"method":"a","params":{}}}"#, deep(128)), "invalid 1 TooDeep(TooDeep"),
        (format!(r#"{{"id":1,"result":{}}}"#, deep(200_000)), "invalid 1 DeepAnswer(TooDeep"),
        (format!(r#"{{"id":{},"method":"a"}}"#, deep(200)), "invalid - TooDeep(TooDeep"),
        (deep(200_000), "invalid - Batch"),
    ] {
        assert_eq!(seen(&line), want);
    }
    let fits = format!(r#"{{"id":1,"method":"a","params":{}}}"#, deep(127));
    assert!(seen(&fits).starts_with("request 1 a"));
}

#[test]
fn damaged_answers_are_not_answered() {
    let answerable = |line| match classify(line) {
        Message::Invalid { why, .. } => why.answerable(),
        message => panic!("{message:?}"),
    };
    for line in ["x", "[]", r#"{"id":null,"method":"a"}"#, r#"{"id":1}"#] {
        assert!(answerable(line), "{line}");
    }
    for line in [
        r#"{"result":1}"#,
        r#"{"id":1,"error":1}"#,
        r#"{"id":null,"error":{"code":1}}"#,
        r#"{"id":{},"result":1}"#,
    ] {
        assert!(!answerable(line), "{line}");
    }
}

#[test]
fn the_mark_is_reported_and_can_be_demanded() {
    for (line, want) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, Version::Two),
        (r#"{"id":1,"method":"a"}"#, Version::Absent),
        (r#"{"jsonrpc":null,"id":1,"method":"a"}"#, Version::Other),
        (r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, Version::Other),
    ] {
        assert_eq!(inspect(line).version, want);
        match inspect(line).strict() {
            Message::Request { .. } => assert_eq!(want, Version::Two),
            Message::Invalid { id, why: Invalid::WrongVersion } => {
                assert_ne!(want, Version::Two);
                assert_eq!(id, Some(WireId::from(1i64)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn messages_are_written_as_one_line() {
    let id = WireId::from_json("1.0").unwrap();
    assert_eq!(
        request(&id, "run.start", &json!({"text":"a\nb"})),
        r#"{"jsonrpc":"2.0","id":1.0,"method":"run.start","params":{"text":"a\nb"}}"#
    );
    assert_eq!(request(&"x".into(), "m", &()), r#"{"jsonrpc":"2.0","id":"x","method":"m"}"#);
    assert_eq!(notification("m", &[1]), r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#);
    assert_eq!(result(&7i64.into(), &()), r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
    assert_eq!(
        error(None, &RpcError::new(PARSE_ERROR, "bad")),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}"#
    );
    assert_eq!(
        error(Some(&7i64.into()), &RpcError::new(-1, "no").with_data(&json!({"a":1}))),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":{"a":1}}}"#
    );
}

#[test]
fn raw_parts_with_newlines_stay_on_one_line() {
    let raw = RawValue::from_string("{\n  \"a\": [\r\n1]}".to_owned()).unwrap();
    let line = result(&1i64.into(), &raw);
    assert!(!line.contains(['\n', '\r']));
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["result"], json!({"a":[1]}));
}

#[test]
fn what_cannot_be_written_is_said() {
    let bad = BTreeMap::from([(vec![1], 1)]);
    assert!(seen(&result(&1i64.into(), &bad)).starts_with("error 1 the result cannot be written"));
    assert!(request(&1i64.into(), "m", &bad).contains("unwritable"));
}

proptest! {
    #[test]
    fn classify_never_panics(text in ".{0,80}") {
        let _ = classify(&text);
    }

    #[test]
    fn near_messages_never_panic(text in r#"\{("(id|method|params|result|error|jsonrpc)":(1|"a"|null|\{\}|\[|1\.5),?){0,5}\}?"#) {
        let _ = inspect(&text).strict();
    }

    #[test]
    fn a_written_request_reads_back(id in any::<i64>(), method in ".{1,20}", text in ".{0,40}") {
        let line = request(&id.into(), &method, &json!({"text": text}));
        match classify(&line) {
            Message::Request { id: got, method: name, params } => {
                prop_assert_eq!(got, WireId::from(id));
                prop_assert_eq!(name, method);
                let params: Value = serde_json::from_str(params.unwrap().get()).unwrap();
                prop_assert_eq!(&params["text"], &Value::from(text));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
