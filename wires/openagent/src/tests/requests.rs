//! The runtime's side: requests about sessions and queries, bounds, and bad input.

use super::{HOME, by_the_book, methods, query};
use domain::command::{Command, ExportFormat, LibraryCommand, Receipt, Refusal, RefusalKind};
use domain::content::Usage;
use domain::event::Outcome;
use domain::ids::Millis;
use domain::origin::{Origin, RuntimePlace};
use domain::session::SessionSummary;
use domain::tool::{ToolOutcome, ToolResult};
use roles::Line;
use serde_json::json;
use testkit::bench::{session, summary};

#[test]
fn lists_are_no_objects() {
    for (method, member) in [
        ("agent.query", r#""message":"x","context":[]"#),
        ("agent.query", r#""message":"x","options":[true]"#),
        ("initialize", r#""client_info":[]"#),
        ("tool.approve", r#""execution_id":"e","options":[]"#),
    ] {
        let mut bench = by_the_book();
        bench.say(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{{{member}}}}}"#));
        assert_eq!(bench.sent()[0]["error"]["code"], -32602, "{method} {member}");
    }
}

#[test]
fn a_loaded_session_has_its_messages_in_readable_roles() {
    let mut bench = by_the_book();
    query(&mut bench);
    let (step, message) = bench.step();
    bench.delta(message, "Try\n```sh\nls\n```\n");
    let tool = bench.propose(message, "read", "{}");
    bench.end_message(message);
    bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("secret"));
    bench.end_step(step, Usage::default());
    bench.end(Outcome::Done);
    bench.sent();
    let load =
        format!(r#"{{"jsonrpc":"2.0","id":6,"method":"session.load","params":{{"session_id":"{HOME}"}}}}"#);
    let listed = SessionSummary { messages: 20, ..summary(&session(HOME)) };
    bench.asked(&load, Ok(Receipt::Session { session: listed, parent: None }));
    let result = &bench.sent()[0]["result"];
    assert_eq!(result["session"]["blocks_count"], 2);
    assert_eq!(
        (&result["message_count"], &result["session"]["messages_count"]),
        (&json!(20), &json!(20)),
        "as in a list"
    );
    let roles: Vec<_> = result["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    assert_eq!(result["messages"][0]["timestamp"], "2024-10-27T03:33:20.000Z");
}

#[test]
fn a_session_that_is_open_elsewhere_is_called_as_the_client_knows_it() {
    let mut bench = by_the_book();
    let load = r#"{"jsonrpc":"2.0","id":6,"method":"session.load","params":{"session_id":"3b2a104f0e81"}}"#;
    let busy = "session sess-18e0f401a2b3 is open in another program, process 7";
    bench.asked(load, Err(Refusal::new(RefusalKind::Storage, busy)));
    let error = &bench.sent()[0]["error"];
    assert_eq!(error["code"], -32000, "nothing of ours is broken: {error}");
    assert_eq!(error["message"], "Agent error: session 3b2a104f0e81 is open in another program, process 7");
}

#[test]
fn a_deleted_session_ends_its_query() {
    let mut bench = by_the_book();
    query(&mut bench);
    bench.sent();
    bench.detach(&session(HOME));
    assert_eq!(methods(&bench.sent()), ["stream.error", "stream.complete"]);
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"session.save","params":{"path":"/x"}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32000);
}

#[test]
fn a_refusal_brings_its_hint() {
    let mut bench = by_the_book();
    let delete =
        format!(r#"{{"jsonrpc":"2.0","id":8,"method":"session.delete","params":{{"session_id":"{HOME}"}}}}"#);
    bench.asked(&delete, Err(Refusal::new(RefusalKind::SessionUnknown, "there is none").hint("list")));
    let sent = bench.sent();
    assert_eq!(
        (&sent[0]["error"]["code"], &sent[0]["error"]["data"]["hint"]),
        (&json!(-32602), &json!("list"))
    );
}

#[test]
fn bad_input_is_answered_and_harmless() {
    let mut bench = by_the_book();
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":12,"method":"agent.query","params":{"message":" "}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":12,"method":"session.delete","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":12,"method":"session.save","params":{"include_blocks":false}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":12,"method":"session.save","params":{"include_history":false,"include_blocks":true}}"#,
            -32602,
        ),
        (r#"{"id":12,"method":"session.list","params":{}}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":12,"method":"session.list","params":{}}"#, -32600),
    ] {
        bench.say(line);
        let sent = bench.sent();
        assert_eq!(
            (sent.len(), &sent[0]["id"], &sent[0]["error"]["code"]),
            (1, &json!(12), &json!(code)),
            "{line}"
        );
    }
    bench.line(Line::Overlong(
        r#"{"jsonrpc":"2.0","id":77,"method":"agent.query","params":{"message":"xx"#.into(),
    ));
    let sent = bench.sent();
    assert_eq!((&sent[0]["id"], &sent[0]["error"]["code"]), (&json!(77), &json!(-32600)));
    for silent in [
        "",
        "  ",
        r#"{"method":"context.update","params":{"cwd":"/x"}}"#,
        r#"{"jsonrpc":"2.0","method":"whatever"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
    ] {
        bench.say(silent);
        assert!(bench.lines().is_empty() && bench.commands().is_empty(), "{silent}");
    }
}

#[test]
fn a_hundred_requests_a_second() {
    let mut bench = by_the_book();
    bench.now = Millis(bench.now.0 + 10_000);
    for id in 0..150 {
        bench.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"nope"}}"#));
    }
    let codes: Vec<_> = bench.sent().iter().map(|line| line["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == -32601).count(), 100);
    assert_eq!(codes.iter().filter(|code| **code == -32000).count(), 50);
}

/// The existing client shows eight characters of a name, and takes what the person types from there.
#[test]
fn sessions_are_named_by_what_varies_and_found_by_its_beginning() {
    let mut bench = by_the_book();
    let ids = ["sess-18e0f401a2b3", "sess-18e0f401a2c4"];
    let listed = ids.map(|id| summary(&session(id))).to_vec();
    let list = r#"{"jsonrpc":"2.0","id":3,"method":"session.list","params":{}}"#;
    bench.asked(list, Ok(Receipt::Sessions(listed)));
    let result = bench.sent()[0]["result"].clone();
    let names: Vec<&str> = result["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["3b2a104f0e81", "4c2a104f0e81"]);
    for name in [names[0], &names[0][..8], "3", ids[0]] {
        for (method, is) in [
            ("session.load", Command::Library(LibraryCommand::Open { session: session(ids[0]) })),
            ("session.delete", Command::Library(LibraryCommand::Delete { session: session(ids[0]) })),
            (
                "session.export",
                Command::Library(LibraryCommand::Export {
                    session: Some(session(ids[0])),
                    format: ExportFormat::Markdown,
                }),
            ),
        ] {
            bench.say(
                &json!({"jsonrpc":"2.0","id":4,"method":method,"params":{"session_id":name}}).to_string(),
            );
            assert_eq!(bench.command().2, is, "{name}");
        }
    }
    let load = r#"{"jsonrpc":"2.0","id":5,"method":"session.load","params":{"session_id":"5"}}"#;
    bench.asked(load, Ok(Receipt::Sessions(Vec::new())));
    assert_eq!(bench.sent().pop().unwrap()["error"]["code"], -32602, "no session begins so");
}

/// A name that was noted yesterday is among the ten newest no more.
#[test]
fn the_beginning_of_a_name_is_enough_without_a_list() {
    let ids = ["sess-18e0f401a2b3", "sess-18e0f402a2b3"];
    let all = || Ok(Receipt::Sessions(ids.map(|id| summary(&session(id))).to_vec()));
    let load = |name: &str| {
        json!({"jsonrpc":"2.0","id":5,"method":"session.load","params":{"session_id":name}}).to_string()
    };
    for (name, meant) in [("3b2a104f", Some(ids[0])), ("3b2a204", Some(ids[1])), ("3b2a", None)] {
        let mut bench = by_the_book();
        let (_, asked) = bench.asked(&load(name), all());
        assert!(matches!(asked, Command::Library(LibraryCommand::List { .. })), "{asked:?}");
        match meant {
            Some(id) => {
                let open = LibraryCommand::Open { session: session(id) };
                assert_eq!(bench.command().2, Command::Library(open), "{name}");
            }
            None => assert_eq!(bench.sent().pop().unwrap()["error"]["code"], -32602, "two begin so"),
        }
    }
}

#[test]
fn what_cannot_be_loaded_is_not_listed() {
    let mut bench = by_the_book();
    let place = RuntimePlace::Socket { path: "/tmp/core".into() };
    let origin = Origin { dialect: "some".into(), place, session: None };
    let theirs = SessionSummary { origin: Some(Box::new(origin)), ..summary(&session("sess-18e0f401a2c4")) };
    let listed = vec![theirs, summary(&session("sess-18e0f401a2b3")), summary(&session("sess-18e0f401a2a2"))];
    let list = r#"{"jsonrpc":"2.0","id":3,"method":"session.list","params":{"limit":1}}"#;
    bench.asked(list, Ok(Receipt::Sessions(listed)));
    let sessions = bench.sent()[0]["result"]["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 1, "as many as were wanted");
    assert_eq!(sessions[0]["session_id"], "3b2a104f0e81", "and the next one in its place");
}
