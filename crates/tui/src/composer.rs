//! The composer: where the person writes, with earlier prompts, what may be completed and what goes along. Pure; drawing is in `view`.

mod completing;
mod edit;
mod history;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use completing::{Chosen, Lookup};
pub(crate) use edit::Editor;
pub(crate) use layout::{ComposerRows, lay_out};

use crate::clean::clean_line;
use crate::complete::Completion;
use crate::key::Key;
use domain::content::Part;
use edit::FoldedText;
use history::History;

/// Pictures that go along with one prompt at most.
pub(crate) const MAX_ATTACHED: usize = 8;

/// What the person is about to say.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    editor: Editor,
    history: History,
    /// What may be completed at the caret.
    completion: Option<Completion>,
    /// Skills that the runtime named, with what they are for.
    skills: Vec<(String, String)>,
    /// Models that the runtime named, with what is told of them.
    models: Vec<(String, String)>,
    /// What the runtime thinks may be typed next.
    suggestion: Option<String>,
    /// Pictures that go along with the next prompt: name and part.
    attached: Vec<(String, Part)>,
}

impl Composer {
    /// The text as it is shown.
    pub(crate) fn text(&self) -> &str {
        self.editor.text()
    }

    /// The text with folded pastes put back.
    pub(crate) fn unfolded(&self) -> String {
        self.editor.unfolded()
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    /// The text in rows of so many columns, with its caret.
    pub(crate) fn laid_out(&self, columns: usize) -> ComposerRows {
        lay_out(self.editor.text(), self.editor.caret(), columns)
    }

    /// Puts another text in place; can be undone.
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.editor.set(text);
    }

    /// Puts text at the caret.
    pub(crate) fn insert(&mut self, text: &str) {
        self.editor.insert(text);
    }

    /// Text from the clipboard.
    pub(crate) fn paste(&mut self, text: &str) {
        self.editor.paste(text);
    }

    /// Takes the text out, with folded pastes put back.
    pub(crate) fn take(&mut self) -> String {
        self.editor.take().unfolded()
    }

    /// Takes the text out and makes it the newest of the earlier prompts; what it was, with folded pastes put back.
    pub(crate) fn put_away(&mut self) -> String {
        let written = self.editor.take();
        let text = written.unfolded();
        self.history.remember(written);
        text
    }

    /// Takes the text out to be said, and remembers it; `None` when there is nothing to say.
    pub(crate) fn submit(&mut self) -> Option<String> {
        if self.editor.text().trim().is_empty() {
            return None;
        }
        self.completion = None;
        self.suggestion = None;
        Some(self.put_away().trim_end().to_owned())
    }

    /// Gives a text that was not heard back, before what stands there.
    pub(crate) fn give_back(&mut self, text: &str) {
        let kept = self.editor.unfolded();
        self.editor.set(joined(text, &kept));
    }

    /// Does what the key means to a text; who edits no longer walks through earlier prompts.
    pub(crate) fn key(&mut self, key: Key) {
        if self.editor.key(key) {
            self.history.stay();
        }
    }

    /// A backslash at the caret becomes a new line; `false` when there is none.
    pub(crate) fn break_line(&mut self) -> bool {
        let before = self.editor.text()[..self.editor.caret()].ends_with('\\');
        if before {
            self.editor.complete(self.editor.caret() - 1, "\n");
        }
        before
    }

    /// Moves the caret by a row; past the first or last row, walks through earlier prompts.
    pub(crate) fn vertical(&mut self, step: isize, columns: usize) {
        let text = self.editor.text();
        let laid = self.laid_out(columns);
        let row = laid.caret.row.checked_add_signed(step).filter(|row| *row < laid.rows.len());
        let walks = self.history.is_walking() && step < 0 && self.editor.caret() == text.len();
        match row {
            Some(row) if !walks => {
                let at = laid.byte_at(text, row, laid.caret.column);
                self.editor.move_to(at);
            }
            _ if step < 0 => self.earlier(),
            _ => self.later(),
        }
    }

    /// Brings the earlier prompt; what was being written is kept for the way back.
    pub(crate) fn earlier(&mut self) {
        if let Some(written) = self.history.earlier(self.editor.written()) {
            self.editor.put(written);
        }
    }

    /// Brings the prompt after it, at last what was being written.
    pub(crate) fn later(&mut self) {
        if let Some(written) = self.history.later() {
            self.editor.put(written);
        }
    }

    /// Prompts of earlier days.
    pub(crate) fn load(&mut self, earlier: Vec<String>) {
        self.history.load(earlier);
    }

    /// Makes a text the newest of the earlier prompts.
    pub(crate) fn remember(&mut self, text: String) {
        self.history.remember(FoldedText::plain(text));
    }

    /// Whether there are earlier prompts.
    pub(crate) fn has_prompts(&self) -> bool {
        !self.history.is_empty()
    }

    /// All earlier prompts, newest first, each once.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.history.newest_first()
    }

    /// Puts an earlier prompt in place as it was written: its pastes stay folded.
    pub(crate) fn recall(&mut self, text: &str) {
        match self.history.written(text) {
            Some(written) => self.editor.put(written),
            None => self.editor.set(text),
        }
    }

    /// What the runtime thinks may be typed next.
    pub(crate) fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// The runtime thinks that this may be typed next.
    pub(crate) fn suggest(&mut self, text: String) {
        self.suggestion = Some(text);
    }

    /// Takes the suggestion, where nothing is written; either way it is gone.
    pub(crate) fn take_suggestion(&mut self) {
        if let Some(text) = self.suggestion.take().filter(|_| self.editor.is_empty()) {
            self.editor.set(text);
        }
    }

    /// A picture goes along with the next prompt; `false` when there are too many.
    pub(crate) fn attach(&mut self, name: &str, part: Part) -> bool {
        let room = self.attached.len() < MAX_ATTACHED;
        if room {
            self.attached.push((clean_line(name), part));
        }
        room
    }

    /// The names of the pictures that go along.
    pub(crate) fn attached(&self) -> Vec<&str> {
        self.attached.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The pictures go along with what is said now, or with nothing.
    pub(crate) fn take_attached(&mut self) -> Vec<Part> {
        self.attached.drain(..).map(|(_, part)| part).collect()
    }
}

/// A text before what is there already.
pub(crate) fn joined(text: &str, kept: &str) -> String {
    if kept.is_empty() { text.to_owned() } else { format!("{text}\n{kept}") }
}
