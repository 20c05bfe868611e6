//! What may be spent: money in a session, steps and time in a turn, with what its sub-agents do.
//!
//! The session's own budget goes before that of the settings, bound by bound. A budget stops the next step, never what is under way.
//! What a session has cost is in its record, so a budget in money holds across restarts, and so is how long a turn was at work that is
//! taken up after a crash; a model whose price nobody knows costs nothing here, and that is told.

use domain::event::Failure;
use domain::session::Budget;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Steps of a prompt where nobody is there to see what it costs and no budget was set.
const UNATTENDED_STEPS: u64 = 500;

/// The code of a failure that a budget made.
pub const OVER_BUDGET: &str = "over_budget";

/// What was spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spent {
    pub(crate) cost_micros: u64,
    pub(crate) steps: u64,
    pub(crate) time: Duration,
}

/// What is counted against a budget while a turn and its sub-agents work: all of them count into one.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cost_micros: AtomicU64,
    steps: AtomicU64,
    /// How long the turn was at work before a crash.
    before: Duration,
    began: OnceLock<Instant>,
}

impl Tally {
    /// What the session has cost and how often the model was asked, before this turn.
    pub(crate) fn from(spent: Spent) -> Tally {
        Tally {
            cost_micros: AtomicU64::new(spent.cost_micros),
            steps: AtomicU64::new(spent.steps),
            before: spent.time,
            began: OnceLock::new(),
        }
    }

    /// The time runs from here on, if it does not yet.
    pub(crate) fn begins(&self) {
        let _ = self.began.get_or_init(Instant::now);
    }

    /// The model was asked once more.
    pub(crate) fn step(&self, cost_micros: u64) {
        self.cost_micros.fetch_add(cost_micros, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// What was spent so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent {
            cost_micros: self.cost_micros.load(Ordering::Relaxed),
            steps: self.steps.load(Ordering::Relaxed),
            time: self.before + self.began.get().map(Instant::elapsed).unwrap_or_default(),
        }
    }
}

/// What a turn may spend. With a person there nothing bounds it but what was set; who left has at least a bound of steps.
pub(crate) fn of_turn(set: Budget, attended: bool) -> Budget {
    let is_bounded = set != Budget::default();
    if attended || is_bounded { set } else { Budget { max_steps: Some(UNATTENDED_STEPS), ..set } }
}

/// Why there must be no further step, if so.
pub(crate) fn ends(budget: &Budget, spent: &Spent) -> Option<Failure> {
    let over = |most: Option<u64>, spent: u64| bound(most).filter(|most| spent >= *most);
    let (what, word, flag) = if let Some(most) = over(budget.max_cost_micros, spent.cost_micros) {
        let (paid, most) = (dollars(spent.cost_micros), dollars(most));
        (format!("this session has cost {paid} of {most}"), "cost", "--max-cost")
    } else if let Some(most) = over(budget.max_steps, spent.steps) {
        (
            format!("the model was asked {} of {most} times for this prompt", spent.steps),
            "steps",
            "--max-steps",
        )
    } else if let Some(most) = over(budget.max_time_s, spent.time.as_secs()) {
        (format!("{} s have passed, of {most}", spent.time.as_secs()), "time", "--max-time")
    } else {
        return None;
    };
    // In one line: not every wire has a place for more.
    let way_on = format!("Raise it with /budget {word} or {flag}, then say \"go on\".");
    Some(Failure::new(OVER_BUDGET, format!("The budget is used up: {what}. {way_on}")))
}

/// A bound that holds; zero lifts it.
pub(crate) fn bound(most: Option<u64>) -> Option<u64> {
    most.filter(|most| *most > 0)
}

fn dollars(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_bounded_by_what_was_set_and_unattended_ones_by_steps() {
        let (nothing, lifted) = (Budget::default(), Budget { max_steps: Some(0), ..Budget::default() });
        let cost = Budget { max_cost_micros: Some(1), ..Budget::default() };
        let spent = Spent { steps: UNATTENDED_STEPS, ..Spent::default() };
        for (set, attended, is_over) in
            [(nothing, true, false), (nothing, false, true), (lifted, false, false), (cost, false, false)]
        {
            assert_eq!(ends(&of_turn(set, attended), &spent).is_some(), is_over, "{set:?} {attended}");
        }
    }

    #[test]
    fn what_is_said_now_goes_before_what_is_set_for_always() {
        let of = |cost, steps, time| Budget { max_cost_micros: cost, max_steps: steps, max_time_s: time };
        let (now, always) = (of(Some(1), Some(2), Some(3)), of(Some(10), Some(20), Some(30)));
        assert_eq!(now.or(always), now);
        assert_eq!(Budget::default().or(always), always);
        assert_eq!(of(None, Some(2), None).or(always), of(Some(10), Some(2), Some(30)));
    }
}
