//! What a change does to a text, as a unified diff. Pure.
//!
//! What always holds: the counts are those of the whole change, however much of it is shown; a diff that is cut shows lines of both sides
//! and says so, with the counts, in its last line, and the heads of its hunks count what the change has and not what is shown.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};
use std::fmt::Write as _;
use std::hash::Hash;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Longest texts that are compared line by line, without what they have in common at both ends; longer ones are shown as replaced.
const MAX_DIFFED: usize = 2 * 1024 * 1024;
/// Largest diff that is shown whole.
const MAX_DIFF: usize = 256 * 1024;
/// How long two texts may be compared; after it the result is right, but longer than it could be.
const PATIENCE: Duration = Duration::from_millis(500);
/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;
/// What unified diffs say where a text does not end with a line break.
const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// What a change does to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    /// Empty where nothing changes.
    pub(crate) text: String,
    /// Lines that the change adds.
    pub(crate) added: usize,
    /// Lines that it takes away.
    pub(crate) removed: usize,
}

/// What turns `old` into `new`.
pub(crate) fn diff(shown: &str, old: &str, new: &str) -> Diff {
    let window = Window::around_change(old, new);
    let (before, after) = (lines(window.old), lines(window.new));
    let groups = if window.too_long {
        let (old_len, new_len) = (before.len(), after.len());
        vec![vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]]
    } else {
        compared(&before, &after, Some(Instant::now() + PATIENCE)).into_grouped_ops(CONTEXT)
    };
    Writer::new(&before, &after, window.lines_before).write(shown, &groups)
}

/// What turns one list into the other; past the time that is given the result is right, but longer than it could be.
///
/// Numbers stand for the things, and the algorithm is named here: a choice of it while the program runs, as the crate also offers,
/// compiles every one of them for every kind of thing.
pub(crate) fn compared<T: Eq + Hash>(old: &[T], new: &[T], until: Option<Instant>) -> Capture {
    let numbers = IdentifyDistinct::<u32>::new(old, 0..old.len(), new, 0..new.len());
    let (from, to) = (numbers.old_lookup(), numbers.new_lookup());
    let mut steps = Compact::new(Replace::new(Capture::new()), from, to);
    let Ok(()) = myers::diff_deadline(&mut steps, from, numbers.old_range(), to, numbers.new_range(), until);
    steps.into_inner().into_inner()
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The part of two texts in which they differ, in whole lines, with the lines around it.
struct Window<'a> {
    old: &'a str,
    new: &'a str,
    /// How many lines of both texts stand before it.
    lines_before: usize,
    /// Nothing in it is compared, and no lines stand around it.
    too_long: bool,
}

impl<'a> Window<'a> {
    fn around_change(old: &'a str, new: &'a str) -> Window<'a> {
        let same = |(one, other): &(&u8, &u8)| one == other;
        let start = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
        let start = old.as_bytes()[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (old_rest, new_rest) = (&old.as_bytes()[start..], &new.as_bytes()[start..]);
        let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        let ending = &old_rest[old_rest.len() - end..];
        let end = ending.iter().position(|byte| *byte == b'\n').map_or(0, |at| end - at - 1);
        let too_long = old_rest.len().max(new_rest.len()) - end > MAX_DIFFED;
        let context = if too_long { 0 } else { CONTEXT };
        let breaks = old.as_bytes()[..start].iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
        let start = breaks.map(|(at, _)| at + 1).nth(context).unwrap_or(0);
        let kept: usize = old[old.len() - end..].split_inclusive('\n').take(context).map(str::len).sum();
        let end = end - kept;
        let lines_before = old.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
        let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        Window { old, new, lines_before, too_long }
    }
}

struct Writer<'a> {
    before: &'a [&'a str],
    after: &'a [&'a str],
    lines_before: usize,
    text: String,
    /// Bytes that removed and added lines may still take.
    room: [usize; 2],
    /// How long the text may be where a line comes that stays.
    most: usize,
    cut: bool,
}

impl<'a> Writer<'a> {
    fn new(before: &'a [&'a str], after: &'a [&'a str], lines_before: usize) -> Writer<'a> {
        Writer {
            before,
            after,
            lines_before,
            text: String::new(),
            room: [0; 2],
            most: usize::MAX,
            cut: false,
        }
    }

    fn write(mut self, shown: &str, groups: &[Vec<DiffOp>]) -> Diff {
        let size = |lines: &[&str]| -> usize { lines.iter().map(|line| line.len() + 1).sum() };
        let (mut removed, mut added) = (0, 0);
        let (mut removed_bytes, mut added_bytes, mut kept) = (0, 0, 0);
        for op in groups.iter().flatten() {
            match op {
                DiffOp::Equal { .. } => kept += size(&self.before[op.old_range()]),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    removed += op.old_range().len();
                    added += op.new_range().len();
                    removed_bytes += size(&self.before[op.old_range()]);
                    added_bytes += size(&self.after[op.new_range()]);
                }
            }
        }
        self.room = [removed_bytes, added_bytes];
        if removed_bytes + added_bytes + kept > MAX_DIFF {
            // Each side has a half, and what the other does not need.
            let for_removed = removed_bytes.min((MAX_DIFF / 2).max(MAX_DIFF.saturating_sub(added_bytes)));
            self.room = [for_removed, added_bytes.min(MAX_DIFF - for_removed)];
            self.most = MAX_DIFF;
        }
        if groups.iter().any(|group| !group.is_empty()) {
            let _ = writeln!(self.text, "--- a/{shown}\n+++ b/{shown}");
        }
        for group in groups {
            self.hunk(group);
            if self.cut {
                let _ = writeln!(
                    self.text,
                    "\\ The diff is cut here: in all it adds {added} and removes {removed} lines."
                );
                break;
            }
        }
        Diff { text: self.text, added, removed }
    }

    fn hunk(&mut self, group: &[DiffOp]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let old = self.range(first.old_range().start..last.old_range().end);
        let new = self.range(first.new_range().start..last.new_range().end);
        let _ = writeln!(self.text, "@@ -{old} +{new} @@");
        let (before, after) = (self.before, self.after);
        for op in group {
            match op {
                DiffOp::Equal { .. } if self.cut => return,
                DiffOp::Equal { .. } => {
                    for line in &before[op.old_range()] {
                        if self.text.len().saturating_add(line.len()) > self.most {
                            self.cut = true;
                            return;
                        }
                        self.line(' ', line);
                    }
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    self.changed(0, '-', &before[op.old_range()]);
                    self.changed(1, '+', &after[op.new_range()]);
                }
            }
        }
    }

    /// As many lines of one side as there is room for, and of the next one a piece.
    fn changed(&mut self, side: usize, mark: char, lines: &[&str]) {
        for line in lines {
            if line.len() < self.room[side] {
                self.room[side] -= line.len() + 1;
                self.line(mark, line);
                continue;
            }
            let most = self.room[side].min(line.len());
            let piece = (0..=most).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            if piece > 0 {
                let _ = writeln!(self.text, "{mark}{}", line[..piece].trim_end_matches('\n'));
            }
            (self.room[side], self.cut) = (0, true);
            return;
        }
    }

    fn line(&mut self, mark: char, line: &str) {
        self.text.push(mark);
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push('\n');
            self.text.push_str(NO_NEWLINE);
        }
    }

    /// Lines as the head of a hunk names them: counted from 1, and how many.
    fn range(&self, range: Range<usize>) -> String {
        let from = self.lines_before + range.start;
        match range.len() {
            0 => format!("{from},0"),
            1 => format!("{}", from + 1),
            count => format!("{},{count}", from + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a diff says of both sides: their lines in the hunks, and whether the heads count as many.
    fn sides(text: &str) -> ([usize; 2], bool) {
        let (mut seen, mut counted) = ([0, 0], [0, 0]);
        for line in text.lines().skip(2) {
            match line.as_bytes().first() {
                Some(b'-') => seen[0] += 1,
                Some(b'+') => seen[1] += 1,
                Some(b' ') => seen = [seen[0] + 1, seen[1] + 1],
                Some(b'@') => {
                    let mut words = line.split(' ').skip(1);
                    for side in &mut counted {
                        let range = words.next().unwrap();
                        *side += range.split_once(',').map_or(1, |(_, count)| count.parse().unwrap());
                    }
                }
                _ => {}
            }
        }
        (seen, seen == counted)
    }

    #[test]
    fn a_long_diff_shows_both_sides_and_says_that_it_is_cut_with_the_right_counts() {
        let old: String = (0..60_000).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line", "ROW");
        let Diff { text, added, removed } = diff("a.txt", &old, &new);
        assert_eq!((added, removed), (60_000, 60_000));
        assert!(text.len() < MAX_DIFF + 1024, "{}", text.len());
        assert!(text.contains("\n-line 0\n") && text.contains("\n+ROW 0\n"));
        assert!(text.contains("@@ -1,60000 +1,60000 @@"), "{}", &text[..80]);
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("\\ The diff is cut here") && last.contains("adds 60000"), "{last}");
        assert!(last.contains("removes 60000"), "{last}");
        let (seen, whole) = sides(&text);
        assert!(!whole && seen[0] > 5_000 && seen[1] > 5_000, "{seen:?}");
    }

    #[test]
    fn a_small_change_in_a_large_file_is_shown_whole_where_it_is() {
        let old: String = (1..=400_000).map(|line| format!("line {line}\n")).collect();
        assert!(old.len() > 2 * MAX_DIFFED);
        let new = old.replace("\nline 300000\n", "\nanother\n");
        let Diff { text, added, removed } = diff("a.txt", &old, &new);
        assert_eq!((added, removed), (1, 1));
        assert!(text.contains("@@ -299997,7 +299997,7 @@\n line 299997\n"), "{text}");
        assert!(text.contains("-line 300000\n+another\n") && text.ends_with(" line 300003\n"), "{text}");
    }

    #[test]
    fn what_is_too_long_to_be_compared_is_shown_as_replaced() {
        let side = |word: &str| -> String { (0..400_000).map(|line| format!("{word} {line}\n")).collect() };
        let (old, new) = (format!("head\n{}", side("old")), format!("head\n{}", side("new")));
        let Diff { text, added, removed } = diff("a.txt", &old, &new);
        assert_eq!((added, removed), (400_000, 400_000));
        assert!(text.contains("@@ -2,400000 +2,400000 @@\n-old 0\n") && text.contains("\n+new 0\n"));
        assert!(text.len() < MAX_DIFF + 1024 && text.contains("is cut here"));
        // One line that is longer than everything.
        let Diff { text, .. } = diff("a.txt", &"ä".repeat(MAX_DIFF), &"ö".repeat(MAX_DIFF));
        assert!(text.contains("\n-ää") && text.contains("\n+öö") && text.len() < MAX_DIFF + 1024);
    }

    #[test]
    fn new_and_empty_files() {
        assert_eq!(
            diff("a", "", "one\ntwo").text,
            "--- a/a\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
        );
        assert_eq!(diff("a", "one\n", "").text, "--- a/a\n+++ b/a\n@@ -1 +0,0 @@\n-one\n");
        assert_eq!(diff("a", "same\n", "same\n"), Diff { text: String::new(), added: 0, removed: 0 });
    }

    proptest! {
        /// Against the crate's own way to do it, which chooses among all its algorithms.
        #[test]
        fn lists_are_compared_as_the_crate_compares_texts(
            old in prop::collection::vec("[a-d]?", 0..130), new in prop::collection::vec("[a-d]?", 0..130)
        ) {
            let lines = |texts: &[String]| texts.iter().map(|text| format!("{text}\n")).collect::<Vec<_>>();
            let (old, new) = (lines(&old), lines(&new));
            let texts = |lines: &[String]| lines.iter().map(String::as_str).collect::<Vec<_>>().concat();
            let (old_text, new_text) = (texts(&old), texts(&new));
            let theirs = similar::TextDiff::from_lines(&old_text, &new_text);
            let ours = compared(&old, &new, None);
            prop_assert_eq!(ours.into_ops(), theirs.ops());
        }

        /// Against a crate that compares whole texts.
        #[test]
        fn short_texts_are_compared_as_a_whole_comparison_does(old in "([ab]?\n){0,12}[ab]?", new in "([ab]?\n){0,12}[ab]?") {
            let ours = diff("f", &old, &new);
            let (seen, whole) = sides(&ours.text);
            prop_assert!(whole, "{:?} in {}", seen, ours.text);
            let minus = |mark: char| -> usize { ours.text.lines().skip(2).filter(|line| line.starts_with(mark)).count() };
            prop_assert_eq!((minus('+'), minus('-')), (ours.added, ours.removed));
            prop_assert_eq!(old == new, ours.text.is_empty());
            let lines = |text: &str| text.split_inclusive('\n').count();
            prop_assert_eq!(lines(&old) + ours.added, lines(&new) + ours.removed);
        }
    }
}
