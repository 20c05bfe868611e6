//! A rolling hash of the state, so that two sides can prove that they agree.
//!
//! Text is hashed as a stream, so the cut into deltas does not matter, and each entity adds its own hash to one sum, so a delta
//! costs as much as its text. FNV-1a: it detects drift between friends; it is no defence against a forger.

use super::{Entry, EntryKind, State};
use crate::content::{Part, TextKind};
use crate::tool::ToolRun;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The hash of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateHash(pub u64);

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

pub(super) const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, input: &[u8]) {
        self.0 = bytes(self.0, input);
    }
}

pub(super) fn bytes(state: u64, input: &[u8]) -> u64 {
    input.iter().fold(state, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

fn of(value: &impl Hash) -> u64 {
    let mut hasher = Fnv(START);
    value.hash(&mut hasher);
    hasher.finish()
}

/// Opens a streamed part.
pub(super) fn begin_part(roll: u64, kind: TextKind) -> u64 {
    bytes(
        roll,
        match kind {
            TextKind::Text => &[0xf8],
            TextKind::Thought => &[0xf9],
        },
    )
}

/// A whole part; equal to the same text streamed.
pub(super) fn whole_part(roll: u64, part: &Part) -> u64 {
    match part {
        Part::Text(text) => bytes(begin_part(roll, TextKind::Text), text.as_bytes()),
        Part::Thought { text, signature: None } => {
            bytes(begin_part(roll, TextKind::Thought), text.as_bytes())
        }
        part => bytes(bytes(roll, &[0xfa]), &of(part).to_le_bytes()),
    }
}

pub(super) fn entry(entry: &Entry) -> u64 {
    let mut hasher = Fnv(START);
    (entry.id, entry.parent).hash(&mut hasher);
    match &entry.kind {
        EntryKind::Message(m) => (0u8, m.role, m.run, m.turn, m.step, &m.finish, m.roll).hash(&mut hasher),
        EntryKind::Compaction(compaction) => (1u8, compaction).hash(&mut hasher),
        EntryKind::Notice { level, code, text, run } => (2u8, level, code, text, run).hash(&mut hasher),
    }
    hasher.finish()
}

pub(super) fn tool_fixed(tool: &ToolRun) -> u64 {
    of(&(tool.id, tool.run, tool.step, tool.message, &tool.name, &tool.args))
}

pub(super) fn tool(tool: &ToolRun) -> u64 {
    of(&(tool.fixed_hash, tool.roll, &tool.phase, &tool.decision, &tool.status, &tool.result))
}

impl State {
    /// The hash of everything that was said and decided. Times are left out: clocks differ.
    pub fn hash(&self) -> StateHash {
        let mut hasher = Fnv(START);
        (self.seq, self.entities, &self.settings, self.leaf).hash(&mut hasher);
        (&self.asks, &self.queues, &self.plan, self.usage, self.context).hash(&mut hasher);
        self.runs.len().hash(&mut hasher);
        if let Some(run) = self.runs.last() {
            (run.id, &run.turns, run.ended.as_ref().map(|(_, outcome)| outcome)).hash(&mut hasher);
        }
        StateHash(hasher.finish())
    }
}
