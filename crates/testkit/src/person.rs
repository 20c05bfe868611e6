//! Folders of one person who has a server in the background, and the programs that are started in them.

use crate::{ask_offline, asked_first};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Folders of one person, for one test alone. The server and the rooms end with it.
#[derive(Debug)]
pub struct Person {
    program: PathBuf,
    place: TempDir,
}

impl Person {
    /// With a home and two projects, `one` and `two`; they are asked before each change.
    pub fn new(program: impl AsRef<Path>) -> Person {
        let person = Person { program: program.as_ref().to_owned(), place: tempfile::tempdir().unwrap() };
        for folder in ["home", "one", "two"] {
            std::fs::create_dir(person.path(folder)).unwrap();
        }
        asked_first(&person.path("config"));
        person
    }

    /// Something of theirs.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The program in one of the folders, with nothing of this machine's environment but where programs are.
    pub fn parlor(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.path(folder)).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("TERM", "xterm-256color");
        command.env("PARLOR_DATA_DIR", self.path("data")).env("PARLOR_CONFIG_DIR", self.path("config"));
        ask_offline(&mut command);
        command
    }

    /// What the program says, which has to end well.
    #[track_caller]
    pub fn says(&self, args: &[&str]) -> String {
        said(&self.parlor("home", args).stdin(Stdio::null()).output().unwrap())
    }

    /// The same, as JSON.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.says(args)).unwrap()
    }

    /// Starts the server; gives what it says of itself.
    #[track_caller]
    pub fn up(&self) -> Value {
        self.json(&["up", "--json"])
    }

    /// `parlor web` while it waits for a browser, and the address that it printed.
    pub fn offers(&self, args: &[&str]) -> (Child, String) {
        let mut command = self.parlor("home", &[&["web", "--no-open"], args].concat());
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        (child, address.trim().to_owned())
    }

    /// The rooms that `parlor ps` shows.
    pub fn rooms(&self) -> Vec<Value> {
        let all = self.json(&["ps", "--json"]);
        all.as_array().unwrap().iter().filter(|process| process["serving"] == "room").cloned().collect()
    }
}

impl Drop for Person {
    /// Rooms are nobody's children: `down` ends those that no server has, and waits until they are gone.
    fn drop(&mut self) {
        let _ = self.parlor("home", &["down"]).output();
    }
}

/// What a command said that ended well.
#[track_caller]
pub fn said(output: &Output) -> String {
    let (out, err) = (stdout(output), stderr(output));
    assert!(output.status.success(), "{out}{err}");
    out
}

/// What a command wrote to stdout, however it ended.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command wrote to stderr, however it ended.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
