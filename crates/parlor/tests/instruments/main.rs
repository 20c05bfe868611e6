//! The built program's instruments: record, replay, trace, check, bridge, and sessions that several UIs share, as a person uses them.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod bridge;
mod check;
mod lost;
mod record;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../task/terminal/screen.rs"]
mod screen;
mod shared;
mod unasked;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program in a world of its own.
fn parlor(world: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PARLOR);
    command.args(args).current_dir(world);
    command.env("PARLOR_DATA_DIR", world.join("data")).env("PARLOR_CONFIG_DIR", world.join("config"));
    command.env_remove("XDG_RUNTIME_DIR").env_remove("PARLOR_MODEL");
    command.stdin(Stdio::null());
    command
}

/// Runs it to its end.
fn output(world: &Path, args: &[&str]) -> Output {
    parlor(world, args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
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
struct Serving(Child);

impl Serving {
    fn start(world: &Path, args: &[&str]) -> Serving {
        let child = parlor(world, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Serving(child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks `parlor ps` until it says what is wanted; each question is a process of its own, so nothing has to be slept.
fn ps_until(world: &Path, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let all = serde_json::from_str(&stdout(&output(world, &["ps", "--json"]))).unwrap();
        if wanted(&all) {
            return all;
        }
        assert!(Instant::now() < deadline, "still: {all}");
    }
}

const CODELIA_HELLO: &str = r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},"ui_capabilities":{"supports_confirm":true}}}"#;

/// A prompt of a codelia UI.
fn codelia_prompt(id: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"run.start","params":{{"input":{{"type":"text","text":"{text}"}}}}}}"#
    )
}
