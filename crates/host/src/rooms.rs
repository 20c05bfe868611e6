//! Rooms: processes of Parlor without a terminal, each with the sessions of one project. A room is started in the folder and with the
//! environment that it is asked for, announces itself like every process with sessions, and is reached by its native socket.
//!
//! Invariants: a session that some process has open is reached there, never opened twice (two requests at once wait for each other here,
//! and the store lets one process write a session); a room is no child of whoever started it, so it outlives that and is believed by
//! UIs; at most [`MAX_ROOMS`] live at once, every wait is bounded, and a room that nobody uses ends by itself.

pub mod detach;
mod registry;
mod release;
pub mod room;
pub mod spawn_env;

pub use registry::{EndedRooms, end_all, live};
pub use release::make_way;

use crate::directory::{self, Directory, SocketPurpose};
use crate::kept;
use crate::paths;
use crate::processes;
use anyhow::Context;
use dialects::Dialect;
use domain::ids::SessionId;
use domain::path_text;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{SqliteStore, Store, StoreError};

/// Rooms that live at once; each is a process.
const MAX_ROOMS: usize = 64;
/// How long a room may take until it is announced.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How often it is looked whether it is.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a room without UI, run and question stays, unless another time is named.
pub const IDLE: Duration = Duration::from_secs(600);

/// The flags that a room may be started with, for the sessions that begin in it.
const FLAGS: &[&str] =
    &["--model", "--effort", "--workspace", "--policy", "--fetch", "--max-cost", "--max-steps", "--max-time"];

/// Looks which agents of other programs may be begun without asking: those that the person has agreed to.
pub type AgentNames = fn() -> Vec<String>;

/// What somebody wants to be brought to.
#[derive(Debug, Clone, Default)]
pub struct RoomRequest {
    /// The session to go on with; without one a room for new sessions.
    pub session: Option<SessionId>,
    /// Where the room works. Without it: where the session did, else where we are.
    pub cwd: Option<PathBuf>,
    /// The environment of the terminal that asks; without it our own.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Whether sessions begin there in Parlor's own terminal or page.
    pub own_ui: bool,
    /// The wire that is to be spoken there beside the native one.
    pub wire: Option<Dialect>,
    /// The agent of another program that is to be behind it, by the name that it is listed under; the person has agreed to it before.
    pub agent: Option<String>,
    /// Whether no agent of another program is started for it.
    pub starts_none: bool,
    /// Flags for the sessions that begin there, as `--name=value`; only those of [`FLAGS`].
    pub flags: Vec<OsString>,
}

impl RoomRequest {
    /// A kept or open session.
    pub(crate) fn session(session: SessionId) -> RoomRequest {
        RoomRequest { session: Some(session), ..RoomRequest::default() }
    }

    /// A room for new sessions.
    pub fn new_in(cwd: Option<PathBuf>) -> RoomRequest {
        RoomRequest { cwd, ..RoomRequest::default() }
    }
}

/// A room that can be spoken with, started now or found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedRoom {
    /// The socket of the process, native unless another wire was wanted.
    pub socket: PathBuf,
    pub(crate) pid: u32,
    /// Whether some process had the session open already: flags and folder say nothing there.
    pub was_open: bool,
}

/// Why there is no room. The words are for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No such session is kept or open.
    NoSuchSession(String),
    /// More cannot be had now.
    TooMany(String),
    /// It could not be started, or not with this session.
    CannotOpen(String),
}

impl std::fmt::Display for NoRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (NoRoom::NoSuchSession(words) | NoRoom::TooMany(words) | NoRoom::CannotOpen(words)) = self;
        f.write_str(words)
    }
}

impl std::error::Error for NoRoom {}

impl NoRoom {
    fn of(why: &anyhow::Error) -> NoRoom {
        NoRoom::CannotOpen(crate::error::in_words(why))
    }
}

/// Who is waiting for a session to be opened.
type Opening = Arc<tokio::sync::Mutex<()>>;

/// The rooms of this data folder.
#[derive(Clone)]
pub struct Rooms {
    data: PathBuf,
    /// Where processes announce themselves.
    directory: Arc<dyn Directory>,
    idle: Duration,
    agents: AgentNames,
    opening: Arc<Mutex<BTreeMap<SessionId, Opening>>>,
}

impl Rooms {
    /// Rooms that stay for so long when nobody uses them.
    ///
    /// # Errors
    /// When there is no place for them.
    pub fn new(idle: Duration) -> anyhow::Result<Rooms> {
        // A room begins in another folder.
        let (data, directory) = (std::path::absolute(paths::data()?)?, directory::from_anywhere()?);
        Ok(Rooms { data, directory, idle, agents: Vec::new, opening: Arc::default() })
    }

    /// The same, which also know the agents that may be begun.
    #[must_use]
    pub fn offering(self, agents: AgentNames) -> Rooms {
        Rooms { agents, ..self }
    }

    /// Who looks which agents may be begun.
    pub(crate) fn agents(&self) -> AgentNames {
        self.agents
    }

    /// Gives the socket of the process that has the session open, else of a room that opens it, or of a fresh room for new sessions.
    ///
    /// # Errors
    /// When there is none and none can be had.
    pub(crate) async fn open(&self, wanted: RoomRequest) -> Result<OpenedRoom, NoRoom> {
        if let Some(wrong) = wanted.flags.iter().find(|flag| !is_flag(flag)) {
            let wrong = wrong.to_string_lossy();
            return Err(NoRoom::CannotOpen(format!("a session process cannot be started with {wrong}")));
        }
        let Some(session) = wanted.session.clone() else {
            let cwd = match &wanted.cwd {
                Some(cwd) => cwd.clone(),
                None => paths::here().map_err(|why| NoRoom::of(&why))?,
            };
            return self.start(&wanted, &cwd).await;
        };
        let turn = self.turn(&session);
        let held = turn.lock().await;
        let opened = self.open_session(&wanted, &session).await;
        drop(held);
        self.forget(&session, turn);
        opened
    }

    async fn open_session(&self, wanted: &RoomRequest, session: &SessionId) -> Result<OpenedRoom, NoRoom> {
        if let Some(opened) = self.find(session).await? {
            return Ok(opened);
        }
        let kept = self.kept_in(session, wanted.starts_none)?;
        let cwd = wanted.cwd.clone().unwrap_or(kept);
        match self.start(wanted, &cwd).await {
            Ok(opened) => Ok(opened),
            // Somebody else may have opened it at the same moment, and be announced by now.
            Err(why) => self.find(session).await?.ok_or(why),
        }
    }

    /// The process that has the session open.
    async fn find(&self, session: &SessionId) -> Result<Option<OpenedRoom>, NoRoom> {
        let directory = self.directory.as_ref();
        let process = processes::holder(directory, session).await.map_err(|why| NoRoom::of(&why))?;
        Ok(process.map(|process| {
            let pid = process.notice.pid;
            OpenedRoom { socket: directory.socket(pid, SocketPurpose::Ui), pid, was_open: true }
        }))
    }

    /// The log of the process that has the session open, where it is a room: those write theirs in one folder.
    pub(crate) async fn log_of(&self, session: &SessionId) -> Option<PathBuf> {
        let process = processes::holder(self.directory.as_ref(), session).await.ok()??;
        registry::log_of(&paths::data().ok()?, process.notice.pid)
    }

    /// The folder of a kept session, of ours or of another program's agent, which the room starts again.
    fn kept_in(&self, session: &SessionId, starts_none: bool) -> Result<PathBuf, NoRoom> {
        let missing = || {
            let hint = "`parlor sessions list --all` shows those there are";
            NoRoom::NoSuchSession(format!("there is no session {session}; {hint}"))
        };
        if !SqliteStore::is_at(&self.data).unwrap_or(false) {
            return Err(missing());
        }
        let summary = SqliteStore::to_read(&self.data).and_then(|store| store.summary(session));
        let summary = match summary {
            Ok(summary) => summary,
            Err(StoreError::Unknown(_)) => return Err(missing()),
            Err(why) => return Err(NoRoom::of(&kept::told(&why))),
        };
        if starts_none && summary.origin.is_some() {
            let why = "it is with another program's agent, which only a controller may have started again";
            return Err(NoRoom::CannotOpen(why.to_owned()));
        }
        Ok(path_text::read(&summary.cwd))
    }

    /// Starts a room and waits until it is announced.
    async fn start(&self, wanted: &RoomRequest, cwd: &Path) -> Result<OpenedRoom, NoRoom> {
        if live(&self.data).len() >= MAX_ROOMS {
            return Err(NoRoom::TooMany(format!(
                "{MAX_ROOMS} session processes run; close sessions, or end the server with `parlor down`"
            )));
        }
        if !cwd.is_dir() {
            return Err(NoRoom::CannotOpen(format!("{} is not a folder to work in", cwd.display())));
        }
        let log = registry::fresh_log(&self.data).map_err(|why| NoRoom::of(&why))?;
        detach::fresh(&log).map_err(|why| NoRoom::of(&why))?;
        let mut words = wanted.flags.clone();
        words.push(room::ROOM.into());
        let idle = self.idle.as_secs().to_string();
        words.extend(["--idle", idle.as_str(), "--log"].map(OsString::from));
        words.push(log.clone().into());
        if wanted.own_ui {
            words.push("--own-ui".into());
        }
        if let Some(wire) = wanted.wire {
            words.extend(["--wire", wire.name()].map(OsString::from));
        }
        if let (Some(agent), None) = (&wanted.agent, &wanted.session) {
            words.extend(["--agent", agent.as_str()].map(OsString::from));
        }
        if let Some(session) = &wanted.session {
            words.extend(["--session", session.as_str()].map(OsString::from));
        }
        let environment = spawn_env::environment(wanted.environment.as_deref());
        let started = detach::start(&words, cwd, Some(environment), &log).await;
        let pid = started.map_err(|why| NoRoom::of(&why))?;
        let door = if wanted.wire.is_some() { SocketPurpose::Wire } else { SocketPurpose::Ui };
        let opened = self.announced(pid, door).await;
        opened.map_err(|why| NoRoom::CannotOpen(detach::with_last_words(&why, &log)))
    }

    /// Waits until a process is announced.
    async fn announced(&self, pid: u32, door: SocketPurpose) -> Result<OpenedRoom, String> {
        let end = Instant::now() + READY_WITHIN;
        loop {
            if self.directory.find(pid).is_some() {
                let socket = self.directory.socket(pid, door);
                return Ok(OpenedRoom { socket, pid, was_open: false });
            }
            if !detach::is_there(pid) {
                return Err("the session process ended before it was there".to_owned());
            }
            if Instant::now() >= end {
                let seconds = READY_WITHIN.as_secs();
                return Err(format!("the session process {pid} was not there within {seconds} seconds"));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn turn(&self, session: &SessionId) -> Opening {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        opening.entry(session.clone()).or_default().clone()
    }

    /// Forgets who waited for a session, once nobody does.
    fn forget(&self, session: &SessionId, turn: Opening) {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turn);
        if opening.get(session).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            opening.remove(session);
        }
    }
}

/// Whether a word is a flag that a room may have.
fn is_flag(word: &OsString) -> bool {
    let Some(text) = word.to_str() else {
        // A folder may be no text.
        return word.as_encoded_bytes().starts_with(b"--workspace=");
    };
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    FLAGS.contains(&name)
}

/// Puts the folder of rooms there.
fn folder(data: &Path) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let folder = data.join("rooms");
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_for_sessions_reach_a_room() {
        for good in ["--model=offline/x", "--policy=ask", "--fetch", "--max-cost=2"] {
            assert!(is_flag(&good.into()), "{good}");
        }
        for bad in ["run", "--cwd=/", "--ephemeral", "-c", "--resume=x", "", "--modelx=1", "__guard"] {
            assert!(!is_flag(&bad.into()), "{bad}");
        }
    }
}
