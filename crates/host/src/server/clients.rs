//! Where clients of one wire find the server over WebSockets ([`dialects::OF_CLIENTS`]). Each has a room of its own, which speaks that wire;
//! what is here only carries lines. The wire has no authentication: the path is the secret, and who is at the other end is looked at when
//! it connects and before each line that it says ([`crate::peer_trust`]).
//!
//! Invariants: neither side's lines pile up here; a room is begun by the first line, so that who says nothing costs no process; the
//! address is the same after the server was started again, unless somebody else has its port by then.

use crate::doors::websocket::looked_at;
use crate::page::StartFolder;
use crate::rooms::{OpenedRoom, RoomRequest, Rooms};
use crate::{peer_trust, private};
use link::entry::Door;
use link::websocket::{Knock, NotADoor, WebSocketListener};
use link::{Incoming, Limits, LinkIo, Outgoing, unix};
use roles::Lane;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use wire::lines::Frame;

/// In the data folder: the address of last time.
const KEPT: &str = "clients.url";
/// Any free port, and a path that is made up.
const ANYWHERE: &str = "ws://127.0.0.1:0";
/// Clients at once: each may have a room.
const MAX_CLIENTS: usize = 64;
/// How long to wait after a failed accept, so that a lack of descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a client may take to read why it is let go.
const TELL_WITHIN: Duration = Duration::from_secs(2);
/// The error of a client whose room cannot be had.
const NO_ROOM: i64 = -32_603;

/// The door, for as long as this lives.
pub(super) struct Clients {
    url: String,
    /// What is to be known of the address.
    warning: Option<String>,
    _attending: JoinSet<()>,
}

impl Clients {
    /// Listens, where it did last time if that can be had.
    ///
    /// # Errors
    /// When no port can be had, or the address cannot be kept.
    pub(super) async fn open(
        data: &Path,
        rooms: Rooms,
        begins: StartFolder,
        log: hub::Log,
    ) -> anyhow::Result<Clients> {
        let file = data.join(KEPT);
        let kept = std::fs::read_to_string(&file).ok().map(|url| url.trim().to_owned());
        let (door, warning) = listen(kept.as_deref()).await?;
        let url = door.url();
        if kept.as_deref() != Some(&url) {
            private::replace(&file, &format!("{url}\n"))?;
        }
        log(&format!("serving {} on {url}", dialects::OF_CLIENTS));
        let mut attending = JoinSet::new();
        attending.spawn(attend(door, rooms, begins, log));
        Ok(Clients { url, warning, _attending: attending })
    }

    /// Where clients find it.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What is to be known of that.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Listens at the address of last time, else at another one: what the person should know of that is told with it.
async fn listen(kept: Option<&str>) -> Result<(WebSocketListener, Option<String>), NotADoor> {
    let Some(kept) = kept else { return Ok((WebSocketListener::open(ANYWHERE).await?, None)) };
    match WebSocketListener::open(kept).await {
        Ok(door) => Ok((door, None)),
        Err(why) => {
            let warning = format!(
                "the address of last time cannot be had ({why}): clients need the new one, and whoever listens at the old one is not Parlor"
            );
            Ok((WebSocketListener::open(ANYWHERE).await?, Some(warning)))
        }
    }
}

async fn attend(door: WebSocketListener, rooms: Rooms, begins: StartFolder, log: hub::Log) {
    let mut inside = JoinSet::new();
    loop {
        let Ok(knock) = door.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while inside.try_join_next().is_some() {}
        if inside.len() >= MAX_CLIENTS {
            log("refused a client: too many are connected");
            continue;
        }
        let client = Client { rooms: rooms.clone(), begins: begins.clone(), log: log.clone() };
        inside.spawn(client.enter(knock));
    }
}

/// One client on its way to its room.
struct Client {
    rooms: Rooms,
    begins: StartFolder,
    log: hub::Log,
}

impl Client {
    async fn enter(self, knock: Knock) {
        let ends = knock.ends();
        if let Err(why) = peer_trust::admit_tcp(Door::Clients, ends).await {
            return (self.log)(&format!("refused a client: {why}"));
        }
        let Some(client) = knock.open(Lane::MAIN, Limits::default()).await else { return };
        let mut client = looked_at(Door::Clients, client, ends, self.log.clone());
        let Some(first) = next(&mut client.incoming).await else { return };
        match self.room().await {
            Ok(room) => carry(client, room, first).await,
            Err(why) => {
                let _ = client.outgoing.try_send(Lane::MAIN, refusal(&first, &why));
                client.shutdown(TELL_WITHIN).await;
            }
        }
    }

    /// A room of its own. Its folder counts for clients that name none; those of this wire name one with each session.
    async fn room(&self) -> Result<LinkIo, String> {
        let cwd = self.begins.get().or_else(tools::home);
        let wanted = RoomRequest { wire: Some(dialects::OF_CLIENTS), ..RoomRequest::new_in(cwd) };
        let OpenedRoom { socket, .. } = self.rooms.open(wanted).await.map_err(|why| why.to_string())?;
        let limits = Limits::default();
        let room = unix::connect(&socket, Lane::MAIN, limits, unix::CONNECT_WITHIN, peer_trust::trust).await;
        room.map_err(|why| why.to_string())
    }
}

/// Carries lines until either side is gone; what was said last still arrives.
async fn carry(client: LinkIo, room: LinkIo, first: String) {
    let (mut client, mut room) = (client, room);
    if room.outgoing.try_send(Lane::MAIN, first).is_ok() {
        tokio::select! {
            () = pass(&mut client.incoming, &room.outgoing) => {}
            () = pass(&mut room.incoming, &client.outgoing) => {}
        }
    }
    tokio::join!(client.shutdown(TELL_WITHIN), room.shutdown(TELL_WITHIN));
}

async fn pass(from: &mut mpsc::Receiver<Incoming>, to: &Outgoing) {
    while let Some(line) = next(from).await {
        to.room_for(line.len()).await;
        if to.try_send(Lane::MAIN, line).is_err() {
            return;
        }
    }
}

async fn next(from: &mut mpsc::Receiver<Incoming>) -> Option<String> {
    loop {
        match from.recv().await? {
            Incoming::Frame { frame: Frame::Line(line), .. } => return Some(line),
            Incoming::Frame { .. } => {}
            Incoming::Closed { .. } => return None,
        }
    }
}

/// Why there is no room, as the answer to the first line.
fn refusal(first: &str, why: &str) -> String {
    let id = serde_json::from_str::<Value>(first).ok().and_then(|line| line.get("id").cloned());
    let error = json!({"code": NO_ROOM, "message": format!("Parlor has no room for this client: {why}")});
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_address_stays_unless_somebody_else_has_the_port() {
        let (first, warning) = listen(None).await.unwrap();
        assert_eq!(warning, None);
        let url = first.url();
        // It is ours still: somebody else, as far as a second server can tell.
        let (other, warning) = listen(Some(&url)).await.unwrap();
        assert!(other.url() != url && warning.unwrap().contains("clients need the new one"));
        assert_ne!(
            other.url().rsplit('/').next(),
            url.rsplit('/').next(),
            "nor does that one learn the path"
        );
        drop(first);
        let (again, warning) = listen(Some(&url)).await.unwrap();
        assert_eq!((again.url(), warning), (url, None));
    }

    #[test]
    fn a_client_without_a_room_is_told_why_in_the_answer_to_its_first_line() {
        let told = refusal(r#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#, "64 rooms are open");
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(NO_ROOM)));
        assert!(told["error"]["message"].as_str().unwrap().contains("64 rooms"));
        assert!(refusal("garbage", "why").contains("\"id\":null"));
    }
}
