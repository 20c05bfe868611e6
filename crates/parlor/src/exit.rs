//! How the program ends, and what it says: `exit/stream.rs` is the only place that writes to stdout and stderr.

mod canvas;
mod carrier;
mod reader;
mod screen;
mod stream;

pub(crate) use canvas::Canvas;
pub(crate) use carrier::{Carrier, carrier};
pub(crate) use reader::reader_gone;
pub(crate) use stream::{
    Stream, columns, complain, is_heard, put, say, show, tell, terminal_size, unwritten,
};

use std::process::ExitCode;
use tui::StopSignal;

/// How the program ends. The numbers are a promise to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked.
    Done,
    /// It could not.
    Failed,
    /// A tool was denied.
    Denied,
    /// A person would have had to answer.
    NeedsInput,
    /// It took too long.
    TimedOut,
    /// It did, and found damage on the way.
    Damaged,
    /// The answer is not whole: cut by its length limit, refused, or empty.
    Unfinished,
    /// The budget is used up.
    OverBudget,
    /// The answer is not of the form that was asked for.
    WrongForm,
    /// It was stopped, by this signal or by a key that means the same.
    Cancelled(StopSignal),
}

impl Exit {
    /// The person wanted nothing more of it.
    pub(crate) const LEFT: Exit = Exit::Cancelled(StopSignal::Interrupt);

    /// The number that the shell sees; docs and scripts rely on it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Denied => 3,
            Exit::NeedsInput => 4,
            Exit::TimedOut => 5,
            Exit::Damaged => 6,
            Exit::Unfinished => 7,
            Exit::OverBudget => 8,
            Exit::WrongForm => 9,
            Exit::Cancelled(signal) => signal.exit_code(),
        }
    }

    /// The word for it in JSON output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "failed",
            Exit::Denied => "denied",
            Exit::NeedsInput => "needs_input",
            Exit::TimedOut => "timed_out",
            Exit::Damaged => "damaged",
            Exit::Unfinished => "unfinished",
            Exit::OverBudget => "over_budget",
            Exit::WrongForm => "wrong_form",
            Exit::Cancelled(_) => "cancelled",
        }
    }
}

/// The command line cannot be done as it was typed. The program ends with [`USAGE`].
#[derive(Debug)]
pub(crate) struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What is said about a command line that cannot be done as it was typed.
pub(crate) fn usage(words: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(words.into()))
}

/// An error with its causes; a cause that was named already is not said twice.
pub(crate) fn in_words(why: &anyhow::Error) -> String {
    why.chain().skip(1).fold(why.to_string(), |said, cause| {
        let cause = cause.to_string();
        if said.contains(&cause) { said } else { format!("{said}: {cause}") }
    })
}

/// How the program ends when the command line is wrong.
pub(crate) const USAGE: u8 = 2;

/// How the program ends with an error.
pub(crate) fn of_error(why: &anyhow::Error) -> ExitCode {
    if why.is::<Usage>() { ExitCode::from(USAGE) } else { Exit::Failed.into() }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let source = std::io::Error::from_raw_os_error(2);
        let within = std::time::Duration::from_secs(5);
        let lost = link::LinkError::Connect { path: "/tmp/s".into(), within, source };
        let said = in_words(&anyhow::Error::new(lost));
        assert!(said.ends_with("; is the runtime running?"), "{said}");
        assert_eq!(said.matches("No such file or directory").count(), 1, "{said}");
        let deeper = std::fs::read("/no/such/file").context("cannot read the settings").unwrap_err();
        assert_eq!(in_words(&deeper), "cannot read the settings: No such file or directory (os error 2)");
    }
}
