//! Whether a process may become the UI that answers for a person: nothing that came from a command may.
//!
//! Always: a process that is gone, that cannot be seen, or whose ancestors are too many to look at is refused; its family is read while
//! it lives, and that is checked before and after. Ancestors that are ours too are no objection: a Parlor that is tested inside of a
//! command can be spoken to from there.

#[cfg(target_os = "linux")]
use super::mark::{self, Marked};
#[cfg(target_os = "linux")]
use super::processes::{self, ProcessEntry};
use std::os::fd::BorrowedFd;

/// Most ancestors that are looked at; deeper families are not believed.
const MAX_ANCESTORS: usize = 256;
#[cfg(target_os = "linux")]
/// How often a family that changes while we look is looked at again.
const MAX_LOOKS: usize = 8;
#[cfg(target_os = "linux")]
/// What stands second in the words of a guard, and of a keeper.
const SECOND: [&[u8]; 2] = [super::guard::PARENT.as_bytes(), super::guard::KEEP.as_bytes()];
#[cfg(target_os = "linux")]
/// What our processes are called.
const PROGRAM: &std::ffi::CStr = c"parlor";

/// Has this process known for one of ours, whatever its file is called. To be said first thing in `main`.
pub fn be_known() {
    // Where it cannot be done the name of the file stays.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(PROGRAM);
}

/// Why a process may not be a UI. The words are for whoever started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// Nobody knows any more who it was.
    #[error("the process that connected is gone; connect from the process that goes on talking")]
    Gone,
    /// It, or one of its ancestors, is hidden.
    #[error(
        "its processes cannot be seen; where /proc is mounted with hidepid, mount it without, or use stdin and stdout"
    )]
    Unknown,
    /// It has more ancestors than are looked at.
    #[error("it has more than {MAX_ANCESTORS} processes above it; start it from a terminal")]
    TooDeep,
    /// It came from what an agent, a project or a setting started.
    #[error(
        "it came from a command that an agent runs, and such a one never answers for a person; start it from another terminal"
    )]
    FromCommand,
    /// Its limits are lower than ours, as those of a command are, though we did not make them so.
    #[error(
        "its limit on real-time processor time (`ulimit -R`) is lower than Parlor's, as that of every command of an agent is; start it with Parlor's own limits"
    )]
    LowerLimit,
    /// It was started from inside of a program of ours.
    #[error(
        "it was started from inside of Parlor (process {0}), where it cannot be told from a command of the agent; start it from another terminal"
    )]
    BelowParlor(i32),
}

/// Whether the process `pid` may be a UI. `lead` is the argument that makes our binary a guard; `handle` is the kernel's own handle on
/// the process, where there is one: without it a number that was given to another process meanwhile is noticed only when that one was
/// started while we looked.
///
/// # Errors
/// Why it may not.
#[cfg(target_os = "linux")]
pub fn may_enter(lead: &str, pid: i32, handle: Option<BorrowedFd<'_>>) -> Result<(), NotAdmitted> {
    let there = || handle.is_none_or(lives);
    if !there() {
        return Err(NotAdmitted::Gone);
    }
    let verdict = judge(lead, pid);
    // Gone meanwhile, its number may have been another's while we looked.
    if there() { verdict } else { Err(NotAdmitted::Gone) }
}

/// Where processes cannot be looked at, everybody of the same user may.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn may_enter(_: &str, _: i32, _: Option<BorrowedFd<'_>>) -> Result<(), NotAdmitted> {
    Ok(())
}

/// Whether an agent of ours started this very process, by whatever between them: it bears the mark of a command, or a guard or a Parlor
/// stands above it. Blocks: it looks at processes.
#[cfg(target_os = "linux")]
pub fn is_started_by_an_agent(lead: &str) -> bool {
    let own = std::process::id().cast_signed();
    let is_marked = !matches!(mark::of(own), Ok(Marked::No | Marked::Perhaps));
    let of_ours =
        |one: &ProcessEntry| is_guard(lead, one.pid).unwrap_or(false) || is_ours(one.pid).unwrap_or(false);
    is_marked || family(own).unwrap_or_default().iter().skip(1).any(of_ours)
}

/// Where processes cannot be looked at, nobody is known to have started it.
#[cfg(not(target_os = "linux"))]
pub fn is_started_by_an_agent(_: &str) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn judge(lead: &str, pid: i32) -> Result<(), NotAdmitted> {
    let own = std::process::id().cast_signed();
    let above_us: Vec<ProcessEntry> = family(own).unwrap_or_default().into_iter().skip(1).collect();
    // Two looks that agree: everybody in them was there in between, with these parents.
    let mut seen = family(pid)?;
    for _ in 0..MAX_LOOKS {
        let again = family(pid)?;
        if again == seen {
            break;
        }
        seen = again;
    }
    if family(pid)? != seen {
        return Err(NotAdmitted::Unknown);
    }
    // A guard or a mark says more than a Parlor above it: where that alone is no objection, these still are.
    let mut inside = None;
    for one in &seen {
        if above_us.iter().any(|above| (above.pid, above.started) == (one.pid, one.started)) {
            // From here on upwards all is shared.
            break;
        }
        if is_guard(lead, one.pid)? {
            return Err(NotAdmitted::FromCommand);
        }
        // The first of all is not in the list: we may be that.
        if one.pid == own || one.parent == own {
            inside = inside.or(Some(own));
        } else if one.pid != pid && is_ours(one.pid)? {
            inside = inside.or(Some(one.pid));
        }
    }
    match (mark::of(pid), inside) {
        (Err(_), _) => Err(NotAdmitted::Unknown),
        (Ok(Marked::Yes), _) => Err(NotAdmitted::FromCommand),
        // What a command inherited that lost its guard can lower its limit further, and is then not told from others by it. This very
        // process runs commands only where it says so, and a browser that it opened may have a limit of its own.
        (Ok(Marked::Perhaps), Some(parlor)) if parlor != own => Err(NotAdmitted::LowerLimit),
        (Ok(_), Some(parlor)) => Err(NotAdmitted::BelowParlor(parlor)),
        (Ok(Marked::Perhaps), None) => Err(NotAdmitted::LowerLimit),
        (Ok(Marked::No), None) => Ok(()),
    }
}

/// A process and its ancestors, from below, without the first of all.
#[cfg(target_os = "linux")]
fn family(pid: i32) -> Result<Vec<ProcessEntry>, NotAdmitted> {
    let mut family = Vec::new();
    let mut next = pid;
    while next > 1 {
        if family.len() > MAX_ANCESTORS {
            return Err(NotAdmitted::TooDeep);
        }
        let seen = processes::look(next).map_err(|_| NotAdmitted::Unknown)?;
        // One whose first thread has ended and whose others go on is there.
        if seen.dead && family.is_empty() && !processes::has_threads(next) {
            return Err(NotAdmitted::Gone);
        }
        next = seen.parent;
        family.push(seen);
    }
    Ok(family)
}

/// Whether the process of a handle has not ended.
#[cfg(target_os = "linux")]
fn lives(handle: BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::from_borrowed_fd(handle, PollFlags::IN)];
    // The handle becomes readable when the process ends. A poll that fails is no proof of life.
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0)
}

#[cfg(target_os = "linux")]
fn is_guard(lead: &str, pid: i32) -> Result<bool, NotAdmitted> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).map_err(|_| NotAdmitted::Unknown)?;
    let mut words = words.split(|byte| *byte == 0).skip(1);
    Ok(words.next() == Some(lead.as_bytes()) && words.next().is_some_and(|second| SECOND.contains(&second)))
}

#[cfg(target_os = "linux")]
fn is_ours(pid: i32) -> Result<bool, NotAdmitted> {
    known(format!("/proc/{pid}").as_ref()).map_err(|_| NotAdmitted::Unknown)
}

#[cfg(target_os = "linux")]
fn known(process: &std::path::Path) -> std::io::Result<bool> {
    let name = std::fs::read(process.join("comm"))?;
    Ok(name.trim_ascii_end() == PROGRAM.to_bytes())
}

/// Whether a process, by its folder below `/proc`, said [`be_known`].
#[cfg(target_os = "linux")]
pub(crate) fn is_known(process: &std::path::Path) -> bool {
    known(process).unwrap_or_default()
}

/// Where there is no such folder, nobody is.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_known(_: &std::path::Path) -> bool {
    false
}
