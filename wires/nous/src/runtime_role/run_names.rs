//! Names of runs: `run-1`, `run-2`, … in the order they are told, since this wire names runs without their session.
//!
//! Invariants: no name is given twice in a process; a run keeps its name while it is remembered. Runs of the past, never
//! told by this process, are named by their session and number.

use domain::ids::{RunId, SessionId};
use std::collections::{BTreeMap, VecDeque};

/// Most runs whose names are remembered.
const MAX_REMEMBERED: usize = 4096;

/// The names that were given.
#[derive(Debug, Default)]
pub(super) struct RunNames {
    given: BTreeMap<(SessionId, RunId), u64>,
    order: VecDeque<(SessionId, RunId)>,
    last: u64,
}

impl RunNames {
    /// The name of a run that is told now.
    pub(super) fn give(&mut self, session: &SessionId, run: RunId) -> String {
        let key = (session.clone(), run);
        if !self.given.contains_key(&key) {
            self.last += 1;
            self.given.insert(key.clone(), self.last);
            self.order.push_back(key);
            if self.order.len() > MAX_REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.given.remove(&oldest);
            }
        }
        self.name(session, run)
    }

    /// What the wire calls a run: the number it was given here, or a name made of the session and our number.
    pub(super) fn name(&self, session: &SessionId, run: RunId) -> String {
        match self.given.get(&(session.clone(), run)) {
            Some(number) => format!("run-{number}"),
            None => format!("run-{}-{}", session.as_str().trim_start_matches("sess-"), run.0),
        }
    }
}
