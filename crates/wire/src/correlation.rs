//! Requests that we sent and that have no answer yet. An answer is understood by the request it belongs to, never by its
//! shape. Keeps no time: deadlines belong to the role.
//!
//! Invariants: at most `cap` entries; an id is pending at most once; minted ids are never given twice.

use std::collections::HashMap;

use crate::WireId;

/// Requests that may be pending on one link.
pub const MAX_PENDING: usize = 65_536;

/// Pending requests by wire id.
#[derive(Debug)]
pub struct Correlation<P> {
    cap: usize,
    pending: HashMap<WireId, Entry<P>>,
    inserted: u64,
    minted: u64,
}

#[derive(Debug)]
struct Entry<P> {
    order: u64,
    what: P,
}

/// Why a request could not be noted as pending.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The bound is reached.
    #[error("{cap} requests are unanswered already; wait for answers")]
    Full {
        /// The bound.
        cap: usize,
    },
    /// The id is pending already.
    #[error("a request with id {id} is unanswered already; use a fresh id")]
    Duplicate { id: WireId },
}

impl<P> Correlation<P> {
    /// Empty, bounded by [`MAX_PENDING`].
    pub fn new() -> Self {
        Self::with_cap(MAX_PENDING)
    }

    /// Empty, bounded by `cap`.
    pub fn with_cap(cap: usize) -> Self {
        Self { cap, pending: HashMap::new(), inserted: 0, minted: 0 }
    }

    /// Notes a request as pending.
    pub fn insert(&mut self, id: WireId, what: P) -> Result<(), Refused> {
        if self.pending.contains_key(&id) {
            return Err(Refused::Duplicate { id });
        }
        if self.pending.len() >= self.cap {
            return Err(Refused::Full { cap: self.cap });
        }
        self.inserted += 1;
        self.pending.insert(id, Entry { order: self.inserted, what });
        Ok(())
    }

    /// What the answered request was. `None`: nobody asked, or it was answered already.
    pub fn take(&mut self, id: &WireId) -> Option<P> {
        self.pending.remove(id).map(|entry| entry.what)
    }

    /// What is pending under `id`.
    pub fn get(&self, id: &WireId) -> Option<&P> {
        self.pending.get(id).map(|entry| &entry.what)
    }

    /// Everything pending, oldest first; empties the table. For a link that is gone.
    pub fn drain(&mut self) -> Vec<(WireId, P)> {
        let mut all: Vec<_> = self.pending.drain().collect();
        all.sort_unstable_by_key(|(_, entry)| entry.order);
        all.into_iter().map(|(id, entry)| (id, entry.what)).collect()
    }

    /// In no order.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.pending.values().map(|entry| &entry.what)
    }

    /// How many are pending.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// A fresh string id: the prefix and a rising number.
    pub fn next_string_id(&mut self, prefix: &str) -> WireId {
        self.minted += 1;
        WireId::text(format!("{prefix}{}", self.minted))
    }

    /// A fresh number id, from 1 up.
    pub fn next_number_id(&mut self) -> WireId {
        self.minted += 1;
        WireId::number(self.minted)
    }
}

impl<P> Default for Correlation<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once() {
        let mut table = Correlation::new();
        let id = table.next_string_id("ui_");
        assert_eq!(id.as_text(), Some("ui_1"));
        table.insert(id.clone(), "prompt").unwrap();
        assert_eq!(table.get(&id), Some(&"prompt"));
        assert_eq!(table.take(&id), Some("prompt"));
        assert_eq!(table.take(&id), None);
    }

    #[test]
    fn numbers_match_floats_but_not_strings() {
        let mut table = Correlation::new();
        let id = table.next_number_id();
        table.insert(id, ()).unwrap();
        assert_eq!(table.take(&WireId::from("1")), None);
        assert_eq!(table.take(&WireId::from_json("1.0").unwrap()), Some(()));
    }

    #[test]
    fn full_and_duplicate_are_refused() {
        let mut table = Correlation::with_cap(2);
        table.insert(1i64.into(), 'a').unwrap();
        assert_eq!(table.insert(1i64.into(), 'b'), Err(Refused::Duplicate { id: 1i64.into() }));
        table.insert(2i64.into(), 'b').unwrap();
        assert_eq!(table.insert(3i64.into(), 'c'), Err(Refused::Full { cap: 2 }));
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn drains_oldest_first() {
        let mut table = Correlation::default();
        for number in 0..100i64 {
            table.insert((1000 - number).into(), number).unwrap();
        }
        let order: Vec<i64> = table.drain().into_iter().map(|(_, what)| what).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
        assert!(table.is_empty());
    }
}
