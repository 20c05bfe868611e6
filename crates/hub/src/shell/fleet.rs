//! Those who watch which sessions are open: when they are told, and of what.
//!
//! Told is how things stand, not what happened: whoever is slow misses only what is over. It may be ahead of what the store keeps; nobody
//! builds a conversation on it.

use super::Shell;
use domain::ids::UiId;
use std::time::Duration;
use tokio::time::Instant;

/// Between two words to those who watch, at least: a streaming answer changes nothing that they see.
const FLEET_PACE: Duration = Duration::from_millis(50);

/// When they are told next.
#[derive(Debug, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
    told: Option<Instant>,
}

impl Pace {
    /// When something is to be told, if something may be new.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

impl Shell {
    /// Something may be new.
    pub(super) fn fleet_changed(&mut self) {
        if self.fleet.due.is_none() && self.seats.values().any(super::Seat::watches_fleet) {
            let now = Instant::now();
            self.fleet.due = Some(self.fleet.told.map_or(now, |told| (told + FLEET_PACE).max(now)));
        }
    }

    /// Tells what is new, when it is time.
    pub(super) fn tell_fleet(&mut self, now: Instant) {
        if self.fleet.due.is_none_or(|due| due > now) {
            return;
        }
        (self.fleet.due, self.fleet.told) = (None, Some(now));
        let watching = self.seats.iter().filter(|(_, seat)| seat.watches_fleet());
        let watching: Vec<UiId> = watching.map(|(ui, _)| *ui).collect();
        if watching.is_empty() {
            return;
        }
        let members = self.core.members();
        for ui in watching {
            if !self.with_seat(ui, |seat, round| seat.tell_fleet(round, &members)) {
                self.leave(ui);
            }
        }
    }
}
