//! The window: how large it is, what time it is there, what its title says.

use domain::ids::Millis;

/// From how far back on the clock of the system was set, and nobody just read a key late.
const CLOCK_STEP_MS: u64 = 60_000;

/// The window as it was told last.
#[derive(Debug)]
pub(crate) struct Window {
    size: (u16, u16),
    now: Millis,
    title: String,
}

impl Window {
    /// Before anything was told.
    pub(crate) fn new() -> Window {
        Window { size: (80, 24), now: Millis(0), title: String::new() }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Takes another size; `false` when it is the one it had.
    pub(crate) fn resize(&mut self, size: (u16, u16)) -> bool {
        std::mem::replace(&mut self.size, size) != size
    }

    /// The time of the last tick.
    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// It is now this late; tells whether the clock was set back. A key is told with the time at which it was read, which may be a
    /// little earlier than what came in meanwhile.
    pub(crate) fn tick(&mut self, now: Millis) -> bool {
        let back = self.now.since(now) > CLOCK_STEP_MS;
        self.now = now;
        back
    }

    /// Takes another title; `false` when it is the one it had.
    pub(crate) fn retitle(&mut self, title: &str) -> bool {
        let other = self.title != title;
        if other {
            title.clone_into(&mut self.title);
        }
        other
    }
}
