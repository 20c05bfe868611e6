//! What an earlier release wrote is still opened, folded to the same hash, written back byte for byte and gone on with; what it said on
//! each wire is still understood; and what a later one would write or say is refused with both versions named.
//!
//! Each release has its fixtures (`fixtures/v*`), made by itself, and a module here in which the same tests are held against them. Those of
//! the version that is being worked on are made by `cargo xtask fixtures`; `recipe` is the way.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod recipe;
pub(crate) mod talk;
mod v0_1_0;
mod v0_2_0;
mod versions;

use domain::state::{State, StateHash};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use testkit::{stderr, stdout};

/// Today's program.
const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// A release, and what it left.
pub(crate) struct Release {
    version: &'static str,
    /// The wires that it spoke.
    wires: &'static [&'static str],
    /// The hash that its native lines tell.
    told: fn(&State) -> StateHash,
}

impl Release {
    /// The version that is being worked on.
    fn current() -> Release {
        Release { version: env!("CARGO_PKG_VERSION"), ..v0_2_0::RELEASE }
    }

    fn fixtures(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/v{}", self.version))
    }

    /// A file of the release, as text.
    fn fixture(&self, name: &str) -> String {
        let file = self.fixtures().join(name);
        std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
    }

    /// Where the release worked: the same on every machine.
    fn world(&self) -> PathBuf {
        format!("/tmp/parlor-v{}", self.version).into()
    }

    /// The project that it worked in.
    fn project(&self) -> PathBuf {
        self.world().join("project")
    }

    /// Where it kept the rules of that project.
    fn rules_file(&self, world: &Path) -> PathBuf {
        let name = tools::digest::hex(self.project().as_os_str().as_encoded_bytes());
        world.join("data/rules").join(format!("{name}.json"))
    }

    /// A world in which the release worked before: its store, its settings and its rules are there.
    fn inherited(&self) -> tempfile::TempDir {
        let world = tempfile::tempdir().unwrap();
        let rules = self.rules_file(world.path());
        let (store, settings) =
            (world.path().join("data/sessions.db"), world.path().join("config/config.toml"));
        for (from, to) in [("sessions.db", store), ("config.toml", settings), ("rules.json", rules)] {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(self.fixtures().join(from), to).unwrap();
        }
        std::fs::create_dir_all(world.path().join("project")).unwrap();
        world
    }
}

/// A program in a world of its own: `data`, `config` and `project` are in it. What it tells on a wire depends on nobody's environment.
fn program(binary: &Path, world: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.args(args).current_dir(world.join("project")).stdin(Stdio::null());
    command.env("PARLOR_DATA_DIR", world.join("data")).env("PARLOR_CONFIG_DIR", world.join("config"));
    command.env("HOME", world).env_remove("XDG_RUNTIME_DIR").env_remove("PARLOR_MODEL");
    command.env("SHELL", "/bin/bash");
    testkit::ask_offline(&mut command);
    command
}

/// Runs today's program to its end.
fn parlor(world: &Path, args: &[&str]) -> Output {
    program(Path::new(PARLOR), world, args).output().unwrap()
}
