//! Patches and pairs of texts: our words know a change as a unified diff, this wire as old and new text.
//!
//! Pure. Invariants: the old and new texts of a patch's hunks are what its lines say; a patch made of two texts turns the one into the
//! other. Which of several possible patches it is, nobody promises.

use std::fmt::Write as _;

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;
/// What unified diffs say where a text does not end with a line break.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// One place of a file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Absent when there was no such file.
    pub(super) old: Option<String>,
    pub(super) new: String,
    /// The first line of it after the change, counted from 1.
    pub(super) line: u64,
}

/// The places that a unified diff changes; empty when the text is none.
pub(super) fn hunks(text: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut last = Side::Both;
    for line in text.lines() {
        if let Some((old_start, new_start)) = header(line) {
            let old = (old_start > 0).then(String::new);
            hunks.push(Hunk { old, new: String::new(), line: new_start.max(1) });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let (side, words) = match line.chars().next() {
            Some('-') => (Side::Old, &line[1..]),
            Some('+') => (Side::New, &line[1..]),
            Some(' ') => (Side::Both, &line[1..]),
            None => (Side::Both, ""),
            Some('\\') => {
                trim(hunk, last);
                continue;
            }
            Some(_) => continue,
        };
        last = side;
        if side != Side::New {
            let old = hunk.old.get_or_insert_default();
            old.push_str(words);
            old.push('\n');
        }
        if side != Side::Old {
            hunk.new.push_str(words);
            hunk.new.push('\n');
        }
    }
    hunks
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
    Both,
}

/// The last line of a side has no line break.
fn trim(hunk: &mut Hunk, side: Side) {
    let cut = |text: &mut String| {
        if text.ends_with('\n') {
            text.pop();
        }
    };
    if side != Side::New {
        hunk.old.as_mut().map(cut);
    }
    if side != Side::Old {
        cut(&mut hunk.new);
    }
}

/// `@@ -1,2 +3,4 @@`: the first lines of both sides.
fn header(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(old)?, first(new)?))
}

/// A patch that turns one text into the other, with one hunk from the first change to the last.
pub(super) fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let before: Vec<&str> = lines(old.unwrap_or_default());
    let after: Vec<&str> = lines(new);
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let room = before.len().min(after.len()) - same;
    let tail = before.iter().rev().zip(after.iter().rev()).take(room);
    let same_end = tail.take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(CONTEXT);
    let (old_end, new_end) = (before.len() - same_end, after.len() - same_end);
    let around = same_end.min(CONTEXT);
    let mut text = format!("--- {path}\n+++ {path}\n");
    let range = |from: usize, count: usize| (if count == 0 { from } else { from + 1 }, count);
    let (old_from, old_count) = range(from, old_end + around - from);
    let (new_from, new_count) = range(from, new_end + around - from);
    let _ = writeln!(text, "@@ -{old_from},{old_count} +{new_from},{new_count} @@");
    for line in &before[from..same] {
        push(&mut text, ' ', line);
    }
    for line in &before[same..old_end] {
        push(&mut text, '-', line);
    }
    for line in &after[same..new_end] {
        push(&mut text, '+', line);
    }
    for line in &before[old_end..old_end + around] {
        push(&mut text, ' ', line);
    }
    text
}

/// The lines of a text with their line breaks.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(text: &mut String, mark: char, line: &str) {
    text.push(mark);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push('\n');
        text.push_str(NO_NEWLINE);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_patch_shows_each_place_before_and_after() {
        let text = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n@@ -9,1 +9,2 @@\n nine\n+ten\n";
        let found = hunks(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].old.as_deref(), found[0].new.as_str()), (Some("one\ntwo\n"), "one\nzwei\n"));
        assert_eq!(
            (found[1].old.as_deref(), found[1].new.as_str(), found[1].line),
            (Some("nine\n"), "nine\nten\n", 9)
        );
        assert_eq!(hunks("@@ -0,0 +1,1 @@\n+hi\n")[0].old, None, "a new file");
        assert_eq!(hunks("just words"), []);
    }

    proptest! {
        #[test]
        fn two_texts_become_a_patch_that_says_both(old in "([ab-]{0,2}\n){0,9}[ab]{0,1}", new in "([ab+]{0,2}\n){0,9}[ab]{0,1}") {
            prop_assume!(old != new);
            let patch = unified("a.txt", Some(&old), &new);
            let found = hunks(&patch);
            prop_assert_eq!(found.len(), 1);
            let before = found[0].old.clone().unwrap_or_default();
            prop_assert!(old.contains(&before), "{}", patch);
            prop_assert_eq!(old.replacen(&before, &found[0].new, 1).len(), new.len());
        }
    }
}
