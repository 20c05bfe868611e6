//! A socket that UIs come in by. On wires with a second socket for events, all connections belong to one seat; on the others each
//! connection is a UI of its own.

use super::Wire;
use crate::guests::Host;
use crate::peer_trust::Refusals;
use dialects::Dialect;
use domain::ids::UiId;
use hub::Hub;
use link::unix::{Accepted, Listener, events_path};
use link::{Incoming, Limits, LinkIo, Way};
use roles::Lane;
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use wire::lines::Frame;

/// How long a client may take for the line that tells its wire.
const FIRST_LINE: Duration = Duration::from_secs(10);
/// Most connections at once through one door.
const MAX_CONNECTIONS: usize = 256;
/// How long to wait after a failed accept, so that a lack of descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The sockets of a serving runtime, at which UIs come in.
pub(super) struct Door {
    wire: Wire,
    main: Listener,
    /// The second socket, on wires that have one.
    events: Option<Listener>,
    /// The one seat of a wire whose connections come and go.
    shared: Option<(Dialect, UiId)>,
    hub: Hub,
    host: Host,
}

impl Door {
    /// Binds the sockets that this wire needs.
    pub(super) async fn open(wire: Wire, path: &Path, hub: Hub, host: Host) -> anyhow::Result<Door> {
        let shared = match wire {
            Wire::Known(dialect) => Some(dialect).filter(|dialect| dialect.has_event_lane()),
            Wire::Auto => dialects::ALL.iter().copied().find(|dialect| dialect.has_event_lane()),
        };
        let main = Listener::bind(path).await?;
        let events = match shared {
            Some(_) => Some(Listener::bind(&events_path(path)).await?),
            None => None,
        };
        let shared = match shared {
            Some(dialect) => Some((dialect, hub.seat(host.guest(dialect)).await?)),
            None => None,
        };
        Ok(Door { wire, main, events, shared, hub, host })
    }

    /// Lets everybody in, for as long as somebody waits for it.
    pub(super) async fn attend(self) -> Infallible {
        let mut inside = JoinSet::new();
        let mut refusals = Refusals::default();
        let mut number = 0;
        loop {
            let second = async {
                match &self.events {
                    Some(events) => events.accept().await,
                    None => std::future::pending().await,
                }
            };
            let (kind, accepted) = tokio::select! {
                accepted = self.main.accept() => (Lane::MAIN, accepted),
                accepted = second => (Lane::EVENTS, accepted),
            };
            let accepted = match accepted {
                Ok(accepted) => accepted,
                Err(why) => {
                    (self.host.log)(&format!("refused: {why}"));
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let accepted = match refusals.admit(link::entry::Door::Socket, accepted) {
                Ok(accepted) => accepted,
                Err(why) => {
                    (self.host.log)(&format!("refused a UI: {why}"));
                    continue;
                }
            };
            while inside.try_join_next().is_some() {}
            if inside.len() >= MAX_CONNECTIONS {
                (self.host.log)("refused: too many connections");
                continue;
            }
            number += 1;
            let entering = Entering {
                wire: self.wire,
                shared: self.shared,
                hub: self.hub.clone(),
                host: self.host.clone(),
                lane: Lane::connection(kind, number),
            };
            inside.spawn(entering.enter(accepted));
        }
    }
}

/// One connection on its way to its seat.
struct Entering {
    wire: Wire,
    shared: Option<(Dialect, UiId)>,
    hub: Hub,
    host: Host,
    lane: Lane,
}

impl Entering {
    async fn enter(self, accepted: Accepted) {
        let second = self.lane.kind() == Lane::EVENTS;
        match (self.wire, self.shared) {
            (_, Some((shared, ui))) if second => {
                let link = self.watched(shared, accepted.into_link(self.lane, Limits::default()), None);
                self.join(ui, link, Vec::new()).await;
            }
            (Wire::Known(dialect), Some((shared, ui))) if dialect == shared => {
                let link = self.watched(shared, accepted.into_link(self.lane, Limits::default()), None);
                self.join(ui, link, Vec::new()).await;
            }
            (Wire::Known(dialect), _) => {
                let link = self.watched(dialect, accepted.into_link(Lane::MAIN, Limits::default()), None);
                let _ = self.hub.serve(self.host.guest(dialect), link).await;
            }
            (Wire::Auto, shared) => {
                self.listen(shared, accepted.into_link(self.lane, Limits::default())).await;
            }
        }
    }

    /// The link, recorded where that was asked for. A recording that fails costs only itself.
    fn watched(&self, dialect: Dialect, link: LinkIo, heard: Option<&str>) -> LinkIo {
        match self.host.watcher(dialect) {
            Ok(Some(watcher)) => {
                if let Some(line) = heard {
                    watcher.show(Way::In, self.lane, line);
                }
                link.watched(&watcher)
            }
            Ok(None) => link,
            Err(why) => {
                (self.host.log)(&format!("not recorded: {why:#}"));
                link
            }
        }
    }

    async fn join(&self, ui: UiId, link: LinkIo, heard: Vec<Incoming>) {
        let _ = self.hub.connect_after(ui, self.lane, link, heard).await;
    }

    /// Waits for the first line and lets it decide.
    async fn listen(&self, shared: Option<(Dialect, UiId)>, mut link: LinkIo) {
        let first = match tokio::time::timeout(FIRST_LINE, link.incoming.recv()).await {
            Ok(Some(first)) => first,
            Ok(None) => return,
            Err(_) => {
                let within = FIRST_LINE.as_secs();
                return (self.host.log)(&format!(
                    "refused: a client said nothing within {within} s. Those of asst and lemon wait for the runtime to speak first: serve them with --dialect asst or --dialect lemon"
                ));
            }
        };
        let said = match &first {
            Incoming::Frame { frame: Frame::Line(line), .. } => line.as_str(),
            _ => "",
        };
        let Some(dialect) = dialects::of_first_line(said) else {
            (self.host.log)(
                "refused: the first line of a client belongs to no protocol that can be told by it; name the protocol with --dialect",
            );
            return;
        };
        let link = self.watched(dialect, link, Some(said));
        match shared {
            Some((its, ui)) if its == dialect => self.join(ui, link, vec![first]).await,
            _ => {
                // A seat of its own has one lane, whatever number this connection got.
                let (link, first) = (link.renamed(Lane::MAIN), first.on(Lane::MAIN));
                if let Ok(ui) = self.hub.seat(self.host.guest(dialect)).await {
                    let _ = self.hub.connect_after(ui, Lane::MAIN, link, vec![first]).await;
                }
            }
        }
    }
}
