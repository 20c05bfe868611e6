//! How long a lease is good, when it is renewed, and when its owner stops by itself.
//!
//! The lease ends by the database's clock; its owner counts from before it asked for it, by a clock of its own that also counts sleep. So
//! whatever the clocks of the two machines say, the owner has stopped before the database gives the session to another, as long as the one
//! clock is not a third faster than the other.

use std::time::Duration;

/// How long a lease is good without being renewed.
pub const LEASE_FOR: Duration = Duration::from_secs(10);
/// How old a lease is when it is renewed.
pub const RENEW_AFTER: Duration = Duration::from_secs(3);
/// How old a lease may get before its owner stops.
pub const STOP_AFTER: Duration = Duration::from_secs(7);
