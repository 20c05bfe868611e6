//! The form of patches that models of the GPT family are trained on: `*** Begin Patch`, files to add, update, move or delete, and hunks
//! that are found by their lines instead of by numbers. Pure. Lenient about what stands around a patch, never about what it says.

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
    let mut lines = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate().peekable();
    if !lines.by_ref().any(|(_, line)| line.trim() == BEGIN) {
        return Err(format!("a patch begins with the line `{BEGIN}`"));
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
    Err(format!("the patch has no end: its last line is `{END}`"))
}

/// Takes the next line of an updated file.
fn take<'a>(hunks: &mut Vec<Hunk<'a>>, line: &'a str) -> Result<(), &'static str> {
    if let Some(below) = line.strip_prefix(HUNK) {
        // Several in a row lead from the outside in.
        if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            hunks.push(Hunk::default());
        }
        let below = below.trim().trim_end_matches(HUNK).trim();
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
                at_end: false,
            },
            Hunk { below: vec![], lines: vec![Line::Comes("last")], at_end: true },
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
    fn what_is_no_patch_is_told_by_its_line() {
        for (text, told) in [
            ("", "begins with the line"),
            ("*** Begin Patch\n*** End Patch", "changes nothing"),
            ("*** Begin Patch\n*** Delete File: x", "no end"),
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
