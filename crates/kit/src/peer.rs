//! The program under test: how it is started or reached, and its byte streams.
//!
//! A runtime is spoken with on its stdin and stdout, or on a socket. A UI is started and speaks on its own stdin and stdout, on a
//! socket that we listen on, or starts what it takes for its runtime and is in truth a relay to us. Where a command has the word
//! `{socket}`, a path is put there; `{runtime}` becomes the command of the relay. Invariant: no program outlives its [`Peer`].

use crate::player::Lane;
use link::LinkError;
use link::child::{Bytes, Child, Exit, Launch};
use link::unix::{self, Trust, events_path};
use std::ffi::{OsStr, OsString};
use std::future::{Future, poll_fn};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Stands in a command for the path of a socket.
pub const SOCKET: &str = "{socket}";
/// Stands in a UI's command for the runtime it should start.
pub const RUNTIME: &str = "{runtime}";
/// How long a program may take to listen or to connect.
pub const REACH_WITHIN: Duration = Duration::from_secs(10);
/// How long a program may take to end by itself, and after a signal.
const END_WITHIN: Duration = Duration::from_millis(500);

/// Where the program under test is.
#[derive(Debug, Clone)]
pub enum PeerAddress {
    /// It is started anew each time.
    Command(PeerCommand),
    /// It listens there already, or for a UI: we do.
    Socket(PathBuf, Trust),
}

/// A program that is to be started.
#[derive(Debug, Clone, Default)]
pub struct PeerCommand {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where it is started.
    pub cwd: Option<PathBuf>,
    /// Added to our environment.
    pub env: Vec<(OsString, OsString)>,
    /// What stands before it and watches over it, as [`Launch::guard`] says; without one it keeps our session.
    pub guard: Vec<OsString>,
}

impl PeerCommand {
    /// The same with other words.
    fn launch(&self, command: &[OsString]) -> Launch {
        let Self { cwd, env, guard, .. } = self.clone();
        Launch { cwd, env, guard, ..Launch::new(command) }
    }
}

/// What is known of a wire's carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// One byte stream.
    One,
    /// A second one, for events.
    Two,
}

/// Why a program under test cannot be spoken with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] LinkError),
    /// A socket or a directory failed.
    #[error("{what}: {source}")]
    Io {
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// It did not come.
    #[error("the program did not {0} within {REACH_WITHIN:?}")]
    Late(&'static str),
    /// It went away, or never came; with its last words.
    #[error("{why}{}", ended(*.exit))]
    Gone {
        /// What was waited for.
        why: String,
        /// How it ended, if it did.
        exit: Option<Exit>,
        /// The last lines of its stderr.
        said: Vec<String>,
    },
    /// The wire needs sockets.
    #[error("this wire has two sockets: put {SOCKET} where the program takes its socket's path")]
    NeedsSocket,
}

impl PeerError {
    /// The last lines of the program's stderr, for a report.
    pub fn said(&self) -> Vec<String> {
        match self {
            PeerError::Gone { said, .. } => said.iter().map(|line| format!("# {line}")).collect(),
            PeerError::Start(_) | PeerError::Io { .. } | PeerError::Late(_) | PeerError::NeedsSocket => {
                Vec::new()
            }
        }
    }

    /// The same, with what is known of the program that it was waited for.
    async fn of(self, mut child: Child) -> PeerError {
        let exit = tokio::time::timeout(END_WITHIN, child.wait()).await.ok();
        let said = child.stderr();
        child.shutdown_within(END_WITHIN, END_WITHIN).await;
        PeerError::Gone { why: self.to_string(), exit, said }
    }
}

fn ended(exit: Option<Exit>) -> String {
    exit.map(|exit| format!(" (the program {exit})")).unwrap_or_default()
}

/// A program under test.
pub struct Peer {
    /// Its byte streams; taken by whoever speaks.
    pub lanes: Vec<Lane>,
    child: Option<Child>,
    /// Holds stdin of a program that speaks elsewhere, and the sockets' directory.
    held: PeerResources,
    /// How it ended, for programs that are no process of their own, or whose end was put in their way.
    ends: Vec<watch::Receiver<Option<Exit>>>,
}

#[derive(Default)]
struct PeerResources {
    stdin: Option<ChildStdin>,
    dir: Option<tempfile::TempDir>,
    /// Reads what it writes to its stdout, so that it does not die of writing there.
    _stdout: JoinSet<()>,
}

impl PeerResources {
    fn of(stdin: ChildStdin, stdout: ChildStdout, dir: tempfile::TempDir) -> PeerResources {
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let mut stdout = stdout;
            // Ends with the program; what it says there is nobody's business.
            let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
        });
        PeerResources { stdin: Some(stdin), dir: Some(dir), _stdout: reading }
    }
}

impl Peer {
    /// Starts or reaches a runtime.
    ///
    /// # Errors
    /// When it cannot be started or reached.
    pub async fn runtime(address: &PeerAddress, carrier: Carrier) -> Result<Peer, PeerError> {
        match address {
            PeerAddress::Socket(path, trust) => {
                Ok(Peer::over(connect(path, carrier, *trust).await?, None, PeerResources::default()))
            }
            PeerAddress::Command(start) if has(&start.command, SOCKET) => {
                let dir = own_dir()?;
                let path = dir.path().join("s");
                let command = filled(&start.command, SOCKET, path.as_os_str());
                let Bytes { stdin, stdout, mut child } = start.launch(&command).start_bytes()?;
                let held = PeerResources::of(stdin, stdout, dir);
                match connect_to(&mut child, &path, carrier).await {
                    Ok(lanes) => Ok(Peer::over(lanes, Some(child), held)),
                    Err(why) => Err(why.of(child).await),
                }
            }
            PeerAddress::Command(_) if carrier == Carrier::Two => Err(PeerError::NeedsSocket),
            PeerAddress::Command(start) => Peer::on_stdio(start),
        }
    }

    /// Starts a UI and waits until it comes to us. `relay` is a command that carries its stdin and stdout to the socket whose path
    /// is added to it.
    ///
    /// # Errors
    /// When it cannot be started or does not come.
    pub async fn ui(address: &PeerAddress, carrier: Carrier, relay: &[OsString]) -> Result<Peer, PeerError> {
        let start = match address {
            PeerAddress::Socket(path, _) => {
                let lanes = Listening::bind(path, carrier)?.accept().await?;
                return Ok(Peer::over(lanes, None, PeerResources::default()));
            }
            PeerAddress::Command(start) => start,
        };
        let command = &start.command;
        if !has(command, SOCKET) && !has(command, RUNTIME) {
            if carrier == Carrier::Two {
                return Err(PeerError::NeedsSocket);
            }
            return Peer::on_stdio(start);
        }
        let dir = own_dir()?;
        let path = dir.path().join("s");
        let listening = Listening::bind(&path, carrier)?;
        let runtime: Vec<&OsStr> = relay.iter().map(OsString::as_os_str).chain([path.as_os_str()]).collect();
        let mut words = Vec::new();
        for word in filled(command, SOCKET, path.as_os_str()) {
            if word == RUNTIME {
                words.extend(runtime.iter().map(|word| (*word).to_owned()));
            } else {
                words.push(replaced(&word, RUNTIME, &runtime.join(OsStr::new(" "))));
            }
        }
        let Bytes { stdin, stdout, child } = start.launch(&words).start_bytes()?;
        let held = PeerResources::of(stdin, stdout, dir);
        match listening.accept().await {
            Ok(lanes) => Ok(Peer::over(lanes, Some(child), held)),
            Err(why) => Err(why.of(child).await),
        }
    }

    fn on_stdio(start: &PeerCommand) -> Result<Peer, PeerError> {
        let Bytes { stdin, stdout, child } = start.launch(&start.command).start_bytes()?;
        let lane = Lane { number: 0, read: Box::new(stdout), write: Box::new(stdin) };
        Ok(Peer::over(vec![lane], Some(child), PeerResources::default()))
    }

    fn over(lanes: Vec<Lane>, child: Option<Child>, held: PeerResources) -> Peer {
        Peer { lanes, child, held, ends: Vec::new() }
    }

    /// A program that runs in this process; `end` is told how it ended.
    pub fn inside(lanes: Vec<Lane>, end: watch::Receiver<Option<Exit>>) -> Peer {
        Peer::over(lanes, None, PeerResources::default()).with_end(end)
    }

    /// The same program, which may also end in this way.
    #[must_use]
    pub fn with_end(mut self, end: watch::Receiver<Option<Exit>>) -> Peer {
        self.ends.push(end);
        self
    }

    /// Waits until the program has ended; `None` when it is not ours to watch or does not end in time.
    pub async fn ended(&mut self, within: Duration) -> Option<Exit> {
        if !self.is_ours() {
            return None;
        }
        let (child, ends) = (&mut self.child, &mut self.ends);
        let process = async {
            match child {
                Some(child) => child.wait().await,
                None => std::future::pending().await,
            }
        };
        let mut process = pin!(process);
        let mut told: Vec<_> = ends
            .iter_mut()
            .map(|end| {
                Box::pin(async move {
                    let exit = end.wait_for(Option::is_some).await.ok().and_then(|exit| *exit);
                    match exit {
                        Some(exit) => exit,
                        None => std::future::pending().await,
                    }
                })
            })
            .collect();
        // What was put in its way comes first: a program that crashed is not asked how it does.
        let first = poll_fn(|cx| {
            for end in told.iter_mut().rev() {
                if let Poll::Ready(exit) = end.as_mut().poll(cx) {
                    return Poll::Ready(exit);
                }
            }
            process.as_mut().poll(cx)
        });
        tokio::time::timeout(within, first).await.ok()
    }

    /// Whether it is spoken with on its own stdin and stdout.
    pub fn is_on_stdio(&self) -> bool {
        self.is_ours() && self.held.dir.is_none()
    }

    /// The same program, with its streams led through something else.
    #[must_use]
    pub fn with_lanes(mut self, through: impl FnOnce(Vec<Lane>) -> Vec<Lane>) -> Peer {
        self.lanes = through(std::mem::take(&mut self.lanes));
        self
    }

    /// Whether the program was started by us, so that its end can be seen.
    pub fn is_ours(&self) -> bool {
        self.child.is_some() || !self.ends.is_empty()
    }

    /// The last lines of its stderr.
    pub fn stderr(&self) -> Vec<String> {
        self.child.as_ref().map(Child::stderr).unwrap_or_default()
    }

    /// Lets it go: its streams are closed, then it is told to end, then made to.
    pub async fn close(mut self) {
        self.lanes.clear();
        self.held.stdin.take();
        if let Some(child) = self.child {
            child.shutdown_within(END_WITHIN, END_WITHIN).await;
        }
    }
}

fn has(command: &[OsString], word: &str) -> bool {
    command.iter().any(|part| part.to_str().is_some_and(|part| part.contains(word)))
}

fn filled(command: &[OsString], word: &str, with: &OsStr) -> Vec<OsString> {
    command.iter().map(|part| replaced(part, word, with)).collect()
}

/// A word with something else in the place of `what`. One that is no text has no such place.
fn replaced(part: &OsStr, what: &str, with: &OsStr) -> OsString {
    let Some(text) = part.to_str() else { return part.to_owned() };
    let pieces: Vec<&OsStr> = text.split(what).map(OsStr::new).collect();
    pieces.join(with)
}

fn own_dir() -> Result<tempfile::TempDir, PeerError> {
    tempfile::Builder::new()
        .prefix("parlor-")
        .tempdir()
        .map_err(|source| PeerError::Io { what: "cannot make a directory for sockets".into(), source })
}

/// Connects to a program that was started just now. One that fails meanwhile is not waited for; one that ends well may have left
/// somebody behind who listens.
async fn connect_to(child: &mut Child, path: &Path, carrier: Carrier) -> Result<Vec<Lane>, PeerError> {
    let failed = async {
        if child.wait().await == Exit::Code(0) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // Whoever listens there came from what we started ourselves.
        lanes = connect(path, carrier, |_| Ok(())) => lanes,
        () = failed => Err(PeerError::Gone { why: "it never listened".into(), exit: None, said: Vec::new() }),
    }
}

async fn connect(path: &Path, carrier: Carrier, trust: Trust) -> Result<Vec<Lane>, PeerError> {
    // Events first: what happens because of the first command is then heard.
    let mut lanes = Vec::new();
    if carrier == Carrier::Two {
        lanes.push(lane(1, unix::reach(&events_path(path), REACH_WITHIN, trust).await?));
    }
    lanes.push(lane(0, unix::reach(path, REACH_WITHIN, trust).await?));
    Ok(lanes)
}

fn lane(number: u8, stream: UnixStream) -> Lane {
    let (read, write) = stream.into_split();
    Lane { number, read: Box::new(read), write: Box::new(write) }
}

struct Listening {
    main: UnixListener,
    events: Option<UnixListener>,
}

impl Listening {
    fn bind(path: &Path, carrier: Carrier) -> Result<Listening, PeerError> {
        let bind = |path: &Path| {
            UnixListener::bind(path).map_err(|source| PeerError::Io {
                what: format!("cannot listen on {}", path.display()),
                source,
            })
        };
        let events = match carrier {
            Carrier::One => None,
            Carrier::Two => Some(bind(&events_path(path))?),
        };
        Ok(Listening { main: bind(path)?, events })
    }

    async fn accept(self) -> Result<Vec<Lane>, PeerError> {
        let both = async {
            let mut lanes = vec![lane(0, self.main.accept().await?.0)];
            if let Some(events) = &self.events {
                lanes.push(lane(1, events.accept().await?.0));
            }
            Ok::<_, io::Error>(lanes)
        };
        match tokio::time::timeout(REACH_WITHIN, both).await {
            Ok(lanes) => lanes.map_err(|source| PeerError::Io { what: "cannot accept".into(), source }),
            Err(_) => Err(PeerError::Late("connect")),
        }
    }
}
