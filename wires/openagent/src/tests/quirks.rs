//! One test for each deviation of the existing programs.

use super::{
    HOME, by_the_book, existing, may_it_write, methods, query, runtime, terminal, ui_by_the_book, ui_query,
};
use domain::ask::{Answer, Risk, Scope};
use domain::command::{Command, ExportFormat, LibraryCommand, Receipt, RefusalKind};
use domain::event::{Body, Failure, Outcome, ToolEvent};
use domain::tool::{ToolOutcome, ToolPhase, ToolResult};
use serde_json::json;
use testkit::bench::{RuntimeBench, cancel, session, summary};

/// What the existing backend says to the first query.
const APPROVAL: &str = r#"{"jsonrpc":"2.0","method":"tool.request_approval","params":{"execution_id":"8985836d","tool_name":"file_write","description":"Write content to a file","risk_level":"medium","preview":"Write to file: test.txt"}}"#;

fn complete(query: &str, status: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"stream.complete","params":{{"query_id":"{query}","status":"{status}"}}}}"#
    )
}

#[test]
fn flat_names() {
    let mut bench = terminal();
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    bench.delta(message, "a\n```rust\nx\n```\n");
    let tool = bench.propose(message, "write", "{}");
    may_it_write(&mut bench, tool, Risk::Medium);
    let lines = bench.sent();
    for line in &lines {
        let keys: Vec<_> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["jsonrpc", "method", "params"], "the client drops a line with anything else");
    }
    let of = |method: &str| lines.iter().find(|line| line["method"] == method).unwrap()["params"].clone();
    assert_eq!(of("stream.token")["type"], "text");
    let block = of("stream.block");
    assert_eq!(
        (&block["type"], &block["content"], &block["language"]),
        (&json!("code"), &json!("x"), &json!("rust"))
    );
    let asked = of("tool.request_approval");
    assert_eq!((&asked["tool_name"], &asked["risk_level"]), (&json!("write"), &json!("medium")));
    assert_eq!(asked["description"], "Write a.rs");
}

#[test]
fn preview_is_a_text() {
    let preview = |mut bench: RuntimeBench| {
        query(&mut bench);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "write", "{}");
        may_it_write(&mut bench, tool, Risk::Medium);
        bench.sent().last().unwrap()["params"]["preview"].clone()
    };
    let shown = "Risk medium: changes a file\na.rs\n--- a\n+++ b";
    assert_eq!(preview(terminal()), shown.replace('\n', "\r\n"));
    assert_eq!(preview(runtime()), shown);
    assert_eq!(preview(by_the_book())["type"], "diff");
}

#[test]
fn errors_of_queries_show_nothing() {
    let mut bench = terminal();
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":""}}"#);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["response", "stream.block", "stream.error", "stream.complete"]);
    assert_eq!(lines[0]["result"]["query_id"], "q-1");
    assert!(lines[1]["params"]["content"].as_str().unwrap().contains("message is empty"));
    assert_eq!(lines[3]["params"]["status"], "error");
    query(&mut bench);
    bench.sent();
    bench.end(Outcome::Failed(Failure::new("model", "no key")));
    assert_eq!(methods(&bench.sent()), ["stream.block", "stream.error", "stream.complete"]);
}

#[test]
fn approval_errors_are_results() {
    let mut bench = terminal();
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"nope","approved":true}}"#);
    bench.say(r#"{"jsonrpc":"2.0","id":5,"method":"tool.approve","params":{}}"#);
    let lines = bench.sent();
    assert_eq!(lines[0]["result"], json!({"status":"error","error":"Execution not found"}));
    assert_eq!(lines[1]["result"], json!({"status":"error","error":"execution_id required"}));
}

#[test]
fn raw_mode_line_breaks() {
    let mut bench = terminal();
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    bench.delta(message, "a\nb");
    let params = &bench.sent()[0]["params"];
    assert_eq!((&params["token"], &params["content"]), (&json!("a\nb"), &json!("a\r\nb")));
    for (mut bench, wanted) in [(terminal(), "# x\r\ny"), (by_the_book(), "# x\ny")] {
        let exported = Receipt::Exported { format: ExportFormat::Markdown, text: "# x\ny".into() };
        let export = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"session.export","params":{{"session_id":"{HOME}"}}}}"#
        );
        bench.asked(&export, Ok(exported));
        assert_eq!(bench.sent()[0]["result"]["content"], wanted);
    }
}

#[test]
fn blocks_are_printed_raw() {
    let content = |mut bench: RuntimeBench| {
        query(&mut bench);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "ls", "{}");
        bench.sent();
        bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("a\nb\n"));
        let lines = bench.sent();
        let block = lines.iter().find(|line| line["method"] == "stream.block").unwrap()["params"].clone();
        assert_eq!(block["block"]["content"], "a\nb\n");
        block["content"].clone()
    };
    assert_eq!(content(terminal()), "\r\na\r\nb\r\n");
    assert_eq!(content(by_the_book()), "a\nb\n");
}

#[test]
fn approvals_wait_for_ever() {
    assert_eq!(terminal().role.can_answer().deadline, None);
    assert!(by_the_book().role.can_answer().deadline.is_some());
}

#[test]
fn versions_are_not_checked() {
    let mut bench = runtime();
    query(&mut bench);
    assert_eq!(bench.sent()[0]["result"]["status"], "processing");
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"initialize"}"#);
    assert_eq!(bench.sent()[0]["result"]["status"], "ready");
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocol_version":"99.0.0"}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32600);
}

#[test]
fn sessions_by_id() {
    let mut bench = terminal();
    let load = format!(
        r#"{{"jsonrpc":"2.0","id":10000,"method":"session.load","params":{{"session_id":"{HOME}"}}}}"#
    );
    bench.asked(&load, Ok(Receipt::Session { session: summary(&session(HOME)), parent: None }));
    let result = &bench.sent()[0]["result"];
    assert_eq!((&result["status"], &result["session_id"]), (&json!("success"), &json!(HOME)));
    assert_eq!((&result["loaded"], &result["session"]["id"]), (&json!(true), &json!(HOME)));
    assert!(result["messages"].is_array());
}

#[test]
fn zoned_times() {
    let mut bench = existing();
    let list = Command::Library(LibraryCommand::List {
        scope: domain::command::ListScope::All,
        limit: None,
        search: None,
    });
    let ticket = bench.command(list);
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"status":"success","sessions":[{"session_id":"2026-11-15_001307","title":null,"created_at":"2026-11-15T00:13:07.224027","updated_at":"2026-11-15T00:13:08.680409","message_count":4,"total_tokens":43}]}}"#);
    let Some(Ok(Receipt::Sessions(sessions))) = bench.settlement(ticket) else { panic!() };
    assert_eq!(sessions[0].created_at.0, 1_794_701_587_224);
    assert_eq!(sessions[0].messages, 4);
}

#[test]
fn complete_before_approval() {
    let mut bench = existing();
    ui_query(&mut bench);
    bench.hear(APPROVAL);
    bench.hear(&complete("q-9", "success"));
    assert_eq!(bench.outcome(), None, "the answer is still out");
    bench.answer(Answer::Allow { scope: Scope::Once, digest: None });
    let sent = bench.sent();
    assert_eq!(sent[0]["method"], "tool.approve");
    assert_eq!(sent[0]["params"]["approved"], true);
    let id = sent[0]["id"].clone();
    bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"executed","result":{{"success":true,"message":"Would write 65 bytes to test.txt","note":"Demo mode"}}}}}}"#));
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Done));
    assert_eq!(tool.result.as_ref().unwrap().text, "Would write 65 bytes to test.txt\nDemo mode");

    let mut bench = existing();
    ui_query(&mut bench);
    bench.hear(APPROVAL);
    bench.hear(&complete("q-9", "success"));
    bench.answer(Answer::Deny { reason: Some("no".into()) });
    let sent = bench.sent();
    assert_eq!(sent[0]["params"].get("reason"), None, "this backend takes no reasons");
    let id = sent[0]["id"].clone();
    bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"rejected","message":"Tool execution rejected"}}}}"#));
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    assert_eq!(bench.state.tools.values().next().unwrap().phase, ToolPhase::Ended(ToolOutcome::Denied));
}

#[test]
fn cancel_is_not_implemented() {
    let mut bench = existing();
    ui_query(&mut bench);
    bench.hear(r#"{"jsonrpc":"2.0","method":"stream.token","params":{"query_id":"q-9","content":"Hello","type":"text"}}"#);
    let ticket = bench.command(cancel());
    let id = bench.sent()[0]["id"].clone();
    bench.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"not_implemented"}}}}"#));
    assert!(matches!(bench.settlement(ticket), Some(Ok(Receipt::Cancelling { .. }))));
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
    // The backend goes on, and nobody listens.
    bench.hear(r#"{"jsonrpc":"2.0","method":"stream.token","params":{"query_id":"q-9","content":" more","type":"text"}}"#);
    bench.hear(APPROVAL);
    assert_eq!(bench.sent()[0]["params"]["approved"], false);
    bench.hear(&complete("q-9", "success"));
    assert_eq!(bench.texts(), ["Hello"]);
    assert_eq!(bench.state.runs.len(), 1);
}

#[test]
fn rate_limit_is_a_result() {
    let mut bench = existing();
    let ticket = bench.prompt("go");
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"error":"Rate limit exceeded","query_id":null,"status":"rate_limited"}}"#);
    let Some(Err(refusal)) = bench.settlement(ticket) else { panic!() };
    assert_eq!(refusal.kind, RefusalKind::TooMany);
    assert!(refusal.hint.is_some() && bench.state.runs.is_empty());
}

#[test]
fn short_lines() {
    let mut bench = existing();
    let much = domain::signal::UiContext { notes: vec!["x".repeat(70_000)], ..Default::default() };
    bench.command(Command::UpdateContext(much));
    bench.sent();
    let ticket = bench.prompt(&"y".repeat(70_000));
    let Some(Err(refusal)) = bench.settlement(ticket) else { panic!() };
    assert_eq!(refusal.kind, RefusalKind::Invalid);
    bench.prompt("short");
    let sent = bench.sent();
    assert_eq!(sent[0]["params"]["message"], "short");
    assert!(
        sent[0]["params"].get("context").is_none() && sent[0].to_string().len() < super::super::BACKEND_LINE
    );

    let mut bench = ui_by_the_book();
    bench.prompt(&"y".repeat(70_000));
    assert_eq!(bench.sent().len(), 1, "the document allows 10 MB");
}

#[test]
fn no_query_in_approval() {
    let mut bench = existing();
    ui_query(&mut bench);
    bench.hear(APPROVAL);
    assert_eq!(bench.state.asks.len(), 1);
    assert!(bench.events.iter().any(|event| matches!(event.body, Body::Tool(ToolEvent::Proposed { .. }))));

    let mut bench = existing();
    bench.hear(APPROVAL);
    assert_eq!(bench.sent()[0]["params"]["approved"], false);
    assert!(bench.state.runs.is_empty());
}
