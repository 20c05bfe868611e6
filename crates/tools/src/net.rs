//! A network of a session's own: loopback and nothing else, shared by the commands of the session that run inside the leash.
//!
//! It is made when the first such command starts, where the kernel can, and ends with the last handle. A keeper process
//! (`sandbox/keeper.rs`) makes sockets in it; a socket stays in the network where it was made, so Parlor itself accepts and connects with
//! them. What it is not: a way out. What leads out of it, or into it, is somebody who has both kinds of sockets and copies between them.

mod crowd;
mod led_out;
mod machine;
#[cfg(target_os = "linux")]
mod made;
#[cfg(not(target_os = "linux"))]
mod nowhere;

pub(crate) use crowd::PLACES;
pub(crate) use machine::{Holder, connect, holder};

use crate::sandbox::Guard;
use led_out::LedOut;
#[cfg(target_os = "linux")]
use made::Made;
#[cfg(not(target_os = "linux"))]
use nowhere::Nowhere as Made;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// Ports of this machine that commands looked for in vain and that are remembered.
const MAX_WANTED: usize = 8;
/// Ports that may be led out at once.
pub const MAX_LED_OUT: usize = 32;

/// Which network of this process a port was led out of last.
static OTHERS: Mutex<BTreeMap<u16, Weak<Shared>>> = Mutex::new(BTreeMap::new());

fn others() -> MutexGuard<'static, BTreeMap<u16, Weak<Shared>>> {
    OTHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network of a session. Cheap to clone; clones are the same network.
#[derive(Debug, Clone)]
pub struct Net {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    guard: Guard,
    /// Made anew where its keeper was killed; what runs in the one before is then out of reach.
    made: Mutex<Option<std::result::Result<Arc<Made>, String>>>,
    /// Ports at which we listen ourselves.
    ours: Mutex<BTreeSet<u16>>,
    /// Ports that are led out.
    led_out: Mutex<BTreeMap<u16, LedOut>>,
    /// Ports of this machine that commands looked for in vain, in that order.
    wanted: Mutex<Vec<u16>>,
    /// Told when a port is led out, taken back or wanted.
    switched: Arc<Notify>,
}

/// Looks who listens in a network, and does not keep it.
#[derive(Debug, Clone)]
pub struct Watch(Weak<Shared>, Arc<Notify>);

impl Watch {
    /// As [`Net::ports`], [`Net::led_out`] and [`Net::wanted`]; `None` when the network is gone.
    pub fn look(&self) -> Option<[Vec<u16>; 3]> {
        let net = self.0.upgrade().map(|shared| Net { shared })?;
        Some([net.ports(), net.led_out(), net.wanted()])
    }

    /// Waits until a port is led out, taken back or wanted, and no longer than this.
    pub async fn switched(&self, within: Duration) {
        let _ = tokio::time::timeout(within, self.1.notified()).await;
    }
}

impl Net {
    /// A network that is made when it is needed, by the program that guards commands.
    pub fn new(guard: Guard) -> Net {
        let (made, ours, led_out) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (wanted, switched) = (Mutex::default(), Arc::default());
        Net { shared: Arc::new(Shared { guard, made, ours, led_out, wanted, switched }) }
    }

    /// Listens at 127.0.0.1 in the network, at this port or at one that is free.
    ///
    /// # Errors
    /// When there can be no network, or the port is taken there.
    pub fn listen(&self, port: Option<u16>) -> Result<TcpListener> {
        let listener = self.made()?.listen(Ipv4Addr::LOCALHOST.into(), port.unwrap_or(0))?;
        if let Ok(address) = listener.local_addr() {
            self.ours().insert(address.port());
        }
        Ok(listener)
    }

    /// Listens at a port of both addresses of loopback in the network; at one, where the kernel has no other.
    pub(crate) fn listen_at_both(&self, port: u16) -> Result<Vec<TcpListener>> {
        let first = self.listen(Some(port))?;
        let second = self.made()?.listen(Ipv6Addr::LOCALHOST.into(), port);
        Ok(std::iter::once(first).chain(second.ok()).collect())
    }

    /// Remembers a port of this machine that a command looked for in vain; whether there was room for it.
    pub(crate) fn want(&self, port: u16) -> bool {
        let mut wanted = self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = wanted.contains(&port) || wanted.len() < MAX_WANTED;
        if fits && !wanted.contains(&port) {
            wanted.push(port);
            self.shared.switched.notify_one();
        }
        fits
    }

    /// Forgets such a port: the session needs the number for a server of its own.
    pub(crate) fn want_no_longer(&self, port: u16) {
        self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner).retain(|wanted| *wanted != port);
        self.shared.switched.notify_one();
    }

    /// The ports of this machine that commands looked for in vain.
    pub fn wanted(&self) -> Vec<u16> {
        self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        // Where no command was, nobody listens.
        self.there().ok_or(ErrorKind::ConnectionRefused)?.connect(port)
    }

    /// The ports at which something of the session listens, in order. What we listen at ourselves is left out.
    pub fn ports(&self) -> Vec<u16> {
        let Some(made) = self.there() else { return Vec::new() };
        let ours = self.ours();
        made.ports().into_iter().filter(|port| !ours.contains(port)).collect()
    }

    /// Looks who listens, for as long as others keep the network.
    pub fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.shared), self.shared.switched.clone())
    }

    /// Leads a port of the network out to the same number of this machine's 127.0.0.1, until it is taken back or the network ends. Another
    /// network of this process that leads it out gives way. To be called within a tokio runtime, where blocking is allowed.
    ///
    /// # Errors
    /// When that port of the machine cannot be had, or too many are led out.
    pub fn lead_out(&self, port: u16) -> Result<()> {
        {
            let led_out = self.lock_led_out();
            if led_out.contains_key(&port) {
                return Ok(());
            }
            if led_out.len() >= MAX_LED_OUT {
                return Err(Error::other(format!("{MAX_LED_OUT} ports are open already: close one first")));
            }
        }
        let begin = || LedOut::begin(port, Arc::downgrade(&self.shared));
        let begun = begin().or_else(|why| if self.taken_over(port) { begin() } else { Err(why) })?;
        self.lock_led_out().insert(port, begun);
        others().insert(port, Arc::downgrade(&self.shared));
        self.shared.switched.notify_one();
        Ok(())
    }

    /// Ends what was led out, with its connections; whether it was. Blocks until the port can be had again.
    pub fn take_back(&self, port: u16) -> bool {
        let was = self.lock_led_out().remove(&port);
        let is_one = was.is_some();
        was.into_iter().for_each(LedOut::end);
        self.shared.switched.notify_one();
        is_one
    }

    /// Ends it where another session of this process leads the port out: the person wants this one's there now. Whether it did.
    fn taken_over(&self, port: u16) -> bool {
        let other = others().get(&port).and_then(Weak::upgrade);
        let other = other.filter(|other| !Arc::ptr_eq(other, &self.shared));
        other.is_some_and(|shared| Net { shared }.take_back(port))
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
        self.there().map(|made| made.pid())
    }

    /// What a guard is to have as stdin so that its command joins the network; `None` where there is none, and the command has no network.
    pub(crate) fn pass(&self) -> Option<Stdio> {
        self.made().and_then(|made| made.pass()).ok()
    }

    /// The same for a program that has a stdin, which is handed over too.
    pub(crate) fn pass_with(&self, stdin: impl std::os::fd::AsFd) -> Result<Stdio> {
        self.made().and_then(|made| made.pass_with(stdin.as_fd()))
    }

    /// The network as it is, if it was made.
    fn there(&self) -> Option<Arc<Made>> {
        self.lock_made().as_ref()?.as_ref().ok().cloned()
    }

    fn made(&self) -> Result<Arc<Made>> {
        let mut made = self.lock_made();
        if matches!(&*made, Some(Ok(there)) if !there.is_kept()) {
            self.ours().clear();
            *made = None;
        }
        let made = made.get_or_insert_with(|| {
            self.shared.guard.networks()?;
            Made::by(&self.shared.guard).map(Arc::new).map_err(|why| why.to_string())
        });
        made.clone().map_err(|why| Error::other(format!("the session cannot have its own network: {why}")))
    }

    fn lock_made(&self) -> MutexGuard<'_, Option<std::result::Result<Arc<Made>, String>>> {
        self.shared.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ours(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.shared.ours.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
