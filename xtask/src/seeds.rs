//! The sentences of the documents that the wires began with, as the page `docs/seeds.md`: who is held to what, and what shows it.
//!
//! They stand beside the tests of a wire (`wires/NAME/src/tests/seed.txt`): a `title`, then each `section` with its rows. A row says whose
//! it is (`runtime`, `ui`, `both`), what it is (`must`, `should`, `may`, `limit`, `example`, `reserved`) and the sentence in our words.
//! Indented below it stands what shows it (`transcript ROLE/NAME`, `check SCENARIO` of `parlor check`, `test PATH NAME`, where the path
//! is from the wire's `src` or, in `crates`, from the root), or `not` and the reason why nothing does. What it is not: a proof that a
//! test shows what the row says.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use crate::claims;
use crate::tree::{self, Page};

/// The page that is written.
const PAGE: &str = "docs/seeds.md";
/// Where the sentences of a wire stand below its folder.
const SENTENCES: &str = "/src/tests/seed.txt";
/// Where the scenarios of `parlor check` are, by wire.
const SCENARIOS: &str = "crates/kit/src/check/wires/";
/// Where the documents stand, from the page.
const DOCUMENTS: &str = "../crates/kit/documents/";
const OWNERS: [&str; 3] = ["runtime", "ui", "both"];
const KINDS: [&str; 6] = ["must", "should", "may", "limit", "example", "reserved"];

/// The document of one wire.
struct Seed<'t> {
    path: &'t str,
    wire: &'t str,
    title: &'t str,
    sections: Vec<(&'t str, Vec<Row<'t>>)>,
}

struct Row<'t> {
    line: usize,
    owner: &'t str,
    kind: &'t str,
    words: &'t str,
    shown: Vec<Shown<'t>>,
}

enum Shown<'t> {
    Transcript(&'t str),
    Scenario(&'t str),
    Test(&'t str, &'t str),
    Not(&'t str),
}

/// Everything that a row may name, each as one text.
type Known = BTreeSet<String>;

/// Writes the page.
pub(crate) fn write(root: &Path) -> Result<()> {
    let files = tree::pages(&root.join("wires"), "seed.txt")?;
    let (seeds, _) = read_all(&files);
    std::fs::write(root.join(PAGE), page(&seeds)).with_context(|| format!("could not write {PAGE}"))
}

/// Judges the rows, and whether the page is what they say.
pub(crate) fn findings(root: &Path, sources: &[Page]) -> Result<Vec<String>> {
    let files = tree::pages(&root.join("wires"), "seed.txt")?;
    let (seeds, mut found) = read_all(&files);
    found.extend(judged(&seeds, &known(root, sources)?));
    if std::fs::read_to_string(root.join(PAGE)).is_ok_and(|old| old == page(&seeds)) {
        return Ok(found);
    }
    found.push(format!("{PAGE}: out of date: run `cargo xtask docs`"));
    Ok(found)
}

fn known(root: &Path, sources: &[Page]) -> Result<Known> {
    let mut known = Known::new();
    for source in sources {
        known.extend(claims::tests(&source.text).iter().map(|name| format!("test {} {name}", source.path)));
    }
    for transcript in tree::pages(&root.join("transcripts"), ".txt")? {
        known.insert(format!("transcript {}", transcript.path.trim_end_matches(".txt")));
    }
    for file in tree::pages(&root.join(SCENARIOS), "scenarios.txt")? {
        let wire = file.path.split('/').next().unwrap_or_default();
        known.extend(scenarios(&file.text).map(|(owner, name)| format!("check {wire} {owner} {name}")));
    }
    Ok(known)
}

/// The scenarios that a file tells or quotes its document for, and whom they are about.
fn scenarios(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(' ')).flat_map(|(head, names)| {
        let owner = match head {
            "scenario" | "runtime" => "runtime",
            "ui" => "ui",
            _ => "",
        };
        names.split_whitespace().filter(move |_| !owner.is_empty()).map(move |name| (owner, name))
    })
}

fn read_all(files: &[Page]) -> (Vec<Seed<'_>>, Vec<String>) {
    let mut found = Vec::new();
    let seeds = files.iter().filter_map(|file| read(file, &mut found)).collect();
    (seeds, found)
}

/// Reads one file; what cannot be read is told and left out.
fn read<'t>(file: &'t Page, found: &mut Vec<String>) -> Option<Seed<'t>> {
    let wire = file.path.strip_suffix(SENTENCES)?;
    let mut seed = Seed { path: &file.path, wire, title: "", sections: Vec::new() };
    for (at, line) in file.text.lines().enumerate() {
        let said = line.trim();
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        let (head, rest) = said.split_once(' ').unwrap_or((said, ""));
        let rest = rest.trim();
        let rows = seed.sections.last_mut().map(|(_, rows)| rows);
        let taken = match (head, rows) {
            ("title", None) => {
                seed.title = rest;
                true
            }
            ("section", _) if !rest.is_empty() => {
                seed.sections.push((rest, Vec::new()));
                true
            }
            (_, Some(rows)) if line.starts_with(' ') => match (rows.last_mut(), shown(head, rest)) {
                (Some(row), Some(shown)) => {
                    row.shown.push(shown);
                    true
                }
                _ => false,
            },
            (owner, Some(rows)) if OWNERS.contains(&owner) => match rest.split_once(' ') {
                Some((kind, words)) if KINDS.contains(&kind) => {
                    rows.push(Row { line: at + 1, owner, kind, words, shown: Vec::new() });
                    true
                }
                _ => false,
            },
            _ => false,
        };
        if !taken {
            found.push(format!("wires/{}:{}: cannot be read: {said}", file.path, at + 1));
        }
    }
    Some(seed)
}

fn shown<'t>(head: &str, rest: &'t str) -> Option<Shown<'t>> {
    match head {
        _ if rest.is_empty() => None,
        "transcript" => Some(Shown::Transcript(rest)),
        "check" => Some(Shown::Scenario(rest)),
        "test" => rest.split_once(' ').map(|(path, name)| Shown::Test(path, name)),
        "not" => Some(Shown::Not(rest)),
        _ => None,
    }
}

/// Rows that nothing shows, and names that are nowhere.
fn judged(seeds: &[Seed<'_>], known: &Known) -> Vec<String> {
    let mut found = Vec::new();
    for seed in seeds {
        for row in seed.sections.iter().flat_map(|(_, rows)| rows) {
            let place = format!("wires/{}:{}", seed.path, row.line);
            if row.shown.is_empty() {
                found.push(format!("{place}: name what shows it, or say `not` and why: {}", row.words));
            }
            for shown in &row.shown {
                if let Some(name) = missing(seed.wire, row.owner, shown, known) {
                    found.push(format!("{place}: there is no {name}"));
                }
            }
        }
    }
    found
}

fn missing(wire: &str, owner: &str, shown: &Shown<'_>, known: &Known) -> Option<String> {
    let (keys, name) = match shown {
        Shown::Not(_) => return None,
        Shown::Transcript(name) => {
            (vec![format!("transcript {wire}/{name}")], format!("transcript {wire}/{name}"))
        }
        Shown::Test(path, name) => {
            let path = whole(wire, path);
            (vec![format!("test {path} {name}")], format!("test {name} in {path}"))
        }
        Shown::Scenario(name) => {
            let owners = OWNERS.iter().filter(|one| owner == "both" || **one == owner);
            (
                owners.map(|owner| format!("check {wire} {owner} {name}")).collect(),
                format!("scenario {name} of {wire} for {owner}"),
            )
        }
    };
    (!keys.iter().any(|key| known.contains(key))).then_some(name)
}

/// A path of a source file from the root.
fn whole(wire: &str, path: &str) -> String {
    if path.starts_with("crates/") { path.to_owned() } else { format!("wires/{wire}/src/{path}") }
}

fn page(seeds: &[Seed<'_>]) -> String {
    let mut text = String::from(
        "<!-- Written by `cargo xtask docs` from wires/*/src/tests/seed.txt. Do not edit. -->\n\n\
         # Every sentence of the seeds\n\n\
         Five of the wires began as documents. What each of them demands, advises, limits, shows or keeps for later stands here in our \
         words, section by section, with what shows it: a transcript (`transcripts/`, played on the role that it is about), a scenario of \
         [`parlor check`](guides/your-agent.md) (which our own program keeps in every test run), or a test by name. Where nothing can show \
         it, the reason stands in its place. `cargo xtask lint` refuses a row without either, and a name that is nowhere.\n\n\
         | seed | sentences | shown | in part, with the reason | not, with the reason |\n|---|---|---|---|---|\n",
    );
    for seed in seeds {
        let rows = || seed.sections.iter().flat_map(|(_, rows)| rows);
        let excused = |row: &&Row<'_>| row.shown.iter().any(|shown| matches!(shown, Shown::Not(_)));
        let bare = |row: &&Row<'_>| row.shown.iter().all(|shown| matches!(shown, Shown::Not(_)));
        let (all, excused, not) =
            (rows().count(), rows().filter(excused).count(), rows().filter(bare).count());
        let (shown, partly) = (all - excused, excused - not);
        text += &format!("| [{0}](#{0}) | {all} | {shown} | {partly} | {not} |\n", seed.wire);
    }
    for seed in seeds {
        let (wire, title) = (seed.wire, seed.title);
        text += &format!("\n## {wire}\n\n{title} [The document]({DOCUMENTS}{wire}.txt)\n");
        for (section, rows) in &seed.sections {
            text += &format!("\n**{section}**\n\n| who | what | shown by |\n|---|---|---|\n");
            for row in rows {
                let owner = if row.owner == "ui" { "UI" } else { row.owner };
                let shown: Vec<String> = row.shown.iter().map(|shown| told(seed.wire, shown)).collect();
                text += &format!(
                    "| {owner} {} | {} | {} |\n",
                    row.kind,
                    row.words.replace('|', "\\|"),
                    shown.join(", ")
                );
            }
        }
    }
    text
}

fn told(wire: &str, shown: &Shown<'_>) -> String {
    match shown {
        Shown::Transcript(name) => format!("[{name}](../transcripts/{wire}/{name}.txt)"),
        Shown::Scenario(name) => format!("[check: {name}](../{SCENARIOS}{wire}/scenarios.txt)"),
        Shown::Test(path, name) => format!("[`{name}`](../{})", whole(wire, path)),
        Shown::Not(why) => format!("*not*: {}", why.replace('|', "\\|")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title A document\nsection 1 Words\nruntime must speak\n  test crates/b.rs it_speaks\n  check greets\n\
                        ui may listen\n  transcript ui/listens\nboth reserved silence\n  not nobody says a word for it\n";

    fn judge(text: &str) -> Vec<String> {
        let file = [Page { path: "some/src/tests/seed.txt".to_owned(), text: text.to_owned() }];
        let (seeds, mut found) = read_all(&file);
        let mut known: Known =
            ["test crates/b.rs it_speaks", "transcript some/ui/listens"].map(str::to_owned).into();
        let told = scenarios("runtime greets answers\nseed 1\nui prompts\nscenario own\n");
        known.extend(told.map(|(owner, name)| format!("check some {owner} {name}")));
        found.extend(judged(&seeds, &known));
        found
    }

    #[test]
    fn a_row_that_names_what_is_there_or_says_why_not_is_fine() {
        assert_eq!(judge(TEXT), Vec::<String>::new());
    }

    #[test]
    fn a_row_without_a_test_and_a_test_that_nobody_wrote_are_found() {
        for (there, changed, why) in [
            (
                "it_speaks",
                "it_sings",
                "wires/some/src/tests/seed.txt:3: there is no test it_sings in crates/b.rs",
            ),
            (
                "crates/b.rs",
                "crates/c.rs",
                "wires/some/src/tests/seed.txt:3: there is no test it_speaks in crates/c.rs",
            ),
            (
                "check greets",
                "check prompts",
                "wires/some/src/tests/seed.txt:3: there is no scenario prompts of some for runtime",
            ),
            (
                "ui/listens",
                "ui/hears",
                "wires/some/src/tests/seed.txt:6: there is no transcript some/ui/hears",
            ),
            (
                "  not nobody says a word for it\n",
                "",
                "wires/some/src/tests/seed.txt:8: name what shows it, or say `not` and why: silence",
            ),
            (
                "  not nobody says a word for it\n",
                "  not\n",
                "wires/some/src/tests/seed.txt:9: cannot be read: not",
            ),
            (
                "ui may",
                "somebody may",
                "wires/some/src/tests/seed.txt:6: cannot be read: somebody may listen",
            ),
            ("ui may", "ui will", "wires/some/src/tests/seed.txt:6: cannot be read: ui will listen"),
        ] {
            let found = judge(&TEXT.replace(there, changed));
            assert!(found.iter().any(|found| found == why), "{changed:?}: {found:?}");
        }
    }

    #[test]
    fn every_row_of_our_tables_names_what_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let sources = tree::pages(root, ".rs").unwrap();
        assert_eq!(findings(root, &sources).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_page_counts_and_links() {
        let file = [Page { path: "some/src/tests/seed.txt".to_owned(), text: TEXT.to_owned() }];
        let page = page(&read_all(&file).0);
        for part in [
            "| [some](#some) | 3 | 2 | 0 | 1 |\n",
            "| runtime must | speak | [`it_speaks`](../crates/b.rs), [check: greets](../crates/kit/src/check/wires/some/scenarios.txt) |\n",
            "| UI may | listen | [ui/listens](../transcripts/some/ui/listens.txt) |\n",
            "| both reserved | silence | *not*: nobody says a word for it |\n",
        ] {
            assert!(page.contains(part), "{part}\nis not in\n{page}");
        }
    }
}
