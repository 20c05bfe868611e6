//! The UI role against what a runtime says.

use super::ui;
use crate::ATTACHMENT;
use domain::command::{Command, PromptOptions, RunCommand};
use domain::content::{Input, Json, Part};
use serde_json::{Value, json};

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
