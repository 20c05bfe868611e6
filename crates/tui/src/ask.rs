//! The question on the screen: one panel for every kind of ask, whatever dialect it came by.
//!
//! Invariants: the oldest open ask is shown and stays until it is closed; a key counts only while the question has the keyboard
//! (`asks.rs`), so that a word being typed never answers it; a key that answers is on the screen (`offers.rs`), and so is the
//! rule that it makes; nobody says yes before every row of it was on the screen; an answer is bound to what was shown.

mod asks;
mod keyboard;
mod keys;
mod offers;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod words;

use crate::composer::Editor;
use crate::fuzzy::rank;
use domain::ask::{Ask, AskKind};
use domain::ids::{AskId, Millis};
use std::collections::BTreeSet;

pub(crate) use asks::{Around, AskStatus, Asks, Moved, Pressed, TextOwner};
pub(crate) use keyboard::{Answered, HELD_MS, Keyboard, QUIET_MS, ROW_MS, SEEN_MS, Waits};
pub(crate) use keys::Reply;
pub(crate) use offers::{Offer, Reach, Sees, of_page, row};
pub(crate) use view::{DrawnPanel, Full, Room, Scene, draw, full};
pub(crate) use words::{bar_style, page_title};

/// Choices up to which each has a digit, and no filter is needed.
const MAX_NUMBERED: usize = 9;

/// The digits that choose among so many, as they are told.
fn numbers(choices: usize) -> Option<&'static str> {
    const TOLD: [&str; MAX_NUMBERED] = ["1", "1 2", "1–3", "1–4", "1–5", "1–6", "1–7", "1–8", "1–9"];
    TOLD.get(choices.checked_sub(1)?).copied()
}

/// What the person is doing with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PanelMode {
    /// Deciding.
    #[default]
    Menu,
    /// Writing why not.
    Reason,
}

/// Where the person wants the keyboard to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Focus {
    /// They have not said: with the question as soon as nothing is being written.
    #[default]
    Auto,
    /// With the question: they moved there, or use it already.
    Question,
    /// With the composer: they moved there.
    Composer,
}

/// An answer that waits a moment, because its key may be held down since the question before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldReply {
    /// What the key means.
    reply: Reply,
    /// When it counts, unless the key comes again.
    until: Millis,
}

/// The question on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskPanel {
    id: AskId,
    /// Since when it can be seen; `None` while nothing of it was drawn, or something covers it.
    shown_at: Option<Millis>,
    /// Whether no key came since the question before it was answered.
    in_a_row: bool,
    /// Where the person wants the keyboard to be.
    focus: Focus,
    /// Whether it was answered and the runtime has not said so yet.
    answered: bool,
    /// An answer that waits a moment.
    held: Option<HeldReply>,
    /// What the person is doing with it.
    mode: PanelMode,
    /// The text being written: an answer, a reason, a filter.
    editor: Editor,
    /// The line of the list under the cursor.
    cursor: usize,
    /// What was taken, by its place in the list.
    taken: BTreeSet<usize>,
    /// How much of it was on the page that shows all of it.
    viewed: Viewed,
}

/// The part of the page that is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Columns of the page: its rows are others where it is wider.
    pub(crate) columns: usize,
    /// Rows of the page in all.
    pub(crate) rows: usize,
    /// The first row in sight.
    pub(crate) top: usize,
    /// Rows in sight, from that one on.
    pub(crate) fits: usize,
}

/// How much of the page was on the screen, row by row from its beginning: a jump to its end shows nothing of what lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Viewed {
    columns: usize,
    /// Rows from the first one that were all in sight.
    rows: usize,
    /// Whether all of it was, once.
    all: bool,
}

impl Viewed {
    /// With what is in sight now.
    fn and(self, sight: Sight) -> Viewed {
        let before = if self.columns == sight.columns { self.rows } else { 0 };
        let rows = if sight.top <= before { before.max(sight.top + sight.fits) } else { before };
        Viewed { columns: sight.columns, rows, all: self.all || rows >= sight.rows && sight.fits > 0 }
    }
}

impl AskPanel {
    /// The panel of an ask that comes now; `before` is how the last question was answered, if no key came since.
    fn open(ask: &Ask, now: Millis, before: Option<Answered>) -> AskPanel {
        let text = match &ask.kind {
            AskKind::Text { default: Some(text), .. } => text.clone(),
            AskKind::Edit { prefill, .. } => prefill.clone(),
            AskKind::Text { .. } | AskKind::Consent(_) | AskKind::Confirm { .. } | AskKind::Choose { .. } => {
                String::new()
            }
        };
        // Who moved to a question and answered it is still there for the next one, when it follows at once.
        let stays = before.is_some_and(|before| before.moved && now.since(before.at) < QUIET_MS);
        AskPanel {
            id: ask.id,
            shown_at: None,
            in_a_row: before.is_some(),
            focus: if stays { Focus::Question } else { Focus::Auto },
            answered: false,
            held: None,
            mode: PanelMode::Menu,
            editor: Editor::with(text),
            cursor: 0,
            taken: BTreeSet::new(),
            viewed: Viewed::default(),
        }
    }

    /// The runtime did not take the answer: the question is open again, as if it had just come.
    fn reopen(&mut self) {
        self.answered = false;
        self.shown_at = None;
        self.in_a_row = false;
    }

    /// Whether every row of it was on the page that shows all of it.
    pub(crate) fn is_viewed(&self) -> bool {
        self.viewed.all
    }

    /// When it was long enough on the screen for a key to be meant for it; `None` while it cannot be seen.
    fn seen_at(&self) -> Option<Millis> {
        let after = if self.in_a_row { ROW_MS } else { SEEN_MS };
        self.shown_at.map(|at| Millis(at.0 + after))
    }

    /// Whether there is a field on the screen in which the person writes.
    fn has_field(&self, ask: &Ask) -> bool {
        match &ask.kind {
            AskKind::Consent(_) => self.mode == PanelMode::Reason,
            AskKind::Confirm { .. } => false,
            AskKind::Choose { choices, .. } => self.has_filter(choices.len()),
            AskKind::Text { .. } | AskKind::Edit { .. } => true,
        }
    }

    /// Whether a list of so many choices shows its filter.
    fn has_filter(&self, choices: usize) -> bool {
        choices > MAX_NUMBERED
    }

    /// The choices that fit the filter, by their place in the list.
    fn shown(&self, ask: &Ask) -> Vec<usize> {
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
