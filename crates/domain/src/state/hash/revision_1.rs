//! The hash that natives of revision 0 and 1 compare, for processes of those versions that are still there.
//!
//! It is fed by derived `Hash`, which is promised neither between platforms nor between compilers: that is why there is another. It is
//! worked out from the whole state each time it is asked for, so that a fold does not pay for it.

use super::{START, State, StateHash, begin_part, bytes, mixed};
use crate::content::{Part, TextKind};
use crate::state::{Entry, EntryKind};
use crate::tool::ToolRun;
use std::hash::{Hash, Hasher};

struct Rolling(u64);

impl Hasher for Rolling {
    fn finish(&self) -> u64 {
        mixed(self.0)
    }
    fn write(&mut self, input: &[u8]) {
        self.0 = bytes(self.0, input);
    }
}

fn of(value: &impl Hash) -> u64 {
    let mut hasher = Rolling(START);
    value.hash(&mut hasher);
    hasher.finish()
}

fn part(roll: u64, part: &Part) -> u64 {
    match part {
        Part::Text(text) => bytes(begin_part(roll, TextKind::Text), text.as_bytes()),
        Part::Thought { text, signature: None } => {
            bytes(begin_part(roll, TextKind::Thought), text.as_bytes())
        }
        part => bytes(bytes(roll, &[0xfa]), &of(part).to_le_bytes()),
    }
}

fn entry(entry: &Entry) -> u64 {
    let mut hasher = Rolling(START);
    (entry.id, entry.parent).hash(&mut hasher);
    match &entry.kind {
        EntryKind::Message(m) => {
            let roll = m.parts.iter().fold(START, part);
            (0u8, m.role, m.run, m.turn, m.step, &m.finish, roll).hash(&mut hasher);
        }
        EntryKind::Compaction(compaction) => (1u8, compaction).hash(&mut hasher),
        EntryKind::Notice { level, code, text, run } => (2u8, level, code, text, run).hash(&mut hasher),
    }
    hasher.finish()
}

fn tool(tool: &ToolRun) -> u64 {
    let fixed = of(&(tool.id, tool.run, tool.step, tool.message, &tool.name, &tool.args));
    let roll = bytes(START, tool.output.as_bytes());
    of(&(fixed, roll, &tool.phase, &tool.decision, &tool.status, &tool.result))
}

impl State {
    /// The hash of native revision 1: as slow as the session is long.
    pub fn hash_of_revision_1(&self) -> StateHash {
        let entries = self.entries.values().map(|said| entry(said));
        let entities = entries.chain(self.tools.values().map(|run| tool(run))).fold(0, u64::wrapping_add);
        let mut hasher = Rolling(START);
        (self.seq, entities, &self.settings, self.leaf).hash(&mut hasher);
        (&self.asks, &self.queues, &self.plan, self.usage, self.context).hash(&mut hasher);
        // What came after the first release counts only where it was said.
        if self.context_rough {
            self.context_rough.hash(&mut hasher);
        }
        self.runs.len().hash(&mut hasher);
        if let Some(run) = self.runs.last() {
            (run.id, &run.turns, run.ended.as_ref().map(|(_, outcome)| outcome)).hash(&mut hasher);
        }
        StateHash(hasher.finish())
    }
}
