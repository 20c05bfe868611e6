//! Wall time that never jumps: read once at the start, then counted by the runtime's clock (which tests can stop). And what roles want
//! in time.

use domain::ids::Millis;
use roles::TimerKey;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Wall time that never goes back, for the record, and the instants that timers need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    wall: u64,
    start: Instant,
}

impl Clock {
    /// Takes the wall time once; from then on only elapsed time is added.
    pub(super) fn start() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock::at(Millis(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)))
    }

    /// A clock that shows this wall time now.
    pub(super) fn at(wall: Millis) -> Clock {
        Clock { wall: wall.0, start: Instant::now() }
    }

    /// The wall time.
    pub(super) fn now(&self) -> Millis {
        Millis(self.wall + u64::try_from(self.start.elapsed().as_millis()).unwrap_or(0))
    }

    /// When a wall time will be.
    pub(super) fn instant(&self, at: Millis) -> Instant {
        self.start + Duration::from_millis(at.0.saturating_sub(self.wall))
    }
}

/// What a role wants in time.
pub(super) type Timers = BTreeMap<TimerKey, Instant>;

/// Takes out what is due.
pub(super) fn due(timers: &mut Timers, now: Instant) -> Vec<TimerKey> {
    let due: Vec<TimerKey> = timers.iter().filter(|(_, at)| **at <= now).map(|(key, _)| *key).collect();
    for key in &due {
        timers.remove(key);
    }
    due
}
