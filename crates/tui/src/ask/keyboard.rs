//! Who has the keyboard while a question is on the screen: the question, or where the person writes.
//!
//! States: `Composer` (nothing is asked), `Soon` (it will be the question's by itself), `Waits` (it is the question's when the person
//! moves there with Tab), `Question`. It is decided anew for every key (`Asks::keyboard`); there is nothing to keep in step.
//!
//! Always: while something is being written, or was a moment ago, the question has no key; a question that nobody can have seen yet
//! has none either; a key that is held down answers one question only.

use crate::key::Key;
use domain::ids::Millis;

/// How long nothing may have been typed before the question takes keys by itself: longer than the pause between two words.
pub(crate) const QUIET_MS: u64 = 1_500;
/// How long a question is on the screen before any key can be meant for it.
pub(crate) const SEEN_MS: u64 = 500;
/// The same when it follows an answer and no key came since. With [`HELD_MS`], 0.3 seconds at most.
pub(crate) const ROW_MS: u64 = 200;
/// Keys of the same kind that come faster than this come from a key that is held down: no finger is as fast.
pub(crate) const HELD_MS: u64 = 100;

/// The last key that answered a question, while no other key came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) key: Key,
    /// When it came last.
    pub(crate) at: Millis,
    /// Whether the person had moved to the question to answer it.
    pub(crate) moved: bool,
}

/// Why the question waits until the person moves to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A text stands in the composer.
    Text,
    /// A word is being completed: Tab takes what is offered.
    Completion,
    /// Words are looked for, or something in the conversation is selected.
    Reading,
    /// They moved away from it.
    Left,
}

/// Where the next key goes while there may be a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyboard {
    /// No question wants it.
    Composer,
    /// The composer; the question gets it by itself at this time if nothing is typed (`None`: some time after it was drawn).
    Soon(Option<Millis>),
    /// The composer, until the person moves to the question.
    Waits(Waits),
    Question,
}
