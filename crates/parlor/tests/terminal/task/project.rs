//! A little project with a defect and a test that tells so, and the program on it with a world of its own.

use crate::task::{Server, Wire};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The key that must be seen nowhere but in a header.
pub(crate) const KEY: &str = "topsecret-0123456789";

/// What the file says before anyone touched it.
const BROKEN: &str = "echo $(( $1 - $2 ))\n";
/// The test of the project: it says what it got, and fails when that is wrong.
const TEST: &str = "got=$(sh sum.sh 2 3)\n\
    if [ \"$got\" = 5 ]; then echo \"ok: 2 and 3 make $got\"; else echo \"FAILED: 2 and 3 made $got\"; exit 1; fi\n";

/// Directories for one test.
pub(crate) struct Project {
    world: TempDir,
}

impl Project {
    /// Of somebody who is asked before each change.
    pub(crate) fn new() -> Project {
        let project = Project::newcomer();
        testkit::asked_first(&project.path("config"));
        project
    }

    /// Of somebody who has set nothing.
    pub(crate) fn newcomer() -> Project {
        let world = tempfile::tempdir().unwrap();
        for dir in ["work/.git", "home", "data", "config", "run"] {
            std::fs::create_dir_all(world.path().join(dir)).unwrap();
        }
        std::fs::write(world.path().join("work/sum.sh"), BROKEN).unwrap();
        std::fs::write(world.path().join("work/test.sh"), TEST).unwrap();
        Project { world }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.path().join(name)
    }

    /// What the file says now.
    pub(crate) fn sum(&self) -> String {
        std::fs::read_to_string(self.path("work/sum.sh")).unwrap()
    }

    /// The built program, with nothing of this machine's person in its environment.
    pub(crate) fn parlor(&self, wire: Wire, server: &Server, args: &[&str]) -> Command {
        let mut command = self.bare(args);
        command.args(["--model", wire.model()]).envs(wire.environment(&server.url));
        command
    }

    /// The same without a provider.
    pub(crate) fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(args).current_dir(self.path("work")).env_clear();
        for name in ["PATH", "LANG", "TMPDIR", "CARGO_LLVM_COV_TARGET_DIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.path("home"))
            .env("PARLOR_DATA_DIR", self.path("data"))
            .env("PARLOR_CONFIG_DIR", self.path("config"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("TERM", "xterm-256color");
        testkit::ask_offline(&mut command);
        command
    }

    /// Whether a text stands in any file that the program wrote.
    pub(crate) fn kept_anywhere(&self, text: &str) -> bool {
        let mut folders = vec![self.path("data"), self.path("home"), self.path("run"), self.path("work")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    let bytes = std::fs::read(entry.path()).unwrap();
                    if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                        return true;
                    }
                }
            }
        }
        false
    }
}
