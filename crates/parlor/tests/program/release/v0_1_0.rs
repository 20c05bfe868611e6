//! What the release 0.1.0 left.

use super::Release;

pub(super) const RELEASE: Release =
    Release { version: "0.1.0", wires: &["native", "codelia", "nous", "lemon", "openagent", "asst"] };

#[path = "kept.rs"]
mod kept;
#[path = "wires.rs"]
mod wires;
