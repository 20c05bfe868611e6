//! A store on disk whose lock another program holds. That program is this test binary, started again as a child.

use crate::late::stage::{Ui, rename, session, setup, stats};
use domain::command::{Command, LibraryCommand, ListScope, Receipt};
use domain::ids::SessionId;
use domain::port::Order;
use hub::core::Standing;
use hub::{EngineSeat, Hub};
use roles::Answers;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{LOCK_PATIENCE, SqliteStore, Store};
use tokio::sync::mpsc;

const FILE: &str = "HUB_TEST_LOCKED_FILE";
/// How often something is tried on a machine so slow that a lock becomes a long one.
const TRIES: usize = 10;

/// The child: holds the lock of a file from its word on until it hears one; does nothing when run as a test.
#[test]
fn holder() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    println!("held");
    std::io::stdin().lines().next();
    connection.execute_batch("ROLLBACK").unwrap();
    println!("free");
}

/// Another program that holds the lock of the store.
pub(crate) struct Holder {
    child: Child,
    words: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Holder {
    pub(crate) fn of(directory: &Path) -> Holder {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "late::locked::holder", "--nocapture"])
            .env(FILE, directory.join("sessions.db"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let words = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut holder = Holder { child, words };
        holder.hears("held");
        holder
    }

    fn hears(&mut self, word: &str) {
        assert!(self.words.any(|line| line.unwrap().ends_with(word)), "it never says {word}");
    }

    pub(crate) fn let_go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.hears("free");
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A hub on a store on disk, with sessions 1 and 2, each with its UI.
async fn hub(directory: &Path) -> (Hub, mpsc::Receiver<Order>, Ui, Ui) {
    let store = SqliteStore::at(directory).unwrap();
    let (orders, ordered) = mpsc::channel(64);
    let hub = Hub::start(setup(), Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let (mut a, mut b) = (ui(&hub).await, ui(&hub).await);
    for (ui, number) in [(&mut a, 1), (&mut b, 2)] {
        ui.command(crate::late::stage::new(number)).await.unwrap();
        ui.command(rename("kept")).await.unwrap();
        ui.fresh();
    }
    (hub, ordered, a, b)
}

async fn ui(hub: &Hub) -> Ui {
    Ui::of(hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap())
}

fn list() -> Command {
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: None, search: None })
}

fn history(session: SessionId) -> Command {
    Command::Library(LibraryCommand::History { session, max_runs: 1, max_events: 10 })
}

/// In real time: what is asked is answered although the lock is let go only after that.
#[tokio::test]
async fn nobody_waits_for_a_lock_but_who_has_to() {
    for _ in 0..TRIES {
        if beside_a_lock().await < LOCK_PATIENCE {
            return;
        }
    }
    panic!("no lock was a short one");
}

/// What UIs do and hear while the lock is held, and how long that took.
async fn beside_a_lock() -> Duration {
    let directory = tempfile::tempdir().unwrap();
    let (hub, mut orders, mut a, mut b) = hub(directory.path()).await;
    let mut holder = Holder::of(directory.path());
    let since = Instant::now();
    // A session that is not there yet cannot be made; everything else goes on.
    let mut c = ui(&hub).await;
    let made = c.say(crate::late::stage::new(3)).await;
    for _ in 0..5 {
        a.command(rename("while it is locked")).await.unwrap();
        let Ok(Receipt::Sessions(sessions)) = b.command(list()).await else { panic!("no list") };
        assert_eq!(sessions.len(), 2);
        assert!(matches!(b.command(history(session(2))).await, Ok(Receipt::History(_))));
        assert!(b.command(stats()).await.is_ok());
        b.command(rename("at the same time")).await.unwrap();
    }
    let waited = c.fresh().is_empty();
    holder.let_go();
    let held = since.elapsed();
    c.settled(made).await.unwrap();
    hub.stop().await;
    if held >= LOCK_PATIENCE {
        // So slow a machine makes a long lock of a short one.
        return held;
    }
    assert!(waited, "told before it is kept");
    let told = [a.fresh(), b.fresh(), c.fresh()].concat();
    assert!(!told.iter().any(|heard| heard.contains("aved")), "{told:?}");
    while let Ok(order) = orders.try_recv() {
        assert!(!matches!(order, Order::StoreFails { .. }), "the engine was told of a store that fails");
    }
    let kept = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(kept.summary(&session(1)).unwrap().title, "while it is locked");
    assert_eq!(kept.summary(&session(2)).unwrap().title, "at the same time");
    held
}

/// With a clock that stands still unless everybody waits for it.
#[tokio::test(start_paused = true)]
async fn a_lock_that_stays_counts_as_failing_for_whoever_writes_and_for_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let (hub, mut orders, mut a, mut b) = hub(directory.path()).await;
    let mut holder = Holder::of(directory.path());
    let locked = Instant::now();
    let waited = loop {
        let begun = tokio::time::Instant::now();
        a.command(rename("in memory")).await.unwrap();
        if locked.elapsed() > LOCK_PATIENCE && begun.elapsed() >= LOCK_PATIENCE {
            break begun.elapsed();
        }
    };
    assert!(waited < LOCK_PATIENCE * 3 / 2, "{waited:?}");
    a.hears("is locked by another program").await;
    assert!(matches!(orders.recv().await, Some(Order::StoreFails { why: Some(_), .. })));
    // Known to fail, it is not waited for again.
    let begun = tokio::time::Instant::now();
    a.command(rename("in memory too")).await.unwrap();
    assert!(begun.elapsed() < LOCK_PATIENCE / 4, "{:?}", begun.elapsed());
    assert!(b.fresh().is_empty(), "who writes nothing hears nothing");
    let refused = b.command(crate::late::stage::open(9)).await.unwrap_err();
    assert!(refused.kind == domain::command::RefusalKind::SessionUnknown, "{refused}");
    holder.let_go();
    a.hears("Saved again").await;
    hub.stop().await;
    assert_eq!(
        SqliteStore::at(directory.path()).unwrap().summary(&session(1)).unwrap().title,
        "in memory too"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_opened_or_deleted_waits_for_a_lock_and_is_refused_after_that() {
    let directory = tempfile::tempdir().unwrap();
    hub(directory.path()).await.0.stop().await;
    let store = SqliteStore::at(directory.path()).unwrap();
    let (orders, _ordered) = mpsc::channel(64);
    let hub = Hub::start(setup(), Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let (mut a, mut b) = (ui(&hub).await, ui(&hub).await);
    let mut holder = Holder::of(directory.path());
    let refused = a.command(crate::late::stage::open(1)).await.unwrap_err();
    assert!(refused.message.contains("locked by another program"), "{refused}");
    let deleted = Command::Library(LibraryCommand::Delete { session: session(2) });
    assert!(b.command(deleted.clone()).await.is_err());
    holder.let_go();
    a.command(crate::late::stage::open(1)).await.unwrap();
    b.command(deleted).await.unwrap();
    hub.stop().await;
    let kept = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(kept.list(&store::Listing::default()).unwrap().len(), 1);
}
