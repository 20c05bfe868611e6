//! Requests and what they are answered with, on every path.

use super::{prompt, queue, ready, runtime, told};
use crate::{ATTACHMENT, AsstRuntime, MAX_REQUESTS};
use domain::command::{Command, Receipt, RunCommand, Target, WhenBusy};
use domain::content::Part;
use domain::event::{Body, FILES_UNDONE, Failure, Leaving, NoteEvent, Outcome};
use domain::ids::EntryId;
use domain::signal::Level;
use proptest::prelude::*;
use roles::{Greeting, Line};
use serde_json::json;
use testkit::bench::{RuntimeBench, session};

#[test]
fn what_the_wire_has_no_word_for_goes_to_the_log() {
    let mut bench = ready();
    let (entry, parent, run) = (EntryId(bench.ids.next()), bench.state().leaf, None);
    let (level, code, text) = (Level::Info, FILES_UNDONE.to_owned(), "Undid 1 file change".to_owned());
    bench.happen(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
    assert_eq!(bench.link.logs, ["asst: Undid 1 file change"]);
}

#[test]
fn how_long_a_question_holds_up_a_message_can_be_set() {
    for (option, seconds) in
        [(None, Some(50)), (Some("20"), Some(20)), (Some("0"), None), (Some("soon"), Some(50))]
    {
        let options = option.map(|value| ("answer-within".to_owned(), value.to_owned()));
        let greeting = Greeting { options: options.into_iter().collect(), ..Greeting::default() };
        let bench = RuntimeBench::open(AsstRuntime::new(), session("sess-0001"), &greeting);
        let answers = bench.role.can_answer();
        assert_eq!(answers.deadline.map(|wait| wait.as_secs()), seconds, "{option:?}");
        assert!(!answers.consent && !answers.other, "the wire has no questions");
        assert_eq!(bench.link.logs.len(), usize::from(option == Some("soon")), "{:?}", bench.link.logs);
    }
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
        let mut bench = ready();
        prompt(&mut bench, "m1");
        let (_, message) = bench.step();
        bench.delta(message, "half");
        bench.end(outcome);
        let lines = told(&mut bench);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], json!({ "type": "error", "id": "m1", "error": words }));
    }
}

#[test]
fn a_message_is_handed_to_the_hub_to_wait_its_turn() {
    let mut bench = ready();
    bench.say(r#"{"id":"m1","kind":"user_message","message":"hello"}"#);
    let (_, target, command) = bench.command();
    assert_eq!(target, Target::Session(bench.session.clone()));
    let Command::Run(RunCommand::Prompt { options, .. }) = command else { panic!("{command:?}") };
    assert_eq!(options.when_busy, WhenBusy::Queue);
}

#[test]
fn messages_that_wait_are_cancelled_with_the_run() {
    let mut bench = ready();
    let run = prompt(&mut bench, "m1");
    queue(&mut bench, "m2", run);
    bench.end(Outcome::Cancelled);
    let ids: Vec<_> = told(&mut bench).iter().map(|line| line["id"].clone()).collect();
    assert_eq!(ids, ["m1", "m2"]);
}

#[test]
fn a_message_that_somebody_took_back_is_an_error() {
    let mut bench = ready();
    let run = prompt(&mut bench, "m1");
    let item = queue(&mut bench, "m2", run);
    bench.leave(item, Leaving::Dropped);
    assert_eq!(
        told(&mut bench),
        [json!({ "type": "error", "id": "m2", "error": "The message was taken back before its turn." })]
    );
}

#[test]
fn what_others_do_in_the_session_is_not_told() {
    let mut bench = ready();
    bench.begin("hello");
    bench.talk("for another UI");
    bench.end(Outcome::Done);
    assert!(told(&mut bench).is_empty());
}

#[test]
fn the_conversation_of_the_last_message_is_the_current_one() {
    let mut bench = ready();
    prompt(&mut bench, "m1");
    bench.end(Outcome::Done);
    bench.say(r#"{"id":"m2","kind":"user_message","message":"hi","metadata":{"conversationId":"conv-456"}}"#);
    let (ticket, other, run) = (bench.command().0, session("sess-conv-456"), bench.mint_run());
    bench.settle(ticket, Ok(Receipt::Started { session: other.clone(), run }));
    bench.say(r#"{"id":"c","kind":"clear_history"}"#);
    assert_eq!(bench.command().1, Target::Session(other));
}

#[test]
fn status_tells_how_long_it_is_up() {
    let mut bench = runtime();
    bench.forget();
    bench.now.0 += 3_600_000;
    bench.say(r#"{"id":"s","kind":"get_status"}"#);
    let data = json!({ "state": "idle", "conversationLength": 0, "uptime": 3_600_000 });
    assert_eq!(told(&mut bench), [json!({ "type": "status", "id": "s", "data": data })]);
}

#[test]
fn attachments_and_images_go_with_the_message() {
    let mut bench = ready();
    let images = json!([{ "data": "aGk=", "mime_type": "image/png", "name": "x.png" }]).to_string();
    let line = json!({ "id": "m1", "kind": "user_message", "message": "look",
        "attachments": [{ "path": "/path/to/file.txt", "mime": "text/plain" }], "images": images });
    bench.say(&line.to_string());
    let (_, _, Command::Run(RunCommand::Prompt { input, .. })) = bench.command() else { panic!("no prompt") };
    assert_eq!(input.text, "look\n\n[attached file: /path/to/file.txt (text/plain)]");
    assert!(
        matches!(&input.attachments[0], Part::Opaque { kind, json } if kind == ATTACHMENT && json.as_str().contains("/path/to/file.txt"))
    );
    assert!(
        matches!(&input.attachments[1], Part::Image { mime, base64 } if mime == "image/png" && &**base64 == "aGk=")
    );
}

#[test]
fn too_much_is_refused_and_the_link_lives() {
    let mut bench = ready();
    for _ in 0..150 {
        bench.say(r#"{"id":"p","kind":"nope"}"#);
    }
    let lines = told(&mut bench);
    assert_eq!(lines.len(), 150);
    assert!(lines[149]["error"].as_str().unwrap().contains("slow down"));
    for number in 0..=MAX_REQUESTS {
        bench.now.0 += 1000;
        bench.say(&json!({ "id": format!("m{number}"), "kind": "user_message", "message": "x" }).to_string());
    }
    assert_eq!(told(&mut bench).len(), 1);
    bench.now.0 += 1000;
    bench.line(Line::Overlong(r#"{"id":"big","kind":"user_message","message":"aaa"#.into()));
    bench.line(Line::Garbled("?".into()));
    let lines = told(&mut bench);
    assert_eq!((&lines[0]["id"], &lines[1]["id"]), (&json!("big"), &json!("")));
}

proptest! {
    #[test]
    fn every_line_is_answered_or_asked_once(line in r#"(\{"id":("[a-z]{0,2}"|5|null),"kind":"(user_message|clear_history|get_status|load_conversation|x)"(,"message":("a"|""|1))?(,"images":"(nope|\[\])")?\})|.{0,40}"#) {
        let mut bench = ready();
        bench.say(&line);
        let expected = usize::from(!line.trim().is_empty());
        prop_assert_eq!(told(&mut bench).len() + bench.commands().len(), expected);
    }
}
