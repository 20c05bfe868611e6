//! Wall time that never jumps: read once at the start, then counted by the runtime's clock (which tests can stop).

use domain::ids::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    wall: u64,
    start: Instant,
}

impl Clock {
    pub(super) fn start() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { wall: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX), start: Instant::now() }
    }

    pub(super) fn now(&self) -> Millis {
        Millis(self.wall + u64::try_from(self.start.elapsed().as_millis()).unwrap_or(0))
    }

    pub(super) fn instant(&self, at: Millis) -> Instant {
        self.start + Duration::from_millis(at.0.saturating_sub(self.wall))
    }
}
