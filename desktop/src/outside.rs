//! What leaves the shell beside the page's lines: words for a terminal, and an address that the person has agreed to open.

use std::io::Write as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};

/// Words for whoever started it from a terminal.
pub(crate) fn warn(words: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stderr(), "parlor-desktop: {words}");
}

/// The answer of a start that only asks.
pub(crate) fn print(words: &str) -> ExitCode {
    match std::io::stdout().write_all(words.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Programs that were begun to open an address: they end by themselves, and are taken leave of when the next one is begun.
#[derive(Default)]
pub(crate) struct Opened(Mutex<Vec<Child>>);

impl Opened {
    /// Opens an address in the person's browser or mail program; why not, where that fails.
    pub(crate) fn open(&self, address: &str) -> Result<(), String> {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        let child = Command::new("xdg-open").arg(address).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        begun.push(child.map_err(|why| format!("xdg-open cannot be started: {why}"))?);
        Ok(())
    }
}
