//! What the screen says of what may run without asking.
//!
//! Invariant: a runtime that does not tell its policy has none on the screen: a word that nobody keeps is worse than no word.

use crate::theme::Role;
use crate::world::SessionView;
use domain::session::Policy;

/// All that `read-only` means on a runtime with rules of its own.
pub(crate) const DENIES_ALL: &str = "every consent is denied; what it does unasked cannot be stopped";

/// What the status line calls the policy of a session, coloured by how much it lets through; nothing while it is not known.
pub(crate) fn policy_shown(seen: &SessionView) -> Option<(&'static str, Role)> {
    let (policy, can) = (seen.state.settings.policy, &seen.abilities);
    match policy {
        _ if can.policy => Some(policy_word(policy)),
        _ if can.name.is_empty() => None,
        Policy::ReadOnly => Some(("read-only where it asks", Role::Warn)),
        Policy::AutoEdit if can.errands => Some(("its own rules; edits here freely", Role::Warn)),
        Policy::Sandboxed if can.errands => Some(("its own rules; here in the sandbox", Role::Warn)),
        Policy::Full if can.errands => Some(("its own rules; here all inside the sandbox", Role::Bad)),
        Policy::Plan | Policy::Ask | Policy::AutoEdit | Policy::Sandboxed | Policy::Full => {
            Some(("its own rules", Role::Dim))
        }
    }
}

/// The same for the page about the session, with what cannot be kept.
pub(crate) fn policy_told(seen: &SessionView) -> Option<String> {
    let (word, _) = policy_shown(seen)?;
    let held = !seen.abilities.policy && seen.state.settings.policy == Policy::ReadOnly;
    Some(if held { format!("{word}: {DENIES_ALL}") } else { word.to_owned() })
}

/// When Parlor asks in this mode, in a line that begins with the words of the mode.
pub(crate) fn asks_when(policy: Policy) -> &'static str {
    match policy {
        Policy::ReadOnly => "read-only: it changes nothing",
        Policy::Plan => "plans first: it changes nothing before you agree to its plan",
        Policy::Ask => "asks first, before it changes anything",
        Policy::AutoEdit => "edits freely in this project, asks before anything else",
        Policy::Sandboxed => "runs in the sandbox of this project, asks before anything leaves it",
        Policy::Full => "asks only to leave the sandbox: use it where nothing can be lost",
    }
}

fn policy_word(policy: Policy) -> (&'static str, Role) {
    match policy {
        Policy::ReadOnly => ("read-only", Role::Ok),
        Policy::Plan => ("plans first", Role::Ok),
        Policy::Ask => ("asks first", Role::Ok),
        Policy::AutoEdit => ("edits freely", Role::Warn),
        Policy::Sandboxed => ("runs in the sandbox", Role::Warn),
        Policy::Full => ("asks only to leave the sandbox", Role::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_it_asks_is_told_in_the_words_of_the_mode() {
        for policy in Policy::ALL {
            let (word, _) = policy_word(policy);
            assert!(asks_when(policy).starts_with(word), "{word}: {}", asks_when(policy));
        }
    }
}
