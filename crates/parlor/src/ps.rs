//! `parlor ps`: the live sessions of this person's processes and who is attached, without a port to know.
//!
//! Every process with a session (a server, a bridge, the terminal UI) keeps a small file and two sockets in the runtime directory (see
//! `host::announcement`); this reads them, and removes those of processes that died. With `--watch` it goes on telling (`ps/watch.rs`).

mod rows;
mod watch;

use crate::exit::Exit;
use crate::output;
use crate::screen::is_plain;
use crate::web;
use host::control::{Control, Status};
use host::directory::{self, Notice};
use host::launch::Launch;
use host::processes::{self};
use serde_json::{Value, json};

/// The live sessions and who is attached to them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  parlor ps\n  parlor ps --watch\n  parlor attach --session sess-0123456789ab\n\nSee parlor help fleet."
)]
pub(crate) struct Ps {
    /// Print them as JSON; with --watch a line for each change.
    #[arg(long)]
    json: bool,
    /// Go on telling: all live and recent sessions of every project and runtime, who waits for you first. In a terminal as a table that
    /// keeps itself current (q ends it), else a line for each change.
    #[arg(long)]
    watch: bool,
}

/// Asks every process that left a notice, and prints what they say.
pub(crate) async fn ps(launch: &Launch, asked: &Ps) -> anyhow::Result<Exit> {
    if asked.watch {
        return watch::watch(asked.json, is_plain(launch)).await;
    }
    let all = processes::all(directory::here()?.as_ref()).await?;
    // Whoever is not there, or cannot be asked, has nothing to warn of.
    if let Ok(Some(mut server)) = Control::here().await
        && let Ok(Status { warning: Some(warning), .. }) = server.status().await
    {
        web::warn(&warning);
    }
    if asked.json {
        let all: Vec<Value> = all
            .iter()
            .map(|process| {
                let mut told = process.notice.to_json();
                told["sessions"] = json!(process.sessions);
                told
            })
            .collect();
        output::print_line(&Value::from(all).to_string());
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        output::print_error("no session is open; `parlor` opens one, `parlor serve` lets other UIs in");
    }
    for process in &all {
        let Notice { pid, serving, cwd, .. } = &process.notice;
        output::print_line(&format!("pid {pid} · {serving} · {cwd}"));
        match process.sessions.as_deref() {
            None => output::print_line("  does not answer"),
            Some([]) => output::print_line("  no session yet"),
            Some(sessions) => sessions.iter().for_each(|session| output::print_line(&line(session))),
        }
    }
    Ok(Exit::Done)
}

/// A live session as a line of the list.
fn line(session: &Value) -> String {
    let text = |key: &str| session.get(key).and_then(Value::as_str).unwrap_or_default();
    let asks = session.get("asks").and_then(Value::as_u64).unwrap_or(0);
    let state = match (session.get("running") == Some(&Value::Bool(true)), asks) {
        (_, 1..) => "asking",
        (true, 0) => "running",
        (false, 0) => "idle",
    };
    let uis: Vec<String> = session
        .get("uis")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|ui| {
            let word = |key: &str| ui.get(key).and_then(Value::as_str).unwrap_or_default();
            match word("role") {
                "" => word("name").to_owned(),
                role => format!("{} ({role})", word("name")),
            }
        })
        .collect();
    let uis = if uis.is_empty() { "nobody attached".to_owned() } else { uis.join(", ") };
    let title: String = text("title").chars().filter(|letter| !letter.is_control()).take(40).collect();
    format!("  {}  {state:<8} {title:<40}  {uis}", text("id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_attached_is_named_with_its_role_where_that_is_known() {
        let ui = |name: &str, role: Option<&str>| json!({"name": name, "role": role});
        let uis =
            [ui("native#1", None), ui("native#2", Some("observer")), ui("terminal", Some("controller"))];
        let told = line(&json!({"id": "sess-1", "running": false, "asks": 0, "uis": uis}));
        assert!(told.ends_with("native#1, native#2 (observer), terminal (controller)"), "{told}");
    }
}
