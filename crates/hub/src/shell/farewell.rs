//! A UI that has said its last word and still listens: lines piped into a runtime, a socket closed for writing only.
//!
//! What it asked for is answered and the runs that it sees are told to their end; only then is its link over. It can be asked nothing
//! any more: what is asked from here on is denied, unless another UI can answer; a question that is open already counts as the end. Bounded
//! in time, and over at once when nobody reads.

use super::{Hub, Inbox, Shell};
use domain::ids::UiId;
use link::Outgoing;
use roles::Lane;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long such a UI is served at most.
const FAREWELL: Duration = Duration::from_secs(30);
/// How often it is looked whether it still reads.
const LOOK: Duration = Duration::from_millis(100);

impl Hub {
    /// Waits until nothing is due to this UI any more.
    pub(super) async fn farewell(&self, ui: UiId, lane: Lane, theirs: &Outgoing) {
        let (done, answered) = oneshot::channel();
        if self.inbox.send(Inbox::Farewell(ui, done)).await.is_err() {
            return;
        }
        let nobody_reads = async {
            while !theirs.is_closed(lane) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            biased;
            _ = answered => {}
            () = nobody_reads => {}
            () = tokio::time::sleep(FAREWELL) => {}
        }
    }
}

impl Shell {
    /// Lets go of those who were told everything.
    pub(super) fn dismiss(&mut self) {
        for (ui, waiting) in std::mem::take(&mut self.farewells) {
            let leaving = self.seats.get(&ui).filter(|seat| !seat.stays());
            let waits = self.unheard.contains_key(&ui) || self.held.is_from(ui) || self.core.is_due_more(ui);
            if leaving.is_some_and(|seat| seat.is_behind() || seat.is_owed() || waits) {
                self.farewells.push((ui, waiting));
            } else {
                let _ = waiting.send(());
            }
        }
    }
}
