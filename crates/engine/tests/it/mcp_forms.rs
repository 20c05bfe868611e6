//! The forms of a server that writes plain lines, as they come over the wire: a library may send fields in another order.

use crate::bench::answered;
use crate::mcp::{question, ready};
use domain::ask::{Answer, AskKind};
use domain::port::TurnEnd;
use serde_json::{Value, json};

/// A server of a few lines whose only tool puts this form before the person and tells what it got.
fn asking(form: &str) -> Value {
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asks","version":"1"}}"#;
    let tools =
        r#"{"tools":[{"name":"trip","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}"#;
    let form = form.replace('\n', "");
    let line = format!(
        r#"answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        while read -r line; do
            id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case "$line" in
            *'"initialize"'*) answer '{hello}' ;;
            *tools/list*) answer '{tools}' ;;
            *tools/call*)
                printf '%s\n' '{{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{form}}}'
                read -r said
                said=$(printf %s "$said" | sed 's/"/\\"/g')
                answer '{{"content":[{{"type":"text","text":"'"$said"'"}}]}}' ;;
            esac
        done"#
    );
    json!({"command": "/bin/sh", "args": ["-c", line]})
}

/// A form whose fields stand in no order but its own.
const TRIP: &str = r#"{"mode": "form", "message": "Where to?", "requestedSchema": {
    "type": "object", "required": ["when", "class"], "properties": {
        "when": {"type": "string", "format": "date"},
        "class": {"type": "string", "oneOf": [{"const": "1", "title": "First"}, {"const": "2", "title": "Second"}], "default": "2"},
        "bags": {"type": "integer", "minimum": 0, "maximum": 3, "default": 1},
        "a note": {"type": "string", "maxLength": 20}
    }
}}"#;

#[tokio::test]
async fn a_form_is_asked_in_its_order_and_what_does_not_fit_is_asked_again() {
    let script = "model tool mcp__echo__trip {}\n---\nmodel text \"ok\"";
    let mut bench = ready(json!({"echo": asking(TRIP)}), script).await;
    bench.prompt("go").await;
    let when = question(&mut bench).await;
    assert_eq!(when.title, "The MCP server echo asks for when (1 of 4)");
    for wrong in ["next week", "2026-02-30"] {
        let asked = bench.state.asks.last().unwrap().id;
        bench.close(asked, answered(Answer::Entered(wrong.into()))).await;
        let again = question(&mut bench).await;
        assert_eq!(again.title, "when (1 of 4): it must be a date, like 2026-01-31");
        let AskKind::Text { default, .. } = &again.kind else { panic!() };
        assert_eq!(default.as_deref(), Some(wrong), "to be put right");
    }
    let asked = bench.state.asks.last().unwrap().id;
    bench.close(asked, answered(Answer::Entered("2026-02-28".into()))).await;
    let class = question(&mut bench).await;
    assert_eq!(class.title, "The MCP server echo asks for class (2 of 4)");
    let AskKind::Choose { choices, .. } = &class.kind else { panic!() };
    let lines: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
    assert_eq!(lines, ["as suggested: Second", "First", "Second"]);
    bench.close(class.id, answered(Answer::Chosen(vec!["third".into()]))).await;
    let again = question(&mut bench).await;
    assert_eq!(again.title, "class (2 of 4): third is not in the list");
    bench.close(again.id, answered(Answer::Chosen(vec![choices[0].id.clone()]))).await;
    let bags = question(&mut bench).await;
    bench.close(bags.id, answered(Answer::Entered("4".into()))).await;
    let again = question(&mut bench).await;
    assert_eq!(again.title, "bags (3 of 4): it must be at most 3");
    bench.close(again.id, answered(Answer::Entered(String::new()))).await;
    let note = question(&mut bench).await;
    bench.close(note.id, answered(Answer::Entered(String::new()))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let said: Value = serde_json::from_str(&bench.outcomes()[0].2).unwrap();
    let want = json!({"action": "accept", "content": {"when": "2026-02-28", "class": "2", "bags": 1}});
    assert_eq!(said["result"], want);
}
