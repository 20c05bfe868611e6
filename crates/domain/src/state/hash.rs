//! A rolling hash of the state, so that two sides can prove that they agree.
//!
//! Each entity (an entry of the tree, a tool run) adds the hash of its canonical bytes to one sum, so that an event costs as much as what
//! it changes; the hash of the state is over that sum and the rest of it. Text is hashed as a stream, so that the cut into deltas does
//! not matter and a delta costs as much as its text. The stream is a polynomial in its bytes, so that eight are taken at once, and what
//! becomes part of a sum is mixed first, so that texts that changed places are noticed. It detects drift between friends; it is no
//! defence against a forger.
//!
//! This is the hash of native revision 2, told byte by byte in docs/native-protocol.md; `revision_1` is the one before.

mod revision_1;

use super::canonical::{Canonical, Ended, Proposed, Sink, Started, WrittenPart, mark};
use super::{Entry, EntryKind, State};
use crate::content::{Part, TextKind};
use crate::event::Finish;
use crate::ids::MessageId;
use crate::tool::ToolRun;
use std::fmt;

/// Equal for two sides that hold the same session, however its events were cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateHash(pub u64);

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl StateHash {
    /// The hash of bytes: what a canonical form, or a stream of text, counts as.
    pub fn of(stream: &[u8]) -> StateHash {
        StateHash(mixed(bytes(START, stream)))
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

/// A stream that is fed in small pieces: they are gathered, since eight bytes at once cost little more than one.
struct Roll {
    state: u64,
    held: [u8; 256],
    many: usize,
}

impl Roll {
    fn from(state: u64) -> Roll {
        Roll { state, held: [0; 256], many: 0 }
    }

    fn end(&self) -> u64 {
        bytes(self.state, &self.held[..self.many])
    }
}

impl Sink for Roll {
    #[inline]
    fn take(&mut self, input: &[u8]) {
        if let Some(room) = self.held.get_mut(self.many..self.many + input.len()) {
            room.copy_from_slice(input);
            self.many += input.len();
            return;
        }
        self.state = bytes(self.end(), input);
        self.many = 0;
    }
}

/// The stream goes on with these canonical bytes.
fn fed(state: u64, value: &impl Canonical) -> u64 {
    let mut roll = Roll::from(state);
    value.put(&mut roll);
    roll.end()
}

/// A part of a message begins that is streamed.
pub(super) fn begin_part(roll: u64, kind: TextKind) -> u64 {
    bytes(roll, &[mark(kind)])
}

/// A whole part; equal to the same text streamed.
pub(super) fn whole_part(roll: u64, part: &Part) -> u64 {
    fed(roll, &WrittenPart(part))
}

/// A message begins, as this event says.
pub(super) fn started(event: &Started) -> u64 {
    fed(START, event)
}

/// A message ends.
pub(super) fn ended(roll: u64, message: MessageId, finish: &Finish) -> u64 {
    fed(roll, &Ended { message, finish })
}

/// A tool run begins: its output is a stream behind how it was proposed.
pub(super) fn proposed(tool: &ToolRun) -> u64 {
    fed(START, &Proposed(tool))
}

/// What a stream adds to the sum of its state is another number now.
pub(super) fn exchange_stream(entities: &mut u64, before: u64, after: u64) {
    *entities = entities.wrapping_sub(mixed(before)).wrapping_add(mixed(after));
}

/// A stream is new.
pub(super) fn add_stream(entities: &mut u64, roll: u64) {
    *entities = entities.wrapping_add(mixed(roll));
}

/// An entry is new.
pub(super) fn add_entry(entities: &mut u64, entry: &Entry) {
    match &entry.kind {
        EntryKind::Message(message) => add_stream(entities, message.roll),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => add_stream(entities, fed(START, entry)),
    }
}

/// A tool run stands otherwise: what that adds to the sum is another number now.
pub(super) fn count_standing(entities: &mut u64, tool: &mut ToolRun) {
    let (before, now) = (tool.added, mixed(fed(START, tool)));
    *entities = entities.wrapping_sub(before).wrapping_add(now);
    tool.added = now;
}

impl State {
    /// The hash of everything that was said and decided.
    pub fn hash(&self) -> StateHash {
        StateHash(mixed(fed(START, self)))
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
