//! Hooks as Claude Code's settings write them: by event, in groups with a matcher. Pure.

use super::matcher::Matcher;
use serde_json::Value;
use std::time::Duration;

/// Most hooks of one file.
const MAX_HOOKS: usize = 64;
/// Longest command, in bytes.
const MAX_COMMAND: usize = 4_096;
/// How long a hook may take where it says nothing, and at most.
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// When a hook is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    /// With the first prompt of a session.
    SessionStart,
    /// Before the model hears a prompt.
    UserPromptSubmit,
    /// Before a tool is judged and asked about.
    PreToolUse,
    /// After a tool has run.
    PostToolUse,
    /// When the model has nothing more to do.
    Stop,
}

impl HookEvent {
    /// All, in the order of a turn.
    pub const ALL: [HookEvent; 5] = [
        HookEvent::SessionStart,
        HookEvent::UserPromptSubmit,
        HookEvent::PreToolUse,
        HookEvent::PostToolUse,
        HookEvent::Stop,
    ];

    /// As the files write it.
    pub fn name(self) -> &'static str {
        match self {
            HookEvent::SessionStart => "SessionStart",
            HookEvent::UserPromptSubmit => "UserPromptSubmit",
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::Stop => "Stop",
        }
    }

    /// Whether its matcher is about tools.
    pub(crate) fn is_of_tools(self) -> bool {
        matches!(self, HookEvent::PreToolUse | HookEvent::PostToolUse)
    }
}

/// A command and when it is run, as a file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub event: HookEvent,
    /// For which tools.
    pub matcher: Matcher,
    /// A line for `sh`.
    pub command: String,
    pub timeout: Duration,
    /// Of all this as it stands in the file.
    pub(super) digest: String,
}

/// The hooks of a file, and what of it counts for nothing and why.
pub(super) fn parse(text: &str) -> (Vec<Hook>, Vec<String>) {
    let (mut hooks, mut told) = (Vec::new(), Vec::new());
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(why) => return (hooks, vec![format!("it is not JSON: {why}")]),
    };
    let Some(events) = file.get("hooks") else { return (hooks, told) };
    if file.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
        return (hooks, told);
    }
    let Some(events) = events.as_object() else {
        return (hooks, vec!["`hooks` must be an object of events".to_owned()]);
    };
    for (name, groups) in events {
        let Some(event) = HookEvent::ALL.into_iter().find(|event| event.name() == name) else {
            let known = HookEvent::ALL.map(HookEvent::name).join(", ");
            told.push(format!("{name} is no event here, so its hooks are not run; there are {known}"));
            continue;
        };
        let Some(groups) = groups.as_array() else {
            told.push(format!("{name} must be a list"));
            continue;
        };
        for group in groups {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            // Other events have matchers too (how a session began); all that happens here is the one that nobody leaves out.
            let matcher = match Matcher::read(if event.is_of_tools() { matcher } else { "" }) {
                Ok(matcher) => matcher,
                Err(why) => {
                    told.push(format!("{name}: {why}"));
                    continue;
                }
            };
            for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                match read(event, &matcher, hook) {
                    Ok(_) if hooks.len() == MAX_HOOKS => {
                        told.push(format!("it has more than {MAX_HOOKS} hooks; the rest is left out"));
                        return (hooks, told);
                    }
                    Ok(hook) => hooks.push(hook),
                    Err(why) => told.push(format!("{name}: {why}")),
                }
            }
        }
    }
    (hooks, told)
}

fn read(event: HookEvent, matcher: &Matcher, hook: &Value) -> Result<Hook, String> {
    let kind = hook.get("type").and_then(Value::as_str).unwrap_or("command");
    if kind != "command" {
        return Err(format!(
            "a hook of the type {kind:?} is not run: only those of the type \"command\" are"
        ));
    }
    let command = hook.get("command").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if command.is_empty() || command.len() > MAX_COMMAND {
        return Err(format!("`command` must be a line of 1 to {MAX_COMMAND} bytes"));
    }
    let seconds = hook.get("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(TIMEOUT);
    let timeout = timeout.min(MAX_TIMEOUT);
    let text = format!("{}\n{}\n{}\n{}", event.name(), matcher.text(), timeout.as_millis(), command);
    let digest = tools::digest::hex(text.as_bytes());
    Ok(Hook { event, matcher: matcher.clone(), command: command.to_owned(), timeout, digest })
}
