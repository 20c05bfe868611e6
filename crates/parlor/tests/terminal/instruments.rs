//! The built program's instruments: record, replay, trace, check, bridge, and sessions that several UIs share, as a person uses them.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod bridge;
mod check;
mod lost;
mod record;
mod shared;
mod unasked;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use testkit::{Running, in_world, stdout};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// The program in a world of its own.
fn parlor(world: &Path, args: &[&str]) -> Command {
    in_world(PARLOR, world, args)
}

/// Runs it to its end.
fn output(world: &Path, args: &[&str]) -> Output {
    parlor(world, args).output().unwrap()
}

/// A program that is spoken with on its stdin and stdout; it does not outlive the test.
struct Spoken {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Spoken {
    fn start(mut command: Command) -> Spoken {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        Spoken { child, stdin, lines: BufReader::new(stdout).lines() }
    }

    fn say(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Reads up to a line that has this text in it.
    fn until(&mut self, text: &str) -> String {
        loop {
            let line = self.lines.next().transpose().unwrap();
            assert!(line.is_some(), "closed before {text}");
            let line = line.unwrap();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Leaves; gives its exit code.
    fn end(&mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that goes on until the test is over.
fn serving(world: &Path, args: &[&str]) -> Running {
    Running(parlor(world, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

const CODELIA_HELLO: &str = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},"ui_capabilities":{"supports_confirm":true}}}"#;

/// A prompt of a codelia UI.
fn codelia_prompt(id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"run.start","params":{{"input":{{"type":"text","text":"{text}"}}}}}}"#
    )
}
