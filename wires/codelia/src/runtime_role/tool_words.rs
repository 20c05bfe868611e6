//! Our tools in codelia's words: what a call is called, its arguments, and its result, in the form that the existing UI draws.
//!
//! It shows nothing of a command that went well under the name `bash`, and the output under `shell` with an object as its result; a
//! plan is shown as a list under the names of `todo_*`. Pure: the same words live and in a replay. What is not known is left out.

use super::super::path_alias;
use super::super::wire::{FileChange, ShellOutcome};
use domain::content::{Json, Part};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::narrator::NarratedCall;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How a denied tool's result begins; the existing UI and model prompts know the phrase.
pub(in super::super) const DENIED: &str = "Permission denied: ";
/// What stands for the reason of a denial that has none.
const NO_REASON: &str = "permission denied";
/// Our name of the tool that runs a command line, and codelia's.
const SHELL: (&str, &str) = ("bash", "shell");
/// Our name of the tool that keeps the plan, and codelia's: it gives the whole plan each time.
const PLAN: (&str, &str) = ("todo", "todo_new");
/// Tools that the existing UI shows by their file, and what their argument is called there.
const PATH_TOOLS: &[&str] = &["read", "write", "edit"];
/// Tools whose result may carry a diff, in the form that the existing UI draws.
const FILE_TOOLS: &[&str] = &["write", "edit", "apply_patch"];
/// What our shell says of a command that printed nothing.
const NO_OUTPUT: &str = "(no output)";

/// What a tool is called on this wire.
pub(super) fn name(ours: &str) -> &str {
    match ours {
        _ if ours == SHELL.0 => SHELL.1,
        _ if ours == PLAN.0 => PLAN.1,
        other => other,
    }
}

/// Whether a tool of ours is called so on this wire.
pub(super) fn is_ours(theirs: &str) -> bool {
    theirs == SHELL.1 || theirs == PLAN.1
}

/// Arguments must be an object on this wire. Of file tools it also says the path as the existing programs call it.
pub(super) fn args(tool: &str, args: &Json) -> Box<RawValue> {
    let raw = RawValue::from_string(args.as_str().trim().to_owned()).ok();
    match raw {
        Some(raw) if raw.get().starts_with('{') => {
            let named = PATH_TOOLS.contains(&tool).then(|| path_alias::add(raw.get())).flatten();
            named.and_then(|named| RawValue::from_string(named).ok()).unwrap_or(raw)
        }
        _ => {
            let wrapped = format!("{{\"_raw\":{}}}", raw_text(args.as_str()));
            RawValue::from_string(wrapped).unwrap_or_default()
        }
    }
}

/// The result, as the string that this wire wants.
pub(super) fn result(
    call: &NarratedCall,
    took: u64,
    outcome: &ToolOutcome,
    result: &ToolResult,
) -> Box<RawValue> {
    raw_text(&result_text(call, took, outcome, result))
}

fn result_text(call: &NarratedCall, took: u64, outcome: &ToolOutcome, result: &ToolResult) -> String {
    let diff = result.parts.iter().find_map(|part| match part {
        Part::Diff { path, text } => Some((path.clone(), text.clone())),
        _ => None,
    });
    match (outcome, diff) {
        (ToolOutcome::Denied, _) if call.denied_without_reason() => format!("{DENIED}{NO_REASON}"),
        (ToolOutcome::Denied, _) if !result.text.starts_with(DENIED) => format!("{DENIED}{}", result.text),
        (ToolOutcome::Done, Some((file_path, diff))) if FILE_TOOLS.contains(&call.name.as_str()) => {
            let change = FileChange { summary: result.text.clone(), diff, file_path };
            serde_json::to_string(&change).unwrap_or_else(|_| result.text.clone())
        }
        (ToolOutcome::Done | ToolOutcome::Failed | ToolOutcome::Cancelled, _) if call.name == SHELL.0 => {
            shell(call, took, outcome, result).unwrap_or_else(|| result.text.clone())
        }
        (ToolOutcome::Done, _) if call.name == PLAN.0 => plan(result).unwrap_or_else(|| result.text.clone()),
        _ => result.text.clone(),
    }
}

/// What our shell says beside the output.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Ran {
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
    timed_out: Option<bool>,
    /// The name of the job when it goes on in the background.
    job: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    command: String,
}

/// The object that codelia's own shell gives; `None` where the call names no command.
fn shell(call: &NarratedCall, took: u64, outcome: &ToolOutcome, result: &ToolResult) -> Option<String> {
    let Line { command } = serde_json::from_str(call.args.as_str()).ok()?;
    let said = result.json.as_ref().and_then(|json| serde_json::from_str::<Ran>(json.as_str()).ok());
    let started = said.is_some() || *outcome == ToolOutcome::Done;
    let ran = said.unwrap_or_default();
    let background = ran.job.is_some();
    let state = match outcome {
        ToolOutcome::Done if background => "running",
        ToolOutcome::Done => "completed",
        ToolOutcome::Cancelled => "cancelled",
        _ => "failed",
    };
    let failed = ran.exit_code.filter(|code| *code != 0).map(|code| format!("(exit code {code})"));
    let text = failed.and_then(|note| result.text.strip_suffix(&note)).unwrap_or(&result.text);
    let told = ShellOutcome {
        key: ran.job,
        state: state.to_owned(),
        command,
        exit_code: ran.exit_code,
        signal: None,
        duration_ms: Some(ran.duration_ms.unwrap_or(took)).filter(|_| !background),
        stdout: if started && !background && text != NO_OUTPUT { text.to_owned() } else { String::new() },
        stderr: String::new(),
        // What could not be started has no output, but says why.
        failure_message: (!started).then(|| result.text.clone()),
        detached_wait: background.then_some(true),
        timed_out: ran.timed_out.filter(|timed_out| *timed_out),
    };
    serde_json::to_string(&told).ok()
}

#[derive(Deserialize)]
struct Plan {
    items: Vec<PlanItem>,
}

#[derive(Deserialize)]
struct PlanItem {
    text: String,
    state: String,
}

/// The list that the existing UI colours line by line; the words up to "Next:" become its headline.
fn plan(result: &ToolResult) -> Option<String> {
    let Plan { items } = serde_json::from_str(result.json.as_ref()?.as_str()).ok()?;
    let count = |state: &str| items.iter().filter(|item| item.state == state).count();
    let mut lines = vec![format!(
        "Updated todos (new): {} pending, {} in progress, {} completed. Next:",
        count("pending"),
        count("active"),
        count("done")
    )];
    for (place, item) in items.iter().enumerate() {
        let mark = match item.state.as_str() {
            "active" => '>',
            "done" => 'x',
            _ => ' ',
        };
        // One line for one step: the UI knows it by its beginning.
        let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(format!("{}. [{mark}] {text}", place + 1));
    }
    Some(lines.join("\n"))
}

fn raw_text(text: &str) -> Box<RawValue> {
    serde_json::value::to_raw_value(text).unwrap_or_default()
}
