//! Three UIs on one session that drop their links and return at random while a run streams: none misses anything, none hears
//! anything twice, and at the end all have the same state.

use crate::bench;
use crate::crash::stage;
use dialects::native::wire::{Cursor, FromRuntime, FromUi, Hello, Wanted};
use domain::ask::{Answer, Scope};
use domain::command::{Command, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body, MessageEvent, ToolEvent};
use domain::ids::{Millis, Seq, SessionId};
use domain::port::{News, Ticket};
use domain::state::{State, StateHash};
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::{Answers, Lane};
use std::path::Path;
use store::MemoryStore;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// How many conversations, and with `--slow`.
const SEEDS: u64 = 60;
const SLOW_SEEDS: u64 = 1_000;
/// The UIs of one conversation.
const UIS: u64 = 3;
/// Steps of the run, and words that each streams.
const STEPS: u32 = 4;
const WORDS: u32 = 40;

/// Text that comes in pieces with time between, so that links drop in the middle of messages.
fn script() -> String {
    let script = stage::script(STEPS, WORDS);
    script.replace("word7 \"", "word7 \" | pause 3ms").replace("word23 \"", "word23 \" | pause 5ms")
}

/// A UI that is there, then not, then there again.
struct Guest {
    session: SessionId,
    state: State,
    random: stage::Random,
    seen: Counts,
}

/// What happened to all guests, so that the test can tell that it tested something.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    drops: u64,
    mid_message: u64,
    with_open_ask: u64,
    current: u64,
    hashes: u64,
}

struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    ticket: u64,
}

impl Wire {
    async fn say(&mut self, line: &FromUi) -> std::io::Result<()> {
        let line = serde_json::to_string(line).expect("a line") + "\n";
        self.out.write_all(line.as_bytes()).await
    }

    async fn hear(&mut self) -> FromRuntime {
        let line = self.lines.next_line().await.expect("a line").expect("the hub stays");
        serde_json::from_str(&line).expect("a native line")
    }

    async fn want(&mut self, what: Command) -> std::io::Result<()> {
        self.ticket += 1;
        self.say(&FromUi::Command(Wanted { ticket: Ticket(self.ticket), target: Target::Current, what }))
            .await
    }
}

impl Guest {
    fn cursor(&self) -> Option<Cursor> {
        let hash = Some(self.state.hash().to_string());
        (self.state.seq > Seq(0)).then(|| Cursor { session: self.session.clone(), seq: self.state.seq, hash })
    }

    async fn connect(&mut self, hub: &Hub, place: &Path) -> Wire {
        let guest = bench::guest(dialects::native::DIALECT, place, Vec::new());
        let end = bench::serve(hub, guest, &[Lane::MAIN]).await.remove(0);
        let (read, out) = tokio::io::split(end);
        let mut wire = Wire { lines: BufReader::new(read).lines(), out, ticket: 0 };
        let hello = Hello {
            protocol: dialects::native::PROTOCOL,
            revision: dialects::native::REVISION,
            capabilities: ["hash", "cursor", "answers"].map(str::to_owned).to_vec(),
            session: Some(self.session.clone()),
            // Some forget everything between two visits.
            cursor: self.cursor().filter(|_| self.random.below(3) > 0),
            ..Hello::default()
        };
        wire.say(&FromUi::Hello(hello)).await.expect("the hub listens");
        wire
    }

    /// Comes and goes until the run is over; gives the state it ends with.
    async fn live(mut self, hub: Hub, place: std::path::PathBuf) -> (State, Counts) {
        loop {
            let mut wire = self.connect(&hub, &place).await;
            let stays = self.random.below(70);
            for _ in 0..stays {
                let line = wire.hear().await;
                let snapshot = matches!(line, FromRuntime::Attached(_));
                self.hear(&mut wire, line).await;
                if self.is_over() {
                    // A snapshot came with its hash; after the last event one follows.
                    let before = self.seen.hashes;
                    while !snapshot && self.seen.hashes == before {
                        let line = wire.hear().await;
                        self.hear(&mut wire, line).await;
                    }
                    return (self.state, self.seen);
                }
            }
            self.seen.drops += 1;
            self.seen.mid_message += u64::from(!self.state.open_messages().is_empty());
            self.seen.with_open_ask += u64::from(!self.state.asks.is_empty());
            drop(wire);
            tokio::time::sleep(std::time::Duration::from_millis(self.random.below(8))).await;
        }
    }

    fn is_over(&self) -> bool {
        self.state.runs.last().is_some_and(|run| run.ended.is_some())
    }

    async fn hear(&mut self, wire: &mut Wire, line: FromRuntime) {
        match line {
            FromRuntime::Attached(attached) => {
                assert_eq!(attached.at.session, self.session);
                if attached.current {
                    self.seen.current += 1;
                    assert_eq!(attached.at.seq, self.state.seq, "what a cursor names is what one has");
                } else {
                    let before = self.state.seq;
                    self.state = folded(attached.replay);
                    assert!(self.state.seq >= before, "a snapshot never goes back");
                }
                assert_eq!(attached.at.seq, self.state.seq);
                assert_eq!(attached.at.hash, Some(self.state.hash().to_string()));
                self.answer(wire).await;
            }
            FromRuntime::Event(happened) => {
                let event = happened.event;
                assert!(event.seq > self.state.seq, "event {} came twice", event.seq.0);
                let joined = matches!(
                    event.body,
                    Body::Message(MessageEvent::Delta { .. }) | Body::Tool(ToolEvent::Progress { .. })
                );
                assert!(joined || event.seq == self.state.seq.next(), "a gap before event {}", event.seq.0);
                self.state.follow(&event).expect("it fits");
                if matches!(event.body, Body::Ask(AskEvent::Opened(_))) {
                    self.answer(wire).await;
                }
            }
            FromRuntime::Hash(at) => {
                if at.seq == self.state.seq {
                    self.seen.hashes += 1;
                    assert_eq!(at.hash, Some(self.state.hash().to_string()), "at event {}", at.seq.0);
                }
            }
            FromRuntime::Hello(_) | FromRuntime::Settled(_) | FromRuntime::Signal(_) => {}
            other => panic!("unexpected: {other:?}"),
        }
    }

    /// Answers what is open, mostly; the others may be quicker.
    async fn answer(&mut self, wire: &mut Wire) {
        let asks: Vec<_> = self.state.asks.iter().map(|ask| ask.id).collect();
        for ask in asks {
            if self.random.below(2) == 0 {
                let answer = Answer::Allow { scope: Scope::Once, digest: None };
                wire.want(Command::Answer { ask, answer }).await.expect("the hub listens");
            }
        }
    }
}

fn folded(replay: Vec<(Millis, Body)>) -> State {
    let mut state = State::new();
    for (at, body) in replay {
        state.apply(at, &body).expect("a replay applies");
    }
    state
}

/// A UI that never leaves, and hears every event; it begins the run, and answers what the others leave.
async fn anchor(ui: LocalUi) -> State {
    let LocalUi { mut news, port } = ui;
    let prompt =
        Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
    port.command(Ticket(1), Target::Current, prompt).await.expect("the hub runs");
    let mut state = State::new();
    loop {
        let wait = std::time::Duration::from_millis(40);
        match tokio::time::timeout(wait, news.recv()).await {
            Ok(Some(News::Attached { replay, .. })) => state = folded(replay),
            Ok(Some(News::Happened { event, .. })) => state.follow(&event).expect("it fits"),
            Ok(Some(_)) => {}
            Ok(None) => panic!("the hub is gone"),
            Err(_) => {
                let asks: Vec<_> = state.asks.iter().map(|ask| ask.id).collect();
                for ask in asks {
                    let answer = Answer::Allow { scope: Scope::Once, digest: None };
                    let answer = Command::Answer { ask, answer };
                    port.command(Ticket(2), Target::Current, answer).await.expect("the hub runs");
                }
            }
        }
        if state.runs.last().is_some_and(|run| run.ended.is_some()) {
            return state;
        }
    }
}

async fn together(seed: u64) -> Counts {
    let place = tempfile::tempdir().expect("a place");
    let hub = stage::stack(&script(), Box::new(MemoryStore::default()), place.path());
    let session = SessionId::from_number(1);
    let start = Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(session.clone()) });
    let ui = hub.attach("anchor", Standing::Controller, Answers::ALL, Some(start)).await;
    let anchor = tokio::spawn(anchor(ui.expect("the hub runs")));
    let guests: Vec<_> = (0..UIS)
        .map(|number| {
            let (session, random) = (session.clone(), stage::Random(seed * UIS + number));
            let guest = Guest { session, state: State::new(), random, seen: Counts::default() };
            tokio::spawn(guest.live(hub.clone(), place.path().to_owned()))
        })
        .collect();
    let whole = anchor.await.expect("the run ends");
    let mut counts = Counts::default();
    for guest in guests {
        let (state, seen) = guest.await.expect("it comes to the end");
        let hashes: [StateHash; 2] = [state.hash(), whole.hash()];
        assert_eq!(hashes[0], hashes[1], "seed {seed}");
        assert_eq!(state, whole, "seed {seed}");
        counts.drops += seen.drops;
        counts.mid_message += seen.mid_message;
        counts.with_open_ask += seen.with_open_ask;
        counts.current += seen.current;
        counts.hashes += seen.hashes;
    }
    hub.stop().await;
    counts
}

#[test]
fn uis_that_drop_and_return_end_with_the_same_state() {
    let seeds = if std::env::var_os("PARLOR_SLOW").is_some() { SLOW_SEEDS } else { SEEDS };
    let mut all = Counts::default();
    for seed in 0..seeds {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.expect("a runtime");
        let seen = runtime.block_on(together(seed));
        runtime.shutdown_background();
        all.drops += seen.drops;
        all.mid_message += seen.mid_message;
        all.with_open_ask += seen.with_open_ask;
        all.current += seen.current;
        all.hashes += seen.hashes;
    }
    assert!(all.drops > seeds * 5 && all.mid_message > seeds, "{all:?}");
    assert!(all.with_open_ask > 0 && all.current > 0 && all.hashes > 0, "{all:?}");
    eprintln!("{seeds} conversations: {all:?}");
}
