//! A UI that reads nothing while a run streams: memory stays bounded, nobody else waits for it, and when it comes back it goes on
//! where it was, without a gap.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

use dialects::native::wire::{Cursor, FromRuntime, FromUi, Hello};
use domain::command::{Command, History, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::{Input, Role, TextKind, Usage};
use domain::event::{Body, Event, Finish, MessageEvent, NoteEvent, PlanItem, PlanState, RunEvent, ToolEvent};
use domain::ids::{MessageId, Seq, SessionId, StepId};
use domain::port::{Kept, News, Order, Report, Ticket, TurnBrief, TurnEnd};
use domain::session::SessionSummary;
use domain::state::State;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, LocalUi, Reported};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Answers, Greeting, Lane};
use std::sync::Arc;
use store::{Appended, Durability, Listing, Opened, SearchHit, Store, StoreError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

/// What may wait between the hub and the UI that does not read, beside what the hub keeps for it.
const PIPE: usize = 4 * 1024;
/// Events that cannot be merged, and the size of each: far more than may wait for anybody.
const PIECES: usize = 3_000;
const PIECE: usize = 64 * 1024;
/// By how much the program may grow while they stream: a few times of what may wait for one UI, a part of what streams.
const MAX_GROWTH: usize = 80 * 1024 * 1024;

/// Keeps nothing, so that what grows is not the store.
struct Forgetful;

impl Store for Forgetful {
    fn create(&mut self, _: &SessionId) -> Result<(), StoreError> {
        Ok(())
    }
    fn append(&mut self, _: &SessionId, _: &[Event], _: Durability) -> Result<Appended, StoreError> {
        Ok(Appended::default())
    }
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        Err(StoreError::Unknown(session.clone()))
    }
    fn snapshot(&mut self, _: &SessionId, _: &State) -> Result<(), StoreError> {
        Ok(())
    }
    fn tend(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
    fn close(&mut self, _: &SessionId) -> Result<(), StoreError> {
        Ok(())
    }
    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        Err(StoreError::Unknown(session.clone()))
    }
    fn events(&self, _: &SessionId, _: Seq, _: usize) -> Result<Vec<Event>, StoreError> {
        Ok(Vec::new())
    }
    fn history(&self, _: &SessionId, _: usize, _: usize) -> Result<History, StoreError> {
        Ok(History::default())
    }
    fn list(&self, _: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(Vec::new())
    }
    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        Err(StoreError::Unknown(session.clone()))
    }
    fn search(&self, _: &str, _: usize) -> Result<Vec<SearchHit>, StoreError> {
        Ok(Vec::new())
    }
    fn delete(&mut self, _: &SessionId) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A hub whose engine is this test, with a UI that keeps up.
struct Bench {
    hub: Hub,
    reports: mpsc::Sender<Reported>,
    orders: mpsc::Receiver<Order>,
    ui: LocalUi,
    state: State,
}

fn session() -> SessionId {
    SessionId::from_number(1)
}

impl Bench {
    async fn new() -> Bench {
        let (orders, ordered) = mpsc::channel(64);
        let (reports, reported) = mpsc::channel(64);
        let setup = Setup::new(Engine::Driven, "/w", 1);
        let hub = Hub::start(setup, Box::new(Forgetful), EngineSeat::Driven(orders), Arc::new(|_| {}));
        let feeding = hub.clone();
        tokio::spawn(async move { feeding.reports(reported).await });
        let start = Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(session()) });
        let ui = hub.attach("quick", Standing::Controller, Answers::ALL, Some(start)).await.unwrap();
        Bench { hub, reports, orders: ordered, ui, state: State::new() }
    }

    /// Connects a native UI; gives its end of the wire.
    async fn connect(&self, cursor: Option<Cursor>) -> DuplexStream {
        let guest = Guest {
            role: dialects::native::DIALECT.runtime_role(),
            name: "slow".into(),
            standing: Standing::Controller,
            greeting: Greeting::default(),
            start: None,
            stays: false,
        };
        let (ours, mut theirs) = tokio::io::duplex(PIPE);
        let (read, write) = tokio::io::split(ours);
        let link = Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write));
        let (hub, link) = (self.hub.clone(), link.start());
        tokio::spawn(async move { hub.serve(guest, link).await });
        let hello = Hello {
            protocol: dialects::native::PROTOCOL,
            revision: dialects::native::REVISION,
            capabilities: ["hash", "cursor", "answers"].map(str::to_owned).to_vec(),
            session: Some(session()),
            cursor,
            ..Hello::default()
        };
        let line = serde_json::to_string(&FromUi::Hello(hello)).unwrap() + "\n";
        theirs.write_all(line.as_bytes()).await.unwrap();
        theirs
    }

    async fn begin(&mut self) -> TurnBrief {
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
        self.ui.port.command(Ticket(1), Target::Current, prompt).await.unwrap();
        loop {
            if let Order::Turn(brief) = self.orders.recv().await.unwrap() {
                return *brief;
            }
        }
    }

    /// Says that something happened, and waits until it is kept.
    async fn happened(&mut self, brief: &TurnBrief, body: Body) {
        let (session, run) = (brief.session.clone(), Some(brief.run));
        let (kept, ack) = tokio::sync::oneshot::channel();
        self.reports.send((Report::Happened { session, run, body }, Some(kept))).await.unwrap();
        assert_eq!(ack.await.unwrap(), Kept::Safely);
        self.catch_up();
    }

    /// The same without waiting.
    async fn happening(&mut self, brief: &TurnBrief, body: Body) {
        let (session, run) = (brief.session.clone(), Some(brief.run));
        self.reports.send((Report::Happened { session, run, body }, None)).await.unwrap();
        self.catch_up();
    }

    /// Takes the news that are there.
    fn catch_up(&mut self) {
        while let Ok(news) = self.ui.news.try_recv() {
            self.take(news);
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Attached { replay, .. } => {
                self.state = State::new();
                for (at, body) in replay {
                    self.state.apply(at, &body).unwrap();
                }
            }
            News::Happened { event, .. } => {
                assert_eq!(event.seq, self.state.seq.next(), "whoever keeps up hears every event");
                self.state.follow(&event).unwrap();
            }
            News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
        }
    }

    /// A message under way.
    async fn message(&mut self, brief: &TurnBrief) -> (StepId, MessageId) {
        let (step, message) = (StepId::mint(&brief.ids), MessageId::mint(&brief.ids));
        self.happened(brief, Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None })).await;
        let (turn, parent) = (Some(brief.turn), brief.leaf);
        let role = Role::Assistant;
        self.happened(
            brief,
            Body::Message(MessageEvent::Started { message, parent, role, turn, step: Some(step) }),
        )
        .await;
        (step, message)
    }

    /// Ends the run and waits until the UI that keeps up has heard it.
    async fn end(&mut self, brief: &TurnBrief) {
        let (session, run, turn) = (brief.session.clone(), brief.run, brief.turn);
        let done = Report::TurnDone { session, run, turn, end: TurnEnd::Done };
        self.reports.send((done, None)).await.unwrap();
        while self.state.runs.last().is_none_or(|run| run.ended.is_none()) {
            let news = self.ui.news.recv().await.unwrap();
            self.take(news);
        }
    }

    /// Who sees the session.
    async fn attached(&self) -> Vec<String> {
        let open = self.hub.present().await.unwrap();
        open.into_iter().flat_map(|live| live.uis).map(|ui| ui.name).collect()
    }
}

/// What the program holds in memory, in bytes; `None` where the system does not tell.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kib| kib * 1024)
}

/// Everything that a UI hears up to its end of file or the end of the run, folded.
async fn read_on(end: DuplexStream, mut state: State) -> (State, bool) {
    let mut lines = BufReader::new(end).lines();
    let mut was_current = false;
    while let Ok(Some(line)) = lines.next_line().await {
        // A link that ends under a UI that does not read ends in the middle of a line.
        let Ok(line) = serde_json::from_str(&line) else { break };
        match line {
            FromRuntime::Attached(attached) => {
                was_current |= attached.current;
                if !attached.current {
                    state = State::new();
                    for (at, body) in attached.replay {
                        state.apply(at, &body).unwrap();
                    }
                }
                assert_eq!(attached.at.hash, Some(state.hash().to_string()));
            }
            FromRuntime::AttachedBegin(attached) => {
                assert!(attached.replay.is_empty());
                state = State::new();
            }
            FromRuntime::Replay(piece) => {
                for (at, body) in piece.items {
                    state.apply(at, &body).unwrap();
                }
            }
            FromRuntime::Event(happened) => {
                let joined = matches!(
                    happened.event.body,
                    Body::Message(MessageEvent::Delta { .. }) | Body::Tool(ToolEvent::Progress { .. })
                );
                let (got, due) = (happened.event.seq, state.seq.next());
                assert!(got == due || joined && got > due, "event {} came where {} was due", got.0, due.0);
                state.follow(&happened.event).unwrap();
            }
            FromRuntime::Hash(at) if at.seq == state.seq => {
                assert_eq!(at.hash, Some(state.hash().to_string()));
            }
            _ => {}
        }
        if state.runs.last().is_some_and(|run| run.ended.is_some()) {
            break;
        }
    }
    (state, was_current)
}

#[tokio::test]
async fn a_ui_that_never_reads_is_let_go_before_it_costs_memory_and_goes_on_where_it_was() {
    let mut bench = Bench::new().await;
    let brief = bench.begin().await;
    let still = bench.connect(None).await;
    while bench.attached().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    let before = resident();
    for number in 0..PIECES {
        // Two kinds in turn, of which the session keeps the newest only: nothing can be merged, and nothing else grows.
        let text = format!("{number}{}", " ".repeat(PIECE));
        let body = if number % 2 == 0 {
            Body::Run(RunEvent::Retrying { attempt: 1, max: 2, delay_ms: 3, reason: text, kind: None })
        } else {
            Body::Note(NoteEvent::PlanChanged { items: vec![PlanItem { text, state: PlanState::Active }] })
        };
        bench.happened(&brief, body).await;
    }
    let grown = resident().zip(before).map(|(after, before)| after.saturating_sub(before));
    assert!(grown.is_none_or(|grown| grown < MAX_GROWTH), "grown by {} MiB", grown.unwrap_or(0) >> 20);
    assert_eq!(bench.attached().await.len(), 1, "the UI that does not read is gone, the other stays");
    // What was on its way still reaches the UI when it reads at last; then the link ends.
    let (known, _) = read_on(still, State::new()).await;
    assert!(known.seq > Seq(0) && known.seq < bench.state.seq, "{:?}", known.seq);
    let hash = Some(known.hash().to_string());
    let back = bench.connect(Some(Cursor { session: session(), seq: known.seq, hash })).await;
    let reading = tokio::spawn(read_on(back, known));
    bench.end(&brief).await;
    let (state, _) = reading.await.unwrap();
    assert_eq!(state.hash(), bench.state.hash());
    assert_eq!(state, bench.state);
}

#[tokio::test]
async fn words_that_stream_past_a_ui_that_does_not_read_are_merged_and_none_is_lost() {
    let mut bench = Bench::new().await;
    let brief = bench.begin().await;
    let (step, message) = bench.message(&brief).await;
    let slow = bench.connect(None).await;
    while bench.attached().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    // More pieces than may wait one by one, on the link and in the hub together.
    for number in 0..27_000 {
        let (kind, text) = (TextKind::Text, format!("{number} "));
        bench.happening(&brief, Body::Message(MessageEvent::Delta { message, kind, text })).await;
    }
    assert_eq!(bench.attached().await.len(), 2, "nobody had to go");
    bench.happened(&brief, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete })).await;
    bench.happened(&brief, Body::Run(RunEvent::StepEnded { step, usage: Usage::default() })).await;
    bench.end(&brief).await;
    let (state, _) = read_on(slow, State::new()).await;
    assert_eq!(state, bench.state);
}
