//! What the release 0.1.0 left.

use super::Release;
use domain::state::State;

pub(super) const RELEASE: Release = Release {
    version: "0.1.0",
    wires: &["native", "codelia", "nous", "lemon", "openagent", "asst"],
    told: State::hash_of_revision_1,
};

#[path = "kept.rs"]
mod kept;
#[path = "wires.rs"]
mod wires;
