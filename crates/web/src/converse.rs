//! A page's WebSocket from its upgrade to its end: we ask who it is, it shows that and says what it wants, and then it gets it.

use crate::devices::{Device, random};
use crate::rooms::{NoRoom, Rooms, Wanted};
use crate::server::Shared;
use crate::{assets, code, fleet, guard, proof, relay};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::ids::SessionId;
use hyper_util::rt::TokioIo;
use link::websocket::{self, Socket};
use link::{Incoming, Lane, Limits, LinkIo};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use wire::lines::Frame;

/// How long a page may take to show who it is.
const PROVEN_WITHIN: Duration = Duration::from_secs(5);
/// Bytes that it may say until then.
const UNPROVEN_BYTES: u64 = 16 * 1024;
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Random bytes of a challenge.
const NONCE_BYTES: usize = 32;
/// What may wait to be written to a page: a slow one holds up its own process, which knows how to leave out what is over.
const TO_PAGE: Limits =
    Limits { line: wire::lines::MAX_LINE, backlog_bytes: 512 * 1024, backlog_lines: 1_000 };

/// `GET /wire`.
pub(crate) async fn upgrade<R: Rooms>(
    State(shared): State<Arc<Shared<R>>>,
    mut request: Request<Body>,
) -> Response {
    let Some(host) = shared.names.host(&request).map(str::to_owned) else {
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
            converse(&state, &host, link, &socket).await;
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

#[derive(Deserialize)]
enum Shown {
    #[serde(rename = "device")]
    Device { id: String, signature: String, wants: Wants },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wants {
    Fleet,
    Session(String),
    New {
        #[serde(default)]
        cwd: Option<String>,
    },
}

/// Why a page is sent away.
pub(crate) struct Refused {
    code: &'static str,
    message: String,
    hint: String,
    close: u16,
}

impl Refused {
    fn device(code: &'static str, message: &str, hint: &str) -> Refused {
        Refused { code, message: message.to_owned(), hint: hint.to_owned(), close: code::DEVICE }
    }
}

async fn converse<R: Rooms>(shared: &Arc<Shared<R>>, host: &str, mut link: LinkIo, socket: &Socket) {
    let ended = match prove(shared, host, &mut link).await {
        Ok((device, wants)) => {
            socket.trust();
            let mut ends = shared.ends.subscribe();
            tokio::select! {
                biased;
                _ = ends.wait_for(|ends| *ends) => Ok((1001, "the server ends".to_owned())),
                ended = serve(shared, &mut link, device, wants) => ended,
            }
        }
        Err(refused) => Err(refused),
    };
    let (close, reason) = match ended {
        Ok(ended) => ended,
        Err(Refused { code, message, hint, close }) => {
            shared.log(&format!("refused a socket: {code}, {message}"));
            say(&link, &json!({"refused": {"code": code, "message": message, "hint": hint}}));
            (close, message)
        }
    };
    socket.close_with(close, &reason);
    link.shutdown(LAST_WORDS).await;
}

/// Asks who it is.
async fn prove<R: Rooms>(
    shared: &Arc<Shared<R>>,
    host: &str,
    link: &mut LinkIo,
) -> Result<(Device, Wants), Refused> {
    let many = || Refused::device("too_many", "too many are connecting at once", "try again in a moment");
    let permit = timeout(PROVEN_WITHIN, shared.unproven.acquire()).await;
    let _permit = permit.map_err(|_| many())?.map_err(|_| many())?;
    let nonce = random::<NONCE_BYTES>().ok_or_else(many)?;
    say(
        link,
        &json!({"challenge": {"nonce": nonce, "version": shared.options.version, "page": assets::digest()}}),
    );
    let unshown = |how: &str| Refused::device("bad_signature", how, "reload the page");
    let line = timeout(PROVEN_WITHIN, next(link)).await.ok().flatten();
    let line = line.ok_or_else(|| unshown("the device did not show in time who it is"))?;
    let Shown::Device { id, signature, wants } =
        serde_json::from_str(&line).map_err(|_| unshown("the first message cannot be read"))?;
    let anew = "run `parlor web` and open the address that it prints";
    let unknown = || Refused::device("unknown_device", "this device is not known", anew);
    let seen = shared.devices.borrow().clone();
    let key = &seen.find(&id).ok_or_else(unknown)?.key;
    if !proof::holds(key, &nonce, host, &id, &signature) {
        return Err(Refused::device("bad_signature", "the signature is not this device's", anew));
    }
    // Only for a device that showed who it is, so that a stranger cannot have the file read over and over.
    let now = shared.devices_now().await;
    let device = now.find(&id).filter(|device| device.key == *key).ok_or_else(unknown)?;
    if device.revoked.is_some() {
        return Err(Refused::device("revoked", "this device was revoked", anew));
    }
    Ok((device.clone(), wants))
}

/// Gives it what it wants; says with what it ends.
async fn serve<R: Rooms>(
    shared: &Arc<Shared<R>>,
    link: &mut LinkIo,
    device: Device,
    wants: Wants,
) -> Result<(u16, String), Refused> {
    let welcome = json!({"welcome": {"device": device.told(), "version": shared.options.version}});
    // From before the first word on: a device that is revoked in between is seen.
    let mut devices = shared.devices.subscribe();
    devices.mark_changed();
    let wanted = match wants {
        Wants::Fleet => {
            say(link, &welcome);
            return Ok(fleet::tell(shared, link, &device, devices).await);
        }
        Wants::Session(id) => {
            SessionId::parse(&id).map(Wanted::Session).ok_or_else(|| no_room(NoRoom::NoSuchSession))?
        }
        Wants::New { cwd } => {
            if device.role != crate::Role::Controller {
                let message = format!("an {} cannot begin a session", device.role);
                let hint = format!(
                    "a controller can, and `parlor devices role {} controller` makes it one",
                    device.id
                );
                return Err(no_room(NoRoom::CannotOpen { message, hint }));
            }
            Wanted::New { cwd }
        }
    };
    let room = shared.rooms.reach(wanted).await.map_err(no_room)?;
    say(link, &welcome);
    Ok(relay::carry(link, room, &device, devices).await)
}

fn no_room(why: NoRoom) -> Refused {
    match why {
        NoRoom::NoSuchSession => Refused {
            code: "no_such_session",
            message: "there is no such session".to_owned(),
            hint: "the fleet shows those that there are".to_owned(),
            close: code::SESSION,
        },
        NoRoom::CannotOpen { message, hint } => {
            Refused { code: "cannot_open", message, hint, close: code::SESSION }
        }
    }
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
