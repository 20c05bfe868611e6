//! Rules about source files that a program can check, because a rule nobody checks is decoration.
//!
//! What it is not: a parser. It looks at lines and names; comment lines are not searched for refused code.

use anyhow::Result;

use crate::shell::Shell;
use crate::tree::{self, Page};
use crate::{comments, judge};

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
    "crates/parlor/src/exit/stream.rs",
    "crates/parlor/src/exit/carrier.rs",
    "crates/tools/src/sandbox/landlocked.rs",
    "crates/tui/src/shell/terminal.rs",
];
const SPEAK: &str = "text from elsewhere could command the terminal: use say, put, complain, show or Carrier of parlor's exit";

/// Begins a task or a thread that nothing holds: it could go on when its owner is over.
const BARE_SPAWNS: &[&str] = &[
    concat!("tokio::", "spawn("),
    concat!("task::", "spawn("),
    concat!("thread::", "spawn("),
    concat!("thread::", "Builder::new()"),
];
/// The files that may begin one nevertheless, and what ends it.
const SPAWNERS: &[(&str, &str)] = &[
    ("crates/hub/src/shell/hub.rs", "the hub's own task: Hub::stop returns when it is over"),
    ("crates/kit/src/check/defects/channel.rs", "ends with either of its pipes"),
    ("crates/kit/src/recorder.rs", "Recorder::finish waits for its thread, as long as a disk may take"),
    ("crates/link/src/child/process.rs", "ends with the child, which ends with its handle"),
    ("crates/link/src/stdio.rs", "a read of stdin cannot be called off: abandoned at the end of the process"),
    ("crates/models/src/emit.rs", "ends when its reader goes or cancels: every wait of it looks for that"),
    (
        "crates/tools/src/bash/child.rs",
        "kills a group after its grace time; the guard does it if we end first",
    ),
    ("crates/tools/src/bash/jobs.rs", "Jobs::end stops the commands and waits until each has told its end"),
    ("crates/tools/src/sandbox/guard.rs", "waits for the death of our parent: abandoned with the process"),
    ("crates/tools/src/shell/oracle/canary.rs", "a watchdog of tests: ends with what it watches"),
    ("crates/tools/src/tool.rs", "joined by the thread that began it"),
    (
        "crates/tui/src/shell/input.rs",
        "a read of a terminal cannot be called off: abandoned with the process",
    ),
];
const OWN_IT: &str =
    "every task is awaited or dropped with its owner: use link::Tasks or a JoinSet that the owner holds";

/// Reads every source file and judges it.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let pages = tree::pages(shell.root(), ".rs")?;
    let mut found = findings(&pages, LONG);
    found.extend(comments::findings(&pages));
    judge("tidy", &found)
}

fn findings(pages: &[Page], long: &[(&str, usize)]) -> Vec<String> {
    let mut findings: Vec<String> = pages.iter().flat_map(|page| of_page(page, long)).collect();
    let wires = wires(pages);
    findings.extend(pages.iter().flat_map(|page| named_wires(page, &wires)));
    findings.extend(pages.iter().flat_map(bare_spawns));
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
            let ours = path.starts_with("crates/") && path.contains("/src/");
            if ours && line.contains(code) && !places.contains(&path.as_str()) {
                found.push(format!("{path}:{}: `{code}` is refused here: {instead}", number + 1));
            }
        }
    }
    found
}

/// Where each foreign wire lives. The native one is ours: everybody may name it.
const WIRES: &str = "crates/dialects/src/";
/// What may name wires: their own folders, and those in which the kit knows them apart from our code.
const WIRE_FOLDERS: &[&str] = &[WIRES, "crates/kit/src/check/wires"];

/// The foreign wires, by the folders that have a table of what they carry.
fn wires(pages: &[Page]) -> Vec<&str> {
    let folders = pages.iter().filter_map(|page| page.path.strip_prefix(WIRES)?.strip_suffix("/fidelity.rs"));
    let mut wires: Vec<&str> = folders.filter(|name| *name != "native").collect();
    wires.sort_unstable();
    wires.dedup();
    wires
}

/// Code that knows a wire by its name: what differs between wires belongs into their descriptions.
fn named_wires(page: &Page, wires: &[&str]) -> Vec<String> {
    let path = &page.path;
    if WIRE_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    let named = program(page).flat_map(|(number, line)| {
        let names = |wire: &&&str| {
            line.contains(&format!("dialects::{wire}::")) || line.contains(&format!("\"{wire}\""))
        };
        wires.iter().filter(names).map(|wire| (number, *wire)).collect::<Vec<_>>()
    });
    named
        .map(|(number, wire)| {
            format!("{path}:{}: names the wire `{wire}`: put what differs into its description", number + 1)
        })
        .collect()
}

/// Tasks and threads that nobody waits for. A thread that is joined in the same breath is one.
fn bare_spawns(page: &Page) -> Vec<String> {
    let path = &page.path;
    let spawns: Vec<usize> = program(page)
        .filter(|(_, line)| BARE_SPAWNS.iter().any(|code| line.contains(code)) && !line.contains(".join()"))
        .map(|(number, _)| number + 1)
        .collect();
    match (SPAWNERS.iter().any(|(listed, _)| listed == path), spawns.as_slice()) {
        (true, []) => {
            vec![format!("{path}: begins no task any more: remove it from the list in xtask/src/tidy.rs")]
        }
        (true, _) => Vec::new(),
        (false, spawns) => {
            spawns.iter().map(|number| format!("{path}:{number}: a bare spawn: {OWN_IT}")).collect()
        }
    }
}

/// The lines of our crates that are neither tests nor comments, numbered from 0.
fn program(page: &Page) -> impl Iterator<Item = (usize, &str)> {
    let ours =
        page.path.starts_with("crates/") && page.path.contains("/src/") && !page.path.contains("tests");
    let program = page.text.split("#[cfg(test)]").next().filter(|_| ours).unwrap_or_default();
    program.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
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
    fn a_wire_is_named_in_its_folders_only() {
        let wire = page("crates/dialects/src/morse/fidelity.rs", "//! A.\nconst NAME: &str = \"morse\";\n");
        let check = page("crates/kit/src/check/wires/morse.rs", "//! A.\nconst NAME: &str = \"morse\";\n");
        for (text, findings_expected) in [
            ("//! morse\nlet x = dialects::morse::DIALECT;\n", 1),
            ("//! A.\nif name == \"morse\" {}\n", 1),
            ("//! A.\n// \"morse\" is old\nlet x = \"remorse\";\n", 0),
            ("//! A.\n#[cfg(test)]\nmod tests { use dialects::morse::X; }\n", 0),
        ] {
            let pages = [wire.clone(), check.clone(), page("crates/parlor/src/serve.rs", text)];
            let found = findings(&pages, &[]);
            assert_eq!(found.len(), findings_expected, "{text}: {found:?}");
        }
    }

    #[test]
    fn nothing_runs_that_nobody_waits_for() {
        for code in BARE_SPAWNS {
            let text = format!("//! A.\n// {code}\n    {code}work);\n");
            expect(page("crates/a/src/run.rs", &text), &[], &["crates/a/src/run.rs:3: a bare spawn"]);
            expect(page("crates/a/tests/run.rs", &text), &[], &[]);
            expect(page("crates/a/src/run/tests.rs", &text), &[], &[]);
            expect(page(SPAWNERS[0].0, &text), &[], &[]);
            let joined = format!("//! A.\n{code}work).join();\n#[cfg(test)]\nmod tests {{ {code} }}\n");
            expect(page("crates/a/src/run.rs", &joined), &[], &[]);
        }
        expect(page("crates/a/src/run.rs", "//! A.\ntasks.spawn(work);\n"), &[], &[]);
        expect(page(SPAWNERS[0].0, "//! A.\n"), &[], &["begins no task any more"]);
        assert!(SPAWNERS.iter().all(|(_, why)| !why.is_empty()));
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
