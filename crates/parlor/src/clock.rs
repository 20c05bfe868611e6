//! The time of day.

use domain::ids::Millis;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; zero on a machine that does not know.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(0))
}
