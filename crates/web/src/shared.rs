//! What every connection of the server shares: who may come in, what is offered, who is told.

use crate::devices::{Device, Devices, Shelf};
use crate::guard::Names;
use crate::offers::{Offers, Pairing, Standing, Ticket, Unfit};
use crate::pace::Pace;
use crate::proof::Identity;
use crate::tls::Tls;
use crate::visits::{Visit, Visits};
use link::entry::{Door, Entry, Origin, decide};
use link::peer::Ends;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Takes a line of what happened.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionOwner {
    pub origin: Origin,
    /// The process that holds it, where one can be named.
    pub process: Option<i32>,
}

/// Looks at who is at the other end of a connection; may block.
pub type Look = Arc<dyn Fn(Ends) -> ConnectionOwner + Send + Sync>;

/// How it is served.
#[derive(Clone, Default)]
pub struct Options {
    /// Names that we are reached by beside those of loopback.
    pub hosts: Vec<String>,
    pub tls: Option<Tls>,
    /// A proxy of the person's stands before us and does the encryption.
    pub behind_proxy: bool,
    /// Our version, for pages.
    pub version: String,
    /// Where what happened is told, a line each: never a token, a key or a header.
    pub log: Option<Log>,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) ends: Ends,
    pub(crate) visit: Arc<Visit>,
}

/// What every connection shares.
pub(crate) struct Shared<R> {
    pub(crate) rooms: Arc<R>,
    pub(crate) names: Names,
    pub(crate) address: SocketAddr,
    pub(crate) options: Options,
    pub(crate) shelf: Arc<dyn Shelf>,
    pub(crate) look: Look,
    pub(crate) identity: Identity,
    /// The name of this run of the server.
    pub(crate) run: String,
    pub(crate) offers: Mutex<Offers>,
    /// Who is asked about now.
    pub(crate) pairing: watch::Sender<Option<Pairing>>,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) joined: broadcast::Sender<Device>,
    pub(crate) devices: watch::Sender<Arc<Devices>>,
    /// Held from the look at the file until what was seen is known to all: an older look must not undo a newer one.
    pub(crate) listing: AsyncMutex<()>,
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) visits: Arc<Visits>,
    /// Whether the server is about to end.
    pub(crate) ends: watch::Sender<bool>,
    pub(crate) tasks: Mutex<JoinSet<()>>,
    /// Of the log.
    pub(crate) pace: Mutex<Pace>,
}

impl<R> Shared<R> {
    /// Begins something that ends with the server.
    pub(crate) fn begin(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// The devices as they stand in the file now, not as they were when it was looked at last.
    pub(crate) async fn devices_now(&self) -> Arc<Devices> {
        let _listing = self.listing.lock().await;
        let shelf = self.shelf.clone();
        // A list that cannot be read lets nobody in.
        let now = tokio::task::spawn_blocking(move || Arc::new(shelf.read())).await.unwrap_or_default();
        self.listed(now.clone());
        now
    }

    /// Changes the list, and tells all who are connected.
    pub(crate) async fn change_devices(
        &self,
        mut change: impl FnMut(&mut Devices) + Send + 'static,
    ) -> Result<(), String> {
        let _listing = self.listing.lock().await;
        let shelf = self.shelf.clone();
        let written = tokio::task::spawn_blocking(move || shelf.change(&mut change)).await;
        let devices = written.unwrap_or_else(|why| Err(why.to_string()))?;
        self.listed(Arc::new(devices));
        Ok(())
    }

    /// Looks at who is at the other end of a connection, and decides whether it may come in by a door.
    pub(crate) async fn entry(&self, door: Door, peer: &Peer) -> (Entry, ConnectionOwner) {
        let (look, ends) = (self.look.clone(), peer.ends);
        let seen = tokio::task::spawn_blocking(move || look(ends)).await;
        // A look that failed lets nobody in.
        let seen = seen.unwrap_or(ConnectionOwner { origin: Origin::NotLookedAt, process: None });
        (decide(door, seen.origin), seen)
    }

    /// Those to enrol a browser, for a moment.
    pub(crate) fn offers(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A browser that asks for this host wants to become a device.
    pub(crate) fn take_up(&self, host: &str, called: &str) -> Result<Ticket, Unfit> {
        let taken = self.offers().take_up(self.names.offered_name(host), called, Instant::now());
        self.tell_pairing();
        taken
    }

    /// The person's word about whoever is asked about; whether it came in time.
    pub(crate) fn answer_pairing(&self, id: u64, allow: bool) -> bool {
        let done = self.offers().answer(id, allow, Instant::now());
        self.tell_pairing();
        done
    }

    /// Lets all screens know who is asked about now, and those who made offers how these stand.
    pub(crate) fn tell_pairing(&self) {
        let now = Instant::now();
        let offers = self.offers();
        // Under the lock, so that an older look is not told after a newer one.
        renew(&self.pairing, offers.pairing(now).cloned());
        renew(&self.standing, offers.standing(now));
    }

    /// The address where a device can be enrolled now; `None` when that is not offered.
    pub(crate) fn offered(&self) -> Option<String> {
        let offers = self.offers();
        let name = offers.offered(Instant::now())?;
        Some(name.map_or_else(|| self.names.page(), |name| self.names.page_at(name)))
    }

    /// Lets all who are connected know the list as it is now.
    pub(crate) fn listed(&self, fresh: Arc<Devices>) {
        renew(&self.devices, fresh);
    }

    /// Tells it to whoever keeps the log, if anybody does. Strangers cause such lines: past a pace they are only counted.
    pub(crate) fn log(&self, words: &str) {
        let line = self.pace().line(Instant::now(), words);
        line.iter().for_each(|line| self.tell(line));
    }

    /// The same for what only the person causes.
    pub(crate) fn tell(&self, words: &str) {
        if let Some(log) = &self.options.log {
            log(words);
        }
    }

    /// Of the log, for a moment.
    pub(crate) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells something to all who follow it, if it is another than what was told last.
fn renew<T: PartialEq>(told: &watch::Sender<T>, now: T) {
    told.send_if_modified(|told| {
        let changed = *told != now;
        *told = now;
        changed
    });
}
