//! A store whose commits take long: what many sessions want written meanwhile goes there together, and each is answered for itself.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

use domain::command::{Command, History, LibraryCommand, Receipt, Refusal, SessionCommand, Target};
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::port::{News, Ticket};
use domain::session::SessionSummary;
use domain::state::State;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Hub, LocalUi};
use roles::Answers;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use store::{Appended, Batch, Durability, Listing, MemoryStore, Opened, SearchHit, Store, StoreError};
use tokio::sync::mpsc;

/// What is seen of the store, and how it is held up.
#[derive(Default)]
struct Seen {
    /// The next commit waits for as long as this is set.
    holds: AtomicBool,
    is_held: AtomicBool,
    /// The sessions of each commit.
    commits: Mutex<Vec<Vec<SessionId>>>,
    /// The session that is another's by now.
    lost: Mutex<Option<SessionId>>,
}

struct Slow {
    store: MemoryStore,
    seen: Arc<Seen>,
}

impl Store for Slow {
    fn is_grouping(&self) -> bool {
        true
    }
    fn append_many(&mut self, batches: &[Batch<'_>]) -> Vec<Result<Appended, StoreError>> {
        while self.seen.holds.load(Ordering::SeqCst) {
            self.seen.is_held.store(true, Ordering::SeqCst);
            std::thread::yield_now();
        }
        let sessions = batches.iter().map(|batch| batch.session.clone());
        self.seen.commits.lock().unwrap().push(sessions.collect());
        let lost = self.seen.lost.lock().unwrap().clone();
        let append = |batch: &Batch<'_>| {
            if Some(batch.session) == lost.as_ref() {
                let why = "it was taken over by node two".to_owned();
                return Err(StoreError::LeaseLost { sessions: vec![batch.session.clone()], why });
            }
            self.store.append(batch.session, batch.events, batch.durability)
        };
        batches.iter().map(append).collect()
    }
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.create(session)
    }
    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        how: Durability,
    ) -> Result<Appended, StoreError> {
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
    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.store.search(text, limit)
    }
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.delete(session)
    }
}

async fn settled(ui: &mut LocalUi) -> Result<Receipt, Refusal> {
    loop {
        if let News::Settled { with, .. } = ui.news.recv().await.unwrap() {
            return with;
        }
    }
}

async fn rename(ui: &LocalUi) {
    let rename = Command::Session(SessionCommand::Rename { title: "another".to_owned() });
    ui.port.command(Ticket(7), Target::Current, rename).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_together_is_one_commit_and_none_waits_or_pays_for_another() {
    let seen = Arc::new(Seen::default());
    let store = Slow { store: MemoryStore::new(), seen: seen.clone() };
    let (orders, _ordered) = mpsc::channel(64);
    let setup = Setup::new(Engine::Driven, "/w", 1);
    let hub = Hub::start(setup, Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let mut uis = Vec::new();
    let ids: Vec<SessionId> = (1..=4).map(SessionId::from_number).collect();
    for id in &ids {
        let mut ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
        let (title, id) = (Some("first".to_owned()), Some(id.clone()));
        let new = Command::Library(LibraryCommand::New { cwd: None, title, id });
        ui.port.command(Ticket(1), Target::Current, new).await.unwrap();
        settled(&mut ui).await.unwrap();
        uis.push(ui);
    }
    seen.holds.store(true, Ordering::SeqCst);
    rename(&uis[0]).await;
    while !seen.is_held.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    *seen.lost.lock().unwrap() = Some(ids[2].clone());
    for ui in &uis[1..] {
        rename(ui).await;
    }
    // Whoever asks for what is said to nobody else is answered behind what came before.
    while hub.present().await.unwrap().len() < 4 {}
    seen.commits.lock().unwrap().clear();
    seen.holds.store(false, Ordering::SeqCst);
    for (at, ui) in uis.iter_mut().enumerate() {
        match settled(ui).await {
            Ok(_) => assert_ne!(at, 2),
            Err(refused) => {
                assert!(at == 2 && refused.message.contains("taken over by node two"), "{refused}");
            }
        }
    }
    let commits = seen.commits.lock().unwrap().clone();
    assert_eq!(commits, [vec![ids[0].clone()], ids[1..].to_vec()]);
    hub.stop().await;
}
