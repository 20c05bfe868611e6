//! From what the client tells about the person's terminal to what the model may know. Variables of the environment are left out, since
//! they may hold secrets. Everything is bounded; the newest is kept.

use super::super::note::{self, Note};
use super::super::wire::{Context, RecentCommand};
use domain::signal::UiContext;

/// Most commands told to the model.
const MAX_COMMANDS: usize = 20;
/// Longest command.
const MAX_COMMAND: usize = 500;
/// Most characters of output told to the model.
const MAX_OUTPUT: usize = 4000;
/// Most open files told to the model.
const MAX_FILES: usize = 50;

/// Puts `newer` over what is known: what it does not mention stays.
pub(super) fn merge(known: &mut Context, newer: Context) {
    let Context { cwd, shell, env, recent_commands, recent_output, open_files, terminal_size } = newer;
    let pwd = env.as_ref().and_then(|env| env.get("PWD")).and_then(|pwd| pwd.as_str()).map(str::to_owned);
    known.cwd = cwd.or(pwd).or_else(|| known.cwd.take());
    known.shell = shell.or_else(|| known.shell.take());
    known.recent_commands = recent_commands.or_else(|| known.recent_commands.take()).map(|mut commands| {
        commands.drain(..commands.len().saturating_sub(MAX_COMMANDS));
        commands
    });
    known.recent_output = recent_output.or_else(|| known.recent_output.take()).map(|text| tail(&text));
    known.open_files = open_files.or_else(|| known.open_files.take()).map(|mut files| {
        files.truncate(MAX_FILES);
        files
    });
    known.terminal_size = terminal_size.or_else(|| known.terminal_size.take());
}

/// Whether there is anything that the model could use.
pub(super) fn tells(context: &Context) -> bool {
    lift(context) != UiContext { size: lift(context).size, ..UiContext::default() }
}

/// As the runtime knows it.
pub(super) fn lift(context: &Context) -> UiContext {
    let mut notes: Vec<Note> = context.shell.iter().cloned().map(Note::Shell).collect();
    for ran in context.recent_commands.iter().flatten() {
        let command = ran.command.chars().take(MAX_COMMAND).collect();
        notes.push(Note::Ran(RecentCommand { command, ..ran.clone() }));
    }
    let output = context.recent_output.iter().filter(|text| !text.trim().is_empty());
    notes.extend(output.cloned().map(Note::Output));
    notes.extend(context.open_files.iter().flatten().cloned().map(Note::OpenFile));
    let notes = notes.iter().map(note::write).collect();
    let size = context
        .terminal_size
        .as_ref()
        .and_then(|size| Some((u16::try_from(size.cols).ok()?, u16::try_from(size.rows).ok()?)));
    UiContext { cwd: context.cwd.clone(), notes, size, ..UiContext::default() }
}

fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(MAX_OUTPUT);
    text.chars().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_knowledge_covers_older_and_secrets_stay_out() {
        let mut known = Context::default();
        let first = r#"{"cwd":"/a","shell":"bash","env":{"TOKEN":"s3cret","PWD":"/b"},"recent_commands":
            [{"command":"cargo build","exit_code":0,"timestamp":1},{"command":"cargo test","exit_code":1}],
            "recent_output":"panicked","open_files":["src/main.rs"]}"#;
        merge(&mut known, serde_json::from_str(first).unwrap());
        merge(
            &mut known,
            serde_json::from_str(r#"{"env":{"PWD":"/c"},"terminal_size":{"cols":1,"rows":2}}"#).unwrap(),
        );
        let told = lift(&known);
        assert_eq!(told.cwd.as_deref(), Some("/c"));
        let wanted = [
            "shell: bash",
            "ran: cargo build",
            "ran: cargo test (failed with code 1)",
            "recent output:\npanicked",
            "open file: src/main.rs",
        ];
        assert_eq!(told.notes, wanted);
        assert!(!format!("{told:?}").contains("s3cret"));
    }

    #[test]
    fn much_is_cut_to_the_newest() {
        let mut known = Context::default();
        let much = format!("{}end", "é".repeat(10_000));
        merge(&mut known, Context { recent_output: Some(much), ..Context::default() });
        let told = lift(&known).notes.concat();
        assert!(told.ends_with("end") && told.chars().count() < MAX_OUTPUT + 30);
    }

    #[test]
    fn a_resize_tells_the_model_nothing() {
        let context = serde_json::from_str(r#"{"terminal_size":{"cols":100,"rows":30}}"#).unwrap();
        assert!(!tells(&context));
    }
}
