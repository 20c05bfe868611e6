//! The entrance of our sockets: who may be a UI, and what is said to whoever may not.

use crate::stack::GUARD;
use link::unix::{Accepted, Peer, PeerProcess};
use std::os::fd::AsFd;
use tokio::task::JoinSet;
use tools::sandbox::NotAdmitted;

/// The code of an error that refuses a connection.
const REFUSED: i32 = -32_001;

/// Whether whoever connects may be a UI: not what came from a command that an agent runs, which would answer for the person.
///
/// # Errors
/// Why it may not.
fn may_enter(peer: &Peer) -> Result<(), NotAdmitted> {
    match &peer.process {
        PeerProcess::Held(pid, handle) => tools::sandbox::may_enter(GUARD, *pid, Some(handle.as_fd())),
        PeerProcess::Named(pid) => tools::sandbox::may_enter(GUARD, *pid, None),
        PeerProcess::Gone => Err(NotAdmitted::Gone),
    }
}

/// Most connections that are told at once why they are refused; more are closed unheard.
const MAX_REFUSALS: usize = 16;

/// Tells those who may not be a UI why.
#[derive(Default)]
pub(crate) struct Refusals(JoinSet<()>);

impl Refusals {
    /// Lets somebody in, or tells it why not.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn admit(&mut self, accepted: Accepted) -> Result<Accepted, NotAdmitted> {
        let Err(why) = may_enter(&accepted.peer) else { return Ok(accepted) };
        while self.0.try_join_next().is_some() {}
        if self.0.len() < MAX_REFUSALS {
            self.0.spawn(accepted.refuse(refusal(why)));
        }
        Err(why)
    }
}

/// What is said to somebody who may not be a UI. No wire is chosen yet: this is an error of the native one and of JSON-RPC, and a
/// person can read it.
fn refusal(why: NotAdmitted) -> String {
    let words = format!("refused: {why}");
    serde_json::json!({"error": {"about": "hello", "code": REFUSED, "message": words}}).to_string()
}
