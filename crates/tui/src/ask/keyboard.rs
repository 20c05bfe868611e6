//! Who has the keyboard while a question is on the screen: the question, or where the person writes.
//!
//! States: `Composer` (nothing is asked), `Soon` (it will be the question's by itself), `Waits` (it is the question's when the person
//! moves there with Tab), `Question`. It is decided anew for every key from what the model holds; there is nothing to keep in step.
//!
//! Always: while something is being written, or was a moment ago, the question has no key; a question that nobody can have seen yet
//! has none either; a key that is held down answers one question only.

use super::Focus;
use crate::key::Key;
use crate::model::Model;
use crate::overlay::{Content, Overlay};
use domain::ids::Millis;

/// How long nothing may have been typed before the question takes keys by itself: longer than the pause between two words.
pub const QUIET_MS: u64 = 1_500;
/// How long a question is on the screen before any key can be meant for it.
pub const SEEN_MS: u64 = 500;
/// The same when it follows an answer and no key came since. With [`HELD_MS`], 0.3 seconds at most.
pub const ROW_MS: u64 = 200;
/// Keys of the same kind that come faster than this come from a key that is held down: no finger is as fast.
pub const HELD_MS: u64 = 100;

/// The last key that answered a question, while no other key came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    pub key: Key,
    /// When it came last.
    pub at: Millis,
    /// Whether the person had moved to the question to answer it.
    pub moved: bool,
}

/// Why the question waits until the person moves to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
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
pub enum Keyboard {
    /// No question wants it.
    Composer,
    /// The composer; the question gets it by itself at this time if nothing is typed (`None`: some time after it was drawn).
    Soon(Option<Millis>),
    /// The composer, until the person moves to the question.
    Waits(Waits),
    Question,
}

/// Decides it from what is open, what was typed and how long the question has been in sight.
pub fn keyboard(model: &Model) -> Keyboard {
    let screen = &model.screen;
    let Some(panel) = screen.ask.as_ref().filter(|panel| !panel.answered) else { return Keyboard::Composer };
    let Some(seen_at) = panel.seen_at() else { return Keyboard::Soon(None) };
    let from = |at: Millis| {
        if screen.now >= at { Keyboard::Question } else { Keyboard::Soon(Some(at)) }
    };
    match panel.focus {
        Focus::Question => from(seen_at),
        _ if screen.completion.as_ref().is_some_and(|completion| !completion.offers.is_empty()) => {
            Keyboard::Waits(Waits::Completion)
        }
        Focus::Composer => Keyboard::Waits(Waits::Left),
        Focus::Auto if !screen.composer.is_empty() => Keyboard::Waits(Waits::Text),
        Focus::Auto if screen.search.is_some() || screen.selected.is_some() => {
            Keyboard::Waits(Waits::Reading)
        }
        Focus::Auto => from(screen.typed_at.map_or(seen_at, |at| seen_at.max(Millis(at.0 + QUIET_MS)))),
    }
}

/// Whether something stands over the question.
pub(crate) fn is_covered(model: &Model) -> bool {
    match &model.screen.overlay {
        Some(Overlay::Pager(pager)) => pager.content != Content::Ask,
        Some(Overlay::Picker(_)) => true,
        None => false,
    }
}

/// Whether a question waits to be drawn: it can be seen from the next frame on.
pub(crate) fn is_unseen(model: &Model) -> bool {
    model.screen.ask.as_ref().is_some_and(|panel| panel.shown_at.is_none()) && !is_covered(model)
}
