//! How far a UI knows a session, and what of it has begun and not ended for that UI.

use domain::event::{Event, Outcome};
use domain::ids::{Millis, Seq};
use domain::state::State;
use domain::state::close::Open;

/// See the module.
#[derive(Default)]
pub(super) struct Told {
    seq: Seq,
    open: Open,
}

impl Told {
    /// It was shown all of this.
    pub(super) fn of(state: &State) -> Told {
        Told { seq: state.seq, open: state.open() }
    }

    /// It is told this next; `false` when it knows that already.
    pub(super) fn is_new(&mut self, event: &Event) -> bool {
        if event.seq <= self.seq {
            return false;
        }
        self.seq = event.seq;
        self.open.follow(&event.body);
        true
    }

    /// What ends all that has begun for it, from there on: what else happened was never told.
    pub(super) fn endings(&self, at: Millis) -> Vec<Event> {
        let mut seq = self.seq;
        let bodies = self.open.clone().close_run(Outcome::Lost).into_iter();
        let ending = |body| {
            seq = seq.next();
            Event { seq, at, body }
        };
        bodies.map(ending).collect()
    }
}
