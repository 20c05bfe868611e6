//! check: a table, JSON, JUnit, and failures that are expected, in both directions.

use crate::instruments::{PARLOR, output, stdout};
use std::path::Path;
use std::process::Output;

/// Checks one scenario that our program keeps, with further options.
fn check(world: &Path, more: &[&str]) -> Output {
    let args = ["check", "--dialect", "codelia", "--role", "runtime", "--only", "method-not-found"];
    let command = ["--", PARLOR, "serve", "--dialect", "codelia", "--stdio", "--ephemeral"];
    output(world, &args.iter().chain(more).chain(&command).copied().collect::<Vec<_>>())
}

#[test]
fn the_result_comes_as_a_table_as_json_and_as_junit() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let table = check(world, &[]);
    assert_eq!(table.status.code(), Some(0), "{}", stdout(&table));
    assert!(stdout(&table).contains("method-not-found"), "{}", stdout(&table));
    let told = check(world, &["--json", "--junit", "junit.xml"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&told)).unwrap();
    assert_eq!(json["dialect"], "codelia");
    let junit = std::fs::read_to_string(world.join("junit.xml")).unwrap();
    assert!(junit.contains("<testsuite") && junit.contains("method-not-found"), "{junit}");
    let listed = stdout(&output(world, &["check", "--dialect", "nous", "--role", "ui", "--list"]));
    assert!(listed.contains("after-the-end"), "{listed}");
}

#[test]
fn what_is_expected_to_fail_must_fail_and_must_exist() {
    let world = tempfile::tempdir().unwrap();
    let world = world.path();
    let expect = |names: &str| std::fs::write(world.join("known.txt"), names).unwrap();
    let with = ["--expected-failures", "known.txt"];
    expect("method-not-found # it passes\n");
    assert_eq!(check(world, &with).status.code(), Some(1), "what passes against expectation is told");
    expect("no-such-scenario # a slip\n");
    assert_eq!(check(world, &with).status.code(), Some(1), "so is a name that does not exist");
    expect("# nothing\n");
    assert_eq!(check(world, &with).status.code(), Some(0));

    // A program that says nothing fails, and that may be expected.
    let silent = |known: &[&str]| {
        let args = ["check", "--dialect", "codelia", "--role", "runtime", "--only", "method-not-found"];
        let args = args.iter().chain(&["--patience", "1"]).chain(known).chain(&["--", "cat"]);
        output(world, &args.copied().collect::<Vec<_>>()).status.code()
    };
    assert_eq!(silent(&[]), Some(1));
    expect("method-not-found # it only echoes\n");
    assert_eq!(silent(&with), Some(0));
}

/// Checks whether a program behind a socket greets; the shell does `first` before it becomes our runtime.
fn behind_a_socket(world: &Path, first: &str) -> Output {
    let line = format!("{first}; exec \"$1\" serve --dialect openagent --ephemeral --socket \"$2\"");
    let args =
        ["check", "--dialect", "openagent", "--role", "runtime", "--only", "greets", "--patience", "10"];
    output(world, &[&args[..], &["--", "sh", "-c", &line, "sh", PARLOR, "{socket}"]].concat())
}

#[test]
fn a_program_behind_a_socket_may_write_to_its_stdout() {
    let world = tempfile::tempdir().unwrap();
    let told = behind_a_socket(world.path(), "head -c 1000000 /dev/zero || exit 9");
    assert_eq!(told.status.code(), Some(0), "{}", stdout(&told));
}

#[test]
fn the_last_words_of_a_program_that_never_listened_are_quoted() {
    let world = tempfile::tempdir().unwrap();
    let told = behind_a_socket(world.path(), "echo boom: no config >&2; exit 3");
    let words = stdout(&told);
    assert_eq!(told.status.code(), Some(1), "{words}");
    assert!(words.contains("boom: no config") && words.contains("ended with code 3"), "{words}");
}

#[test]
fn a_part_of_a_name_that_fits_no_scenario_is_wrong_usage() {
    let world = tempfile::tempdir().unwrap();
    let args =
        ["check", "--dialect", "codelia", "--role", "runtime", "--only", "no-such-thing", "--", "true"];
    let told = output(world.path(), &args);
    assert_eq!(told.status.code(), Some(2), "{}", String::from_utf8_lossy(&told.stderr));
}
