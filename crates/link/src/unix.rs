//! Unix stream sockets: listening, accepting, connecting; one socket, or two for a dialect with a lane for events.
//!
//! Invariants: a socket is never reachable with a wider mode than 0600; a live socket is never stolen; only a socket we
//! bound is removed at the end; processes of other users are not talked to, in either direction. The peer is
//! known by a handle of the kernel's where there is one (Linux 6.5), at both ends: a process number may belong to another process by
//! now.

mod bind;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::getuid;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::stream::{AsyncSink, AsyncSource};
use crate::{Lane, LinkError};

/// How long connecting is tried by default: the runtime may just be starting.
pub const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Pause between two attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Pause after accepting failed for want of resources.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long somebody who is refused may take to read why.
pub const REFUSED_WITHIN: Duration = Duration::from_secs(1);

/// Who is at the other end, as the system says.
#[derive(Debug)]
pub struct Peer {
    pub uid: u32,
    /// The process that connected or, for whoever connected, the one that began to listen. Another one may talk over the connection:
    /// one that inherited it.
    pub process: PeerProcess,
}

/// The process at the other end.
#[derive(Debug)]
pub enum PeerProcess {
    /// This very one, whatever happens to its number.
    Held(i32, OwnedFd),
    /// The one that had this number then; this system has no handles.
    Named(i32),
    /// It is gone, or of a world whose processes we cannot see.
    Gone,
}

/// Says why whoever listens is not talked to, if so. The words are for a person.
pub type Trust = fn(&Peer) -> Result<(), String>;

/// A listening socket. Dropping it removes the socket file, if it is still ours.
#[derive(Debug)]
pub struct Listener {
    socket: tokio::net::UnixListener,
    /// Whether handles on processes are asked for.
    handles: bool,
    /// Dropped after `socket`: the file goes when nobody answers any more.
    file: bind::SocketFile,
}

/// A connection taken by a listener.
#[derive(Debug)]
pub struct Accepted {
    /// Who it is; always of our user.
    pub peer: Peer,
    stream: UnixStream,
}

impl Listener {
    /// Listens on `path`. Makes missing directories (0700), removes a socket that nobody answers on, refuses one that
    /// somebody does. Must be called within a tokio runtime.
    pub async fn bind(path: &Path) -> Result<Self, LinkError> {
        bind::bind(path).await
    }

    /// The same as on a kernel that has no handles on processes, so that tests can see what older ones do.
    #[must_use]
    pub fn without_handles(self) -> Self {
        Self { handles: false, ..self }
    }

    /// The socket's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The next connection of our own user; others are closed unheard. Cancel-safe.
    pub async fn accept(&self) -> Result<Accepted, LinkError> {
        loop {
            let stream = match self.socket.accept().await {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => continue,
                Err(error) if is_shortage(&error) => {
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
                Err(source) => return Err(LinkError::Accept { path: self.path().to_owned(), source }),
            };
            // A peer that is gone before it can be named is no loss.
            if let Ok(peer) = peer_of(&stream, self.handles)
                && peer.uid == getuid().as_raw()
            {
                return Ok(Accepted { peer, stream });
            }
        }
    }
}

impl Accepted {
    /// The connection as a link with this one lane.
    pub fn into_link(self, lane: Lane, limits: Limits) -> LinkIo {
        add(Wiring::new(limits), lane, self.stream).start()
    }

    /// The connection as a link, and who is at its other end.
    pub fn into_known_link(self, lane: Lane, limits: Limits) -> (Peer, LinkIo) {
        (self.peer, add(Wiring::new(limits), lane, self.stream).start())
    }

    /// The connection as one more lane of a link.
    pub fn add_to(self, wiring: Wiring, lane: Lane) -> Wiring {
        add(wiring, lane, self.stream)
    }

    /// Says this line and closes the connection once the other side has closed its own, so that it has time to read, but after
    /// [`REFUSED_WITHIN`] at the latest.
    pub async fn refuse(mut self, line: String) {
        let refusing = async {
            self.stream.write_all(format!("{line}\n").as_bytes()).await?;
            self.stream.shutdown().await?;
            // What it says is not heard.
            tokio::io::copy(&mut self.stream, &mut tokio::io::sink()).await
        };
        let _ = timeout(REFUSED_WITHIN, refusing).await;
    }
}

/// Two listeners, at `path` and at `path.events`.
#[derive(Debug)]
pub struct Listeners {
    /// At `path`.
    pub commands: Listener,
    /// At `path.events`.
    pub events: Listener,
}

impl Listeners {
    /// Listens on both, or on neither.
    pub async fn bind(path: &Path) -> Result<Self, LinkError> {
        let commands = Listener::bind(path).await?;
        let events = Listener::bind(&events_path(path)).await?;
        Ok(Self { commands, events })
    }
}

/// Where events are found beside a command socket.
pub fn events_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".events");
    name.into()
}

/// Connects to `path`, trying again until `within` has passed while nobody listens there yet.
pub async fn connect(
    path: &Path,
    lane: Lane,
    limits: Limits,
    within: Duration,
    trust: Trust,
) -> Result<LinkIo, LinkError> {
    let stream = reach(path, within, trust).await?;
    Ok(add(Wiring::new(limits), lane, stream).start())
}

/// Connects to `path` and `path.events`, as one link with two lanes.
pub async fn connect_two(
    path: &Path,
    lanes: (Lane, Lane),
    limits: Limits,
    within: Duration,
    trust: Trust,
) -> Result<LinkIo, LinkError> {
    // Events first: what happens because of the first command is then heard.
    let events = reach(&events_path(path), within, trust).await?;
    let commands = reach(path, within, trust).await?;
    Ok(add(add(Wiring::new(limits), lanes.0, commands), lanes.1, events).start())
}

/// A connection to whoever listens at `path` and is to be talked to; nothing was said to it yet.
pub async fn reach(path: &Path, within: Duration, trust: Trust) -> Result<UnixStream, LinkError> {
    let deadline = Instant::now() + within;
    let failed = |source| LinkError::Connect { path: path.to_owned(), within, source };
    loop {
        let error = match timeout_at(deadline, UnixStream::connect(path)).await {
            Ok(Ok(stream)) => {
                let peer = peer_of(&stream, true).map_err(failed)?;
                // The administrator may serve everyone; nobody else may read what is typed here.
                if peer.uid != getuid().as_raw() && peer.uid != 0 {
                    return Err(LinkError::ForeignPeer { path: path.to_owned(), uid: peer.uid });
                }
                let distrusted = |why| LinkError::Distrusted { path: path.to_owned(), why };
                return trust(&peer).map_err(distrusted).map(|()| stream);
            }
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let not_yet = matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::WouldBlock
        );
        if !not_yet || Instant::now() + CONNECT_PAUSE >= deadline {
            return Err(failed(error));
        }
        sleep(CONNECT_PAUSE).await;
    }
}

fn add(wiring: Wiring, lane: Lane, stream: UnixStream) -> Wiring {
    let (read, write) = stream.into_split();
    wiring.lane(lane, AsyncSource::new(read), AsyncSink(write))
}

fn peer_of(stream: &UnixStream, handles: bool) -> io::Result<Peer> {
    let cred = stream.peer_cred()?;
    let process = match cred.pid().filter(|pid| *pid > 0) {
        None => PeerProcess::Gone,
        Some(pid) if handles => process_of(stream, pid),
        Some(pid) => PeerProcess::Named(pid),
    };
    Ok(Peer { uid: cred.uid(), process })
}

/// Whether this kernel gives handles on processes that connect.
pub fn has_handles() -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
        std::os::unix::net::UnixStream::pair().is_ok_and(|(one, _other)| getsockopt(&one, PeerPidfd).is_ok())
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(target_os = "linux")]
fn process_of(stream: &UnixStream, pid: i32) -> PeerProcess {
    use nix::errno::Errno;
    use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
    match getsockopt(stream, PeerPidfd) {
        Ok(handle) => PeerProcess::Held(pid, handle),
        Err(Errno::ENOPROTOOPT) => PeerProcess::Named(pid),
        Err(_) => PeerProcess::Gone,
    }
}

#[cfg(not(target_os = "linux"))]
fn process_of(_: &UnixStream, pid: i32) -> PeerProcess {
    PeerProcess::Named(pid)
}

/// The connection failed, not the listener.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

/// No file descriptors or no memory, now.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}
