//! How often the log is told the same: strangers can be refused as often as they like, and the log is a file of the person's.
//!
//! Lines are of one kind when they begin alike, up to their first colon. Of a kind one line a second is told at most; the others are
//! counted, and the count is told. Pure: whoever calls knows the time.

use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Between two lines of a kind, at least.
const EVERY: Duration = Duration::from_secs(1);
/// Kinds that are kept apart; more are one.
const MAX_KINDS: usize = 16;
const OTHERS: &str = "others";

/// What was told of each kind of late.
#[derive(Debug, Default)]
pub(crate) struct Pace(BTreeMap<String, Kind>);

#[derive(Debug)]
struct Kind {
    told: Instant,
    /// Lines since then that were not told.
    left_out: u64,
}

impl Pace {
    /// What of a line is to be told now.
    pub(crate) fn line(&mut self, now: Instant, words: &str) -> Option<String> {
        let mut kind = words.split(':').next().unwrap_or_default();
        if !self.0.contains_key(kind) && self.0.len() >= MAX_KINDS {
            kind = OTHERS;
        }
        match self.0.get_mut(kind) {
            Some(known) if now.duration_since(known.told) < EVERY => {
                known.left_out += 1;
                None
            }
            known => {
                let left_out = known.map_or(0, |known| known.left_out);
                self.0.insert(kind.to_owned(), Kind { told: now, left_out: 0 });
                Some(if left_out == 0 { words.to_owned() } else { format!("{words} (and {left_out} more)") })
            }
        }
    }

    /// What was left out and is to be told by itself, since nothing of its kind came after it.
    pub(crate) fn rest(&mut self, now: Instant) -> Vec<String> {
        let mut told = Vec::new();
        self.0.retain(|kind, known| {
            let is_over = now.duration_since(known.told) >= EVERY;
            if is_over && known.left_out > 0 {
                told.push(format!("{kind}: {} more", known.left_out));
                *known = Kind { told: now, left_out: 0 };
                return true;
            }
            !is_over
        });
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_kind_one_line_a_second_is_told_and_the_others_are_counted() {
        let (mut pace, begin) = (Pace::default(), Instant::now());
        let at = |millis| begin + Duration::from_millis(millis);
        assert_eq!(pace.line(at(0), "refused a socket: one").as_deref(), Some("refused a socket: one"));
        for _ in 0..1_000 {
            assert_eq!(pace.line(at(500), "refused a socket: two"), None);
        }
        assert_eq!(pace.line(at(500), "refused to enrol: x").as_deref(), Some("refused to enrol: x"));
        assert!(pace.rest(at(900)).is_empty());
        let next = pace.line(at(1_000), "refused a socket: three");
        assert_eq!(next.as_deref(), Some("refused a socket: three (and 1000 more)"));
        assert_eq!(pace.line(at(1_900), "refused a socket: four"), None);
        assert_eq!(pace.rest(at(2_000)), ["refused a socket: 1 more"]);
        assert!(pace.rest(at(5_000)).is_empty() && pace.0.is_empty());
    }

    #[test]
    fn kinds_are_bounded() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let told = (0..1_000).filter_map(|number| pace.line(now, &format!("kind {number}: x"))).count();
        assert_eq!((told, pace.0.len()), (MAX_KINDS + 1, MAX_KINDS + 1));
    }
}
