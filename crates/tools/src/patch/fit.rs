//! Hunks on a text: each is found by its lines, after the one before it. Pure.
//!
//! What always holds: lines that stay keep their bytes, ends of lines included; nothing is changed where a hunk does not fit.

use super::parse::{Hunk, Line};
use crate::loose::{self, FitHunk};
use crate::nearest::nearest;

/// How sure a place has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// The first that fits is meant: hunks stand in the order of the file.
    First,
    /// The model has not seen the file as it is: the only one that fits is meant.
    Only,
}

/// The text after all hunks; what does not fit, in words.
pub(super) fn apply(text: &str, hunks: &[Hunk<'_>], sure: Sure) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ending = usual_ending(&lines);
    let (mut done, mut copied, mut from) = (Vec::new(), 0, 0);
    for (number, hunk) in hunks.iter().enumerate() {
        let which = if hunks.len() == 1 { "the hunk".to_owned() } else { format!("hunk {}", number + 1) };
        for below in &hunk.below {
            let found =
                (from..lines.len()).find(|at| lines.get(*at).is_some_and(|line| line.trim() == *below));
            from = found.ok_or_else(|| format!("{which}: `{below}` is not in the rest of the file"))? + 1;
        }
        let place = place(text, &lines, hunk, from, sure, &which)?;
        done.extend(lines.iter().take(place.at).skip(copied).map(|line| (*line).to_owned()));
        let (mut here, mut comes) = (place.at, place.comes.into_iter());
        for line in &hunk.lines {
            match line {
                Line::Comes(_) => {
                    let new = comes.next().unwrap_or_default();
                    done.push(format!("{new}{}", ending_at(&lines, here).unwrap_or(ending)));
                }
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

/// Where a hunk goes, and the lines that come there.
fn place(
    text: &str,
    lines: &[&str],
    hunk: &Hunk<'_>,
    from: usize,
    sure: Sure,
    which: &str,
) -> Result<FitHunk, String> {
    let old: Vec<&str> = hunk.lines.iter().filter_map(Line::old).collect();
    let comes: Vec<&str> = hunk.lines.iter().filter_map(Line::coming).collect();
    let as_they_are = |at| FitHunk { at, comes: comes.iter().map(|line| (*line).to_owned()).collect() };
    if old.is_empty() {
        if (hunk.line.is_some() || sure == Sure::Only) && !text.is_empty() {
            return Err(format!("{which}: it has no line that is in the file: give some around it"));
        }
        // With nothing to be found by, it comes after what it is below, else at the end.
        return Ok(as_they_are(if hunk.below.is_empty() || hunk.at_end { lines.len() } else { from }));
    }
    let found = find(lines, &old, from, hunk.at_end);
    match (found.as_slice(), hunk.line) {
        ([], _) => {}
        ([at], _) => return Ok(as_they_are(*at)),
        ([at, ..], None) if sure == Sure::First => return Ok(as_they_are(*at)),
        (many, line) => {
            // The number decides only where it is exact.
            let named = many.iter().find(|at| line == Some(*at + 1) && sure == Sure::First);
            let several = || {
                format!("{which}: its lines are in the file {} times: give more lines around it", many.len())
            };
            return named.map(|at| as_they_are(*at)).ok_or_else(several);
        }
    }
    let bodies: Vec<&str> = lines.iter().map(|line| body(line)).collect();
    let from = if hunk.at_end { from.max(lines.len().saturating_sub(old.len())) } else { from };
    let fitted = loose::fit_hunk(&bodies, from, &old, &comes, &partners(&hunk.lines));
    fitted.ok_or_else(|| missing(text, &old.join("\n"), which))
}

/// For each line that comes the old line that it takes the place of: where as many come as went right before.
fn partners(lines: &[Line<'_>]) -> Vec<Option<usize>> {
    let (mut partners, mut old, mut at) = (Vec::new(), 0, 0);
    while at < lines.len() {
        let rest = lines.get(at..).unwrap_or_default();
        let goes = rest.iter().take_while(|line| matches!(line, Line::Goes(_))).count();
        let comes = rest.iter().skip(goes).take_while(|line| matches!(line, Line::Comes(_))).count();
        partners.extend((0..comes).map(|nth| (goes == comes).then_some(old + nth)));
        let stays = usize::from(goes + comes == 0);
        old += goes + stays;
        at += goes + comes + stays;
    }
    partners
}

impl<'a> Line<'a> {
    /// The line as it stands in the file before.
    fn old(&self) -> Option<&'a str> {
        match self {
            Line::Stays(text) | Line::Goes(text) => Some(text),
            Line::Comes(_) => None,
        }
    }

    /// The line when it stands in the file only after.
    fn coming(&self) -> Option<&'a str> {
        match self {
            Line::Comes(text) => Some(text),
            Line::Stays(_) | Line::Goes(_) => None,
        }
    }
}

/// Each place where the lines stand, from a line on; blanks at their ends do not count where nothing fits exactly.
fn find(lines: &[&str], old: &[&str], from: usize, at_end: bool) -> Vec<usize> {
    let exact: fn(&str, &str) -> bool = |line, wanted| body(line) == wanted;
    let loose: fn(&str, &str) -> bool = |line, wanted| line.trim_end() == wanted.trim_end();
    let Some(last) = lines.len().checked_sub(old.len()) else { return Vec::new() };
    let from = if at_end { from.max(last) } else { from };
    let all = |alike: fn(&str, &str) -> bool| -> Vec<usize> {
        let here = |at: &usize| lines.iter().skip(*at).zip(old).all(|(line, wanted)| alike(line, wanted));
        (from..=last).filter(here).collect()
    };
    let found = all(exact);
    if found.is_empty() { all(loose) } else { found }
}

fn missing(text: &str, old: &str, which: &str) -> String {
    let missing = format!("{which}: its lines are not in the file in this order");
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
            [FilePatch::Update { hunks, .. }] => apply(text, hunks, Sure::First),
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
        assert!(why.contains("`class C:` is not in"), "{why}");
        let why = patched("let a = “x”;\n", "-let a = \"x\";\n+let all = \"y and much more\";").unwrap_err();
        assert!(why.contains("nearest is at line 1 (it differs in quotes"), "{why}");
    }

    #[test]
    fn what_differs_only_in_what_is_hard_to_see_is_taken_once() {
        let text = "fn f() {\n\tlet a = 1;\n\tb();\n}\n";
        let done = patched(
            text,
            " fn f() {\n-    let a = 1;\n+    let a = 2;\n+    if a {\n+        c();\n+    }\n     b();",
        );
        assert_eq!(done.unwrap(), "fn f() {\n\tlet a = 2;\n\tif a {\n\t\tc();\n\t}\n\tb();\n}\n");
        let done = patched(text, "-     2\t    let a = 1;\n+     2\t    let a = 3;");
        assert_eq!(done.unwrap(), text.replace('1', "3"));
        assert!(patched("\tx;\n\t\tx;\n", "-    x;\n+    y;").is_err(), "two places");
    }

    #[test]
    fn a_diff_with_numbers_is_found_by_its_lines_and_by_its_number_where_these_leave_a_choice() {
        let diff = |line: usize| format!("--- a/x\n+++ b/x\n@@ -{line},1 +{line},1 @@\n-x\n+y\n");
        let patched = |text: &str, diff: &str| match parse(diff)?.as_slice() {
            [FilePatch::Update { hunks, .. }] => apply(text, hunks, Sure::First),
            other => Err(format!("{other:?}")),
        };
        assert_eq!(
            patched("a\nx\n", &diff(9)),
            Ok("a\ny\n".to_owned()),
            "the number is wrong and not needed"
        );
        assert_eq!(patched("x\na\nx\n", &diff(3)), Ok("x\na\ny\n".to_owned()));
        assert!(patched("x\na\nx\n", &diff(2)).unwrap_err().contains("2 times"));
        let bare = "--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+y\n";
        assert!(patched("a\n", bare).unwrap_err().contains("no line that is in"));
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
