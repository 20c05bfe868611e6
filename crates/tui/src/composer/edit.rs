//! A multi-line text with a caret, the emacs and the common keys, undo and folded pastes.
//!
//! Invariant: the caret stands on a grapheme boundary. Big pastes stand in the text as a short mark and are put back when it is sent.

use crate::figures::counted;
use crate::key::{Code, Key};
use unicode_segmentation::UnicodeSegmentation;

/// Most undo steps.
const MAX_UNDO: usize = 200;
/// Longest text that can be composed, in bytes.
const MAX_TEXT: usize = 4 * 1024 * 1024;
/// A paste of more lines than this is folded.
const FOLD_LINES: usize = 10;
/// A paste of more bytes than this is folded.
const FOLD_BYTES: usize = 2_000;

/// A text that was taken out, with its pastes still folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FoldedText {
    shown: String,
    /// Marks that stand in the text, each with what it stands for.
    folds: Vec<(String, String)>,
}

impl FoldedText {
    /// A text without folded pastes.
    pub(crate) fn plain(text: impl Into<String>) -> FoldedText {
        FoldedText { shown: text.into(), folds: Vec::new() }
    }

    /// Whether nothing was written.
    pub(crate) fn is_blank(&self) -> bool {
        self.shown.trim().is_empty()
    }

    /// The text with folded pastes put back.
    pub(crate) fn unfolded(&self) -> String {
        let mut text = self.shown.clone();
        for (mark, paste) in &self.folds {
            text = text.replace(mark, paste);
        }
        text
    }
}

/// The text under the person's hands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Editor {
    text: String,
    caret: usize,
    undone: Vec<(String, usize)>,
    undo: Vec<(String, usize)>,
    killed: String,
    folds: Vec<(String, String)>,
    typing: bool,
}

impl Editor {
    /// An editor that holds `text`, the caret at its end.
    pub(crate) fn with(text: impl Into<String>) -> Editor {
        let text = text.into();
        Editor { caret: text.len(), text, ..Editor::default() }
    }

    /// The text as it is shown.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The caret, in bytes.
    pub(crate) fn caret(&self) -> usize {
        self.caret
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with folded pastes put back.
    pub(crate) fn unfolded(&self) -> String {
        self.written().unfolded()
    }

    /// The text as it stands, its pastes folded.
    pub(crate) fn written(&self) -> FoldedText {
        let stands = |(mark, _): &&(String, String)| self.text.contains(mark.as_str());
        FoldedText { shown: self.text.clone(), folds: self.folds.iter().filter(stands).cloned().collect() }
    }

    /// Puts a text in place that was taken out, its pastes folded as they were; can be undone.
    pub(crate) fn put(&mut self, written: FoldedText) {
        self.set(written.shown);
        for (mark, paste) in written.folds {
            // The text that stood here before can still be brought back, so its pastes stay known.
            self.folds.retain(|(known, _)| *known != mark);
            self.folds.push((mark, paste));
        }
    }

    /// Puts another text in place; can be undone.
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.checkpoint();
        self.text = text.into();
        self.text.truncate(floor(&self.text, MAX_TEXT));
        self.caret = self.text.len();
    }

    /// Takes the text out, its pastes folded.
    pub(crate) fn take(&mut self) -> FoldedText {
        let written = self.written();
        *self = Editor { killed: std::mem::take(&mut self.killed), ..Editor::default() };
        written
    }

    /// Text from the clipboard: big ones are folded to a mark.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = crate::clean::clean(text).into_owned();
        let lines = text.lines().count();
        self.checkpoint();
        if lines > FOLD_LINES || text.len() > FOLD_BYTES {
            let mark = self.new_mark(lines, text.chars().count());
            self.insert(&mark);
            self.folds.push((mark, text));
        } else {
            self.insert(&text);
        }
    }

    /// A mark that stands for nothing yet, not even in a text that can be brought back.
    fn new_mark(&self, lines: usize, characters: usize) -> String {
        let here = self.folds.iter().filter(|(mark, _)| self.text.contains(mark.as_str())).count();
        let mut marks = (here + 1..).map(|number| {
            format!("[paste {number}: {}, {characters} characters]", counted(lines as u64, "line"))
        });
        let is_new = |mark: &String| self.folds.iter().all(|(known, _)| known != mark);
        marks.find(is_new).unwrap_or_default()
    }

    /// Puts text at the caret.
    pub(crate) fn insert(&mut self, text: &str) {
        if self.text.len() + text.len() <= MAX_TEXT {
            self.text.insert_str(self.caret, text);
            self.caret += text.len();
        }
    }

    /// Puts `text` in the place of the bytes from `from` to the caret.
    pub(crate) fn complete(&mut self, from: usize, text: &str) {
        self.checkpoint();
        let from = floor(&self.text, from.min(self.caret));
        self.text.replace_range(from..self.caret, text);
        self.caret = from + text.len();
    }

    /// Does what the key means here; `false` when it means nothing.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        if let Some(c) = key.typed() {
            if !self.typing || c == ' ' {
                self.checkpoint();
            }
            self.typing = true;
            self.insert(c.encode_utf8(&mut [0; 4]));
            return true;
        }
        self.typing = false;
        match (key.code, key.ctrl, key.alt) {
            (Code::Left, false, false) | (Code::Char('b'), true, false) => {
                self.caret = self.before(self.caret);
            }
            (Code::Right, false, false) | (Code::Char('f'), true, false) => {
                self.caret = self.after(self.caret);
            }
            (Code::Left, true, _) | (Code::Left, _, true) | (Code::Char('b'), false, true) => {
                self.caret = self.word_before();
            }
            (Code::Right, true, _) | (Code::Right, _, true) | (Code::Char('f'), false, true) => {
                self.caret = self.word_after();
            }
            (Code::Home, false, _) | (Code::Char('a'), true, false) => self.caret = self.line_start(),
            (Code::End, false, _) | (Code::Char('e'), true, false) => self.caret = self.line_end(),
            (Code::Home, true, _) => self.caret = 0,
            (Code::End, true, _) => self.caret = self.text.len(),
            (Code::Backspace, false, false) | (Code::Char('h'), true, false) => {
                self.cut(self.before(self.caret), self.caret);
            }
            (Code::Delete, false, false) | (Code::Char('d'), true, false) => {
                self.cut(self.caret, self.after(self.caret));
            }
            (Code::Backspace, _, true) | (Code::Backspace, true, _) | (Code::Char('w'), true, false) => {
                self.kill(self.word_before(), self.caret);
            }
            (Code::Char('d'), false, true) | (Code::Delete, _, true) | (Code::Delete, true, _) => {
                self.kill(self.caret, self.word_after());
            }
            (Code::Char('u'), true, false) => self.kill(self.line_start(), self.caret),
            (Code::Char('k'), true, false) => {
                let end = self.line_end();
                self.kill(self.caret, if end == self.caret { self.after(end) } else { end });
            }
            (Code::Char('y'), true, false) => {
                self.checkpoint();
                self.insert(&self.killed.clone());
            }
            (Code::Char('t'), true, false) => self.swap(),
            (Code::Char('_' | '/' | '-'), true, false) => self.undo(),
            (Code::Char('z'), false, true) => self.undo(),
            (Code::Char('Z') | Code::Char('_'), false, true) => self.redo(),
            (Code::Char('j'), true, false) => {
                self.checkpoint();
                self.insert("\n");
            }
            _ => return false,
        }
        true
    }

    /// Puts the caret at a byte.
    pub(crate) fn move_to(&mut self, caret: usize) {
        self.caret = floor(&self.text, caret);
        self.typing = false;
    }

    fn checkpoint(&mut self) {
        if self.undo.last().is_none_or(|(text, _)| *text != self.text) {
            self.undo.push((self.text.clone(), self.caret));
            if self.undo.len() > MAX_UNDO {
                self.undo.remove(0);
            }
        }
        self.undone.clear();
        self.typing = false;
    }

    fn undo(&mut self) {
        if let Some((text, caret)) = self.undo.pop() {
            self.undone.push((std::mem::replace(&mut self.text, text), self.caret));
            self.caret = caret;
        }
    }

    fn redo(&mut self) {
        if let Some((text, caret)) = self.undone.pop() {
            self.undo.push((std::mem::replace(&mut self.text, text), self.caret));
            self.caret = caret;
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to {
            self.checkpoint();
            // A folded paste goes as a whole: half a mark would be sent as text.
            let (from, to) = self.whole_marks(from, to);
            self.text.replace_range(from..to, "");
            self.caret = from;
        }
    }

    fn whole_marks(&self, from: usize, to: usize) -> (usize, usize) {
        for (mark, _) in &self.folds {
            if let Some(at) = self.text.find(mark.as_str()) {
                let end = at + mark.len();
                if from < end && to > at {
                    return (from.min(at), to.max(end));
                }
            }
        }
        (from, to)
    }

    fn kill(&mut self, from: usize, to: usize) {
        if from < to {
            self.killed = self.text[from..to].to_owned();
            self.cut(from, to);
        }
    }

    fn swap(&mut self) {
        let middle = if self.caret == self.text.len() { self.before(self.caret) } else { self.caret };
        let (first, last) = (self.before(middle), self.after(middle));
        if first < middle && middle < last {
            self.checkpoint();
            let swapped = format!("{}{}", &self.text[middle..last], &self.text[first..middle]);
            self.text.replace_range(first..last, &swapped);
            self.caret = last;
        }
    }

    fn before(&self, at: usize) -> usize {
        self.text[..at].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self, at: usize) -> usize {
        self.text[at..].graphemes(true).next().map_or(at, |g| at + g.len())
    }

    fn word_before(&self) -> usize {
        let mut words = self.text[..self.caret].unicode_word_indices();
        words.next_back().map_or(0, |(at, _)| at)
    }

    fn word_after(&self) -> usize {
        let mut words = self.text[self.caret..].unicode_word_indices();
        words.next().map_or(self.text.len(), |(at, word)| self.caret + at + word.len())
    }

    fn line_start(&self) -> usize {
        self.text[..self.caret].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.caret..].find('\n').map_or(self.text.len(), |at| self.caret + at)
    }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
