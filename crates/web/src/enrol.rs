//! A browser becomes a device: it leaves its public key with us once the person has compared a short code on both screens.
//!
//! Always: whoever is at the other end is looked at when it asks and again when it was allowed; what it asks for is bound to this
//! connection, which has to stay open until the word is said.

use crate::caller::{Caller, PROVEN_WITHIN, Refused, challenge, next, say, upgraded};
use crate::devices::{Device, Stay, clean_name, is_key, now};
use crate::offers::{Ticket, Unfit, Verdict};
use crate::proof::{self, enrol_text};
use crate::rooms::Rooms;
use crate::shared::Shared;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::harmless::quoted;
use link::entry::{Door, Entry};
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::{Instant, timeout};

/// What to do about nearly everything that goes wrong here.
const AGAIN: &str = "run `parlor web` in a terminal: it opens the page and asks you there";

#[derive(Deserialize)]
enum EnrolRequest {
    #[serde(rename = "enrol")]
    Enrol {
        key: String,
        #[serde(default)]
        tab: Option<String>,
        #[serde(default)]
        name: String,
        signature: String,
    },
}

/// What is to be kept of it.
struct Candidate {
    key: Vec<u8>,
    stay: Stay,
    name: String,
}

/// `GET /enrol`.
pub(crate) async fn upgrade<R: Rooms>(
    State(shared): State<Arc<Shared<R>>>,
    request: Request<Body>,
) -> Response {
    upgraded(&shared, request, talk).await
}

async fn talk<R: Rooms>(shared: Arc<Shared<R>>, mut caller: Caller) {
    match enrol(&shared, &mut caller).await {
        Ok(device) => {
            say(&caller.link, &json!({"enrolled": {"device": device.told()}}));
            caller.end(1000, "").await;
        }
        Err(refused) => caller.send_away(&shared, "refused to enrol", refused).await,
    }
}

async fn enrol<R: Rooms>(shared: &Arc<Shared<R>>, caller: &mut Caller) -> Result<Device, Refused> {
    looked_at(shared, caller).await?;
    let nonce = challenge(shared, caller)?;
    let odd = || Refused::device("bad_request", "this is no request to be paired", AGAIN);
    let line = timeout(PROVEN_WITHIN, next(&mut caller.link)).await.ok().flatten().ok_or_else(odd)?;
    let candidate = read(shared, &caller.host, &nonce, &line).ok_or_else(odd)?;
    let taken = shared.take_up(&caller.host, &candidate.name);
    let ticket = taken.map_err(|unfit| refusal(shared, unfit))?;
    // It is the only one, and the person is about to be asked: a flood of others does not drive it out.
    caller.peer.visit.is_proven();
    let verdict = waited_for(caller, ticket).await;
    shared.tell_pairing();
    match verdict? {
        Verdict::Denied => {
            Err(Refused::device("denied", "you said no to this browser", "run `parlor web` to try again"))
        }
        Verdict::Allowed(role) => {
            // A socket can be handed on while somebody thinks.
            looked_at(shared, caller).await?;
            let enrolled = keep(shared, candidate, role).await?;
            shared.tell(&format!("paired {} ({}) as {}", quoted(&enrolled.name), enrolled.id, enrolled.role));
            // Nobody may be there to be told.
            let _ = shared.joined.send(enrolled.clone());
            Ok(enrolled)
        }
    }
}

async fn looked_at<R: Rooms>(shared: &Shared<R>, caller: &Caller) -> Result<(), Refused> {
    let (entry, seen) = shared.entry(Door::Enrol, &caller.peer).await;
    caller.peer.visit.is_of(seen.process);
    match entry {
        Entry::LetIn | Entry::Unproven => Ok(()),
        Entry::Refused => Err(Refused::origin(seen.origin)),
    }
}

/// What it asks for, if it holds the key that it brings.
fn read<R>(shared: &Shared<R>, host: &str, nonce: &str, line: &str) -> Option<Candidate> {
    let EnrolRequest::Enrol { key, tab, name, signature } = serde_json::from_str(line).ok()?;
    let public = |text: &str| URL_SAFE_NO_PAD.decode(text).ok().filter(|key| is_key(key));
    let bytes = public(&key)?;
    let text = enrol_text(nonce, host, &key, tab.as_deref().unwrap_or_default());
    if !proof::holds(&bytes, &text, &signature) {
        return None;
    }
    let stay = match (shared.names.is_encrypted(), tab) {
        (true, None) => Stay::Lasting,
        (false, Some(tab)) => Stay::ThisRun { run: shared.run.clone(), tab: public(&tab)? },
        (true, Some(_)) | (false, None) => return None,
    };
    Some(Candidate { key: bytes, stay, name: clean_name(&name) })
}

/// Shows it its code, and waits for the person's word, until it is gone or too late.
async fn waited_for(caller: &mut Caller, ticket: Ticket) -> Result<Verdict, Refused> {
    let Ticket { pairing, verdict } = ticket;
    let left = pairing.until.saturating_duration_since(Instant::now());
    say(&caller.link, &json!({"code": {"code": pairing.code, "seconds": left.as_secs()}}));
    let late = || Refused::device("too_late", "nobody compared the code in time", AGAIN);
    let gone = async {
        // What it says meanwhile means nothing.
        while next(&mut caller.link).await.is_some() {}
    };
    tokio::select! {
        biased;
        verdict = verdict => verdict.map_err(|_| late()),
        () = gone => Err(late()),
        () = tokio::time::sleep_until(pairing.until) => Err(late()),
    }
}

fn refusal<R>(shared: &Shared<R>, unfit: Unfit) -> Refused {
    match unfit {
        Unfit::NotOffered => {
            Refused::device("not_offered", "nobody has asked for a new device just now", AGAIN)
        }
        Unfit::Busy => Refused::device(
            "busy",
            "another browser is being asked about",
            "if that one is not yours, say no to it in the terminal",
        ),
        Unfit::TooMany => Refused::device("too_many", "too many browsers took up this offer", AGAIN),
        Unfit::OtherName => Refused::device(
            "other_name",
            "devices are paired at another address",
            "open the address that `parlor web` printed",
        )
        .with_address(shared.offered()),
    }
}

async fn keep<R: Rooms>(
    shared: &Arc<Shared<R>>,
    candidate: Candidate,
    role: crate::Role,
) -> Result<Device, Refused> {
    let enrolled: Arc<Mutex<Option<Device>>> = Arc::default();
    let told = enrolled.clone();
    let change = move |devices: &mut crate::Devices| {
        let Candidate { key, stay, name } = &candidate;
        *told.lock().unwrap_or_else(PoisonError::into_inner) =
            devices.enrol(key.clone(), stay.clone(), name, role, now());
    };
    if let Err(why) = shared.change_devices(change).await {
        shared.tell(&format!("could not keep a device: {why}"));
        let hint = "look at what `parlor web` says";
        return Err(Refused::device("bad_request", "the device could not be kept", hint));
    }
    let device = enrolled.lock().unwrap_or_else(PoisonError::into_inner).take();
    device.ok_or_else(|| {
        let hint = "revoke one with `parlor devices revoke`";
        Refused::device("too_many", "there are too many devices", hint)
    })
}
