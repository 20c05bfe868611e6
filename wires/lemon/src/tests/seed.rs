//! Sentences of the document (`seed.txt`) that no conversation shows.

use super::{speaking, ui};
use domain::command::{Command, LibraryCommand, Receipt};
use domain::event::{Body, Finish, MessageEvent, Outcome};
use serde_json::json;

#[test]
fn the_reasons_to_stop_are_the_five_of_the_document() {
    let reason = |finish: Finish, tools: bool| {
        let (mut stage, message) = speaking();
        if tools {
            stage.propose(message, "read", "{}");
        }
        stage.forget();
        stage.happen(Body::Message(MessageEvent::Ended { message, finish }));
        stage.end(Outcome::Done);
        let ended = stage.sent().into_iter().find(|line| line["event"]["type"] == "message_end").unwrap();
        ended["event"]["data"][0]["stop_reason"].clone()
    };
    for (finish, tools, wanted) in [
        (Finish::Complete, false, "stop"),
        (Finish::Refused, false, "stop"),
        (Finish::Length, false, "length"),
        (Finish::Complete, true, "tool_use"),
        (Finish::Failed, false, "error"),
        (Finish::Cut, false, "error"),
        (Finish::Interrupted, false, "aborted"),
    ] {
        assert_eq!(reason(finish.clone(), tools), json!(wanted), "{finish:?}");
    }
}

#[test]
fn save_says_its_word_and_tells_where() {
    let mut ui = ui();
    let save = Command::Library(LibraryCommand::Save { path: None, history: true });
    let ticket = ui.command(save);
    assert_eq!(ui.sent(), [json!({"type":"save"})]);
    ui.hear(r#"{"type":"save_result","ok":true,"path":"/s/a.jsonl"}"#);
    let saved = Receipt::Saved { path: "/s/a.jsonl".to_owned(), size: 0 };
    assert_eq!(ui.settlement(ticket), Some(Ok(saved)));
}
