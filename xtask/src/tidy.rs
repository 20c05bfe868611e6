//! Rules about source files that a program can check, because a rule nobody checks is decoration.
//!
//! What it is not: a parser. It looks at lines and names; comment lines are not searched for refused code.

mod names;
mod repeats;
mod spawns;
mod starts;
mod wires;
mod wording;

pub(crate) use wording::is_for_people;

use anyhow::Result;

use crate::comments;
use crate::findings::judge;
use crate::program::{is_ours, programs, sources};
use crate::shell::Shell;
use crate::tree::{self, Page};

/// The longest a source file may be.
const MAX_LINES: usize = 700;

/// Files that were longer when the rule came, with the length they may not exceed. The list only shrinks: a file
/// that got shorter lowers its number, one that fits leaves.
const LONG: &[(&str, usize)] = &[];

/// Words that name no thing of the vocabulary, in a file or folder name.
const EMPTY_WORDS: &[&str] = &[
    "util",
    "utils",
    "helper",
    "helpers",
    "manager",
    "managers",
    "handler",
    "handlers",
    "processor",
    "processors",
    "common",
];

/// Code that may not be written, and what to do instead. Spelt in two halves so that this file passes itself.
const REFUSED: &[(&str, &str)] = &[
    (concat!("#[", "ignore"), "a test that does not run proves nothing: repair it or remove it"),
    (concat!("todo", "!("), "finish it or return a refusal that says what is missing"),
    (concat!("unbounded_", "channel("), "every queue is bounded: use a channel with a named constant"),
];

/// Code of the crates (their tests apart) that may stand in one place only, where it is, and what to do elsewhere.
const ONE_PLACE: &[(&str, &[&str], &str)] =
    &[(concat!("io::", "stdout("), SPEAKERS, SPEAK), (concat!("io::", "stderr("), SPEAKERS, SPEAK)];
/// The files that write to the terminal: each lets nothing through that would command it. The sandbox says one fixed sentence, into the
/// output of its command.
const SPEAKERS: &[&str] = &[
    "crates/parlor/src/output/stream.rs",
    "crates/parlor/src/output/carrier.rs",
    "crates/tools/src/sandbox/landlocked.rs",
    "crates/tui/src/shell/terminal.rs",
];
const SPEAK: &str = "text from elsewhere could command the terminal: use print_line, print, print_error, print_report or Carrier of parlor's output";

/// Reads every source file and judges it.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let pages = tree::pages(shell.root(), ".rs")?;
    let documents = tree::pages(shell.root(), ".md")?;
    let mut found = findings(&pages, LONG);
    found.extend(names::findings(&sources(&pages)));
    found.extend(wording::findings(&programs(&pages), &documents));
    found.extend(starts::untrue(&pages, &documents));
    found.extend(comments::findings(&pages));
    judge("tidy", &found)
}

fn findings(pages: &[Page], long: &[(&str, usize)]) -> Vec<String> {
    let mut findings: Vec<String> = pages.iter().flat_map(|page| of_page(page, long)).collect();
    let programs = programs(pages);
    findings.extend(wires::findings(pages, &programs));
    findings.extend(repeats::findings(pages, &programs));
    findings.extend(spawns::findings(&programs));
    findings.extend(starts::findings(&programs));
    for (path, _) in long {
        if !pages.iter().any(|page| page.path == *path) {
            findings
                .push(format!("{path}: listed as long in xtask/src/tidy.rs but not there: remove the entry"));
        }
    }
    findings
}

fn of_page(page: &Page, long: &[(&str, usize)]) -> Vec<String> {
    let path = &page.path;
    let mut found = Vec::new();
    if !page.text.starts_with("//!") {
        found.push(format!("{path}:1: begin with a `//!` head: what it is, what it is not, its invariants"));
    }
    found.extend(length(page, long));
    if path.ends_with("/mod.rs") {
        found.push(format!("{path}: write foo.rs beside foo/, not foo/mod.rs"));
    }
    for word in path.trim_end_matches(".rs").split(['/', '_', '-', '.']) {
        if EMPTY_WORDS.contains(&word) {
            found.push(format!("{path}: `{word}` names nothing: use a noun of docs/domain.md"));
        }
    }
    for (number, line) in page.text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (code, instead) in REFUSED {
            if line.contains(code) {
                found.push(format!("{path}:{}: `{code}` is refused: {instead}", number + 1));
            }
        }
        for (code, places, instead) in ONE_PLACE {
            let ours = is_ours(path) && path.contains("/src/");
            if ours && line.contains(code) && !places.contains(&path.as_str()) {
                found.push(format!("{path}:{}: `{code}` is refused here: {instead}", number + 1));
            }
        }
    }
    found
}

fn length(page: &Page, long: &[(&str, usize)]) -> Option<String> {
    let path = &page.path;
    let lines = page.text.lines().count();
    let Some((_, allowed)) = long.iter().find(|(listed, _)| listed == path) else {
        return (lines > MAX_LINES)
            .then(|| format!("{path}: {lines} lines, more than {MAX_LINES}: split it by noun"));
    };
    if lines <= MAX_LINES {
        Some(format!("{path}: fits now ({lines} lines): remove it from the list in xtask/src/tidy.rs"))
    } else if lines > *allowed {
        Some(format!("{path}: {lines} lines, it was {allowed} and may only shrink: split it by noun"))
    } else if lines < *allowed {
        Some(format!("{path}: shrank to {lines} lines: lower its number in xtask/src/tidy.rs"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.to_owned(), text: text.to_owned() }
    }

    fn lines(count: usize) -> String {
        format!("//! Head.\n{}", "\n".repeat(count - 1))
    }

    #[track_caller]
    fn expect(page: Page, long: &[(&str, usize)], wanted: &[&str]) {
        let found = findings(&[page], long);
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(found.contains(wanted), "{found} does not contain {wanted}");
        }
    }

    #[test]
    fn a_clean_file_passes() {
        expect(page("crates/a/src/run.rs", "//! Runs.\nfn main() {}\n"), &[], &[]);
    }

    #[test]
    fn a_head_is_required_on_the_first_line() {
        expect(page("a.rs", "fn main() {}\n"), &[], &["a.rs:1: begin with"]);
        expect(page("a.rs", "\n//! Late.\n"), &[], &["a.rs:1: begin with"]);
        expect(page("a.rs", ""), &[], &["a.rs:1: begin with"]);
    }

    #[test]
    fn length_is_capped_and_the_list_only_shrinks() {
        expect(page("a.rs", &lines(700)), &[], &[]);
        expect(page("a.rs", &lines(701)), &[], &["split it by noun"]);
        expect(page("a.rs", &lines(900)), &[("a.rs", 900)], &[]);
        expect(page("a.rs", &lines(901)), &[("a.rs", 900)], &["may only shrink"]);
        expect(page("a.rs", &lines(899)), &[("a.rs", 900)], &["lower its number"]);
        expect(page("a.rs", &lines(10)), &[("a.rs", 900)], &["fits now"]);
        expect(page("a.rs", &lines(10)), &[("gone.rs", 900)], &["not there"]);
    }

    #[test]
    fn names_say_something() {
        expect(page("src/mod.rs", "//! A.\n"), &[], &["not foo/mod.rs"]);
        expect(page("src/ask_handler.rs", "//! A.\n"), &[], &["`handler`"]);
        expect(page("tests/common/peer.rs", "//! A.\n"), &[], &["`common`"]);
        expect(page("src/handlers_of_time.rs", "//! A.\n"), &[], &["`handlers`"]);
        expect(page("src/uncommon.rs", "//! A.\n"), &[], &[]);
    }

    #[test]
    fn only_one_place_writes_to_the_terminal() {
        for (code, places, _) in ONE_PLACE {
            let text = format!("//! A.\n    {code})\n");
            expect(page("crates/a/src/run.rs", &text), &[], &["crates/a/src/run.rs:2"]);
            expect(page(places[0], &text), &[], &[]);
            expect(page("crates/a/tests/run.rs", &text), &[], &[]);
        }
    }

    #[test]
    fn refused_code_is_found_with_its_line_and_comments_are_spared() {
        for (code, _) in REFUSED {
            expect(page("a.rs", &format!("//! A.\n    {code}\n")), &[], &[&format!("a.rs:2: `{code}`")]);
            expect(page("a.rs", &format!("//! A.\n    // {code}\n")), &[], &[]);
        }
    }
}
