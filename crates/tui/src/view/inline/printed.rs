//! Which cells of a session stand in the scrollback.

use super::MAX_VOLATILE;
use super::growing::Growing;
use crate::cell;
use crate::clean::clean_line;
use crate::look::Appearance;
use crate::row::{Row, fit};
use crate::thread::{Cell, CellKey};
use crate::transcript::{CellCache, Transcript, TranscriptPage};
use crate::world::SessionView;
use std::collections::HashSet;

/// Columns of a prompt that is quoted.
const QUOTE: usize = 40;

/// Which cells were handed out.
#[derive(Debug, Default)]
pub(super) struct Printed {
    keys: HashSet<CellKey>,
    /// All cells before this one were.
    upto: usize,
    last: Option<CellKey>,
    /// The last of them that is part of the conversation itself.
    said: Option<CellKey>,
    growing: Option<Growing>,
}

impl Printed {
    /// Begins so near the end that at most about `most` rows follow; how many cells are passed over.
    pub(super) fn near_the_end(
        transcript: &Transcript,
        page: TranscriptPage<'_>,
        cache: &mut CellCache,
        most: usize,
    ) -> (Printed, usize) {
        let cells = page.seen.thread.cells();
        let mut left = most;
        let first = (0..cells.len()).rev().find(|at| {
            let high = page.lead(*at) + cache.rows(transcript, page, cells[*at]).len();
            let full = high > left;
            left = left.saturating_sub(high);
            full
        });
        // The last cell is shown even if it alone is too long.
        let upto = first.map_or(0, |at| at + 1).min(cells.len().saturating_sub(1));
        let keys = cells[..upto].iter().map(|cell| cell.key).collect();
        let last = upto.checked_sub(1).map(|at| cells[at].key);
        let said = cells[..upto].iter().map(|cell| cell.key).rfind(is_said);
        (Printed { keys, upto, last, said, growing: None }, upto)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.growing.is_none()
    }

    /// Finds the place again when the path is another one; a word when it left what was handed out.
    pub(super) fn follow(&mut self, seen: &SessionView) -> Option<String> {
        let thread = &seen.thread;
        let known = self.upto.checked_sub(1).and_then(|at| thread.cells().get(at)).map(|cell| cell.key);
        if known == self.last {
            return None;
        }
        let left = self.said.is_some_and(|said| thread.position(said).is_none());
        (self.upto, self.last) = (0, None);
        if self.growing.as_ref().is_some_and(|growing| thread.position(growing.key).is_none()) {
            self.keys.extend(self.growing.take().map(|growing| growing.key));
        }
        let shared = thread.cells().iter().rev().map(|cell| cell.key).filter(|key| self.keys.contains(key));
        self.said = shared.clone().find(is_said);
        if !left {
            return None;
        }
        let prompt = shared.clone().find(|key| matches!(key, CellKey::Prompt(_)));
        Some(match prompt {
            Some(prompt) => {
                let words = clean_line(&cell::plain(&seen.state, prompt));
                format!("another branch, after “{}”", fit(words.trim(), QUOTE))
            }
            None => "from the beginning".to_owned(),
        })
    }

    /// Hands out the rows that can no longer change.
    pub(super) fn advance(
        &mut self,
        transcript: &Transcript,
        page: TranscriptPage<'_>,
        cache: &mut CellCache,
        out: &mut Vec<Row>,
    ) {
        let state = &page.seen.state;
        while let Some(cell) = page.seen.thread.cells().get(self.upto).copied() {
            if !self.keys.contains(&cell.key) {
                let whole = cell::is_final(state, cell.key);
                if let Some(text) = cell::streamed(state, cell.key) {
                    let look = transcript.look(page, cell.key);
                    let mut growing = self.take_growing(cell, look);
                    let begun = growing.begun;
                    let mut rows = growing.advance(text, cell.revision, look);
                    if whole {
                        rows.append(&mut growing.open);
                        rows.extend(cell::cut_rows(state, cell.key, look));
                    }
                    if !begun && !rows.is_empty() {
                        out.extend((0..page.lead(self.upto)).map(|_| Row::empty()));
                    }
                    out.append(&mut rows);
                    if !whole {
                        self.growing = Some(growing);
                    }
                } else if whole {
                    out.extend((0..page.lead(self.upto)).map(|_| Row::empty()));
                    out.extend(cache.rows(transcript, page, cell).iter().cloned());
                }
                if !whole {
                    return;
                }
                self.keys.insert(cell.key);
            }
            self.upto += 1;
            self.last = Some(cell.key);
            self.said = self.last.filter(is_said).or(self.said);
        }
    }

    fn take_growing(&mut self, cell: Cell, look: Appearance) -> Growing {
        let known = self.growing.take_if(|growing| growing.key == cell.key);
        known.unwrap_or_else(|| Growing::new(cell.key, look))
    }

    /// The rows that follow, at most `most`, and how many of them may be frozen. Rows of a growing text that do not fit are handed out.
    pub(super) fn rest(
        &mut self,
        transcript: &Transcript,
        page: TranscriptPage<'_>,
        cache: &mut CellCache,
        most: usize,
        out: &mut Vec<Row>,
    ) -> (Vec<Row>, usize) {
        let (mut grown, volatile) = self.open_rows(transcript, page, cache);
        let keep = volatile.len().min(MAX_VOLATILE).min(most);
        let beyond = (grown.len() + keep).saturating_sub(most);
        let frozen: Vec<Row> = grown.drain(..beyond.min(grown.len())).collect();
        self.freeze(&frozen);
        out.extend(frozen);
        let count = grown.len();
        grown.extend_from_slice(&volatile[volatile.len() - keep..]);
        (grown, count)
    }

    /// All rows that follow.
    pub(super) fn all_the_rest(
        &self,
        transcript: &Transcript,
        page: TranscriptPage<'_>,
        cache: &mut CellCache,
    ) -> Vec<Row> {
        let (mut grown, volatile) = self.open_rows(transcript, page, cache);
        grown.extend(volatile);
        grown
    }

    /// Rows of the text that grows, and of what else is not final.
    fn open_rows(
        &self,
        transcript: &Transcript,
        page: TranscriptPage<'_>,
        cache: &mut CellCache,
    ) -> (Vec<Row>, Vec<Row>) {
        let (mut grown, mut volatile) = (Vec::new(), Vec::new());
        for (at, cell) in page.seen.thread.cells().iter().enumerate().skip(self.upto) {
            if self.keys.contains(&cell.key) {
                continue;
            }
            let blank = (0..page.lead(at)).map(|_| Row::empty());
            match self.growing.as_ref().filter(|growing| growing.key == cell.key) {
                Some(growing) => {
                    if !growing.begun && !growing.open.is_empty() {
                        grown.extend(blank);
                    }
                    grown.extend_from_slice(&growing.open);
                }
                None => {
                    volatile.extend(blank);
                    volatile.extend(cache.rows(transcript, page, *cell).iter().cloned());
                }
            }
        }
        (grown, volatile)
    }

    /// These first rows of the growing text are handed out as they are.
    pub(super) fn freeze(&mut self, rows: &[Row]) {
        if let Some(growing) = &mut self.growing {
            growing.freeze(rows);
        }
    }
}

/// Whether a cell is part of the conversation itself: not a notice, not the line at the end of a run.
fn is_said(key: &CellKey) -> bool {
    !matches!(key, CellKey::End(_) | CellKey::Notice(_))
}
