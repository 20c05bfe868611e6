//! Extensions: the person's own commands that answer in JSON. One process per question, which ends with the deadline at the latest.

use crate::config::Extension;
use crate::converse::{AskedProgram, Silence, converse};
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use std::path::Path;
use tools::sandbox::{Guard, Leash};

/// Longest answer, in bytes.
const MAX_ANSWER: u64 = 10 * 1024 * 1024;

/// Asks an extension.
///
/// # Errors
/// When it cannot be started, takes too long, fails, or answers something that is not JSON.
pub(crate) async fn ask(
    name: &str,
    extension: &Extension,
    payload: &Json,
    cwd: &Path,
    guard: Option<&Guard>,
) -> Result<Json, Refusal> {
    match tokio::time::timeout(extension.deadline, answer(name, extension, payload, cwd, guard)).await {
        Ok(answer) => answer,
        Err(_) => {
            let what = format!("{name} did not answer within {} seconds", extension.deadline.as_secs());
            let hint = format!("raise extensions.{name}.timeout_s if it needs longer");
            Err(Refusal::new(RefusalKind::TimedOut, what).hint(hint))
        }
    }
}

async fn answer(
    name: &str,
    extension: &Extension,
    payload: &Json,
    cwd: &Path,
    guard: Option<&Guard>,
) -> Result<Json, Refusal> {
    let refused = |what: String| Refusal::new(RefusalKind::Internal, format!("{name}: {what}"));
    let Some((program, args)) = extension.command.split_first() else {
        return Err(refused("it names no program".to_owned()));
    };
    // The person wrote the command down for themselves: it is watched, not limited.
    let held = guard.map(|guard| (guard, Leash { free: true, network: true, ..Leash::default() }));
    let program = AskedProgram { name: program, args, cwd, env: &[], held };
    let said = converse(&program, payload.as_str(), MAX_ANSWER).await.map_err(|why| match why {
        Silence::NotStarted(why) => refused(format!("{} cannot be started: {why}", program.name))
            .hint(format!("correct extensions.{name}.command in your settings")),
        Silence::Lost(why) => refused(why.to_string()),
    })?;
    if said.answer.len() as u64 > MAX_ANSWER {
        return Err(refused(format!("its answer is larger than {} MB", MAX_ANSWER / 1024 / 1024)));
    }
    if !said.status.success() {
        let words = if said.complaint.is_empty() { String::new() } else { format!(": {}", said.complaint) };
        return Err(refused(format!("it failed ({}){words}", said.status)));
    }
    let text = String::from_utf8_lossy(&said.answer);
    let json: Box<serde_json::value::RawValue> =
        serde_json::from_str(text.trim()).map_err(|why| refused(format!("its answer is not JSON: {why}")))?;
    Ok(Json::verbatim(String::from(Box::<str>::from(json))))
}
