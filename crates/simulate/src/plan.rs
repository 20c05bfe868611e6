//! What goes wrong in one schedule: the kinds of fault that its seed switches on, and the defect that a test plants.

use crate::dice::Dice;
use std::collections::BTreeSet;
use std::fmt;

/// A kind of fault. What a schedule does without it is the same as with it, up to where it would have struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Processes are killed between any two of their steps, and started again.
    Kills,
    /// Lines take their time, each connection for itself.
    SlowLines,
    /// Connections break, with what was on its way.
    Breaks,
    /// Nothing gets through between some UI and its process, or a process and the database, for a while.
    Splits,
    /// The database takes its time, up to forever.
    Late,
    /// The database did it and its answer is lost; it is asked again and gets the same request twice.
    Twice,
    /// The database says no.
    Fails,
    /// A process and the database do not agree how fast time passes.
    Drift,
    /// UIs read nothing for a while.
    SlowUis,
    /// UIs leave and come back, with a cursor.
    Leaving,
    /// A second process wants to have the sessions too.
    Rival,
    /// A process sleeps through the end of its leases.
    Sleeps,
}

impl Fault {
    /// In the order in which a schedule without one of them is looked for.
    pub const ALL: [Fault; 12] = [
        Fault::Kills,
        Fault::SlowLines,
        Fault::Breaks,
        Fault::Splits,
        Fault::Late,
        Fault::Twice,
        Fault::Fails,
        Fault::Drift,
        Fault::SlowUis,
        Fault::Leaving,
        Fault::Rival,
        Fault::Sleeps,
    ];
}

/// A defect that a test plants in its own store or agent, to see it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// The store does not look whether the epoch is the writer's.
    NoFence,
    /// A lease that ended and was taken by another is renewed nevertheless.
    RenewedAfterExpiry,
    /// The agent starts a tool before it hears that the start is kept.
    ToolBeforeCommit,
    /// The store says that it keeps what it has not written.
    ToldBeforeKept,
    /// Who takes a session over writes in the epoch of the one before.
    EpochNotRaised,
}

impl Mutant {
    /// In the order in which they were thought of.
    pub const ALL: [Mutant; 5] = [
        Mutant::NoFence,
        Mutant::RenewedAfterExpiry,
        Mutant::ToolBeforeCommit,
        Mutant::ToldBeforeKept,
        Mutant::EpochNotRaised,
    ];
}

/// One schedule: all that happens in it follows from this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub seed: u64,
    pub faults: BTreeSet<Fault>,
    pub mutant: Option<Mutant>,
    /// The store says of itself that processes of several machines share it, so that a hub steps down where it would go on in memory.
    pub is_shared: bool,
}

impl Plan {
    /// The schedule of a seed: each kind of fault is in one of two, and now and then there is none.
    pub fn of(seed: u64) -> Plan {
        let mut dice = Dice::new(seed, 0);
        let faults = Fault::ALL.into_iter().filter(|_| dice.below(2) == 0).collect();
        Plan { seed, faults, mutant: None, is_shared: false }
    }

    /// The same with a defect.
    #[must_use]
    pub fn with(self, mutant: Mutant) -> Plan {
        Plan { mutant: Some(mutant), ..self }
    }

    /// The same on a store that processes of several machines share.
    #[must_use]
    pub fn shared(self) -> Plan {
        Plan { is_shared: true, ..self }
    }

    /// Whether the schedule has this kind of fault.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Whether this defect is planted.
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.faults.iter().map(|fault| format!("{fault:?}")).collect();
        write!(
            f,
            "seed {} with {}",
            self.seed,
            if faults.is_empty() { "no fault".into() } else { faults.join(", ") }
        )?;
        if self.is_shared {
            f.write_str(", store shared")?;
        }
        self.mutant.map_or(Ok(()), |mutant| write!(f, ", mutant {mutant:?}"))
    }
}
