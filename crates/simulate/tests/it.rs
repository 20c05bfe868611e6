//! Schedules that break no law, and defects that are found.

use simulate::{Found, Mutant, Plan, run, shortest, traced};
use std::ops::Range;

/// What every build looks at.
const SCHEDULES: u64 = 2_000;

#[test]
fn a_schedule_is_the_same_each_time() {
    for seed in 0..20 {
        let plan = Plan::of(seed);
        let (once, again) = (traced(&plan), traced(&plan));
        assert!(once.1.len() > 10);
        assert_eq!(once, again, "{plan}");
    }
}

#[test]
fn two_thousand_schedules_break_no_law() {
    break_no_law(0..SCHEDULES / 2, Plan::of);
}

/// The other half, so that two processors have something to do.
#[test]
fn two_thousand_schedules_break_no_law_in_their_second_half() {
    break_no_law(SCHEDULES / 2..SCHEDULES, Plan::of);
}

#[test]
fn two_thousand_schedules_on_a_shared_store_break_no_law() {
    break_no_law(0..SCHEDULES / 2, |seed| Plan::of(seed).shared());
}

#[test]
fn two_thousand_schedules_on_a_shared_store_break_no_law_in_their_second_half() {
    break_no_law(SCHEDULES / 2..SCHEDULES, |seed| Plan::of(seed).shared());
}

#[expect(clippy::panic, reason = "a helping function of a test may fall over")]
fn break_no_law(seeds: Range<u64>, plan: fn(u64) -> Plan) {
    for seed in seeds {
        if let Err(found) = run(&plan(seed)) {
            let shared = if found.plan.is_shared { "--shared " } else { "" };
            let shortest = shortest(&found.plan).unwrap_or(*found);
            panic!("{shortest}\nagain: cargo xtask simulate {shared}--seed {seed}");
        }
    }
}

/// What is found of each planted defect says which law it breaks.
const FOUND: [(Mutant, &[&str]); 5] = [
    (Mutant::NoFence, &["at most one owner acts"]),
    (Mutant::RenewedAfterExpiry, &["at most one owner acts"]),
    (Mutant::ToolBeforeCommit, &["its start is not kept", "no tool twice"]),
    (Mutant::ToldBeforeKept, &["law 7"]),
    (Mutant::EpochNotRaised, &["at most one owner acts"]),
];

#[test]
fn each_planted_defect_is_found_within_two_thousand_schedules() {
    for (mutant, laws) in FOUND {
        let breaks_it = |found: &Found| laws.iter().any(|law| found.broken.1.contains(law));
        let planted = |seed| run(&Plan::of(seed).with(mutant)).err().filter(|found| breaks_it(found));
        let found = (0..SCHEDULES).find_map(planted).unwrap_or_else(|| panic!("{mutant:?} was not found"));
        assert_eq!(run(&Plan::of(found.plan.seed)).err(), None, "it is the defect that is found");
    }
}
