//! Unified diffs, as `diff -u` and git write them and models repeat them. Pure. Counts of lines are not believed, and line numbers only
//! where the lines alone leave a choice; what a diff cannot say here (modes, binary files) is refused.

use super::parse::{FilePatch, Hunk, Line};

const NULL: &str = "/dev/null";

/// Whether a text holds a unified diff: the two lines that name a file, and a place in it.
pub(super) fn is_one(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).any(|at| names(&lines, at).is_some())
        || lines.iter().any(|line| line.starts_with("rename from "))
}

/// Reads it; where something in it cannot be done, what.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch<'_>>, String> {
    let lines: Vec<&str> = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let (mut files, mut renamed, mut at) = (Vec::new(), None, 0);
    while let Some(line) = lines.get(at) {
        let wrong = |why: &str| format!("line {} of the patch: {why}", at + 1);
        if let Some((old, new)) = names(&lines, at) {
            let (hunks, next) = hunks(&lines, at + 2)?;
            let file = file(old, new, hunks, renamed.take()).map_err(|why| wrong(&why))?;
            files.push(file);
            at = next;
            continue;
        }
        if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(wrong("a binary file cannot be patched here"));
        }
        if line.starts_with("old mode ") || line.starts_with("new mode ") {
            return Err(wrong("a patch cannot change a file's mode: use chmod"));
        }
        if line.starts_with("@@") {
            return Err(wrong("no file is named before it: `--- a/PATH` and `+++ b/PATH`"));
        }
        if let Some(from) = line.strip_prefix("rename from ") {
            let to = lines.get(at + 1).and_then(|line| line.strip_prefix("rename to "));
            let to = to.ok_or_else(|| wrong("`rename to` does not follow"))?;
            let has_hunks = lines
                .iter()
                .skip(at + 2)
                .take_while(|line| !line.starts_with("diff --git "))
                .any(|line| line.starts_with("--- "));
            if has_hunks {
                renamed = Some((from.trim(), to.trim()));
            } else {
                files.push(FilePatch::Update { path: from.trim(), to: Some(to.trim()), hunks: Vec::new() });
            }
            at += 1;
        }
        at += 1;
    }
    if files.is_empty() { Err("the patch changes nothing".to_owned()) } else { Ok(files) }
}

/// The names of a file before and after, if they stand here. A line of a hunk may look like one of them, but not like both.
fn names<'a>(lines: &[&'a str], at: usize) -> Option<(&'a str, &'a str)> {
    let old = lines.get(at)?.strip_prefix("--- ")?;
    let new = lines.get(at + 1)?.strip_prefix("+++ ")?;
    let follows =
        lines.get(at + 2).is_none_or(|line| line.starts_with("@@") || line.starts_with("diff --git "));
    // After a tab comes a time.
    let name = |text: &'a str| text.split('\t').next().unwrap_or_default().trim();
    follows.then(|| (name(old), name(new)))
}

fn file<'a>(
    old: &'a str,
    new: &'a str,
    hunks: Vec<Hunk<'a>>,
    renamed: Option<(&'a str, &'a str)>,
) -> Result<FilePatch<'a>, String> {
    if old == NULL {
        let path = new.strip_prefix("b/").unwrap_or(new);
        let mut text = String::new();
        for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
            let Line::Comes(line) = line else {
                return Err("each line of a new file begins with `+`".to_owned());
            };
            text.push_str(line);
            text.push('\n');
        }
        return Ok(FilePatch::Add { path, text });
    }
    if new == NULL {
        return Ok(FilePatch::Delete { path: old.strip_prefix("a/").unwrap_or(old) });
    }
    let (old, new) = match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (old, new),
    };
    if hunks.is_empty() {
        return Err("this file has no changes".to_owned());
    }
    match renamed {
        Some((from, to)) => Ok(FilePatch::Update { path: from, to: Some(to), hunks }),
        None if old == new => Ok(FilePatch::Update { path: old, to: None, hunks }),
        None => Err(format!("`{old}` and `{new}` are two files: name the same one twice")),
    }
}

/// The hunks of a file from a line on, and where they end.
fn hunks<'a>(lines: &[&'a str], from: usize) -> Result<(Vec<Hunk<'a>>, usize), String> {
    let (mut hunks, mut at) = (Vec::<Hunk<'_>>::new(), from);
    while let Some(line) = lines.get(at).copied() {
        if line.starts_with("diff --git ") || names(lines, at).is_some() {
            break;
        }
        if let Some(range) = line.strip_prefix("@@") {
            hunks.push(Hunk { line: Some(first_line(range)), ..Hunk::default() });
        } else if let Some(hunk) = hunks.last_mut().filter(|_| !line.starts_with('\\')) {
            let mut letters = line.chars();
            hunk.lines.push(match letters.next() {
                Some('+') => Line::Comes(letters.as_str()),
                Some('-') => Line::Goes(letters.as_str()),
                Some(' ') => Line::Stays(letters.as_str()),
                None => Line::Stays(""),
                Some(_) => {
                    return Err(format!(
                        "line {} of the patch: a line of a hunk begins with a blank, `-` or `+`",
                        at + 1
                    ));
                }
            });
        }
        at += 1;
    }
    for hunk in &mut hunks {
        // A blank line before what follows is of the page, not of the file.
        while hunk.lines.last() == Some(&Line::Stays("")) {
            hunk.lines.pop();
        }
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    Ok((hunks, at))
}

/// The first line of a range such as ` -12,3 +12,4 @@`, from 1; 0 where it says none.
fn first_line(range: &str) -> usize {
    let digits = range.trim_start().strip_prefix('-').unwrap_or_default();
    digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_changed_made_deleted_and_renamed() {
        let text = "Here it is:\ndiff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\t2026-01-01\n+++ b/x.rs\n@@ -1,2 +1,2 @@ fn main() {\n a\n--- b\n+++ c\n\
                    \\ No newline at end of file\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n\
                    diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n";
        let lines = vec![Line::Stays("a"), Line::Goes("-- b"), Line::Comes("++ c")];
        let expected = vec![
            FilePatch::Update {
                path: "x.rs",
                to: None,
                hunks: vec![Hunk { lines, line: Some(1), ..Hunk::default() }],
            },
            FilePatch::Add { path: "new", text: "n\n".into() },
            FilePatch::Delete { path: "gone" },
            FilePatch::Update { path: "p", to: Some("q"), hunks: vec![] },
        ];
        assert!(is_one(text));
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn what_cannot_be_done_is_told() {
        for (text, told) in [
            ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "two files"),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\nfoo\n", "line 4 of the patch"),
            ("old mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "use chmod"),
            ("Binary files a/x and b/x differ\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "binary"),
            ("@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "no file is named"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(told), "{text:?}: {why}");
        }
        assert!(!is_one("--- a list\n+ something\n"));
    }
}
