//! Follows one process over its native socket: says hello, watches its sessions, tells what it hears, and comes back when the link
//! breaks.

use super::process;
use crate::directory::{Directory, Notice, SocketPurpose};
use crate::peer_trust;
use dialects::native::wire::{FleetNews, FleetWatch, FromRuntime, FromUi, Hello};
use dialects::native::{PROTOCOL, REVISION, capability};
use domain::fleet::{Contact, FleetChange, FleetFact};
use link::{Incoming, Limits, LinkError, LinkIo, unix};
use roles::Lane;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use wire::lines::Frame;

/// How long to try to reach a process.
const REACHED_WITHIN: Duration = Duration::from_millis(500);
/// How long it may take to answer.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long to wait before a process is tried again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(8);

/// The way to one process.
pub(super) struct Way {
    notice: Notice,
    directory: Arc<dyn Directory>,
    socket: PathBuf,
    facts: mpsc::Sender<FleetFact>,
}

/// What is to be done about a process whose link is over.
enum LinkEnd {
    /// It may be tried again.
    Broken,
    /// It does not speak of its sessions.
    OtherVersion(String),
    /// Nobody listens to what is heard any more.
    Unheard,
}

impl Way {
    pub(super) fn new(notice: Notice, directory: Arc<dyn Directory>, facts: mpsc::Sender<FleetFact>) -> Way {
        Way { socket: directory.socket(notice.pid, SocketPurpose::Ui), directory, notice, facts }
    }

    /// Follows the process until this is aborted, or it cannot tell.
    pub(super) async fn follow(self) {
        let mut wait = FIRST_WAIT;
        loop {
            let told = match reach(&self.socket).await {
                Ok(link) => match self.hear(link, &mut wait).await {
                    LinkEnd::Unheard => return,
                    LinkEnd::OtherVersion(version) => {
                        // Its rows are this one; a newer program in its place has another notice.
                        let _ = self.stands(Contact::OtherVersion(version)).await;
                        return;
                    }
                    // It may be about to leave: the next try says.
                    LinkEnd::Broken if wait == FIRST_WAIT => Some(()),
                    LinkEnd::Broken => self.stands(Contact::Silent).await,
                },
                Err(LinkError::Connect { source, .. }) => match source.kind() {
                    // It took its socket away: its notice goes next.
                    io::ErrorKind::NotFound => Some(()),
                    // Its socket is there and nobody listens: its number belongs to another process now, or to none.
                    io::ErrorKind::ConnectionRefused => {
                        self.directory.withdraw(self.notice.pid);
                        let _ = self.stands(Contact::Dead).await;
                        return;
                    }
                    _ => self.stands(Contact::Silent).await,
                },
                Err(_) => self.stands(Contact::Silent).await,
            };
            if told.is_none() {
                return;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(MAX_WAIT);
        }
    }

    async fn stands(&self, contact: Contact) -> Option<()> {
        let (pid, process) = (self.notice.pid, process(&self.notice, contact));
        self.facts.send(FleetFact::Found { pid, process }).await.ok()
    }

    /// Greets it and passes on what it tells; a word from it makes the next wait a short one again.
    async fn hear(&self, mut link: LinkIo, wait: &mut Duration) -> LinkEnd {
        let Some(hello) = greet(&mut link).await else { return LinkEnd::Broken };
        if !hello.capabilities.iter().any(|can| can == capability::FLEET) {
            return LinkEnd::OtherVersion(hello.version);
        }
        if !say(&link, &FromUi::WatchFleet(FleetWatch { alone: true })) {
            return LinkEnd::Broken;
        }
        let Some(mut line) = next(&mut link, Some(ANSWER_WITHIN)).await else { return LinkEnd::Broken };
        if self.stands(Contact::Reached).await.is_none() {
            return LinkEnd::Unheard;
        }
        *wait = FIRST_WAIT;
        loop {
            if let FromRuntime::Fleet(FleetNews { all, members, closed }) = line {
                let fact = FleetFact::of(self.notice.pid, FleetChange { all, members, closed });
                if self.facts.send(fact).await.is_err() {
                    return LinkEnd::Unheard;
                }
            }
            match next(&mut link, None).await {
                Some(heard) => line = heard,
                None => return LinkEnd::Broken,
            }
        }
    }
}

/// Connects to a process.
pub(super) async fn reach(socket: &Path) -> Result<LinkIo, LinkError> {
    unix::connect(socket, Lane::MAIN, Limits::default(), REACHED_WITHIN, peer_trust::trust).await
}

/// Says hello and waits for the answer. Nobody can be asked over this link.
pub(super) async fn greet(link: &mut LinkIo) -> Option<Hello> {
    let hello = Hello {
        protocol: PROTOCOL,
        revision: REVISION,
        name: "parlor".to_owned(),
        version: crate::version::version().to_owned(),
        ..Hello::default()
    };
    if !say(link, &FromUi::Hello(hello)) {
        return None;
    }
    let answered = async {
        loop {
            // In front of another program a session may be shown first.
            if let FromRuntime::Hello(hello) = next(link, None).await? {
                return Some(hello);
            }
        }
    };
    tokio::time::timeout(ANSWER_WITHIN, answered).await.ok()?
}

/// Says a line; `false` when it cannot be said.
pub(super) fn say(link: &LinkIo, line: &FromUi) -> bool {
    wire::encode(line).is_ok_and(|line| link.outgoing.try_send(Lane::MAIN, line).is_ok())
}

/// The next line that can be read; `None` when the link is over, or nothing came in time.
pub(super) async fn next(link: &mut LinkIo, within: Option<Duration>) -> Option<FromRuntime> {
    let heard = async {
        loop {
            match link.incoming.recv().await? {
                Incoming::Frame { frame: Frame::Line(line), .. } => {
                    // What a newer process says beside is not for us.
                    if let Ok(line) = serde_json::from_str(&line) {
                        return Some(line);
                    }
                }
                Incoming::Frame { .. } => {}
                Incoming::Closed { .. } => return None,
            }
        }
    };
    match within {
        Some(within) => tokio::time::timeout(within, heard).await.ok()?,
        None => heard.await,
    }
}
