//! The listener, and the hands that whoever runs the server has on it.
//!
//! Invariants: beyond loopback nothing is served without TLS, ours or a proxy's; connections, and those of them that have not shown who
//! they are, are counted; every wait of a stranger ends.

use crate::devices::{Device, Role, Shelf, random};
use crate::guard::{Names, Reached};
use crate::offers::{self, Pairing, Standing};
use crate::proof::Identity;
use crate::rooms::Rooms;
use crate::routes;
use crate::shared::{Look, Options, Peer, Shared};
use crate::tls::Tls;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use link::peer::Ends;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// WebSockets that may be open at once.
pub const MAX_SOCKETS: usize = 2_048;
/// Connections at once, WebSockets or not; those without proof are fewer, so that there is always room.
const MAX_CONNECTIONS: usize = MAX_SOCKETS + crate::visits::MAX_UNPROVEN + 1;
/// Random bytes of the name of a run.
const RUN_BYTES: usize = 16;
/// Devices that were enrolled of late and of which a page that does not read misses the oldest.
const MAX_JOINED: usize = 16;
/// How long pages are waited for that are told of the end.
const GOODBYE_WITHIN: Duration = Duration::from_secs(2);
/// How long a browser may take for the head of a request, and for the greeting of TLS.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long an answer may take, with what a browser sends to be answered.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// How long a connection may be one of HTTP. A page that becomes a socket is not one any more; others connect again.
const VISIT: Duration = Duration::from_secs(60);
/// How long the head of a request may be.
const MAX_HEAD: usize = 32 * 1024;
/// How often it is looked whether the list of devices has changed.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long to wait after a failed accept, so that a lack of descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a server is made of beside its options.
pub struct Parts<R> {
    /// Where it listens. All have the same port.
    pub listeners: Vec<TcpListener>,
    pub rooms: Arc<R>,
    pub shelf: Arc<dyn Shelf>,
    pub look: Look,
    pub identity: Identity,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotServed {
    /// Others could listen in.
    #[error("{0} can be reached from other machines, and nothing would be encrypted")]
    Unencrypted(SocketAddr),
    #[error("the system has no random numbers")]
    NoRandom,
    #[error("there is no address to listen on")]
    Nowhere,
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
}

/// An offer to enrol one browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    pub number: u64,
    /// Where the browser has to come.
    pub address: String,
}

/// A server that runs, until this is dropped.
pub struct Server<R> {
    shared: Arc<Shared<R>>,
    _tasks: JoinSet<()>,
}

impl<R: Rooms> Server<R> {
    /// Serves on a listener. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When that would not be safe, or cannot be done.
    pub fn start(options: Options, parts: Parts<R>) -> Result<Server<R>, NotServed> {
        let Parts { listeners, rooms, shelf, look, identity } = parts;
        let address = listeners.first().ok_or(NotServed::Nowhere)?.local_addr()?;
        let reached =
            if options.tls.is_some() || options.behind_proxy { Reached::ByTls } else { Reached::Plainly };
        for listener in &listeners {
            let address = listener.local_addr()?;
            if !address.ip().is_loopback() && reached == Reached::Plainly {
                return Err(NotServed::Unencrypted(address));
            }
        }
        // Who comes to the loopback address itself does so plainly, also where a proxy stands before us.
        let names = Names::new(address, &options.hosts, reached, options.behind_proxy);
        let run = random::<RUN_BYTES>().ok_or(NotServed::NoRandom)?;
        let (devices, _) = watch::channel(Arc::new(shelf.read()));
        let shared = Arc::new(Shared {
            rooms,
            names,
            address,
            options,
            shelf,
            look,
            identity,
            run,
            offers: Mutex::default(),
            pairing: watch::Sender::new(None),
            standing: watch::Sender::default(),
            joined: broadcast::Sender::new(MAX_JOINED),
            devices,
            listing: AsyncMutex::new(()),
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
            visits: Arc::default(),
            ends: watch::Sender::new(false),
            tasks: Mutex::new(JoinSet::new()),
            pace: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(look_after(shared.clone()));
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        for listener in listeners {
            tasks.spawn(accept(listener, shared.clone(), connections.clone()));
        }
        Ok(Server { shared, _tasks: tasks })
    }

    /// What its connections share.
    pub(crate) fn shared(&self) -> &Shared<R> {
        &self.shared
    }

    /// The port that it was given, where it asked for any.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Offers to enrol one browser, within [`offers::GOOD_FOR`]; nothing where the system has no random numbers. Nothing about the address is secret: the person compares a code.
    pub fn offer(&self, role: Role) -> Option<Offered> {
        // Other systems' browsers do not all know such names.
        let fresh = cfg!(target_os = "linux")
            && !self.shared.names.is_encrypted()
            && self.shared.options.hosts.is_empty();
        let name = if fresh { Some(offers::fresh_name()?) } else { None };
        let names = &self.shared.names;
        let address = name.as_deref().map_or_else(|| names.page(), |name| names.page_at(name));
        let number = self.shared.offers().open(role, name, Instant::now());
        self.shared.tell_pairing();
        Some(Offered { number, address })
    }

    /// Whoever made this offer is gone.
    pub fn withdraw(&self, offer: u64) {
        self.shared.offers().withdraw(offer);
        self.shared.tell_pairing();
    }

    /// How offers stand, now and as that changes.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.shared.standing.subscribe()
    }

    /// Who is asked about, now and as that changes.
    pub fn pairing(&self) -> watch::Receiver<Option<Pairing>> {
        self.shared.pairing.subscribe()
    }

    /// The person's word about whoever is asked about; whether it came in time.
    pub fn answer_pairing(&self, id: u64, allow: bool) -> bool {
        self.shared.answer_pairing(id, allow)
    }

    /// Devices as they are enrolled from now on.
    pub fn joined(&self) -> broadcast::Receiver<Device> {
        self.shared.joined.subscribe()
    }

    /// The address of the page.
    pub fn page(&self) -> String {
        self.shared.names.page()
    }

    /// Tells every page that the server ends, so that none takes it for a connection that was lost.
    pub async fn say_goodbye(&self) {
        self.shared.ends.send_replace(true);
        let all = u32::try_from(MAX_SOCKETS).unwrap_or(u32::MAX);
        // A page that does not read is not waited for.
        let _ = timeout(GOODBYE_WITHIN, self.shared.sockets.acquire_many(all)).await;
    }
}

impl<R> Drop for Server<R> {
    fn drop(&mut self) {
        self.shared.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

/// Sees to it that a change to the list of devices soon counts for whoever is connected, whoever made it.
async fn look_after<R: Rooms>(shared: Arc<Shared<R>>) {
    let mut seen = None;
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let left_out = shared.pace().rest(Instant::now());
        left_out.iter().for_each(|line| shared.tell(line));
        // Whoever was asked about and is gone, or came too late, is asked about no more.
        shared.tell_pairing();
        let _listing = shared.listing.lock().await;
        let shelf = shared.shelf.clone();
        let look = move || {
            let stamp = shelf.stamp();
            (Some(stamp), (seen != Some(stamp)).then(|| Arc::new(shelf.read())))
        };
        let Ok((stamp, fresh)) = tokio::task::spawn_blocking(look).await else { return };
        seen = stamp;
        if let Some(fresh) = fresh {
            shared.listed(fresh);
        }
    }
}

async fn accept<R: Rooms>(listener: TcpListener, shared: Arc<Shared<R>>, connections: Arc<Semaphore>) {
    let routes = TowerToHyperService::new(routes::router(shared.clone()));
    loop {
        let Ok(place) = connections.clone().acquire_owned().await else { return };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let ours = stream.local_addr().unwrap_or(shared.address);
        let peer = Peer { ends: Ends { peer, ours }, visit: shared.visits.begin() };
        let (routes, tls) = (routes.clone(), shared.options.tls.clone());
        shared.begin(async move {
            let _place = place;
            let visit = peer.visit.clone();
            tokio::select! {
                () = visit.driven_out() => {}
                () = serve(stream, peer, tls, routes) => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, peer: Peer, tls: Option<Tls>, routes: TowerToHyperService<axum::Router>) {
    match tls {
        None => speak(stream, peer, routes).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEAD_WITHIN, tls.0.accept(stream)).await {
                speak(stream, peer, routes).await;
            }
        }
    }
}

async fn speak<S>(stream: S, peer: Peer, routes: TowerToHyperService<axum::Router>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let answer = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer.clone());
        let answered = timeout(ANSWERED_WITHIN, routes.call(request));
        async move {
            match answered.await {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(never)) => match never {},
                // A connection whose request never comes whole is not worth an answer: it is closed.
                Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
            }
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(MAX_HEAD);
    // However it ends: the browser is told by HTTP, or is gone.
    let _ = timeout(VISIT, http.serve_connection(TokioIo::new(stream), answer).with_upgrades()).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// A visitor that sends this and then nothing, and reads only when the connection is over. The clock is paused.
    async fn visit(request: &str) -> String {
        let long = "x".repeat(100_000);
        let router = axum::Router::new()
            .route("/taken", post(|body: String| async move { body }))
            .route("/long", get(|| async move { long }));
        let (ours, mut theirs) = tokio::io::duplex(1024);
        theirs.write_all(request.as_bytes()).await.unwrap();
        let address = "127.0.0.1:9".parse().unwrap();
        let visits: Arc<crate::visits::Visits> = Arc::default();
        let peer = Peer { ends: Ends { peer: address, ours: address }, visit: visits.begin() };
        // Longer than every limit: what does not end fails here.
        timeout(10 * VISIT, speak(ours, peer, TowerToHyperService::new(router))).await.expect("it ends");
        let mut answer = String::new();
        theirs.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_never_comes_whole_and_an_answer_that_nobody_reads_end() {
        let whole = "POST /taken HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n";
        assert!(visit(&format!("{whole}hi")).await.ends_with("hi"));
        assert_eq!(visit(&format!("{whole}h")).await, "");
        assert!(visit("GET /long HTTP/1.1\r\nHost: a\r\n\r\n").await.len() < 2_000);
        assert_eq!(visit("POST /taken HTTP/1.1\r\nHost").await, "");
    }
}
