//! One hook is run: what it is told, how it is held, and what its answer means.

use super::{HookEvent, ListedHook};
use crate::converse::{AskedProgram, Silence, converse_until};
use domain::session::Policy;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;
use tools::sandbox::{Guard, Leash};
use tools::steering::{self, Commits};

/// Longest answer, in bytes; more of it is not heard.
const MAX_ANSWER: u64 = 256 * 1024;
/// Characters of what a hook adds that the model reads.
const MAX_ADDED: usize = 16_000;
/// The code by which a program says no.
const DENIES: i32 = 2;

/// What a hook is told of.
#[derive(Debug, Clone)]
pub(crate) struct HookCall<'a> {
    pub(crate) session: &'a str,
    pub(crate) workdir: &'a Path,
    pub(crate) policy: Policy,
    /// What is special to its event, as members of what it reads.
    pub(crate) about: Map<String, Value>,
}

/// What came of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookVerdict {
    /// It says no, and why.
    pub(crate) denies: Option<String>,
    /// Text for the model.
    pub(crate) adds: Option<String>,
    /// Text for the person.
    pub(crate) tells: Option<String>,
    /// What it said that counts for nothing here.
    pub(crate) ignored: Vec<&'static str>,
    /// It did not do its work.
    pub(crate) failed: Option<String>,
}

/// Runs a hook, until it ends, its time is over or it is called off; `None` for the last. It has ended then, so far as it can be ended.
pub(crate) async fn run(
    listed: &ListedHook,
    call: &HookCall<'_>,
    guard: Option<&Guard>,
    cancel: &CancellationToken,
) -> Option<HookVerdict> {
    let hook = &listed.hook;
    let held = match (&listed.project, guard) {
        // The person wrote it down for themselves: it is watched, not limited.
        (None, guard) => {
            guard.map(|guard| (guard.clone(), Leash { free: true, network: true, ..Leash::default() }))
        }
        (Some(root), Some(guard)) if guard.holds() => {
            Some((guard.clone().only_temp(), leash(root, call.policy)))
        }
        (Some(_), _) => {
            let why = "hooks of a project run only in the sandbox, which this machine does not have; `parlor doctor` says why";
            return Some(failed(why.to_owned()));
        }
    };
    let cwd = listed.project.as_deref().unwrap_or(call.workdir);
    let args = ["-c".to_owned(), hook.command.clone()];
    let root: OsString = cwd.into();
    let env = [("CLAUDE_PROJECT_DIR", root.clone()), ("PARLOR_PROJECT_DIR", root)];
    let held = held.as_ref().map(|(guard, leash)| (guard, leash.clone()));
    let program = AskedProgram { name: "sh", args: &args, cwd, env: &env, held };
    let question = question(hook.event, call).to_string();
    let mut is_late = false;
    let over = async {
        tokio::select! {
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(hook.timeout) => is_late = true,
        }
    };
    let said = converse_until(&program, &question, MAX_ANSWER, over).await;
    Some(match said {
        Ok(Some(said)) => {
            heard(hook.event, said.status.code(), &String::from_utf8_lossy(&said.answer), &said.complaint)
        }
        Ok(None) if is_late => failed(format!(
            "it took longer than {} s; `timeout` beside its command allows more",
            hook.timeout.as_secs_f32()
        )),
        Ok(None) => return None,
        Err(Silence::NotStarted(why) | Silence::Lost(why)) => failed(format!("it could not be run: {why}")),
    })
}

fn failed(why: String) -> HookVerdict {
    HookVerdict { failed: Some(why), ..HookVerdict::default() }
}

/// Whether a project's hook writes in this mode. In the others it only looks, as every command there.
pub(crate) fn may_write(policy: Policy) -> bool {
    match policy {
        Policy::ReadOnly | Policy::Plan => false,
        Policy::Ask | Policy::Sandboxed | Policy::AutoEdit | Policy::Full => true,
    }
}

/// A project's hook writes in the project as a command of the model does, and has no network. What steers programs there is locked where it
/// is, and compared by whoever runs the hook.
fn leash(root: &Path, policy: Policy) -> Leash {
    if !may_write(policy) {
        return Leash { readable: vec![root.to_owned()], looking: true, ..Leash::default() };
    }
    let (locked, pinned): (Vec<PathBuf>, Vec<PathBuf>) = steering::locks(root, Commits::Not);
    Leash { writable: vec![root.to_owned()], locked, pinned, ..Leash::default() }
}

/// What a hook reads.
fn question(event: HookEvent, call: &HookCall<'_>) -> Value {
    let mode = match call.policy {
        Policy::ReadOnly | Policy::Plan => "plan",
        Policy::Ask | Policy::Sandboxed => "default",
        Policy::AutoEdit => "acceptEdits",
        Policy::Full => "bypassPermissions",
    };
    let mut question = json!({
        "session_id": call.session,
        "cwd": domain::path_text::write(call.workdir),
        "hook_event_name": event.name(),
        "permission_mode": mode,
    });
    if let Some(members) = question.as_object_mut() {
        members.extend(call.about.clone());
    }
    question
}

/// What an answer means. Pure.
pub(super) fn heard(event: HookEvent, code: Option<i32>, answer: &str, complaint: &str) -> HookVerdict {
    match code {
        Some(0) => {}
        Some(DENIES) => {
            let why = if complaint.is_empty() { "it gave no reason" } else { complaint };
            return HookVerdict { denies: Some(cut(why)), ..HookVerdict::default() };
        }
        code => {
            let how = code.map_or("by a signal".to_owned(), |code| format!("with code {code}"));
            let words = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
            return failed(format!("it ended {how}{words}"));
        }
    }
    let answer = answer.trim();
    let said = match answer.starts_with('{').then(|| serde_json::from_str::<Value>(answer)) {
        Some(Ok(said)) => Some(said),
        // It may have meant a no: whoever wrote it has to know.
        Some(Err(why)) => {
            return failed(format!("its answer begins as JSON and is none ({why}), so nothing of it counts"));
        }
        None => None,
    };
    let Some(said) = said else {
        // Plain text is for the model where this form says so, and for nobody elsewhere.
        let adds =
            matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart) && !answer.is_empty();
        return HookVerdict { adds: adds.then(|| cut(answer)), ..HookVerdict::default() };
    };
    let special = &said["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(cut);
    let mut verdict = HookVerdict {
        adds: text(&special["additionalContext"]),
        tells: text(&said["systemMessage"]),
        ..HookVerdict::default()
    };
    let reason = || text(&special["permissionDecisionReason"]).or_else(|| text(&said["reason"]));
    let because = |reason: Option<String>| Some(reason.unwrap_or_else(|| "it gave no reason".to_owned()));
    match special["permissionDecision"].as_str().or(said["decision"].as_str()) {
        Some("deny" | "block") => verdict.denies = because(reason()),
        Some("allow" | "approve") => verdict.ignored.push("that it allows the call"),
        Some("ask") => verdict.ignored.push("that it wants the call asked about"),
        Some("defer") | None => {}
        Some(_) => verdict.ignored.push("its decision, which is none of deny and block"),
    }
    if said["continue"].as_bool() == Some(false) {
        verdict.denies = verdict.denies.or_else(|| because(text(&said["stopReason"])));
    }
    if !special["updatedInput"].is_null() {
        verdict.ignored.push("the input that it changed");
    }
    verdict
}

fn cut(text: impl AsRef<str>) -> String {
    text.as_ref().trim().chars().take(MAX_ADDED).collect()
}

/// What this form calls our tools, the usual name first; a tool that it does not know keeps its name.
pub(crate) fn names_of(tool: &str) -> Vec<&str> {
    match tool {
        "bash" => vec!["Bash"],
        "bash_jobs" => vec!["BashOutput", "KillShell"],
        "read" => vec!["Read"],
        "write" => vec!["Write"],
        "edit" => vec!["Edit", "MultiEdit"],
        "apply_patch" => vec!["Edit", "MultiEdit", "Write"],
        "grep" => vec!["Grep"],
        "find" => vec!["Glob"],
        "ls" => vec!["LS"],
        "fetch" => vec!["WebFetch"],
        "todo" => vec!["TodoWrite"],
        "ask" => vec!["AskUserQuestion"],
        "skill" => vec!["Skill"],
        "task" => vec!["Task"],
        other => vec![other],
    }
}
