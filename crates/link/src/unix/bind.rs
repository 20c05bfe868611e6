//! Binding a socket path without stealing it, without a moment of a wider mode, and removing it at the end.
//!
//! The mode is set before `listen`: until then every connection is refused, so nobody can use the time in between.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, chmod, fchmod, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind as bind_to, connect, listen};
use tokio::time::{Instant, sleep};

use super::Listener;
use crate::LinkError;

/// Connections that may wait to be accepted.
const LISTEN_QUEUE: i32 = 128;

/// How long to wait for another process that is binding in the same directory.
const LOCK_WITHIN: Duration = Duration::from_secs(2);

/// Pause between two attempts at the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The file of a bound socket, removed on drop unless someone has put another in its place.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Where the socket was bound.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|meta| identity(&meta) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Binds a socket that only this user may connect to, and takes the place of one whose owner died.
pub(super) async fn bind(path: &Path) -> Result<Listener, LinkError> {
    let failed = |source| LinkError::Listen { path: path.to_owned(), source };
    let address = SocketAddrUnix::new(path).map_err(|errno| match errno {
        Errno::NAMETOOLONG => LinkError::SocketPathTooLong { path: path.to_owned() },
        errno => failed(errno.into()),
    })?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let _lock = lock(directory).await.map_err(failed)?;
    clear(path, &address)?;

    let socket = open_socket().map_err(failed)?;
    let mode = Mode::RUSR | Mode::WUSR;
    // Where the system allows it, the file is born with this mode; elsewhere the `chmod` below sets it.
    let _ = fchmod(&socket, mode);
    bind_to(&socket, &address).map_err(|errno| failed(errno.into()))?;
    let file = fs::symlink_metadata(path)
        .map(|meta| SocketFile { path: path.to_owned(), identity: identity(&meta) })
        .map_err(failed)?;
    chmod(path, mode).map_err(|errno| failed(errno.into()))?;
    listen(&socket, LISTEN_QUEUE).map_err(|errno| failed(errno.into()))?;
    let socket = tokio::net::UnixListener::from_std(UnixListener::from(socket)).map_err(failed)?;
    Ok(Listener { socket, handles: true, file })
}

#[cfg(not(target_vendor = "apple"))]
fn open_socket() -> io::Result<OwnedFd> {
    use rustix::net::{SocketFlags, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// Here the flags cannot be given at birth.
#[cfg(target_vendor = "apple")]
fn open_socket() -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// One at a time looks at and replaces a dead socket, else two could each remove the other's fresh one. The directory
/// itself is locked, so no lock file is left. In a shared directory a stranger might hold the lock: then it is done
/// without.
async fn lock(directory: &Path) -> io::Result<File> {
    let file = File::open(directory)?;
    let deadline = Instant::now() + LOCK_WITHIN;
    while let Err(Errno::WOULDBLOCK | Errno::INTR) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
        if Instant::now() >= deadline {
            break;
        }
        sleep(LOCK_PAUSE).await;
    }
    Ok(file)
}

/// Removes a socket that nobody answers on.
fn clear(path: &Path, address: &SocketAddrUnix) -> Result<(), LinkError> {
    let failed = |source| LinkError::Listen { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return Err(LinkError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    let probe = open_socket().map_err(failed)?;
    match connect(&probe, address) {
        Err(Errno::NOENT) => Ok(()),
        Err(Errno::CONNREFUSED) => match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        },
        // Also when its queue is full (WOULDBLOCK): somebody is there.
        Ok(()) | Err(Errno::WOULDBLOCK | Errno::INPROGRESS) => {
            Err(LinkError::SocketInUse { path: path.to_owned() })
        }
        Err(errno) => Err(failed(errno.into())),
    }
}

fn identity(meta: &fs::Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}
