//! A UI that speaks as soon as it is connected, before it was told anything.

use domain::command::{Command, LibraryCommand};
use domain::port::Order;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Greeting, Lane};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

const PIPE: usize = 4 * 1024;

#[tokio::test]
async fn a_prompt_that_comes_with_the_connection_is_for_the_session_that_is_given() {
    let (orders, mut ordered) = mpsc::channel(64);
    let setup = Setup::new(Engine::Driven, "/w", 1);
    let store = store::MemoryStore::default();
    let hub = Hub::start(setup, Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let guest = Guest {
        role: dialects::lemon::DIALECT.runtime_role(),
        name: "early".into(),
        standing: Standing::Controller,
        greeting: Greeting::default(),
        start: Some(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None })),
        stays: false,
    };
    let (ours, mut theirs) = tokio::io::duplex(PIPE);
    theirs.write_all(b"{\"type\":\"prompt\",\"text\":\"go\"}\n").await.unwrap();
    let (read, write) = tokio::io::split(ours);
    let link =
        Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start();
    // Its line is read and waits before the hub hears of the UI at all.
    tokio::task::yield_now().await;
    let serving = hub.clone();
    tokio::spawn(async move { serving.serve(guest, link).await });
    let mut first = String::new();
    BufReader::new(&mut theirs).read_line(&mut first).await.unwrap();
    assert!(first.contains(r#""type":"ready""#), "{first}");
    while !matches!(ordered.recv().await.unwrap(), Order::Turn(_)) {}
}
