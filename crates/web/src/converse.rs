//! What is said on a page's WebSocket: we ask who it is, it shows that and says what it wants, and then it gets it.

use crate::caller::{Caller, PROVEN_WITHIN, Refused, challenge, next, say, upgraded};
use crate::devices::{Device, Ground, Signs};
use crate::holder::Browser;
use crate::rooms::{NoRoom, PageTarget, Rooms};
use crate::shared::Shared;
use crate::{fleet, proof, relay};
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use domain::ids::SessionId;
use link::entry::{Door, Entry};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tokio::time::timeout;

/// Characters of a number that a page makes up.
const MAX_NONCE: usize = 64;

/// `GET /wire`.
pub(crate) async fn upgrade<R: Rooms>(
    State(shared): State<Arc<Shared<R>>>,
    request: Request<Body>,
) -> Response {
    upgraded(&shared, request, converse).await
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shown {
    /// It wants to know first who we are.
    Prove { nonce: String },
    Device {
        id: String,
        signature: String,
        #[serde(default)]
        with: Signs,
        wants: Wants,
    },
}

/// What a page wants of its connection.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wants {
    Fleet,
    Session(String),
    New {
        #[serde(default)]
        cwd: Option<String>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        agent: Option<String>,
    },
}

impl Wants {
    /// The session that it wants to see; `None` for the fleet.
    pub(crate) fn target(self) -> Result<Option<PageTarget>, Refused> {
        match self {
            Wants::Fleet => Ok(None),
            Wants::Session(id) => {
                let id = SessionId::parse(&id).ok_or_else(|| Refused::room(NoRoom::NoSuchSession))?;
                Ok(Some(PageTarget::Session(id)))
            }
            Wants::New { cwd, model, agent } => Ok(Some(PageTarget::New { cwd, model, agent })),
        }
    }
}

async fn converse<R: Rooms>(shared: Arc<Shared<R>>, mut caller: Caller) {
    let ended = match prove(&shared, &mut caller).await {
        Ok((device, wants)) => {
            caller.peer.visit.is_proven();
            caller.socket.trust();
            let mut ends = shared.ends.subscribe();
            tokio::select! {
                biased;
                _ = ends.wait_for(|ends| *ends) => Ok((1001, "the server ends".to_owned())),
                ended = serve(&shared, &mut caller, device, wants) => ended,
            }
        }
        Err(refused) => Err(refused),
    };
    match ended {
        Ok((code, reason)) => caller.end(code, &reason).await,
        Err(refused) => caller.send_away(&shared, "refused a socket", refused).await,
    }
}

/// Asks who it is.
async fn prove<R: Rooms>(shared: &Arc<Shared<R>>, caller: &mut Caller) -> Result<(Device, Wants), Refused> {
    let (entry, seen) = shared.entry(Door::Wire, &caller.peer).await;
    caller.peer.visit.is_of(seen.process);
    if entry == Entry::Refused {
        return Err(Refused::origin(seen.origin));
    }
    let nonce = challenge(shared, caller)?;
    let unshown = |how: &str| Refused::device("bad_signature", how, "reload the page");
    let mut asked_us = false;
    let (id, signature, with, wants) = loop {
        let late = |_| unshown("the device did not show in time who it is");
        let line = timeout(PROVEN_WITHIN, next(&mut caller.link)).await.map_err(late)?;
        let line = line.ok_or_else(Refused::gone)?;
        match serde_json::from_str(&line).map_err(|_| unshown("the first message cannot be read"))? {
            Shown::Prove { nonce: theirs } if !asked_us && theirs.len() <= MAX_NONCE => {
                asked_us = true;
                let signed = shared.identity.sign(&proof::server_text(&theirs, &caller.host, &nonce));
                let signed = signed.ok_or_else(|| unshown("the server cannot sign"))?;
                say(&caller.link, &json!({"proof": {"signature": signed}}));
            }
            Shown::Prove { .. } => return Err(unshown("the first message cannot be read")),
            Shown::Device { id, signature, with, wants } => break (id, signature, with, wants),
        }
    };
    let anew = "run `parlor web` in a terminal: it opens the page and asks you there";
    let unknown = || Refused::device("unknown_device", "this device is not known", anew);
    let known = shared.devices.borrow().clone();
    let known = known.find(&id).ok_or_else(unknown)?;
    if known.revoked.is_some() {
        return Err(Refused::device("revoked", "this device was revoked", anew));
    }
    let ground = Ground { lasting: shared.names.is_encrypted(), run: &shared.run };
    let key = known.good_key(with, ground).ok_or_else(|| {
        Refused::device("other_run", "Parlor was started again since this page was paired", anew)
            .with_address(shared.offered())
    })?;
    if !proof::holds(key, &proof::signed_text(&nonce, &caller.host, &id), &signature) {
        return Err(Refused::device("bad_signature", "the signature is not this device's", anew));
    }
    // Only for a device that showed who it is, so that a stranger cannot have the file read over and over.
    let now = shared.devices_now().await;
    let device =
        now.find(&id).filter(|device| device.good_key(with, ground) == Some(key)).ok_or_else(unknown)?;
    if device.revoked.is_some() {
        return Err(Refused::device("revoked", "this device was revoked", anew));
    }
    Ok((device.clone(), wants))
}

/// Gives it what it wants; says with what it ends.
async fn serve<R: Rooms>(
    shared: &Arc<Shared<R>>,
    caller: &mut Caller,
    device: Device,
    wants: Wants,
) -> Result<(u16, String), Refused> {
    let Caller { peer, link, .. } = caller;
    let welcome = json!({"welcome": {"device": device.told(), "version": shared.options.version}});
    // From before the first word on: a device that is revoked in between is seen.
    let mut devices = shared.devices.subscribe();
    devices.mark_changed();
    let holder = Browser { shared, peer };
    let over = relay::dismissed(&device, devices);
    let Some(wanted) = wants.target()? else {
        say(link, &welcome);
        return Ok(fleet::tell(&shared.rooms, &holder, Some(shared), link, device.role, over).await);
    };
    if matches!(wanted, PageTarget::New { .. }) && device.role != crate::Role::Controller {
        let message = format!("an {} cannot begin a session", device.role);
        let hint =
            format!("a controller can, and `parlor devices role {} controller` makes it one", device.id);
        return Err(Refused::room(NoRoom::CannotOpen { message, hint }));
    }
    let wanted = match wanted {
        PageTarget::Session(id) if device.role != crate::Role::Controller => PageTarget::Watched(id),
        wanted => wanted,
    };
    let room = shared.rooms.reach(wanted).await.map_err(Refused::room)?;
    say(link, &welcome);
    Ok(relay::carry(&holder, link, room, device.role, over).await)
}
