//! A wire over WebSockets, for programs of this machine that speak it so. The wire has no authentication of its own: the path is the
//! secret, and who is at the other end is looked at when it connects and before each line that it says.

use crate::error::usage;
use crate::guests::Host;
use crate::peer_trust;
use dialects::Dialect;
use hub::{Hub, Log};
use link::entry::Door as EntryDoor;
use link::peer::Ends;
use link::websocket::{NotADoor, WebSocketListener};
use link::{Limits, LinkIo};
use roles::Lane;
use std::time::Duration;
use tokio::task::JoinSet;

/// Most connections at once.
const MAX_CONNECTIONS: usize = 256;
/// How long to wait after a failed accept, so that a lack of descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Lets UIs in for as long as somebody waits for it.
pub async fn attend(hub: &Hub, host: &Host, dialect: Dialect, url: &str) -> anyhow::Result<()> {
    let door = WebSocketListener::open(url).await.map_err(|why| match why {
        why @ NotADoor::Listen { .. } => anyhow::Error::new(why),
        why => usage(format!("--listen: {why}")),
    })?;
    (host.log)(&format!("serving {dialect} on {}", door.url()));
    (host.log)(&format!(
        "warning: {dialect} has no authentication: whoever knows this address, and is on this machine, can do everything here"
    ));
    let mut inside = JoinSet::new();
    loop {
        let Ok(knock) = door.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while inside.try_join_next().is_some() {}
        if inside.len() >= MAX_CONNECTIONS {
            (host.log)("refused: too many connections");
            continue;
        }
        let (hub, host) = (hub.clone(), host.clone());
        inside.spawn(async move {
            let ends = knock.ends();
            if let Err(why) = peer_trust::admit_tcp(EntryDoor::Listen, ends).await {
                (host.log)(&format!("refused a UI: {why}"));
                return;
            }
            let Some(link) = knock.open(Lane::MAIN, Limits::default()).await else { return };
            let link = looked_at(EntryDoor::Listen, link, ends, host.log.clone());
            let link = match host.watcher(dialect) {
                Ok(Some(watcher)) => link.watched(&watcher),
                _ => link,
            };
            let _ = hub.serve(host.guest(dialect), link).await;
        });
    }
}

/// The link, on which it is looked before each line who says it: a connection can be handed to a command after it was let in, and no
/// line of a wire tells here whether it answers a question.
pub(crate) fn looked_at(door: EntryDoor, link: LinkIo, ends: Ends, log: Log) -> LinkIo {
    link.judged(move || {
        let log = log.clone();
        async move {
            let judged = peer_trust::admit_tcp(door, ends).await;
            if let Err(why) = &judged {
                log(&format!("a UI is let go: {why}"));
            }
            judged.is_ok()
        }
    })
}
