//! What is told to be typed and opens a screen is typed on one: the examples of help, the hints of messages, the blocks of pages. Each shows
//! what it is for, and is left by its own keys.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use crate::helps::Home;
use testkit::{Screen, said};

/// What a person sees or does there.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The screen shows this.
    Sees(&'static str),
    /// Nothing more comes for a while: it waits for the person.
    Settles,
    Types(&'static str),
}
use Step::{Sees, Settles, Types};

/// What stands in the composer when nothing runs and nothing is asked.
const RESTS: &str = "ask anything";
const LEAVES: &str = "\u{4}";
const STOPS: &str = "\u{3}";
/// The end of the conversation that is there.
const KEPT: &str = "Done with bridge.txt";
/// Said where a person has stopped it.
const STOPPED: i32 = 130;

/// A line as it is typed, `…` for the rest of it; how it ends; and what is seen and done in between.
type Walk = (&'static str, i32, &'static [Step]);

const GOES_ON: &[Step] = &[Sees(KEPT), Settles, Sees(RESTS), Types(LEAVES)];

const WALKS: &[Walk] = &[
    ("parlor", 0, &[Sees(RESTS), Types(LEAVES)]),
    (
        "parlor \"fix the failing test\"",
        0,
        &[Sees("> fix the failing test"), Settles, Sees(RESTS), Types(LEAVES)],
    ),
    ("parlor --continue", 0, GOES_ON),
    (
        "parlor --resume",
        0,
        &[Sees("type to filter"), Sees("bridge.txt"), Types("\r"), Sees(KEPT), Settles, Types(LEAVES)],
    ),
    ("parlor --resume …", 0, GOES_ON),
    (
        "parlor --worktree …",
        0,
        &[
            Sees("worktree fix-login"),
            Sees(RESTS),
            Settles,
            Types(LEAVES),
            Sees("merge, keep or remove?"),
            Types("\r"),
            Sees("is kept"),
        ],
    ),
    (
        "parlor sessions search -i",
        0,
        &[
            Sees("Search all sessions"),
            Types("bridge"),
            Sees("1 of 1"),
            Types("\u{1b}"),
            Sees(RESTS),
            Settles,
            Types(LEAVES),
        ],
    ),
    ("parlor sessions rm …", 0, &[Sees("Delete permanently? [y/N]"), Types("y\r")]),
    (
        "parlor login",
        STOPPED,
        &[Sees("Whose key do you have?"), Settles, Types(STOPS), Sees("nothing was kept")],
    ),
    (
        "parlor login anthropic",
        STOPPED,
        &[Sees("The key of anthropic"), Settles, Types(STOPS), Sees("nothing was kept")],
    ),
    (
        "parlor attach --dialect asst -- …",
        0,
        &[Sees("on a runtime that speaks asst"), Sees(RESTS), Settles, Types(LEAVES)],
    ),
    (
        "parlor tour",
        0,
        &[Sees("Step 1 of 7"), Sees("q and Enter leaves: "), Types("q\r"), Sees("Your place is kept")],
    ),
    ("parlor tour undo", 0, &[Sees("Step 5 of 7"), Sees("q and Enter leaves: "), Types("q\r")]),
    ("parlor rules narrow …", 0, &[Sees("now: ")]),
    ("parlor rules revoke …", 0, &[Sees("revoked: ")]),
];

/// What makes the rules that are narrowed and revoked: nobody but a person makes one.
const RULE: (&str, &[Step]) = (
    "parlor --policy ask 'run `cargo test`'",
    &[Sees("a always allow in this project"), Settles, Types("a"), Settles, Sees(RESTS), Types(LEAVES)],
);
/// The rule that the examples narrow, and its number in them.
const NARROWED: (&str, &str) = ("commands that start with `cargo test`", " 2");

fn walk_of(typed: &str) -> &'static Walk {
    let begins = |told: &str| told.strip_suffix('…').is_some_and(|begins| typed.starts_with(begins));
    let exact = WALKS.iter().find(|(told, ..)| *told == typed);
    let found = exact.or_else(|| WALKS.iter().find(|(told, ..)| begins(told)));
    assert!(found.is_some(), "nobody knows what `{typed}` shows: add it to WALKS");
    found.unwrap()
}

fn go(home: &Home, typed: &str, steps: &[Step]) -> Option<i32> {
    let mut command = home.command(typed);
    let mut screen = Screen::start(command.env("TERM", "xterm-256color"));
    for step in steps {
        match step {
            Sees(text) => screen.shows(&[text]),
            Settles => screen.settles(),
            Types(keys) => screen.send(keys),
        }
    }
    screen.code()
}

/// Walks all of them, a few at a time.
pub(crate) fn walk_all<'a>(lines: impl IntoIterator<Item = &'a str>) {
    let lines: Vec<&str> = lines.into_iter().collect();
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for begin in 0..at_once {
            let mine = lines.iter().skip(begin).step_by(at_once);
            scope.spawn(move || mine.for_each(|line| walk(line)));
        }
    });
}

/// Types the line in a home with what it speaks of, and goes where it leads.
pub(crate) fn walk(typed: &str) {
    let (_, code, steps) = walk_of(typed);
    let kind = if typed.contains("--worktree") { "worktrees" } else { "sessions" };
    let home = Home::of(kind);
    let mut line = typed.replace("--worktree NAME", "--worktree fix-login");
    for id in ["3f2a", "sess-1", "ID"] {
        line = line.replace(&format!(" {id}"), &format!(" {}", home.session()));
    }
    if typed.starts_with("parlor rules") {
        let (asks, steps) = RULE;
        assert_eq!(go(&home, asks, steps), Some(0), "{asks}");
        let listed = said(&home.shell("parlor rules"));
        let row = listed.lines().find(|row| row.contains(NARROWED.0));
        assert!(row.is_some(), "no rule {}:\n{listed}", NARROWED.0);
        let number = row.unwrap().split_whitespace().next().unwrap_or_default();
        line = line.replacen(NARROWED.1, &format!(" {number}"), 1);
    }
    assert_eq!(go(&home, &line, steps), Some(*code), "{line}");
}
