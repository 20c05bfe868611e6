//! Patterns: tables for what matches and what is said when not, properties for the rest.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn check(pattern: &str, value: &Value) -> Result<(), String> {
    let pattern = Pattern::parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    matches(&pattern, value, &mut Bindings::new()).map_err(|mismatch| mismatch.to_string())
}

#[test]
fn fitting_values() {
    for (pattern, value) in [
        (r"...", json!({"a": 1})),
        (r"{...}", json!({})),
        (r#"{"a":1,...}"#, json!({"a": 1, "b": 2})),
        (r#"{..., "a":...}"#, json!({"a": [1], "b": 2})),
        (r#"{"a":$_}"#, json!({"a": null})),
        (r#"{"a":"$x","b":$x}"#, json!({"a": "7", "b": "7"})),
        (r#"{"a":$x,"b":"id-${x}."}"#, json!({"a": 7, "b": "id-7."})),
        (r#"{"a":$x,"b":$x}"#, json!({"a": 1, "b": 1.0})),
        ("[...]", json!([])),
        ("[1,...]", json!([1, 2, 3])),
        ("[...,3]", json!([1, 2, 3])),
        ("[...,2,...]", json!([1, 2, 3])),
        (r#"[...,{"k":$a},{"k":$a},...]"#, json!([{"k": 1}, {"k": 2}, {"k": 2}])),
        ("[$_,$_]", json!([1, [2]])),
        (r#"~"run-*-end""#, json!("run-1-2-end")),
        (r#"~"*""#, json!("")),
        (r#"~"a\\*b*""#, json!("a*bc")),
        ("1.0", json!(1)),
        ("1e2", json!(100)),
        ("100", json!(1e2)),
        ("18446744073709551615", json!(u64::MAX)),
        (r#""\u0024x \ud83d\ude00\n""#, json!("$x 😀\n")),
        (r#""$HOME""#, json!("$HOME")),
        (r#""...""#, json!("...")),
        ("{\n \"a\" : [ 1 ,\r\n 2 ]\t}", json!({"a": [1, 2]})),
    ] {
        assert_eq!(check(pattern, &value), Ok(()), "{pattern} on {value}");
    }
}

#[test]
fn mismatches_say_where_and_what() {
    for (pattern, value, said) in [
        ("1", json!(2), "at the top: expected 1, got 2"),
        ("1", json!("1"), r#"at the top: expected 1, got "1""#),
        (
            "9007199254740993",
            json!(9007199254740992.0),
            "at the top: expected 9007199254740993, got 9007199254740992.0",
        ),
        (
            r#"{"result":{"status":"ready",...}}"#,
            json!({"result": {"status": "busy", "x": 1}}),
            r#"/result/status: expected "ready", got "busy""#,
        ),
        (r#"{"a":1}"#, json!({"b": 1}), r#"at the top: expected member "a": 1, got no such member among b"#),
        (
            r#"{"a":1}"#,
            json!({"a": 1, "b": 2}),
            r#"at the top: expected no more members (`...` would allow them), got member "b": 2"#,
        ),
        (r#"{"a/b":[0,{"~":1}]}"#, json!({"a/b": [0, {"~": 2}]}), "/a~1b/1/~0: expected 1, got 2"),
        ("[1,2]", json!([1]), "at the top: expected 2 elements, got 1: [1]"),
        ("[...,1,2]", json!([1]), "at the top: expected at least 2 elements, got 1: [1]"),
        ("[...,9,...]", json!([1]), "at the top: expected [9] somewhere from element 0 on, got [1]"),
        (r#"["$x","$x"]"#, json!(["a", "b"]), r#"/1: expected "a" ($x from before), got "b""#),
        (
            r#""at ${x}""#,
            json!("at 1"),
            r#"at the top: expected "at ${x}" (where $x is not bound yet), got "at 1""#,
        ),
        (r#"~"a*""#, json!("b"), r#"at the top: expected ~"a*", got "b""#),
        ("null", json!(false), "at the top: expected null, got false"),
    ] {
        assert_eq!(check(pattern, &value), Err(said.to_owned()), "{pattern} on {value}");
    }
}

#[test]
fn a_failed_match_binds_nothing_and_a_good_one_does() {
    let mut bindings = Bindings::new();
    let pattern = Pattern::parse(r#"{"id":"$id","ok":true}"#).unwrap();
    matches(&pattern, &json!({"id": "a", "ok": false}), &mut bindings).unwrap_err();
    assert_eq!(bindings, Bindings::new());
    matches(&pattern, &json!({"id": "b", "ok": true}), &mut bindings).unwrap();
    assert_eq!(bindings.get("id"), Some(&json!("b")));
}

#[test]
fn refused_texts() {
    for (text, said) in [
        ("", "expected a JSON value, `...` or `$name`, found the end (at byte 0)"),
        ("{\"a\":1", "expected `,` or `}`, found the end (at byte 6)"),
        ("{\"a\" 1}", "expected `:` after \"a\", found '1' (at byte 5)"),
        ("{a:1}", "expected a member name in quotes, found 'a' (at byte 1)"),
        ("{\"a\":1,\"a\":2}", "member \"a\" stands twice; to send such a line, use `!` (at byte 7)"),
        ("[1,]", "expected a JSON value, `...` or `$name`, found ']' (at byte 3)"),
        ("\"a\nb\"", "this string is not closed on its line (at byte 0)"),
        ("\"a", "this string is not closed (at byte 0)"),
        (r#""\x""#, "unknown escape in a string; a backslash is written `\\\\` (at byte 1)"),
        (r#""\ud800""#, "half of a surrogate pair in a string (at byte 1)"),
        (r#""\u+123""#, "`\\u` needs four hex digits (at byte 1)"),
        ("01", "the value ended before '1' (at byte 1)"),
        ("1.", "not a JSON number (at byte 0)"),
        ("$Run", "a name is lower-case letters, digits and `_`, at most 64: `$run_id` (at byte 0)"),
        ("~5", "expected a string after `~` (at byte 1)"),
        ("1 2", "the value ended before '2' (at byte 2)"),
    ] {
        assert_eq!(Pattern::parse(text).unwrap_err().to_string(), said, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(Pattern::parse(&deep).unwrap_err().what.contains("128 levels"));
    assert!(Pattern::parse_literal("{...}").is_err());
}

#[test]
fn templates() {
    let mut bindings = Bindings::new();
    bindings.bind("run", json!("r-9"));
    bindings.bind("seq", json!(4));
    let mut fill = |text: &str, missing| {
        Pattern::parse(text).unwrap().fill(&mut bindings, missing).map_err(|error| error.to_string())
    };
    let text = r#"{"z":"$run","a":$seq,"t":"${run}/${seq}","n":1.50,"l":[1,...],...}"#;
    assert_eq!(fill(text, Missing::Refuse).unwrap(), r#"{"z":"r-9","a":4,"t":"r-9/4","n":1.50,"l":[1]}"#);
    assert_eq!(
        fill("[$new]", Missing::Refuse).unwrap_err(),
        "$new is not bound by an earlier line; for a literal dollar write \\u0024"
    );
    assert_eq!(
        fill(r#"{"a":...}"#, Missing::Refuse).unwrap_err(),
        "... stands for many values; a line that is sent must name one"
    );
    assert_eq!(
        fill(r#"[$new,"<${new}>",$_,~"a*c"]"#, Missing::Invent).unwrap(),
        r#"["new-1","<new-1>",null,"ac"]"#
    );
}

#[test]
fn adapting_keeps_what_still_matches() {
    let mut bindings = Bindings::new();
    bindings.bind("run", json!("run-0123"));
    for (pattern, value, adapted) in [
        (r#"{"id":"$id","n":1,"gone":2,...}"#, json!({"id": 5, "n": 2, "x": 3}), r#"{"id":"$id","n":2,...}"#),
        (r#"{"a":1}"#, json!({"a": 1, "r": "run-0123"}), r#"{"a":1,"r":"$run"}"#),
        (
            r#"{"l":["$_",{"a":...,"b":1}]}"#,
            json!({"l": [1, {"a": 2, "b": 2}]}),
            r#"{"l":[$_,{"a":...,"b":2}]}"#,
        ),
        (r#"{"r":"$run"}"#, json!({"r": "other"}), r#"{"r":"other"}"#),
        (r"[...,1]", json!([2]), "[2]"),
    ] {
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(pattern.adapt(&value, &bindings).to_string(), adapted);
    }
}

/// Any JSON value, with strings that look like the notation's own signs among them.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        r"[$a{}~*\\.b]{0,8}",
        Just("$a".to_owned()),
        Just("${a}".to_owned()),
        Just("...".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Any pattern as the parser would build it.
pub(crate) fn any_pattern() -> impl Strategy<Value = Pattern> {
    let name = "[a-z][a-z0-9_]{0,5}";
    let piece = prop_oneof![r"[$a{}~\PC]{0,6}".prop_map(Piece::Plain), name.prop_map(Piece::Name)];
    let leaf = prop_oneof![
        Just(Pattern::Anything),
        name.prop_map(Pattern::Name),
        any_json().prop_map(|value| Pattern::literal(&value)),
        prop::collection::vec(piece, 0..4).prop_map(|pieces| Pattern::Text(Text::from_pieces(pieces))),
        any::<String>().prop_map(|source| Pattern::Glob(Glob::new(&source))),
        r"[*a\\]{0,6}".prop_map(|source| Pattern::Glob(Glob::new(&source))),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let item = prop_oneof![3 => inner.clone().prop_map(Item::One), 1 => Just(Item::Rest)];
        prop_oneof![
            prop::collection::vec(item, 0..5).prop_map(|mut items| {
                items.dedup_by(|a, b| *a == Item::Rest && *b == Item::Rest);
                Pattern::Array(items)
            }),
            (prop::collection::btree_map(any::<String>(), inner, 0..5), any::<bool>()).prop_map(
                |(members, open)| Pattern::Object(Object { members: members.into_iter().collect(), open })
            ),
        ]
    })
}

/// Removes members by the bits of a mask and opens every object that lost one.
fn thin(value: &Value, mask: &mut impl Iterator<Item = bool>) -> Pattern {
    match value {
        Value::Object(members) => {
            let kept: Vec<_> = members.iter().filter(|_| mask.next().unwrap_or(true)).collect();
            let open = kept.len() < members.len();
            let members = kept.into_iter().map(|(key, value)| (key.clone(), thin(value, mask))).collect();
            Pattern::Object(Object { members, open })
        }
        Value::Array(items) => {
            let mut thinned = Vec::new();
            for item in items {
                if mask.next().unwrap_or(true) {
                    thinned.push(Item::One(thin(item, mask)));
                } else if thinned.last() != Some(&Item::Rest) {
                    thinned.push(Item::Rest);
                }
            }
            Pattern::Array(thinned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Pattern::literal(value),
    }
}

proptest! {
    #[test]
    fn any_json_matches_itself(value in any_json()) {
        prop_assert_eq!(check(&value.to_string(), &value), Ok(()));
        prop_assert_eq!(matches(&Pattern::literal(&value), &value, &mut Bindings::new()), Ok(()));
        let literal = Pattern::parse_literal(&value.to_string()).unwrap();
        prop_assert_eq!(literal, Pattern::literal(&value));
    }

    #[test]
    fn thinned_json_still_matches(value in any_json(), mask in prop::collection::vec(any::<bool>(), 64)) {
        let pattern = thin(&value, &mut mask.into_iter());
        prop_assert_eq!(check(&pattern.to_string(), &value), Ok(()));
    }

    #[test]
    fn printing_and_parsing_agree(pattern in any_pattern()) {
        let text = pattern.to_string();
        prop_assert!(!text.contains('\n'));
        prop_assert_eq!(Pattern::parse(&text), Ok(pattern));
    }

    #[test]
    fn arbitrary_text_never_panics(text in prop_oneof![any::<String>(), r#"[\[\]{}":,.$~a0\\u]{0,40}"#], value in any_json()) {
        if let Ok(pattern) = Pattern::parse(&text) {
            let _ = matches(&pattern, &value, &mut Bindings::new());
            prop_assert_eq!(Pattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }

    #[test]
    fn matching_any_value_leaves_bindings_on_failure(pattern in any_pattern(), value in any_json()) {
        let mut bindings = Bindings::new();
        if matches(&pattern, &value, &mut bindings).is_err() {
            prop_assert_eq!(bindings, Bindings::new());
        }
    }

    #[test]
    fn a_literal_fills_to_its_value(value in any_json()) {
        let text = Pattern::literal(&value).fill(&mut Bindings::new(), Missing::Refuse).unwrap();
        prop_assert_eq!(text, value.to_string());
    }

    #[test]
    fn an_adapted_pattern_matches(pattern in any_pattern(), value in any_json()) {
        let adapted = pattern.adapt(&value, &Bindings::new());
        prop_assert_eq!(matches(&adapted, &value, &mut Bindings::new()), Ok(()));
    }
}
