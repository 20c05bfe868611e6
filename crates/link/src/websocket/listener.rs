//! A listening WebSocket for wires that know no authentication: on loopback only, for programs that were told its secret path, and not
//! for pages.
//!
//! Invariants: nothing but a loopback address is ever bound; a request that any page could make (it has an Origin) is refused, and so is
//! one for another host than ours (a name that was bound anew to this machine), before the upgrade. Who is at the other end is for
//! whoever owns the door to look at ([`Knock::ends`]).

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;

use super::pulse::Pulse;
use super::{Socket, config, wire};
use crate::Lane;
use crate::lane_io::LinkIo;
use crate::limits::Limits;
use crate::peer::Ends;

/// How long a connection may take to ask for its upgrade.
pub const OPENED_WITHIN: Duration = Duration::from_secs(5);
/// How long such a request may be.
pub const MAX_HEAD_BYTES: u64 = 16 * 1024;

/// Why nobody can listen there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotADoor {
    /// The address is not of the form `ws://127.0.0.1:PORT`.
    #[error("{0} is no address to listen on; write ws://127.0.0.1:PORT (port 0 uses a free one)")]
    NoAddress(String),
    /// Others could reach it.
    #[error(
        "{0} can be reached from other machines, and this protocol has no authentication; use 127.0.0.1 or [::1]"
    )]
    NotLoopback(IpAddr),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
}

/// Where programs come in that were told the path.
#[derive(Debug)]
pub struct WebSocketListener {
    listener: TcpListener,
    address: SocketAddr,
    path: Arc<str>,
}

impl WebSocketListener {
    /// Listens at `ws://ADDRESS:PORT/PATH`. Without a path a secret one is made up: whoever was not told it does not come in.
    ///
    /// # Errors
    /// When that is no loopback address, or is taken.
    pub async fn open(url: &str) -> Result<WebSocketListener, NotADoor> {
        let (address, path) = address(url)?;
        let failed = |source| NotADoor::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let path = match path {
            Some(path) => path,
            None => secret().map_err(failed)?,
        };
        Ok(WebSocketListener { listener, address, path: path.into() })
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("ws://{}{}", self.address, self.path)
    }

    /// The next connection, not yet upgraded. Cancel-safe.
    ///
    /// # Errors
    /// When there is none to be had now.
    pub async fn accept(&self) -> io::Result<Knock> {
        let (stream, peer) = self.listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let ends = Ends { peer, ours: stream.local_addr()? };
        Ok(Knock { stream, ends, address: self.address, path: self.path.clone() })
    }
}

/// Somebody who wants to come in.
#[derive(Debug)]
pub struct Knock {
    stream: TcpStream,
    ends: Ends,
    address: SocketAddr,
    path: Arc<str>,
}

impl Knock {
    /// Both ends of the connection.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// Upgrades the connection where that is allowed; else it is told why not, and gone.
    pub async fn open(self, lane: Lane, limits: Limits) -> Option<LinkIo> {
        timeout(OPENED_WITHIN, self.upgrade(lane, limits)).await.ok()?
    }

    async fn upgrade(self, lane: Lane, limits: Limits) -> Option<LinkIo> {
        let (socket, address, path) = (Socket::new(MAX_HEAD_BYTES), self.address, self.path);
        let stream = Pulse::new(self.stream, socket.clone());
        #[expect(clippy::result_large_err, reason = "the library asks for whole answers")]
        let judged = move |request: &Request, answer: Response| match judge(request, address, &path) {
            Ok(()) => Ok(answer),
            Err((status, why)) => {
                let mut refused = ErrorResponse::new(Some(format!("{why}\n")));
                *refused.status_mut() = status;
                Err(refused)
            }
        };
        let upgraded =
            tokio_tungstenite::accept_hdr_async_with_config(stream, judged, Some(config(limits))).await;
        let upgraded = upgraded.ok()?;
        socket.trust();
        Some(wire(upgraded, lane, limits, &socket))
    }
}

/// Whether whoever asks may come in.
fn judge(request: &Request, address: SocketAddr, path: &str) -> Result<(), (StatusCode, &'static str)> {
    let port = address.port();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    let mut hosts = request.headers().get_all("host").iter();
    let host = hosts.next().filter(|_| hosts.next().is_none());
    if !host.is_some_and(|host| ours.iter().any(|own| host == own.as_str())) {
        return Err((StatusCode::MISDIRECTED_REQUEST, "this server is not the host that was asked for"));
    }
    if request.headers().contains_key("origin") {
        return Err((StatusCode::FORBIDDEN, "pages of the web are not let in here"));
    }
    if !is_same(request.uri().path(), path) {
        return Err((StatusCode::NOT_FOUND, "there is nothing here"));
    }
    Ok(())
}

/// Whether two texts are the same, without telling by the time it takes how much of them is.
fn is_same(one: &str, other: &str) -> bool {
    let differing =
        one.bytes().zip(other.bytes()).fold(0, |differing, (one, other)| differing | (one ^ other));
    one.len() == other.len() && differing == 0
}

/// A path that nobody guesses.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("/{:032x}", u128::from_ne_bytes(bytes)))
}

/// The address, and the path where one is named.
fn address(url: &str) -> Result<(SocketAddr, Option<String>), NotADoor> {
    let no_address = || NotADoor::NoAddress(url.to_owned());
    let rest = url.strip_prefix("ws://").ok_or_else(no_address)?;
    let (rest, path) = match rest.find('/') {
        Some(at) => (&rest[..at], Some(rest[at..].to_owned()).filter(|path| path.len() > 1)),
        None => (rest, None),
    };
    if path.as_deref().is_some_and(|path| path.bytes().any(|c| !c.is_ascii_graphic() || b"?#".contains(&c))) {
        return Err(no_address());
    }
    let address = match rest.strip_prefix("localhost:") {
        Some(port) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port.parse().map_err(|_| no_address())?),
        None => rest.parse().map_err(|_| no_address())?,
    };
    match address.ip().is_loopback() {
        true => Ok((address, path)),
        false => Err(NotADoor::NotLoopback(address.ip())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_listened_on() {
        for url in ["ws://127.0.0.1:0", "ws://[::1]:8080/", "ws://localhost:1", "ws://127.1.2.3:5"] {
            assert!(
                address(url).is_ok_and(|(address, path)| address.ip().is_loopback() && path.is_none()),
                "{url}"
            );
        }
        for url in ["ws://0.0.0.0:0", "ws://192.168.0.2:80", "ws://[::]:1"] {
            assert!(matches!(address(url), Err(NotADoor::NotLoopback(_))), "{url}");
        }
        for url in [
            "",
            "ws://",
            "127.0.0.1:1",
            "wss://127.0.0.1:1",
            "ws://127.0.0.1",
            "ws://example.org:1",
            "ws://127.0.0.1:99999",
        ] {
            assert!(matches!(address(url), Err(NotADoor::NoAddress(_))), "{url}");
        }
    }

    #[test]
    fn pages_and_other_hosts_are_refused() {
        let at = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 80);
        let asked = |headers: &[(&'static str, &str)]| {
            let mut request = Request::default();
            for (name, value) in headers {
                request.headers_mut().append(*name, value.parse().unwrap());
            }
            *request.uri_mut() = "/secret".parse().unwrap();
            judge(&request, at, "/secret").map_err(|(status, _)| status.as_u16())
        };
        assert_eq!(asked(&[("host", "127.0.0.1:80")]), Ok(()));
        assert_eq!(asked(&[("host", "localhost:80")]), Ok(()));
        for wrong in ["/", "/secre", "/secrets", "/Secret"] {
            let mut request = Request::default();
            request.headers_mut().append("host", "127.0.0.1:80".parse().unwrap());
            *request.uri_mut() = wrong.parse().unwrap();
            assert!(judge(&request, at, "/secret").is_err(), "{wrong}");
        }
        assert!(secret().unwrap() != secret().unwrap() && secret().unwrap().len() == 33);
        assert_eq!(address("ws://127.0.0.1:1/own").unwrap().1.as_deref(), Some("/own"));
        assert!(address("ws://127.0.0.1:1/a?b").is_err() && address("ws://127.0.0.1:1/a b").is_err());
        for host in
            ["evil.example:80", "127.0.0.1", "127.0.0.1:81", "localhost:80.evil.example", "LOCALHOST:80"]
        {
            assert_eq!(asked(&[("host", host)]), Err(421), "{host}");
        }
        assert_eq!(asked(&[]), Err(421));
        assert_eq!(asked(&[("host", "127.0.0.1:80"), ("host", "evil.example")]), Err(421));
        for origin in ["http://127.0.0.1:80", "null", "http://evil.example"] {
            assert_eq!(asked(&[("host", "127.0.0.1:80"), ("origin", origin)]), Err(403), "{origin}");
        }
    }
}
