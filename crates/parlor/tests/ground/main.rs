//! The built program on unfriendly ground: a project that wants to command the terminal, bytes that are no text, settings that are
//! none, flags that nobody knows, lines without end, a terminal that vanishes. Each fault is listed with the name of its test in
//! docs/reliability.md.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panic")]

#[path = "../hostile/bench.rs"]
#[allow(dead_code, reason = "shared with the hostile suite, which uses more of it")]
mod bench;
mod hostile;
mod odd;
#[path = "../task/terminal/screen.rs"]
#[allow(dead_code, reason = "shared with the tests of the task, which use more of it")]
mod screen;
mod settings;
mod terminal;

use crate::bench::World;
use std::collections::BTreeSet;

/// That a list of command lines leaves no command out: those that help names, found in the list as whole words.
#[track_caller]
fn names_every_command(world: &World, lists: &[&[&[&str]]]) {
    let help = world.parlor(&["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = rest.split_once("\n\n").unwrap();
    let known: BTreeSet<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(known.len() > 10, "{help}");
    let tried: BTreeSet<&str> =
        lists.iter().flat_map(|list| list.iter().flat_map(|words| words.iter().copied())).collect();
    let missing: Vec<&&str> = known.difference(&tried).collect();
    assert!(missing.is_empty(), "never tried: {missing:?}");
}
