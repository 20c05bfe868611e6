//! A line or a command in a few words.

use crate::pattern::clip;
use domain::command::{Command, QueueCommand, RunCommand};
use domain::errand::Errand;
use domain::queue::QueueKind;
use serde_json::Value;

/// How much of a text is shown.
const MAX_WORDS: usize = 120;
/// How much of a result that nothing else is known of.
const MAX_RESULT: usize = 60;

/// A text, shortened.
pub(super) fn short(text: &str) -> String {
    clip(&text.replace(['\n', '\r'], "⏎"), MAX_WORDS)
}

/// What a UI wants.
pub(super) fn of_command(command: &Command) -> String {
    match command {
        Command::Run(RunCommand::Prompt { input, .. }) => format!("prompt {:?}", short(&input.text)),
        Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input }) => {
            format!("steer {:?}", short(&input.text))
        }
        Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input }) => {
            format!("follow-up {:?}", short(&input.text))
        }
        Command::Run(RunCommand::Cancel { .. }) => "cancel".to_owned(),
        Command::Answer { answer, .. } => format!("answer {}", short(&format!("{answer:?}"))),
        other => kebab(&format!("{other:?}")),
    }
}

/// What a runtime wants done by the hands of its UI.
pub(super) fn of_errand(errand: &Errand) -> String {
    let words = match errand {
        Errand::Read { path, .. } => format!("wants the file {path}"),
        Errand::Write { path, text } => format!("wants to write {path} ({} bytes)", text.len()),
        Errand::Start(command) => {
            let words: Vec<&str> =
                std::iter::once(&command.command).chain(&command.args).map(String::as_str).collect();
            format!("wants to run {}", words.join(" "))
        }
        Errand::Output { terminal } => format!("wants what {terminal} printed"),
        Errand::Wait { terminal } => format!("waits for the end of {terminal}"),
        Errand::Kill { terminal } => format!("wants {terminal} ended"),
        Errand::Release { terminal } => format!("wants {terminal} ended and forgotten"),
        Errand::Before { .. } => "has the files kept as they are".to_owned(),
        Errand::After { .. } => "has the files looked at".to_owned(),
        Errand::Files(_) => "has files taken back or shown".to_owned(),
        Errand::Judge(call) => format!("asks whether it may run {}", call.name),
    };
    short(&words)
}

/// `ListSessions { … }` as `list-sessions`.
fn kebab(debug: &str) -> String {
    let name = debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let mut words = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            words.push('-');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// A line by its own words, when nothing else is known of it.
pub(super) fn of_line(line: &Value) -> String {
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        let code = error.get("code").map(Value::to_string).unwrap_or_default();
        return short(format!("error {code} {message}").trim());
    }
    if let Some(name) = text("method").or_else(|| text("type")).or_else(|| text("kind")) {
        let more = ["/params/event/type", "/params/status", "/params/type"];
        let more = more.iter().find_map(|place| line.pointer(place)).and_then(Value::as_str);
        return more.map_or_else(|| name.to_owned(), |more| format!("{name} {}", short(more)));
    }
    if let Some(result) = line.get("result") {
        return clip(&result.to_string(), MAX_RESULT);
    }
    match line.as_object().and_then(|object| object.keys().next()) {
        Some(key) => key.clone(),
        None => short(&line.to_string()),
    }
}

/// What a request is called, on any wire: its method, type or kind.
pub(super) fn name_of(line: &Value) -> Option<&str> {
    ["method", "type", "kind"].iter().find_map(|key| line.get(key)).and_then(Value::as_str)
}
