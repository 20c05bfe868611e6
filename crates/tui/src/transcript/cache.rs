//! Laid-out cells, kept so that a frame lays out only what changed. Dropping them changes nothing but time.

use super::{Transcript, TranscriptPage};
use crate::cell;
use crate::look::Appearance;
use crate::markdown::Stream;
use crate::row::Row;
use crate::thread::{Cell, CellKey};
use std::collections::HashMap;
use std::rc::Rc;

/// Laid-out cells kept; past this, those that were not drawn lately go.
const MAX_CACHED: usize = 512;

/// Rows of cells, so that a frame lays out only what changed.
#[derive(Debug, Default)]
pub(crate) struct CellCache {
    cells: HashMap<CellKey, Cached>,
    frame: u64,
}

#[derive(Debug)]
struct Cached {
    revision: u64,
    look: Appearance,
    rows: CellRows,
    stream: Stream,
    frame: u64,
}

/// Rows of a cell: those that stay while text streams in, and those that may change.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellRows {
    head: Rc<Vec<Row>>,
    tail: Rc<Vec<Row>>,
}

impl CellRows {
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.head.iter().chain(self.tail.iter())
    }

    /// A row, counted from the first one that stays.
    pub(super) fn get(&self, at: usize) -> Option<&Row> {
        self.head.get(at).or_else(|| self.tail.get(at.checked_sub(self.head.len())?))
    }
}

impl CellCache {
    /// Lays a cell out, or takes what was laid out for the same revision and look.
    pub(crate) fn rows(&mut self, transcript: &Transcript, page: TranscriptPage<'_>, cell: Cell) -> CellRows {
        let look = transcript.look(page, cell.key);
        let frame = self.frame;
        let state = &page.seen.state;
        if let Some(cached) = self.cells.get_mut(&cell.key)
            && cached.revision == cell.revision
            && cached.look == look
        {
            cached.frame = frame;
            return cached.rows.clone();
        }
        let known = self.cells.remove(&cell.key).filter(|cached| cached.look == look);
        let mut stream = known.map(|cached| cached.stream).unwrap_or_default();
        let rows = match cell::streamed(state, cell.key) {
            Some(text) => {
                let (head, mut tail) = stream.rows(text, look);
                tail.extend(cell::cut_rows(state, cell.key, look));
                CellRows { head, tail: Rc::new(tail) }
            }
            None => CellRows { head: Rc::default(), tail: Rc::new(cell::rows(state, cell.key, look)) },
        };
        let cached = Cached { revision: cell.revision, look, rows: rows.clone(), stream, frame };
        self.cells.insert(cell.key, cached);
        rows
    }

    /// A frame begins: what was not drawn lately may go.
    pub(crate) fn begin(&mut self) {
        self.frame += 1;
        if self.cells.len() > MAX_CACHED {
            let frame = self.frame;
            self.cells.retain(|_, cached| cached.frame + 1 >= frame);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Forgets everything, for instance because another session is shown.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
    }
}
