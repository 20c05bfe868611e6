//! How a serving process makes itself known: a notice in the [`crate::directory`], a native socket to attach by, and a socket that tells
//! everyone who connects what is open and who is there.
//!
//! Invariants: everything is removed when the process ends in order. A process that cannot announce itself is only not found.

use crate::directory::{Directory, Notice, SocketPurpose};
use crate::guests::Host;
use crate::peer_trust::Refusals;
use crate::{clock, directory, stack};
use dialects::Dialect;
use hub::core::LiveSession;
use hub::{Guest, Hub};
use link::unix::Listener;
use link::{Limits, LinkIo};
use roles::Lane;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// Most connections at once to the socket that tells who is there.
const MAX_VISITORS: usize = 64;
/// How long somebody who asks may take to read the answer.
const TELL_WITHIN: Duration = Duration::from_secs(2);

/// By what this process is found. Dropping it removes everything.
pub struct Announcement {
    directory: Arc<dyn Directory>,
    pid: u32,
    /// UIs that are there by the wire beside the native one.
    inside: Arc<AtomicUsize>,
    _attending: JoinSet<()>,
}

impl Announcement {
    /// Announces this process; a failure goes to the host's log.
    pub async fn open(hub: &Hub, host: &Host, cwd: &Path, serving: String) -> Option<Announcement> {
        let opened = Announcement::try_open(hub, host, cwd, serving, None).await;
        opened.inspect_err(|why| (host.log)(&format!("`parlor ps` will not show this: {why:#}"))).ok()
    }

    /// Announces a process whose screen belongs to its UI: nothing is said.
    pub async fn quietly(hub: &Hub, cwd: &Path, serving: &str) -> Option<Announcement> {
        Announcement::try_open(
            hub,
            &Host::in_front(cwd, Vec::new(), Vec::new(), None, stack::no_log()),
            cwd,
            serving.to_owned(),
            None,
        )
        .await
        .ok()
    }

    /// Announces this process. `beside`: a wire that is spoken beside the native one, at a socket of its own.
    ///
    /// # Errors
    /// When it cannot be found by anybody.
    pub async fn try_open(
        hub: &Hub,
        host: &Host,
        cwd: &Path,
        serving: String,
        beside: Option<Dialect>,
    ) -> anyhow::Result<Announcement> {
        let (directory, pid) = (directory::here()?, std::process::id());
        directory.prepare(pid)?;
        let native = Listener::bind(&directory.socket(pid, SocketPurpose::Ui)).await?;
        let who = Listener::bind(&directory.socket(pid, SocketPurpose::Who)).await?;
        let wire = match beside {
            Some(dialect) => {
                Some((dialect, Listener::bind(&directory.socket(pid, SocketPurpose::Wire)).await?))
            }
            None => None,
        };
        let (since, cwd) = (clock::now().0, domain::path_text::write(cwd));
        directory.announce(&Notice { pid, since, cwd, serving })?;
        let mut attending = JoinSet::new();
        let (guests, at) = (host.clone(), hub.clone());
        attending.spawn(attend(native, move |link| {
            let guest = Guest { start: None, ..guests.guest(dialects::native::DIALECT) };
            let hub = at.clone();
            async move {
                let _ = hub.serve(guest, link).await;
            }
        }));
        let at = hub.clone();
        attending.spawn(attend(who, move |link| {
            let hub = at.clone();
            async move {
                let sessions = hub.present().await.unwrap_or_default();
                let told: Vec<Value> = sessions.iter().map(told).collect();
                let _ = link.outgoing.try_send(Lane::MAIN, Value::from(told).to_string());
                link.shutdown(TELL_WITHIN).await;
            }
        }));
        let inside = Arc::<AtomicUsize>::default();
        if let Some((dialect, wire)) = wire {
            let (guests, at, inside) = (host.clone(), hub.clone(), inside.clone());
            attending.spawn(attend(wire, move |link| {
                let (guest, hub, here) = (guests.guest(dialect), at.clone(), Inside::new(&inside));
                async move {
                    // A connection over which nobody comes back.
                    let _ = hub.serve(Guest { stays: false, ..guest }, link).await;
                    drop(here);
                }
            }));
        }
        Ok(Announcement { directory, pid, inside, _attending: attending })
    }
}

/// One UI that is there, for as long as this lives.
struct Inside(Arc<AtomicUsize>);

impl Inside {
    fn new(count: &Arc<AtomicUsize>) -> Inside {
        count.fetch_add(1, Ordering::Relaxed);
        Inside(count.clone())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Announcement {
    /// Whether somebody is there by the wire beside the native one, in a session or not.
    pub(crate) fn is_spoken_with(&self) -> bool {
        self.inside.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.directory.withdraw(self.pid);
    }
}

/// Lets visitors in, each with its own task.
async fn attend<V>(door: Listener, visit: impl Fn(LinkIo) -> V)
where
    V: Future<Output = ()> + Send + 'static,
{
    let mut visitors = JoinSet::new();
    let mut refusals = Refusals::default();
    while let Ok(accepted) = door.accept().await {
        let Ok(accepted) = refusals.admit(link::entry::Door::Socket, accepted) else { continue };
        while visitors.try_join_next().is_some() {}
        if visitors.len() < MAX_VISITORS {
            visitors.spawn(visit(accepted.into_link(Lane::MAIN, Limits::default())));
        }
    }
}

fn told(session: &LiveSession) -> Value {
    // A UI on a link is called by its wire and a number; one of this process only by what it is.
    let wire = |name: &str| name.split_once('#').map(|(wire, _)| wire.to_owned());
    let uis: Vec<Value> = session
        .uis
        .iter()
        .map(|ui| {
            let wire = wire(&ui.name);
            let mut told = json!({"name": ui.name, "dialect": wire});
            if let Some(role) = ui.standing {
                told["role"] = role.name().into();
            }
            told
        })
        .collect();
    json!({
        "id": session.id.as_str(),
        "title": session.title,
        "cwd": session.cwd,
        "running": session.running,
        "asks": session.asks,
        "uis": uis,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::SessionId;
    use hub::core::{AttachedUi, Standing};

    #[test]
    fn a_role_is_told_where_it_is_known() {
        let ui = |name: &str, standing| AttachedUi { name: name.to_owned(), standing };
        let uis = vec![
            ui("native#1", None),
            ui("native#2", Some(Standing::Observer)),
            ui("codelia#3", Some(Standing::Controller)),
            ui("terminal", Some(Standing::Controller)),
        ];
        let id = SessionId::from_number(7);
        let session =
            LiveSession { id, title: String::new(), cwd: "/w".into(), running: false, asks: 0, uis };
        let told = told(&session);
        let roles: Vec<_> =
            told["uis"].as_array().unwrap().iter().map(|ui| ui.get("role").cloned()).collect();
        assert_eq!(
            roles,
            [None, Some("observer".into()), Some("controller".into()), Some("controller".into())]
        );
    }
}
