//! What fields become, and which answers fit them.

use super::*;
use serde_json::json;

fn form(schema: &Value) -> Vec<Field> {
    fields("Tell me", schema, &[]).unwrap()
}

fn one(field: Value, required: bool) -> Field {
    let required = if required { vec!["x"] } else { vec![] };
    form(&json!({"properties": {"x": field}, "required": required})).remove(0)
}

fn wrote(text: &str) -> Answer {
    Answer::Entered(text.to_owned())
}

fn chose(ids: &[&str]) -> Answer {
    Answer::Chosen(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn lines(field: &Field) -> Vec<(&str, &str)> {
    let AskKind::Choose { choices, .. } = &field.kind else { panic!() };
    choices.iter().map(|choice| (choice.id.as_str(), choice.label.as_str())).collect()
}

#[test]
fn every_kind_of_field_becomes_a_question() {
    let schema = json!({"type": "object", "required": ["a", "d", "e"], "properties": {
        "a": {"type": "string", "title": "Name"},
        "b": {"type": "integer", "default": 3},
        "c": {"type": "boolean"},
        "d": {"type": "string", "enum": ["x", "y"], "enumNames": ["The X"]},
        "e": {"type": "array", "items": {"anyOf": [{"const": "p", "title": "P!"}, {"const": "q"}]}},
        "f": {"type": "number"},
    }});
    let fields = form(&schema);
    let AskKind::Text { message, .. } = &fields[0].kind else { panic!() };
    assert_eq!(message, "Tell me\nName");
    let AskKind::Text { default, message, .. } = &fields[1].kind else { panic!() };
    assert_eq!((default.as_deref(), message.as_str()), (Some("3"), "Tell me\n(left empty: 3)"));
    assert_eq!(lines(&fields[3]), [("x", "The X"), ("y", "y")]);
    assert_eq!(lines(&fields[4]), [("p", "P!"), ("q", "q")]);
    let table = [
        (0, wrote("  "), Err("something must be written")),
        (0, wrote("Ann"), Ok(Some(json!("Ann")))),
        (1, wrote(" 12 "), Ok(Some(json!(12)))),
        (1, wrote("1.5"), Err("it must be a whole number")),
        (2, Answer::Confirmed(false), Ok(Some(json!(false)))),
        (3, chose(&["y"]), Ok(Some(json!("y")))),
        (3, chose(&["The X"]), Err("The X is not in the list")),
        (3, chose(&["x", "y"]), Err("only one can be chosen")),
        (3, chose(&[]), Err("one must be chosen")),
        (3, wrote("x"), Err("this is no answer to it")),
        (4, chose(&["p", "q"]), Ok(Some(json!(["p", "q"])))),
        (4, chose(&["p", "z"]), Err("z is not in the list")),
        (4, chose(&[]), Ok(Some(json!([])))),
        (5, wrote("1.5"), Ok(Some(json!(1.5)))),
        (5, wrote(""), Ok(None)),
        (5, wrote("NaN"), Err("it must be a number")),
        (5, Answer::Confirmed(true), Err("this is no answer to it")),
    ];
    for (at, answer, want) in table {
        assert_eq!(fields[at].read(&answer), want.map_err(str::to_owned), "{answer:?}");
    }
}

#[test]
fn fields_come_in_the_servers_order() {
    let schema = json!({"properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
    }});
    let order = ["c", "gone", "a"].map(str::to_owned);
    let names: Vec<String> =
        fields("m", &schema, &order).unwrap().into_iter().map(|field| field.name).collect();
    assert_eq!(names, ["c", "a", "b"], "what the order does not name is not lost");
}

#[test]
fn a_default_counts_where_nothing_was_said() {
    let text = one(json!({"type": "string", "default": "blue"}), true);
    assert_eq!(text.read(&wrote("")), Ok(Some(json!("blue"))));
    assert_eq!(text.read(&wrote("red")), Ok(Some(json!("red"))));
    let number = one(json!({"type": "number", "default": 95.5}), false);
    assert_eq!(number.read(&wrote(" ")), Ok(Some(json!(95.5))));
    let flag = one(json!({"type": "boolean", "default": true}), false);
    let AskKind::Confirm { message, .. } = &flag.kind else { panic!() };
    assert!(message.ends_with("(suggested: yes)"), "{message}");
    // Enter takes the first line.
    let state = json!({"oneOf": [{"const": "a", "title": "Active"}, {"const": "none", "title": "N"}], "default": "a"});
    let state = one(state, true);
    assert_eq!(lines(&state), [("none_", "as suggested: Active"), ("a", "Active"), ("none", "N")]);
    assert_eq!(state.read(&chose(&["none_"])), Ok(Some(json!("a"))));
    assert_eq!(state.read(&chose(&["none"])), Ok(Some(json!("none"))));
    let many = json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "default": ["a", "c"]});
    let many = one(many, false);
    assert_eq!(lines(&many)[0], ("none", "as suggested: a, c"));
    assert_eq!(many.read(&chose(&["none"])), Ok(Some(json!(["a", "c"]))));
    assert_eq!(many.read(&chose(&["none", "b"])), Ok(Some(json!(["b"]))));
}

#[test]
fn what_may_be_left_empty_can_be() {
    let state = one(json!({"enum": ["a", "b"]}), false);
    assert_eq!(lines(&state), [("a", "a"), ("b", "b"), ("none", "leave it empty")]);
    assert_eq!(state.read(&chose(&["none"])), Ok(None));
    let few = json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2});
    let few = one(few, false);
    assert_eq!(few.read(&chose(&["none"])), Ok(None));
    assert_eq!(few.read(&chose(&[])), Err("it must be at least 1".to_owned()));
    assert_eq!(few.read(&chose(&["a", "b", "c"])), Err("it must be at most 2".to_owned()));
    let AskKind::Choose { message, .. } = &few.kind else { panic!() };
    assert!(message.ends_with("(choose 1 to 2)"), "{message}");
}

#[test]
fn a_default_that_does_not_fit_its_own_field_is_none() {
    for (field, answer) in [
        (json!({"type": "string", "format": "date", "default": "tomorrow"}), wrote("")),
        (json!({"type": "string", "minLength": 5, "default": "abc"}), wrote("")),
        (json!({"type": "integer", "maximum": 3, "default": 4}), wrote("")),
        (json!({"enum": ["a"], "default": "b"}), chose(&[])),
    ] {
        let field = one(field, true);
        assert!(field.read(&answer).is_err(), "{field:?}");
        assert!(matches!(&field.kind, AskKind::Choose { .. } | AskKind::Text { default: None, .. }));
    }
}

#[test]
fn what_did_not_fit_stands_in_the_field_again_unless_it_is_a_secret() {
    let default = |field: &Field| match &field.kind {
        AskKind::Text { default, .. } => default.clone(),
        _ => panic!(),
    };
    let mut date = one(json!({"type": "string", "format": "date"}), true);
    date.put_back(&wrote("2026-31-01"));
    assert_eq!(default(&date).as_deref(), Some("2026-31-01"));
    let mut pin = one(json!({"type": "string", "title": "PIN", "minLength": 4}), true);
    pin.put_back(&wrote("12"));
    assert_eq!(default(&pin), None);
}

#[test]
fn fields_for_secrets_are_hidden() {
    let secret = |name: &str, field: Value| {
        let schema = json!({"properties": {name: field}});
        matches!(form(&schema)[0].kind, AskKind::Text { secret: true, default: None, .. })
    };
    let plain = || json!({"type": "string", "default": "x"});
    for name in ["password", "db_password", "API key", "api-key", "githubToken", "PIN", "clientSecret"] {
        assert!(secret(name, plain()), "{name}");
    }
    for name in ["name", "tokens", "spinning", "keyboard"] {
        assert!(!secret(name, plain()), "{name}");
    }
    assert!(secret("x", json!({"type": "string", "format": "password"})));
    assert!(!secret("x", json!({"type": "integer", "title": "Your pins"})));
    assert!(secret("x", json!({"type": "string", "title": "Pass phrase"})));
}

#[test]
fn what_is_no_form_is_declined() {
    for odd in [
        json!({"properties": {"a": {"type": "object"}}}),
        json!({"properties": {"a": {}}}),
        json!({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}),
        json!({"properties": (0..=MAX_FIELDS).map(|n| (n.to_string(), json!({"type": "string"}))).collect::<Map<_, _>>()}),
    ] {
        assert_eq!(fields("m", &odd, &[]), None, "{odd}");
    }
    assert_eq!(fields("m", &Value::Null, &[]), Some(Vec::new()));
}
