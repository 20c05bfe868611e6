//! A network of a session's own: loopback and nothing else, shared by the commands of the session that run inside the leash.
//!
//! It is made when the first such command starts, where the kernel can, and ends with the last handle. A keeper process
//! (`sandbox/keeper.rs`) makes sockets in it; a socket stays in the network where it was made, so Parlor itself accepts and connects with
//! them. What it is not: a way out. What leads out of it, or into it, is somebody who has both kinds of sockets and copies between them.

#[cfg(target_os = "linux")]
mod made;
#[cfg(not(target_os = "linux"))]
mod nowhere;

use crate::sandbox::Guard;
#[cfg(target_os = "linux")]
use made::Made;
#[cfg(not(target_os = "linux"))]
use nowhere::Nowhere as Made;
use std::collections::BTreeSet;
use std::io::{Error, ErrorKind, Result};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The network of a session. Cheap to clone; clones are the same network.
#[derive(Debug, Clone)]
pub struct Net {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    guard: Guard,
    made: OnceLock<std::result::Result<Made, String>>,
    /// Ports at which we listen ourselves.
    ours: Mutex<BTreeSet<u16>>,
}

impl Net {
    /// A network that is made when it is needed, by the program that guards commands.
    pub fn new(guard: Guard) -> Net {
        Net { shared: Arc::new(Shared { guard, made: OnceLock::new(), ours: Mutex::default() }) }
    }

    /// Listens at 127.0.0.1 in the network, at this port or at one that is free.
    ///
    /// # Errors
    /// When there can be no network, or the port is taken there.
    pub fn listen(&self, port: Option<u16>) -> Result<TcpListener> {
        let listener = self.made()?.listen(port.unwrap_or(0))?;
        if let Ok(address) = listener.local_addr() {
            self.ours().insert(address.port());
        }
        Ok(listener)
    }

    /// Forgets that we listened at a port: whoever takes it from now on is one of the session's.
    pub(crate) fn let_go(&self, port: u16) {
        self.ours().remove(&port);
    }

    /// Connects to what listens at this port of the network's loopback. Waits for it no longer than a moment.
    ///
    /// # Errors
    /// When nobody listens there, or does not answer.
    pub fn connect(&self, port: u16) -> Result<TcpStream> {
        match self.shared.made.get() {
            Some(Ok(made)) => made.connect(port),
            // Where no command was, nobody listens.
            Some(Err(_)) | None => Err(ErrorKind::ConnectionRefused.into()),
        }
    }

    /// The ports at which something of the session listens, in order. What we listen at ourselves is left out.
    pub fn ports(&self) -> Vec<u16> {
        let Some(Ok(made)) = self.shared.made.get() else { return Vec::new() };
        let ours = self.ours();
        made.ports().into_iter().filter(|port| !ours.contains(port)).collect()
    }

    /// The number of the process that keeps it, once it is made.
    pub fn keeper(&self) -> Option<u32> {
        self.shared.made.get()?.as_ref().ok().map(Made::pid)
    }

    /// What a guard is to have as stdin so that its command joins the network; `None` where there is none, and the command has no network.
    pub(crate) fn pass(&self) -> Option<Stdio> {
        self.made().and_then(Made::pass).ok()
    }

    fn made(&self) -> Result<&Made> {
        let make = || {
            self.shared.guard.networks()?;
            Made::by(&self.shared.guard).map_err(|why| why.to_string())
        };
        let made = self.shared.made.get_or_init(make).as_ref();
        made.map_err(|why| Error::other(format!("the session cannot have a network of its own: {why}")))
    }

    fn ours(&self) -> std::sync::MutexGuard<'_, BTreeSet<u16>> {
        self.shared.ours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
