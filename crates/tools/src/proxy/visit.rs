//! One connection of a program to its proxy: plain requests, or a tunnel that keeps to the host it was made for.
//!
//! Requests are read and written by hyper, so that what counts as one request is the same for us and for who gets it.

use super::doorkeeper::Doorkeeper;
use super::hello::{self, Hello, MAX_HELLO};
use super::login::Login;
use super::outside::{Outside, Unreached, reach};
use crate::address::Host;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Version, http};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Bytes of a request's head.
pub(super) const MAX_HEAD: usize = 32 * 1024;
/// How long a head may take, and the first words in a tunnel.
pub(super) const HEAD_WITHIN: Duration = Duration::from_secs(30);
/// How long a connection may stand still; longer than a person is waited for.
const IDLE: Duration = Duration::from_secs(600);
/// What a request without the login is told: some programs send it only then.
const CHALLENGE: &str = "Basic realm=\"parlor\"";
const STRANGER: &str =
    "refused by Parlor: each command has its own proxy: use the whole address in its $https_proxy\n";
/// The port of plain requests where none is named.
const HTTP: u16 = 80;
/// Headers that are for the next hop only, beside those that `Connection` names.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// What all connections of a command share.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) keeper: Arc<Doorkeeper>,
    pub(super) outside: Arc<dyn Outside>,
    pub(super) login: Login,
}

/// One connection and what it has going.
struct Visit {
    door: Arc<Door>,
    /// Connections to hosts that were asked for plain pages; they end with this one.
    upstream: Mutex<JoinSet<()>>,
    tunnel: Mutex<Option<Tunnel>>,
}

/// A tunnel that was granted, once the program has read that.
struct Tunnel {
    host: Host,
    upstream: TcpStream,
    client: OnUpgrade,
}

/// Why a request is not carried out.
enum No {
    /// It is not one for a proxy.
    Odd(&'static str),
    /// It does not come from the command whose proxy this is, or does not say so yet.
    Stranger,
    Refused(String),
    Gone(String),
}

impl From<Unreached> for No {
    fn from(why: Unreached) -> No {
        match why {
            Unreached::Own(why) => No::Refused(why),
            Unreached::Gone(why) => No::Gone(why),
        }
    }
}

impl No {
    fn answer(self) -> Answer {
        let (status, words) = match self {
            No::Odd(why) => (StatusCode::BAD_REQUEST, format!("Parlor's proxy cannot do this: {why}\n")),
            No::Stranger => (StatusCode::PROXY_AUTHENTICATION_REQUIRED, STRANGER.to_owned()),
            No::Refused(why) => (StatusCode::FORBIDDEN, format!("refused by Parlor: {why}\n")),
            No::Gone(why) => (StatusCode::BAD_GATEWAY, format!("allowed by Parlor, but {why}\n")),
        };
        let body = Full::new(Bytes::from(words));
        let mut answer = Response::new(body.map_err(|never: Infallible| match never {}).boxed());
        *answer.status_mut() = status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        answer.headers_mut().insert(header::CONTENT_TYPE, plain);
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            answer.headers_mut().insert(header::PROXY_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
        }
        answer
    }
}

/// Serves one connection to its end.
pub(super) async fn serve(stream: TcpStream, door: Arc<Door>) {
    let moved = watch::Sender::new(Instant::now());
    let idle = idle(moved.subscribe());
    let client = IdleWatch { io: stream, moved };
    tokio::select! {
        () = idle => {}
        () = converse(client, door) => {}
    }
}

async fn converse(client: IdleWatch<TcpStream>, door: Arc<Door>) {
    let visit = Arc::new(Visit { door, upstream: Mutex::default(), tunnel: Mutex::default() });
    let answering = visit.clone();
    let outer = hyper::service::service_fn(move |request| {
        let visit = answering.clone();
        async move { Ok::<Answer, Infallible>(visit.answer(request).await.unwrap_or_else(No::answer)) }
    });
    let served = http1().serve_connection(TokioIo::new(client), outer).with_upgrades().await;
    let tunnel = visit.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Ok(()), Some(tunnel)) = (served, tunnel) {
        // It breaks off like any connection does.
        let _ = visit.dig(tunnel).await;
    }
}

fn http1() -> hyper::server::conn::http1::Builder {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(MAX_HEAD);
    http
}

impl Visit {
    /// A request to the proxy itself.
    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, No> {
        if !self.door.login.is_in(request.headers()) {
            return Err(No::Stranger);
        }
        if request.method() == Method::CONNECT {
            return self.connect(request).await;
        }
        let uri = request.uri();
        match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => {
                let host = host(authority.as_str(), Some(HTTP))?;
                self.forward(host, request).await
            }
            (None, _) => Err(No::Odd("this is a proxy: name the whole address")),
            _ => Err(No::Odd("only http is asked for in the clear: use CONNECT for the rest")),
        }
    }

    async fn connect(&self, mut request: Request<Incoming>) -> Result<Answer, No> {
        let authority = request.uri().authority().ok_or(No::Odd("CONNECT names no host"))?;
        let host = host(authority.as_str(), None)?;
        let upstream = self.reach(&host).await?;
        let client = hyper::upgrade::on(&mut request);
        let tunnel = Tunnel { host, upstream, client };
        *self.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
        let nothing = Full::new(Bytes::new()).map_err(|never: Infallible| match never {});
        Ok(Response::new(nothing.boxed()))
    }

    /// A connection to a host, if that is allowed.
    async fn reach(&self, host: &Host) -> Result<TcpStream, No> {
        self.door.keeper.pass(host).await.map_err(No::Refused)?;
        reach(self.door.outside.as_ref(), host).await.map_err(|why| {
            if let Unreached::Own(why) = &why {
                self.door.keeper.refuse(why.clone());
            }
            No::from(why)
        })
    }

    /// Asks a host for what the request names, and nobody else, whatever its headers say.
    async fn forward(&self, host: Host, request: Request<Incoming>) -> Result<Answer, No> {
        let stream = self.reach(&host).await?;
        let gone = |why: hyper::Error| No::Gone(format!("{host} broke off: {why}"));
        let (mut sender, upstream) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(gone)?;
        {
            let mut open = self.upstream.lock().unwrap_or_else(PoisonError::into_inner);
            while open.try_join_next().is_some() {}
            open.spawn(async move {
                let _ = upstream.await;
            });
        }
        let request = onward(&host, request).map_err(|_| No::Odd("the request names no page"))?;
        let answer = sender.send_request(request).await.map_err(gone)?;
        let (mut parts, body) = answer.into_parts();
        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(No::Gone(format!("{host} wants another protocol, which nobody asked for")));
        }
        without_hops(&mut parts.headers);
        parts.version = Version::HTTP_11;
        Ok(Response::from_parts(parts, body.boxed()))
    }

    /// Joins the two ends of a tunnel once its first words name the host that it was made for.
    async fn dig(self: &Arc<Visit>, tunnel: Tunnel) -> io::Result<()> {
        let Tunnel { host, mut upstream, client } = tunnel;
        let mut client = TokioIo::new(client.await.map_err(io::Error::other)?);
        let mut first = Vec::new();
        let heard = tokio::time::timeout(HEAD_WITHIN, listen(&mut client, &mut first));
        match heard.await.map_err(io::Error::from)?? {
            Hello::Names(said) if host.is_called(said.as_deref()) => {}
            Hello::Names(_) | Hello::Unfinished => {
                let why = format!(
                    "a connection to {host} asked for another host in its first words, so it was cut"
                );
                self.door.keeper.refuse(why);
                return Ok(());
            }
            Hello::Other if first.first().is_some_and(|byte| !hello::begins(*byte)) => {
                drop(upstream);
                return self.speak_plainly(host, first, client).await;
            }
            Hello::Other => return Ok(()),
        }
        upstream.write_all(&first).await?;
        tokio::io::copy_bidirectional(&mut client, &mut upstream).await.map(|_| ())
    }

    /// Requests in the clear in a tunnel, as some programs make them for all addresses: each is read, and names the tunnel's host.
    async fn speak_plainly<T>(self: &Arc<Visit>, host: Host, first: Vec<u8>, client: T) -> io::Result<()>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (reader, writer) = tokio::io::split(client);
        let client = tokio::io::join(io::Cursor::new(first).chain(reader), writer);
        let visit = self.clone();
        let inner = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (visit, host) = (visit.clone(), host.clone());
            async move {
                let answer = match inside(&host, &request) {
                    Ok(()) => visit.forward(host, request).await,
                    Err(no) => {
                        if let No::Refused(why) = &no {
                            visit.door.keeper.refuse(why.clone());
                        }
                        Err(no)
                    }
                };
                Ok::<Answer, Infallible>(answer.unwrap_or_else(No::answer))
            }
        });
        http1().serve_connection(TokioIo::new(client), inner).await.map_err(io::Error::other)
    }
}

/// Hears the first words of a tunnel.
async fn listen(client: &mut (impl AsyncRead + Unpin), first: &mut Vec<u8>) -> io::Result<Hello> {
    loop {
        let heard = hello::read(first);
        if heard != Hello::Unfinished || first.len() > MAX_HELLO {
            return Ok(heard);
        }
        if client.read_buf(first).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Whether a request in a tunnel is for the tunnel's host.
fn inside(host: &Host, request: &Request<Incoming>) -> Result<(), No> {
    if request.method() == Method::CONNECT || request.uri().authority().is_some() {
        return Err(No::Odd("in a tunnel only the page is named"));
    }
    let mut said = request.headers().get_all(header::HOST).iter();
    let named = match (said.next().map(HeaderValue::to_str), said.next()) {
        (Some(Ok(said)), None) => Host::parse(said, Some(HTTP)).ok(),
        _ => None,
    };
    if named.as_ref() == Some(host) {
        Ok(())
    } else {
        Err(No::Refused(format!("a request in a tunnel to {host} was for another host")))
    }
}

/// The request as the host gets it: only the page named, the host that was judged, and nothing that was for us.
fn onward(host: &Host, request: Request<Incoming>) -> Result<Request<Incoming>, http::Error> {
    let (mut parts, body) = request.into_parts();
    let page = parts.uri.path_and_query().map_or("/", |page| page.as_str());
    let page = if page.is_empty() { "/" } else { page };
    without_hops(&mut parts.headers);
    parts.headers.remove(header::EXPECT);
    parts.headers.insert(header::HOST, HeaderValue::from_str(&host.header(HTTP))?);
    let mut onward =
        Request::builder().method(parts.method).uri(page).version(Version::HTTP_11).body(body)?;
    *onward.headers_mut() = parts.headers;
    Ok(onward)
}

fn without_hops(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

fn host(authority: &str, usual: Option<u16>) -> Result<Host, No> {
    Host::parse(authority, usual)
        .map_err(|_| No::Odd("it names no host: write it as name:port, in plain letters and without a login"))
}

/// Comes when nothing has moved for long.
async fn idle(mut moved: watch::Receiver<Instant>) {
    loop {
        let last = *moved.borrow_and_update();
        tokio::time::sleep_until(last + IDLE).await;
        if !moved.has_changed().unwrap_or(false) {
            return;
        }
    }
}

/// A connection that notes when something moves on it.
struct IdleWatch<T> {
    io: T,
    moved: watch::Sender<Instant>,
}

impl<T> IdleWatch<T> {
    fn note<R>(&self, polled: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if matches!(polled, Poll::Ready(Ok(_))) {
            self.moved.send_replace(Instant::now());
        }
        polled
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for IdleWatch<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.io).poll_read(cx, buf);
        self.note(polled)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for IdleWatch<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.note(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
