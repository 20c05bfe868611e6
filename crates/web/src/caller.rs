//! A page's WebSocket from its upgrade until it is known whose it is: the challenge, and the words for who is sent away.

use crate::devices::random;
use crate::rooms::{NoRoom, Rooms};
use crate::shared::{Peer, Shared};
use crate::{assets, code, guard};
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::TokioIo;
use link::entry::Origin;
use link::websocket::{self, Socket};
use link::{Incoming, Lane, Limits, LinkIo};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use wire::lines::Frame;

/// How long a page may take to show who it is.
pub(crate) const PROVEN_WITHIN: Duration = Duration::from_secs(5);
/// Bytes that it may say until then.
const UNPROVEN_BYTES: u64 = 16 * 1024;
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Random bytes of a challenge.
const NONCE_BYTES: usize = 32;
const GONE: &str = "gone";
/// What may wait to be written to a page: a slow one holds up its own process, which knows how to leave out what is over.
const TO_PAGE: Limits =
    Limits { line: wire::lines::MAX_LINE, backlog_bytes: 512 * 1024, backlog_lines: 1_000 };

/// Somebody at the other end of a socket, not yet known.
pub(crate) struct Caller {
    /// The host of ours that was asked for.
    pub(crate) host: String,
    pub(crate) peer: Peer,
    pub(crate) link: LinkIo,
    pub(crate) socket: Socket,
}

impl Caller {
    /// Ends it with a code and words.
    pub(crate) async fn end(self, code: u16, reason: &str) {
        self.socket.close_with(code, reason);
        self.link.shutdown(LAST_WORDS).await;
    }

    /// Tells it why it is sent away; `what` begins the line of the log.
    pub(crate) async fn send_away<R>(self, shared: &Shared<R>, what: &str, refused: Refused) {
        let Refused { code, message, hint, close, address } = refused;
        if code != GONE {
            shared.log(&format!("{what}: {code}, {message}"));
        }
        let mut told = json!({"code": code, "message": message, "hint": hint});
        if let Some(address) = address {
            told["open"] = address.into();
        }
        say(&self.link, &json!({"refused": told}));
        self.end(close, &message).await;
    }
}

/// Makes a socket of a request, and has somebody talk on it.
pub(crate) async fn upgraded<R, T>(
    shared: &Arc<Shared<R>>,
    mut request: Request<Body>,
    talk: impl FnOnce(Arc<Shared<R>>, Caller) -> T + Send + 'static,
) -> Response
where
    R: Rooms,
    T: Future<Output = ()> + Send,
{
    let host = shared.names.host(&request).map(str::to_owned);
    let (Some(host), Some(peer)) = (host, request.extensions().get::<Peer>().cloned()) else {
        return guard::refused(
            StatusCode::MISDIRECTED_REQUEST,
            "this server is not the host that was asked for",
        );
    };
    let Some(accept) = accepts(request.headers()) else {
        return guard::refused(StatusCode::UPGRADE_REQUIRED, "this is for WebSockets of version 13");
    };
    let Ok(place) = shared.sockets.clone().try_acquire_owned() else {
        shared.log("refused a socket: there are too many");
        return guard::refused(StatusCode::SERVICE_UNAVAILABLE, "there are too many connections");
    };
    let upgrading = hyper::upgrade::on(&mut request);
    let state = shared.clone();
    shared.begin(async move {
        let _place = place;
        if let Ok(Ok(stream)) = timeout(PROVEN_WITHIN, upgrading).await {
            let stream = TokioIo::new(stream);
            let (link, socket) = websocket::accepted(stream, Lane::MAIN, TO_PAGE, UNPROVEN_BYTES).await;
            let visit = peer.visit.clone();
            tokio::select! {
                () = visit.driven_out() => {}
                () = talk(state, Caller { host, peer, link, socket }) => {}
            }
        }
    });
    let headers = [
        (header::CONNECTION, "Upgrade".to_owned()),
        (header::UPGRADE, "websocket".to_owned()),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

/// The answer to a request for an upgrade, if it is one.
fn accepts(headers: &HeaderMap) -> Option<String> {
    let said = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let upgrades =
        said(header::CONNECTION)?.split(',').any(|word| word.trim().eq_ignore_ascii_case("upgrade"));
    let socket = said(header::UPGRADE)?.eq_ignore_ascii_case("websocket");
    let current = said(header::SEC_WEBSOCKET_VERSION)? == "13";
    let key = said(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24)?;
    (upgrades && socket && current).then(|| websocket::accept_key(key.as_bytes()))
}

/// Why a page is sent away.
pub(crate) struct Refused {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) close: u16,
    /// Where it would be let in.
    pub(crate) address: Option<String>,
}

impl Refused {
    /// Closed with the code for devices.
    pub(crate) fn device(code: &'static str, message: &str, hint: &str) -> Refused {
        let (message, hint) = (message.to_owned(), hint.to_owned());
        Refused { code, message, hint, close: code::DEVICE, address: None }
    }

    /// The page goes there by itself.
    pub(crate) fn with_address(mut self, address: Option<String>) -> Refused {
        self.address = address;
        self
    }

    /// It went away before it said anything: nobody is there to be told, and there is nothing to tell of it.
    pub(crate) fn gone() -> Refused {
        Refused::device(GONE, "it went away", "")
    }

    /// What it wanted to see cannot be had.
    pub(crate) fn room(why: NoRoom) -> Refused {
        let (code, message, hint) = match why {
            NoRoom::NoSuchSession => (
                "no_such_session",
                "there is no such session".to_owned(),
                "the fleet shows those that there are".to_owned(),
            ),
            NoRoom::CannotOpen { message, hint } => ("cannot_open", message, hint),
        };
        Refused { code, message, hint, close: code::SESSION, address: None }
    }

    /// It is refused for what it is, and no key helps.
    pub(crate) fn origin(origin: Origin) -> Refused {
        match origin {
            Origin::OtherUser => Refused::device(
                "other_user",
                "another user of this machine is asking",
                "open the page as yourself",
            ),
            Origin::Gone => Refused::device(
                "from_command",
                "nobody can be seen to hold this connection",
                "open the page in a browser that you started yourself",
            ),
            Origin::NotLookedAt => Refused::device(
                "not_looked_at",
                "it could not be looked who holds this connection: Parlor may have no file descriptors left",
                "end what has many connections to it, or raise `ulimit -n`, and try again",
            ),
            _ => Refused::device(
                "from_command",
                "this browser was started by a command of an agent, and such a one never answers for you",
                "open the page in a browser that you started yourself",
            ),
        }
    }
}

/// Asks who it is, with a number that nobody has signed yet; gives that number.
pub(crate) fn challenge<R>(shared: &Shared<R>, caller: &Caller) -> Result<String, Refused> {
    let many = || Refused::device("too_many", "the system has no random numbers", "try again in a moment");
    let nonce = random::<NONCE_BYTES>().ok_or_else(many)?;
    let told = json!({
        "nonce": nonce, "version": shared.options.version, "page": assets::digest(),
        "server": shared.identity.shown(), "lasting": shared.names.is_encrypted(),
    });
    say(&caller.link, &json!({"challenge": told}));
    Ok(nonce)
}

/// Says something to the page. What it does not take is lost with it.
pub(crate) fn say(link: &LinkIo, value: &Value) {
    let _ = link.outgoing.try_send(Lane::MAIN, value.to_string());
}

/// The next line of a page; `None` when it is gone.
pub(crate) async fn next(link: &mut LinkIo) -> Option<String> {
    loop {
        match link.incoming.recv().await? {
            Incoming::Frame { frame: Frame::Line(line), .. } => return Some(line),
            Incoming::Frame { .. } => {}
            Incoming::Closed { .. } => return None,
        }
    }
}
