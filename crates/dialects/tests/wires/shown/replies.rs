//! What a UI may reply to a question, on every wire whose UI is asked with a request: a reply of another kind never allows anything.

use super::wires::{WIRES, Wire};
use super::*;
use domain::ask::Answer;
use domain::command::Command;
use serde_json::{Value, json};

/// Replies as one wire or another has them, and some that none has.
fn replies() -> Vec<Value> {
    let chosen = |id: &str| json!({"outcome":{"outcome":"selected","optionId":id}});
    let form = |value: Value| json!({"action":"accept","content":{"answer":value}});
    vec![
        json!(true),
        json!(1),
        json!("true"),
        json!("yes"),
        json!("y"),
        json!("allow_once"),
        json!("allow"),
        json!("c0"),
        json!(0),
        json!(["allow_once"]),
        json!(["c0"]),
        json!(["c0", 1]),
        json!([true]),
        json!([["yes"]]),
        json!([["c0"]]),
        json!([{"outcome":"selected","optionId":"allow_once"}]),
        json!(["accept", {"answer":"yes"}]),
        json!({}),
        json!({"ok":true}),
        json!({"ok":"true"}),
        json!({"ok":1}),
        json!({"ids":["yes"]}),
        json!({"ids":"yes"}),
        json!({"ids":["yes","no"]}),
        json!({"ids":["c0"]}),
        json!({"ids":["c9"]}),
        json!({"value":"text"}),
        json!({"value":true}),
        json!({"result":true}),
        json!({"approved":true}),
        chosen("allow_once"),
        chosen("yes"),
        json!({"outcome":"selected"}),
        json!({"outcome":{"optionId":"allow_once"}}),
        form(json!("yes")),
        form(json!(true)),
        form(json!("c0")),
        form(json!(["c0"])),
        form(json!({"c0":true})),
        form(json!(7)),
        json!({"action":"accept"}),
        json!({"action":"decline","content":{"answer":"yes"}}),
    ]
}

/// The line with which this wire's UI replies to the question that was sent.
fn reply(wire: &Wire, sent: &[Value], result: &Value) -> String {
    let asks = |line: &&Value| {
        line["type"] == "ui_request" || line.get("id").is_some() && line["method"].is_string()
    };
    let id = &sent.iter().find(asks).expect("a question")["id"];
    match wire.name {
        "lemon, pi" => json!({"type":"ui_response","id":id,"result":result,"error":null}),
        _ => json!({"jsonrpc":"2.0","id":id,"result":result}),
    }
    .to_string()
}

fn is_yes(answer: &Answer) -> bool {
    match answer {
        Answer::Allow { .. } | Answer::Confirmed(true) | Answer::Chosen(_) | Answer::Entered(_) => true,
        Answer::Confirmed(false) | Answer::Deny { .. } | Answer::Dismissed => false,
    }
}

#[test]
fn a_reply_of_another_kind_never_allows_anything() {
    let long = format!("{HEAD} {} {TAIL}", "a line\n".repeat(40));
    let labels = ["one".to_owned(), "two".to_owned()];
    let tool = |line: &str, rule| AskKind::Consent(Box::new(command(line.to_owned(), rule)));
    let confirm = |message: &str| kinds(message, &labels).swap_remove(0);
    let choose = |message: &str| kinds(message, &labels).swap_remove(2);
    let enter = |message: &str| kinds(message, &labels).swap_remove(4);
    let form = |value: &str| json!({"action":"accept","content":{"answer":value}});
    let chosen = json!({"outcome":{"outcome":"selected","optionId":"allow_once"}});
    // What is right for each: nothing else is a yes.
    let table: Vec<(AskKind, [Value; 3])> = vec![
        (tool("ls", true), [json!("allow_once"), json!({"ok":true}), chosen.clone()]),
        (tool("ls", false), [json!(true), json!({"ok":true}), chosen.clone()]),
        (tool(&long, true), [json!("allow_once"), json!({"ids":["yes"]}), chosen]),
        (confirm("sure?"), [json!(true), json!({"ok":true}), form("yes")]),
        (confirm(&long), [json!("allow_once"), json!({"ids":["yes"]}), form("yes")]),
        (choose("which?"), [json!("c0"), json!({"ids":["c0"]}), form("c0")]),
        (choose(&long), [json!("c0"), json!({"ids":["c0"]}), form("c0")]),
        (enter("name?"), [json!("text"), json!({"value":"text"}), form("text")]),
    ];
    for (kind, right) in table {
        for (wire, right) in ["lemon, pi", "codelia, terminal UI", "acp, editor"].iter().zip(right) {
            let wire = WIRES.iter().find(|one| one.name == *wire).unwrap();
            for result in replies().into_iter().chain([right.clone()]) {
                let (mut bench, sent) = wire.put("What now?", &kind);
                bench.now.0 += 60_000;
                bench.say(&reply(wire, &sent, &result));
                let answers = bench.commands().into_iter().filter_map(|(_, _, command)| match command {
                    Command::Answer { answer, .. } => Some(answer),
                    _ => None,
                });
                let answer = answers.last();
                let is_text = matches!(kind, AskKind::Text { .. });
                let is_right = result == right
                    || is_text && (wire.name.starts_with("lemon") && result.is_string())
                    || is_text
                        && (wire.name.starts_with("acp")
                            && result["content"]["answer"].is_string()
                            && result["action"] == "accept");
                assert_eq!(
                    answer.as_ref().is_some_and(is_yes),
                    is_right,
                    "{}: {result} to {kind:?} gives {answer:?}",
                    wire.name
                );
            }
        }
    }
}

#[test]
fn an_approval_that_is_no_yes_or_no_is_none() {
    let wire = WIRES.iter().find(|wire| wire.name.starts_with("openagent")).unwrap();
    let kind = AskKind::Consent(Box::new(command("ls".to_owned(), true)));
    for (approved, is_right) in [
        (json!(true), true),
        (json!(1), false),
        (json!("true"), false),
        (json!("yes"), false),
        (json!(null), false),
        (json!([true]), false),
        (json!({"approved":true}), false),
    ] {
        let (mut bench, sent) = wire.put("run it", &kind);
        let asks = |line: &&Value| line["method"] == "tool.request_approval";
        let id = &sent.iter().find(asks).expect("a question")["params"]["execution_id"];
        let params = json!({"execution_id":id,"approved":approved});
        bench.say(&json!({"jsonrpc":"2.0","id":9,"method":"tool.approve","params":params}).to_string());
        let yes = |command: &Command| matches!(command, Command::Answer { answer, .. } if is_yes(answer));
        assert_eq!(bench.commands().iter().any(|(_, _, command)| yes(command)), is_right, "{approved}");
    }
}
