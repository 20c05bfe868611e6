//! Who has which sessions: the contract by which processes make themselves known, are found and are reached. [`Files`] keeps it for the
//! processes of one person on one machine.
//!
//! A process prepares its place, listens at its sockets, and announces itself, in this order: whoever finds a notice finds the sockets too.
//! It withdraws when it ends in order; what a killed one left is told as dead once, by whoever looks next, and then forgotten. To have a
//! session open is told by the process itself ([`crate::processes`]); the right to write it is another matter, the lease of the store
//! ([`store::Fence`]).
//!
//! What it is not: the sockets, which [`crate::announcement`] listens at.

mod files;

pub use files::Files;

use crate::paths;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// What a process says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub pid: u32,
    /// Milliseconds since 1970.
    pub since: u64,
    pub cwd: String,
    /// What it serves, in words.
    pub serving: String,
}

impl Notice {
    /// As `ps --json` prints it.
    pub fn to_json(&self) -> Value {
        json!({"pid": self.pid, "since": self.since, "cwd": self.cwd, "serving": self.serving})
    }

    /// Reads it; `None` when it is none.
    pub fn from_json(told: &Value) -> Option<Notice> {
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Notice {
            pid: u32::try_from(told.get("pid")?.as_u64()?).ok()?,
            since: told.get("since")?.as_u64()?,
            cwd: text("cwd")?,
            serving: text("serving")?,
        })
    }
}

/// What a process is reached for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketPurpose {
    /// To attach to its sessions, by the native wire.
    Ui,
    /// To be told which sessions it has and who is there.
    Who,
    /// To speak the wire that a room was started to speak beside the native one.
    Wire,
}

/// A process that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProcess {
    pub notice: Notice,
    /// Whether a process of its number is there. Told once when it is not: nobody sees it again.
    pub is_alive: bool,
}

/// Where processes announce themselves. Calls are short and may block on a disk.
pub trait Directory: Send + Sync {
    /// Makes room for the sockets of a process, and forgets what another one of its number left.
    ///
    /// # Errors
    /// When there is no place for it.
    fn prepare(&self, pid: u32) -> anyhow::Result<()>;

    /// Lets a process be found that has prepared its place and listens at its sockets.
    ///
    /// # Errors
    /// When it cannot be written down, or is announced already.
    fn announce(&self, notice: &Notice) -> anyhow::Result<()>;

    /// Takes a process away, its sockets too. One that is not there is no matter.
    fn withdraw(&self, pid: u32);

    /// What a process of this number announced, whether it lives or not.
    fn find(&self, pid: u32) -> Option<Notice>;

    /// Looks at all that are announced, so many at most; what dead ones left is removed.
    ///
    /// # Errors
    /// When it cannot be known who is there. That nobody ever was is no error.
    fn look(&self, most: usize) -> anyhow::Result<Vec<FoundProcess>>;

    /// The socket of this machine by which a process is reached, announced or not.
    fn socket(&self, pid: u32, door: SocketPurpose) -> PathBuf;
}

/// The directory of this person's processes.
///
/// # Errors
/// When there is no place for it.
pub fn here() -> anyhow::Result<Arc<dyn Directory>> {
    Ok(Arc::new(Files::at(paths::runtime()?)))
}

/// The same for whoever works in another folder later.
///
/// # Errors
/// As for [`here`].
pub fn from_anywhere() -> anyhow::Result<Arc<dyn Directory>> {
    Ok(Arc::new(Files::at(std::path::absolute(paths::runtime()?)?)))
}
