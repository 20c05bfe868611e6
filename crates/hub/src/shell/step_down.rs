//! Stepping down: a session whose lease is gone is no longer ours. Its run is stopped with its tools, whoever sees it is told why, and
//! nothing more of it is said, done or written here. Whoever has it now goes on with what is kept.
//!
//! Invariant: an event that was not kept is not told, what ends for a UI is what that UI was told of and is said not to be
//! saved, and an engine that waits to hear whether its report is kept hears that it is too late.

use super::Shell;
use super::keeper::Batch;
use super::round::session_ordered;
use super::seat::{Seat, Tell, size};
use crate::core::CoreInput;
use domain::command::{Refusal, RefusalKind};
use domain::ids::SessionId;
use domain::port::{Kept, Report};
use domain::signal::{Signal, UNSAVED};
use store::{Appended, StoreError};

impl Shell {
    /// The store has answered about a batch.
    pub(super) fn appended(
        &mut self,
        session: SessionId,
        batch: Batch,
        result: Result<Appended, StoreError>,
    ) {
        // Where others may write it too, what the store does not take must not go on in memory.
        let over = match &result {
            Err(StoreError::LeaseLost { why, .. }) => Some(why.clone()),
            Err(why) if self.archive.is_shared() && !self.keeper.is_beside() => {
                Some(format!("{why} ({})", why.hint()))
            }
            _ => None,
        };
        if let Some(why) = over {
            self.step_down(&session, &why);
            if !self.keeper.is_beside() {
                self.keeper.drop_batch(&batch);
                return self.archive.close(session);
            }
        }
        if self.keeper.appended(&session, batch, result) {
            self.archive.snapshot(session);
        }
    }

    /// A session is no longer ours to go on with.
    pub(super) fn step_down(&mut self, session: &SessionId, why: &str) {
        if self.keeper.is_beside() {
            // A foreign runtime does what it does, whether we may write it down or not.
            return self.keeper.leave_out(session, why);
        }
        (self.log)(&format!("store: {session}: stopped here: {why}"));
        self.leaving.remove(session);
        self.orders.retain(|order| session_ordered(order) != session);
        self.keeper.let_go(session, why);
        let (lost, acks): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.acks).into_iter().partition(|awaited| awaited.session == *session);
        self.acks = acks;
        for awaited in lost {
            let _ = awaited.ack.send(Kept::Late);
        }
        let refusal = Refusal::new(RefusalKind::Storage, format!("this session has stopped here: {why}"));
        let refusal = refusal.hint("open it again: what was acknowledged is kept, and it goes on from there");
        for seat in self.seats.values_mut() {
            unsay(seat, session, &refusal);
        }
        // What they are told now is not in the record: a UI that goes by the status knows it before.
        let signal = Signal::Status { key: UNSAVED.to_owned(), text: Some(format!("not saved: {why}")) };
        self.perform(CoreInput::Report(Report::Signal { session: session.clone(), signal }).into());
        self.perform(CoreInput::LeaseLost { session: session.clone(), why: why.to_owned() }.into());
    }
}

/// Takes back what waits to be told of a session that is no longer ours; commands that wait for it are refused.
fn unsay(seat: &mut Seat, session: &SessionId, refusal: &Refusal) {
    seat.waiting.retain_mut(|tell| match tell {
        Tell::Attach(of)
        | Tell::CutShort(of)
        | Tell::Event(of, _)
        | Tell::Signal(of, _)
        | Tell::File { session: of, .. } => of != session,
        Tell::Settle { with, after, .. } if after.contains(session) => {
            **with = Err(refusal.clone());
            after.clear();
            true
        }
        Tell::Started { after, refused } if after.contains(session) => {
            *refused = Some(refusal.clone());
            after.clear();
            true
        }
        Tell::Settle { .. } | Tell::Started { .. } | Tell::Detach(_) | Tell::Link(_) | Tell::Abilities => {
            true
        }
    });
    seat.waiting_bytes = seat.waiting.iter().map(size).sum();
}
