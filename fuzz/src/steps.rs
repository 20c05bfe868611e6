//! An input as steps: lines of the wire, and between them what our side does, written as the native wire writes it.
//!
//! A line that begins with a mark is ours, whatever follows it; every other one is the peer's, as the framing sees it.

use roles::{Lane, Line};
use wire::lines::{Frame, Framer};

/// The longest line of the wire here: what is longer than a cap is met without megabytes.
const CAP: usize = 8 * 1024;
/// The longest that a step lets time pass.
const LONGEST_WAIT_MS: u64 = 200_000;

/// Who does what, in the order of the input.
pub(crate) enum Step {
    /// The peer says a line; after `@` on the lane of events, where a wire has one.
    Line(Lane, Line),
    /// `!`: our side wants something (a UI role), as a command.
    Command(String),
    /// `=`: our side settles the oldest command (a runtime role), with a receipt; with anything else it is refused.
    Settle(String),
    /// `+`: something happens in the session, as an event's body.
    Happens(String),
    /// `~`: time passes, in milliseconds.
    Wait(u64),
}

/// The steps of an input.
pub(crate) fn steps(bytes: &[u8]) -> impl Iterator<Item = Step> {
    let mut framer = Framer::with_cap(CAP);
    framer.push(bytes);
    framer.push(b"\n");
    std::iter::from_fn(move || framer.next()).filter_map(|frame| match frame {
        Frame::Line(text) => Some(step(text)),
        Frame::Overlong { head, .. } => Some(Step::Line(Lane::MAIN, Line::Overlong(head))),
        Frame::NotUtf8 { head, .. } | Frame::Nul { head, .. } => {
            Some(Step::Line(Lane::MAIN, Line::Garbled(head)))
        }
        Frame::Unfinished(_) => None,
    })
}

fn step(text: String) -> Step {
    let rest = || text[1..].to_owned();
    match text.as_bytes().first() {
        Some(b'!') => Step::Command(rest()),
        Some(b'=') => Step::Settle(rest()),
        Some(b'+') => Step::Happens(rest()),
        Some(b'~') => Step::Wait(text[1..].parse().unwrap_or(1_000).min(LONGEST_WAIT_MS)),
        Some(b'@') => Step::Line(Lane::EVENTS, Line::Text(rest())),
        _ => Step::Line(Lane::MAIN, Line::Text(text)),
    }
}
