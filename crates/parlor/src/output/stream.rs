//! The only place that writes to stdout and stderr (the terminal UI's own screen apart, which is drawn from clean cells).
//!
//! Invariant: where a stream is a terminal, nothing that came from elsewhere (models, tools, files, peers, what was typed) commands it:
//! all text passes [`domain::harmless`], also when a sequence is cut in two. Only the colours of our own reports pass. Pipes and files
//! get every byte as it is.

use super::screen::Screen;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// What the two streams have read so far: a sequence may begin in one piece and end in the next.
static SCREENS: [Mutex<Screen>; 2] = [const { Mutex::new(Screen::new()) }; 2];

impl Stream {
    /// Whether a person looks at it.
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Stream::Out => stdout().is_terminal(),
            Stream::Err => stderr().is_terminal(),
        }
    }

    /// Whether our reports may use colours there: unless `NO_COLOR` is set or the terminal is a dumb one.
    pub(crate) fn takes_colours(self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        self.is_terminal() && !set("NO_COLOR") && !dumb
    }

    /// A text of ours without anything in it that came from elsewhere and commands the terminal; our colours stay.
    pub(super) fn harmless(self, text: &str) -> String {
        Screen::new().harmless(text, true)
    }

    fn write(self, text: &str, colours: bool) {
        if !self.is_terminal() {
            return self.write_as_it_is(text);
        }
        let mut screen = SCREENS[self as usize].lock().unwrap_or_else(PoisonError::into_inner);
        self.write_as_it_is(&screen.harmless(text, colours));
    }

    fn write_as_it_is(self, text: &str) {
        match self {
            Stream::Out => {
                let mut out = stdout().lock();
                missed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
            }
            // There is nowhere left to say it.
            Stream::Err => drop(stderr().lock().write_all(text.as_bytes())),
        }
    }
}

/// Commands for the terminal on stdout. What they carry of others was made harmless before.
pub(super) fn control(commands: &str) {
    Stream::Out.write_as_it_is(commands);
}

/// Nobody reads stdout any more.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Whether somebody may still read what is said on stdout.
pub(crate) fn is_heard() -> bool {
    !UNHEARD.load(Ordering::Relaxed)
}

/// The first reason for which something did not reach stdout.
static MISSED: OnceLock<String> = OnceLock::new();

/// Notes what could not be written, for the end. A reader that has gone away is no failure.
fn missed(written: io::Result<()>) {
    let Err(why) = written else { return };
    if why.kind() == io::ErrorKind::BrokenPipe {
        UNHEARD.store(true, Ordering::Relaxed);
    } else {
        let _ = MISSED.set(why.to_string());
    }
}

/// Why what was said on stdout is not whole, if it is not.
pub(crate) fn unwritten() -> Option<&'static str> {
    MISSED.get().map(String::as_str)
}

/// The one way to the standard output that is not filtered, for what filters by itself.
pub(super) fn stdout() -> io::Stdout {
    io::stdout()
}

fn stderr() -> io::Stderr {
    io::stderr()
}

/// Columns and rows of the terminal on stdout, if it has said so.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Columns of the terminal on stdout, if it has said so.
pub(crate) fn columns() -> Option<usize> {
    terminal_size().map(|(columns, _)| columns.into())
}

/// A line on stdout.
pub(crate) fn print_line(line: &str) {
    Stream::Out.write(&format!("{line}\n"), false);
}

/// A piece of text on stdout.
pub(crate) fn print(text: &str) {
    Stream::Out.write(text, false);
}

/// A line on stderr.
pub(crate) fn print_error(line: &str) {
    Stream::Err.write(&format!("{line}\n"), false);
}

/// A text on either stream.
pub(crate) fn print_to(text: &str, stream: Stream) {
    stream.write(text, false);
}

/// A report of ours with its colours. What came from elsewhere was cleaned when it was put into the report.
pub(crate) fn print_report(text: &str, stream: Stream) {
    stream.write(text, true);
}
