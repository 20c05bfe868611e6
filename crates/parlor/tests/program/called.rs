//! What the file of the program is called, and whether it is still there, changes nothing of what holds its commands.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::path::Path;
use std::process::Command;
use testkit::{in_world, said};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// A command that tells who runs it. In mode `full` it runs unasked: nothing but the guard holds it.
const RUN: [&str; 4] = ["run", "--policy", "full", "bash: tr '\\0' ' ' </proc/$PPID/cmdline"];

/// What a command of this program says of who runs it.
fn runs_it(program: &Path, before: &str) -> String {
    let world = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path().join("data")).unwrap();
    let started = in_world(program, world.path(), &RUN);
    let mut shell = Command::new("sh");
    shell.args(["-c", before, "sh"]).arg(started.get_program()).args(started.get_args());
    shell.envs(started.get_envs().filter_map(|(name, value)| Some((name, value?))));
    said(&shell.current_dir(world.path()).output().unwrap())
}

#[test]
fn commands_are_guarded_whatever_the_program_is_called_and_when_its_file_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = folder.path().join(name);
        // Not a link: it is removed below, and other tests use the program.
        std::fs::copy(PARLOR, &path).unwrap();
        path
    };
    let as_it_is = "exec \"$@\"";
    // As somebody finds it whose program was replaced while it runs.
    let removed = "exec 3<\"$1\"; rm \"$1\"; shift; exec /proc/self/fd/3 \"$@\"";
    let replaced = "exec 3<\"$1\"; rm \"$1\"; cp /bin/true \"$1\"; shift; exec /proc/self/fd/3 \"$@\"";
    for (program, before) in [
        ("parlor", as_it_is),
        ("prl", as_it_is),
        ("parlor-0.2", as_it_is),
        ("parlor", removed),
        ("parlor", replaced),
    ] {
        let said = runs_it(&copy(program), before);
        assert!(said.contains("__guard --parent"), "{program}, {before}: {said}");
    }
}

#[test]
fn a_command_that_puts_another_program_in_our_place_is_not_the_guard_of_the_next() {
    let world = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path().join("data")).unwrap();
    // Where `cargo run` puts it: in the workspace, which commands may write.
    let own = world.path().join("parlor");
    std::fs::copy(PARLOR, &own).unwrap();
    let put = "printf '#!/bin/sh\\necho let$((7))in\\n' > new && chmod +x new && mv new parlor";
    let say = format!("bash: {put} then bash: tr '\\0' ' ' </proc/$PPID/cmdline");
    let output = in_world(&own, world.path(), &["run", "--policy", "full", &say]).output().unwrap();
    let (said, put) = (said(&output), std::fs::read_to_string(&own).unwrap_or_default());
    assert!(put.contains("let7in") || put.contains("let$"), "the first command has put it there: {said}");
    assert!(said.contains("__guard --parent") && !said.contains("let7in"), "{said}");
}
