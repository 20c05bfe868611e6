//! The examples of every `--help`: each command has one, each stands in one line of a usual terminal, and each is typed in a home of its
//! own, or on a screen, or stands in [`NOT_RUN`] with what it needs.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use crate::pages::{commands, refused, root};
use crate::screens::walk_all;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use testkit::{said, stderr, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// Examples that are not run, each with what it needs; `…` stands for the rest of the line. Fewer is better, and the program must take them
/// all the same.
const NOT_RUN: &[(&str, &str)] = &[
    ("parlor devices rename …", "a browser"),
    ("parlor devices role …", "a browser"),
    ("parlor devices revoke …", "a browser"),
    ("parlor web", "a browser"),
    ("parlor web …", "a browser"),
    ("parlor attach --dialect native --socket …", "a server"),
    ("parlor attach --session …", "a server"),
    ("parlor serve --dialect native --socket …", "a server"),
    ("parlor relay …", "a server"),
    ("parlor ps --watch", "a server"),
    ("parlor sessions move …", "a server"),
    ("parlor --store …", "a server"),
    ("parlor up", "a server"),
    ("parlor login openai < key.txt", "a key"),
    ("parlor doctor --model …", "a key"),
    ("parlor run --output-schema …", "a key"),
    ("parlor run --json …", "another program"),
    ("parlor attach goose", "another program"),
    ("parlor attach ssh://…", "another program"),
    ("parlor bridge --from codelia --stdio --agent goose …", "another program"),
    ("parlor check agent --dialect acp …", "another program"),
    ("parlor check agent -- my-agent …", "another program"),
    ("parlor man run | man -l -", "another program"),
    ("parlor mcp login docs", "a browser"),
    ("parlor mcp test weather", "another program"),
    ("parlor mcp serve", "a server"),
    ("parlor check agent", "minutes"),
    ("parlor check agent --day", "minutes"),
    ("parlor check --dialect nous …", "minutes"),
];

/// Examples that open a screen: they are typed on one ([`crate::screens`]). `…` stands for the rest of the line.
const ON_A_SCREEN: &[&str] = &[
    "parlor",
    "parlor \"fix the failing test\"",
    "parlor --continue",
    "parlor --resume 3f2a",
    "parlor --worktree fix-login",
    "parlor sessions search -i",
    "parlor login",
    "parlor login anthropic",
    "parlor attach --dialect asst -- …",
    "parlor sessions rm 3f2a",
    "parlor tour",
    "parlor tour undo",
    "parlor rules narrow …",
    "parlor rules revoke …",
];

/// Examples that are not run, with those that stand in several helps. Fewer is better.
const MOST_NOT_RUN: usize = 34;

/// A project with what most examples speak of.
const WORLD: &str = "git init -q . && git config user.name a && git config user.email a@b
printf 'hello there\n' > README.md && printf 'first\n' > bridge.txt && git add . && git commit -q -m begin
mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions";

/// What is there besides for a command whose help has such a word.
const BESIDES: &[(&str, &str)] = &[
    ("sessions", "parlor run --allow write 'write bridge.txt: the failing bridge'"),
    ("sessions import", "parlor sessions export -o bridge.jsonl"),
    ("sessions recover", "parlor sessions backup ~/parlor.db"),
    ("worktrees", "parlor run --worktree=fix-login --allow write 'write login.txt: fixed'"),
    ("worktrees", "parlor run --worktree=try-redis --allow write 'write redis.txt: tried'"),
    ("agents", "printf '{\"agents\":[]}' > registry.json"),
    ("replay", "parlor attach --dialect asst --prompt 'list files' --record talk.txt -- python3 agent.py"),
    ("trace", "parlor record --dialect asst --out talk.txt -- python3 agent.py < /dev/null"),
];

/// Every command with those below it, as they are typed.
fn all_commands() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/reference/commands.md")).unwrap();
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let all: Vec<String> = headings.map(str::to_owned).collect();
    assert!(all.len() > 45 && all.contains(&"parlor sessions export".to_owned()), "{all:?}");
    all
}

/// The help of a command at this width.
fn help(command: &str, columns: &str) -> String {
    let words = command.split(' ').skip(1);
    said(&Command::new(PARLOR).args(words).arg("--help").env("COLUMNS", columns).output().unwrap())
}

/// The lines of a help's examples, those that go on behind a `\` as one, without what is told beside them.
fn examples(help: &str) -> Vec<String> {
    let below = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    let mut all: Vec<String> = Vec::new();
    for line in below.take_while(|line| line.starts_with("  ")) {
        let typed = line.trim();
        match all
            .last_mut()
            .and_then(|last| last.strip_suffix('\\').map(str::to_owned).map(|begun| (last, begun)))
        {
            Some((last, begun)) => *last = format!("{begun}{typed}"),
            None => all.push(typed.to_owned()),
        }
    }
    all.iter().map(|line| line.split("   ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_command_shows_an_example() {
    let all = all_commands();
    let without: Vec<&String> = all
        .iter()
        .filter(|command| {
            let above = command.rsplit_once(' ').map_or("", |(above, _)| above);
            let by_itself = !examples(&help(command, "80")).is_empty();
            // One below a command may stand among that one's examples.
            let above =
                || all.contains(&above.to_owned()) && help(above, "80").contains(&format!("  {command}"));
            !(by_itself || command.matches(' ').count() > 1 && above())
        })
        .collect();
    assert_eq!(without, Vec::<&String>::new());
}

#[test]
fn every_example_stands_in_one_line_of_a_usual_terminal() {
    let mut counted = 0;
    for command in all_commands() {
        let (usual, wide) = (help(&command, "80"), help(&command, "500"));
        let below = wide.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        for line in below.take_while(|line| line.starts_with("  ")) {
            counted += 1;
            assert!(line.chars().count() <= 80, "`{command} --help`: {line}");
            assert!(usual.lines().any(|one| one == line), "`{command} --help` breaks {line}");
        }
    }
    assert!(counted > 80, "{counted}");
}

/// What an example needs, if it is not run.
fn needs(example: &str) -> Option<&'static (&'static str, &'static str)> {
    NOT_RUN.iter().find(|(typed, _)| is_told(typed, example))
}

/// Whether a row of a table means this example.
fn is_told(typed: &str, example: &str) -> bool {
    match typed.strip_suffix('…') {
        Some(begins) => example.starts_with(begins),
        None => example == typed,
    }
}

/// What came of the examples of a command: how many were run, those of the list that are there, and what went wrong.
#[derive(Default)]
struct Tried {
    ran: usize,
    known: Vec<&'static str>,
    /// Those that are typed on a screen.
    walked: BTreeSet<String>,
    faults: Vec<String>,
}

fn try_all(command: &str) -> Tried {
    let (mut tried, mut home) = (Tried::default(), None);
    for example in examples(&help(command, "500")) {
        if let Some((typed, _)) = needs(&example) {
            tried.known.push(typed);
            // What stands behind the number of a rule is the rule, also `--help`.
            let words = commands(&example);
            let words = words.iter().filter(|words| !words.iter().any(|word| word == "narrow"));
            tried.faults.extend(words.filter_map(|words| refused(words)));
            continue;
        }
        if let Some(typed) = ON_A_SCREEN.iter().find(|typed| is_told(typed, &example)) {
            tried.walked.insert(example.clone());
            tried.known.push(typed);
            continue;
        }
        let home = home.get_or_insert_with(|| Home::of(command));
        let output = home.shell(&example.replace("3f2a", &home.session));
        tried.ran += 1;
        if !output.status.success() {
            let said = format!("{}{}", stdout(&output), stderr(&output));
            tried.faults.push(format!("`{command} --help`: {example}\n{said}"));
        }
    }
    tried
}

#[test]
fn every_example_does_what_it_says_or_is_known_to_need_more() {
    let all = all_commands();
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let tried: Vec<Tried> = std::thread::scope(|scope| {
        let part = |at: usize| {
            all.iter().skip(at).step_by(at_once).map(|command| try_all(command)).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..at_once).map(|at| scope.spawn(move || part(at))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let faults: Vec<&String> = tried.iter().flat_map(|one| &one.faults).collect();
    assert!(
        faults.is_empty(),
        "{}",
        faults.iter().map(|fault| fault.as_str()).collect::<Vec<_>>().join("\n")
    );
    let known = |typed: &&str| tried.iter().any(|one| one.known.contains(typed));
    let tables = NOT_RUN.iter().map(|(typed, _)| *typed).chain(ON_A_SCREEN.iter().copied());
    let unknown: Vec<&str> = tables.filter(|typed| !known(typed)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "these are in no help");
    let is_left = |typed: &&&str| NOT_RUN.iter().any(|(left, _)| left == *typed);
    let (ran, left): (usize, usize) = (
        tried.iter().map(|one| one.ran).sum(),
        tried.iter().flat_map(|one| &one.known).filter(is_left).count(),
    );
    assert!(ran > 50 && left <= MOST_NOT_RUN, "{ran} are run, {left} are not");
    let walked: BTreeSet<&String> = tried.iter().flat_map(|one| &one.walked).collect();
    assert!(walked.len() >= ON_A_SCREEN.len(), "{walked:?}");
    walk_all(walked.into_iter().map(String::as_str));
}

/// A home of its own, with what the examples speak of.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    session: String,
}

impl Home {
    pub(crate) fn of(command: &str) -> Home {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::copy(root().join("examples/echo-agent.py"), folder.path().join("work/agent.py")).unwrap();
        let mut home = Home { folder, session: String::new() };
        said(&home.shell(WORLD));
        for (_, script) in BESIDES.iter().filter(|(word, _)| command.contains(word)) {
            said(&home.shell(script));
        }
        let listed = said(&home.shell("parlor sessions list --json"));
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        home.session = listed[0]["id"].as_str().unwrap_or_default().to_owned();
        home
    }

    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    pub(crate) fn shell(&self, script: &str) -> Output {
        self.command(script).stdin(Stdio::null()).output().unwrap()
    }

    /// A script there, as a shell is started with it.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut shell = Command::new("bash");
        shell.args(["-euc", script]).current_dir(self.folder.path().join("work")).env_clear();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let own = Path::new(PARLOR).parent().unwrap().display().to_string();
        shell.env("PATH", format!("{own}:{path}")).env("HOME", self.folder.path()).env("TERM", "dumb");
        shell.env("PARLOR_MODEL", "offline");
        shell
    }
}
