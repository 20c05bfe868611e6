//! How the program ends, as a number for the shell and a word for scripts.

pub(crate) use host::error::{in_words, usage};

use host::error::Usage;
use host::stop;
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

/// The signal by which we were told to stop, as the terminal UI and exit codes name it.
pub(crate) fn by(signal: stop::StopSignal) -> StopSignal {
    match signal {
        stop::StopSignal::Interrupt => StopSignal::Interrupt,
        stop::StopSignal::Quit => StopSignal::Quit,
        stop::StopSignal::Terminate => StopSignal::Terminate,
        stop::StopSignal::HangUp => StopSignal::HangUp,
    }
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
