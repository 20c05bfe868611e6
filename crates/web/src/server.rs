//! The listener and all that is shared behind it.
//!
//! Invariants: beyond loopback nothing is served without TLS, ours or a proxy's; connections, and those of them that have not shown who
//! they are, are counted; every wait of a stranger ends.

use crate::devices::{Devices, Role, Shelf};
use crate::enrol::whole_seconds;
use crate::guard::{Names, Reached};
use crate::pace::Pace;
use crate::rooms::Rooms;
use crate::routes;
use crate::tls::Tls;
use crate::tokens::Tokens;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// WebSockets that may be open at once.
pub const MAX_SOCKETS: usize = 2_048;
/// Of those, how many may be without proof; others wait.
pub(crate) const MAX_UNPROVEN: usize = 256;
/// Connections at once, WebSockets or not.
const MAX_CONNECTIONS: usize = MAX_SOCKETS + 256;
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

/// Takes a line of what happened.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

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

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotServed {
    /// Others could listen in.
    #[error("{0} can be reached from other machines, and nothing would be encrypted")]
    Unencrypted(SocketAddr),
    #[error("the system has no random numbers")]
    NoRandom,
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
}

/// What every connection shares.
pub(crate) struct Shared<R> {
    pub(crate) rooms: Arc<R>,
    pub(crate) names: Names,
    pub(crate) address: SocketAddr,
    pub(crate) options: Options,
    pub(crate) shelf: Arc<dyn Shelf>,
    pub(crate) tokens: Mutex<Tokens>,
    pub(crate) devices: watch::Sender<Arc<Devices>>,
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) unproven: Semaphore,
    /// Whether the server is about to end.
    pub(crate) ends: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
    /// Of the log.
    pace: Mutex<Pace>,
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
        let shelf = self.shelf.clone();
        // A list that cannot be read lets nobody in.
        let now = tokio::task::spawn_blocking(move || Arc::new(shelf.read())).await.unwrap_or_default();
        self.listed(now.clone());
        now
    }

    fn listed(&self, fresh: Arc<Devices>) {
        self.devices.send_if_modified(|known| {
            let changed = *known != fresh;
            *known = fresh;
            changed
        });
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

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    pub fn start(
        listener: TcpListener,
        options: Options,
        rooms: Arc<R>,
        shelf: Arc<dyn Shelf>,
    ) -> Result<Server<R>, NotServed> {
        let address = listener.local_addr()?;
        let reached =
            if options.tls.is_some() || options.behind_proxy { Reached::ByTls } else { Reached::Plainly };
        if !address.ip().is_loopback() && reached == Reached::Plainly {
            return Err(NotServed::Unencrypted(address));
        }
        // Who comes to the loopback address itself does so plainly, also where a proxy stands before us.
        let names = Names::new(address, &options.hosts, reached, options.behind_proxy);
        let tokens = Tokens::new().ok_or(NotServed::NoRandom)?;
        let (devices, _) = watch::channel(Arc::new(shelf.read()));
        let shared = Arc::new(Shared {
            rooms,
            names,
            address,
            options,
            shelf,
            tokens: Mutex::new(tokens),
            devices,
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
            unproven: Semaphore::new(MAX_UNPROVEN),
            ends: watch::Sender::new(false),
            tasks: Mutex::new(JoinSet::new()),
            pace: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(look_after(shared.clone()));
        tasks.spawn(accept(listener, shared.clone()));
        Ok(Server { shared, _tasks: tasks })
    }

    /// The port that it was given, where it asked for any.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// The address of the page for a browser that is to be enrolled: good once, for a minute.
    pub fn invite(&self, role: Role) -> Option<String> {
        let token = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner).make(role)?;
        Some(format!("{}#token={token}", self.page()))
    }

    /// For how many seconds nobody is enrolled, because too many wrong addresses were tried; `None` when anybody is.
    pub fn pause(&self) -> Option<u64> {
        let pause = self.shared.tokens.lock().unwrap_or_else(PoisonError::into_inner).pause();
        pause.map(whole_seconds)
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

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

async fn accept<R: Rooms>(listener: TcpListener, shared: Arc<Shared<R>>) {
    let routes = TowerToHyperService::new(routes::router(shared.clone()));
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
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
        let (routes, tls) = (routes.clone(), shared.options.tls.clone());
        shared.begin(async move {
            let _place = place;
            serve(stream, peer, tls, routes).await;
        });
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Tls>,
    routes: TowerToHyperService<axum::Router>,
) {
    match tls {
        None => speak(stream, peer, routes).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEAD_WITHIN, tls.0.accept(stream)).await {
                speak(stream, peer, routes).await;
            }
        }
    }
}

async fn speak<S>(stream: S, peer: SocketAddr, routes: TowerToHyperService<axum::Router>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let answer = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Peer(peer));
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
        let peer = "127.0.0.1:9".parse().unwrap();
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
