//! Looking for words in the conversation: every place where they stand, folded or not, and where in a row. Case does not matter.

use crate::cell;
use crate::composer::Editor;
use crate::key::{Code, Key};
use crate::thread::{CellKey, Thread};
use domain::state::State;

/// Hits that are found at most.
const MAX_FOUND: usize = 10_000;

/// One place where the words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) key: CellKey,
    /// Which of those in its cell, from 0.
    pub(crate) nth: usize,
}

/// A search under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// What is searched for, as it is typed.
    editor: Editor,
    /// Where they stand, oldest first.
    found: Vec<Hit>,
    /// The one being looked at.
    at: usize,
}

impl Search {
    /// Begins to look for words; the newest hit is looked at first.
    pub(crate) fn new(words: &str, state: &State, thread: &Thread) -> Search {
        let mut search = Search { editor: Editor::with(words), ..Search::default() };
        search.look(state, thread);
        search
    }

    /// Does what the key means; `false` when it ends the search.
    pub(crate) fn key(&mut self, key: Key, state: &State, thread: &Thread) -> bool {
        match (key.code, key.ctrl) {
            (Code::Esc, _) => return false,
            (Code::Enter | Code::Up, _) | (Code::Char('f' | 'p' | 'r'), true) => self.step(true),
            (Code::Down, _) | (Code::Char('n' | 's'), true) => self.step(false),
            _ => {
                if self.editor.key(key) {
                    self.look(state, thread);
                }
            }
        }
        true
    }

    /// Looks again, after the words changed.
    fn look(&mut self, state: &State, thread: &Thread) {
        let words = self.editor.text().to_lowercase();
        self.found.clear();
        if !words.trim().is_empty() {
            let newest = thread.cells().iter().rev().flat_map(|cell| {
                let hits = cell::searched(state, cell.key).to_lowercase().matches(&words).count();
                (0..hits).rev().map(|nth| Hit { key: cell.key, nth })
            });
            self.found = newest.take(MAX_FOUND).collect();
            self.found.reverse();
        }
        self.at = self.found.len().saturating_sub(1);
    }

    /// Goes to the next (older) or the one before.
    fn step(&mut self, older: bool) {
        let last = self.found.len().saturating_sub(1);
        self.at = match (older, self.at) {
            (true, 0) => last,
            (true, at) => at - 1,
            (false, at) if at >= last => 0,
            (false, at) => at + 1,
        };
    }

    /// The words, as they are typed.
    pub(crate) fn editor(&self) -> &Editor {
        &self.editor
    }

    /// The hit being looked at.
    pub(crate) fn current(&self) -> Option<Hit> {
        self.found.get(self.at).copied()
    }

    /// Which one that is, from 1, and how many there are.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.at + 1, self.found.len())
    }
}

/// Columns of `row` where the words stand: from, to.
pub(crate) fn columns(row: &str, words: &str) -> Vec<(usize, usize)> {
    use unicode_segmentation::UnicodeSegmentation;
    let words: Vec<String> = words.to_lowercase().graphemes(true).map(str::to_owned).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let graphemes: Vec<(String, usize)> =
        row.graphemes(true).map(|g| (g.to_lowercase(), crate::row::grapheme_width(g))).collect();
    let mut found = Vec::new();
    let mut column = 0;
    let mut at = 0;
    while at < graphemes.len() {
        let fits = graphemes[at..].len() >= words.len()
            && graphemes[at..].iter().zip(&words).all(|((grapheme, _), word)| grapheme == word);
        let taken = if fits { words.len() } else { 1 };
        let wide: usize = graphemes[at..at + taken].iter().map(|(_, wide)| wide).sum();
        if fits {
            found.push((column, column + wide));
        }
        column += wide;
        at += taken;
    }
    found
}

/// Columns of `row` where a word begins with one of these.
pub(crate) fn beginnings(row: &str, words: &str) -> Vec<(usize, usize)> {
    let mut in_words = Vec::new();
    for c in row.chars() {
        in_words
            .extend(std::iter::repeat_n(c.is_alphanumeric(), crate::row::width(c.encode_utf8(&mut [0; 4]))));
    }
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let found = words.flat_map(|word| columns(row, word));
    let begins =
        |(from, _): &(usize, usize)| from.checked_sub(1).is_none_or(|at| in_words.get(at) == Some(&false));
    found.filter(begins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_column_whatever_their_case() {
        assert_eq!(columns("日本 Error error", "error"), [(5, 10), (11, 16)]);
        assert_eq!(columns("aaa", "aa"), [(0, 2)]);
        assert_eq!(columns("abc", ""), []);
    }

    #[test]
    fn a_word_that_is_typed_begins_a_word_of_the_row() {
        assert_eq!(beginnings("the restore of 日本 store", "sto"), [(20, 23)]);
        assert_eq!(beginnings("store", "store, the"), [(0, 5)]);
        assert_eq!(beginnings("store", ""), []);
    }
}
