//! The built program, and a home of its own to start it in.

use crate::PATIENCE;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The program under test: `PARLOR_BIN`, which the tests are given; built as it is released where nothing is named.
#[derive(Debug, Clone)]
pub struct Program(PathBuf);

impl Program {
    /// The one that is named, or a release build of this moment.
    pub fn find() -> Program {
        let named = std::env::var_os("PARLOR_BIN").map(PathBuf::from);
        Program(named.unwrap_or_else(|| built(&["-p", "parlor", "--bin", "parlor"], "parlor")))
    }

    /// As it is started.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// An example of one of our crates. Whoever names a program has built all of the workspace: then it is there already.
    pub fn example(package: &str, name: &str) -> PathBuf {
        let there = folder().join("examples").join(name);
        match std::env::var_os("PARLOR_BIN") {
            Some(_) if there.is_file() => there,
            _ => built(&["-p", package, "--example", name], &format!("examples/{name}")),
        }
    }
}

/// Where cargo puts programs that are built as this one is: it lies in `target/PROFILE/deps`.
fn folder() -> PathBuf {
    let exe = std::env::current_exe().expect("this program has a path");
    exe.parent().and_then(Path::parent).expect("it lies in a folder of cargo's").to_owned()
}

/// Builds something beside this very test or bench and in the way that it was built; where it lies then.
fn built(what: &[&str], name: &str) -> PathBuf {
    let folder = folder();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo tells this process of itself would make it build the dependencies once more.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CARGO_")) {
        if name != "CARGO_HOME" && name != "CARGO_TARGET_DIR" {
            cargo.env_remove(name);
        }
    }
    cargo.arg("build").args(what);
    if folder.file_name().is_some_and(|profile| profile == "release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo starts").success(), "cargo build failed");
    folder.join(name)
}

/// Lets `parlor run` ask for the offline model where no other is named: where its stderr is no terminal, it takes none unasked.
pub fn ask_offline(command: &mut Command) {
    let args: Vec<_> = command.get_args().collect();
    let runs = args.iter().any(|arg| *arg == "run" || *arg == "-p");
    if runs && !args.iter().any(|arg| *arg == "--model" || *arg == "-m") {
        command.env("PARLOR_MODEL", "offline");
    }
}

/// A program with its data and settings in a folder of the test, which it works in, too.
pub fn in_world(program: impl AsRef<Path>, world: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(args).current_dir(world).stdin(Stdio::null());
    command.env("PARLOR_DATA_DIR", world.join("data")).env("PARLOR_CONFIG_DIR", world.join("config"));
    command.env_remove("XDG_RUNTIME_DIR").env_remove("PARLOR_MODEL");
    ask_offline(&mut command);
    command
}

/// Asks `parlor ps` in such a world until it says what is wanted; each question is a process of its own, so nothing has to be slept.
#[track_caller]
pub fn ps_until(program: impl AsRef<Path>, world: &Path, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let output = in_world(&program, world, &["ps", "--json"]).output().expect("it starts");
        let all = serde_json::from_slice(&output.stdout).expect("it tells JSON");
        if wanted(&all) {
            return all;
        }
        assert!(Instant::now() < deadline, "still: {all}");
    }
}

/// Writes settings into a world's folder of them, for a person who is asked before each change and each command, as UIs of other programs
/// are: what a question does can be seen by a harmless command then.
pub fn asked_first(config: &Path) {
    std::fs::create_dir_all(config).expect("a folder");
    std::fs::write(config.join("config.toml"), "policy = \"ask\"\n").expect("settings");
}

/// Folders of one person, for one test or bench.
#[derive(Debug)]
pub struct Home(tempfile::TempDir);

impl Home {
    /// An empty one, with a folder to work in.
    pub fn new() -> Home {
        let home = Home(tempfile::tempdir().expect("a folder"));
        std::fs::create_dir(home.path("work")).expect("a folder");
        home
    }

    /// Something in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program in the folder to work in, with nothing of this machine's environment but where programs are.
    pub fn start(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path("work"));
        self.dress(&mut command);
        command
    }

    /// Gives a command the environment of this home.
    pub(crate) fn dress(&self, command: &mut Command) {
        command.env_clear().env("HOME", self.0.path()).env("TERM", "xterm-256color");
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        ask_offline(command);
    }
}

impl Default for Home {
    fn default() -> Home {
        Home::new()
    }
}
