//! The built program against an unfriendly machine: disks that say no, files that are damaged or taken away, signals. Each fault is listed
//! with the name of its test in docs/reliability.md.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod copies;
mod damage;
mod elsewhere;
mod full_disk;
mod gone;
mod locked;
mod read_only;
mod remains;
mod stop;
mod sync;
mod tasks;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use testkit::{stderr, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// A data folder, settings and a project of its own.
struct World {
    place: TempDir,
}

impl World {
    fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("project")).unwrap();
        World { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn project(&self, name: &str) -> PathBuf {
        self.place.path().join("project").join(name)
    }

    /// What the scripted model says from now on.
    fn script(&self, script: &str) {
        std::fs::write(self.project("model.txt"), script).unwrap();
    }

    /// The program, or another in its place, in this world.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("project")).stdin(Stdio::null());
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        command.env("HOME", self.place.path()).env_remove("XDG_RUNTIME_DIR").env_remove("PARLOR_MODEL");
        testkit::ask_offline(&mut command);
        command
    }

    fn parlor(&self, args: &[&str]) -> Command {
        self.command(Path::new(PARLOR), args)
    }

    fn run(&self, args: &[&str]) -> Output {
        self.parlor(args).output().unwrap()
    }

    /// Entries of the project whose name begins so.
    fn made(&self, begin: &str) -> usize {
        let entries = std::fs::read_dir(self.path("project")).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(begin))
            .count()
    }
}
