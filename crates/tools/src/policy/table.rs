//! The one table of modes: what each lets happen by itself, what it asks a person for, what it denies.
//!
//! `docs/consent.md` shows the same table; a test compares the two and drives every cell with a real plan. Invariants: a stricter mode
//! never lets more happen; what steers programs, leaves the leash or cannot be undone is free in none of them.

use crate::tool::{Deed, Plan};
use domain::ask::Risk;
use domain::session::Policy;
use std::path::PathBuf;

/// What a call does, as far as consent goes. One call may do several of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// Looks inside the workspace.
    LookInside,
    /// Looks elsewhere.
    LookOutside,
    /// Writes a file of the workspace.
    Write,
    /// Writes a file that steers what programs do there.
    Steer,
    /// Lets git change its own records.
    Repository,
    /// Runs a command, inside the leash.
    Command,
    /// Runs one whose changes neither undo nor git would bring back.
    CommandForGood,
    /// Uses the network.
    Network,
    /// Does what the leash would not let a command do.
    Leave,
    /// Does what cannot be undone, or with other rights.
    Critical,
    /// Uses a tool of an MCP server, or another that is not ours.
    Server,
}

impl Act {
    /// All acts, in the order of the table.
    pub const ALL: [Act; 11] = [
        Act::LookInside,
        Act::LookOutside,
        Act::Write,
        Act::Steer,
        Act::Repository,
        Act::Command,
        Act::CommandForGood,
        Act::Network,
        Act::Leave,
        Act::Critical,
        Act::Server,
    ];

    /// The head of its column.
    pub fn name(self) -> &'static str {
        match self {
            Act::LookInside => "look inside",
            Act::LookOutside => "look outside",
            Act::Write => "write",
            Act::Steer => "write protected files",
            Act::Repository => "git's records",
            Act::Command => "command inside the sandbox",
            Act::CommandForGood => "command without undo",
            Act::Network => "network",
            Act::Leave => "leave the sandbox",
            Act::Critical => "critical",
            Act::Server => "MCP tool",
        }
    }

    /// What the model is told that it may not do.
    fn denied(self) -> &'static str {
        match self {
            Act::LookInside | Act::LookOutside => "looking there",
            Act::Write => "writing files",
            Act::Steer => "writing protected files",
            Act::Repository => "changing git's records",
            Act::Command | Act::CommandForGood => "running commands",
            Act::Network => "using the network",
            Act::Leave => "leaving the sandbox",
            Act::Critical => "what cannot be undone",
            Act::Server => "using this tool",
        }
    }
}

/// What a mode says to an act. The later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Say {
    /// It happens.
    Free,
    /// A person is asked. Where nobody can be asked, that means no.
    Asked,
    /// It does not happen.
    Denied,
}

impl Say {
    /// The word in the table.
    pub fn name(self) -> &'static str {
        match self {
            Free => "free",
            Asked => "asked",
            Denied => "denied",
        }
    }
}

use Say::{Asked, Denied, Free};

/// Modes by acts, in the order of [`Act::ALL`].
pub const TABLE: [(Policy, [Say; Act::ALL.len()]); Policy::ALL.len()] = [
    (Policy::ReadOnly, [Free, Asked, Denied, Denied, Denied, Denied, Denied, Denied, Denied, Denied, Denied]),
    (Policy::Plan, [Free, Asked, Denied, Denied, Denied, Denied, Denied, Denied, Denied, Denied, Denied]),
    (Policy::Ask, [Free, Asked, Asked, Asked, Asked, Asked, Asked, Asked, Asked, Asked, Asked]),
    (Policy::AutoEdit, [Free, Asked, Free, Asked, Asked, Asked, Asked, Asked, Asked, Asked, Asked]),
    (Policy::Sandboxed, [Free, Asked, Free, Asked, Asked, Free, Asked, Asked, Asked, Asked, Asked]),
    (Policy::Full, [Free, Free, Free, Asked, Free, Free, Free, Asked, Asked, Asked, Free]),
];

/// What `mode` says to one act.
pub fn says(mode: Policy, act: Act) -> Say {
    let row = TABLE.iter().find(|(known, _)| *known == mode);
    let column = Act::ALL.iter().position(|known| *known == act);
    // The table has every cell; were one missing, nothing would be free by it.
    row.zip(column).and_then(|((_, row), column)| row.get(column)).copied().unwrap_or(Denied)
}

/// What a planned call does.
pub fn acts(plan: &Plan) -> Vec<Act> {
    let risk = plan.assessment.risk;
    let mut acts = match &plan.deed {
        Deed::Command { judgement, leaves } => {
            let mut acts = Vec::new();
            if leaves.free {
                acts.push(Act::Leave);
            }
            if leaves.network {
                acts.push(Act::Network);
            }
            if judgement.read_only() && acts.is_empty() {
                acts.push(Act::LookInside);
            } else if judgement.looks() && acts.is_empty() {
                acts.push(Act::LookOutside);
            } else {
                acts.push(Act::Command);
                if plan.unkept.is_some() {
                    acts.push(Act::CommandForGood);
                }
            }
            if judgement.steering {
                acts.push(Act::Steer);
            }
            if judgement.repository {
                acts.push(Act::Repository);
            }
            acts
        }
        Deed::Write { paths } => {
            let act = |path: &PathBuf| match plan.place.inside(path) {
                // What commands have for themselves is no more than a file of the project.
                false if plan.place.in_temp(path) => Act::Write,
                false => Act::Leave,
                true if plan.place.steering_when_written(path).is_some() => Act::Steer,
                true => Act::Write,
            };
            paths.iter().map(act).collect()
        }
        Deed::Fetch { .. } | Deed::Reach { .. } => vec![Act::Network],
        Deed::Read if plan.read_only && risk == Risk::Low => vec![Act::LookInside],
        Deed::Read if plan.read_only => vec![Act::LookOutside],
        Deed::ReadClosed => vec![Act::Leave],
        // Whoever says that it only reads and changes something all the same is not believed.
        Deed::Read | Deed::Other => vec![Act::Server],
    };
    // What held more than text cannot be put back.
    let lost = matches!(plan.deed, Deed::Write { .. }) && !plan.assessment.reversible;
    if risk == Risk::Critical || lost {
        acts.push(Act::Critical);
    }
    acts
}

/// What `mode` says to a plan, and to which of its acts: the strictest counts.
pub(super) fn strictest(mode: Policy, plan: &Plan) -> (Say, Act) {
    let say = |act: Act| match (&plan.deed, act) {
        // To look elsewhere is also a command like any other: whatever is kinder.
        (Deed::Command { .. }, Act::LookOutside) => says(mode, act).min(says(mode, Act::Command)),
        _ => says(mode, act),
    };
    acts(plan).into_iter().map(|act| (say(act), act)).max().unwrap_or((Denied, Act::Server))
}

/// Why the model may not do it in this mode.
pub(super) fn refusal(mode: Policy, act: Act, tool: &str) -> String {
    format!("{tool}: {} is not allowed in {mode} mode: only look, or say what you would do", act.denied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_a_row_and_none_frees_what_never_may_be() {
        for (mode, (row, says)) in Policy::ALL.into_iter().zip(TABLE) {
            assert_eq!(mode, row);
            assert_eq!(says[0], Free, "looking inside is free in {mode}");
            for act in [Act::Steer, Act::Network, Act::Leave, Act::Critical] {
                assert_ne!(super::says(mode, act), Free, "{mode}: {}", act.name());
            }
        }
    }

    #[test]
    fn a_stricter_mode_never_lets_more_happen() {
        for pair in TABLE.windows(2) {
            for (strict, loose) in pair[0].1.iter().zip(&pair[1].1) {
                assert!(strict >= loose, "{} and {}", pair[0].0, pair[1].0);
            }
        }
    }
}
