//! Patches and pairs of texts: our words know a change as a unified diff, this wire as old and new text.
//!
//! Pure. Invariants: the old and new texts of a patch's hunks are what its lines say, and a hunk that lacks lines has none; a patch made of
//! two texts turns the one into the other. Which of several possible patches it is, nobody promises.

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
    /// The file that it is of, where the diff names one.
    pub(super) file: Option<String>,
}

/// What a unified diff says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Patch<'a> {
    /// The places that are there whole.
    pub(super) hunks: Vec<Hunk>,
    /// From the first place on that lacks lines: to show it as a pair of texts would be a lie.
    pub(super) cut: Option<&'a str>,
}

/// Lines of a hunk that are still to come.
struct Open {
    starts_at: usize,
    hunk: Hunk,
    old_left: u64,
    new_left: u64,
    last: Side,
}

/// The places that a unified diff changes; none when the text is no diff. What stands between its hunks says nothing.
pub(super) fn read(text: &str) -> Patch<'_> {
    let mut patch = Patch::default();
    let mut open: Option<Open> = None;
    let mut file = None;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let (line, starts_at) = (whole.strip_suffix('\n').unwrap_or(whole), at);
        at += whole.len();
        let done = open.as_ref().is_some_and(|open| open.old_left == 0 && open.new_left == 0);
        if let Some(open) = &mut open
            && line.starts_with(NO_NEWLINE)
        {
            trim(&mut open.hunk, open.last);
            continue;
        }
        let head = if done || open.is_none() { header(line) } else { None };
        if let Some(head) = head {
            patch.hunks.extend(open.take().map(|open| open.hunk));
            let old = (head.old_from > 0).then(String::new);
            let hunk = Hunk { old, new: String::new(), line: head.new_from.max(1), file: file.clone() };
            let (old_left, new_left) = (head.old_count, head.new_count);
            open = Some(Open { starts_at, hunk, old_left, new_left, last: Side::Both });
            continue;
        }
        let Some(open) = open.as_mut().filter(|_| !done) else {
            file = named(line).or(file);
            continue;
        };
        if !open.takes(line) {
            break;
        }
    }
    match open {
        Some(open) if open.old_left > 0 || open.new_left > 0 => patch.cut = Some(&text[open.starts_at..]),
        Some(open) => patch.hunks.push(open.hunk),
        None => {}
    }
    patch
}

impl Open {
    /// Takes the next line; `false` when it is none of this hunk.
    fn takes(&mut self, line: &str) -> bool {
        let (side, words) = match line.as_bytes().first() {
            Some(b'-') => (Side::Old, &line[1..]),
            Some(b'+') => (Side::New, &line[1..]),
            Some(b' ') => (Side::Both, &line[1..]),
            None => (Side::Both, ""),
            Some(_) => return false,
        };
        let (of_old, of_new) = (side != Side::New, side != Side::Old);
        if of_old && self.old_left == 0 || of_new && self.new_left == 0 {
            return false;
        }
        if of_old {
            let old = self.hunk.old.get_or_insert_default();
            old.push_str(words);
            old.push('\n');
            self.old_left -= 1;
        }
        if of_new {
            self.hunk.new.push_str(words);
            self.hunk.new.push('\n');
            self.new_left -= 1;
        }
        self.last = side;
        true
    }
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

/// The head of a hunk: where it begins on both sides, and how many lines it has there.
struct Head {
    old_from: u64,
    old_count: u64,
    new_from: u64,
    new_count: u64,
}

/// The file that a head of a diff names.
fn named(line: &str) -> Option<String> {
    let (name, side) = match line.split_once(' ')? {
        ("---", name) => (name, "a/"),
        ("+++", name) => (name, "b/"),
        _ => return None,
    };
    (name != "/dev/null").then(|| name.strip_prefix(side).unwrap_or(name).to_owned())
}

/// `@@ -1,2 +3,4 @@`; a count of one may be left out.
fn header(line: &str) -> Option<Head> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |range: &str| -> Option<(u64, u64)> {
        let (from, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((from.parse().ok()?, count.parse().ok()?))
    };
    let ((old_from, old_count), (new_from, new_count)) = (range(old)?, range(new)?);
    Some(Head { old_from, old_count, new_from, new_count })
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
        let text = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n@@ -9 +9,2 @@\n nine\n+ten\n";
        let found = read(text).hunks;
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].old.as_deref(), found[0].new.as_str()), (Some("one\ntwo\n"), "one\nzwei\n"));
        assert_eq!(
            (found[1].old.as_deref(), found[1].new.as_str(), found[1].line),
            (Some("nine\n"), "nine\nten\n", 9)
        );
        assert_eq!(read("@@ -0,0 +1,1 @@\n+hi\n").hunks[0].old, None, "a new file");
        assert_eq!(
            read("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n").hunks[0].old.as_deref(),
            Some("a")
        );
        assert_eq!(read("just words"), Patch::default());
    }

    #[test]
    fn a_patch_of_several_files_says_of_which_each_place_is() {
        let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,1 @@\n-- gone\n-+++ gone\n+one\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hi\n\
                    --- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
        let files: Vec<_> = read(text).hunks.into_iter().map(|hunk| (hunk.file, hunk.new)).collect();
        let named = |file: &str, new: &str| (Some(file.to_owned()), new.to_owned());
        assert_eq!(files, [named("a.txt", "one\n"), named("new", "hi\n"), named("old", "")]);
    }

    #[test]
    fn a_place_that_lacks_lines_is_none() {
        let whole = "--- a\n+++ b\n@@ -1 +1 @@\n-one\n+eins\n";
        for rest in [
            "@@ -5,3 +5,3 @@\n-a\n+x\n\\ The diff is cut here: in all it adds 4 and removes 4 lines.\n",
            "@@ -5,3 +5,3 @@\n-a\n-b\n-c\n",
            "@@ -5,3 +5,3 @@\n",
            "@@ -5,1 +5,3 @@\n-a\n-b\n+x\n",
        ] {
            let text = format!("{whole}{rest}");
            let Patch { hunks, cut } = read(&text);
            assert_eq!((hunks.len(), cut), (1, Some(rest)));
            assert_eq!(hunks[0].new, "eins\n");
        }
    }

    proptest! {
        #[test]
        fn two_texts_become_a_patch_that_says_both(old in "([ab-]{0,2}\n){0,9}[ab]{0,1}", new in "([ab+]{0,2}\n){0,9}[ab]{0,1}") {
            prop_assume!(old != new);
            let patch = unified("a.txt", Some(&old), &new);
            let found = read(&patch).hunks;
            prop_assert_eq!(found.len(), 1);
            let before = found[0].old.clone().unwrap_or_default();
            prop_assert!(old.contains(&before), "{}", patch);
            prop_assert_eq!(old.replacen(&before, &found[0].new, 1).len(), new.len());
        }
    }
}
