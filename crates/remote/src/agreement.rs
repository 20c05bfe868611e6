//! Which listed agents the person has let be started: exactly a command at exactly a file.

use crate::agents::Agent;
use crate::origin::{self, RuntimeAddress};
use domain::session::{Origin, RuntimePlace};

/// What of an agent is agreed to, and whether it can be kept: of one with a key in it not all words are, and another key would look the
/// same.
pub fn agreement(agent: &Agent) -> (Origin, bool) {
    let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
    // Its program is found by its name or whole path: it is the same in every folder, and another one once the path leads to another
    // file. So what is agreed to is the words, at this file.
    let origin = origin::origin(agent.dialect, &place, &agent.file());
    let whole = matches!(origin.place, RuntimePlace::Command { incomplete: false, .. });
    (origin, whole)
}

/// Whether the person has agreed to its start before.
pub fn is_agreed(agent: &Agent) -> bool {
    let (origin, whole) = agreement(agent);
    whole && origin::is_typed(&origin)
}
