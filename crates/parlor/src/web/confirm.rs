//! The person's word about a browser that wants to become a device, where `parlor web` runs: the code is shown, and one key allows it.
//!
//! Always: a key that was pressed before the code stood there, or that is held down, counts for nothing; only `y` allows, and only at a
//! terminal: what comes by a pipe no person has compared with anything. What it is not: the offer itself, which the server has, this one's
//! or that of `parlor up`.

use crate::output;
use domain::harmless::quoted;
use host::control::Asking;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::io::{AsyncReadExt, Stdin};
use tokio::time::Instant;

/// For how long a code must stand on the screen, and no key have come, before a key is taken for a word about it: hands may be in the
/// middle of something, or a key be held down.
const UNREAD: Duration = Duration::from_secs(1);

/// A key, as far as it means anything here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    Yes,
    No,
    /// Enter, where nothing was asked.
    Enter,
}

/// The keyboard of the terminal, key by key. From a pipe nothing is read.
pub(super) struct Keys {
    stdin: Stdin,
    /// How the terminal was, where it is one.
    before: Option<Termios>,
    over: bool,
}

impl Keys {
    /// Takes the keyboard over until this is dropped.
    pub(super) fn take() -> Keys {
        let stdin = std::io::stdin();
        let before = stdin.is_terminal().then(|| tcgetattr(stdin.as_fd()).ok()).flatten();
        if let Some(mut modes) = before.clone() {
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            let _ = tcsetattr(stdin.as_fd(), OptionalActions::Now, &modes);
        }
        let over = before.is_none();
        Keys { stdin: tokio::io::stdin(), before, over }
    }

    /// Whether a person sits there.
    pub(super) fn is_terminal(&self) -> bool {
        self.before.is_some()
    }

    /// What was typed before now is forgotten.
    fn forget(&self) {
        let _ = tcflush(std::io::stdin().as_fd(), QueueSelector::IFlush);
    }

    /// The next key. Never comes once nobody can type any more. Cancel-safe.
    pub(super) async fn next(&mut self) -> Typed {
        loop {
            if self.over {
                return std::future::pending().await;
            }
            let mut byte = [0];
            match self.stdin.read(&mut byte).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => {
                    self.over = true;
                    continue;
                }
            }
            return match byte[0] {
                b'y' | b'Y' => Typed::Yes,
                b'\n' | b'\r' => Typed::Enter,
                _ => Typed::No,
            };
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin().as_fd(), OptionalActions::Now, before);
        }
    }
}

/// Shows the code, and waits for a word about it. Dropped when the browser is gone.
pub(super) async fn ask(keys: &mut Keys, asking: &Asking) -> bool {
    let Asking { name, role, code } = asking;
    let how = match keys.is_terminal() {
        true => "Does the browser show it? y allows, any other key denies",
        false => {
            "Nobody is asked here, where no terminal is: answer on a page that is open, or run `parlor web` in a terminal"
        }
    };
    output::print_error(&format!("{} asks to be paired as {role} with the code {code}. {how}", quoted(name)));
    keys.forget();
    let (mut quiet, mut told) = (Quiet { since: Instant::now() }, false);
    loop {
        let typed = keys.next().await;
        if quiet.is_over(Instant::now()) {
            return typed == Typed::Yes;
        }
        if !std::mem::replace(&mut told, true) {
            output::print_error(
                "that key came too soon to count: compare the code, and press a key a second later",
            );
        }
    }
}

/// How long no key came.
struct Quiet {
    since: Instant,
}

impl Quiet {
    /// A key comes: whether it was quiet for long enough before it.
    fn is_over(&mut self, now: Instant) -> bool {
        let since = std::mem::replace(&mut self.since, now);
        now.saturating_duration_since(since) >= UNREAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_held_down_is_no_word_however_long() {
        let shown = Instant::now();
        let mut quiet = Quiet { since: shown };
        let mut now = shown;
        for _ in 0..200 {
            now += Duration::from_millis(30);
            assert!(!quiet.is_over(now), "{:?} after it was shown", now - shown);
        }
        assert!(!quiet.is_over(now + UNREAD / 2));
        assert!(quiet.is_over(now + UNREAD / 2 + UNREAD));
    }

    #[test]
    fn a_key_counts_once_the_code_can_have_been_read() {
        let shown = Instant::now();
        assert!(!Quiet { since: shown }.is_over(shown + Duration::from_millis(999)));
        assert!(Quiet { since: shown }.is_over(shown + UNREAD));
    }
}
