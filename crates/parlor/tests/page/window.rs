//! The page's connections in a window of the desktop shell, through the built program: what `crates/window` does for a page, without one.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use testkit::Person;
use window::{Channel, Finder, TheEnd};

/// A person with a shell of theirs, and their program with its world in its environment.
struct Desktop {
    person: Person,
    finder: Arc<Finder>,
}

/// A page's connection.
struct Page<'a> {
    channel: &'a Channel,
    number: u32,
    heard: VecDeque<String>,
    end: Option<TheEnd>,
}

impl Desktop {
    fn new() -> Desktop {
        let person = Person::new(env!("CARGO_BIN_EXE_parlor"));
        let set = |name: &str, folder: &str| format!("export {name}='{}'\n", person.path(folder).display());
        let script = format!(
            "#!/bin/sh\n{}{}{}cd '{}'\nexec '{}' \"$@\"\n",
            set("HOME", "home"),
            set("PARLOR_DATA_DIR", "data"),
            set("PARLOR_CONFIG_DIR", "config"),
            person.path("one").display(),
            env!("CARGO_BIN_EXE_parlor")
        );
        // Written by another name first: a file that is open to be written cannot be run.
        std::fs::write(person.path("new"), script).unwrap();
        std::fs::set_permissions(person.path("new"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(person.path("new"), person.path("parlor")).unwrap();
        let finder = Arc::new(Finder::new(person.path("parlor")));
        Desktop { person, finder }
    }
}

impl Page<'_> {
    async fn open(channel: &Channel, wants: Value) -> Page<'_> {
        let number = channel.open(&wants).await.unwrap();
        let mut page = Page { channel, number, heard: VecDeque::new(), end: None };
        let first = page.next().await.unwrap();
        assert!(first["welcome"].is_object(), "{first}");
        page
    }

    async fn say(&self, line: &Value) {
        assert!(self.channel.send(self.number, vec![line.to_string()]).await);
    }

    async fn next(&mut self) -> Option<Value> {
        while self.heard.is_empty() && self.end.is_none() {
            let heard = self.channel.read(self.number).await;
            self.heard.extend(heard.lines);
            self.end = heard.end;
        }
        self.heard.pop_front().map(|line| serde_json::from_str(&line).unwrap())
    }

    async fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let said = self.next().await.unwrap_or_else(|| panic!("it ended: {:?}", self.end));
            if holds(&said) {
                return said;
            }
        }
    }

    /// Reads on until the end, and gives its code.
    async fn ended(&mut self) -> u16 {
        while self.next().await.is_some() {}
        self.end.as_ref().unwrap().code
    }

    async fn greet(&self, session: Option<&str>) {
        let mut hello = json!({"protocol": 1, "revision": 2, "name": "page", "version": "0", "capabilities": ["hash", "cursor", "answers"]});
        if let Some(session) = session {
            hello["session"] = session.into();
        }
        self.say(&json!({"hello": hello})).await;
    }
}

fn command(ticket: u64, what: Value) -> Value {
    json!({"command": {"ticket": ticket, "what": what}})
}

/// What stands behind a key, wherever that is.
fn within<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => {
            members.get(key).or_else(|| members.values().find_map(|value| within(value, key)))
        }
        Value::Array(all) => all.iter().find_map(|value| within(value, key)),
        _ => None,
    }
}

fn happened(said: &Value, what: &str) -> bool {
    said.get("event").is_some_and(|event| within(event, what).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_begins_the_server_answers_a_question_and_ends_nothing_by_its_end() {
    let desktop = Desktop::new();
    desktop.finder.begin().await.unwrap();
    let channel = Channel::new(desktop.finder.clone());
    let mut page = Page::open(&channel, json!({"new": {"cwd": desktop.person.path("one")}})).await;
    page.greet(None).await;
    page.say(&command(1, json!({"new_session": {}}))).await;
    let attached = page.until(|said| said["attached"].is_object()).await;
    let session = attached["attached"]["at"]["session"].as_str().unwrap().to_owned();
    page.say(&command(2, json!({"prompt": {"input": {"text": "write x.txt: hi"}}}))).await;
    let asked = page.until(|said| happened(said, "ask_opened")).await;
    // The shell dies with the question open: it waits.
    channel.close_all();
    assert_eq!(page.ended().await, 1006);
    assert!(!desktop.person.path("one/x.txt").exists(), "{asked}");
    let channel = Channel::new(desktop.finder.clone());
    let mut fleet = Page::open(&channel, json!("fleet")).await;
    let rows = fleet.until(|said| said["rows"]["rows"][0]["status"] == "waiting").await;
    assert_eq!(rows["rows"]["rows"][0]["session"], json!(session));
    let mut page = Page::open(&channel, json!({"session": session})).await;
    page.greet(Some(&session)).await;
    page.until(|said| said["attached"].is_object()).await;
    let number = within(&asked, "ask_opened").unwrap()["id"].as_u64().unwrap();
    page.say(&command(3, json!({"answer": {"ask": number, "answer": {"allow": {"scope": "once"}}}}))).await;
    page.until(|said| happened(said, "run_ended")).await;
    assert_eq!(std::fs::read_to_string(desktop.person.path("one/x.txt")).unwrap().trim(), "hi");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_killed_is_begun_anew_and_one_that_was_ended_is_not() {
    let desktop = Desktop::new();
    let server = desktop.finder.begin().await.unwrap();
    let channel = Channel::new(desktop.finder.clone());
    let mut fleet = Page::open(&channel, json!("fleet")).await;
    let pid = rustix::process::Pid::from_raw(server.pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(fleet.ended().await, 1006);
    let mut fleet = Page::open(&channel, json!("fleet")).await;
    let again = desktop.finder.begin().await.unwrap();
    assert_ne!(server.pid, again.pid);
    let down = desktop.person.json(&["down", "--json"]);
    assert_eq!(down["server"], json!(again.pid));
    assert_eq!(fleet.ended().await, 1001);
    let stopped = channel.open(&json!("fleet")).await.unwrap_err();
    assert_eq!((stopped.lines.len(), stopped.end.unwrap().code), (0, 1001));
    assert!(!server.data.join("server.json").exists());
    desktop.finder.begin().await.unwrap();
    Page::open(&channel, json!("fleet")).await;
}
