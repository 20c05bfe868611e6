//! Where UIs of other programs come in: a link that is there already, sockets of a wire, or WebSockets. What they meet behind the door is
//! [`crate::guests::Host`]; who may come in at all, [`crate::peer_trust`].

mod door;
pub mod websocket;

use crate::guests::Host;
use dialects::Dialect;
use door::Door;
use hub::{Guest, Hub};
use link::LinkIo;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

/// The word that lets the first line of a client decide.
pub(crate) const AUTO: &str = "auto";

/// Which wire a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Known(Dialect),
    /// Its first line tells.
    Auto,
}

/// Reads a name as typed.
pub fn wire(text: &str) -> Result<Wire, String> {
    if text == AUTO {
        return Ok(Wire::Auto);
    }
    dialects::named(text).map(Wire::Known).map_err(|why| format!("{why}, {AUTO}"))
}

/// How long the last lines of a program that is told to stop may take to be written.
const LAST_LINE: Duration = Duration::from_millis(300);
/// The same on stdout, where it is known when they are written.
const LAST_LINES: Duration = Duration::from_secs(2);

impl Wire {
    /// Whether its document wants what is under way finished before the program ends.
    pub fn drains(self) -> bool {
        self.known().is_some_and(|dialect| dialect.description().drains)
    }

    /// The wire that was named.
    pub fn known(self) -> Option<Dialect> {
        match self {
            Wire::Known(dialect) => Some(dialect),
            Wire::Auto => None,
        }
    }

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Known(dialect) => dialect.name(),
            Wire::Auto => AUTO,
        }
    }
}

/// How long the last lines may take, on stdout or on sockets.
pub fn last_lines(stdio: bool) -> Duration {
    if stdio { LAST_LINES } else { LAST_LINE }
}

/// Speaks with one UI over a link that cannot be had again, until it leaves, or `gone` says that nobody reads what it is told.
///
/// # Errors
/// When the hub is gone.
pub async fn on_link(
    hub: &Hub,
    host: &Host,
    dialect: Dialect,
    link: LinkIo,
    gone: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let link = match host.watcher(dialect)? {
        Some(watcher) => link.watched(&watcher),
        None => link,
    };
    let unread = link.outgoing.clone();
    let watched = async {
        gone.await;
        unread.unread();
        std::future::pending::<()>().await;
    };
    // One that is gone cannot come back over these pipes, whatever its wire is like on sockets.
    let guest = Guest { stays: false, ..host.guest(dialect) };
    tokio::select! {
        served = hub.serve(guest, link) => served?,
        () = watched => {}
    }
    Ok(())
}

/// Lets UIs in by a socket, each wire by one of its own where there are several.
///
/// # Errors
/// As for [`attend`].
pub async fn on_sockets(hub: &Hub, host: &Host, wires: &[Wire], path: &Path) -> anyhow::Result<()> {
    let alone = wires.len() == 1;
    let path = |wire: &Wire| if alone { path.to_owned() } else { beside(path, wire.name()) };
    let paths: Vec<(Wire, PathBuf)> = wires.iter().map(|wire| (*wire, path(wire))).collect();
    attend(hub, host, &paths).await
}

/// Lets UIs in by these sockets, for as long as somebody waits for it.
///
/// # Errors
/// When a socket cannot be had.
pub async fn attend(hub: &Hub, host: &Host, paths: &[(Wire, PathBuf)]) -> anyhow::Result<()> {
    let mut doors = Vec::with_capacity(paths.len());
    for (wire, path) in paths {
        let door = Door::open(*wire, path, hub.clone(), host.clone()).await?;
        (host.log)(&format!("serving {} on {}", wire.name(), path.display()));
        doors.push(Box::pin(door.attend()));
    }
    // Looked after here and not in tasks of their own: whoever lets go of this future takes the sockets away at once.
    let never = std::future::poll_fn(|cx| {
        let opened = doors.iter_mut().find_map(|door| match door.as_mut().poll(cx) {
            Poll::Ready(never) => Some(never),
            Poll::Pending => None,
        });
        opened.map_or(Poll::Pending, Poll::Ready)
    });
    match never.await {}
}

/// With several dialects each has a socket of its own beside the named path.
fn beside(path: &Path, dialect: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(dialect);
    name.into()
}
