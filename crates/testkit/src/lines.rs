//! A program that speaks lines on its stdin and stdout, as another program uses it.

use crate::{PATIENCE, ended};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

/// The program while it runs; dropped, it is ended.
#[derive(Debug)]
pub struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<String>,
}

impl Lines {
    /// What it writes to stderr goes nowhere.
    pub fn start(command: &mut Command) -> Lines {
        let command =
            command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (tell, heard) = mpsc::sync_channel(1024);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Lines { child, stdin, heard }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// With the line break behind it.
    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it has a stdin");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    /// Ends the program and waits for it.
    pub fn end(self) {}

    /// Waits for a line with this text in it.
    pub fn until(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(why) => panic!("never said: {text} ({why})"),
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.stdin.take());
        ended(&mut self.child);
    }
}
