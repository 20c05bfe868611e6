//! Folders of one person, and the programs that are started in them. Included by those tests that need a whole person.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// Folders of one person, for this test alone. Its server and rooms end with it.
pub(crate) struct World(tempfile::TempDir);

impl World {
    pub(crate) fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        for folder in ["home", "one", "two"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn parlor(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(PARLOR);
        command.args(args).current_dir(self.path(folder)).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("TERM", "xterm-256color");
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        command
    }

    #[track_caller]
    pub(crate) fn says(&self, args: &[&str]) -> String {
        said(&self.parlor("home", args).stdin(Stdio::null()).output().unwrap())
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.says(args)).unwrap()
    }

    /// Starts the server; gives what it says of itself.
    #[track_caller]
    pub(crate) fn up(&self) -> Value {
        self.json(&["up", "--json"])
    }

    /// `parlor web` while it waits for a browser, and the address that it printed.
    #[allow(dead_code, reason = "not everybody who needs a whole person needs the page")]
    pub(crate) fn offers(&self, args: &[&str]) -> (std::process::Child, String) {
        use std::io::BufRead as _;
        let mut command = self.parlor("home", &[&["web", "--no-open"], args].concat());
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        (child, address.trim().to_owned())
    }

    /// The rooms that `parlor ps` shows.
    pub(crate) fn rooms(&self) -> Vec<Value> {
        let all = self.json(&["ps", "--json"]);
        all.as_array().unwrap().iter().filter(|process| process["serving"] == "room").cloned().collect()
    }
}

impl Drop for World {
    /// Rooms are nobody's children: `down` ends those that no server has, and waits until they are gone.
    fn drop(&mut self) {
        let _ = self.parlor("home", &["down"]).output();
    }
}

/// What a command said that ended well.
#[track_caller]
pub(crate) fn said(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}
