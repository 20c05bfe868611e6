//! Places of the wires that share lines: what two wires do alike belongs into `rolekit`, where both can use it.
//!
//! How it counts: lines as rustfmt writes them, without the blanks around them, to the letter; twelve in a row are too many. Comments, tests,
//! `use` items and lines without a letter or a digit (`}`, `});`) are passed over: they neither count nor end a row.

use std::collections::BTreeMap;

use crate::program::Program;
use crate::tree::Page;

/// Where nothing may be written twice.
const WIRES: &[&str] = &["wires/", "crates/rolekit/", "crates/dialects/"];
/// So many lines in a row may not stand in two places.
const ROW: usize = 12;

/// A line that counts.
struct Counted<'t> {
    path: &'t str,
    /// From 1.
    number: usize,
    text: &'t str,
}

/// Every pair of places that share too many lines, once.
pub(super) fn findings(pages: &[Page], programs: &[Program<'_>]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> =
        pages.iter().map(|page| (page.path.as_str(), page.text.as_str())).collect();
    let files: Vec<Vec<Counted<'_>>> = programs
        .iter()
        .filter(|program| WIRES.iter().any(|folder| program.path.starts_with(folder)))
        // The guide's wire is there to be copied.
        .filter(|program| !program.path.starts_with("wires/postcard/"))
        .filter_map(|program| Some(counted(program, texts.get(program.path)?)))
        .collect();
    let mut first: BTreeMap<Vec<&str>, (usize, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    // Where the row before went on, so that a long one is told once.
    let mut goes_on = None;
    for (file, lines) in files.iter().enumerate() {
        for (at, row) in lines.windows(ROW).enumerate() {
            let here = (file, at);
            let before = *first.entry(row.iter().map(|line| line.text).collect()).or_insert(here);
            // A row that overlaps itself is a list.
            let shared = before != here && (before.0 != file || before.1 + ROW <= at);
            if shared && goes_on != Some((before, here)) {
                let (there, here) = (&files[before.0][before.1], &row[0]);
                found.push(format!(
                    "{}:{}: {ROW} lines or more as at {}:{}: write them once",
                    here.path, here.number, there.path, there.number
                ));
            }
            goes_on = shared.then_some(((before.0, before.1 + 1), (file, at + 1)));
        }
    }
    found
}

fn counted<'t>(program: &Program<'t>, text: &'t str) -> Vec<Counted<'t>> {
    let mut within_use = false;
    let mut lines = Vec::new();
    for (at, (code, text)) in program.code.lines().zip(text.lines()).enumerate() {
        let code = code.trim();
        within_use |= code.starts_with("use ") || code.starts_with("pub use ");
        if !within_use && !code.is_empty() && text.contains(|c: char| c.is_alphanumeric()) {
            lines.push(Counted { path: program.path, number: at + 1, text: text.trim() });
        }
        within_use &= !code.ends_with(';');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::programs;

    fn found(files: &[(&str, String)]) -> Vec<String> {
        let page = |(path, text): &(&str, String)| Page { path: (*path).to_owned(), text: text.clone() };
        let pages: Vec<Page> = files.iter().map(page).collect();
        findings(&pages, &programs(&pages))
    }

    fn lines(count: usize, of: &str) -> String {
        (0..count).map(|n| format!("    {of}({n});\n")).collect()
    }

    #[test]
    fn twelve_shared_lines_are_found_once_and_eleven_are_not() {
        let (one, two) = ("crates/rolekit/src/calls.rs", "wires/flags/src/wave.rs");
        let text = |count| format!("fn a() {{\n{}}}\n", lines(count, "send"));
        let expected = format!("{two}:3: 12 lines or more as at {one}:2: write them once");
        for (count, expected) in [(11, vec![]), (12, vec![expected.clone()]), (40, vec![expected])] {
            let other = format!("//! Flags.\nfn b() {{\n{}}}\n", lines(count, "send"));
            assert_eq!(found(&[(one, text(count)), (two, other.clone())]), expected, "{count}");
            assert_eq!(found(&[(one, text(count)), ("crates/hub/src/core.rs", other)]), Vec::<String>::new());
        }
        let twice = format!("fn a() {{\n{0}}}\nfn b() {{\n{0}}}\n", lines(12, "send"));
        assert_eq!(found(&[(one, twice)]).len(), 1);
    }

    #[test]
    fn what_is_passed_over_neither_counts_nor_ends_a_row() {
        let (one, two) = ("wires/flags/src/lib.rs", "wires/morse/src/lib.rs");
        let mixed = format!("{}    // why\n\n    }}\n{}", lines(6, "send"), lines(6, "wave"));
        let plain = format!("{}{}", lines(6, "send"), lines(6, "wave"));
        assert_eq!(found(&[(one, mixed), (two, plain)]).len(), 1);
        let strings = |of: &str| (0..12).map(|n| format!("    \"{of} {n}\",\n")).collect::<String>();
        assert_eq!(found(&[(one, strings("a")), (two, strings("b"))]), Vec::<String>::new());
        assert_eq!(found(&[(one, strings("a")), (two, strings("a"))]).len(), 1);
        let uses = (0..12).map(|n| format!("use a::b{n};\n")).collect::<String>();
        let long = format!("use a::{{\n{}}};\n", (0..12).map(|n| format!("    b{n},\n")).collect::<String>());
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(12, "send"));
        let comments = "// the same\n".repeat(12);
        for text in [uses, long, tests, comments] {
            assert_eq!(found(&[(one, text.clone()), (two, text)]), Vec::<String>::new());
        }
    }
}
