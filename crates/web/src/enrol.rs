//! A browser becomes a device: with a token that was shown to the person, it leaves its public key with us.

use crate::devices::Role;
use crate::rooms::Rooms;
use crate::server::{Peer, Shared};
use crate::tokens::Unfit;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ANEW: &str = "run `parlor web` again for a fresh address";

#[derive(Deserialize)]
struct Asked {
    token: String,
    key: String,
    #[serde(default)]
    name: String,
}

/// `POST /enrol`.
pub(crate) async fn enrol<R: Rooms>(
    State(shared): State<Arc<Shared<R>>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let json = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let json =
        json.is_some_and(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json"));
    let asked = serde_json::from_slice::<Asked>(&body).ok().filter(|_| json);
    let key = asked.as_ref().and_then(|asked| URL_SAFE_NO_PAD.decode(&asked.key).ok());
    let key = key.filter(|key| key.len() == crate::devices::KEY_BYTES && key[0] == 4);
    let (Some(asked), Some(key)) = (asked, key) else {
        return refused(StatusCode::BAD_REQUEST, "bad_request", "this is no request to be enrolled", ANEW);
    };
    // Others with an account on this machine can see the address in the list of processes; it is worth nothing to them.
    if let Some(Extension(Peer(peer))) = peer
        && !shared.options.behind_proxy
        && link::peer::is_foreign(peer, shared.address).await
    {
        shared.log(&format!("refused to enrol {peer}: it belongs to another user of this machine"));
        return refused(
            StatusCode::FORBIDDEN,
            "bad_request",
            "another user of this machine is asking",
            "open it as yourself",
        );
    }
    let spent = shared.tokens.lock().unwrap_or_else(PoisonError::into_inner).spend(&asked.token);
    match spent {
        Ok(role) => take(&shared, key, asked.name, role).await,
        Err(unfit) => {
            let (status, code, message) = match unfit {
                Unfit::Used => (StatusCode::GONE, "token_used", "this address was used already"),
                Unfit::Old => (StatusCode::GONE, "token_old", "this address is too old"),
                Unfit::Wrong => (StatusCode::FORBIDDEN, "token_wrong", "this address was not given out here"),
                Unfit::TooMany(_) => {
                    (StatusCode::TOO_MANY_REQUESTS, "too_many", "too many wrong addresses were tried")
                }
            };
            shared.log(&format!("refused to enrol: {code}"));
            let Unfit::TooMany(wait) = unfit else { return refused(status, code, message, ANEW) };
            let seconds = whole_seconds(wait);
            let hint = format!("wait {seconds} seconds, then run `parlor web` for a fresh address");
            let mut answer = refused(status, code, message, &hint);
            answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            answer
        }
    }
}

async fn take<R: Rooms>(shared: &Arc<Shared<R>>, key: Vec<u8>, name: String, role: Role) -> Response {
    let shelf = shared.shelf.clone();
    let keep = move || {
        let mut enrolled = None;
        let devices =
            shelf.change(&mut |devices| enrolled = devices.enrol(key.clone(), &name, role, now()))?;
        Ok::<_, String>((devices, enrolled))
    };
    let written = tokio::task::spawn_blocking(keep).await;
    match written.unwrap_or_else(|why| Err(why.to_string())) {
        Ok((devices, Some(device))) => {
            shared.devices.send_replace(Arc::new(devices));
            shared.tell(&format!("enrolled {} ({}) as {}", device.name, device.id, device.role));
            axum_json(StatusCode::OK, &json!({"device": device.told()}))
        }
        Ok((_, None)) => {
            let hint = "revoke one with `parlor devices revoke`";
            refused(StatusCode::CONFLICT, "too_many", "there are too many devices", hint)
        }
        Err(why) => {
            shared.tell(&format!("could not keep a device: {why}"));
            refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                "bad_request",
                "the device could not be kept",
                "look at what `parlor web` says",
            )
        }
    }
}

/// Seconds after which a wait is over for sure.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

fn refused(status: StatusCode, code: &str, message: &str, hint: &str) -> Response {
    axum_json(status, &json!({"error": {"code": code, "message": message, "hint": hint}}))
}

fn axum_json(status: StatusCode, value: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
