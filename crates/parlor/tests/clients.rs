//! Habits of existing clients that only a whole process can meet: how they start a runtime, how they leave it, what they wait for.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panic")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn parlor(world: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PARLOR);
    command
        .args(args)
        .current_dir(world)
        .env("PARLOR_DATA_DIR", world.join("data"))
        .env("PARLOR_CONFIG_DIR", world.join("config"))
        .env_remove("XDG_RUNTIME_DIR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A client on the stdio of a runtime.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(mut command: Command) -> Client {
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The next line of a type, or with an event of that type.
    fn hear(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended before {kind}");
            let value: Value = serde_json::from_str(&line).unwrap();
            if value["type"] == kind || value["event"]["type"] == kind {
                return value;
            }
        }
    }

    /// Waits for its end while our end of its stdin stays open.
    fn gone(mut self) -> Option<i32> {
        let (told, ended) = mpsc::sync_channel(1);
        std::thread::spawn(move || told.send(self.child.wait().unwrap().code()));
        ended.recv_timeout(PATIENCE).expect("it goes")
    }
}

#[test]
fn a_lemon_client_that_quits_and_waits_sees_the_runtime_go() {
    let world = tempfile::tempdir().unwrap();
    let args = ["serve", "--dialect", "lemon", "--stdio", "--ephemeral", "run", "scripts/rpc.exs", "--"];
    let mut client = Client::start(parlor(world.path(), &args));
    client.hear("ready");
    client.say(&json!({ "type": "quit" }));
    client.hear("quit");
    assert_eq!(client.gone(), Some(0));
}
