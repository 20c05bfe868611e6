//! The devices of the page, and the browser that wants to become one: what was told of them, and since when it can be seen who asks.
//!
//! Invariants: who asks can be allowed only when it has stood in the open list for [`UNREAD_MS`], so that no key of before counts; one
//! word about it is enough. What it is not: the list on the screen, which is a picker.

use crate::msg::{Asking, DeviceLine};
use domain::ids::Millis;

/// For how long a browser that came into the list cannot be allowed: hands may be in the middle of something.
const UNREAD_MS: u64 = 1_000;

/// The devices there are, and who asks.
#[derive(Debug, Default)]
pub(crate) struct Entrants {
    /// `None` before anybody told.
    devices: Option<Vec<DeviceLine>>,
    asking: Option<Asking>,
    /// Since when who asks stands in the list that is open.
    listed: Option<Millis>,
    /// Whether a word about it is on its way.
    answered: bool,
}

impl Entrants {
    /// All devices, once they were told.
    pub(crate) fn devices(&self) -> Option<&[DeviceLine]> {
        self.devices.as_deref()
    }

    /// The browser that wants to become one.
    pub(crate) fn asking(&self) -> Option<&Asking> {
        self.asking.as_ref()
    }

    /// Takes other devices.
    pub(crate) fn list(&mut self, devices: Vec<DeviceLine>) {
        self.devices = Some(devices);
    }

    /// Somebody else asks, or nobody.
    pub(crate) fn ask(&mut self, asking: Option<Asking>) {
        (self.asking, self.listed, self.answered) = (asking, None, false);
    }

    /// A list is opened: it shows nothing yet.
    pub(crate) fn open(&mut self) {
        (self.devices, self.listed, self.answered) = (None, None, false);
    }

    /// The list shows who asks.
    pub(crate) fn show(&mut self, now: Millis) {
        if self.asking.is_some() {
            self.listed.get_or_insert(now);
        }
    }

    /// Whether who asks has been in the list for long enough to be read.
    pub(crate) fn is_read(&mut self, now: Millis) -> bool {
        let Some(listed) = self.listed else { return false };
        // A clock that was set back begins anew.
        if now < listed {
            self.listed = Some(now);
        }
        now.since(listed) >= UNREAD_MS
    }

    /// A word about this one goes out; whether it may, which is once.
    pub(crate) fn answer(&mut self, server: u32, id: u64) -> bool {
        let is_meant = self.asking.as_ref().is_some_and(|asking| (asking.server, asking.id) == (server, id));
        is_meant && !std::mem::replace(&mut self.answered, true)
    }
}
