//! Who holds a page's connection, as it is looked at once more before each of its commands: it can be handed to a command of an agent
//! after it was let in, or be in nobody's hands by now.

use crate::shared::{Peer, Shared};
use link::entry::{Door, Entry};
use std::future::Future;

/// Looks at whoever holds a connection now.
pub(crate) trait Holder: Send + Sync {
    /// Whether a command may come from there.
    fn may_command(&self) -> impl Future<Output = bool> + Send;
}

/// Whoever is at the other end of a page's TCP connection.
pub(crate) struct Browser<'a, R> {
    pub(crate) shared: &'a Shared<R>,
    pub(crate) peer: &'a Peer,
}

impl<R: Send + Sync> Holder for Browser<'_, R> {
    async fn may_command(&self) -> bool {
        let Browser { shared, peer } = self;
        let (entry, seen) = shared.entry(Door::Allow, peer).await;
        // Who was seen when it connected and is not there any more is nobody.
        let is_gone = seen.process.is_none() && peer.visit.was_seen();
        let may = entry != Entry::Refused && !is_gone;
        if !may {
            shared.log(&format!("refused a command: it does not come from you ({:?})", seen.origin));
        }
        may
    }
}
