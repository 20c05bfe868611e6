//! The page in a window of the desktop shell: the same lines as on a browser's socket after its welcome, over a connection that whoever
//! has the sessions has accepted. It needs no device and no key: the shell is a program of the person's, as a terminal is, and is let in
//! or refused for what it is.
//!
//! Invariants: nobody is let in who cannot be shown to be the person's program, and that is looked at again before each command; the
//! first line is `{"welcome":…}` or `{"refused":…}`; what is said after it is the fleet's or the session's; the last line, and no other,
//! is no JSON: `end CODE WORDS`.

use crate::caller::{Refused, say};
use crate::converse::Wants;
use crate::holder::Holder;
use crate::rooms::Rooms;
use crate::server::Server;
use crate::shared::Log;
use crate::{Role, fleet, relay};
use link::entry::{Door, Entry, Origin, decide};
use link::{Lane, LinkIo};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Why a window is refused, and what helps.
const NOT_YOURS: &str = "this window cannot be told from one that a command of an agent started, and such a one never answers for you";
const STARTED_BY_YOU: &str = "start it from your desktop or a terminal of your own";
/// What a page is told that it is, where a browser is told its device.
const DEVICE: &str = "window";

/// Looks at the process at the other end; may block.
pub type LookAtWindow = Arc<dyn Fn() -> Origin + Send + Sync>;

/// One connection of a desktop shell.
pub struct Window<R> {
    pub rooms: Arc<R>,
    /// Our version, for pages.
    pub version: String,
    pub look: LookAtWindow,
    /// Where what happened is told.
    pub log: Log,
    /// Whether the server is about to end.
    pub ends: watch::Receiver<bool>,
}

impl<R: Rooms> Window<R> {
    /// Gives the page what it wants until either side is gone. `browsers`: the server of the page for browsers, where one runs, so that
    /// the window is asked about them too.
    pub async fn serve(self, wants: &Value, mut link: LinkIo, browsers: Option<&Server<R>>) {
        let ended = match self.admit(wants).await {
            Ok(wants) => {
                let mut ends = self.ends.clone();
                tokio::select! {
                    biased;
                    _ = ends.wait_for(|ends| *ends) => Ok((1001, "the server ends".to_owned())),
                    ended = self.give(wants, &mut link, browsers) => ended,
                }
            }
            Err(refused) => Err(refused),
        };
        let (code, reason) = ended.unwrap_or_else(|Refused { code, message, hint, close, .. }| {
            (self.log)(&format!("refused a window: {code}, {message}"));
            say(&link, &json!({"refused": {"code": code, "message": message, "hint": hint}}));
            (close, message)
        });
        let words = reason.replace(['\n', '\r'], " ");
        let _ = link.outgoing.try_send(Lane::MAIN, format!("end {code} {words}"));
        link.shutdown(LAST_WORDS).await;
    }

    async fn origin(&self) -> Origin {
        let look = self.look.clone();
        // A look that failed lets nobody in.
        tokio::task::spawn_blocking(move || look()).await.unwrap_or(Origin::NotLookedAt)
    }

    async fn admit(&self, wants: &Value) -> Result<Wants, Refused> {
        let origin = self.origin().await;
        if decide(Door::Window, origin) != Entry::LetIn {
            return Err(match origin {
                Origin::OtherUser | Origin::NotLookedAt => Refused::origin(origin),
                _ => Refused::device("not_yours", NOT_YOURS, STARTED_BY_YOU),
            });
        }
        let unread =
            |_| Refused::device("unread", "what the window wants cannot be read", "update the desktop shell");
        serde_json::from_value(wants.clone()).map_err(unread)
    }

    async fn give(
        &self,
        wants: Wants,
        link: &mut LinkIo,
        browsers: Option<&Server<R>>,
    ) -> Result<(u16, String), Refused> {
        let role = Role::Controller;
        let device = json!({"id": DEVICE, "name": "this window", "role": role.name()});
        let welcome = json!({"welcome": {"device": device, "version": self.version}});
        let room = match wants.target()? {
            Some(wanted) => Some(self.rooms.reach(wanted).await.map_err(Refused::room)?),
            None => None,
        };
        say(link, &welcome);
        // It has no device that could be revoked.
        let over = std::future::pending();
        Ok(match room {
            Some(room) => relay::carry(self, link, room, role, over).await,
            None => fleet::tell(&self.rooms, self, browsers.map(Server::shared), link, role, over).await,
        })
    }
}

impl<R: Rooms> Holder for Window<R> {
    async fn may_command(&self) -> bool {
        let origin = self.origin().await;
        let may = decide(Door::Window, origin) == Entry::LetIn;
        if !may {
            (self.log)(&format!("refused a command: it does not come from your window ({origin:?})"));
        }
        may
    }
}
