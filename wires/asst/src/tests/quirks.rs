//! One test per quirk, of the same name.

use super::{hear, prompt, queue, ready, runtime, told, ui};
use crate::quirks::QUIRKS;
use crate::{AsstUi, MAX_READY_AGAIN};
use domain::command::{Command, LibraryCommand, Receipt, RefusalKind, RunCommand};
use domain::event::{Cause, Leaving, Outcome};
use domain::tool::{ToolOutcome, ToolResult};
use roles::{Hello, TimerKey};
use serde_json::{Value, json};
use testkit::bench::UiBench;

#[test]
fn every_quirk_has_a_test() {
    let tests = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
}

fn one_tool(outcome: ToolOutcome, result: ToolResult) -> Vec<Value> {
    let mut bench = ready();
    prompt(&mut bench, "msg-1794");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", r#"{"path":"src"}"#);
    bench.run_tool(tool, outcome, result);
    told(&mut bench)
}

#[test]
fn two_sets_of_names() {
    for line in one_tool(ToolOutcome::Done, ToolResult::text("x")) {
        let data = &line["data"];
        assert_eq!((&data["toolId"], &data["toolName"]), (&data["tool_use_id"], &data["tool_name"]));
        assert!(data["toolId"].is_string() && data["toolName"].is_string());
    }
    for data in [
        json!({ "toolId": "t", "toolName": "list_files", "input": { "path": "." } }),
        json!({ "tool_use_id": "t", "tool_name": "list_files", "tool_input": { "path": "." } }),
    ] {
        let mut bench = ui();
        bench.prompt("hi");
        hear(&mut bench, &json!({ "type": "tool_use", "id": "msg-1", "data": data, "timestamp": 1 }));
        let tool = bench.state.tools.values().next().unwrap();
        assert_eq!((tool.name.as_str(), tool.args.as_str()), ("list_files", r#"{"path":"."}"#));
    }
}

#[test]
fn tool_ids_hold_the_request() {
    for line in one_tool(ToolOutcome::Done, ToolResult::text("x")) {
        assert!(line["data"]["tool_use_id"].as_str().unwrap().contains("msg-1794"));
    }
}

#[test]
fn ready_is_said_again() {
    let mut bench = runtime();
    assert_eq!(bench.link.timers.keys().collect::<Vec<_>>(), [&TimerKey(1)]);
    for _ in 0..MAX_READY_AGAIN {
        bench.fire(TimerKey(1));
    }
    assert!(bench.link.timers.is_empty(), "not for ever");
    let lines = told(&mut bench);
    assert_eq!(lines.len(), 1 + MAX_READY_AGAIN as usize);
    assert_eq!(lines[0], lines[1]);
    let mut bench = runtime();
    bench.say(r#"{"id":"s","kind":"get_status"}"#);
    assert!(bench.link.timers.is_empty(), "whoever asks has heard it");
}

#[test]
fn images_in_a_string() {
    let picture = json!([{ "data": "aGk=", "mime_type": "image/jpeg" }]);
    for images in [Value::String(picture.to_string()), picture] {
        let mut bench = ready();
        bench.say(&json!({ "id": "i", "kind": "user_message", "message": "", "images": images }).to_string());
        assert!(
            matches!(bench.command().2, Command::Run(RunCommand::Prompt { input, .. }) if input.attachments.len() == 1)
        );
    }
    let mut bench = ready();
    bench.say(r#"{"id":"i","kind":"user_message","message":"hello","images":"nope"}"#);
    assert!(
        matches!(bench.command().2, Command::Run(RunCommand::Prompt { input, .. }) if input.attachments.is_empty())
    );
    assert!(bench.link.logs[0].contains("images"));
    let mut bench = ready();
    let large = json!([{ "data": "a".repeat(7_550_000), "mime_type": "image/png" }]).to_string();
    bench.say(&json!({ "id": "i", "kind": "user_message", "message": "x", "images": large }).to_string());
    let words = "Image too large (5.4MB). Maximum size is 5MB. Please use a smaller image.";
    assert_eq!(told(&mut bench), [json!({ "type": "error", "id": "i", "error": words })]);
}

#[test]
fn every_request_is_answered() {
    for (line, id) in [
        (r#"{"id":"e","kind":"user_message","message":""}"#, "e"),
        (r#"{"id":"s","kind":"get_status"}"#, "s"),
        (r#"{"id":"u","kind":"frobnicate"}"#, "u"),
        (r#"{"id":"u"}"#, "u"),
        (r#"{"kind":"clear_history"}"#, ""),
        ("{nope", ""),
        ("null", ""),
        ("[]", ""),
        ("7", ""),
    ] {
        let mut bench = runtime();
        told(&mut bench);
        bench.say(line);
        let lines = told(&mut bench);
        assert_eq!(lines.len(), 1, "{line}");
        assert_eq!(lines[0]["id"], id, "{line}");
    }
}

#[test]
fn failed_tools_are_results() {
    let told = one_tool(ToolOutcome::Failed, ToolResult::text("exit 1"));
    assert_eq!(told[1]["type"], "tool_result");
    assert_eq!(
        (&told[1]["data"]["error"], &told[1]["data"]["result"]["error"]),
        (&json!("exit 1"), &json!("exit 1"))
    );
    let mut bench = ui();
    bench.prompt("hi");
    hear(
        &mut bench,
        &json!({ "type": "tool_use", "id": "msg-1", "data": { "tool_use_id": "t", "tool_name": "x" }, "timestamp": 1 }),
    );
    hear(
        &mut bench,
        &json!({ "type": "tool_result", "id": "msg-1", "data": { "tool_use_id": "t", "tool_name": "x", "error": "no" }, "timestamp": 1 }),
    );
    assert!(bench.state.open_run().is_some(), "a failed tool does not end the message");
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.phase, domain::tool::ToolPhase::Ended(ToolOutcome::Failed));
}

#[test]
fn empty_results_are_filled() {
    assert_eq!(one_tool(ToolOutcome::Done, ToolResult::text(""))[1]["data"]["result"], "(no output)");
}

#[test]
fn results_are_objects() {
    for (result, text) in [
        (
            json!([{ "name": "a.txt", "type": "file", "path": "a.txt" }, { "name": "src", "type": "directory" }]),
            "a.txt\nsrc/",
        ),
        (json!(["x.rs", "y.rs"]), "x.rs\ny.rs"),
        (json!({ "path": "a", "content": "hello" }), "hello"),
        (json!({ "stdout": "out\n", "stderr": "err\n" }), "out\nerr"),
        (json!({ "files": ["a"] }), r#"{"files":["a"]}"#),
        (json!([]), "[]"),
    ] {
        let mut bench = ui();
        bench.prompt("x");
        let data = json!({ "tool_use_id": "t", "tool_name": "list_files" });
        hear(&mut bench, &json!({ "type": "tool_use", "id": "msg-1", "data": data, "timestamp": 1 }));
        let data = json!({ "tool_use_id": "t", "tool_name": "list_files", "result": result });
        hear(&mut bench, &json!({ "type": "tool_result", "id": "msg-1", "data": data, "timestamp": 2 }));
        let told = bench.state.tools.values().next().unwrap().result.clone().unwrap();
        assert_eq!(told.text, text);
        assert_eq!(told.json.unwrap().as_str(), result.to_string());
    }
}

#[test]
fn messages_do_not_mix() {
    let mut bench = ready();
    let run = prompt(&mut bench, "a");
    let item = queue(&mut bench, "b", run);
    bench.talk("1");
    bench.end_turn();
    bench.leave(item, Leaving::Taken);
    bench.turn(Cause::FollowUp, "and then");
    bench.talk("2");
    bench.end(Outcome::Done);
    let tokens: Vec<_> = told(&mut bench).into_iter().filter(|line| line["type"] == "token").collect();
    assert_eq!((&tokens[0]["id"], &tokens[1]["id"]), (&json!("a"), &json!("b")));
}

#[test]
fn numbers_as_ids() {
    let mut bench = runtime();
    told(&mut bench);
    bench.say(r#"{"id":5,"kind":"clear_history"}"#);
    assert_eq!(told(&mut bench), [json!({ "type": "done", "id": 5 })]);
}

#[test]
fn errors_without_an_id() {
    let mut bench = ui();
    hear(&mut bench, &json!({ "type": "error", "error": "not about us", "timestamp": 1 }));
    bench.prompt("hi");
    hear(&mut bench, &json!({ "type": "error", "error": "it broke", "timestamp": 1 }));
    assert!(matches!(bench.outcome(), Some(Outcome::Failed(failure)) if failure.message == "it broke"));
}

#[test]
fn a_new_conversation_is_in_the_same_folder() {
    let hello = Hello { cwd: "/w".to_owned(), ..Hello::default() };
    let mut bench = UiBench::open(AsstUi::new(), &hello);
    hear(&mut bench, &json!({ "type": "ready", "timestamp": 1 }));
    bench.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    let id = bench.sent()[0]["id"].clone();
    let data = json!({ "conversationId": "c-2" });
    hear(&mut bench, &json!({ "type": "done", "id": id, "timestamp": 2, "data": data }));
    let settled = bench.settled.pop();
    let Some((_, Ok(Receipt::Session { session, .. }))) = settled else { panic!("{settled:?}") };
    assert_eq!(session.cwd, "/w");
}

#[test]
fn silence_is_survived() {
    let mut bench = ui();
    bench.prompt("hi");
    bench.fire(TimerKey(2));
    assert!(bench.state.open_run().is_some(), "first only a word of warning");
    bench.fire(TimerKey(2));
    assert!(bench.state.open_run().is_none());
    bench.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    bench.fire(TimerKey(1002));
    assert_eq!(bench.refused(), RefusalKind::Unsupported);
    hear(&mut bench, &json!({ "type": "token", "id": "msg-1", "token": "late", "timestamp": 1 }));
    assert!(bench.texts().is_empty());
}
