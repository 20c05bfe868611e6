//! The built program on unfriendly ground: a project that wants to command the terminal, bytes that are no text, settings that are
//! none, flags that nobody knows, lines without end, a terminal that vanishes. Each fault is listed with the name of its test in
//! docs/reliability.md.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panic")]

mod borrowed;
mod hostile;
mod odd;
mod place;
mod prompt;
mod resume;
mod settings;
mod terminal;

use crate::hostile::bench::World;
use std::collections::BTreeSet;

/// That these command lines leave no command out: those that help names, found in them as whole words.
#[track_caller]
fn names_every_command(world: &World, tried: &[&[&str]], groups: &[&[&str]]) {
    let tried: BTreeSet<&str> = tried.iter().flat_map(|words| words.iter().copied()).collect();
    for group in groups {
        let help = world.parlor(&[group, &["--help"][..]].concat()).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        // The program's own stand in groups, by what one wants to do.
        let commands = match help.split_once("\nCommands:\n") {
            Some((_, rest)) => rest.split("\n\n").next(),
            None => help.split_once("\nStart:\n").and_then(|(_, rest)| rest.split("\nArguments:").next()),
        };
        let commands = commands.unwrap();
        let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        let known: BTreeSet<&str> = names.filter(|name| *name != "help").collect();
        assert!(known.len() > 4, "{help}");
        let missing: Vec<&&str> = known.difference(&tried).collect();
        assert!(missing.is_empty(), "never tried: {missing:?}");
    }
}
