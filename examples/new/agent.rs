//! An agent on the asst wire: one JSON object per line, requests on stdin, answers on stdout. Logs belong on stderr.

use serde_json::{Value, json};
use std::io::{self, BufRead};
use std::time::{SystemTime, UNIX_EPOCH};

/// What your agent says, piece by piece. This is the part that is yours.
fn answer(prompt: &str) -> impl Iterator<Item = String> {
    ["You said: ".to_owned(), prompt.to_owned()].into_iter()
}

fn say(mut line: Value) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    line["timestamp"] = json!(now.as_millis() as u64);
    println!("{line}");
}

fn main() -> io::Result<()> {
    say(json!({"type": "ready", "version": "1.0.0", "capabilities": ["streaming"]}));
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        let request: Value = serde_json::from_slice(&line).unwrap_or_default();
        let (Some(kind), Some(id)) = (request["kind"].as_str(), request["id"].as_str()) else {
            if !line.trim_ascii().is_empty() {
                say(json!({"type": "error", "id": "", "error": "not a request"}));
            }
            continue;
        };
        match (kind, request["message"].as_str()) {
            ("user_message", Some(prompt)) => {
                for token in answer(prompt) {
                    say(json!({"type": "token", "id": id, "token": token}));
                }
                say(json!({"type": "done", "id": id}));
            }
            ("get_status", _) => {
                let data = json!({"state": "idle", "conversationLength": 0, "uptime": 0});
                say(json!({"type": "status", "id": id, "data": data}));
            }
            ("clear_history", _) => say(json!({"type": "done", "id": id})),
            _ => say(json!({"type": "error", "id": id, "error": format!("not understood: {kind}")})),
        }
    }
    Ok(())
}
