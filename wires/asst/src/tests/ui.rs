//! The UI role against what a runtime says.

use super::{hear, ui};
use crate::{ATTACHMENT, AsstUi};
use domain::command::{Command, PromptOptions, RunCommand};
use domain::content::{Input, Json, Part};
use domain::event::{Failure, Outcome};
use roles::{Hello, TimerKey};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::bench::UiBench;

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
fn the_greeting_of_another_wire_is_none() {
    let mut bench = UiBench::open(AsstUi::new(), &Hello::default());
    let model = json!({ "provider": "p", "id": "m" });
    hear(&mut bench, &json!({ "type": "ready", "cwd": "/w", "model": model, "debug": false, "ui": true }));
    assert!(bench.role.abilities().is_none(), "it is not the runtime that was meant");
    assert!(bench.link.drifts.iter().any(|drift| drift.place == "ready"), "{:?}", bench.link.drifts);
    // One that tells more of itself than the document has is a runtime all the same.
    hear(&mut bench, &json!({ "type": "ready", "timestamp": 1, "version": "2", "cwd": "/w" }));
    assert!(bench.role.abilities().is_some());
}

#[test]
fn a_runtime_that_says_nothing_is_asked_once_how_it_is_and_the_answer_is_no_news() {
    for answer in [
        json!({ "type": "error", "id": "knock", "error": "unknown kind", "timestamp": 1 }),
        json!({ "type": "status", "id": "knock", "data": {}, "timestamp": 1 }),
    ] {
        let mut bench = UiBench::open(AsstUi::new(), &Hello::default());
        let knock = TimerKey(3);
        assert!(bench.link.timers.contains_key(&knock), "{:?}", bench.link.timers);
        bench.fire(knock);
        assert_eq!(
            bench.sent(),
            [json!({ "kind": "get_status", "jsonrpc": "2.0", "id": "knock", "method": "get_status" })]
        );
        hear(&mut bench, &json!({ "type": "ready", "timestamp": 1 }));
        hear(&mut bench, &answer);
        assert!(bench.link.drifts.is_empty() && bench.signals.is_empty(), "{answer}");
    }
}

/// How long a message waits for each word of its runtime, until it is given up.
fn waits(patience: Option<u64>) -> (Vec<u64>, String) {
    let patience = patience.map(Duration::from_secs);
    let mut bench = UiBench::open(AsstUi::new(), &Hello { patience, ..Hello::default() });
    hear(&mut bench, &json!({ "type": "ready", "timestamp": 1 }));
    bench.prompt("hi");
    let silence = TimerKey(2);
    hear(&mut bench, &json!({ "type": "token", "id": "msg-1", "token": "w", "timestamp": 1 }));
    let mut waited = Vec::new();
    while bench.state.open_run().is_some() {
        waited.push(bench.link.timers[&silence].since(bench.now) / 1_000);
        bench.fire(silence);
    }
    let ended = bench.state.runs.last().and_then(|run| run.ended.clone());
    let Some((_, Outcome::Failed(Failure { message, .. }))) = ended else { panic!("{ended:?}") };
    (waited, message)
}

#[test]
fn a_silent_message_is_given_up_after_the_time_that_the_person_set() {
    for (patience, each, all) in
        [(None, &[60, 120][..], 180), (Some(60), &[60], 60), (Some(5), &[5], 5), (Some(90), &[60, 30], 90)]
    {
        let (waited, why) = waits(patience);
        assert_eq!(waited, each, "{patience:?}");
        assert!(why.contains(&format!("{all} seconds")), "{why}");
    }
}
