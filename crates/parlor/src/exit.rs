//! How the program ends, and the only places that write to stdout and stderr.

use std::io::Write;
use std::process::ExitCode;

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
    /// It was stopped.
    Cancelled,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Denied => 3,
            Exit::NeedsInput => 4,
            Exit::TimedOut => 5,
            Exit::Cancelled => 130,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "failed",
            Exit::Denied => "denied",
            Exit::NeedsInput => "needs_input",
            Exit::TimedOut => "timed_out",
            Exit::Cancelled => "cancelled",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// A line on stdout. A reader that has gone away is no failure.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// A piece of text on stdout.
pub(crate) fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// A line on stderr.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
