//! Which removed line became which added one, and what changed in it. Both sides are told by one comparison.

use similar::DiffTag;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::ops::Range;

/// Lines longer than this are not compared word by word.
const MAX_WORD_LINE: usize = 600;
/// Pairs of lines that are held against each other at most; a larger block is simply other text.
const MAX_PAIRS: usize = 2_500;
/// Of a hundred parts of two lines, how many must be the same to call one the other, changed.
const ALIKE: usize = 50;

/// What stands out in each line: ranges of bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) removed: Vec<Vec<Range<usize>>>,
    pub(super) added: Vec<Vec<Range<usize>>>,
}

/// Finds the pairs of a block, and what differs in each.
pub(super) fn marks(removed: &[String], added: &[String]) -> Marks {
    let mut marks = Marks { removed: vec![Vec::new(); removed.len()], added: vec![Vec::new(); added.len()] };
    for (from, to) in pairs(removed, added) {
        (marks.removed[from], marks.added[to]) = differing(&removed[from], &added[to]);
    }
    marks
}

/// Lines that are alike, in order: the choice whose lines are alike most in all.
fn pairs(removed: &[String], added: &[String]) -> Vec<(usize, usize)> {
    if removed.len() * added.len() > MAX_PAIRS {
        return Vec::new();
    }
    let old: Vec<Vec<&str>> = removed.iter().map(|line| bag(line)).collect();
    let new: Vec<Vec<&str>> = added.iter().map(|line| bag(line)).collect();
    // best[i][j]: how much the lines from i and j on can have in common.
    let mut best = vec![vec![0; new.len() + 1]; old.len() + 1];
    let alike: Vec<Vec<usize>> =
        old.iter().map(|one| new.iter().map(|other| likeness(one, other)).collect()).collect();
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let both = if alike[i][j] >= ALIKE { alike[i][j] + best[i + 1][j + 1] } else { 0 };
            best[i][j] = both.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if best[i][j] == best[i + 1][j] {
            i += 1;
        } else if best[i][j] == best[i][j + 1] {
            j += 1;
        } else {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    pairs
}

/// The words and signs of a line, sorted; blanks make no two lines alike.
fn bag(line: &str) -> Vec<&str> {
    if line.len() > MAX_WORD_LINE {
        return Vec::new();
    }
    let mut words: Vec<&str> = words(line).into_iter().filter(|word| !word.trim().is_empty()).collect();
    words.sort_unstable();
    words
}

/// How many of a hundred parts of two lines are the same.
fn likeness(one: &[&str], other: &[&str]) -> usize {
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let total = length(one) + length(other);
    let (mut i, mut j, mut same) = (0, 0, 0);
    while i < one.len() && j < other.len() {
        match one[i].cmp(other[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                same += one[i].len();
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    (200 * same).checked_div(total).unwrap_or(0)
}

/// A line cut into words, blanks and single signs.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let kind = kind(c);
        if at > from && (last != Some(kind) || kind == 2) {
            words.push(&line[from..at]);
            from = at;
        }
        last = Some(kind);
    }
    words.push(&line[from..]);
    words
}

/// What stands only in the one and only in the other.
fn differing(one: &str, other: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old, new) = (words(one), words(other));
    let (mut gone, mut come) = (vec![false; old.len()], vec![false; new.len()]);
    // By its name: where the algorithm is chosen while the program runs, every one of them is compiled in.
    let mut steps = Compact::new(Replace::new(Capture::new()), &old, &new);
    let Ok(()) = myers::diff(&mut steps, &old, 0..old.len(), &new, 0..new.len());
    for op in steps.into_inner().into_inner().into_ops() {
        let (tag, from, to) = op.as_tag_tuple();
        if tag != DiffTag::Equal {
            gone[from].fill(true);
            come[to].fill(true);
        }
    }
    (ranges(&old, gone), ranges(&new, come))
}

/// The marked words as ranges; a blank between two marked words belongs to them.
fn ranges(words: &[&str], mut marked: Vec<bool>) -> Vec<Range<usize>> {
    for at in 1..words.len().saturating_sub(1) {
        if marked[at - 1] && marked[at + 1] && words[at].trim().is_empty() {
            marked[at] = true;
        }
    }
    // A mark neither begins nor ends with a blank, unless blanks are all that changed.
    let is_blank = |at: usize| words[at].trim().is_empty();
    if (0..words.len()).any(|at| marked[at] && !is_blank(at)) {
        let apart = |marked: &[bool], at: usize| {
            at == 0 || at + 1 == words.len() || !marked[at - 1] || !marked[at + 1]
        };
        for at in (0..words.len()).filter(|at| is_blank(*at)) {
            marked[at] &= !apart(&marked, at);
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for (word, marked) in words.iter().zip(marked) {
        let end = from + word.len();
        match ranges.last_mut() {
            Some(last) if marked && last.end == from => last.end = end,
            _ if marked => ranges.push(from..end),
            _ => {}
        }
        from = end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines of both sides, with what stands out in brackets.
    fn marked(removed: &[&str], added: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let marks = marks(&owned(removed), &owned(added));
        let show = |lines: &[&str], marks: &[Vec<Range<usize>>]| {
            let line = |(line, marks): (&&str, &Vec<Range<usize>>)| {
                let mut shown = (*line).to_owned();
                for mark in marks.iter().rev() {
                    shown.insert(mark.end, ']');
                    shown.insert(mark.start, '[');
                }
                shown
            };
            lines.iter().zip(marks).map(line).collect::<Vec<_>>()
        };
        (show(removed, &marks.removed), show(added, &marks.added))
    }

    #[test]
    fn lines_are_paired_by_likeness_not_by_their_place() {
        let (removed, added) = marked(
            &[
                "def total(items):",
                "    s = 0",
                "    for i in items:",
                "        s += i",
                "    print(\"start\")",
            ],
            &["def total(items: list) -> int:", "    print(\"start: \" + name)", "    return sum(items)"],
        );
        assert_eq!(
            removed,
            [
                "def total(items):",
                "    s = 0",
                "    for i in items:",
                "        s += i",
                "    print(\"start\")"
            ]
        );
        assert_eq!(
            added,
            [
                "def total(items[: list]) [-> int]:",
                "    print(\"start[:] \" [+ name])",
                "    return sum(items)"
            ]
        );
    }

    #[test]
    fn both_sides_are_told_by_one_comparison() {
        let (removed, added) = marked(&["let a = one(1);"], &["let b = one(2);"]);
        assert_eq!(removed, ["let [a] = one([1]);"]);
        assert_eq!(added, ["let [b] = one([2]);"]);
    }

    #[test]
    fn blanks_make_no_two_lines_alike() {
        let (removed, added) = marked(&["            x"], &["            y"]);
        assert_eq!((removed[0].as_str(), added[0].as_str()), ("            x", "            y"));
    }

    #[test]
    fn a_huge_block_costs_no_comparison() {
        let lines: Vec<String> = (0..200).map(|n| format!("line {n}")).collect();
        assert!(pairs(&lines, &lines).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_not_marked_is_the_same_on_both_sides(one in "[ab(; é]{0,20}", other in "[ab(; é]{0,20}") {
            let (gone, come) = differing(&one, &other);
            let rest = |line: &str, marks: &[Range<usize>]| {
                let inside = |at: usize| marks.iter().any(|mark| mark.contains(&at));
                line.char_indices().filter(|(at, c)| !inside(*at) && *c != ' ').map(|(_, c)| c).collect::<String>()
            };
            prop_assert_eq!(rest(&one, &gone), rest(&other, &come));
        }

        #[test]
        fn pairs_never_cross(lines in prop::collection::vec("[ab]{1,3} [ab]{1,3}", 0..8), others in prop::collection::vec("[ab]{1,3} [ab]{1,3}", 0..8)) {
            let pairs = pairs(&lines, &others);
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
