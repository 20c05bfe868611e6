//! A hub whose store answers when the test says so.

use domain::command::{Command, History, LibraryCommand, Receipt, Refusal, SessionCommand, Target};
use domain::event::{Body, Event};
use domain::ids::{RunId, Seq, SessionId};
use domain::port::{Kept, News, Order, Report, Ticket};
use domain::session::SessionSummary;
use domain::state::State;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Files, Hub, LocalPort, LocalUi};
use roles::Answers;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as std_mpsc;
use store::{Appended, Durability, Listing, MemoryStore, Opened, SearchHit, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

/// Keeps everything in memory; while it is held, each call tells its name and waits to hear how it ends.
pub(crate) struct Driven {
    store: MemoryStore,
    held: Arc<AtomicBool>,
    disk: Arc<Disk>,
    calls: mpsc::Sender<String>,
    ends: std_mpsc::Receiver<bool>,
}

/// How the disk below the store is.
#[derive(Default)]
pub(crate) struct Disk {
    /// Nothing can be written.
    pub(crate) full: AtomicBool,
    /// No log can be read.
    pub(crate) unreadable: AtomicBool,
    /// Something was taken that is not written yet.
    pub(crate) holds_back: AtomicBool,
}

fn broken() -> StoreError {
    StoreError::ReadOnly { path: "the test".into() }
}

impl Driven {
    fn call(&self, name: &str, session: &SessionId) -> Result<(), StoreError> {
        // Asked before the call is told: a test that has heard of it may let go of the store at once.
        let held = self.held.load(Ordering::SeqCst);
        let said = self.calls.blocking_send(format!("{name} {session}"));
        let held = held && said.is_ok();
        // A test that is over answers nobody: then the call just ends.
        let works = !held || self.ends.recv().unwrap_or(true);
        works.then_some(()).ok_or_else(broken)
    }
}

impl Store for Driven {
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        match self.store.create(session) {
            // As on disk: one that was made and got no event yet may be made again.
            Err(StoreError::Exists(_)) => Ok(()),
            made => made,
        }
    }
    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        how: Durability,
    ) -> Result<Appended, StoreError> {
        let last = events.last().map_or(0, |event| event.seq.0);
        self.call(&format!("append {last} to"), session)?;
        if self.disk.full.load(Ordering::SeqCst) {
            return Err(broken());
        }
        self.disk.holds_back.store(how == Durability::Soon, Ordering::SeqCst);
        self.store.append(session, events, how)
    }
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        self.call("open", session)?;
        self.store.open(session)
    }
    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        self.store.snapshot(session, state)
    }
    fn tend(&mut self) -> Result<(), StoreError> {
        self.disk.holds_back.store(false, Ordering::SeqCst);
        Ok(())
    }
    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.call("close", session)?;
        self.store.close(session)
    }
    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.load(session)
    }
    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        if self.disk.unreadable.load(Ordering::SeqCst) {
            return Err(broken());
        }
        self.store.events(session, after, limit)
    }
    fn history(&self, session: &SessionId, runs: usize, events: usize) -> Result<History, StoreError> {
        self.store.history(session, runs, events)
    }
    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        self.call("list", &session(0))?;
        self.store.list(listing)
    }
    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        self.store.summary(session)
    }
    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.store.search(text, limit)
    }
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.call("delete", session)?;
        self.store.delete(session)
    }
}

/// A hub with the store in the test's hand.
pub(crate) struct Stage {
    pub(crate) hub: Hub,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) reports: mpsc::Sender<hub::Reported>,
    pub(crate) held: Arc<AtomicBool>,
    pub(crate) disk: Arc<Disk>,
    calls: mpsc::Receiver<String>,
    ends: std_mpsc::SyncSender<bool>,
}

pub(crate) fn session(number: u64) -> SessionId {
    SessionId::from_number(number)
}

pub(crate) fn setup() -> Setup {
    Setup::new(Engine::Driven, "/w", 1)
}

pub(crate) fn new(number: u64) -> Command {
    let (title, id) = (Some("first".into()), Some(session(number)));
    Command::Library(LibraryCommand::New { cwd: None, title, id })
}

pub(crate) fn open(number: u64) -> Command {
    Command::Library(LibraryCommand::Open { session: session(number) })
}

pub(crate) fn rename(title: &str) -> Command {
    Command::Session(SessionCommand::Rename { title: title.to_owned() })
}

pub(crate) fn stats() -> Command {
    Command::Session(SessionCommand::Stats)
}

/// Calls that the test may let end before the store takes the next.
const ENDS: usize = 1_024;

impl Stage {
    /// A hub that holds nothing, but finds session 9 in its store.
    pub(crate) async fn new(files: Files) -> Stage {
        let (held, (calls, called)) = (Arc::new(AtomicBool::new(false)), mpsc::channel(1_024));
        let (ends, ended) = std_mpsc::sync_channel(ENDS);
        let mut kept = MemoryStore::new();
        kept.create(&session(9)).unwrap();
        let opened =
            domain::event::SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None };
        let renamed = domain::event::SessionEvent::Renamed { title: "kept before".into() };
        let events: Vec<Event> = [opened, renamed]
            .into_iter()
            .zip(1..)
            .map(|(body, n)| Event { seq: Seq(n), at: domain::ids::Millis(n), body: Body::Session(body) })
            .collect();
        kept.append(&session(9), &events, Durability::Now).unwrap();
        kept.close(&session(9)).unwrap();
        let disk = Arc::<Disk>::default();
        let store = Driven { store: kept, held: held.clone(), disk: disk.clone(), calls, ends: ended };
        let (orders, ordered) = mpsc::channel(64);
        let log = Arc::new(|_: &str| {});
        let hub = Hub::start_with(setup(), Box::new(store), EngineSeat::Driven(orders), files, log);
        let (reports, reported) = mpsc::channel(64);
        let feeding = hub.clone();
        tokio::spawn(async move { feeding.reports(reported).await });
        Stage { hub, orders: ordered, reports, held, disk, calls: called, ends }
    }

    pub(crate) async fn ui(&self, start: Option<Command>) -> Ui {
        let ui = self.hub.attach("test", Standing::Controller, Answers::ALL, start).await.unwrap();
        Ui::of(ui)
    }

    /// From now on each call of the store waits for the test.
    pub(crate) fn hold(&mut self) {
        while self.calls.try_recv().is_ok() {}
        self.held.store(true, Ordering::SeqCst);
    }

    /// The call that the store does now, or did.
    pub(crate) async fn called(&mut self) -> String {
        self.calls.recv().await.unwrap()
    }

    /// The next call of this kind.
    pub(crate) async fn called_with(&mut self, name: &str) -> String {
        loop {
            let call = self.called().await;
            if call.starts_with(name) {
                return call;
            }
        }
    }

    /// The calls that were made and not looked at.
    pub(crate) fn calls(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.calls.try_recv().ok()).collect()
    }

    /// The call under way ends, and works or does not.
    pub(crate) fn end(&self, works: bool) {
        self.ends.send(works).unwrap();
    }

    /// The store is held no longer, and the call under way works.
    pub(crate) fn let_go(&self) {
        self.held.store(false, Ordering::SeqCst);
        self.end(true);
    }

    pub(crate) async fn report(&self, report: Report) -> oneshot::Receiver<Kept> {
        let (ack, kept) = oneshot::channel();
        self.reports.send((report, Some(ack))).await.unwrap();
        kept
    }

    pub(crate) fn happened(number: u64, run: RunId, body: Body) -> Report {
        Report::Happened { session: session(number), run: Some(run), body }
    }
}

/// A UI, with everything that it heard.
pub(crate) struct Ui {
    pub(crate) port: LocalPort,
    news: mpsc::Receiver<News>,
    pub(crate) heard: Vec<String>,
    ticket: u64,
}

impl Ui {
    pub(crate) fn of(ui: LocalUi) -> Ui {
        Ui { port: ui.port, news: ui.news, heard: Vec::new(), ticket: 0 }
    }

    /// Gives a command and does not wait.
    pub(crate) async fn say(&mut self, command: Command) -> Ticket {
        self.say_to(Target::Current, command).await
    }

    /// The same, for another session.
    pub(crate) async fn say_to(&mut self, target: Target, command: Command) -> Ticket {
        self.ticket += 1;
        self.port.command(Ticket(self.ticket), target, command).await.unwrap();
        Ticket(self.ticket)
    }

    /// Gives a command and hears on until it is settled.
    pub(crate) async fn command(&mut self, command: Command) -> Result<Receipt, Refusal> {
        let ticket = self.say(command).await;
        self.settled(ticket).await
    }

    pub(crate) async fn settled(&mut self, ticket: Ticket) -> Result<Receipt, Refusal> {
        loop {
            let (settled, with) = self.next_settled().await;
            if settled == ticket {
                return with;
            }
        }
    }

    /// Hears on until any command is settled.
    pub(crate) async fn next_settled(&mut self) -> (Ticket, Result<Receipt, Refusal>) {
        loop {
            let news = self.news.recv().await.unwrap();
            if let Some(settled) = self.take(news) {
                return settled;
            }
        }
    }

    /// Hears on until something is heard that contains this.
    pub(crate) async fn hears(&mut self, what: &str) {
        while !self.heard.iter().any(|heard| heard.contains(what)) {
            let news = self.news.recv().await.unwrap();
            self.take(news);
        }
    }

    /// What was heard by now and not looked at.
    pub(crate) fn fresh(&mut self) -> Vec<String> {
        while let Ok(news) = self.news.try_recv() {
            self.take(news);
        }
        std::mem::take(&mut self.heard)
    }

    fn take(&mut self, news: News) -> Option<(Ticket, Result<Receipt, Refusal>)> {
        match news {
            News::Attached { session, .. } => self.heard.push(format!("attached {session}")),
            News::Happened { event, .. } if event.body.weight() > 10_000 => {
                self.heard.push("much".to_owned());
            }
            News::Happened { event, .. } => self.heard.push(format!("{} {:?}", event.seq.0, event.body)),
            News::Signal { signal, .. } => self.heard.push(format!("{signal:?}")),
            News::Settled { ticket, with } => {
                self.heard.push(format!("settled {}", ticket.0));
                return Some((ticket, with));
            }
            News::Link(_) => {}
        }
        None
    }
}
