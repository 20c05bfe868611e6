//! What may be spent: money in a session, steps and time in a turn. Pure.
//!
//! A budget stops the next step, never what is under way. What a session has cost is in its record, so a budget in money holds across
//! restarts; a model whose price nobody knows costs nothing here, and that is told.

use domain::event::Failure;
use std::time::Duration;

/// The code of a failure that a budget made.
pub const OVER_BUDGET: &str = "over_budget";

/// Bounds of what may be spent; what is not set is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Millionths of a US dollar, for a whole session.
    pub max_cost_micros: Option<u64>,
    /// Requests to the model, for one run.
    pub max_steps: Option<u64>,
    /// For one turn.
    pub max_time: Option<Duration>,
}

/// What was spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spent {
    pub(crate) cost_micros: u64,
    pub(crate) steps: u64,
    pub(crate) time: Duration,
}

impl Budget {
    /// The same where another one says nothing.
    #[must_use]
    pub fn or(self, other: Budget) -> Budget {
        Budget {
            max_cost_micros: self.max_cost_micros.or(other.max_cost_micros),
            max_steps: self.max_steps.or(other.max_steps),
            max_time: self.max_time.or(other.max_time),
        }
    }

    /// Why there must be no further step, if so.
    pub(crate) fn ends(&self, spent: &Spent) -> Option<Failure> {
        let (what, flag) = if let Some(most) = self.max_cost_micros.filter(|most| spent.cost_micros >= *most)
        {
            let (paid, most) = (dollars(spent.cost_micros), dollars(most));
            (format!("this session has cost {paid} of {most}"), "--max-cost")
        } else if let Some(most) = self.max_steps.filter(|most| spent.steps >= *most) {
            (format!("the model was asked {} times, of {most}", spent.steps), "--max-steps")
        } else if let Some(most) = self.max_time.filter(|most| spent.time >= *most) {
            (format!("{} s have passed, of {}", spent.time.as_secs(), most.as_secs()), "--max-time")
        } else {
            return None;
        };
        let hint = format!("raise {flag} or `[budget]` in the settings, then say \"go on\"");
        Some(Failure::new(OVER_BUDGET, format!("The budget is used up: {what}.")).hint(hint))
    }
}

fn dollars(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}
