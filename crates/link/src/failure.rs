//! What can go wrong while a link is made. Once it stands, its end is a value ([`crate::Ending`]), not an error.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a link could not be made. Each says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The program could not be started.
    #[error("cannot start {program:?}: {source}; check that it is installed and on the PATH")]
    Spawn { program: String, source: io::Error },
    /// The command to start is empty.
    #[error("there is no command to start; give the program after `--`")]
    NoCommand,
    /// Something answers on the socket already.
    #[error("{} is in use by a running program; stop that one or choose another path", path.display())]
    SocketInUse { path: PathBuf },
    /// The path names a file that is not a socket.
    #[error("{} exists and is not a socket; remove it or choose another path", path.display())]
    NotASocket { path: PathBuf },
    /// The path does not fit into a socket address.
    #[error("the socket path {} is too long for this system; choose a shorter one", path.display())]
    SocketPathTooLong { path: PathBuf },
    /// The listener could not be made.
    #[error("cannot listen on {}: {source}", path.display())]
    Listen { path: PathBuf, source: io::Error },
    /// Taking the next connection failed for good.
    #[error("cannot accept on {}: {source}", path.display())]
    Accept { path: PathBuf, source: io::Error },
    /// Nobody answered in time.
    #[error("cannot connect to {} within {within:?}: {source}; is the runtime running?", path.display())]
    Connect {
        path: PathBuf,
        /// How long it was tried.
        within: Duration,
        /// The last failure.
        source: io::Error,
    },
    /// The other end belongs to another user.
    #[error("{} belongs to user {uid}, not to you; choose a socket of your own", path.display())]
    ForeignPeer {
        path: PathBuf,
        /// Whose process it is.
        uid: u32,
    },
    /// Whoever listens must not be talked to.
    #[error("not connected to {}: {why}", path.display())]
    Distrusted {
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
}
