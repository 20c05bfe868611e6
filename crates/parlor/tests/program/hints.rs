//! What messages tell a person to type is taken by the program: found in the source of every crate, so that no hint is forgotten.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use crate::helps::Home;
use crate::pages::{commands, refused, root};
use crate::screens::walk_all;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::{in_world, stderr, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// What stands in a hint for what a person knows, and a value that the program takes there.
const STANDS_FOR: &[(&str, &str)] = &[
    ("COMMAND…", "true"),
    ("[/SESSION]", ""),
    ("DIALECT", "native"),
    ("PROVIDER/NAME", "offline/offline"),
    ("PROVIDER", "openai"),
    ("UI", "codelia"),
    ("RUNTIME", "asst"),
    ("TOOL,TOOL", "write"),
    ("TOOL", "write"),
    ("MODE", "ask"),
    ("PORT", "1"),
    ("ROLE", "runtime"),
    ("{dialect}", "native"),
    ("{name}", "name"),
    ("{server}", "name"),
    ("{session}", "sess-1"),
    ("{id}", "sess-1"),
    ("{provider}", "openai"),
    ("{}", "name"),
];
/// Flags of other programs, and of shells, that hints speak of.
const OTHERS: &[&str] = &["--login", "--no-sandbox"];

/// The lines of the program's source that may be said: neither comments nor tests.
fn said_lines() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = vec![root().join("crates"), root().join("wires")];
    let mut lines = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["tests", "testkit", "benches", "examples", "target", "fixtures", "node_modules"]
                    .contains(&name.as_str())
                {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                let said = shipped.lines().map(str::trim).filter(|line| !line.starts_with("//"));
                lines.extend(said.map(|line| (path.display().to_string(), line.to_owned())));
            }
        }
    }
    lines
}

/// The commands in a line of source: in back quotes, or behind `hint:`.
fn told(line: &str) -> Vec<String> {
    let line = line.replace("\\\"", "\u{1}");
    let mut all = Vec::new();
    for text in line.split('"').skip(1).step_by(2).flat_map(|text| text.split("\\n")) {
        all.extend(text.split('`').skip(1).step_by(2).filter(|one| one.starts_with("parlor ")));
        let hint = text
            .split_once("hint: parlor ")
            .map(|(_, rest)| rest.split([';', '`']).next().unwrap_or_default());
        if let Some(hint) = hint {
            let hint = hint.split(", ").next().unwrap_or_default();
            all.push(
                &text[text.find(hint).unwrap_or_default() - "parlor ".len()..]
                    [..hint.len() + "parlor ".len()],
            );
        }
    }
    all.into_iter().map(|one| one.replace('\u{1}', "\"")).collect()
}

/// A hint as it is typed once it is known what stands for what.
fn typed(hint: &str) -> String {
    let word = |word: &str| {
        let known = STANDS_FOR.iter().find(|(stands, _)| *stands == word);
        known.map_or_else(|| word.replace("[/SESSION]", ""), |(_, value)| (*value).to_owned())
    };
    hint.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Hints that are not run as they stand, each with what is run in its place, or with nothing and what it needs. `…` stands for the rest.
/// What needs more is counted: fewer is better, and the program must take it all the same.
const IN_ITS_PLACE: &[(&str, Result<&str, &str>)] = &[
    ("parlor --continue", Err("a screen")),
    ("parlor --resume", Err("a screen")),
    ("parlor --resume ID", Err("a screen")),
    ("parlor --resume sess-1", Err("a screen")),
    ("parlor --resume ID \"PROMPT\"", Ok("parlor --resume sess-1 'list files'")),
    ("parlor --worktree NAME", Err("a screen")),
    ("parlor attach --dialect …", Err("another program")),
    ("parlor attach --session …", Err("a server")),
    ("parlor acp --to NAME", Err("another program")),
    ("parlor attach NAME", Err("another program")),
    ("parlor attach ssh://HOST", Err("another machine")),
    ("parlor attach name", Err("another program")),
    (
        "parlor bridge --from codelia --stdio --to asst -- COMMAND",
        Ok("parlor bridge --from codelia --stdio --to asst -- python3 agent.py"),
    ),
    ("parlor check", Err("its name is meant")),
    (
        "parlor check --dialect asst --role runtime -- COMMAND",
        Ok("parlor check --dialect asst --role runtime -- python3 agent.py"),
    ),
    ("parlor devices revoke…", Err("a browser")),
    ("parlor devices role …", Err("a browser")),
    ("parlor help COMMAND", Ok("parlor help run")),
    ("parlor login", Err("a screen")),
    ("parlor login …", Err("a key")),
    ("parlor mcp add", Err("its name is meant")),
    ("parlor mcp add NAME --url URL", Ok("parlor mcp add wiki --url https://example.org/mcp")),
    ("parlor mcp approve", Err("its name is meant")),
    ("parlor mcp approve name", Ok("parlor mcp add name -- true && parlor mcp approve name")),
    ("parlor mcp import NAME", Ok("parlor mcp import")),
    ("parlor mcp login name", Err("a browser")),
    (
        "parlor mcp logout NAME",
        Ok("parlor mcp add name --url https://example.org/mcp && parlor mcp logout name"),
    ),
    ("parlor mcp test name", Err("another program")),
    ("parlor ps --watch", Err("a server")),
    ("parlor record", Err("its name is meant")),
    (
        "parlor record --dialect …",
        Ok("rm -f parlor-asst-*.txt; parlor record --dialect asst -- python3 agent.py"),
    ),
    ("parlor run", Err("its name is meant")),
    ("parlor run --worktree", Err("its name is meant")),
    ("parlor run sends one prompt", Err("its name is meant")),
    ("parlor run --image FILE \"PROMPT\"", Err("a picture")),
    ("parlor run --file FILE \"PROMPT\"", Ok("parlor run --file README.md 'list files'")),
    ("parlor serve", Err("its name is meant")),
    ("parlor serve --help", Ok("parlor serve --help")),
    ("parlor serve --dialect NAME --stdio", Ok("parlor serve --dialect codelia --stdio")),
    ("parlor serve --dialect native --stdio", Ok("parlor serve --dialect native --stdio")),
    ("parlor serve --dialect …", Err("a server")),
    ("parlor sessions export ID -o FILE", Ok("parlor sessions export sess-1 -o talk.md")),
    ("parlor sessions export ID --format jsonl", Ok("parlor sessions export sess-1 --format jsonl")),
    ("parlor sessions backup FILE", Ok("parlor sessions backup another.db")),
    ("parlor sessions import FILE", Ok("parlor sessions import bridge.jsonl")),
    ("parlor sessions redo", Ok("parlor sessions undo sess-1 && parlor sessions redo sess-1")),
    ("parlor sessions undo", Ok("parlor sessions undo sess-1")),
    ("parlor sessions rm ID", Err("a screen")),
    ("parlor sessions show ID", Ok("parlor sessions show sess-1")),
    ("parlor tour", Err("a screen")),
    ("parlor up", Ok("parlor up && parlor down")),
    ("parlor web", Err("a browser")),
    ("parlor web --port …", Err("a browser")),
    (
        "parlor run --worktree=NAME \"PROMPT\"",
        Ok("parlor run --worktree=first 'list files' && parlor worktrees remove first"),
    ),
    (
        "parlor worktrees remove NAME",
        Ok("parlor run --worktree=second 'list files' && parlor worktrees remove second"),
    ),
    ("parlor sessions rename ID TITLE", Ok("parlor sessions rename sess-1 another title")),
];

/// Hints that need more than a home, with those that are only names of commands. Fewer is better.
const MOST_NOT_RUN: usize = 35;

/// What is run in the place of a hint, or what it needs.
fn in_its_place(hint: &str) -> Option<&'static (&'static str, Result<&'static str, &'static str>)> {
    let is_meant = |told: &str| match told.strip_suffix('…') {
        Some(begins) => hint.starts_with(begins),
        None => hint == told,
    };
    // One that is told whole goes before those that begin like it.
    let exact = IN_ITS_PLACE.iter().find(|(told, _)| *told == hint);
    exact.or_else(|| IN_ITS_PLACE.iter().find(|(told, _)| is_meant(told)))
}

#[test]
fn what_a_message_tells_to_type_does_what_it_says() {
    let all = said_lines();
    let hints: BTreeSet<String> =
        all.iter().flat_map(|(_, line)| told(line)).map(|hint| typed(&hint)).collect();
    let home = Home::of("sessions import");
    let (mut ran, mut left, mut used, mut faults) = (0, 0, BTreeSet::new(), Vec::new());
    let mut walked = BTreeSet::new();
    for hint in &hints {
        let first = hint.split(' ').nth(1).unwrap_or_default();
        // A word that is filled in, or one that nobody types.
        if first.starts_with(['{', '_']) || ["name", "WORD"].contains(&first) {
            continue;
        }
        let run = match in_its_place(hint) {
            Some((told, Err("a screen"))) => {
                used.insert(*told);
                walked.insert(hint.clone());
                continue;
            }
            Some((told, Err(_))) => {
                used.insert(*told);
                left += 1;
                continue;
            }
            Some((told, Ok(run))) => {
                used.insert(*told);
                *run
            }
            None => hint.as_str(),
        };
        let run = run.replace("sess-1", home.session()).replace("\"PROMPT\"", "'list files'");
        let output = home.shell(&run);
        ran += 1;
        if !output.status.success() {
            faults.push(format!("`{hint}`, run as {run}\n{}{}", stdout(&output), stderr(&output)));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let unused: Vec<&str> =
        IN_ITS_PLACE.iter().map(|(told, _)| *told).filter(|told| !used.contains(told)).collect();
    assert_eq!(unused, Vec::<&str>::new(), "nothing says these");
    assert!(ran > 45 && left <= MOST_NOT_RUN, "{ran} are run, {left} are not");
    assert!(walked.len() > 5, "{walked:?}");
    walk_all(walked.iter().map(String::as_str));
}

#[test]
fn what_a_message_tells_to_type_is_taken() {
    let (mut tried, mut faults) = (BTreeSet::new(), Vec::new());
    for (path, line) in said_lines() {
        for hint in told(&line) {
            let first = hint.split(' ').nth(1).unwrap_or_default();
            // A word that is filled in, one of a wire, or one that nobody types.
            let is_open = first.starts_with(['{', '_']) || first == "WORD";
            if is_open || !tried.insert(hint.clone()) {
                continue;
            }
            if first == "help" {
                let page = hint
                    .split(' ')
                    .nth(2)
                    .map_or("run", |page| if page.to_uppercase() == page { "run" } else { page });
                let page = if page == "NAME.md" { "web.md" } else { page };
                let output = Command::new(PARLOR).args(["help", page]).output().unwrap();
                faults.extend((!output.status.success()).then(|| format!("{path}: {hint}")));
                continue;
            }
            for words in commands(&typed(&hint)) {
                faults.extend(refused(&words).map(|why| format!("{path}: `{hint}`: {why}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(tried.len() > 60, "{}: {tried:?}", tried.len());
}

#[test]
fn a_hint_names_no_flag_that_is_not_there() {
    let page = std::fs::read_to_string(root().join("docs/reference/commands.md")).unwrap();
    let flags = |text: &str| -> BTreeSet<String> {
        let is_flag = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let words = text
            .split(|letter: char| !is_flag(letter))
            .filter(|word| word.len() > 3 && word.starts_with("--"));
        words.map(|word| word.trim_end_matches('-').to_owned()).collect()
    };
    let mut known = flags(&page);
    known.extend(["--help", "--version", "--print"].map(str::to_owned));
    known.extend(OTHERS.iter().map(|flag| (*flag).to_owned()));
    let (mut seen, mut faults) = (0, Vec::new());
    for (path, line) in said_lines().iter().filter(|(path, _)| {
        path.contains("crates/parlor/") || path.contains("crates/host/") || path.contains("crates/remote/")
    }) {
        let Some((_, hint)) = line.split_once("hint: ") else { continue };
        for flag in flags(hint) {
            seen += 1;
            if !known.contains(&flag) {
                faults.push(format!("{path}: {flag} in {line}"));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "{}", faults.join("\n"));
    assert!(seen > 20, "{seen}");
}

/// What begins the words of an error.
const ERRORS: &[&str] = &["exit::usage(", "bail!(", "anyhow!(", "ensure!("];
/// What tells in an error what to do next: a hint, a command, or a flag.
const NEXT: &[&str] = &["hint: ", "`parlor", "--"];

/// The words of the calls that begin with `begins`: all of their text, whatever is filled in.
fn calls(source: &str, begins: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, _) in source.match_indices(begins) {
        let (mut open, mut quoted, mut escaped, mut words) = (1, false, false, String::new());
        for letter in source[at + begins.len()..].chars() {
            match letter {
                '"' if !escaped => quoted = !quoted,
                '(' if !quoted => open += 1,
                ')' if !quoted => open -= 1,
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
            if open == 0 {
                break;
            }
            words.push(letter);
        }
        all.push(words);
    }
    all
}

/// Whether only another's words are passed on, which have their own hint.
fn passes_on(words: &str) -> bool {
    let text: String = words.split('"').skip(1).step_by(2).collect();
    let own = text.replace("{why}", "").replace("{name}", "").replace("{}", "");
    !own.chars().any(char::is_alphabetic)
}

#[test]
fn an_error_of_the_command_line_says_what_to_do_next() {
    let (mut seen, mut without) = (0, Vec::new());
    let mut folders = vec![root().join("crates/parlor/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            for words in ERRORS.iter().flat_map(|begins| calls(shipped, begins)) {
                seen += 1;
                if !passes_on(&words) && !NEXT.iter().any(|next| words.contains(next)) {
                    without.push(format!(
                        "{}: {}",
                        path.display(),
                        words.split_whitespace().collect::<Vec<_>>().join(" ")
                    ));
                }
            }
        }
    }
    assert!(seen > 80, "{seen}");
    assert_eq!(without, Vec::<String>::new(), "say in a hint what to do next:\n{}", without.join("\n"));
}

#[test]
fn a_socket_that_commands_could_take_is_warned_of_and_none_that_is_not_made() {
    let world = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path().join("data")).unwrap();
    let socket = world.path().join("mine.sock").display().to_string();
    let mut serve =
        in_world(Path::new(PARLOR), world.path(), &["serve", "--dialect", "nous", "--socket", &socket]);
    let mut serve = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said: Vec<String> = BufReader::new(serve.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .take_while(|line| !line.starts_with("serving"))
        .collect();
    serve.kill().unwrap();
    serve.wait().unwrap();
    let others = said.iter().filter(|line| line.contains(".sock") && !line.contains(&socket));
    assert_eq!(others.count(), 0, "{said:#?}");
}
