//! What is switched off, and what is told of it.

use super::switches::{self, Switches};
use super::*;

/// Settings as git lists them.
fn listed(settings: &[(&str, &str, &str)]) -> String {
    settings.iter().map(|(scope, name, value)| format!("{scope}\0{name}\n{value}\0")).collect()
}

fn switches(settings: &[(&str, &str, &str)]) -> Switches {
    Switches::of(&listed(settings)).unwrap()
}

fn names(switches: &Switches, writes: bool) -> Vec<String> {
    switches.settings(writes).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn whatever_looking_switches_off_is_off_for_us_too() {
    let ours = switches::always();
    let count = env::LOOKING.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_")).count();
    assert!(count > 0);
    for number in 0..count {
        let told = |word: &str| {
            let name = format!("GIT_CONFIG_{word}_{number}");
            env::LOOKING.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).unwrap()
        };
        let (name, value) = (told("KEY").to_ascii_lowercase(), told("VALUE"));
        assert!(ours.iter().any(|(our, off)| *our == name && off == value), "{name}={value}");
    }
}

#[test]
fn what_a_repository_names_is_off_whatever_it_is_called() {
    let found = switches(&[
        ("local", "filter.a=b.c.smudge", "evil"),
        ("local", "merge.m.driver", "evil"),
        ("worktree", "hook.h.command", "evil"),
        ("local", "merge.conflictstyle", "diff3"),
        ("local", "merge.m.name", "words"),
    ]);
    assert!(!found.plain);
    for writes in [true, false] {
        let off = names(&found, writes);
        for name in ["filter.a=b.c.smudge", "filter.a=b.c.process", "merge.m.driver", "hook.h.enabled"] {
            assert!(off.iter().any(|off| off == name), "{name} {off:?}");
        }
    }
    assert_eq!(found.filters, ["a=b.c"]);
    assert_eq!(found.left_out(GitDeed::Merge), ["filter a=b.c", "merge driver m", "hook h"]);
    assert_eq!(found.left_out(GitDeed::Remove), ["hook h"]);
}

#[test]
fn what_is_the_persons_own_runs_when_git_writes_unless_the_repository_could_steer_it() {
    let own =
        [("global", "filter.lfs.process", "git-lfs filter-process"), ("local", "core.hookspath", ".husky")];
    let found = switches(&own);
    assert!(found.plain && found.filters.is_empty() && names(&found, true).is_empty());
    assert!(names(&found, false).contains(&"filter.lfs.process".to_owned()), "a look needs no filter");
    assert!(found.left_out(GitDeed::CheckOut).is_empty());
    let steered = switches(&[own[0], ("local", "lfs.customtransfer.x.path", "evil")]);
    assert!(!steered.plain && names(&steered, true).contains(&"filter.lfs.process".to_owned()));
    assert_eq!(steered.left_out(GitDeed::CheckOut), ["filter lfs"]);
}

#[test]
fn a_person_is_told_of_signing_and_a_monitor_where_they_count() {
    let found = switches(&[("global", "commit.gpgsign", "true"), ("local", "core.fsmonitor", "evil")]);
    assert_eq!(found.left_out(GitDeed::Commit), ["core.fsmonitor", "signing"]);
    assert_eq!(found.left_out(GitDeed::CheckOut), ["core.fsmonitor"]);
    // What we switched off ourselves is not what the person has.
    let found = switches(&[("local", "core.fsmonitor", "evil"), ("command", "core.fsmonitor", "false")]);
    assert_eq!(found.left_out(GitDeed::CheckOut), ["core.fsmonitor"]);
    // Git's own monitor is no program of the repository's; what was set back is off.
    let found = switches(&[
        ("local", "core.fsmonitor", "true"),
        ("global", "commit.gpgsign", "true"),
        ("local", "commit.gpgsign", "false"),
    ]);
    assert!(found.left_out(GitDeed::Commit).is_empty());
}

#[test]
fn how_branches_are_merged_is_not_for_settings_to_say() {
    let found =
        switches(&[("global", "branch.a.b.mergeoptions", "-s ours"), ("local", "pull.twohead", "ours")]);
    assert!(found.plain);
    for name in ["branch.a.b.mergeoptions", "pull.twohead"] {
        assert!(names(&found, true).contains(&name.to_owned()), "{name}");
    }
    assert_eq!(found.left_out(GitDeed::Merge), ["merge options of branch a.b"]);
    assert!(found.left_out(GitDeed::Commit).is_empty());
}

#[test]
fn what_cannot_be_switched_off_by_its_name_is_refused() {
    let odd = listed(&[("local", "filter.\u{fffd}.smudge", "evil")]);
    assert!(Switches::of(&odd).is_err_and(|why| why.contains("not UTF-8")));
    let many: String = (0..1000).map(|number| format!("local\0filter.f{number}.clean\nx\0")).collect();
    assert!(Switches::of(&many).is_err_and(|why| why.contains("more than")));
}
