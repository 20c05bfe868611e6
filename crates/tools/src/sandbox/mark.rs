//! The mark of everything that was started for an agent. The kernel keeps it: it is a limit (on the time of real-time programs, so high
//! that it limits nothing), which is handed down to every child and can be lowered but not raised, except by root.
//!
//! So a process with a lower limit than ours came from a command, also when its guard and its parents are gone. A process without the
//! mark is not proven to be a person's: the mark adds to ancestry, it does not replace it.
//!
//! A command that could set the limits of others might lower ours, so that its children would seem to carry no mark, or those of a
//! person's program, which would then be refused. So our own limit is remembered, and the filter ([`super::calls`]) refuses such a call
//! on the leash.

use super::processes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// The highest mark. Each program of ours that runs inside of a command of ours marks its own commands one below.
const HIGHEST: u64 = 0x5041_524c_4f52_0000;
/// How many such programs inside of each other can be told apart.
const DEPTH: u64 = 0x1_0000;
/// The line of `/proc/PID/limits`.
const LINE: &str = "Max realtime timeout";
const UNLIMITED: u64 = u64::MAX;

/// How a process is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// No lower than we are.
    No,
    /// Lower, but not as we mark: it may have been lowered further, or never have been ours.
    Perhaps,
    Yes,
}

/// Marks this process and everything it starts. Where that cannot be done, ancestry alone must tell.
pub(super) fn put() {
    let below = getrlimit(Resource::Rttime).maximum.unwrap_or(UNLIMITED).saturating_sub(1);
    let limit = Some(below.min(HIGHEST));
    let _ = setrlimit(Resource::Rttime, Rlimit { current: limit, maximum: limit });
}

/// Remembers how this process itself is marked: a command might lower it later. To be called before the first command runs.
pub(super) fn own() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    *OWN.get_or_init(|| getrlimit(Resource::Rttime).maximum.unwrap_or(UNLIMITED))
}

/// How a process is marked; an error when it cannot be seen.
pub(super) fn of(pid: i32) -> std::io::Result<Marked> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits"))?;
    // Looked at afterwards: what was read belonged to a process that is there.
    processes::look(pid)?;
    let line = limits.lines().find_map(|line| line.strip_prefix(LINE));
    let hard = line.and_then(|line| line.split_whitespace().nth(1));
    let hard = hard.ok_or_else(|| std::io::Error::other("/proc/PID/limits is not as it should be"))?;
    let limit = if hard == "unlimited" { UNLIMITED } else { hard.parse().map_err(std::io::Error::other)? };
    Ok(judge(limit, own()))
}

fn judge(limit: u64, own: u64) -> Marked {
    match limit {
        limit if limit >= own => Marked::No,
        limit if limit <= HIGHEST && limit > HIGHEST - DEPTH => Marked::Yes,
        _ => Marked::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_lower_than_our_own() {
        let inside = HIGHEST - 1;
        assert_eq!(judge(UNLIMITED, UNLIMITED), Marked::No);
        assert_eq!(judge(HIGHEST, UNLIMITED), Marked::Yes);
        assert_eq!(judge(HIGHEST, HIGHEST), Marked::No, "we are inside of a command ourselves");
        assert_eq!(judge(inside, HIGHEST), Marked::Yes);
        assert_eq!(judge(200_000, UNLIMITED), Marked::Perhaps);
    }

    #[test]
    fn we_see_our_own() {
        assert_eq!(of(std::process::id().cast_signed()).unwrap(), Marked::No);
        assert!(of(4_194_305).is_err());
    }
}
