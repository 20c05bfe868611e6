//! What an earlier release wrote is still opened, folded to the same hash, written back byte for byte and gone on with; what it said on
//! each wire is still understood; and what a later one would write or say is refused with both versions named.
//!
//! The fixtures were made by the release itself: `fixtures/v0.1.0/README.md` says how, `recipe` is the way.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod kept;
mod recipe;
pub(crate) mod talk;
mod versions;
mod wires;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use testkit::{stderr, stdout};

/// Today's program.
const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// What the release 0.1.0 left.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v0.1.0")
}

/// A file of the release, as text.
fn fixture(name: &str) -> String {
    let file = fixtures().join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

/// A program in a world of its own: `data`, `config` and `project` are in it.
fn program(binary: &Path, world: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.args(args).current_dir(world.join("project")).stdin(Stdio::null());
    command.env("PARLOR_DATA_DIR", world.join("data")).env("PARLOR_CONFIG_DIR", world.join("config"));
    command.env("HOME", world).env_remove("XDG_RUNTIME_DIR").env_remove("PARLOR_MODEL");
    command
}

/// Runs today's program to its end.
fn parlor(world: &Path, args: &[&str]) -> Output {
    program(Path::new(PARLOR), world, args).output().unwrap()
}

/// A world in which the release worked before: its store, its settings and its rules are there.
fn inherited() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    for (from, to) in
        [("sessions.db", "data/sessions.db"), ("config.toml", "config/config.toml"), ("rules.json", "")]
    {
        let to = if to.is_empty() { recipe::rules_file(world.path()) } else { world.path().join(to) };
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(fixtures().join(from), to).unwrap();
    }
    std::fs::create_dir_all(world.path().join("project")).unwrap();
    world
}
