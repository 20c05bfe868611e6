//! What a store cannot do, in words for the person, with what to do next.

use domain::command::{Refusal, RefusalKind};
use domain::ids::{Seq, SessionId};
use std::path::PathBuf;
use thiserror::Error;

/// Why a store said no.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such session.
    #[error("there is no session {0}")]
    Unknown(SessionId),
    /// There is one already.
    #[error("there is already a session {0}")]
    Exists(SessionId),
    /// Another program has its lease.
    #[error("session {session} is open in another program, process {pid}")]
    Busy { session: SessionId, pid: u32 },
    /// A process of another machine, or one that shares nothing with us but the database, has its lease.
    #[error("session {session} is open elsewhere, at {holder}")]
    Elsewhere { session: SessionId, holder: String },
    /// Its lease was here and is not any more: nothing more of it may be written, told or done.
    #[error("{} no longer ours to go on with: {why}", named(sessions))]
    LeaseLost {
        sessions: Vec<SessionId>,
        /// Who has it, or why it could not be kept.
        why: String,
    },
    /// The database does not answer.
    #[error("the database {place} cannot be reached: {detail}")]
    Unreachable { place: String, detail: String },
    /// The database lets us not in.
    #[error("the database {place} does not let us in: {detail}")]
    Denied { place: String, detail: String },
    /// Its tables are of a version that does not go with ours.
    #[error(
        "the database {place} was set up by a newer Parlor: it has format {found}, and this one ({}) knows formats up to {known}",
        env!("CARGO_PKG_VERSION")
    )]
    NewerDatabase { place: String, found: i32, known: i32 },
    /// Anything else the database says.
    #[error("the database {place} refused: {detail}")]
    Database { place: String, detail: String },
    /// The place of a store is written so that it cannot be used.
    #[error("{0}")]
    Place(String),
    /// It is not open here for writing, or another program has its lease by now.
    #[error("session {0} is not open for writing here")]
    NotOpen(SessionId),
    /// The numbers do not follow.
    #[error("event {} of session {session} came where {} was due", got.0, expected.0)]
    OutOfOrder {
        session: SessionId,
        /// What should have come.
        expected: Seq,
        got: Seq,
    },
    /// The file was written by a newer version.
    #[error(
        "{} was written by a newer Parlor: it has format {found}, and this one ({}) knows formats up to {known}",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// A session was written by a newer version.
    #[error("session {session} cannot be resumed: {what}")]
    NewerSession {
        session: SessionId,
        /// What about it is not known, with both versions.
        what: String,
    },
    /// The file is something else.
    #[error("{} is not a session store", path.display())]
    Foreign { path: PathBuf },
    /// It may not be read.
    #[error("{} may not be read{}{owner}", path.display(), if owner.is_empty() { "" } else { ": " })]
    Unreadable {
        /// Which file or folder.
        path: PathBuf,
        /// Whose it is, in words; empty when that is not known.
        owner: String,
    },
    /// Something else stands where the file should be.
    #[error("{} is not a file but {what}", path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    /// Something else stands where a folder should be.
    #[error("{} is not a folder", path.display())]
    NotAFolder { path: PathBuf },
    /// It cannot be written.
    #[error("{} cannot be written", path.display())]
    ReadOnly { path: PathBuf },
    /// The file that is open is no longer the one with this name.
    #[error("{} was removed or replaced while it was in use", path.display())]
    Replaced { path: PathBuf },
    /// Another program has it open.
    #[error("{} is open in another Parlor{}", path.display(), processes(pids))]
    InUse {
        path: PathBuf,
        /// Who says that it writes a session, as far as it is known.
        pids: Vec<u32>,
    },
    /// There is a file where a new one was to be made.
    #[error("{} is there already", path.display())]
    FileExists { path: PathBuf },
    /// The folder of a file that was to be made is not there.
    #[error("there is no folder {}", path.display())]
    NoFolder { path: PathBuf },
    /// No room.
    #[error("no space left for {}", path.display())]
    Full { path: PathBuf },
    /// The file is damaged.
    #[error("{} is damaged: {detail}", path.display())]
    Corrupt { path: PathBuf, detail: String },
    /// Another program is in the middle of a long write.
    #[error("{} is locked by another program", path.display())]
    Locked { path: PathBuf },
    /// Anything else the disk says.
    #[error("{} cannot be used: {detail}", path.display())]
    Disk { path: PathBuf, detail: String },
}

impl StoreError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Unknown(_) => "`parlor sessions list` shows the sessions there are",
            StoreError::Exists(_) => "open it, or use another id",
            StoreError::Busy { .. } => "close it there, or attach to that program instead",
            StoreError::Elsewhere { .. } => {
                "go on there; if that process is gone, its lease ends within ten seconds: try again then"
            }
            StoreError::LeaseLost { .. } => {
                "open it again: what was acknowledged is kept, and it goes on from there"
            }
            StoreError::Unreachable { .. } => {
                "see whether it runs and can be reached from here; `parlor doctor` looks again. Nothing that was kept is harmed"
            }
            StoreError::Denied { .. } => {
                "write its password into a file of mode 0600, as HOST:PORT:DATABASE:USER:PASSWORD, and name that in PGPASSFILE"
            }
            StoreError::NewerDatabase { .. } => "update Parlor here, or use another database",
            StoreError::Database { .. } => "look at the database and its log, then try again",
            StoreError::Place(_) => {
                "write it as postgres://USER@HOST:PORT/DATABASE; docs/operations.md has examples"
            }
            StoreError::NotOpen(_) => "open it again; another program may have taken it over",
            StoreError::OutOfOrder { .. } => "this is a defect of Parlor; please report it",
            StoreError::NewerSession { .. } => {
                "update Parlor; nothing of it was changed, and what is known of it can be shown"
            }
            StoreError::Newer { .. } => "update Parlor, or set PARLOR_DATA_DIR to another directory",
            StoreError::Foreign { .. } => {
                "if it was one, `parlor sessions recover` saves what can be read; else move the file away, or set PARLOR_DATA_DIR to another directory"
            }
            StoreError::Unreadable { .. } => {
                "whoever owns it can let you read it (chmod, chown); or set PARLOR_DATA_DIR to a folder of your own"
            }
            StoreError::NotAFile { .. } | StoreError::NotAFolder { .. } => {
                "move it away, or set PARLOR_DATA_DIR to a folder of your own"
            }
            StoreError::ReadOnly { .. } => {
                "make the directory writable, or set PARLOR_DATA_DIR to another one"
            }
            StoreError::Replaced { .. } => {
                "put it back where it was; if it is gone, export this conversation, then start Parlor again"
            }
            StoreError::InUse { .. } => "end it there (`parlor ps` lists what runs), then try again",
            StoreError::FileExists { .. } => {
                "nothing was overwritten; use another name, or move that file away"
            }
            StoreError::NoFolder { .. } => "make it first, or use another place",
            StoreError::Full { .. } => "free some space; nothing that was stored is harmed",
            StoreError::Corrupt { .. } => {
                "`parlor doctor` says what is lost; `parlor sessions recover` saves what can be read and keeps the damaged file"
            }
            StoreError::Locked { .. } => "try again in a moment",
            StoreError::Disk { .. } => "look at the disk and its permissions, then try again",
        }
    }

    /// The same as a refusal of a command.
    pub fn to_refusal(&self) -> Refusal {
        let kind = match self {
            StoreError::Unknown(_) => RefusalKind::SessionUnknown,
            StoreError::Exists(_) => RefusalKind::Invalid,
            StoreError::OutOfOrder { .. } => RefusalKind::Internal,
            StoreError::Busy { .. }
            | StoreError::Elsewhere { .. }
            | StoreError::LeaseLost { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Denied { .. }
            | StoreError::NewerDatabase { .. }
            | StoreError::Database { .. }
            | StoreError::Place(_)
            | StoreError::NotOpen(_)
            | StoreError::Newer { .. }
            | StoreError::NewerSession { .. }
            | StoreError::Foreign { .. }
            | StoreError::Unreadable { .. }
            | StoreError::NotAFile { .. }
            | StoreError::NotAFolder { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Replaced { .. }
            | StoreError::InUse { .. }
            | StoreError::FileExists { .. }
            | StoreError::NoFolder { .. }
            | StoreError::Full { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Locked { .. }
            | StoreError::Disk { .. } => RefusalKind::Storage,
        };
        Refusal::new(kind, self.to_string()).hint(self.hint())
    }
}

fn named(sessions: &[SessionId]) -> String {
    match sessions {
        [one] => format!("session {one} is"),
        several => format!("{} sessions are", several.len()),
    }
}

fn processes(pids: &[u32]) -> String {
    match pids {
        [] => String::new(),
        [one] => format!(" (process {one})"),
        several => {
            format!(" (processes {})", several.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}
