//! Queue policy: steer before follow-up; one at a time or all, read when a turn is begun. Pure.

use crate::content::Input;
use crate::ids::QueuedId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Most inputs that may wait in one queue.
pub const MAX_QUEUED: usize = 256;
/// Most bytes of text and attachments that may wait in one session.
pub const MAX_QUEUED_BYTES: usize = 32 * 1024 * 1024;

/// Steers reach the agent within a run, follow-ups when it would stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// Heard as soon as the current step's tool call is over.
    Steer,
    /// Heard when the model has nothing more to do.
    FollowUp,
}

/// How many inputs a turn takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    OneAtATime,
    /// All of that queue, joined.
    All,
}

/// What began a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run's prompt.
    Prompt,
    /// A steer that waited.
    Steer,
    /// A follow-up that waited.
    FollowUp,
}

/// An input that waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Waiting {
    pub id: QueuedId,
    pub input: Input,
    /// By which UI, in words.
    pub by: Option<String>,
}

/// Both queues of a session and their modes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Queues {
    /// Steers, oldest first.
    pub steer: VecDeque<Waiting>,
    /// Follow-ups, oldest first.
    pub follow_up: VecDeque<Waiting>,
    /// How many steers a turn takes.
    pub steer_mode: Mode,
    /// How many follow-ups a turn takes.
    pub follow_up_mode: Mode,
}

/// What the next turn is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Which queue it came from.
    pub cause: Cause,
    /// The items, which leave the queue.
    pub items: Vec<QueuedId>,
    /// What the turn says: the items joined by line breaks.
    pub input: Input,
}

impl Queues {
    /// The queue of this kind.
    pub fn of(&self, kind: QueueKind) -> &VecDeque<Waiting> {
        match kind {
            QueueKind::Steer => &self.steer,
            QueueKind::FollowUp => &self.follow_up,
        }
    }

    /// The queue of this kind, to change.
    pub fn of_mut(&mut self, kind: QueueKind) -> &mut VecDeque<Waiting> {
        match kind {
            QueueKind::Steer => &mut self.steer,
            QueueKind::FollowUp => &mut self.follow_up,
        }
    }

    /// How many of its inputs a turn takes.
    pub fn mode(&self, kind: QueueKind) -> Mode {
        match kind {
            QueueKind::Steer => self.steer_mode,
            QueueKind::FollowUp => self.follow_up_mode,
        }
    }

    /// All that wait, steers first.
    pub fn all(&self) -> impl Iterator<Item = (QueueKind, &Waiting)> {
        let steer = self.steer.iter().map(|w| (QueueKind::Steer, w));
        steer.chain(self.follow_up.iter().map(|w| (QueueKind::FollowUp, w)))
    }

    /// Finds a waiting input to change.
    pub fn find_mut(&mut self, id: QueuedId) -> Option<&mut Waiting> {
        self.steer.iter_mut().chain(self.follow_up.iter_mut()).find(|w| w.id == id)
    }

    /// Takes one out.
    pub fn remove(&mut self, id: QueuedId) -> Option<Waiting> {
        for queue in [&mut self.steer, &mut self.follow_up] {
            if let Some(at) = queue.iter().position(|w| w.id == id) {
                return queue.remove(at);
            }
        }
        None
    }

    /// What the next turn would be; changes nothing, since only events change a session.
    pub fn next_turn(&self) -> Option<Taken> {
        for (kind, cause) in [(QueueKind::Steer, Cause::Steer), (QueueKind::FollowUp, Cause::FollowUp)] {
            let queue = self.of(kind);
            let count = match self.mode(kind) {
                Mode::OneAtATime => 1,
                Mode::All => queue.len(),
            };
            let taken: Vec<&Waiting> = queue.iter().take(count).collect();
            if !taken.is_empty() {
                let text = taken.iter().map(|w| w.input.text.as_str()).collect::<Vec<_>>().join("\n");
                let attachments = taken.iter().flat_map(|w| w.input.attachments.iter().cloned()).collect();
                let items = taken.iter().map(|w| w.id).collect();
                return Some(Taken { cause, items, input: Input { text, attachments } });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
