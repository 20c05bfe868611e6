//! Which processes hold the other end of a TCP connection within this machine: loopback is no boundary between its users, nor between
//! the person and a command of an agent.
//!
//! Always: all processes that hold it are named, since a socket can be handed on. What is not shown is said to be hidden, never guessed.
//! What it is not: the judgement of those processes (`entry.rs`, and the sandbox).

#[cfg(target_os = "linux")]
mod diag;
#[cfg(target_os = "linux")]
mod holders;

use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

/// Both ends of a connection, as we see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub peer: SocketAddr,
    pub ours: SocketAddr,
}

/// Who holds the other end.
#[derive(Debug)]
pub enum Holders {
    /// The connection is not one of this machine, or of this part of it (another network namespace).
    Elsewhere,
    Here {
        uid: u32,
        /// Those who hold it.
        holders: Vec<Holder>,
        /// Processes of that user whose files are not shown: they may hold it.
        hidden: Vec<i32>,
    },
    /// It could not be looked: the system has no descriptors for it, or the like.
    NotLookedAt,
    /// This system does not tell.
    Untold,
}

/// A process that holds a socket.
#[derive(Debug)]
pub struct Holder {
    pub pid: i32,
    /// The kernel's own handle on it, where there is one.
    #[cfg(target_os = "linux")]
    pub handle: Option<OwnedFd>,
}

/// Looks for who holds the other end now. Blocks: it goes through the processes of this machine.
#[cfg(target_os = "linux")]
pub fn holders(ends: Ends) -> Holders {
    match diag::find(ends) {
        Ok(Some(found)) => holders::of(found),
        Ok(None) => Holders::Elsewhere,
        Err(_) => Holders::NotLookedAt,
    }
}

/// Where nobody can be asked, nothing is known.
#[cfg(not(target_os = "linux"))]
pub fn holders(_: Ends) -> Holders {
    Holders::Untold
}
