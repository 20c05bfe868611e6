//! What the client brings along: files that it holds, MCP servers, and a way to log in.

use super::runtime::begun;
use super::{agent, here, one, up};
use domain::command::{Command, LibraryCommand, ListCommand, Receipt};
use domain::session::ModelRef;
use domain::ui_files::{FileRequest, FileRequestId, UiFiles};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, summary};

fn wants(bench: &mut RuntimeBench, wish: u64, request: &FileRequest) -> Vec<Value> {
    bench.call(|role, cx| role.file(cx, &here(), FileRequestId(wish), request));
    bench.sent()
}

#[test]
fn files_go_through_a_client_that_holds_them() {
    let mut bench = up(json!({"fs":{"readTextFile":true,"writeTextFile":true}}));
    assert_eq!(bench.role.files(), UiFiles { reads: true, writes: true });
    begun(&mut bench, 2);
    bench.sent();
    let asked = wants(&mut bench, 7, &FileRequest::Read { path: "/w/a.txt".into() });
    assert_eq!(asked[0]["method"], "fs/read_text_file");
    assert_eq!(asked[0]["params"], json!({"sessionId":"sess-0001","path":"/w/a.txt"}));
    bench.say(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":{"content":"open"}}).to_string());
    bench.say(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":{"content":"twice"}}).to_string());
    assert_eq!(bench.files, [(FileRequestId(7), Ok("open".to_owned()))]);
    let write = FileRequest::Write { path: "/w/a.txt".into(), text: "new".into() };
    let asked = wants(&mut bench, 8, &write);
    assert_eq!(asked[0]["method"], "fs/write_text_file");
    assert_eq!(asked[0]["params"]["content"], "new");
    bench.say(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":null}).to_string());
    let asked = wants(&mut bench, 9, &write);
    let error = json!({"code":-32603,"message":"the disk is full"});
    bench.say(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"error":error}).to_string());
    let asked = wants(&mut bench, 10, &FileRequest::Read { path: "/w/b".into() });
    bench.say(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":{"text":"no"}}).to_string());
    assert!(wants(&mut bench, 11, &FileRequest::Read { path: "file:///w/b%FF".into() }).is_empty());
    let answers: Vec<(u64, bool)> = bench.files.iter().map(|(id, with)| (id.0, with.is_ok())).collect();
    assert_eq!(answers, [(7, true), (8, true), (9, false), (10, false), (11, false)]);
    assert!(bench.files[2].1.as_ref().is_err_and(|why| why.contains("disk is full")));
}

#[test]
fn a_client_without_files_is_not_asked_for_any() {
    assert!(!up(json!({})).role.files().any());
    // One of ours holds no files open.
    let ours = json!({"fs":{"readTextFile":true,"writeTextFile":true},"_meta":{"parlor":true}});
    assert!(!up(ours).role.files().any());
    // What is read from one place and written to the other would be lost in between.
    for half in ["readTextFile", "writeTextFile"] {
        assert!(!up(json!({"fs":{half:true}})).role.files().any(), "{half}");
    }
}

#[test]
fn servers_of_the_client_are_handed_on_once_it_has_the_session() {
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    let servers = json!([
        {"name":"my files","command":"/bin/srv","args":["-x"],"env":[{"name":"K","value":"v"}]},
        {"name":"my/files","command":"/bin/other","args":[],"env":[]},
        {"type":"http","name":"web","url":"https://example.org/mcp","headers":[{"name":"A","value":"b"}]},
    ]);
    let params = json!({"cwd":"/w","mcpServers":servers});
    bench.say(&json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":params}).to_string());
    let ticket = one(&mut bench, |command| matches!(command, Command::Library(LibraryCommand::New { .. })));
    assert!(bench.given.is_empty());
    bench.attach();
    bench.settle(ticket, Ok(Receipt::Session { session: summary(&here()), parent: None }));
    super::settle_lists(&mut bench);
    let (session, given) = bench.given.remove(0);
    assert_eq!(session, here());
    let told: Vec<(String, Value)> = given
        .into_iter()
        .map(|server| (server.name, serde_json::from_str(server.entry.as_str()).unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("my-files".to_owned(), json!({"command":"/bin/srv","args":["-x"],"env":{"K":"v"}})),
            ("my-files-2".to_owned(), json!({"command":"/bin/other","args":[],"env":{}})),
            ("web".to_owned(), json!({"url":"https://example.org/mcp","headers":{"A":"b"}})),
        ]
    );
}

fn ways_in_for(client: &Value) -> Value {
    let mut bench = agent();
    let params = json!({"protocolVersion":1,"clientCapabilities":client});
    bench.say(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":params}).to_string());
    bench.sent()[0]["result"]["authMethods"].clone()
}

#[test]
fn a_login_by_terminal_is_offered_only_to_who_opens_one() {
    for client in [json!({"auth":{"terminal":true}}), json!({"_meta":{"terminal-auth":true}})] {
        let ways = ways_in_for(&client);
        assert_eq!(
            (ways[0]["type"].as_str(), &ways[0]["args"]),
            (Some("terminal"), &json!(["login"])),
            "{client}"
        );
    }
    for client in [json!({}), json!({"terminal":true}), json!({"auth":{"terminal":false}})] {
        let ways = ways_in_for(&client);
        assert_eq!((&ways[0]["type"], &ways[0]["args"]), (&Value::Null, &Value::Null), "{client}");
        let told = ways[0]["description"].as_str().unwrap();
        assert!(told.contains("parlor login"), "how to get a key is said to everybody: {told}");
    }
}

#[test]
fn a_client_that_takes_the_first_way_in_of_every_agent_comes_in_where_a_model_is_at_hand() {
    let model = ModelRef { provider: "p".to_owned(), name: "m".to_owned() };
    for (current, code) in [(Some(model), None), (None, Some(-32000))] {
        let mut bench = agent();
        bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
        let way = bench.sent()[0]["result"]["authMethods"][0]["id"].clone();
        let params = json!({"methodId":way});
        bench.say(&json!({"jsonrpc":"2.0","id":1,"method":"authenticate","params":params}).to_string());
        assert!(bench.sent().is_empty(), "it is not known yet");
        let ticket = one(&mut bench, |command| matches!(command, Command::List(ListCommand::Models { .. })));
        bench.settle(ticket, Ok(Receipt::Models { models: Vec::new(), current }));
        let answer = bench.sent()[0].clone();
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
        if code.is_some() {
            assert!(answer["error"]["message"].as_str().unwrap().contains("parlor login"), "{answer}");
        } else {
            assert_eq!(answer["result"], json!({}));
        }
    }
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"oauth"}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], json!(-32602));
}
