//! What a person sees when the disk fails under a running hub: a word, a conversation that goes on, and everything written once
//! the disk is back.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

use dialects::role::Answers;
use domain::command::{Command, History, Receipt, Refusal, RefusalKind, Target};
use domain::event::{Body, Event};
use domain::ids::{Millis, Seq, SessionId};
use domain::port::{News, Ticket};
use domain::session::{Policy, SessionSummary};
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, State};
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Hub, LocalPort};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use store::{Appended, Durability, Found, Listing, Opened, SqliteStore, Store, StoreError};
use tokio::sync::mpsc;

/// How the disk is.
const WORKS: u8 = 0;
const FULL: u8 = 1;
const READ_ONLY: u8 = 2;

/// A store on a disk that can be filled up and made read-only while it is in use.
struct Disk {
    store: SqliteStore,
    state: Arc<AtomicU8>,
}

impl Disk {
    fn check(&self) -> Result<(), StoreError> {
        match self.state.load(Ordering::Relaxed) {
            READ_ONLY => Err(StoreError::ReadOnly { path: self.store.path().to_owned() }),
            FULL => self.store.limit_pages(Some(1)),
            _ => self.store.limit_pages(None),
        }
    }
}

impl Store for Disk {
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.check()?;
        self.store.create(session)
    }
    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        how: Durability,
    ) -> Result<Appended, StoreError> {
        self.check()?;
        self.store.append(session, events, how)
    }
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.open(session)
    }
    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        self.store.snapshot(session, state)
    }
    fn tend(&mut self) -> Result<(), StoreError> {
        self.store.tend()
    }
    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.close(session)
    }
    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.load(session)
    }
    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.store.events(session, after, limit)
    }
    fn history(&self, session: &SessionId, runs: usize, events: usize) -> Result<History, StoreError> {
        self.store.history(session, runs, events)
    }
    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        self.store.list(listing)
    }
    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        self.store.summary(session)
    }
    fn search(&self, text: &str, limit: usize) -> Result<Vec<Found>, StoreError> {
        self.store.search(text, limit)
    }
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.delete(session)
    }
}

/// A UI on a hub whose disk can fail.
struct Bench {
    hub: Hub,
    port: LocalPort,
    news: mpsc::Receiver<News>,
    disk: Arc<AtomicU8>,
    state: State,
    words: Vec<(Level, String)>,
    ticket: u64,
    _orders: mpsc::Receiver<domain::port::Order>,
}

impl Bench {
    async fn at(directory: &Path) -> Bench {
        let disk = Arc::new(AtomicU8::new(WORKS));
        let store = Disk { store: SqliteStore::at(directory).unwrap(), state: disk.clone() };
        let (orders, ordered) = mpsc::channel(64);
        let setup = Setup {
            engine: Engine::Driven,
            cwd: "/w".into(),
            project: "/w".into(),
            policy: Policy::Ask,
            no_sandbox: None,
            salt: 1,
        };
        let hub = Hub::start(setup, Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
        let ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
        let (state, words) = (State::new(), Vec::new());
        Bench { hub, port: ui.port, news: ui.news, disk, state, words, ticket: 0, _orders: ordered }
    }

    fn take(&mut self, news: News) -> Option<(Ticket, Result<Receipt, Refusal>)> {
        match news {
            News::Attached { replay, .. } => {
                self.state = State::new();
                for (at, body) in replay {
                    self.state.apply(at, &body).unwrap();
                }
            }
            News::Happened { event, .. } => self.state.follow(&event).unwrap(),
            News::Signal { signal: Signal::Notify { level, text }, .. } => self.words.push((level, text)),
            News::Settled { ticket, with } => return Some((ticket, with)),
            News::Signal { .. } | News::Link(_) => {}
        }
        None
    }

    async fn command(&mut self, command: Command) -> Result<Receipt, Refusal> {
        self.ticket += 1;
        let ticket = Ticket(self.ticket);
        self.port.command(ticket, Target::Current, command).await.unwrap();
        loop {
            let news = self.news.recv().await.unwrap();
            if let Some((settled, with)) = self.take(news)
                && settled == ticket
            {
                return with;
            }
        }
    }

    async fn rename(&mut self, title: &str) {
        self.command(Command::RenameSession { title: title.to_owned() }).await.unwrap();
    }

    /// Hears on until the person is told something more.
    async fn told(&mut self) -> (Level, String) {
        let heard = self.words.len();
        while self.words.len() == heard {
            let news = self.news.recv().await.unwrap();
            self.take(news);
        }
        self.words[heard].clone()
    }

    fn set(&self, disk: u8) {
        self.disk.store(disk, Ordering::Relaxed);
    }
}

fn session() -> SessionId {
    SessionId::from_number(1)
}

fn new() -> Command {
    Command::NewSession { cwd: None, title: Some("first".into()), id: Some(session()) }
}

/// A title that no page has room for, also when it is packed.
fn large(begin: &str) -> String {
    let noise = (1..4_000u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761)));
    noise.fold(begin.to_owned(), |text, word| text + &word)
}

fn stored(directory: &Path) -> Vec<Event> {
    SqliteStore::at(directory).unwrap().events(&session(), Seq(0), 1_000).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on_without_a_disk_and_is_written_when_it_is_back() {
    for failure in [FULL, READ_ONLY] {
        let directory = tempfile::tempdir().unwrap();
        let mut bench = Bench::at(directory.path()).await;
        bench.command(new()).await.unwrap();
        bench.rename("kept").await;
        let before = stored(directory.path());
        bench.set(failure);
        bench.rename(&large("lost")).await;
        let (level, text) = bench.told().await;
        assert!(level == Level::Error && text.contains("goes on in memory"), "{text}");
        for title in ["second", "third"] {
            bench.rename(&large(title)).await;
        }
        assert!(bench.state.title().starts_with("third"));
        assert!(stored(directory.path()) == before, "what was stored is unharmed");
        bench.set(WORKS);
        let (level, text) = bench.told().await;
        assert!(level == Level::Success && text.contains("everything is written"), "{text}");
        assert_eq!(bench.words.len(), 2, "said once, not with every event");
        bench.hub.stop().await;
        let mut store = SqliteStore::at(directory.path()).unwrap();
        assert_eq!(store.open(&session()).unwrap().state, bench.state);
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_never_worked_is_written_to_when_it_does() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    bench.set(READ_ONLY);
    bench.command(new()).await.unwrap();
    assert_eq!(bench.told().await.0, Level::Error);
    bench.set(WORKS);
    assert_eq!(bench.told().await.0, Level::Success);
    bench.hub.stop().await;
    assert_eq!(SqliteStore::at(directory.path()).unwrap().load(&session()).unwrap().state, bench.state);
}

/// Writes over a piece of the file.
fn damage(directory: &Path, what: &[u8]) {
    let file = directory.join("sessions.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<usize> =
        (0..bytes.len() - what.len()).filter(|at| bytes[*at..].starts_with(what)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + what.len()].fill(b'#');
    }
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_said_and_costs_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    bench.command(new()).await.unwrap();
    for title in ["harmless", "a title that is damaged", "last"] {
        bench.rename(title).await;
    }
    bench.hub.stop().await;
    damage(directory.path(), b"\"a title that is damaged\"}");
    let mut bench = Bench::at(directory.path()).await;
    bench.command(Command::OpenSession { session: session() }).await.unwrap();
    assert_eq!(bench.state.title(), "last");
    let notices: Vec<&str> = bench
        .state
        .entries
        .values()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Notice { text, .. } => Some(text.as_str()),
            EntryKind::Message(_) | EntryKind::Compaction(_) => None,
        })
        .collect();
    assert!(notices.len() == 1 && notices[0].contains("could not be read"), "{notices:?}");
    bench.rename("goes on").await;
    bench.hub.stop().await;
    assert_eq!(SqliteStore::at(directory.path()).unwrap().load(&session()).unwrap().state.title(), "goes on");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_read_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    bench.command(new()).await.unwrap();
    bench.hub.stop().await;
    let file = directory.path().join("sessions.db");
    let whole = std::fs::read(&file).unwrap();
    // Every page but the first two: the file still opens, its tables do not.
    let mut bytes = whole.clone();
    bytes[8_192..].fill(0x5a);
    std::fs::write(&file, &bytes).unwrap();
    let Ok(store) = SqliteStore::at(directory.path()) else { return };
    drop(store);
    let mut bench = Bench::at(directory.path()).await;
    let refused = bench.command(Command::OpenSession { session: session() }).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Storage);
    assert!(refused.hint.is_some_and(|hint| hint.contains("doctor")), "{}", refused.message);
    // A new conversation goes on, in memory.
    let other = SessionId::from_number(2);
    bench.command(Command::NewSession { cwd: None, title: Some("x".into()), id: Some(other) }).await.unwrap();
    bench.rename("in memory").await;
    assert_eq!(bench.state.title(), "in memory");
    assert!(bench.words.iter().any(|(level, text)| *level == Level::Error && text.contains("Not saved")));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumped_back_breaks_no_order() {
    let directory = tempfile::tempdir().unwrap();
    let later = Millis(9_000_000_000_000);
    let mut store = SqliteStore::at(directory.path()).unwrap();
    store.create(&session()).unwrap();
    let bodies = [
        Body::SessionOpened { cwd: "/w".into(), project: "/w".into(), parent: None },
        Body::Renamed { title: "from the future".into() },
    ];
    let events: Vec<Event> =
        bodies.into_iter().zip(1..).map(|(body, n)| Event { seq: Seq(n), at: later, body }).collect();
    store.append(&session(), &events, Durability::Now).unwrap();
    drop(store);
    let mut bench = Bench::at(directory.path()).await;
    bench.command(Command::OpenSession { session: session() }).await.unwrap();
    bench.rename("now").await;
    bench.hub.stop().await;
    let events = stored(directory.path());
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.at >= later), "times never go back");
}
