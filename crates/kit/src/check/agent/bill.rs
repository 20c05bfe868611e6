//! What a task's requests cost: tokens sent, and how many of them a provider had from an earlier request. Estimates, by size. Pure.

use super::heard::{BYTES_PER_TOKEN, Heard};
use std::collections::VecDeque;

/// Earlier requests that are compared with.
const REMEMBERED: usize = 4;
/// Bytes that are compared at once.
const BLOCK: usize = 1_024;
/// Providers keep nothing that is shorter, in tokens.
const LEAST_CACHED: u64 = 1_024;

/// The sum of a task's requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Bill {
    earlier: VecDeque<String>,
    pub(super) sent: u64,
    pub(super) cached: u64,
}

impl Bill {
    /// Counts a request; gives its tokens, and those of them that were sent before in the same place.
    pub(super) fn add(&mut self, heard: &Heard) -> (u64, u64) {
        let sent = heard.tokens();
        let same = self.earlier.iter().map(|earlier| common(earlier, &heard.whole)).max().unwrap_or(0);
        let same = u64::try_from(same / BYTES_PER_TOKEN).unwrap_or(u64::MAX);
        let cached = if heard.is_marked && same >= LEAST_CACHED { same } else { 0 };
        if self.earlier.len() == REMEMBERED {
            self.earlier.pop_front();
        }
        self.earlier.push_back(heard.whole.clone());
        (self.sent, self.cached) = (self.sent + sent, self.cached + cached);
        (sent, cached)
    }
}

/// Bytes from the start that are the same in both, by blocks first: requests are long.
fn common(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let blocks = one.chunks(BLOCK).zip(other.chunks(BLOCK)).take_while(|(one, other)| one == other);
    let same: usize = blocks.map(|(block, _)| block.len()).sum();
    let rest = one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other);
    same + rest.count()
}
