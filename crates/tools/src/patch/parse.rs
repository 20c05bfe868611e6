//! The form of patches that models of the GPT family are trained on: `*** Begin Patch`, files to add, update, move or delete, and hunks
//! that are found by their lines instead of by numbers. Pure. Lenient about what stands around a patch and about its first and last
//! line, never about what it says. A unified diff in its place is read by `unified`.

use super::unified;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const HUNK: &str = "@@";

/// One file of a patch, as the model wrote it: paths are not looked at yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilePatch<'a> {
    Add { path: &'a str, text: String },
    Delete { path: &'a str },
    Update { path: &'a str, to: Option<&'a str>, hunks: Vec<Hunk<'a>> },
}

/// One place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk<'a> {
    /// Lines that stand somewhere before it, the outermost first: a class, a function.
    pub(super) below: Vec<&'a str>,
    pub(super) lines: Vec<Line<'a>>,
    /// It is at the end of the file.
    pub(super) at_end: bool,
    /// Where it begins in the file, from 1, in patches that say so: it decides where the lines stand in several places.
    pub(super) line: Option<usize>,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Stays(&'a str),
    Goes(&'a str),
    Comes(&'a str),
}

/// Reads a patch; where it is none, what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch<'_>>, String> {
    let text = unfenced(text);
    let begins = text.lines().filter(|line| line.trim() == BEGIN).count();
    if begins > 1 {
        return Err(format!("`{BEGIN}` is there twice: give one patch for all files"));
    }
    let named = |line: &str| [ADD, DELETE, UPDATE].iter().any(|mark| line.starts_with(mark));
    if begins == 0 && !text.lines().find(|line| !line.trim().is_empty()).is_some_and(named) {
        if unified::is_one(text) {
            return unified::parse(text);
        }
        return Err(format!("a patch begins with the line `{BEGIN}`"));
    }
    let mut lines = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate().peekable();
    if begins == 1 {
        lines.by_ref().find(|(_, line)| line.trim() == BEGIN);
    }
    let mut files = Vec::new();
    while let Some((at, line)) = lines.next() {
        let line = line.trim_end();
        let wrong = |why: &str| format!("line {} of the patch: {why}", at + 1);
        if line.trim() == END {
            return if files.is_empty() { Err("the patch changes nothing".to_owned()) } else { Ok(files) };
        }
        let body = |line: &str| !line.starts_with("*** ");
        if let Some(path) = line.strip_prefix(ADD) {
            let mut text = String::new();
            while let Some((at, line)) = lines.next_if(|(_, line)| body(line)) {
                let Some(line) = line.strip_prefix('+') else {
                    return Err(format!(
                        "line {} of the patch: each line of a new file begins with `+`",
                        at + 1
                    ));
                };
                text.push_str(line);
                text.push('\n');
            }
            files.push(FilePatch::Add { path: path.trim(), text });
        } else if let Some(path) = line.strip_prefix(DELETE) {
            files.push(FilePatch::Delete { path: path.trim() });
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let to = lines.next_if(|(_, line)| line.starts_with(MOVE));
            let to = to.and_then(|(_, line)| line.strip_prefix(MOVE)).map(str::trim);
            let mut hunks: Vec<Hunk<'_>> = Vec::new();
            while let Some((at, line)) =
                lines.next_if(|(_, line)| body(line) || line.trim_end() == END_OF_FILE)
            {
                take(&mut hunks, line).map_err(|why| format!("line {} of the patch: {why}", at + 1))?;
            }
            hunks.retain(|hunk| !hunk.lines.is_empty());
            if hunks.is_empty() && to.is_none() {
                return Err(wrong("this file has no changes"));
            }
            files.push(FilePatch::Update { path: path.trim(), to, hunks });
        } else if !line.is_empty() {
            return Err(wrong(
                "expected `*** Add File: `, `*** Update File: `, `*** Delete File: ` or `*** End Patch`",
            ));
        }
    }
    // The text itself is whole: that its last line is left out means nothing.
    if files.is_empty() { Err("the patch changes nothing".to_owned()) } else { Ok(files) }
}

/// The text without the fence that it stands in, and without blank lines after it.
fn unfenced(text: &str) -> &str {
    let text = text.trim_end();
    let begins = text.trim_start().starts_with("```");
    text.strip_suffix("```").filter(|_| begins).map_or(text, str::trim_end)
}

/// Takes the next line of an updated file.
fn take<'a>(hunks: &mut Vec<Hunk<'a>>, line: &'a str) -> Result<(), &'static str> {
    if let Some(below) = line.strip_prefix(HUNK) {
        // Several in a row lead from the outside in.
        if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            hunks.push(Hunk::default());
        }
        let below = below.trim().trim_end_matches(HUNK).trim();
        // What git writes after a range may be cut.
        let below = below
            .split_once(HUNK)
            .filter(|(range, _)| is_range(range.trim()))
            .map_or(below, |(range, _)| range.trim());
        if let Some(hunk) = hunks.last_mut().filter(|_| !below.is_empty() && !is_range(below)) {
            hunk.below.push(below);
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    if line.trim_end() == END_OF_FILE {
        hunk.at_end = true;
        return Ok(());
    }
    let mut letters = line.chars();
    hunk.lines.push(match letters.next() {
        Some('+') => Line::Comes(letters.as_str()),
        Some('-') => Line::Goes(letters.as_str()),
        Some(' ') => Line::Stays(letters.as_str()),
        None => Line::Stays(""),
        Some(_) => return Err("a line of a hunk begins with a blank, `-` or `+`"),
    });
    Ok(())
}

/// Numbers of lines as other diffs have them: `-1,2 +3,4`. They say nothing that is sure.
fn is_range(text: &str) -> bool {
    text.starts_with('-') && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | ',' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read() {
        let text = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** Update File: x.py\n*** Move to: y.py\n@@ class A\n\
                    @@ def f():\n stays\n\n-goes\n+comes\n@@ -1,2 +3,4 @@\n+last\n*** End of File\n*** Delete File: z\n*** End Patch\n";
        let hunks = vec![
            Hunk {
                below: vec!["class A", "def f():"],
                lines: vec![Line::Stays("stays"), Line::Stays(""), Line::Goes("goes"), Line::Comes("comes")],
                ..Hunk::default()
            },
            Hunk { lines: vec![Line::Comes("last")], at_end: true, ..Hunk::default() },
        ];
        let files = vec![
            FilePatch::Add { path: "a b.txt", text: "one\n\n".to_owned() },
            FilePatch::Update { path: "x.py", to: Some("y.py"), hunks },
            FilePatch::Delete { path: "z" },
        ];
        assert_eq!(parse(text), Ok(files.clone()));
        // As shells are given it, and with other ends of lines.
        assert_eq!(parse(&format!("apply_patch <<'EOF'\n{}EOF", text.replace('\n', "\r\n"))), Ok(files));
    }

    #[test]
    fn first_and_last_line_and_a_fence_are_not_needed() {
        let delete = Ok(vec![FilePatch::Delete { path: "x" }]);
        for text in [
            "*** Begin Patch\n*** Delete File: x",
            "*** Delete File: x\n\n",
            "\n*** Delete File: x\n*** End Patch",
            "```\n*** Begin Patch\n*** Delete File: x\n```\n",
            "```diff\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n```",
        ] {
            assert_eq!(parse(text), delete, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_patch_is_told_by_its_line() {
        for (text, told) in [
            ("", "begins with the line"),
            ("*** Begin Patch\n*** End Patch", "changes nothing"),
            (
                "*** Begin Patch\n*** Delete File: x\n*** End Patch\n*** Begin Patch\n*** Delete File: y",
                "twice",
            ),
            ("*** Begin Patch\nhello\n*** End Patch", "line 2 of the patch"),
            ("*** Begin Patch\n*** Add File: x\nhello\n*** End Patch", "line 3 of the patch"),
            (
                "*** Begin Patch\n*** Update File: x\n@@\n*** End Patch",
                "line 2 of the patch: this file has no changes",
            ),
            (
                "*** Begin Patch\n*** Update File: x\nfoo\n*** End Patch",
                "line 3 of the patch: a line of a hunk",
            ),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(told), "{text:?}: {why}");
        }
    }
}
