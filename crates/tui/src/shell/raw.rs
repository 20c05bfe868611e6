//! Raw mode: every key comes at once, as bytes, and nothing of it is shown, until the terminal is given back as it was found.
//!
//! There is one terminal, so there is one mode for the whole process: whoever enters it again changes nothing, and whoever leaves it
//! brings back what the first one found. Nothing is written here: what stands on the screen is not raw mode's.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io;
use std::sync::{Mutex, PoisonError};

/// How the terminal was found; `None` while it is not raw.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

/// Makes the terminal on stdin raw.
pub(super) fn enter() -> io::Result<()> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.is_some() {
        return Ok(());
    }
    let before = tcgetattr(io::stdin())?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    *found = Some(before);
    Ok(())
}

/// Gives it back as it was found. Where that fails it still counts as raw, and the next to leave tries again.
pub(super) fn leave() -> io::Result<()> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = &*found {
        tcsetattr(io::stdin(), OptionalActions::Now, before)?;
        *found = None;
    }
    Ok(())
}
