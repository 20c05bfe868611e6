//! What a person sees when the disk fails under a running hub: a word, a conversation that goes on, and everything written once
//! the disk is back.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fall over; its helping functions too")]

use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Consent, Risk, Scope};
use domain::command::{
    Command, History, LibraryCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand, Target,
};
use domain::content::{Input, Json, Role};
use domain::event::{AskEvent, Body, Event, Finish, MessageEvent, RunEvent, SessionEvent, ToolEvent};
use domain::ids::{AskId, MessageId, Millis, RunId, Seq, SessionId, StepId, ToolRunId};
use domain::port::{Kept, News, Order, Report, Ticket};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, State};
use domain::tool::{Decider, Decision, Progress};
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Hub, LocalPort};
use roles::Answers;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use store::{Appended, Durability, Listing, Opened, SearchHit, SqliteStore, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

/// How the disk is.
const WORKS: u8 = 0;
const FULL: u8 = 1;
const READ_ONLY: u8 = 2;
/// Another process has the session by now.
const TAKEN: u8 = 5;
/// It takes its time: what is written next waits until the disk works again, and says so.
const HELD: u8 = 3;
const WRITING: u8 = 4;

/// A store on a disk that can be filled up and made read-only while it is in use.
struct Disk {
    store: SqliteStore,
    state: Arc<AtomicU8>,
}

impl Disk {
    fn check(&self) -> Result<(), StoreError> {
        match self.state.load(Ordering::Relaxed) {
            READ_ONLY => Err(StoreError::ReadOnly { path: self.store.path().to_owned() }),
            TAKEN => {
                let why = "it was taken over by node two".to_owned();
                Err(StoreError::LeaseLost { sessions: vec![session()], why })
            }
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
        if self.state.compare_exchange(HELD, WRITING, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            while self.state.load(Ordering::SeqCst) == WRITING {
                std::thread::yield_now();
            }
        }
        self.store.append(session, events, how)
    }
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.open(session)
    }
    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        self.store.snapshot(session, state)
    }
    fn tend(&mut self) -> Result<(), StoreError> {
        if self.state.load(Ordering::Relaxed) == TAKEN {
            self.check()?;
        }
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
    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.store.search(text, limit)
    }
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.check()?;
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
    /// What the status line said of the disk.
    status: Vec<Option<String>>,
    ticket: u64,
    orders: mpsc::Receiver<Order>,
    reports: mpsc::Sender<hub::Reported>,
}

fn setup() -> Setup {
    Setup::new(Engine::Driven, "/w", 1)
}

impl Bench {
    async fn at(directory: &Path) -> Bench {
        let disk = Arc::new(AtomicU8::new(WORKS));
        let store = Disk { store: SqliteStore::at(directory).unwrap(), state: disk.clone() };
        let (orders, ordered) = mpsc::channel(64);
        let hub = Hub::start(setup(), Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
        let (reports, reported) = mpsc::channel(64);
        let feeding = hub.clone();
        tokio::spawn(async move { feeding.reports(reported).await });
        let ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
        let (state, words, status) = (State::new(), Vec::new(), Vec::new());
        let (port, news, orders) = (ui.port, ui.news, ordered);
        Bench { hub, port, news, disk, state, words, status, ticket: 0, orders, reports }
    }

    /// Reports what an engine did; what became of it.
    async fn report(&mut self, run: RunId, body: Body) -> Kept {
        let (ack, kept) = oneshot::channel();
        let report = Report::Happened { session: session(), run: Some(run), body };
        self.reports.send((report, Some(ack))).await.unwrap();
        let kept = kept.await.unwrap();
        while let Ok(news) = self.news.try_recv() {
            self.take(news);
        }
        kept
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
            News::Signal { signal: Signal::Status { key, text }, .. } if key == domain::signal::UNSAVED => {
                self.status.push(text);
            }
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
        self.command(Command::Session(SessionCommand::Rename { title: title.to_owned() })).await.unwrap();
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
    Command::Library(LibraryCommand::New { cwd: None, title: Some("first".into()), id: Some(session()) })
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_told_before_it_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    bench.command(new()).await.unwrap();
    bench.rename("kept").await;
    while bench.news.try_recv().is_ok() {}
    bench.set(HELD);
    let rename = Command::Session(SessionCommand::Rename { title: "held".to_owned() });
    bench.port.command(Ticket(99), Target::Current, rename).await.unwrap();
    while bench.disk.load(Ordering::SeqCst) != WRITING {
        tokio::task::yield_now().await;
    }
    let early = bench.news.try_recv();
    bench.set(WORKS);
    assert!(early.is_err(), "told while it is still being written: {early:?}");
    while !matches!(bench.news.recv().await.unwrap(), News::Settled { ticket: Ticket(99), with: Ok(_) }) {}
    bench.hub.stop().await;
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
    bench.command(Command::Library(LibraryCommand::Open { session: session() })).await.unwrap();
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
    let refused =
        bench.command(Command::Library(LibraryCommand::Open { session: session() })).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Storage);
    assert!(refused.hint.is_some_and(|hint| hint.contains("doctor")), "{}", refused.message);
    // A new conversation goes on, in memory.
    let other = SessionId::from_number(2);
    bench
        .command(Command::Library(LibraryCommand::New {
            cwd: None,
            title: Some("x".into()),
            id: Some(other),
        }))
        .await
        .unwrap();
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
        Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None }),
        Body::Session(SessionEvent::Renamed { title: "from the future".into() }),
    ];
    let events: Vec<Event> =
        bodies.into_iter().zip(1..).map(|(body, n)| Event { seq: Seq(n), at: later, body }).collect();
    store.append(&session(), &events, Durability::Now).unwrap();
    drop(store);
    let mut bench = Bench::at(directory.path()).await;
    bench.command(Command::Library(LibraryCommand::Open { session: session() })).await.unwrap();
    bench.rename("now").await;
    bench.hub.stop().await;
    let events = stored(directory.path());
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.at >= later), "times never go back");
}

/// A run that waits for a yes, as an engine reports it.
async fn asking(bench: &mut Bench) -> (RunId, ToolRunId, AskId) {
    bench.command(new()).await.unwrap();
    let prompt =
        Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
    let Receipt::Started { run, .. } = bench.command(prompt).await.unwrap() else { panic!("no run") };
    let brief = loop {
        if let Order::Turn(brief) = bench.orders.recv().await.unwrap() {
            break brief;
        }
    };
    let (step, message) = (StepId::mint(&brief.ids), MessageId::mint(&brief.ids));
    let (tool, ask) = (ToolRunId::mint(&brief.ids), AskId::mint(&brief.ids));
    let consent = Consent {
        tool,
        name: "strike".into(),
        args: Json::verbatim("{}"),
        preview: None,
        assessment: Assessment { risk: Risk::High, reasons: Vec::new(), reversible: false, unrated: false },
        digest: ActionDigest("d".into()),
        rule: None,
        takes_reason: true,
    };
    let parent = brief.leaf;
    for body in [
        Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None }),
        Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn: Some(brief.turn),
            step: Some(step),
        }),
        Body::Tool(ToolEvent::Proposed { tool, message, name: "strike".into(), args: Json::verbatim("{}") }),
        Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
        Body::Ask(AskEvent::Opened(Ask {
            id: ask,
            run: Some(run),
            title: "strike?".into(),
            kind: AskKind::Consent(Box::new(consent)),
            deadline: None,
        })),
    ] {
        assert_eq!(bench.report(run, body).await, Kept::Safely);
    }
    (run, tool, ask)
}

#[tokio::test(start_paused = true)]
async fn the_engine_hears_that_a_yes_is_not_written_before_it_hears_the_yes() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    let (run, tool, ask) = asking(&mut bench).await;
    while bench.orders.try_recv().is_ok() {}
    bench.set(READ_ONLY);
    let answer = Answer::Allow { scope: Scope::Once, digest: None };
    bench.command(Command::Answer { ask, answer }).await.unwrap();
    let Some(Order::StoreFails { why: Some(why), .. }) = bench.orders.recv().await else {
        panic!("the engine was not told first")
    };
    assert!(why.contains("cannot be written"), "{why}");
    assert!(matches!(bench.orders.recv().await, Some(Order::AskClosed { .. })));
    let decision =
        Decision { allowed: true, by: Decider::Person(None), scope: Scope::Once, reason: None, digest: None };
    assert_eq!(
        bench.report(run, Body::Tool(ToolEvent::Decided { tool, decision })).await,
        Kept::InMemory(why.clone())
    );
    assert_eq!(bench.report(run, Body::Tool(ToolEvent::Started { tool })).await, Kept::InMemory(why));
    bench.set(WORKS);
    while !matches!(bench.orders.recv().await, Some(Order::StoreFails { why: None, .. })) {}
    let progress = Progress::Output("x".into());
    assert_eq!(bench.report(run, Body::Tool(ToolEvent::Progress { tool, progress })).await, Kept::Safely);
    assert_eq!(bench.status.last(), Some(&None), "{:?}", bench.status);
    assert!(bench.status[0].as_deref().is_some_and(|text| text.contains("not saved")), "{:?}", bench.status);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_took_over_stops_here_and_nothing_more_of_it_is_told_or_done() {
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench::at(directory.path()).await;
    let (run, tool, ask) = asking(&mut bench).await;
    while bench.orders.try_recv().is_ok() {}
    let before = stored(directory.path());
    bench.set(TAKEN);
    let answer = Answer::Allow { scope: Scope::Once, digest: None };
    let refused = bench.command(Command::Answer { ask, answer }).await.unwrap_err();
    assert!(
        refused.kind == RefusalKind::Storage && refused.message.contains("taken over by node two"),
        "{refused}"
    );
    let told = if bench.words.is_empty() { bench.told().await } else { bench.words[0].clone() };
    assert!(told.0 == Level::Error && told.1.contains("has stopped here"), "{told:?}");
    assert!(bench.state.open_run().is_none(), "who sees it does not wait for ever");
    let tool_run = bench.state.tool(tool).unwrap();
    assert!(!matches!(&tool_run.phase, domain::tool::ToolPhase::Running), "{tool_run:?}");
    // The engine is stopped, and never hears of the yes.
    let mut orders = Vec::new();
    while !matches!(orders.last(), Some(Order::Forget { .. })) {
        orders.push(bench.orders.recv().await.unwrap());
    }
    assert!(matches!(orders[0], Order::Cancel { run: of, .. } if of == run), "{orders:?}");
    assert!(!orders.iter().any(|order| matches!(
        order,
        Order::AskClosed { closing: domain::ask::Closing::Answered { .. }, .. }
    )));
    assert_eq!(bench.report(run, Body::Tool(ToolEvent::Started { tool })).await, Kept::Late);
    assert_eq!(stored(directory.path()), before, "nothing of it is written");
    // What is said next opens it where it stands.
    bench.set(WORKS);
    bench.rename("and on").await;
    assert_eq!(bench.state.title(), "and on");
    let after = stored(directory.path());
    assert_eq!(after[..before.len()], before);
    domain::grammar::check_all(&after).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_file_that_was_taken_away_or_replaced_counts_as_a_disk_that_fails() {
    for taken in ["sessions.db", "sessions.db-wal"] {
        let directory = tempfile::tempdir().unwrap();
        let mut bench = Bench::at(directory.path()).await;
        bench.command(new()).await.unwrap();
        bench.rename("kept").await;
        let (file, aside) = (directory.path().join(taken), directory.path().join("aside"));
        std::fs::rename(&file, &aside).unwrap();
        if taken == "sessions.db" {
            std::fs::copy(&aside, &file).unwrap();
        }
        // Nobody says anything: it is found out all the same.
        let (level, text) = bench.told().await;
        assert!(level == Level::Error && text.contains("removed or replaced"), "{text}");
        bench.rename("while it was gone").await;
        std::fs::rename(&aside, &file).unwrap();
        let (level, text) = bench.told().await;
        assert!(level == Level::Success && text.contains("everything is written"), "{text}");
        bench.hub.stop().await;
        let stored = SqliteStore::at(directory.path()).unwrap().load(&session()).unwrap().state;
        assert_eq!(stored.title(), "while it was gone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_does_not_happen_is_refused_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let mut here = Bench::at(directory.path()).await;
    here.command(new()).await.unwrap();
    here.rename("kept").await;
    let mut there = Bench::at(directory.path()).await;
    let refused =
        there.command(Command::Library(LibraryCommand::Delete { session: session() })).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Storage);
    assert!(refused.message.contains("is open in another program"), "{refused}");
    assert!(refused.hint.is_some(), "{refused}");
    here.rename("still here").await;
    here.set(READ_ONLY);
    let refused =
        here.command(Command::Library(LibraryCommand::Delete { session: session() })).await.unwrap_err();
    assert!(refused.message.contains("cannot be written"), "{refused}");
    assert_eq!(here.state.title(), "still here", "nobody was sent away");
    here.set(WORKS);
    here.command(Command::Library(LibraryCommand::Delete { session: session() })).await.unwrap();
    assert!(there.command(Command::Library(LibraryCommand::Open { session: session() })).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_keeps_nothing_in_the_place_of_another_is_told_once_for_each_session() {
    let (orders, _ordered) = mpsc::channel(64);
    let store = store::MemoryStore::because("the disk is read-only");
    let hub = Hub::start(setup(), Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let mut ui = hub.attach("test", Standing::Controller, Answers::ALL, Some(new())).await.unwrap();
    let mut told = Vec::new();
    for ticket in 1..=2 {
        let title = format!("title {ticket}");
        ui.port
            .command(Ticket(ticket), Target::Current, Command::Session(SessionCommand::Rename { title }))
            .await
            .unwrap();
        loop {
            match ui.news.recv().await.unwrap() {
                News::Signal { signal: Signal::Notify { level, text }, .. } => told.push((level, text)),
                News::Signal { signal, .. } => panic!("{signal:?}"),
                News::Settled { .. } => break,
                _ => {}
            }
        }
    }
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].0 == Level::Warning && told[0].1.contains("the disk is read-only"), "{told:?}");
}
