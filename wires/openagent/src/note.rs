//! Lines about the person's terminal, as the model reads them, and back: this wire has a member for each.
//!
//! They are no format of their own: a line that nobody here wrote is no [`Note`], and stays what it is.

use super::wire::RecentCommand;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    Shell(String),
    Ran(RecentCommand),
    /// What the last command wrote.
    Output(String),
    OpenFile(String),
}

const SHELL: &str = "shell: ";
const RAN: &str = "ran: ";
const FAILED: &str = " (failed with code ";
const UNKNOWN: &str = " (still running, or nobody knows)";
const OUTPUT: &str = "recent output:\n";
const OPEN_FILE: &str = "open file: ";

/// The line for a note.
pub(super) fn write(note: &Note) -> String {
    match note {
        Note::Shell(shell) => format!("{SHELL}{shell}"),
        Note::Ran(RecentCommand { command, exit_code: Some(0), .. }) => format!("{RAN}{command}"),
        Note::Ran(RecentCommand { command, exit_code: Some(code), .. }) => {
            format!("{RAN}{command}{FAILED}{code})")
        }
        Note::Ran(RecentCommand { command, exit_code: None, .. }) => format!("{RAN}{command}{UNKNOWN}"),
        Note::Output(text) => format!("{OUTPUT}{text}"),
        Note::OpenFile(file) => format!("{OPEN_FILE}{file}"),
    }
}

/// What a line says, if it is one of ours.
pub(super) fn read(line: &str) -> Option<Note> {
    if let Some(shell) = line.strip_prefix(SHELL) {
        return Some(Note::Shell(shell.to_owned()));
    }
    if let Some(text) = line.strip_prefix(OUTPUT) {
        return Some(Note::Output(text.to_owned()));
    }
    if let Some(file) = line.strip_prefix(OPEN_FILE) {
        return Some(Note::OpenFile(file.to_owned()));
    }
    let ran = line.strip_prefix(RAN)?;
    let (command, exit_code) = match (ran.strip_suffix(UNKNOWN), ran.rsplit_once(FAILED)) {
        (Some(command), _) => (command, None),
        (None, Some((command, code))) => match code.strip_suffix(')').and_then(|code| code.parse().ok()) {
            Some(code) => (command, Some(code)),
            None => (ran, Some(0)),
        },
        (None, None) => (ran, Some(0)),
    };
    Some(Note::Ran(RecentCommand { command: command.to_owned(), exit_code, timestamp: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again_and_other_lines_are_none() {
        let ran = |command: &str, exit_code| {
            Note::Ran(RecentCommand { command: command.to_owned(), exit_code, timestamp: None })
        };
        let notes = [
            Note::Shell("bash".to_owned()),
            ran("cargo build", Some(0)),
            ran("cargo test", Some(101)),
            ran("sleep 9", None),
            Note::Output("panicked\nat x".to_owned()),
            Note::OpenFile("src/main.rs".to_owned()),
        ];
        for note in notes {
            assert_eq!(read(&write(&note)), Some(note));
        }
        for line in ["The shell is fish.", "", "run: x"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
