//! The question on the screen: one panel for every kind of ask, whatever dialect it came by.
//!
//! Invariants: the oldest open ask is shown and stays until it is closed; keys count only after a pause of [`GRACE_MS`] without
//! typing since it came, so that a word being typed never answers it; an answer is bound to what was shown.

mod keys;
#[cfg(test)]
pub(crate) mod tests;
mod view;

use crate::composer::Editor;
use crate::fuzzy::rank;
use domain::ask::{Ask, AskKind};
use domain::ids::{AskId, Millis};
use std::collections::BTreeSet;

pub use keys::Reply;
pub use view::{Room, full, rows};

/// How long nothing may be typed before keys answer.
pub const GRACE_MS: u64 = 300;

/// What the person is doing with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// Deciding.
    #[default]
    Menu,
    /// Writing why not.
    Reason,
}

/// The question on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskPanel {
    /// Which.
    pub id: AskId,
    /// From when on keys count.
    pub armed_at: Millis,
    /// Whether it was answered and the runtime has not said so yet.
    pub answered: bool,
    /// What the person is doing with it.
    pub stage: Stage,
    /// The text being written: an answer, a reason, a filter.
    pub editor: Editor,
    /// The line of the list under the cursor.
    pub cursor: usize,
    /// What was taken, by its place in the list.
    pub taken: BTreeSet<usize>,
}

impl AskPanel {
    /// The panel of an ask that comes now.
    pub fn open(ask: &Ask, now: Millis) -> AskPanel {
        let text = match &ask.kind {
            AskKind::Text { default: Some(text), .. } => text.clone(),
            AskKind::Edit { prefill, .. } => prefill.clone(),
            AskKind::Text { .. } | AskKind::Consent(_) | AskKind::Confirm { .. } | AskKind::Choose { .. } => {
                String::new()
            }
        };
        AskPanel {
            id: ask.id,
            armed_at: Millis(now.0 + GRACE_MS),
            answered: false,
            stage: Stage::Menu,
            editor: Editor::with(text),
            cursor: 0,
            taken: BTreeSet::new(),
        }
    }

    /// Whether keys count.
    pub fn is_armed(&self, now: Millis) -> bool {
        now >= self.armed_at
    }

    /// The choices that fit the filter, by their place in the list.
    pub fn shown(&self, ask: &Ask) -> Vec<usize> {
        match &ask.kind {
            AskKind::Choose { choices, .. } => {
                let labels: Vec<String> = choices
                    .iter()
                    .map(|c| format!("{} {}", c.label, c.detail.as_deref().unwrap_or("")))
                    .collect();
                rank(self.editor.text(), &labels)
            }
            AskKind::Consent(_) | AskKind::Confirm { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
                Vec::new()
            }
        }
    }
}
