//! A UI on the codelia wire: ui PROMPT [RUNTIME...]. It starts the runtime and speaks JSON-RPC with it, one object per line.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::process::{ChildStdin, Command, Stdio};

fn say(to: &mut ChildStdin, mut line: Value) -> io::Result<()> {
    line["jsonrpc"] = "2.0".into();
    writeln!(to, "{line}")
}

/// Where nobody sits, nothing is allowed.
fn allows(question: &Value) -> io::Result<bool> {
    let mut answer = String::new();
    if io::stdin().is_terminal() {
        println!("{}\n{}\n[y/n]", question["title"], question["message"]);
        io::stdin().read_line(&mut answer)?;
    }
    Ok(answer.trim() == "y")
}

fn main() -> io::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.len() < 2 {
        words.extend(["parlor", "serve", "--dialect", "codelia", "--stdio"].map(str::to_owned));
    }
    let mut command = Command::new(&words[1]);
    let mut runtime = command.args(&words[2..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut to), Some(from)) = (runtime.stdin.take(), runtime.stdout.take()) else { return Ok(()) };
    let client = json!({"name": "mine", "version": "1"});
    let hello = json!({"protocol_version": "0", "client": client, "ui_capabilities": {"supports_confirm": true}});
    say(&mut to, json!({"id": "1", "method": "initialize", "params": hello}))?;
    say(&mut to, json!({"id": "2", "method": "run.start", "params": {"input": {"type": "text", "text": words[0]}}}))?;
    for line in BufReader::new(from).split(b'\n') {
        // What is no JSON is null, and does no harm.
        let line: Value = serde_json::from_slice(&line?).unwrap_or_default();
        let (params, event) = (&line["params"], &line["params"]["event"]);
        match (line["method"].as_str(), event["type"].as_str(), params["status"].as_str()) {
            (Some("agent.event"), Some("text" | "final"), _) => println!("{}", event["content"].as_str().unwrap_or("")),
            (Some("agent.event"), Some("tool_call"), _) => println!("· {} {}", event["tool"], event["args"]),
            (Some("ui.confirm.request"), ..) => {
                say(&mut to, json!({"id": line["id"], "result": {"ok": allows(params)?, "remember": false}}))?;
            }
            (Some("run.status"), _, Some("completed" | "cancelled" | "error")) => {
                println!("{}", params["message"].as_str().unwrap_or(""));
                break;
            }
            (None, ..) if line["error"].is_object() => {
                println!("{}", line["error"]);
                break;
            }
            _ => {}
        }
    }
    Ok(())
}
