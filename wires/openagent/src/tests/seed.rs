//! Sentences of the document (`seed.txt`) that no conversation shows.

use super::{awaiting, by_the_book, may_it_write, query, ui_by_the_book, ui_query};
use domain::ask::{AskKind, Closing, Risk};
use domain::command::{Command, LibraryCommand, Refusal, RefusalKind};
use domain::content::Part;
use domain::state::EntryKind;
use serde_json::json;

#[test]
fn every_code_of_the_document_is_said_where_it_fits() {
    for (kind, code) in [
        (RefusalKind::Internal, -32603),
        (RefusalKind::Busy, -32000),
        (RefusalKind::ModelUnknown, -32001),
        (RefusalKind::ToolUnknown, -32002),
        (RefusalKind::TimedOut, -32003),
        (RefusalKind::NotAllowed, -32005),
    ] {
        let mut bench = by_the_book();
        let line = r#"{"jsonrpc":"2.0","id":3,"method":"session.list","params":{}}"#;
        bench.asked(line, Err(Refusal::new(kind.clone(), "no")));
        assert_eq!(bench.sent()[0]["error"]["code"], code, "{kind:?}");
    }
    let (mut bench, _, ask) = awaiting();
    bench.close_ask(ask, Closing::Withdrawn);
    bench.sent();
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"exec-1","approved":true}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32004);
    assert!(bench.commands().is_empty(), "a yes that comes too late does nothing");
}

#[test]
fn a_session_is_saved_with_or_without_its_history() {
    for wanted in [true, false] {
        let mut bench = by_the_book();
        query(&mut bench);
        bench.say(&format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"session.save","params":{{"path":"s.json","include_history":{wanted}}}}}"#
        ));
        let save = LibraryCommand::Save { path: Some("s.json".into()), history: wanted };
        assert_eq!(bench.command().2, Command::Library(save));
    }
}

#[test]
fn an_interactive_block_is_kept_as_it_came() {
    let mut bench = ui_by_the_book();
    ui_query(&mut bench);
    let block = json!({"query_id":"q-9","block_id":"block-1","block":{"type":"interactive","content":"Pick a branch"}});
    bench.hear(&json!({"jsonrpc":"2.0","method":"stream.block","params":block}).to_string());
    assert_eq!(bench.link.drifts, []);
    let shown = bench.state.entries.values().any(|entry| match &entry.kind {
        EntryKind::Message(message) => message.parts.iter().any(|part| {
            matches!(part, Part::Opaque { kind, json } if kind == "interactive" && json.as_str().contains("Pick a branch"))
        }),
        _ => false,
    });
    assert!(shown, "{:?}", bench.state.entries);
}

#[test]
fn the_four_risks_go_over_the_wire() {
    for (risk, level) in
        [(Risk::Low, "low"), (Risk::Medium, "medium"), (Risk::High, "high"), (Risk::Critical, "critical")]
    {
        let mut bench = by_the_book();
        query(&mut bench);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "write", "{}");
        may_it_write(&mut bench, tool, risk);
        let mut request = bench.sent().pop().unwrap();
        assert_eq!(request["params"]["risk_assessment"]["level"], level);
        let mut ui = ui_by_the_book();
        ui_query(&mut ui);
        request["params"]["query_id"] = json!("q-9");
        ui.hear(&request.to_string());
        let AskKind::Consent(consent) = &ui.state.asks[0].kind else { panic!("{:?}", ui.state.asks) };
        assert_eq!(consent.assessment.risk, risk, "{level}");
    }
}
