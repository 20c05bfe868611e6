//! What an agent has its editor do with its own hands, files and terminals, and how that came out: for where neither role has words,
//! since the recording begins in the middle or no prompt was seen.

use super::words::short;
use domain::errand::{CommandErrand, Errand};
use serde_json::Value;

/// What a request of this sort wants.
pub(super) fn asked(line: &Value) -> Option<String> {
    let params = line.get("params")?;
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let errand = match line.get("method")?.as_str()? {
        "fs/read_text_file" => Errand::Read { path: text("path"), line: None, limit: None },
        "fs/write_text_file" => Errand::Write { path: text("path"), text: text("content") },
        "terminal/create" => {
            let args = params.get("args").and_then(Value::as_array).into_iter().flatten();
            let args = args.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            Errand::Start(CommandErrand { command: text("command"), args, ..CommandErrand::default() })
        }
        "terminal/output" => Errand::Output { terminal: text("terminalId") },
        "terminal/wait_for_exit" => Errand::Wait { terminal: text("terminalId") },
        "terminal/kill" => Errand::Kill { terminal: text("terminalId") },
        "terminal/release" => Errand::Release { terminal: text("terminalId") },
        _ => return None,
    };
    Some(super::words::of_errand(&errand))
}

/// How a request of this method came out; `None` for other methods, and for errors, which have words of their own.
pub(super) fn answered(method: &str, line: &Value) -> Option<String> {
    let result = line.get("result")?;
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let words = match method {
        "fs/read_text_file" => format!("the file has {} bytes", text("content").len()),
        "fs/write_text_file" => "written".to_owned(),
        "terminal/create" => format!("runs as {}", text("terminalId")),
        "terminal/output" => format!("printed {:?}{}", text("output"), exit(&result["exitStatus"])),
        "terminal/wait_for_exit" => format!("ended{}", exit(result)),
        "terminal/kill" => "ended by force".to_owned(),
        "terminal/release" => "forgotten".to_owned(),
        _ => return None,
    };
    Some(short(&words))
}

fn exit(status: &Value) -> String {
    match (status["exitCode"].as_u64(), status["signal"].as_str()) {
        (Some(code), _) => format!(" with code {code}"),
        (None, Some(signal)) => format!(" by {signal}"),
        (None, None) => String::new(),
    }
}
