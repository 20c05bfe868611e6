//! The runtime's side: requests about sessions and queries, bounds, and bad input.

use super::bench::{HOME, RuntimeBench, START, methods, session, summary};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand};
use domain::content::Usage;
use domain::event::{Body, Finish, MessageEvent, Outcome, RunEvent};
use domain::ids::Millis;
use domain::session::RunSummary;
use domain::tool::{ToolOutcome, ToolResult};
use roles::{Line, RuntimeRole};
use serde_json::{Value, json};

#[test]
fn hello() {
    let mut bench = RuntimeBench::new();
    bench.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.2.0","client_info":{"name":"x","version":"2"},"terminal_size":{"cols":80,"rows":24,"pixel_width":800,"pixel_height":600},"capabilities":["streaming"],"config":{"theme":"monokai"}}}"#);
    let wanted = json!({"jsonrpc":"2.0","id":1,"result":{"status":"ready","protocol_version":"1.0.0",
        "server_info":{"name":"parlor","version":"1.2.3"},
        "capabilities":["streaming","blocks","tool_execution","context_aware","tool_approval","session_persistence"],
        "models":[{"name":"offline/echo","type":"chat","loaded":true}]}});
    assert_eq!(bench.sent(), [wanted]);
    bench.say(r#"{"jsonrpc":"2.0","id":"two","method":"initialize","params":{"protocol_version":"2.0.0"}}"#);
    let refused = &bench.sent()[0];
    assert_eq!(refused["id"], "two");
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused["error"]["data"], json!({"supported":["1.0.0"],"requested":"2.0.0"}));
}

#[test]
fn lists_are_no_objects() {
    for (method, member) in [
        ("agent.query", r#""message":"x","context":[]"#),
        ("agent.query", r#""message":"x","options":[true]"#),
        ("initialize", r#""client_info":[]"#),
        ("tool.approve", r#""execution_id":"e","options":[]"#),
    ] {
        let mut bench = RuntimeBench::by_the_book();
        bench.say(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{{{member}}}}}"#));
        assert_eq!(bench.sent()[0]["error"]["code"], -32602, "{method} {member}");
    }
}

#[test]
fn cancelling() {
    let mut bench = RuntimeBench::by_the_book();
    let run = bench.query();
    bench.sent();
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"agent.cancel","params":{"query_id":"q-1"}}"#);
    let (ticket, _, command) = bench.command();
    assert_eq!(command, Command::Run(RunCommand::Cancel { run: Some(run), reason: None }));
    bench.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    bench.end(HOME, Outcome::Cancelled);
    let lines = bench.sent();
    assert_eq!(lines[0], json!({"jsonrpc":"2.0","id":3,"result":{"cancelled":true,"query_id":"q-1"}}));
    assert_eq!(lines[1]["params"]["status"], "cancelled");
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"agent.cancel","params":{"query_id":"q-1"}}"#);
    assert_eq!(bench.sent()[0]["result"]["cancelled"], false);
    bench.say(r#"{"jsonrpc":"2.0","id":5,"method":"agent.cancel","params":{"query_id":"q-77"}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32602);
}

#[test]
fn sessions() {
    let mut bench = RuntimeBench::by_the_book();
    let mut ask = |line: &str, with: Result<Receipt, Refusal>| {
        bench.say(line);
        let (ticket, _, command) = bench.command();
        bench.settle(ticket, with);
        (command, bench.sent().remove(0))
    };
    let (_, list) = ask(
        r#"{"jsonrpc":"2.0","id":10000,"method":"session.list","params":{"limit":5}}"#,
        Ok(Receipt::Sessions(vec![summary(HOME)])),
    );
    let wanted = json!({"status":"success","sessions":[{"session_id":HOME,"title":"a title","created_at":"2024-10-27T03:33:20.000Z",
        "updated_at":"2024-10-27T03:33:21.000Z","message_count":2,"total_tokens":15}]});
    assert_eq!(list["result"], wanted);
    let loaded = Ok(Receipt::Session { session: summary(HOME), parent: None });
    let (command, load) = ask(
        r#"{"jsonrpc":"2.0","id":6,"method":"session.load","params":{"path":"/home/user/s.json"}}"#,
        loaded.clone(),
    );
    assert_eq!(command, Command::Library(LibraryCommand::Load { path: "/home/user/s.json".into() }));
    assert_eq!(load["result"]["loaded"], true);
    let session_json = json!({"id":HOME,"created":1_730_000_000,"blocks_count":0,"messages_count":0});
    assert_eq!(load["result"]["session"], session_json);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":6,"method":"session.load","params":{{"session_id":"{HOME}"}}}}"#);
    let (command, load) = ask(&line, loaded);
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: session(HOME) }));
    assert_eq!(load["result"]["session_id"], HOME);
    let (command, save) = ask(
        r#"{"jsonrpc":"2.0","id":5,"method":"session.save","params":{"path":"/s.json","include_history":true,"include_blocks":true}}"#,
        Ok(Receipt::Saved { path: "/s.json".into(), size: 45632 }),
    );
    assert_eq!(
        command,
        Command::Library(LibraryCommand::Save { path: Some("/s.json".into()), history: true })
    );
    assert_eq!(save["result"], json!({"saved":true,"path":"/s.json","size":45632}));
    let format = domain::command::ExportFormat::Markdown;
    let (_, export) = ask(
        r#"{"jsonrpc":"2.0","id":7,"method":"session.export","params":{}}"#,
        Ok(Receipt::Exported { format, text: "# a".into() }),
    );
    assert_eq!(export["result"], json!({"status":"success","format":"markdown","content":"# a"}));
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":8,"method":"session.delete","params":{{"session_id":"{HOME}"}}}}"#);
    let (_, delete) = ask(&line, Ok(Receipt::Done));
    assert_eq!(delete["result"], json!({"status":"success","deleted":HOME}));
    let (_, delete) =
        ask(&line, Err(Refusal::new(RefusalKind::SessionUnknown, "there is none").hint("list")));
    assert_eq!(delete["error"]["code"], -32602);
    assert_eq!(delete["error"]["data"]["hint"], "list");
}

#[test]
fn a_loaded_session_has_its_messages_in_readable_roles() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    let (step, message) = bench.answer(HOME);
    bench.delta(HOME, message, "Try\n```sh\nls\n```\n");
    let tool = bench.propose(message, "read", "{}");
    bench.happen(HOME, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("secret"));
    bench.happen(HOME, Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    bench.end(HOME, Outcome::Done);
    bench.sent();
    bench.say(&format!(
        r#"{{"jsonrpc":"2.0","id":6,"method":"session.load","params":{{"session_id":"{HOME}"}}}}"#
    ));
    let (ticket, ..) = bench.command();
    bench.settle(ticket, Ok(Receipt::Session { session: summary(HOME), parent: None }));
    let result = &bench.sent()[0]["result"];
    assert_eq!(result["session"]["blocks_count"], 2);
    assert_eq!(result["message_count"], 2);
    let roles: Vec<_> = result["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    assert_eq!(result["messages"][0]["timestamp"], "2024-10-27T03:33:20.000Z");
}

#[test]
fn a_deleted_session_ends_its_query() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    bench.sent();
    let (home, now) = (session(HOME), bench.now);
    bench.role.detached(&mut roles::Cx { now, effects: &mut bench.effects }, &home);
    assert_eq!(methods(&bench.sent()), ["stream.error", "stream.complete"]);
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"session.save","params":{"path":"/x"}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32000);
}

#[test]
fn bad_input_is_answered_and_harmless() {
    let mut bench = RuntimeBench::by_the_book();
    for (line, id, code) in [
        ("{not json", json!(null), -32700),
        ("[1,2]", json!(null), -32600),
        ("42", json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":8,"method":"nope"}"#, json!(8), -32601),
        (r#"{"jsonrpc":"2.0","id":9}"#, json!(9), -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"initialize"}"#, json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":[]}"#, json!(4), -32602),
        (r#"{"jsonrpc":"2.0","id":10,"method":"agent.query","params":{"message":5}}"#, json!(10), -32602),
        (r#"{"jsonrpc":"2.0","id":11,"method":"agent.query","params":{}}"#, json!(11), -32602),
        (r#"{"jsonrpc":"2.0","id":12,"method":"agent.query","params":{"message":" "}}"#, json!(12), -32602),
        (
            r#"{"jsonrpc":"2.0","id":13,"method":"session.load","params":{"session_id":"../../etc/passwd"}}"#,
            json!(13),
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":14,"method":"session.load","params":{}}"#, json!(14), -32602),
        (
            r#"{"jsonrpc":"2.0","id":15,"method":"session.export","params":{"format":"pdf"}}"#,
            json!(15),
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":16,"method":"session.delete","params":{}}"#, json!(16), -32602),
    ] {
        bench.say(line);
        let sent = bench.sent();
        assert_eq!(sent.len(), 1, "{line}");
        assert_eq!((&sent[0]["id"], &sent[0]["error"]["code"]), (&id, &json!(code)), "{line}");
    }
    bench.line(Line::Garbled("\u{fffd}".into()));
    assert_eq!(bench.sent()[0]["error"]["code"], -32700);
    bench.line(Line::Overlong(
        r#"{"jsonrpc":"2.0","id":77,"method":"agent.query","params":{"message":"xx"#.into(),
    ));
    let sent = bench.sent();
    assert_eq!((&sent[0]["id"], &sent[0]["error"]["code"]), (&json!(77), &json!(-32600)));
    for silent in
        ["", "  ", r#"{"jsonrpc":"2.0","method":"whatever"}"#, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#]
    {
        bench.say(silent);
    }
    assert_eq!(bench.sent(), Vec::<Value>::new());
    assert_eq!(bench.commands(), []);
}

#[test]
fn a_hundred_requests_a_second() {
    let mut bench = RuntimeBench::by_the_book();
    bench.now = Millis(START + 10_000);
    for id in 0..150 {
        bench.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"nope"}}"#));
    }
    let codes: Vec<_> = bench.sent().iter().map(|line| line["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == -32601).count(), 100);
    assert_eq!(codes.iter().filter(|code| **code == -32000).count(), 50);
}
