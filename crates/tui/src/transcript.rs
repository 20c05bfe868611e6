//! The transcript: where the person reads. Which cells stand where, which are folded, selected, looked for or drawn over.
//!
//! Virtual: only what is on the screen (and what a scroll passes over) is laid out. Invariant: a frame costs what it shows, however
//! long the session is. The place is kept by cell, not by line number, so that it stays where the person looks while text streams in
//! below, cells fold or the window changes.

mod cache;
mod draw;
mod place;
#[cfg(test)]
mod tests;

pub(crate) use cache::CellCache;
pub(crate) use draw::{pictures, view};

use crate::cell::gap;
use crate::key::Key;
use crate::look::Appearance;
use crate::search::Search;
use crate::thread::{CellKey, Thread};
use crate::world::SessionView;
use place::Heights;
use ratatui_core::layout::{Position, Rect};
use std::collections::HashSet;

/// Columns left free at both sides.
const MARGIN: u16 = 1;

/// The conversation as it is to be shown: what was said, where on the screen, in which colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TranscriptPage<'a> {
    pub(crate) seen: &'a SessionView,
    pub(crate) area: Rect,
    /// How a cell looks that is not open.
    look: Appearance,
}

impl<'a> TranscriptPage<'a> {
    /// The conversation in `area`; its columns are those of `look` then.
    pub(crate) fn new(seen: &'a SessionView, area: Rect, look: Appearance) -> TranscriptPage<'a> {
        let columns = usize::from(area.width.saturating_sub(2 * MARGIN)).max(1);
        TranscriptPage { seen, area, look: Appearance { columns, ..look } }
    }

    fn rows(&self) -> usize {
        usize::from(self.area.height)
    }

    /// Empty rows before a cell.
    pub(crate) fn lead(&self, at: usize) -> usize {
        let cells = self.seen.thread.cells();
        match at.checked_sub(1).and_then(|before| cells.get(before)).zip(cells.get(at)) {
            Some((before, cell)) => gap(before.key, cell.key),
            None => 0,
        }
    }
}

/// Where the transcript stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Scroll {
    /// At the end, following what comes.
    #[default]
    Tail,
    /// This line of this cell is on top.
    At { key: CellKey, line: usize },
}

/// Which cells a walk stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    Every,
    Prompts,
}

/// What the mouse did to the text when its button went up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Released {
    /// It was not over the text.
    Nothing,
    /// The button went up where it went down, over this cell.
    Click(CellKey),
    /// This text was drawn over.
    Text(String),
}

/// Where and how the person reads.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    scroll: Scroll,
    /// Heights of cells, to scroll by lines.
    heights: Heights,
    /// Whether everything is unfolded.
    details: bool,
    /// Cells that are folded other than the rest.
    flipped: HashSet<CellKey>,
    /// The cell under the selection.
    selected: Option<CellKey>,
    /// What the mouse is drawn over: where it began, where it is.
    drag: Option<(Position, Position)>,
    search: Option<Search>,
    /// Whether something was selected before the search began, and is when it ends.
    selects_after: bool,
    /// The cell that stands open because words were found in it.
    found_in: Option<CellKey>,
}

impl Transcript {
    /// How a cell is drawn now.
    pub(crate) fn look(&self, page: TranscriptPage<'_>, key: CellKey) -> Appearance {
        let whole = self.found_in == Some(key);
        Appearance { open: whole || self.details != self.flipped.contains(&key), whole, ..page.look }
    }

    /// Another session is shown, from its end; what is folded in all of them stays.
    pub(crate) fn begin_anew(&mut self) {
        self.leave();
        self.flipped.clear();
    }

    /// Ends the selection and follows what comes.
    pub(crate) fn leave(&mut self) {
        (self.selected, self.found_in) = (None, None);
        self.scroll = Scroll::Tail;
    }

    /// Goes to the end.
    pub(crate) fn go_to_end(&mut self) {
        self.found_in = None;
        self.scroll = Scroll::Tail;
    }

    /// Whether it stands at the end and follows what comes.
    pub(crate) fn is_at_end(&self) -> bool {
        self.scroll == Scroll::Tail
    }

    /// The cell under the selection.
    pub(crate) fn selected(&self) -> Option<CellKey> {
        self.selected
    }

    /// Puts the selection on a cell, wherever it stands.
    pub(crate) fn select(&mut self, key: CellKey) {
        self.selected = Some(key);
    }

    /// Ends the selection; `false` when there is none.
    pub(crate) fn deselect(&mut self) -> bool {
        let was = self.selected.take().is_some();
        if was {
            self.found_in = None;
        }
        was
    }

    /// Whether the person looks for words or walks over cells.
    pub(crate) fn is_read(&self) -> bool {
        self.search.is_some() || self.selected.is_some()
    }

    /// Moves the selection; past the last cell it ends. Tells which cell is to be shown then.
    pub(crate) fn walk(&mut self, thread: &Thread, back: bool, stops: Stops) -> Option<CellKey> {
        // What was found last is the first to be selected.
        if let (None, Some(found), Stops::Every) = (self.selected, self.found_in, stops)
            && thread.position(found).is_some()
        {
            self.selected = Some(found);
            return Some(found);
        }
        let cells = thread.cells();
        let wanted = |key: CellKey| match stops {
            Stops::Every => !matches!(key, CellKey::End(_)),
            Stops::Prompts => matches!(key, CellKey::Prompt(_)),
        };
        let at = self.selected.and_then(|key| thread.position(key));
        let next = if back {
            let upto = at.unwrap_or(cells.len());
            cells[..upto].iter().rev().map(|cell| cell.key).find(|key| wanted(*key))
        } else {
            let from = at.map_or(cells.len(), |at| at + 1);
            cells[from.min(cells.len())..].iter().map(|cell| cell.key).find(|key| wanted(*key))
        };
        match next {
            Some(key) => (self.selected, self.found_in) = (Some(key), None),
            None if back => {}
            None => self.leave(),
        }
        next
    }

    /// Opens or folds a cell.
    pub(crate) fn fold(&mut self, key: CellKey) {
        // What stands open for what was found in it folds.
        let found = self.found_in.take_if(|found| *found == key).is_some();
        let opens = !found && self.details == self.flipped.contains(&key);
        if opens == self.details {
            self.flipped.remove(&key);
        } else {
            self.flipped.insert(key);
        }
    }

    /// Opens or closes everything; what was opened or closed singly follows again.
    pub(crate) fn fold_all(&mut self) {
        self.details = !self.details;
        self.flipped.clear();
    }

    /// The button went down.
    pub(crate) fn press(&mut self, area: Rect, here: Position) {
        self.drag = area.contains(here).then_some((here, here));
    }

    /// The mouse moved with the button down.
    pub(crate) fn drag_to(&mut self, here: Position) {
        self.drag = self.drag.map(|(from, _)| (from, here));
    }

    /// The button went up.
    pub(crate) fn release(&mut self, page: TranscriptPage<'_>, row: u16) -> Released {
        match self.drag.take() {
            None => Released::Nothing,
            Some((from, to)) if from == to => {
                self.cell_at(page, row).map_or(Released::Nothing, Released::Click)
            }
            Some((from, to)) => Released::Text(self.text_between(page, from, to)),
        }
    }

    /// The search under way.
    pub(crate) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Begins to look for words.
    pub(crate) fn look_for(&mut self, seen: &SessionView, words: &str) {
        self.selects_after = self.selected.is_some();
        self.search = Some(Search::new(words, &seen.state, &seen.thread));
        self.select_found();
    }

    /// Gives the key to the search; `false` when there is none.
    pub(crate) fn search_key(&mut self, seen: &SessionView, key: Key) -> bool {
        let Some(search) = &mut self.search else { return false };
        if search.key(key, &seen.state, &seen.thread) {
            self.select_found();
        } else {
            self.end_search();
        }
        true
    }

    /// Looks for nothing any more. What was found stays where it is and open; letters are the composer's again where they were before:
    /// somebody who goes on writing must not copy or go back by the first of them.
    pub(crate) fn end_search(&mut self) {
        if self.search.take().is_some() && !self.selects_after {
            self.selected = None;
        }
    }

    fn select_found(&mut self) {
        if let Some(hit) = self.search.as_ref().and_then(Search::current) {
            (self.selected, self.found_in) = (Some(hit.key), Some(hit.key));
        }
    }

    /// Scrolls so that the words are seen that were found.
    pub(crate) fn show_found(&mut self, page: TranscriptPage<'_>) {
        let Some(search) = &self.search else { return };
        if let Some(hit) = search.current() {
            let words = search.editor().text().to_owned();
            self.show_words(page, hit, &words);
        }
    }
}
