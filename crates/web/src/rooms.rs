//! What the server knows of sessions: where they are shown, and that somebody can bring one.

use domain::fleet::Row;
use domain::ids::SessionId;
use link::LinkIo;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::watch;

/// The fleet as it stands.
pub type Rows = Arc<Vec<Row>>;

/// What a page wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageTarget {
    Session(SessionId),
    /// The same for a device that may start no program of others: a session with such an agent is seen only where it is open.
    Watched(SessionId),
    /// A new one, in this folder or in the usual one, with this model or the usual one, or with an agent of another program.
    New {
        cwd: Option<String>,
        model: Option<String>,
        agent: Option<String>,
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

/// What a page wants to know that no session tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageQuery {
    /// Where sessions begin, and with which models.
    Start,
    /// Folders whose whole path begins with this.
    Folders(String),
    /// Where these words were said, in any session.
    Search(String),
    /// What the process that has this session open writes down: the runtime's stderr, and what it said that could not be read.
    Log(SessionId),
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

    /// Looks it up; gives what the page is told, or words for the person.
    fn look_up(&self, query: PageQuery) -> impl Future<Output = Result<Value, String>> + Send;

    /// Does it; gives words for the person, whatever came of it.
    fn act(&self, act: Act) -> impl Future<Output = String> + Send;
}
