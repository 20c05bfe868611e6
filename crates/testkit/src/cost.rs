//! What a start costs in system calls, counted by `strace`: the same wherever it is measured, but for a few that wait.

use crate::{Lines, Terminal};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of ours that is watched.
#[derive(Debug)]
pub struct Counted {
    list: PathBuf,
}

/// System calls of a program and of everything it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Up to the moment that was asked for.
    pub calls: u64,
}

impl Counted {
    /// The same command, watched; `list` is a file for what is seen.
    pub fn watch(command: &Command, list: &Path) -> (Counted, Command) {
        let mut watched = Command::new("strace");
        // Enough of a text to know a line or a frame again.
        watched.args(["-f", "-qq", "-s", "8192", "-e", "signal=none", "-o"]).arg(list);
        watched.arg(command.get_program()).args(command.get_args()).env_clear();
        watched.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            watched.current_dir(folder);
        }
        (Counted { list: list.to_owned() }, watched)
    }

    /// What it cost until stdout said this text, once the watched program has ended.
    pub fn until_said(&self, text: &str) -> Cost {
        let list = std::fs::read_to_string(&self.list).expect("strace wrote its list");
        let said = |line: &&str| line.contains("write(1, ") && line.contains(text);
        let lines: Vec<&str> = list.lines().collect();
        let at = lines.iter().position(said);
        let at = at.unwrap_or_else(|| panic!("never written to stdout: {text}"));
        let calls = lines.iter().take(at + 1).filter(|line| !line.contains(" resumed>")).count();
        Cost { calls: calls as u64 }
    }

    /// What it cost until it answered this line with that text.
    pub fn until_answered(command: &Command, list: &Path, line: Option<&str>, text: &str) -> Cost {
        let (counted, mut watched) = Counted::watch(command, list);
        let mut lines = Lines::start(&mut watched);
        if let Some(line) = line {
            lines.say(line);
        }
        lines.until(text);
        lines.end();
        counted.until_said(&escaped(text))
    }

    /// What it cost until a terminal showed these bytes.
    pub fn until_shown(command: &Command, list: &Path, text: &str) -> Cost {
        let (counted, mut watched) = Counted::watch(command, list);
        let mut terminal = Terminal::start(&mut watched);
        terminal.until(0, text);
        terminal.end();
        counted.until_said(&escaped(text))
    }
}

/// As strace writes a text.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Memory of a process that is in use and its own, in KiB.
pub fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel tells");
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
}
