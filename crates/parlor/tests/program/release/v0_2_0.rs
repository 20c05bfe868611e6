//! What the release 0.2.0 left.

use super::Release;
use domain::state::State;

pub(super) const RELEASE: Release = Release {
    version: "0.2.0",
    wires: &["native", "codelia", "nous", "lemon", "openagent", "asst"],
    told: State::hash,
};

#[path = "kept.rs"]
mod kept;
#[path = "wires.rs"]
mod wires;
