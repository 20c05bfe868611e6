//! What a turn did to files, kept so that it can be taken back.
//!
//! Before a tool changes anything, what stands there is kept by its digest in a [`Vault`]; after it, what changed is written down as a
//! step of the turn ([`Ledger`]). Taking a step back puts the earlier content there, or merges it with what others did since.
//! It is not a backup: files that git ignores, version control's own records, secrets, and what is larger than a bound are not kept, and
//! what was not kept is named.
//!
//! Invariants: nothing is overwritten that is not in the vault; where others changed the same lines, nothing is written and the file is
//! named; no link is followed on the way to a file; `.git` is never written.

mod changes;
mod diff;
mod gits;
mod image;
mod ledger;
mod memory;
mod merge;
mod restore;
mod scan;
mod stamp;
mod step;
mod undo;
mod words;

pub use diff::against_git;
pub use image::Image;
pub use ledger::{Begun, CallScope, Ledger, NotKept, Watched};
pub use memory::{MAX_IN_MEMORY, MemoryVault};
pub use scan::{MAX_BYTES, MAX_FILE, MAX_FILES, MAX_TIME, ScanBounds};
pub use step::{Change, Lost, Step, StepState};
pub use undo::{Conflicts, FileOutcome, Since, UndoError, UndoOutcome};
pub use words::Direction;

use std::fmt;

/// One file of a workspace as it was last seen, so that it need not be read again while it looks the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Print {
    /// Below the workspace, in the bytes of the system.
    pub path: Vec<u8>,
    /// What the system says of it.
    pub stamp: String,
    /// What it was, as [`Image`] writes it.
    pub image: String,
    /// What the vault holds of it.
    pub digest: Option<String>,
}

/// Takes a print: its path, stamp and image. There are as many as there are files, so that they are not copied on the way.
pub type TakePrint<'a> = &'a mut dyn FnMut(&[u8], &str, &str);

/// Where contents and steps are kept. Calls block.
pub trait Vault: fmt::Debug + Send + Sync {
    /// Keeps contents under their digests. What is there already costs nothing.
    ///
    /// # Errors
    /// When the disk or a bound says no, in words.
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String>;

    /// A content by its digest; `None` when it is not kept any more.
    ///
    /// # Errors
    /// When it cannot be read, in words.
    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String>;

    /// Hands out what was last seen of a workspace, as far as the contents are still kept, in the order of the paths.
    ///
    /// # Errors
    /// When it cannot be read, in words.
    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String>;

    /// Takes in what is seen of a workspace now: prints that are new or other, and paths where nothing is any more.
    ///
    /// # Errors
    /// When it cannot be written, in words.
    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String>;

    /// The steps of a session, oldest first, as [`Step`] writes them.
    ///
    /// # Errors
    /// When they cannot be read, in words.
    fn steps(&self, session: &str) -> Result<Vec<String>, String>;

    /// Writes a step down under its name, in the place of what it was before. It is on disk when this returns, and so is what it uses.
    ///
    /// # Errors
    /// When it cannot be written, in words.
    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String>;
}

#[cfg(test)]
mod tests;
