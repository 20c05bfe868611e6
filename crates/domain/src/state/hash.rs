//! A rolling hash of the state, so that two sides can prove that they agree.
//!
//! Text is hashed as a stream, so the cut into deltas does not matter, and each entity adds its own hash to one sum, so a delta
//! costs as much as its text. The stream is a polynomial in its bytes, so that eight are taken at once, and what becomes part of a
//! sum is mixed first, so that texts that changed places are noticed. It detects drift between friends; it is no defence against
//! a forger.

use super::{Entry, EntryKind, State};
use crate::content::{Part, TextKind};
use crate::tool::ToolRun;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Equal for two sides that hold the same session, however its events were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateHash(pub u64);

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

pub(super) const START: u64 = 0xcbf2_9ce4_8422_2325;
/// The powers of an odd number, highest first: the weights of a byte that has seven to none behind it.
const POWERS: [u64; 8] = {
    let mut powers = [1; 8];
    let mut at = 7;
    while at > 0 {
        at -= 1;
        powers[at] = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(powers[at + 1]);
    }
    powers
};
const POWER: u64 = POWERS[6];
const EIGHTH_POWER: u64 = POWER.wrapping_mul(POWERS[0]);

struct Rolling(u64);

impl Hasher for Rolling {
    fn finish(&self) -> u64 {
        mixed(self.0)
    }
    fn write(&mut self, input: &[u8]) {
        self.0 = bytes(self.0, input);
    }
}

/// The stream goes on with these bytes; any cut of them gives the same.
pub(super) fn bytes(state: u64, input: &[u8]) -> u64 {
    let (eights, rest) = input.as_chunks::<8>();
    let state = eights.iter().fold(state, |hash, eight| {
        let weighted = eight.iter().zip(POWERS).map(|(byte, power)| u64::from(*byte).wrapping_mul(power));
        weighted.fold(hash.wrapping_mul(EIGHTH_POWER), u64::wrapping_add)
    });
    rest.iter().fold(state, |hash, byte| hash.wrapping_mul(POWER).wrapping_add(u64::from(*byte)))
}

/// Every bit of the outcome depends on every bit of the stream (the last step of splitmix64).
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn of(value: &impl Hash) -> u64 {
    let mut hasher = Rolling(START);
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

/// What an entry adds to the hash of its state.
pub(super) fn entry(entry: &Entry) -> u64 {
    let mut hasher = Rolling(START);
    (entry.id, entry.parent).hash(&mut hasher);
    match &entry.kind {
        EntryKind::Message(m) => (0u8, m.role, m.run, m.turn, m.step, &m.finish, m.roll).hash(&mut hasher),
        EntryKind::Compaction(compaction) => (1u8, compaction).hash(&mut hasher),
        EntryKind::Notice { level, code, text, run } => (2u8, level, code, text, run).hash(&mut hasher),
    }
    hasher.finish()
}

/// The part of a tool run that never changes.
pub(super) fn tool_fixed(tool: &ToolRun) -> u64 {
    of(&(tool.id, tool.run, tool.step, tool.message, &tool.name, &tool.args))
}

/// What a tool run adds to the hash of its state.
pub(super) fn tool(tool: &ToolRun) -> u64 {
    of(&(tool.fixed_hash, tool.roll, &tool.phase, &tool.decision, &tool.status, &tool.result))
}

impl State {
    /// The hash of everything that was said and decided. Times are left out: clocks differ.
    pub fn hash(&self) -> StateHash {
        let mut hasher = Rolling(START);
        (self.seq, self.entities, &self.settings, self.leaf).hash(&mut hasher);
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

#[cfg(test)]
mod tests {
    use super::{START, State, bytes};
    use crate::content::{Role, TextKind};
    use crate::event::{Body, MessageEvent};
    use crate::ids::{EntryId, MessageId, Millis};
    use proptest::prelude::*;

    #[test]
    fn texts_that_changed_places_are_noticed() {
        let told = |texts: [&str; 2]| {
            let mut state = State::new();
            for (n, text) in (1..).zip(texts) {
                let (message, parent) = (MessageId(n), (n > 1).then(|| EntryId(n - 1)));
                let started = Body::Message(MessageEvent::Started {
                    message,
                    parent,
                    role: Role::User,
                    turn: None,
                    step: None,
                });
                let delta = Body::Message(MessageEvent::Delta {
                    message,
                    kind: TextKind::Text,
                    text: text.to_owned(),
                });
                state.apply(Millis(0), &started).unwrap();
                state.apply(Millis(0), &delta).unwrap();
            }
            state.hash()
        };
        assert_ne!(told(["one", "two"]), told(["two", "one"]));
        assert_eq!(told(["one", "two"]), told(["one", "two"]));
    }

    proptest! {
        #[test]
        fn any_cut_of_a_stream_gives_the_same(text: Vec<u8>, cuts: [prop::sample::Index; 3]) {
            let mut cuts = cuts.map(|cut| if text.is_empty() { 0 } else { cut.index(text.len()) });
            cuts.sort_unstable();
            let [a, b, c] = cuts;
            let parts = [&text[..a], &text[a..b], &text[b..c], &text[c..]];
            prop_assert_eq!(parts.iter().fold(START, |hash, part| bytes(hash, part)), bytes(START, &text));
        }

        #[test]
        fn another_text_is_another_hash(text: Vec<u8>, other: Vec<u8>) {
            prop_assert_eq!(text == other, bytes(START, &text) == bytes(START, &other));
        }
    }
}
