//! The UI role against what a runtime says.

use super::{hear, ui};
use crate::ATTACHMENT;
use domain::command::{Command, PromptOptions, Receipt, RunCommand};
use domain::content::{Input, Json, Part};
use domain::event::Outcome;
use roles::TimerKey;
use serde_json::{Value, json};

#[test]
fn a_time_of_any_kind_spoils_no_line() {
    let mut bench = ui();
    bench.prompt("hi");
    for time in [json!(null), json!(1.5e12), json!("2026-11-15T05:00:00Z"), json!(-1)] {
        hear(&mut bench, &json!({ "type": "token", "id": "msg-1", "token": ".", "timestamp": time }));
    }
    hear(&mut bench, &json!({ "type": "done", "id": "msg-1" }));
    assert_eq!(bench.texts(), ["...."]);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
}

#[test]
fn pictures_and_files_are_carried() {
    let mut bench = ui();
    let attachments = vec![
        Part::Image { mime: "image/png".into(), base64: "aGk=".into() },
        Part::Opaque {
            kind: ATTACHMENT.into(),
            json: Json::verbatim(r#"{"path":"/a.txt","mime":"text/plain"}"#),
        },
    ];
    let input = Input { text: String::new(), attachments };
    bench.command(Command::Run(RunCommand::Prompt { input, options: PromptOptions::default() }));
    let sent = bench.sent().remove(0);
    assert_eq!(sent["attachments"], json!([{ "path": "/a.txt", "mime": "text/plain" }]));
    let images: Value = serde_json::from_str(sent["images"].as_str().unwrap()).unwrap();
    assert_eq!(images, json!([{ "data": "aGk=", "mime_type": "image/png" }]));
}

#[test]
fn nonsense_is_drift_and_nothing_more() {
    let mut bench = ui();
    bench.prompt("hi");
    for line in [
        "plain words of a log",
        "[]",
        "{}",
        r#"{"type":"tool_use","id":"msg-1"}"#,
        r#"{"type":"brand_new","id":"msg-1"}"#,
        r#"{"type":"token","id":"other","token":"x"}"#,
    ] {
        bench.hear(line);
    }
    assert!(bench.state.open_run().is_some() && bench.link.closed.is_none());
}

#[test]
fn who_asks_whether_it_is_there_is_told_how_it_is() {
    let mut bench = ui();
    let ping = || Command::Extension { name: "ping".into(), payload: Json::empty() };
    let ticket = bench.command(ping());
    let sent = bench.sent().pop().unwrap();
    assert_eq!(sent, json!({ "id": sent["id"], "kind": "get_status" }));
    let data = json!({ "state": "idle", "conversationLength": 10, "uptime": 3_600_000 });
    hear(&mut bench, &json!({ "type": "status", "id": sent["id"], "data": data, "timestamp": 1 }));
    let Some(Ok(Receipt::Extension(said))) = bench.settlement(ticket) else { panic!() };
    assert_eq!(serde_json::from_str::<Value>(said.as_str()).unwrap(), data);
    // The existing runtime is silent about it.
    let ticket = bench.command(ping());
    let number: u64 = bench.sent().pop().unwrap()["id"].as_str().unwrap()["msg-".len()..].parse().unwrap();
    bench.fire(TimerKey(1000 + number));
    assert!(
        matches!(bench.settlement(ticket), Some(Err(refusal)) if refusal.message.contains("did not answer"))
    );
}
