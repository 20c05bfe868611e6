//! What a foreign runtime may pile up: in one run and in one session, in things and in bytes.
//!
//! Counts what the canon lets through. Past a bound the runtime is not heard until its run ends (or, when the whole session is full,
//! for good), which is told once and counted; the link lives. One that goes on and on is said to flood: then whoever holds the link
//! may close it. Invariants: what always passes ends something, so that nothing stays open; a refused fact changes nothing.

use super::cut;
use crate::event::{Body, NoteEvent, RunEvent, SessionEvent};
use crate::fact::Said;

/// How much may be kept of a foreign runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Runs, turns, steps, messages, parts, tools, asks and notices of one run.
    pub run_things: usize,
    /// Text of one run, in bytes.
    pub run_bytes: usize,
    /// The same of all runs of one session.
    pub session_things: usize,
    /// Text of one session, in bytes.
    pub session_bytes: usize,
    /// Facts in a row that a runtime may say while it is not heard, until it is said to flood.
    pub unheard: u64,
}

impl Bounds {
    /// What counts where nothing else is said.
    pub const USUAL: Bounds = Bounds {
        run_things: 10_000,
        run_bytes: 32 * MIB,
        session_things: 50_000,
        session_bytes: 64 * MIB,
        unheard: 1_000_000,
    };
}

const MIB: usize = 1024 * 1024;

/// What was let through.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    things: usize,
    bytes: usize,
}

impl Used {
    fn add(&mut self, things: usize, bytes: usize) {
        self.things += things;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn is_over(self, things: usize, bytes: usize) -> bool {
        self.things > things || self.bytes > bytes
    }
}

/// Why the runtime is not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    Run,
    Session,
}

/// What one foreign session has used of what it may.
#[derive(Debug)]
pub(super) struct Allowance {
    bounds: Bounds,
    run: Used,
    session: Used,
    full: Option<Full>,
    /// Facts of this run that were not heard.
    unheard: u64,
    /// Facts in a row that were not heard or came too late.
    in_a_row: u64,
    /// That something of this run was cut was said.
    told: bool,
}

impl Allowance {
    pub(super) fn new(bounds: Bounds) -> Allowance {
        let (run, session) = (Used::default(), Used::default());
        Allowance { bounds, run, session, full: None, unheard: 0, in_a_row: 0, told: false }
    }

    /// Whether the fact is to be taken. What ends something always is, and so is the beginning of another run than the one that
    /// is full.
    pub(super) fn hears(&mut self, said: &Said, of_open_run: bool) -> bool {
        if matches!(said, Said::RunEnded(_) | Said::Lost | Said::AskWithdrawn { .. }) {
            return true;
        }
        let hears = match self.full {
            None => true,
            Some(Full::Run) => !of_open_run,
            Some(Full::Session) => false,
        };
        if hears {
            self.in_a_row = 0;
        } else {
            self.leave_out();
        }
        hears
    }

    /// A fact is left out.
    pub(super) fn leave_out(&mut self) {
        self.unheard += 1;
        self.in_a_row += 1;
    }

    /// Something came for a run that is over.
    pub(super) fn late(&mut self) {
        self.in_a_row += 1;
    }

    /// One more part in a message that comes piece by piece.
    pub(super) fn part(&mut self) {
        self.run.add(1, 0);
        self.session.add(1, 0);
    }

    /// Counts what happened; a word for the person when that was the last that fits.
    pub(super) fn count(&mut self, bodies: &[Body]) -> Option<String> {
        for body in bodies.iter().filter(|body| !replaces(body)) {
            let (things, bytes) = (usize::from(body.adds()), body.weight());
            self.run.add(things, bytes);
            self.session.add(things, bytes);
        }
        let Bounds { run_things, run_bytes, session_things, session_bytes, .. } = self.bounds;
        let full = if self.session.is_over(session_things, session_bytes) {
            Full::Session
        } else if self.run.is_over(run_things, run_bytes) {
            Full::Run
        } else {
            return None;
        };
        let before = self.full.replace(full);
        (before != Some(full)).then(|| self.words(full))
    }

    /// A word for the person about the first thing of a run that was cut.
    pub(super) fn was_cut(&mut self) -> Option<String> {
        let first = !std::mem::replace(&mut self.told, true);
        let most = cut::MAX_TEXT / MIB;
        first.then(|| format!("The runtime said more at once than can be kept ({most} MiB of text): it was cut where you see the mark."))
    }

    /// A run begins: it may use its own part. A word for the person when there is none left.
    pub(super) fn run_begins(&mut self) -> Option<String> {
        (self.run, self.unheard, self.told) = (Used::default(), 0, false);
        self.full = self.full.filter(|full| *full == Full::Session);
        self.full.map(|full| self.words(full))
    }

    /// A run is over: a word about what was not heard of it.
    pub(super) fn run_ends(&mut self) -> Option<String> {
        self.full = self.full.filter(|full| *full == Full::Session);
        self.run = Used::default();
        let unheard = std::mem::take(&mut self.unheard);
        (unheard > 0).then(|| format!("{unheard} more words of the runtime were left out of this run."))
    }

    /// Whether the runtime goes on and on though it is not heard.
    pub(super) fn is_flooded(&self) -> bool {
        self.in_a_row > self.bounds.unheard
    }

    fn words(&self, full: Full) -> String {
        let Bounds { run_things, run_bytes, session_things, session_bytes, .. } = self.bounds;
        match full {
            Full::Run => format!(
                "The runtime said more in this run than can be kept ({} MiB or {run_things} things): what comes now is left \
                 out until the run ends. Cancel it if it does not.",
                run_bytes / MIB
            ),
            Full::Session => format!(
                "This session holds all that can be kept of a foreign runtime ({} MiB or {session_things} things): what \
                 comes now is left out. Begin a new session, or attach again.",
                session_bytes / MIB
            ),
        }
    }
}

/// Whether what a body says takes the place of what was said before.
fn replaces(body: &Body) -> bool {
    matches!(
        body,
        Body::Session(
            SessionEvent::Renamed { .. }
                | SessionEvent::ModelChosen { .. }
                | SessionEvent::EffortChosen { .. }
        ) | Body::Note(NoteEvent::PlanChanged { .. })
            | Body::Run(RunEvent::Retrying { .. })
    )
}

#[cfg(test)]
mod tests;
