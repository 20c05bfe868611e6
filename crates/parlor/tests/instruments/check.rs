//! check: a table, JSON, JUnit, and failures that are expected, in both directions.

use crate::{PARLOR, output, stdout};
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
