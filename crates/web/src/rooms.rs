//! What the server knows of sessions: where they are shown, and that somebody can bring one.

use domain::fleet::Row;
use domain::ids::SessionId;
use link::LinkIo;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::watch;

/// The fleet as it stands.
pub type Rows = Arc<Vec<Row>>;

/// What a page wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageTarget {
    Session(SessionId),
    /// A new one, in this folder or in the usual one.
    New {
        cwd: Option<String>,
    },
}

/// What is done to a session from its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Says something to it: steers what is under way, else begins it.
    Say {
        pid: u32,
        session: SessionId,
        text: String,
        busy: bool,
    },
    Stop {
        pid: u32,
        session: SessionId,
    },
}

/// Why a session cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRoom {
    /// There is none of that name.
    NoSuchSession,
    /// It is there, or could be; why not now, and what to do.
    CannotOpen { message: String, hint: String },
}

/// Whoever has sessions.
pub trait Rooms: Send + Sync + 'static {
    /// The fleet, now and as it changes; `None` until it was looked at.
    fn fleet(&self) -> watch::Receiver<Option<Rows>>;

    /// A native link to the process that has the session open, on which nothing was said yet.
    fn reach(&self, wanted: PageTarget) -> impl Future<Output = Result<LinkIo, NoRoom>> + Send;

    /// Does it; gives words for the person, whatever came of it.
    fn act(&self, act: Act) -> impl Future<Output = String> + Send;
}
