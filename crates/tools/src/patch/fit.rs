//! Hunks on a text: each is found by its lines, after the one before it. Pure.
//!
//! What always holds: lines that stay keep their bytes, ends of lines included; nothing is changed where a hunk does not fit.

use super::parse::{Hunk, Line};
use crate::nearest::nearest;

/// The text after all hunks; what does not fit, in words.
pub(super) fn apply(text: &str, hunks: &[Hunk<'_>]) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ending = usual_ending(&lines);
    let (mut done, mut copied, mut from) = (Vec::new(), 0, 0);
    for (number, hunk) in hunks.iter().enumerate() {
        let which = if hunks.len() == 1 { "the hunk".to_owned() } else { format!("hunk {}", number + 1) };
        for below in &hunk.below {
            let found =
                (from..lines.len()).find(|at| lines.get(*at).is_some_and(|line| line.trim() == *below));
            from = found
                .ok_or_else(|| format!("{which}: `{below}` does not stand in the rest of the file"))?
                + 1;
        }
        let old: Vec<&str> = hunk.lines.iter().filter_map(Line::old).collect();
        let at = match old.as_slice() {
            // With nothing to be found by, it comes after what it is below, else at the end.
            [] if hunk.below.is_empty() || hunk.at_end => lines.len(),
            [] => from,
            old => {
                find(&lines, old, from, hunk.at_end).ok_or_else(|| missing(text, &old.join("\n"), &which))?
            }
        };
        done.extend(lines.iter().take(at).skip(copied).map(|line| (*line).to_owned()));
        let mut here = at;
        for line in &hunk.lines {
            match line {
                Line::Comes(new) => done.push(format!("{new}{}", ending_at(&lines, here).unwrap_or(ending))),
                Line::Stays(_) => {
                    done.extend(lines.get(here).map(|line| (*line).to_owned()));
                    here += 1;
                }
                Line::Goes(_) => here += 1,
            }
        }
        (copied, from) = (here, here);
    }
    done.extend(lines.iter().skip(copied).map(|line| (*line).to_owned()));
    Ok(joined(done, ending, text.is_empty() || text.ends_with('\n')))
}

impl<'a> Line<'a> {
    /// The line as it stands in the file before.
    fn old(&self) -> Option<&'a str> {
        match self {
            Line::Stays(text) | Line::Goes(text) => Some(text),
            Line::Comes(_) => None,
        }
    }
}

/// Where the lines stand, from a line on; blanks at their ends do not count where nothing fits exactly.
fn find(lines: &[&str], old: &[&str], from: usize, at_end: bool) -> Option<usize> {
    let exact: fn(&str, &str) -> bool = |line, wanted| body(line) == wanted;
    let loose: fn(&str, &str) -> bool = |line, wanted| line.trim_end() == wanted.trim_end();
    let last = lines.len().checked_sub(old.len())?;
    let from = if at_end { from.max(last) } else { from };
    [exact, loose].into_iter().find_map(|alike| {
        (from..=last).find(|at| lines.iter().skip(*at).zip(old).all(|(line, wanted)| alike(line, wanted)))
    })
}

fn missing(text: &str, old: &str, which: &str) -> String {
    let missing = format!("{which}: its lines do not stand in the file in this order");
    match nearest(text, old) {
        Some(nearest) => format!("{missing}; {nearest}"),
        None => format!("{missing}: read the file again and copy them exactly"),
    }
}

fn body(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// How the line ends, if it does.
fn ending_of(line: &str) -> Option<&'static str> {
    if line.ends_with("\r\n") {
        Some("\r\n")
    } else if line.ends_with('\n') {
        Some("\n")
    } else {
        None
    }
}

fn ending_at(lines: &[&str], at: usize) -> Option<&'static str> {
    lines.get(at).or_else(|| lines.last()).and_then(|line| ending_of(line))
}

fn usual_ending(lines: &[&str]) -> &'static str {
    let crlf = lines.iter().filter(|line| line.ends_with("\r\n")).count();
    if crlf * 2 > lines.len() { "\r\n" } else { "\n" }
}

/// The lines as one text. One that ended the text without an end of its own gets one where others follow it.
fn joined(mut lines: Vec<String>, ending: &str, ends: bool) -> String {
    if let Some((last, others)) = lines.split_last_mut() {
        for line in others.iter_mut().filter(|line| ending_of(line).is_none()) {
            line.push_str(ending);
        }
        if !ends {
            last.truncate(body(last).len());
        }
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::parse::{FilePatch, parse};
    use proptest::prelude::*;

    fn patched(text: &str, hunks: &str) -> Result<String, String> {
        let patch = format!("*** Begin Patch\n*** Update File: x\n{hunks}\n*** End Patch");
        match parse(&patch)?.as_slice() {
            [FilePatch::Update { hunks, .. }] => apply(text, hunks),
            other => Err(format!("{other:?}")),
        }
    }

    const TEXT: &str = "class A:\n    def f():\n        pass\n\nclass B:\n    def f():\n        pass\n";

    #[test]
    fn a_hunk_is_found_below_what_it_names() {
        let done = patched(TEXT, "@@ class B:\n@@ def f():\n-        pass\n+        return 1").unwrap();
        assert_eq!(
            done,
            TEXT.replacen("B:\n    def f():\n        pass", "B:\n    def f():\n        return 1", 1)
        );
        let done = patched(TEXT, "@@ class A:\n+    x = 1").unwrap();
        assert!(done.starts_with("class A:\n    x = 1\n    def f"), "{done}");
        assert!(patched(TEXT, "+# the end").unwrap().ends_with("pass\n# the end\n"));
        let done = patched(TEXT, "-        pass\n+        last\n*** End of File").unwrap();
        assert!(done.ends_with("class B:\n    def f():\n        last\n") && done.contains("pass"), "{done}");
    }

    #[test]
    fn what_stays_keeps_its_bytes() {
        assert_eq!(patched("a  \r\nb\nc\r\n", " a\n-b\n+B\n+D\n c").unwrap(), "a  \r\nB\r\nD\r\nc\r\n");
        assert_eq!(patched("a\nb", "-b\n+c").unwrap(), "a\nc", "no end of line is made up");
        assert_eq!(patched("a\nb", "+c").unwrap(), "a\nb\nc");
        assert_eq!(patched("", "+c").unwrap(), "c\n");
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_is_there() {
        let why = patched(TEXT, "@@ class C:\n-x").unwrap_err();
        assert!(why.contains("`class C:` does not stand"), "{why}");
        let why = patched("let a = “x”;\n", "-let a = \"x\";\n+b").unwrap_err();
        assert!(why.contains("nearest is at line 1 (it differs in quotes"), "{why}");
    }

    proptest! {
        #[test]
        fn two_texts_as_one_hunk_lead_from_one_to_the_other(
            old in proptest::collection::vec("[a-c]{0,2}", 1..8),
            new in proptest::collection::vec("[a-c]{0,2}", 0..8),
        ) {
            let goes = old.iter().map(|line| format!("-{line}\n"));
            let comes = new.iter().map(|line| format!("+{line}\n"));
            let hunk: String = goes.chain(comes).collect();
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            prop_assert_eq!(patched(&text(&old), hunk.trim_end_matches('\n')), Ok(text(&new)));
        }
    }
}
