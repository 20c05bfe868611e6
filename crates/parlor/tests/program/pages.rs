//! What the pages tell a reader to type is typed: in a home of its own, with the built program, in the order of the page.
//!
//! A block of commands begins with ` ```sh `. What stands behind that word says why a block is not run, and is counted ([`NOT_RUN`]); the
//! program must still take such commands. A block ` ```text output ` tells what the block before it wrote: each line of it came, in whatever order. A block with the
//! name of a file in `examples/` is that file, and lies there when the page's commands are run.
//!
//! What it is not: a shell. Of lines that are not run it knows quotes and where a command ends.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use crate::screens::walk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::{said, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// Blocks of commands that are not run, by what they need, in all pages together. Fewer is better.
const NOT_RUN: &[(&str, usize)] = &[("build", 6), ("key", 3), ("other", 7), ("server", 10)];

/// A fenced block: what stands behind its fence, and its text.
struct Block {
    head: String,
    text: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if open => open = false,
            Some(head) => {
                open = true;
                blocks.push(Block { head: head.trim().to_owned(), text: String::new() });
            }
            None if open => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// The pages that tell people what to type, by their paths.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![root().join("docs")];
    let mut files = vec![root().join("README.md"), root().join("SECURITY.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("adr") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    for file in files {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        pages.insert(name, std::fs::read_to_string(&file).unwrap());
    }
    pages
}

/// The page's commands in the page's order; every block that is not marked is run.
fn run(page: &str) {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("README.md"), "hello there\n").unwrap();
    let shell = |script: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-euc", script]).current_dir(&work).stdin(Stdio::null()).env_clear();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let own = Path::new(PARLOR).parent().unwrap().display().to_string();
        shell.env("PATH", format!("{own}:{path}")).env("HOME", home.path()).env("TERM", "dumb");
        shell.output().unwrap()
    };
    let _server = Server(home.path());
    said(&shell("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m begin"));
    let mut ran = 0;
    let mut wrote = String::new();
    for block in blocks(&text) {
        if let Some(example) = block.head.split(' ').nth(1).filter(|name| name.starts_with("examples/")) {
            let file = std::fs::read_to_string(root().join(example)).unwrap();
            assert_eq!(block.text, file, "{page} does not show {example} as it is");
            std::fs::write(work.join(Path::new(example).file_name().unwrap()), file).unwrap();
        }
        match block.head.as_str() {
            "sh" => {
                let output = shell(&block.text);
                assert!(
                    output.status.success(),
                    "{page}:\n{}{}\n{}",
                    block.text,
                    stdout(&output),
                    testkit::stderr(&output)
                );
                (ran, wrote) = (ran + 1, stdout(&output));
            }
            "text output" => {
                // Scenarios are told in the order in which they end.
                for line in block.text.lines() {
                    let there = wrote.lines().any(|wrote| is_like(line, wrote));
                    assert!(there, "{page}: `{line}` is not what came:\n{wrote}");
                }
            }
            _ => {}
        }
    }
    assert!(ran > 0, "{page} has nothing to run");
}

/// Whatever a page started in the background ends with it, also when a command of the page fails.
struct Server<'a>(&'a Path);

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let mut down = Command::new(PARLOR);
        down.arg("down").env_clear().env("HOME", self.0).stdin(Stdio::null());
        let _ = down.output();
    }
}

/// Whether a line is what a page tells of it: `…` stands for anything, and space is space.
fn is_like(told: &str, wrote: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (told, wrote) = (plain(told), plain(wrote));
    let mut rest = wrote.as_str();
    for (at, piece) in told.split('…').map(str::trim).enumerate() {
        match rest.find(piece) {
            Some(found) if at > 0 || found == 0 => rest = &rest[found + piece.len()..],
            _ => return false,
        }
    }
    told.ends_with('…') || rest.is_empty()
}

#[test]
fn what_the_readme_tells_to_type_works() {
    run("README.md");
}

#[test]
fn the_guide_for_agents_works() {
    run("docs/guides/your-agent.md");
}

#[test]
fn the_guide_for_uis_works() {
    run("docs/guides/your-ui.md");
}

#[test]
fn the_programs_of_the_native_protocol_work() {
    run("docs/native-protocol.md");
}

#[test]
fn what_the_other_pages_tell_to_type_works() {
    let own = ["README.md", "docs/guides/your-agent.md", "docs/guides/your-ui.md", "docs/native-protocol.md"];
    for (page, text) in pages() {
        if !own.contains(&page.as_str()) && blocks(&text).iter().any(|block| block.head == "sh") {
            run(&page);
        }
    }
}

/// Our commands in a line of a shell, each up to where the shell ends it.
pub(crate) fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word, mut quote, mut begun) =
        (Vec::new(), Vec::new(), String::new(), None, false);
    let end = |word: &mut String, begun: &mut bool, words: &mut Vec<String>| {
        if std::mem::take(begun) {
            words.push(std::mem::take(word));
        }
    };
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '"' | '\'') => (quote, begun) = (Some(letter), true),
            (None, '#') if !begun => break,
            (None, '|' | ';' | '&' | '<' | '>') => {
                end(&mut word, &mut begun, &mut words);
                all.push(std::mem::take(&mut words));
            }
            (None, _) if letter.is_whitespace() => end(&mut word, &mut begun, &mut words),
            (None, _) => {
                word.push(letter);
                begun = true;
            }
        }
    }
    end(&mut word, &mut begun, &mut words);
    all.push(words);
    for words in &mut all {
        let set =
            words.iter().take_while(|word| word.split_once('=').is_some_and(|(name, _)| is_variable(name)));
        let set = set.count();
        words.drain(..set);
    }
    all.retain(|words| words.first().is_some_and(|first| first == "parlor"));
    all
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Why the program does not take these words: asked for its help behind them, it reads all that stand before.
pub(crate) fn refused(words: &[String]) -> Option<String> {
    // The wire that a reader builds stands for any.
    let known = |word: &String| if word == "NAME" { "native".to_owned() } else { word.clone() };
    let mut words: Vec<String> = words[1..].iter().map(known).collect();
    // What stands behind is another program's.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, "--help".to_owned());
    let output = Command::new(PARLOR).args(&words).stdin(Stdio::null()).output().unwrap();
    (!output.status.success()).then(|| format!("`parlor {}`: {}", words.join(" "), testkit::stderr(&output)))
}

#[test]
fn the_program_takes_what_is_not_run_and_no_more_of_it_is_left_unrun_than_is_known() {
    let mut not_run: BTreeMap<String, usize> =
        NOT_RUN.iter().map(|(why, _)| ((*why).to_owned(), 0)).collect();
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for block in blocks(&text) {
            let ours = block
                .text
                .lines()
                .any(|line| line.trim_start().trim_start_matches("$ ").starts_with("parlor"));
            let why = match block.head.split_once(' ') {
                // What opens a screen is typed on one.
                Some(("sh", "screen")) => continue,
                Some(("sh", why)) => why,
                None if block.head == "console" => "server",
                _ if ours && ["", "bash", "shell"].contains(&block.head.as_str()) => {
                    faults.push(format!("{page}: a block of commands begins with ```sh: {}", block.text));
                    continue;
                }
                _ => continue,
            };
            match not_run.get_mut(why) {
                Some(count) => *count += 1,
                None => faults.push(format!("{page}: nobody knows why a block is not run: {why}")),
            }
            let typed = block.text.lines().filter(|_| block.head != "console");
            let shown = block
                .text
                .lines()
                .filter(|_| block.head == "console")
                .filter_map(|line| line.strip_prefix("$ "));
            for words in typed.chain(shown).flat_map(commands) {
                faults.extend(refused(&words).map(|why| format!("{page}: {why}")));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "{}", faults.join("\n"));
    let known: BTreeMap<String, usize> =
        NOT_RUN.iter().map(|(why, count)| ((*why).to_owned(), *count)).collect();
    assert_eq!(not_run, known);
}

#[test]
fn what_a_page_tells_to_type_on_a_screen_opens_it() {
    let mut walked = 0;
    for text in pages().values() {
        for block in blocks(text).iter().filter(|block| block.head == "sh screen") {
            for line in block.text.lines().filter(|line| line.starts_with("parlor")) {
                walked += 1;
                walk(line.trim_end());
            }
        }
    }
    assert!(walked >= 2, "{walked}");
}

#[test]
fn every_file_of_settings_on_a_page_is_taken_whole() {
    let mut blocks_of_toml = 0;
    for (page, text) in pages() {
        for block in blocks(&text).iter().filter(|block| block.head == "toml") {
            blocks_of_toml += 1;
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(home.path().join(".config/parlor")).unwrap();
            // A block within a list is indented.
            let settings = block.text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
            std::fs::write(home.path().join(".config/parlor/config.toml"), settings).unwrap();
            let mut doctor = Command::new(PARLOR);
            doctor.args(["doctor", "--model", "offline"]).env_clear().env("HOME", home.path());
            let output = doctor.current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
            let report = stdout(&output);
            let settings = report.lines().skip_while(|line| !line.starts_with("settings "));
            let told: Vec<&str> = settings.skip(1).take_while(|line| line.starts_with("  ")).collect();
            assert_eq!(told, Vec::<&str>::new(), "{page}:\n{}", block.text);
        }
    }
    assert!(blocks_of_toml >= 4, "{blocks_of_toml}");
}

#[test]
fn a_careless_reader_is_the_agent_of_the_guide_without_its_try() {
    let read = |name: &str| std::fs::read_to_string(root().join("examples").join(name)).unwrap();
    let careful: Vec<String> = read("echo-agent.py").lines().map(|line| line.trim().to_owned()).collect();
    let careless: Vec<String> =
        read("careless-agent.py").lines().map(|line| line.trim().to_owned()).collect();
    assert!(careless.iter().all(|line| careful.contains(line)));
    assert!(!careless.iter().any(|line| line.starts_with("try")) && careless.len() > 15);
}

/// The tests that a page names: words of code that are sentences.
fn named_tests(page: &str) -> usize {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let is_test = |word: &&str| {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        word.chars().all(plain) && word.matches('_').count() >= 3
    };
    text.split('`').filter(is_test).collect::<BTreeSet<_>>().len()
}

#[test]
fn the_figures_of_the_readme_are_counted() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines =
        |name: &str| std::fs::read_to_string(root().join("examples").join(name)).unwrap().lines().count();
    let wires = dialects::ALL.len();
    let figures = [
        format!("by one of {} tests", named_tests("docs/reliability.md")),
        format!("names {} tests", named_tests("docs/security.md")),
        format!("[{} lines of Python]", lines("echo-agent.py")),
        format!("in\n{} lines of Python (`--lang ts`", lines("new/ui.py")),
        format!("writes one in {} lines of Python that", lines("new/agent.py")),
        format!("[{} pairs]", wires * wires),
        format!("each of {} items", roles::Item::ALL.len()),
    ];
    let wrong: Vec<&String> = figures.iter().filter(|figure| !readme.contains(*figure)).collect();
    assert_eq!(wrong, Vec::<&String>::new());
}
