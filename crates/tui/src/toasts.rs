//! Words in passing: shown for a while, then kept to be read again.

use crate::clean::clean_line;
use domain::ids::Millis;
use domain::signal::Level;
use std::collections::VecDeque;

/// Toasts kept on the screen at once.
const MAX_TOASTS: usize = 3;
/// Words that came and went, kept to be read again.
const MAX_NOTICES: usize = 100;
/// How long a toast stays.
const TOAST_MS: u64 = 6_000;

/// What a word is about: it goes with that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Nothing that could be over before the word is read.
    Itself,
    /// The question on the screen.
    Question,
    /// One that was there before, and how it ended.
    EarlierQuestion,
    /// The run under way.
    Run,
    /// What goes along with the next prompt, or does not.
    Prompt,
    /// That a second key quits.
    Quitting,
    /// That a second Esc edits the last prompt.
    Editing,
    /// The browser that wants to become a device.
    Device,
}

/// A word that shows for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toast {
    pub(crate) level: Level,
    /// The text, clean.
    pub(crate) text: String,
    topic: Topic,
    until: Millis,
}

/// A word that came and went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) at: Millis,
    pub(crate) level: Level,
    /// The text, clean.
    pub(crate) text: String,
}

/// What was said in passing.
#[derive(Debug, Default)]
pub(crate) struct Toasts {
    shown: VecDeque<Toast>,
    notices: VecDeque<Notice>,
    /// How many of them nobody has taken.
    fresh: usize,
}

impl Toasts {
    /// Shows a word for a while, and keeps it.
    pub(crate) fn say(&mut self, now: Millis, level: Level, text: &str, topic: Topic) {
        let text = clean_line(text);
        self.note(now, level, &text);
        self.shown.retain(|toast| toast.text != text);
        self.shown.push_back(Toast { level, text, topic, until: Millis(now.0 + TOAST_MS) });
        while self.shown.len() > MAX_TOASTS {
            self.shown.pop_front();
        }
    }

    /// Keeps a word for whoever looks for it later.
    pub(crate) fn note(&mut self, now: Millis, level: Level, text: &str) {
        if self.notices.len() >= MAX_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(Notice { at: now, level, text: clean_line(text) });
        self.fresh = (self.fresh + 1).min(MAX_NOTICES);
    }

    /// What was said since the last time, for who tells it instead of showing it.
    pub(crate) fn take_fresh(&mut self) -> Vec<Notice> {
        let fresh = std::mem::take(&mut self.fresh);
        self.notices.iter().skip(self.notices.len() - fresh).cloned().collect()
    }

    /// Takes away what was shown long enough.
    pub(crate) fn tick(&mut self, now: Millis) {
        self.shown.retain(|toast| toast.until > now);
    }

    /// What words were about is over.
    pub(crate) fn over(&mut self, topic: Topic) {
        self.shown.retain(|toast| toast.topic != topic);
    }

    /// Shows nothing any more; what was said stays among the notices.
    pub(crate) fn clear(&mut self) {
        self.shown.clear();
    }

    /// What is shown now, oldest first.
    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = &Toast> {
        self.shown.iter()
    }

    /// When what is shown goes.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Millis> {
        self.shown.iter().map(|toast| toast.until)
    }

    /// What came and went, the newest first.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.iter().rev()
    }
}
