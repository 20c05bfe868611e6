//! Calls that were denied in a turn, and when a denial is told as final.
//!
//! It is not a rule: a new turn begins with nothing denied. Invariant: the same call is denied at most [`MAX_DENIALS`] times before the
//! model is told that this is final.

use super::step::Call;
use domain::tool::ToolOutcome;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tools::Outcome;

/// How often the same call is denied before that is final.
const MAX_DENIALS: u32 = 3;
/// What the model hears then.
const FINAL: &str = "\nThis was denied several times and is final: do not call it again in this turn. Go on without it, or say what \
                     you need and why, and end your turn.";

/// The calls that were denied in this turn.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// How often, by tool and arguments.
    denied: BTreeMap<(String, String), u32>,
    /// The tool that the model wants all the same.
    insisted: Option<String>,
}

impl Denials {
    /// Counts a call that was denied, and says so in its result when that is final now.
    pub(super) fn count(&self, call: &Call, outcome: &mut Outcome) {
        if outcome.outcome != ToolOutcome::Denied {
            return;
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.denied.entry(key(call)).or_default();
        *count += 1;
        if *count >= MAX_DENIALS {
            outcome.result.text.push_str(FINAL);
        }
    }

    /// Whether the model was told that this call is denied for good.
    pub(super) fn is_final(&self, call: &Call) -> bool {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.denied.get(&key(call)).is_some_and(|count| *count >= MAX_DENIALS)
    }

    /// The model wants it all the same.
    pub(super) fn insist(&self, call: &Call) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.insisted = Some(call.call.name.clone());
    }

    /// The tool that the model wants all the same, told once.
    pub(super) fn insisted(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insisted.take()
    }
}

fn key(call: &Call) -> (String, String) {
    (call.call.name.clone(), call.call.args.to_object().to_string())
}
