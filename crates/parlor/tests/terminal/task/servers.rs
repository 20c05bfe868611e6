//! `parlor run` with MCP servers that take their time to start, or never do.

use crate::task::story::Say;
use crate::task::{Project, Server, Wire};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// A server with one tool, behind a door that the test opens.
const SLOW: &str = r#"read -r word < door
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*) answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}' ;;
    *tools/list*) answer '{"tools":[{"name":"greet","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *tools/call*) answer '{"content":[{"type":"text","text":"hello from afar"}]}' ;;
    esac
done"#;

fn with_server(command: &str, args: &[&str]) -> Project {
    let project = Project::new();
    let servers = json!({"mcpServers": {"slow": {"command": command, "args": args}}});
    std::fs::write(project.path("config/mcp.json"), servers.to_string()).unwrap();
    // As long as there is: a machine may be busy.
    std::fs::write(project.path("config/config.toml"), "servers_within_s = 30\n").unwrap();
    project
}

#[test]
fn a_server_that_takes_its_time_is_waited_for_and_that_is_said() {
    for json in [false, true] {
        let story = vec![
            Say::call("I ask it.", "mcp__slow__greet", json!({}), "hello from afar"),
            Say::words("It greets you."),
        ];
        let (project, provider) =
            (with_server("/bin/sh", &["-c", SLOW]), Server::start(Wire::Anthropic, story));
        let door = project.path("work/door");
        assert!(std::process::Command::new("mkfifo").arg(&door).status().unwrap().success());
        let args: &[&str] = if json { &["run", "--json", "greet"] } else { &["run", "greet"] };
        let mut command = project.parlor(Wire::Anthropic, &provider, args);
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (run.stdout.take().unwrap(), run.stderr.take().unwrap());
        let (told, other): (Box<dyn Read>, Box<dyn Read>) =
            if json { (Box::new(out), Box::new(err)) } else { (Box::new(err), Box::new(out)) };
        let mut told = BufReader::new(told);
        let mut said = String::new();
        while !said.contains("waiting for MCP server slow to start…\n")
            && !said.contains(r#""code":"mcp_waiting""#)
        {
            assert_ne!(told.read_line(&mut said).unwrap(), 0, "it went on without waiting: {said}");
        }
        assert_eq!(provider.requests(), 0, "the model is asked once its tools are there");
        std::fs::write(&door, "open\n").unwrap();
        told.read_to_string(&mut said).unwrap();
        let (mut rest, mut other) = (String::new(), other);
        other.read_to_string(&mut rest).unwrap();
        let ready = if json { r#""code":"mcp_ready""# } else { "MCP server slow is ready, with 1 tool\n" };
        assert!(said.contains(ready), "{said}");
        assert_eq!(run.wait().unwrap().code(), Some(0), "{said}{rest}");
        assert_eq!(provider.trouble(), Vec::<String>::new(), "{said}");
        assert_eq!(provider.requests(), 2);
    }
}

#[test]
fn a_server_that_does_not_start_is_named_with_what_that_means() {
    let project = with_server("/no/such/server", &[]);
    let provider = Server::start(Wire::Anthropic, vec![Say::words("Without it, then.")]);
    let output = project.parlor(Wire::Anthropic, &provider, &["run", "greet"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("The MCP server slow cannot be used: "), "{said}");
    assert!(said.contains("This run goes on without its tools\n"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = provider.last()["messages"].to_string();
    assert!(told.contains("slow (it could not be started or has ended)"), "{told}");
}

/// A server whose tool wants to know something the first time, and fails without an answer.
const ASKING: &str = r#"answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*) answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}' ;;
    *tools/list*) answer '{"tools":[{"name":"greet","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *tools/call*)
        if [ -z "$asked" ]; then
            asked=yes
            printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}'
            read -r said
            answer '{"content":[{"type":"text","text":"nobody has a name"}],"isError":true}'
        else
            answer '{"content":[{"type":"text","text":"hello, whoever"}]}'
        fi ;;
    esac
done"#;

#[test]
fn a_question_that_nobody_answered_counts_only_where_something_was_left_undone() {
    let call = |gives| Say::call("I ask it.", "mcp__slow__greet", json!({}), gives);
    let (left, done) = (call("nobody has a name"), call("hello, whoever"));
    for (calls, code) in [(vec![left.clone()], 4), (vec![left, done], 0)] {
        let mut story = calls;
        story.push(Say::words("That is all."));
        let (project, provider) =
            (with_server("/bin/sh", &["-c", ASKING]), Server::start(Wire::Anthropic, story));
        let output = project.parlor(Wire::Anthropic, &provider, &["run", "greet"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(provider.trouble(), Vec::<String>::new(), "{said}");
        assert!(said.contains("not answered: "), "{said}");
        assert_eq!(output.status.code(), Some(code), "{said}");
    }
}

#[test]
fn a_model_that_asks_where_nobody_is_hears_that_and_the_run_ends_well() {
    let ask =
        Say::call("I ask.", "ask", json!({"kind": "confirm", "title": "Sure?"}), "There is no tool ask");
    let (project, provider) =
        (Project::new(), Server::start(Wire::Anthropic, vec![ask, Say::words("Done alone.")]));
    let output = project.parlor(Wire::Anthropic, &provider, &["run", "do it"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(provider.trouble(), Vec::<String>::new(), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told = provider.last();
    assert!(told["system"].to_string().contains("Nobody is there while you work"), "{told}");
    assert!(told["tools"].as_array().unwrap().iter().all(|tool| tool["name"] != "ask"), "{told}");
}
