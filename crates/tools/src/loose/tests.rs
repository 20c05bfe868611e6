//! What is taken for what: tables, and a property over files, edits and the ways in which models garble them.
//!
//! The property: a garbled edit gives exactly what the edit itself gives on the file as it is, or it is refused.

use super::*;
use crate::nearest;
use proptest::prelude::*;
use proptest::sample::select;

fn taken(text: &str, old: &str, new: &str) -> Option<String> {
    match fit(text, old, new) {
        Found::One(fit) => Some(format!("{}{}{}", &text[..fit.from], fit.new, &text[fit.to..])),
        Found::Nothing | Found::Many(_) | Found::Unsure => None,
    }
}

#[test]
fn blanks_quotes_and_numbers_do_not_count_and_the_file_keeps_its_own() {
    let tabs = "fn one() {\n\tlet a = 1;  \n\tprint(“a”, b  +  c);\n}\n";
    for (old, new, done) in [
        // Blanks for tabs, deeper lines too.
        (
            "    let a = 1;\n",
            "    if x {\n        let a = 2;\n    }\n",
            "fn one() {\n\tif x {\n\t\tlet a = 2;\n\t}\n\tprint(“a”, b  +  c);\n}\n",
        ),
        // Less indentation, and what stays keeps the blanks at its end.
        (
            "let a = 1;\nprint(\"a\", b + c);",
            "let a = 1;\nmore();",
            "fn one() {\n\tlet a = 1;  \n\tmore();\n}\n",
        ),
        // Numbers, on both sides or on one.
        (
            "     2\tlet a = 1;\n     3\tprint(\"a\", b + c);",
            "     2\tlet a = 1;\n     3\tprint(\"a\", b + d);",
            "fn one() {\n\tlet a = 1;  \n\tprint(“a”, b  +  d);\n}\n",
        ),
        ("  1→fn one() {\n  2→\tlet a = 1;\n", "fn two() {\n\tlet a = 1;\n", &tabs.replace("one", "two")),
        // Quotes and blanks in the middle of a line that changes somewhere else.
        ("\tprint(\"a\", b + c);", "\tprint(\"a\", x + c);", &tabs.replace("b  +", "x  +")),
        // Lines that go.
        ("    let a = 1;\n", "", "fn one() {\n\tprint(“a”, b  +  c);\n}\n"),
    ] {
        assert_eq!(taken(tabs, old, new).as_deref(), Some(done), "{old:?}");
    }
    let blanks = "if a:\n    if b:\n        c()\n";
    assert_eq!(
        taken(blanks, "\tif b:\n\t\tc()", "\tif b:\n\t\t\td()").as_deref(),
        Some("if a:\n    if b:\n            d()\n")
    );
}

#[test]
fn what_could_be_read_in_two_ways_is_not_taken() {
    let tabs = "\tx();\n\t\ty();\nz();\n";
    for (text, old, new) in [
        // Two places, be they indented differently.
        ("\tx();\n\t\tx();\n", "    x();", "    y();"),
        // A part of a line.
        (tabs, "  y(", "  z("),
        // How deep is four, where two tabs are four or a tab is four and one was left out?
        (tabs, "    y();", "    y();\n            q();"),
        // A new line with quotes of which the file has others.
        ("a(“b”)\n", "a(\"b\") ", "whatever(\"c\")"),
        // The file has two lines that the model wrote in the same way.
        ("a \nb\na\t\n", "a\nb\na", "a\nc"),
        // Some lines have numbers and some have not: they may be the text's own.
        (tabs, "  1\tx();", "  1\tx();\nw();"),
        // The next line would be joined.
        (tabs, "z(); \n", "w();"),
        // Blank lines alone are nowhere.
        ("a\n\t\nb\n", "  ", "c"),
        // The model's blanks at ends: in the new line too?
        (tabs, "z();  ", "w();  "),
    ] {
        assert_eq!(taken(text, old, new), None, "{old:?} in {text:?}");
    }
    assert_eq!(fit("\tx();\n\t\tx();\n", "    x();", "    y();"), Found::Many(vec![1, 2]));
}

#[test]
fn huge_files_and_odd_texts_are_no_trouble() {
    let huge = "x y\n".repeat(MAX_LINES + 1);
    assert_eq!(fit(&huge, " x y", "z"), Found::Nothing);
    for (text, old, new) in
        [("", "", ""), ("", "a", "b"), ("\n", "\n", "x\n"), ("é “ü”", " é \"ü\"", " é \"ö\"")]
    {
        let _ = fit(text, old, new);
    }
}

/// How a model garbles what it copies.
#[derive(Debug, Clone, Copy)]
struct Garble {
    /// Levels of indentation that are left out, or put before each line.
    less: usize,
    more: usize,
    /// Blanks for a tab, or a tab for so many blanks.
    width: Option<usize>,
    /// Blanks at ends go, or come.
    trim: bool,
    trail: bool,
    /// Runs of blanks become one.
    squeeze: bool,
    straighten: bool,
    number: Option<u64>,
}

impl Garble {
    fn line(&self, line: &str, unit: &str) -> Option<String> {
        let body = line.trim_start_matches([' ', '\t']);
        let mut indent = line.strip_suffix(body)?.to_owned();
        let mut body = body.to_owned();
        if !body.is_empty() {
            for _ in 0..self.less {
                indent = indent.strip_prefix(unit)?.to_owned();
            }
            indent.insert_str(0, &unit.repeat(self.more));
        }
        if let Some(width) = self.width {
            let blanks = " ".repeat(width);
            indent = if unit == "\t" { indent.replace('\t', &blanks) } else { indent.replace(unit, "\t") };
        }
        if self.squeeze {
            let end = body[body.trim_end().len()..].to_owned();
            body = format!("{}{end}", body.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if self.straighten {
            body = nearest::straight(&body);
        }
        let mut line = format!("{indent}{body}");
        if self.trim {
            line.truncate(line.trim_end().len());
        }
        if self.trail {
            line.push_str("  ");
        }
        Some(line)
    }

    fn lines(&self, lines: &[String], unit: &str) -> Option<Vec<String>> {
        let garbled: Option<Vec<String>> = lines.iter().map(|line| self.line(line, unit)).collect();
        let Some(first) = self.number else { return garbled };
        Some(garbled?.iter().zip(first..).map(|(line, number)| format!("{number:>6}\t{line}")).collect())
    }
}

fn garble() -> impl Strategy<Value = Garble> {
    (
        (0..3_usize, prop_oneof![4 => Just(0), 1 => 1..3_usize]),
        proptest::option::of(select(vec![2_usize, 3, 4, 8])),
        any::<(bool, bool, bool)>(),
        prop_oneof![3 => Just(false), 1 => Just(true)],
        proptest::option::weighted(0.3, 1..2000_u64),
    )
        .prop_map(|((less, more), width, (trim, squeeze, straighten), trail, number)| Garble {
            less,
            more: if less > 0 { 0 } else { more },
            width,
            trim,
            trail,
            squeeze,
            straighten,
            number,
        })
}

/// A line: depth, words of few kinds so that lines are often alike, gaps between them, blanks at its end.
fn line() -> impl Strategy<Value = (usize, String)> {
    let word = select(vec!["a", "b", "f(x)", "“q”", "‘r’", "\"s\"", "—", "}", "return"]);
    let gap = select(vec![" ", " ", " ", "  ", "\u{a0}"]);
    let end = select(vec!["", "", "", "", " ", "  ", "\t"]);
    let body = (proptest::collection::vec((word, gap), 0..4), end).prop_map(|(words, end)| {
        let mut body: String = words.iter().map(|(word, gap)| format!("{word}{gap}")).collect();
        body.truncate(body.trim_end().len());
        body + end
    });
    (0..4_usize, body)
}

/// What becomes of a line that is edited.
#[derive(Debug, Clone, Copy)]
enum Act {
    Keep,
    Drop,
    /// A new line before it, so much deeper.
    Insert(usize),
    /// A new line in its place.
    Replace(usize),
    /// One word in it.
    Word,
    Deeper,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => Just(Act::Keep),
        1 => Just(Act::Drop),
        2 => (0..3_usize).prop_map(Act::Insert),
        1 => (0..3_usize).prop_map(Act::Replace),
        2 => Just(Act::Word),
        1 => Just(Act::Deeper),
    ]
}

fn edited(old: &[String], acts: &[Act], unit: &str) -> Vec<String> {
    let mut new = Vec::new();
    for (number, (line, act)) in old.iter().zip(acts).enumerate() {
        // A blank line says nothing of how the file is indented.
        let body = if line.trim().is_empty() { line } else { line.trim_start_matches([' ', '\t']) };
        let indent = &line[..line.len() - body.len()];
        let fresh = |deeper: usize| format!("{indent}{}new{number} line", unit.repeat(deeper));
        match act {
            Act::Keep => new.push(line.clone()),
            Act::Drop => {}
            Act::Insert(deeper) => new.extend([fresh(*deeper), line.clone()]),
            Act::Replace(deeper) => new.push(fresh(*deeper)),
            // What a model writes itself has no blanks at its end.
            Act::Word if line.contains('a') => new.push(line.trim_end().replacen('a', "other", 1)),
            Act::Deeper if !line.trim().is_empty() => new.push(format!("{unit}{}", line.trim_end())),
            Act::Word | Act::Deeper => new.push(line.clone()),
        }
    }
    new
}

proptest! {
    // Many edits are garbled into nothing, or into another exact one: those do not count as cases.
    #![proptest_config(ProptestConfig { max_global_rejects: 10_000_000, ..testkit::cases(512) })]
    #[test]
    fn a_garbled_edit_is_the_edit_itself_or_nothing(
        file in proptest::collection::vec(line(), 1..14),
        unit in select(vec!["\t", "  ", "    "]),
        (from, count) in (0..14_usize, 1..6_usize),
        acts in proptest::collection::vec(act(), 6),
        garble in garble(),
        ends in any::<bool>(),
    ) {
        let lines: Vec<String> = file.iter().map(|(depth, body)| {
            if body.trim().is_empty() { body.clone() } else { format!("{}{body}", unit.repeat(*depth)) }
        }).collect();
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let from = from % lines.len();
        let old = &lines[from..lines.len().min(from + count)];
        let new = edited(old, &acts, unit);
        // Blanks stand for a tab of the file, or the other way round: not for themselves, and not where the file has none to copy.
        let indented = lines.iter().any(|line| !line.trim().is_empty() && line.starts_with(unit));
        let width = garble.width.filter(|_| indented).map(|width| if unit == "\t" { width } else { unit.len() });
        // Whoever writes blanks for tabs counts from the margin, or from a block that was cut out: not from beyond the file's own depth.
        let more = if width.is_some() { 0 } else { garble.more };
        let garble = Garble { width, more, ..garble };
        let (Some(wrote_old), Some(wrote_new)) = (garble.lines(old, unit), garble.lines(&new, unit)) else { return Err(TestCaseError::reject("cannot be garbled so")) };
        // A line of the edit's own that reads like another old one once it is garbled: then two edits are one call, and nobody can tell them apart.
        let own = |line: &String| !old.contains(line);
        let bare = Garble { number: None, ..garble };
        let taken_for = |line: &String| old.iter().any(|other| bare.line(other, unit) == bare.line(line, unit));
        prop_assume!(!new.iter().any(|line| own(line) && taken_for(line)));
        let join = |lines: &[String]| if ends { lines.iter().map(|line| format!("{line}\n")).collect() } else { lines.join("\n") };
        let (wrote_old, wrote_new) = (join(&wrote_old), join(&wrote_new));
        // What stands in the file exactly is an edit of its own, wherever it was copied from.
        // A new text of nothing is no line and one blank line alike.
        prop_assume!(!(text.contains(&wrote_old) || (!ends && wrote_new.is_empty())));
        let exact = {
            let before: String = lines[..from].iter().map(|line| format!("{line}\n")).collect();
            let after: String = lines[from + old.len()..].iter().map(|line| format!("{line}\n")).collect();
            let middle: String = new.iter().map(|line| format!("{line}\n")).collect();
            format!("{before}{middle}{after}")
        };
        if let Some(done) = taken(&text, &wrote_old, &wrote_new) {
            prop_assert_eq!(done, exact, "{:?}\n{:?}", wrote_old, wrote_new);
        }
    }
}
