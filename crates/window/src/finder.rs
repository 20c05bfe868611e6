//! The way to the server: `parlor up` finds it or begins it, and says where it is reached; the process that listens there must be the one
//! that it named.
//!
//! Invariants: a server that the person has ended stays ended until they want it again ([`Finder::begin`]); one that died is begun anew by
//! whoever needs it; nobody but the process that `parlor up` has looked at is talked to.

use domain::path_text;
use link::{AsyncSink, AsyncSource, Lane, Limits, LinkIo, Wiring};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long `parlor up` may take: it waits for its server, which may have to be begun.
const UP_WITHIN: Duration = Duration::from_secs(60);
/// How long connecting may take.
const REACHED_WITHIN: Duration = Duration::from_secs(5);
/// In the data folder, as long as a server runs or has died; an orderly end takes it away.
const NOTICE: &str = "server.json";
/// Names our program where it lies elsewhere.
pub const PROGRAM: &str = "PARLOR_BIN";
/// What may wait to be written to the server, and of a line; what comes in is bounded by the link.
const TO_SERVER: Limits =
    Limits { line: wire::lines::MAX_LINE, backlog_bytes: 2 * wire::lines::MAX_LINE, backlog_lines: 1_000 };

/// Why the page has no connection, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    pub code: &'static str,
    pub message: String,
    pub hint: String,
}

impl Refused {
    pub(crate) fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Refused {
        Refused { code, message: message.into(), hint: hint.into() }
    }

    /// Whether the page had best try again by itself.
    pub fn passes(&self) -> bool {
        self.code == STOPPED || self.code == GONE
    }
}

/// The person ended the server.
pub const STOPPED: &str = "stopped";
/// It went away while it was being reached.
const GONE: &str = "gone";

/// Where a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub pid: i32,
    pub version: String,
    pub control: PathBuf,
    pub data: PathBuf,
}

/// As `parlor up --json` prints it.
#[derive(Deserialize)]
struct UpReport {
    pid: i32,
    version: String,
    control: String,
    data: String,
}

/// Finds the server, now and again.
#[derive(Debug)]
pub struct Finder {
    program: PathBuf,
    known: Mutex<Option<Server>>,
}

/// The program that is meant: the one that the person names, else the one beside us, else whichever is found by its name.
pub fn program(named: Option<PathBuf>, ours: Option<&Path>) -> PathBuf {
    let beside = || ours.and_then(Path::parent).map(|folder| folder.join("parlor")).filter(|it| it.is_file());
    named.filter(|named| !named.as_os_str().is_empty()).or_else(beside).unwrap_or_else(|| "parlor".into())
}

impl Finder {
    /// One that asks this program.
    pub fn new(program: PathBuf) -> Finder {
        Finder { program, known: Mutex::default() }
    }

    /// The person wants the server: it runs from here on, or it is said why not.
    ///
    /// # Errors
    /// When it cannot be begun.
    pub async fn begin(&self) -> Result<Server, Refused> {
        let mut known = self.known.lock().await;
        let server = self.up().await?;
        *known = Some(server.clone());
        Ok(server)
    }

    /// A connection to the server on which nothing was said yet.
    ///
    /// # Errors
    /// When the person ended it, or it cannot be reached.
    pub(crate) async fn reach(&self) -> Result<LinkIo, Refused> {
        let mut known = self.known.lock().await;
        if let Some(server) = known.as_ref() {
            match connect(server).await {
                Ok(link) => return Ok(link),
                Err(_) if !server.data.join(NOTICE).exists() => {
                    return Err(Refused::new(STOPPED, "Parlor was ended", "begin it again with `parlor up`"));
                }
                // It died, or there is another one by now.
                Err(_) => {}
            }
        }
        let server = self.up().await?;
        let link = connect(&server).await;
        *known = Some(server);
        link.map_err(|why| Refused::new(GONE, format!("Parlor cannot be reached: {why}"), "try again"))
    }

    async fn up(&self) -> Result<Server, Refused> {
        let program = self.program.display();
        let cannot = |why: String| {
            Refused::new("cannot_start", why, "run `parlor up` in a terminal: it says what is wrong")
        };
        let begun = Command::new(&self.program)
            .args(["up", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let child = begun.map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => Refused::new(
                "no_parlor",
                format!("there is no program {program}"),
                format!("install Parlor beside this one, or name it in {PROGRAM}"),
            ),
            _ => cannot(format!("{program} cannot be started: {why}")),
        })?;
        let said = timeout(UP_WITHIN, child.wait_with_output()).await;
        let late = |_| cannot(format!("`{program} up` took longer than {} s", UP_WITHIN.as_secs()));
        let said = said.map_err(late)?.map_err(|why| cannot(format!("{program} cannot be heard: {why}")))?;
        read(&said).map_err(|why| cannot(format!("`{program} up` {why}")))
    }
}

/// Characters of a program's last words that are told on.
const MAX_WORDS: usize = 500;

/// What `parlor up --json` has said.
fn read(said: &Output) -> Result<Server, String> {
    if !said.status.success() {
        let words = String::from_utf8_lossy(&said.stderr);
        let words: String = domain::harmless::clean(words.trim()).chars().take(MAX_WORDS).collect();
        return Err(format!("failed ({}): {words}", said.status));
    }
    let UpReport { pid, version, control, data } = serde_json::from_slice(&said.stdout)
        .map_err(|why| format!("says nothing that can be read: {why}"))?;
    Ok(Server { pid, version, control: path_text::read(&control), data: path_text::read(&data) })
}

/// A connection to the process that was named; another one that listens in its place is not talked to.
async fn connect(server: &Server) -> io::Result<LinkIo> {
    let stream = timeout(REACHED_WITHIN, UnixStream::connect(&server.control)).await??;
    if stream.peer_cred()?.pid() != Some(server.pid) {
        return Err(io::Error::other("another process listens in its place"));
    }
    let (read, write) = stream.into_split();
    Ok(Wiring::new(TO_SERVER).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start())
}

#[cfg(test)]
pub(crate) mod tests;
