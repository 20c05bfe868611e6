//! The log of this program, bounded: neither a line that comes over and over nor a flood of lines can fill a disk.
//!
//! Invariants: a line that was never said before is said, unless a flood is under way; what was left out is counted and told; no line is
//! longer than [`MAX_LINE`].

use hub::Log;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use wire::rate::Rate;

/// Longest line, in characters; the rest is counted.
const MAX_LINE: usize = 2_000;
/// How often the same line is said as it is; after that only at 10, 100, 1,000 and so on, with its number.
const REPEATED: u64 = 3;
/// Different lines whose numbers are kept; beyond it all are forgotten and counted anew.
const KEPT: usize = 256;
/// Lines per second on average, and at once.
const PER_SECOND: u32 = 20;

/// Where the lines of a journal go.
type Writer = fn(&str);

/// The journal of this program: there is one place where it is read.
static JOURNAL: Mutex<Option<LimitedLog<Writer>>> = Mutex::new(None);

/// The log of this program, told by `say`, which the first line that is logged decides.
pub fn log(say: fn(&str)) -> Log {
    let began = Instant::now();
    Arc::new(move |line| {
        let now = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut journal = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner);
        journal.get_or_insert_with(|| LimitedLog::new(say)).take(line, now);
    })
}

/// Tells what was left out until the end: tasks that still hold the log are abandoned and never let go of it.
pub fn finish() {
    drop(JOURNAL.lock().unwrap_or_else(PoisonError::into_inner).take());
}

struct LimitedLog<S: FnMut(&str)> {
    say: S,
    /// How often each line came.
    seen: BTreeMap<String, u64>,
    rate: Rate,
    /// Lines that were left out since the last one that was said.
    left_out: u64,
}

impl<S: FnMut(&str)> LimitedLog<S> {
    fn new(say: S) -> LimitedLog<S> {
        LimitedLog { say, seen: BTreeMap::new(), rate: Rate::new(PER_SECOND), left_out: 0 }
    }

    fn take(&mut self, line: &str, now_ms: u64) {
        let line = cut(line);
        if self.seen.len() >= KEPT && !self.seen.contains_key(&line) {
            self.seen.clear();
        }
        let count = self.seen.entry(line.clone()).or_default();
        *count += 1;
        let count = *count;
        if count > REPEATED && !is_round(count) || !self.rate.allow(now_ms) {
            self.left_out += 1;
            return;
        }
        self.tell_left_out();
        match count {
            1..=REPEATED => (self.say)(&line),
            _ => (self.say)(&format!("{line} ({count} times by now)")),
        }
    }

    fn tell_left_out(&mut self) {
        match std::mem::take(&mut self.left_out) {
            0 => {}
            1 => (self.say)("(one line was left out)"),
            count => (self.say)(&format!("({count} lines were left out)")),
        }
    }
}

impl<S: FnMut(&str)> Drop for LimitedLog<S> {
    fn drop(&mut self) {
        self.tell_left_out();
    }
}

fn is_round(count: u64) -> bool {
    count.checked_ilog10().is_some_and(|zeros| count == 10u64.pow(zeros))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE) {
        None => line.to_owned(),
        Some((at, _)) => {
            let (head, rest) = line.split_at(at);
            format!("{head}… ({} characters more)", rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of these lines, one per millisecond.
    fn said(lines: impl IntoIterator<Item = String>, apart_ms: u64) -> Vec<String> {
        let mut said = Vec::new();
        let mut journal = LimitedLog::new(|line: &str| said.push(line.to_owned()));
        for (line, at) in lines.into_iter().zip(0..) {
            journal.take(&line, at * apart_ms);
        }
        drop(journal);
        said
    }

    #[test]
    fn the_same_line_over_and_over_is_counted() {
        let said = said(std::iter::repeat_n("empty line".to_owned(), 200_000), 1);
        assert_eq!(said.len(), 3 + 2 * 5 + 1, "{said:#?}");
        assert!(said.contains(&"empty line (100000 times by now)".to_owned()), "{said:#?}");
        assert_eq!(said.last().unwrap(), "(100000 lines were left out)");
    }

    #[test]
    fn two_lines_in_turn_are_counted_each() {
        let lines = (0..2_000).map(|at| format!("line {}", at % 2));
        assert!(said(lines, 1).len() < 30);
    }

    #[test]
    fn a_flood_of_different_lines_is_cut_and_told() {
        let said = said((0..10_000).map(|at| format!("line {at}")), 0);
        assert_eq!(said.len(), PER_SECOND as usize + 1);
        assert_eq!(said.last().unwrap(), &format!("({} lines were left out)", 10_000 - PER_SECOND));
    }

    #[test]
    fn what_comes_at_its_pace_is_said_as_it_is() {
        let lines: Vec<String> = (0..100).map(|at| format!("line {at}")).collect();
        assert_eq!(said(lines.clone(), 100), lines);
    }

    #[test]
    fn a_long_line_is_cut() {
        let said = said(["x".repeat(1_000_000)], 0);
        assert!(said[0].len() < 2 * MAX_LINE && said[0].ends_with("… (998000 characters more)"));
    }
}
