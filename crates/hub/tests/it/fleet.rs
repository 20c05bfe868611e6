//! A link that watches which sessions are open, on the native wire.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use domain::command::{Command, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::port::Ticket;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Answers, Greeting, Lane};
use serde_json::Value;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;

const PIPE: usize = 64 * 1024;

/// A line that tells of open sessions; others are passed over.
async fn told(watching: &mut BufReader<DuplexStream>) -> Value {
    loop {
        let mut line = String::new();
        assert!(watching.read_line(&mut line).await.unwrap() > 0, "the link ended");
        let line: Value = serde_json::from_str(&line).unwrap();
        assert!(line.get("event").is_none(), "no session is shown: {line}");
        if let Some(fleet) = line.get("fleet") {
            return fleet.clone();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_that_watches_is_told_what_is_open_and_then_what_changes() {
    let (orders, mut ordered) = mpsc::channel(64);
    let setup = Setup::new(Engine::Driven, "/w", 1);
    let store = Box::new(store::MemoryStore::default());
    let hub = Hub::start(setup, store, EngineSeat::Driven(orders), Arc::new(|_| {}));
    let new = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
    let mut ui = hub.attach("terminal", Standing::Controller, Answers::ALL, Some(new)).await.unwrap();
    ui.begun().await.unwrap();
    let guest = Guest {
        role: dialects::native::DIALECT.runtime_role(),
        name: "native".into(),
        standing: Standing::Controller,
        greeting: Greeting::default(),
        start: None,
        stays: false,
    };
    let (ours, mut theirs) = tokio::io::duplex(PIPE);
    let hello = r#"{"hello":{"protocol":1}}"#;
    theirs.write_all(format!("{hello}\n{{\"watch_fleet\":{{\"alone\":true}}}}\n").as_bytes()).await.unwrap();
    let (read, write) = tokio::io::split(ours);
    let link =
        Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start();
    let serving = hub.clone();
    tokio::spawn(async move { serving.serve(guest, link).await });
    let mut watching = BufReader::new(theirs);
    let first = told(&mut watching).await;
    assert_eq!((&first["all"], &first["members"][0]["doing"]), (&Value::from(true), &Value::from("nothing")));
    let (input, options) = (Input::text("mend it"), PromptOptions::default());
    let prompt = Command::Run(RunCommand::Prompt { input, options });
    ui.port.command(Ticket(1), Target::Current, prompt).await.unwrap();
    let mut next = told(&mut watching).await;
    // The title may be told before the run.
    while next["members"][0]["doing"] != "running" {
        next = told(&mut watching).await;
    }
    assert_eq!((next.get("all"), &next["members"][0]["title"]), (None, &Value::from("mend it")));
    assert!(ordered.recv().await.is_some());
    // It waits in nobody's way: without anything new nothing is told, however much time passes.
    let mut rest = String::new();
    let quiet = tokio::time::timeout(std::time::Duration::from_secs(60), watching.read_line(&mut rest)).await;
    assert!(quiet.is_err(), "{rest}");
    hub.stop().await;
}
