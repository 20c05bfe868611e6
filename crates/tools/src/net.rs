//! A network of a session's own: loopback and nothing else, shared by the commands of the session that run inside the leash.
//!
//! It is made when the first such command starts, where the kernel can, and ends with the last handle. A keeper process
//! (`sandbox/keeper.rs`) makes sockets in it; a socket stays in the network where it was made, so Parlor itself accepts and connects with
//! them. What it is not: a way out. What leads out of it, or into it, is somebody who has both kinds of sockets and copies between them.

mod crowd;
mod led_out;
#[cfg(target_os = "linux")]
mod made;
#[cfg(not(target_os = "linux"))]
mod nowhere;

pub(crate) use crowd::PLACES;

use crate::sandbox::Guard;
use led_out::LedOut;
#[cfg(target_os = "linux")]
use made::Made;
#[cfg(not(target_os = "linux"))]
use nowhere::Nowhere as Made;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Ports that may be led out at once.
pub const MAX_LED_OUT: usize = 32;

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
    /// Ports that are led out.
    led_out: Mutex<BTreeMap<u16, LedOut>>,
}

/// Looks who listens in a network, and does not keep it.
#[derive(Debug, Clone)]
pub struct Watch(Weak<Shared>);

impl Watch {
    /// As [`Net::ports`]; `None` when the network is gone.
    pub fn ports(&self) -> Option<Vec<u16>> {
        self.0.upgrade().map(|shared| Net { shared }.ports())
    }
}

impl Net {
    /// A network that is made when it is needed, by the program that guards commands.
    pub fn new(guard: Guard) -> Net {
        let (made, ours, led_out) = (OnceLock::new(), Mutex::default(), Mutex::default());
        Net { shared: Arc::new(Shared { guard, made, ours, led_out }) }
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

    /// Looks who listens, for as long as others keep the network.
    pub fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.shared))
    }

    /// Leads a port of the network out to the same number of this machine's 127.0.0.1, until it is taken back or the network ends. To be
    /// called within a tokio runtime.
    ///
    /// # Errors
    /// When that port of the machine cannot be had, or too many are led out.
    pub fn lead_out(&self, port: u16) -> Result<()> {
        let mut led_out = self.lock_led_out();
        if led_out.contains_key(&port) {
            return Ok(());
        }
        if led_out.len() >= MAX_LED_OUT {
            return Err(Error::other(format!("{MAX_LED_OUT} ports are open already: close one first")));
        }
        led_out.insert(port, LedOut::begin(port, Arc::downgrade(&self.shared))?);
        Ok(())
    }

    /// Ends what was led out, with its connections; whether it was.
    pub fn take_back(&self, port: u16) -> bool {
        self.lock_led_out().remove(&port).is_some()
    }

    /// The ports that are led out, in order.
    pub fn led_out(&self) -> Vec<u16> {
        self.lock_led_out().keys().copied().collect()
    }

    fn lock_led_out(&self) -> MutexGuard<'_, BTreeMap<u16, LedOut>> {
        self.shared.led_out.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn ours(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.shared.ours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
