//! A rolling hash of the state, so that two sides can prove that they agree.
//!
//! Each entity (an entry of the tree, a tool run) adds the hash of its canonical bytes to one sum, so that an event costs as much as what
//! it changes; the hash of the state is over that sum and the rest of it. Text is hashed as a stream, so that the cut into deltas does
//! not matter. The stream is a polynomial in its bytes, so that eight are taken at once, and what becomes part of a sum is mixed first,
//! so that texts that changed places are noticed. It detects drift between friends; it is no defence against a forger.
//!
//! This is the hash of native revision 2, told byte by byte in docs/native-protocol.md; `revision_1` is the one before.

mod revision_1;

use super::canonical::{Canonical, Hex, Object, Sink};
use super::{Entry, EntryKind, Message, State};
use crate::content::{Part, Role, TextKind};
use crate::ids::{EntryId, MessageId, StepId, TurnId};
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

fn of(value: &impl Canonical) -> u64 {
    let mut roll = Roll::from(START);
    value.put(&mut roll);
    mixed(roll.end())
}

/// Opens a streamed part. No UTF-8 text has such a byte, so that a text cannot pass for two.
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
        part => {
            let mut roll = Roll::from(roll);
            roll.take(&[0xfa]);
            part.put(&mut roll);
            roll.end()
        }
    }
}

/// How a message began: the body of that event.
pub(super) struct Started {
    pub(super) message: MessageId,
    pub(super) parent: Option<EntryId>,
    pub(super) role: Role,
    pub(super) turn: Option<TurnId>,
    pub(super) step: Option<StepId>,
}

impl Started {
    pub(super) fn hash(&self) -> u64 {
        of(self)
    }
}

impl Canonical for Started {
    fn put<S: Sink>(&self, to: &mut S) {
        let Started { message, parent, role, turn, step } = self;
        Object::begin(to)
            .within("message_started", |o| {
                o.member("message", message)
                    .member("parent", parent)
                    .member("role", role)
                    .member("step", step)
                    .member("turn", turn)
            })
            .end();
    }
}

/// A message has changed: what it adds to the sum is another number now.
pub(super) fn count_message(entities: &mut u64, message: &mut Message) {
    let (before, now) = (message.added, of(message));
    *entities = entities.wrapping_sub(before).wrapping_add(now);
    message.added = now;
}

/// The same for a tool run.
pub(super) fn count_tool(entities: &mut u64, tool: &mut ToolRun) {
    let (before, now) = (tool.added, of(tool));
    *entities = entities.wrapping_sub(before).wrapping_add(now);
    tool.added = now;
}

/// An entry is new: it adds to the sum.
pub(super) fn count_entry(entities: &mut u64, entry: &mut Entry) {
    match &mut entry.kind {
        EntryKind::Message(message) => count_message(entities, message),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => *entities = entities.wrapping_add(of(entry)),
    }
}

impl Canonical for Message {
    fn put<S: Sink>(&self, to: &mut S) {
        Object::begin(to)
            .member("finish", &self.finish)
            .member("parts", Hex(mixed(self.roll)))
            .member("run", self.run)
            .member("started", Hex(self.started))
            .end();
    }
}

impl Canonical for Entry {
    fn put<S: Sink>(&self, to: &mut S) {
        let Entry { id, parent, at: _, kind } = self;
        match kind {
            EntryKind::Message(message) => message.put(to),
            EntryKind::Compaction(compaction) => Object::begin(to)
                .within("compacted", |o| {
                    o.member("compaction", compaction).member("entry", id).member("parent", parent)
                })
                .end(),
            EntryKind::Notice { level, code, text, run } => Object::begin(to)
                .within("noticed", |o| {
                    o.member("code", code)
                        .member("entry", id)
                        .member("level", level)
                        .member("parent", parent)
                        .member("run", run)
                        .member("text", text)
                })
                .end(),
        }
    }
}

/// The body of the event that proposed it.
struct Proposal<'a>(&'a ToolRun);

impl Canonical for Proposal<'_> {
    fn put<S: Sink>(&self, to: &mut S) {
        let ToolRun { id, message, name, args, .. } = self.0;
        Object::begin(to)
            .within("tool_proposed", |o| {
                o.member("args", args).member("message", message).member("name", name).member("tool", id)
            })
            .end();
    }
}

/// The part of a tool run that never changes.
pub(super) fn proposal(tool: &ToolRun) -> u64 {
    of(&Proposal(tool))
}

impl Canonical for ToolRun {
    fn put<S: Sink>(&self, to: &mut S) {
        let tool = Object::begin(to)
            .member("decision", &self.decision)
            .member("output", Hex(mixed(self.roll)))
            .member("phase", &self.phase)
            .member("proposed", Hex(self.proposed))
            .member("result", &self.result);
        match &self.status {
            Some((percent, message)) => {
                let percent = percent.map(u64::from);
                tool.within("status", |o| o.member("message", message).member("percent", percent))
            }
            None => tool,
        }
        .end();
    }
}

/// Its entities count as their sum. Times are left out: clocks differ.
impl Canonical for State {
    fn put<S: Sink>(&self, to: &mut S) {
        Object::begin(to)
            .member("asks", &self.asks)
            .member("context", self.context)
            .member("context_rough", self.context_rough)
            .member("entities", Hex(self.entities))
            .member("leaf", self.leaf)
            .member("plan", &self.plan)
            .member("queues", &self.queues)
            .member("run", self.runs.last())
            .member("runs", self.runs.len() as u64)
            .member("seq", self.seq)
            .member("settings", &self.settings)
            .member("usage", self.usage)
            .end();
    }
}

impl State {
    /// The hash of everything that was said and decided.
    pub fn hash(&self) -> StateHash {
        StateHash(of(self))
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
