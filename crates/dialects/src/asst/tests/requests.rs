//! Requests and what they are answered with, on every path.

use super::stage::Stage;
use crate::asst::{ATTACHMENT, MAX_REQUESTS};
use domain::command::{
    Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target, WhenBusy,
};
use domain::content::Part;
use domain::event::{Body, Cause, Failure, Leaving, Outcome, QueueEvent, RunEvent};
use domain::ids::SessionId;
use domain::session::Stats;
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;
use roles::{Lane, Line, RuntimeRole};
use serde_json::{Value, json};

#[test]
fn ready_comes_first_with_version_and_capabilities() {
    let mut stage = Stage::new();
    let ready =
        json!({ "type": "ready", "version": "1.0.0", "capabilities": ["streaming", "tools", "attachments"] });
    assert_eq!(stage.told(), [ready]);
}

#[test]
fn a_message_is_streamed_and_done() {
    let mut stage = Stage::ready();
    let run = stage.prompt("req-uuid-123");
    let (_, target, command) = stage.wanted.last().unwrap();
    assert_eq!(*target, Target::Session(stage.session.clone()));
    assert!(
        matches!(command, Command::Run(RunCommand::Prompt { options, .. }) if options.when_busy == WhenBusy::Queue)
    );
    let turn = stage.turn(run, Cause::Prompt);
    let (step, message) = stage.step(turn);
    stage.delta(message, "Hello");
    stage.tool(message, "list_files", ToolOutcome::Done, ToolResult::text("index.ts"));
    stage.end_step(step, message);
    stage.talk(turn, "Done.");
    stage.end(Outcome::Done);
    let id = "req-uuid-123";
    let tool = format!("{id}:tool-6");
    let named = |more: Value| {
        let mut data = json!({ "toolId": tool, "tool_use_id": tool, "toolName": "list_files", "tool_name": "list_files" });
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        data
    };
    assert_eq!(
        stage.told(),
        [
            json!({ "type": "token", "id": id, "token": "Hello" }),
            json!({ "type": "tool_use", "id": id,
                "data": named(json!({ "input": { "path": "src" }, "tool_input": { "path": "src" } })) }),
            json!({ "type": "tool_result", "id": id, "data": named(json!({ "result": "index.ts" })) }),
            json!({ "type": "token", "id": id, "token": "\n\nDone." }),
            json!({ "type": "done", "id": id }),
        ]
    );
}

#[test]
fn every_ending_is_told_once() {
    for (outcome, words) in [
        (
            Outcome::Failed(Failure::new("model_error", "API rate limit exceeded")),
            "Failed to process request: API rate limit exceeded",
        ),
        (Outcome::Cancelled, "The request was cancelled."),
        (Outcome::Lost, "Failed to process request: the runtime went away in the middle of it"),
    ] {
        let mut stage = Stage::ready();
        let run = stage.prompt("m1");
        let turn = stage.turn(run, Cause::Prompt);
        let (_, message) = stage.step(turn);
        stage.delta(message, "half");
        stage.end(outcome);
        let told = stage.told();
        assert_eq!(told.len(), 2);
        assert_eq!(told[1], json!({ "type": "error", "id": "m1", "error": words }));
    }
}

#[test]
fn a_second_message_waits_and_has_its_own_turn() {
    let mut stage = Stage::ready();
    let run = stage.prompt("m1");
    let turn = stage.turn(run, Cause::Prompt);
    let item = stage.queue("m2", run);
    stage.talk(turn, "one");
    let turn = stage.next_turn(turn, item, run);
    stage.talk(turn, "two");
    stage.end(Outcome::Done);
    let short: Vec<_> = stage
        .told()
        .iter()
        .map(|line| format!("{} {}", line["id"].as_str().unwrap(), line["type"].as_str().unwrap()))
        .collect();
    assert_eq!(short, ["m1 token", "m1 done", "m2 token", "m2 done"]);
}

#[test]
fn a_message_whose_run_broke_before_its_turn_is_tried_again() {
    let mut stage = Stage::ready();
    let run = stage.prompt("m1");
    stage.turn(run, Cause::Prompt);
    stage.queue("m2", run);
    let asked = stage.wanted.len();
    stage.end(Outcome::Failed(Failure::new("model_error", "overloaded")));
    let told = stage.told();
    assert_eq!(told.len(), 1, "only the first failed");
    assert_eq!(told[0]["id"], "m1");
    assert_eq!(stage.wanted.len(), asked + 1);
    assert!(
        matches!(&stage.wanted[asked].2, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "and then")
    );
    let mut stage = Stage::ready();
    let run = stage.prompt("m1");
    stage.turn(run, Cause::Prompt);
    stage.queue("m2", run);
    stage.end(Outcome::Cancelled);
    let ids: Vec<_> = stage.told().iter().map(|line| line["id"].clone()).collect();
    assert_eq!(ids, ["m1", "m2"]);
}

#[test]
fn a_message_that_somebody_took_back_is_an_error() {
    let mut stage = Stage::ready();
    let run = stage.prompt("m1");
    stage.turn(run, Cause::Prompt);
    let item = stage.queue("m2", run);
    stage.happen(Body::Queue(QueueEvent::Left { item, leaving: Leaving::Dropped }));
    assert_eq!(
        stage.told(),
        [json!({ "type": "error", "id": "m2", "error": "The message was taken back before its turn." })]
    );
}

#[test]
fn what_others_do_in_the_session_is_not_told() {
    let mut stage = Stage::ready();
    let run = domain::ids::RunId::mint(&stage.ids);
    stage.happen(Body::Run(RunEvent::Started { run }));
    let turn = stage.turn(run, Cause::Prompt);
    stage.talk(turn, "for another UI");
    stage.end(Outcome::Done);
    assert!(stage.told().is_empty());
}

#[test]
fn the_conversation_picks_the_session_and_is_made_when_new() {
    let mut stage = Stage::ready();
    let line = json!({ "id": "m1", "kind": "user_message", "message": "hi", "metadata": { "conversationId": "conv-456", "userId": "u" } });
    stage.say(&line.to_string());
    let named = SessionId::parse("sess-conv-456").unwrap();
    let (ticket, target, _) = stage.wanted.last().unwrap().clone();
    assert_eq!(target, Target::Session(named.clone()));
    stage.settle(ticket, Err(Refusal::new(RefusalKind::SessionUnknown, "no")));
    let (ticket, _, command) = stage.wanted.last().unwrap().clone();
    assert_eq!(
        command,
        Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(named.clone()) })
    );
    let session = stage.summary("sess-conv-456");
    stage.settle(ticket, Ok(Receipt::Session { session, parent: None }));
    let (_, target, command) = stage.wanted.last().unwrap();
    assert_eq!(*target, Target::Session(named));
    assert!(matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "hi"));
    assert!(stage.told().is_empty());
}

#[test]
fn the_conversation_of_the_last_message_is_the_current_one() {
    let mut stage = Stage::ready();
    stage.prompt("m1");
    stage.end(Outcome::Done);
    stage.say(r#"{"id":"m2","kind":"user_message","message":"hi","metadata":{"conversationId":"conv-456"}}"#);
    let (ticket, other) = (stage.wanted.last().unwrap().0, SessionId::parse("sess-conv-456").unwrap());
    let run = domain::ids::RunId::mint(&stage.ids);
    stage.settle(ticket, Ok(Receipt::Started { session: other.clone(), run }));
    stage.say(r#"{"id":"c","kind":"clear_history"}"#);
    assert_eq!(stage.wanted.last().unwrap().1, Target::Session(other));
}

#[test]
fn attachments_and_images_go_with_the_message() {
    let mut stage = Stage::ready();
    let images = json!([{ "data": "aGk=", "mime_type": "image/png", "name": "x.png" }]).to_string();
    let line = json!({ "id": "m1", "kind": "user_message", "message": "look",
        "attachments": [{ "path": "/path/to/file.txt", "mime": "text/plain" }], "images": images });
    stage.say(&line.to_string());
    let Command::Run(RunCommand::Prompt { input, .. }) = &stage.wanted.last().unwrap().2 else {
        panic!("no prompt")
    };
    assert_eq!(input.text, "look\n\n[attached file: /path/to/file.txt (text/plain)]");
    assert!(
        matches!(&input.attachments[0], Part::Opaque { kind, json } if kind == ATTACHMENT && json.as_str().contains("/path/to/file.txt"))
    );
    assert!(
        matches!(&input.attachments[1], Part::Image { mime, base64 } if mime == "image/png" && &**base64 == "aGk=")
    );
}

#[test]
fn history_is_cleared_also_after_the_run_under_way() {
    let mut stage = Stage::new();
    stage.told();
    stage.say(r#"{"id":"c0","kind":"clear_history"}"#);
    assert_eq!(stage.told(), [json!({ "type": "done", "id": "c0" })], "there was nothing to clear");
    let mut stage = Stage::ready();
    stage.say(r#"{"id":"req-uuid-124","kind":"clear_history"}"#);
    let (ticket, _, command) = stage.wanted.last().unwrap().clone();
    assert_eq!(command, Command::Session(SessionCommand::Clear));
    stage.settle(ticket, Ok(Receipt::Leaf(None)));
    assert_eq!(stage.told(), [json!({ "type": "done", "id": "req-uuid-124" })]);
    let run = stage.prompt("m1");
    stage.turn(run, Cause::Prompt);
    stage.say(r#"{"id":"c2","kind":"clear_history"}"#);
    let ticket = stage.wanted.last().unwrap().0;
    stage.settle(ticket, Err(Refusal::new(RefusalKind::Busy, "a run is under way")));
    stage.end(Outcome::Done);
    assert_eq!(stage.told(), [json!({ "type": "done", "id": "m1" })]);
    let (ticket, _, command) = stage.wanted.last().unwrap().clone();
    assert_eq!(command, Command::Session(SessionCommand::Clear));
    stage.settle(ticket, Ok(Receipt::Leaf(None)));
    assert_eq!(stage.told(), [json!({ "type": "done", "id": "c2" })]);
}

#[test]
fn status_tells_state_length_and_uptime() {
    let mut stage = Stage::new();
    stage.told();
    stage.now += 3_600_000;
    stage.say(r#"{"id":"req-uuid-125","kind":"get_status"}"#);
    let data = json!({ "state": "idle", "conversationLength": 0, "uptime": 3_600_000 });
    assert_eq!(stage.told(), [json!({ "type": "status", "id": "req-uuid-125", "data": data })]);
    let mut stage = Stage::ready();
    let run = stage.prompt("m1");
    let turn = stage.turn(run, Cause::Prompt);
    stage.talk(turn, "hi");
    stage.told();
    stage.say(r#"{"id":"s","kind":"get_status"}"#);
    let ticket = stage.wanted.last().unwrap().0;
    stage.settle(ticket, Ok(Receipt::Stats(Stats::default())));
    let data = json!({ "state": "processing", "conversationLength": 2, "uptime": 0 });
    assert_eq!(stage.told(), [json!({ "type": "status", "id": "s", "data": data })]);
}

#[test]
fn conversations_are_begun_and_loaded() {
    let mut stage = Stage::ready();
    stage.say(r#"{"id":"n","kind":"new_conversation","metadata":{"title":"plans"}}"#);
    let (ticket, _, command) = stage.wanted.last().unwrap().clone();
    assert!(
        matches!(command, Command::Library(LibraryCommand::New { title: Some(title), .. }) if title == "plans")
    );
    let session = stage.summary("sess-0007");
    stage.settle(ticket, Ok(Receipt::Session { session: session.clone(), parent: None }));
    let data = json!({ "conversation_id": "sess-0007", "conversationId": "sess-0007" });
    assert_eq!(stage.told(), [json!({ "type": "done", "id": "n", "data": data })]);
    stage.say(r#"{"id":"l","kind":"load_conversation","conversation_id":"sess-0007"}"#);
    let ticket = stage.wanted.last().unwrap().0;
    stage.settle(ticket, Ok(Receipt::Session { session, parent: None }));
    assert_eq!(stage.told()[0]["data"]["message_count"], 4);
    stage.say(r#"{"id":"x","kind":"load_conversation","conversation_id":"gone"}"#);
    let ticket = stage.wanted.last().unwrap().0;
    stage.settle(ticket, Err(Refusal::new(RefusalKind::SessionUnknown, "no")));
    assert_eq!(
        stage.told(),
        [json!({ "type": "error", "id": "x", "error": "There is no conversation gone" })]
    );
    stage.say(r#"{"id":"y","kind":"load_conversation"}"#);
    assert_eq!(stage.told()[0]["type"], "error");
}

#[test]
fn too_much_is_refused_and_the_link_lives() {
    let mut stage = Stage::ready();
    for _ in 0..150 {
        stage.say(r#"{"id":"p","kind":"nope"}"#);
    }
    let told = stage.told();
    assert_eq!(told.len(), 150);
    assert!(told[149]["error"].as_str().unwrap().contains("slow down"));
    for number in 0..=MAX_REQUESTS {
        stage.now += 1000;
        stage.message(&format!("m{number}"), "x");
    }
    assert_eq!(stage.told().len(), 1);
    stage.now += 1000;
    stage.call(|role, cx| {
        role.line(
            cx,
            Lane::MAIN,
            Line::Overlong(r#"{"id":"big","kind":"user_message","message":"aaa"#.into()),
        );
    });
    stage.call(|role, cx| role.line(cx, Lane::MAIN, Line::Garbled("?".into())));
    let told = stage.told();
    assert_eq!((&told[0]["id"], &told[1]["id"]), (&json!("big"), &json!("")));
}

proptest! {
    #[test]
    fn every_line_is_answered_or_asked_once(line in r#"(\{"id":("[a-z]{0,2}"|5|null),"kind":"(user_message|clear_history|get_status|load_conversation|x)"(,"message":("a"|""|1))?(,"images":"(nope|\[\])")?\})|.{0,40}"#) {
        let mut stage = Stage::ready();
        stage.say(&line);
        let expected = usize::from(!line.trim().is_empty());
        prop_assert_eq!(stage.told().len() + stage.wanted.len(), expected);
    }
}
