//! A native UI that keeps every line both ways: what the recipe speaks with.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long a line may take; far more than any does.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines that wait to be read.
const AHEAD: usize = 1_024;

/// A native link to a program on its stdin and stdout; the program does not outlive it.
pub(crate) struct Native {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    ticket: u64,
    /// Every line of the UI and of the runtime.
    pub(crate) said: Vec<String>,
    pub(crate) heard: Vec<String>,
}

impl Native {
    /// As the release greeted.
    pub(crate) fn start(command: Command) -> Native {
        let hello = json!({"hello": {"protocol": 1, "revision": 0, "name": "parlor", "version": "0.1.0",
            "capabilities": ["hash", "cursor", "answers"]}});
        Native::greeting(command, &hello)
    }

    pub(crate) fn greeting(mut command: Command, hello: &Value) -> Native {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut native = Native { child, stdin, lines, ticket: 0, said: Vec::new(), heard: Vec::new() };
        native.say(hello);
        native
    }

    pub(crate) fn say(&mut self, line: &Value) {
        let line = line.to_string();
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
        self.said.push(line);
    }

    /// The next line, `None` after the last.
    pub(crate) fn line(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing more comes after {:#?}", self.heard),
        };
        let value = serde_json::from_str(&line).unwrap();
        self.heard.push(line);
        Some(value)
    }

    pub(crate) fn until<T>(&mut self, mut wanted: impl FnMut(&Value) -> Option<T>) -> T {
        loop {
            let line = self.line().unwrap_or_else(|| panic!("it closed too early: {:#?}", self.heard));
            if let Some(found) = wanted(&line) {
                return found;
            }
        }
    }

    /// Gives a command and waits for its receipt.
    pub(crate) fn command(&mut self, session: Option<&str>, what: &Value) -> Value {
        let ticket = self.send(session, what);
        self.until(|line| {
            let settled = &line["settled"];
            (settled["ticket"] == ticket).then(|| {
                assert!(settled["with"]["refusal"].is_null(), "{what}: {settled}");
                settled["with"]["receipt"].clone()
            })
        })
    }

    fn send(&mut self, session: Option<&str>, what: &Value) -> u64 {
        self.ticket += 1;
        let mut command = json!({"ticket": self.ticket});
        if let Some(session) = session {
            command["target"] = json!({ "session": session });
        }
        command["what"] = what.clone();
        self.say(&json!({ "command": command }));
        self.ticket
    }

    /// Makes a session of this id.
    pub(crate) fn new_session(&mut self, id: &str, title: &str) {
        self.command(None, &json!({"new_session": {"title": title, "id": id}}));
    }

    /// Gives a prompt and reads up to the first event that is wanted; questions are answered on the way.
    pub(crate) fn prompt<T>(
        &mut self,
        session: &str,
        prompt: &Value,
        answer: impl Fn(&Value) -> Value,
        wanted: impl Fn(&Value) -> Option<T>,
    ) -> T {
        self.send(Some(session), &json!({ "prompt": prompt }));
        self.follow(session, answer, wanted)
    }

    /// Reads up to the first event that is wanted; questions are answered on the way.
    pub(crate) fn follow<T>(
        &mut self,
        session: &str,
        answer: impl Fn(&Value) -> Value,
        wanted: impl Fn(&Value) -> Option<T>,
    ) -> T {
        loop {
            let body = self.until(|line| body(line).cloned());
            if let Some(found) = wanted(&body) {
                return found;
            }
            if let Some(ask) = body.get("ask_opened") {
                let answer = answer(ask);
                self.send(Some(session), &json!({"answer": {"ask": ask["id"], "answer": answer}}));
            }
        }
    }

    /// Kills it, as the kernel does when memory is short.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Leaves and waits for its end.
    pub(crate) fn leave(mut self) -> (Vec<String>, Vec<String>) {
        self.stdin = None;
        while self.line().is_some() {}
        assert!(self.child.wait().unwrap().success());
        (std::mem::take(&mut self.said), std::mem::take(&mut self.heard))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What happened, if the line tells that.
pub(crate) fn body(line: &Value) -> Option<&Value> {
    line.pointer("/event/event/body")
}

/// The run is over.
pub(crate) fn ended(body: &Value) -> Option<Value> {
    body.get("run_ended").map(|ended| ended["outcome"].clone())
}
