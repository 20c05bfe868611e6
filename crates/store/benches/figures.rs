//! The figures that the store promises, as ratios and counts: `cargo bench -p store`, or only `-- append`, `open`, `list`, `search` or `size`;
//! `--short` measures little and judges counts only. Ends with a failure when a promise is broken.

use domain::ask::Scope;
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent};
use domain::ids::{MessageId, Millis, RunId, Seq, SessionId, StepId, ToolRunId, TurnId};
use domain::state::State;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Durability, Listing, SqliteStore, Store};
use testkit::{Bars, Depth};

/// A figure's name and how it is measured.
type Figure = (&'static str, fn(&Size, &mut Bars) -> Done);
type Done = Result<(), Box<dyn std::error::Error>>;

/// Tokens per second of the stream that is appended.
const RATE: u64 = 1_000;
/// CPU that appending may take at that rate, of one core.
const APPEND_BAR: f64 = 0.05;
/// Opening a session and its last page, beside folding its whole log.
const OPEN_BAR: f64 = 0.05;
/// The file in hundredths of the records in it.
const FILE_BAR: u64 = 130;
/// Events of a page.
const PAGE: usize = 200;

/// How much is measured.
struct Size {
    /// Seconds of the stream.
    seconds: u64,
    /// Events of the large session.
    events: usize,
    /// Sessions of the long list.
    sessions: u64,
    /// Each is measured so often; the quickest counts, since whatever else the machine does can only slow it.
    times: usize,
}

const WHOLE: Size = Size { seconds: 30, events: 100_000, sessions: 10_000, times: 15 };
const SHORT: Size = Size { seconds: 2, events: 5_000, sessions: 200, times: 2 };

fn main() -> Done {
    let (depth, parts) = Depth::from_args();
    let size = if depth == Depth::Whole { WHOLE } else { SHORT };
    let mut bars = Bars::new(depth);
    let figures: [Figure; 5] =
        [("append", append), ("open", open), ("list", list), ("search", search), ("size", file_size)];
    for (name, measure) in figures {
        if parts.is_empty() || parts.iter().any(|part| part == name) {
            measure(&size, &mut bars)?;
        }
    }
    bars.end();
    Ok(())
}

/// CPU that this thread has used.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn quickest(
    times: usize,
    mut measure: impl FnMut() -> Result<Duration, Box<dyn std::error::Error>>,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut best = Duration::MAX;
    for _ in 0..times {
        best = best.min(measure()?);
    }
    Ok(best)
}

/// A conversation as it is held: prompts, streamed answers, a tool now and then.
struct Talk {
    state: State,
    events: Vec<Event>,
    seed: u64,
}

const WORDS: &[&str] = &[
    "the ", "store ", "keeps ", "every ", "event ", "of ", "a ", "session ", "in ", "order", ", ", "and ",
    "when ", "it ", "is ", "opened ", "again ", "nothing ", "that ", "was ", "told ", "has ", "been ",
    "lost", ". ", "fn ", "let ", "mut ", "state ", "= ", "State", "::new", "();", "\n", "for ", "event ",
    "in ", "&", "events ", "{\n", "    ", "}\n", "bridge ", "lantern ", "orchard ", "quarry ", "whistle ",
    "copper ", "meadow ", "harbour ", "velvet ", "thunder ",
];

impl Talk {
    fn new() -> Talk {
        let mut talk = Talk { state: State::new(), events: Vec::new(), seed: 1 };
        talk.tell(Body::Session(SessionEvent::Opened {
            cwd: "/work".into(),
            project: "/work".into(),
            parent: None,
        }));
        talk
    }

    fn id(&self) -> u64 {
        self.state.last_id + 1
    }

    fn word(&mut self) -> &'static str {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(self.seed >> 33) as usize % WORDS.len()]
    }

    fn tell(&mut self, body: Body) {
        let seq = self.state.seq.next();
        let event = Event { seq, at: Millis(1_763_000_000_000 + seq.0 * 3), body };
        if self.state.fold(&event).is_ok() {
            self.events.push(event);
        }
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect()
    }

    fn message(&mut self, role: Role, turn: TurnId, step: Option<StepId>) -> MessageId {
        let (message, parent) = (MessageId(self.id()), self.state.leaf);
        self.tell(Body::Message(MessageEvent::Started { message, parent, role, turn: Some(turn), step }));
        message
    }

    /// One run: a prompt, an answer of so many tokens with a tool in the middle.
    fn run(&mut self, tokens: usize) {
        let run = RunId(self.id());
        self.tell(Body::Run(RunEvent::Started { run }));
        let turn = TurnId(self.id());
        self.tell(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        let prompt = self.message(Role::User, turn, None);
        let text = self.text(20);
        self.tell(Body::Message(MessageEvent::PartAdded { message: prompt, part: Part::Text(text) }));
        self.tell(Body::Message(MessageEvent::Ended { message: prompt, finish: Finish::Complete }));
        for half in 0..2 {
            let step = StepId(self.id());
            self.tell(Body::Run(RunEvent::StepStarted { turn, step, model: None }));
            let message = self.message(Role::Assistant, turn, Some(step));
            for _ in 0..tokens / 2 {
                let text = self.word().to_owned();
                self.tell(Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text }));
            }
            let tool = ToolRunId(self.id());
            if half == 0 {
                let args = Json::verbatim(r#"{"path":"src/main.rs"}"#);
                self.tell(Body::Tool(ToolEvent::Proposed { tool, message, name: "read".into(), args }));
            }
            self.tell(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
            if half == 0 {
                self.read(tool);
            }
            let usage = Usage { input: 900, output: tokens as u64, ..Usage::default() };
            self.tell(Body::Run(RunEvent::StepEnded { step, usage }));
        }
        self.tell(Body::Run(RunEvent::TurnEnded { turn }));
        self.tell(Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }));
    }

    fn read(&mut self, tool: ToolRunId) {
        let decision =
            Decision { allowed: true, by: Decider::Policy, scope: Scope::Once, reason: None, digest: None };
        self.tell(Body::Tool(ToolEvent::Decided { tool, decision }));
        self.tell(Body::Tool(ToolEvent::Started { tool }));
        let result = ToolResult::text(self.text(150));
        self.tell(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    }

    /// At least so many events, in runs of so many tokens.
    fn of(events: usize, tokens: usize) -> Talk {
        let mut talk = Talk::new();
        while talk.events.len() < events {
            talk.run(tokens);
        }
        talk
    }
}

/// Keeps events as the hub does: one at a time, durable ones at once, snapshots when they are due and
/// at the end.
fn keep(store: &mut SqliteStore, session: &SessionId, events: &[Event]) -> Done {
    store.create(session)?;
    let mut state = State::new();
    for event in events {
        state.fold(event)?;
        let durability = if event.body.is_durable() { Durability::Now } else { Durability::Soon };
        if store.append(session, std::slice::from_ref(event), durability)?.snapshot_due {
            store.snapshot(session, &state)?;
        }
    }
    store.snapshot(session, &state)?;
    store.close(session)?;
    Ok(())
}

fn append(size: &Size, bars: &mut Bars) -> Done {
    let talk = Talk::of(usize::try_from(RATE * size.seconds)?, 400);
    let directory = tempfile::tempdir()?;
    let mut store = SqliteStore::at(directory.path())?;
    let session = SessionId::from_number(1);
    store.create(&session)?;
    let mut state = State::new();
    let (mut used, mut since_tend) = (Duration::ZERO, 0);
    for event in &talk.events {
        state.fold(event)?;
        let durability = if event.body.is_durable() { Durability::Now } else { Durability::Soon };
        let before = cpu();
        let due = store.append(&session, std::slice::from_ref(event), durability)?.snapshot_due;
        if due {
            store.snapshot(&session, &state)?;
        }
        since_tend += 1;
        if since_tend == RATE / 2 {
            since_tend = 0;
            store.tend()?;
        }
        used += cpu().saturating_sub(before);
    }
    let tokens = talk
        .events
        .iter()
        .filter(|event| matches!(event.body, Body::Message(MessageEvent::Delta { .. })))
        .count();
    let streamed = Duration::from_secs_f64(tokens as f64 / RATE as f64);
    bars.ratio("append: CPU at 1,000 tokens/s, of one core", (used, streamed), APPEND_BAR);
    Ok(())
}

fn open(size: &Size, bars: &mut Bars) -> Done {
    let directory = tempfile::tempdir()?;
    let session = SessionId::from_number(1);
    let talk = Talk::of(size.events, 400);
    let mut store = SqliteStore::at(directory.path())?;
    keep(&mut store, &session, &talk.events)?;
    let opened = quickest(size.times, || {
        let began = Instant::now();
        let state = store.open(&session)?.state;
        let page = store.history(&session, 1, PAGE)?;
        let took = began.elapsed();
        assert!(state == talk.state && page.events.len() == PAGE);
        store.close(&session)?;
        Ok(took)
    })?;
    let folded = quickest(size.times, || {
        let began = Instant::now();
        let mut state = State::new();
        for event in store.events(&session, Seq(0), usize::MAX)? {
            state.fold(&event)?;
        }
        assert!(state == talk.state);
        Ok(began.elapsed())
    })?;
    let of = format!("of {} events, {} entries", talk.events.len(), talk.state.entries.len());
    bars.ratio(&format!("open and last page, beside folding the log {of}"), (opened, folded), OPEN_BAR);
    Ok(())
}

fn list(size: &Size, bars: &mut Bars) -> Done {
    let directory = tempfile::tempdir()?;
    let mut store = SqliteStore::at(directory.path())?;
    let mut talk = Talk::new();
    talk.run(20);
    for number in 1..=size.sessions {
        let session = SessionId::from_number(number);
        store.create(&session)?;
        // Not synced: only the lists matter here.
        store.append(&session, &talk.events, Durability::Soon)?;
        store.close(&session)?;
    }
    drop(store);
    // A table that is not there cannot be read.
    hide(directory.path(), "ALTER TABLE log RENAME TO hidden")?;
    let store = SqliteStore::at(directory.path())?;
    let began = Instant::now();
    let all = store.list(&Listing::default())?.len();
    let took = began.elapsed();
    let newest = quickest(size.times, || {
        let began = Instant::now();
        store.list(&Listing { limit: Some(20), ..Listing::default() })?;
        Ok(began.elapsed())
    })?;
    // That it could be made at all says that no log was read.
    bars.note(
        "list",
        &format!("{all} sessions in {took:?}, the newest 20 in {newest:?}, with all logs hidden"),
    );
    Ok(())
}

/// Sessions in which a search over all of them is at home.
const FEW: u64 = 100;
/// The first results of a search: a screen of them.
const FIRST: usize = 50;
/// First results among all sessions, beside those among a few.
const SEARCH_BAR: f64 = 2.0;
/// A search whose words are everywhere, and in no message together: there is no first result, and all of the index is read for that.
const NOTHING_BAR: Duration = Duration::from_millis(100);
/// Words as somebody types them: the beginning of many, one that is everywhere, two of them, two that never meet, one that a single session
/// has, none.
const TYPED: &[&str] =
    &["st", "session", "event bridge", "lan har", "store opened", "number7x", "nosuchword"];

/// Sessions as a person has them after years: each a few runs, and a word of its own.
fn library(sessions: u64) -> Result<tempfile::TempDir, Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let mut store = SqliteStore::at(directory.path())?;
    let mut talk = Talk::new();
    for _ in 0..3 {
        talk.run(20);
    }
    for number in 1..=sessions {
        let session = SessionId::from_number(number);
        store.create(&session)?;
        // Not synced: only what is found matters here.
        store.append(&session, &talk.events, Durability::Soon)?;
        let title = format!("number{number}x");
        let seq = talk.state.seq.next();
        let renamed =
            Event { seq, at: talk.state.updated_at, body: Body::Session(SessionEvent::Renamed { title }) };
        store.append(&session, &[renamed], Durability::Soon)?;
        store.close(&session)?;
    }
    Ok(directory)
}

/// The first results of a search over all sessions: as quick among ten thousand as among a hundred.
fn search(size: &Size, bars: &mut Bars) -> Done {
    let (few, many) = (library(FEW)?, library(size.sessions)?);
    let (few, many) = (SqliteStore::at(few.path())?, SqliteStore::at(many.path())?);
    for typed in TYPED {
        let listing = Listing { search: Some((*typed).to_owned()), limit: Some(FIRST), ..Listing::default() };
        let first = |store: &SqliteStore| {
            quickest(size.times, || {
                let began = Instant::now();
                store.list(&listing)?;
                Ok(began.elapsed())
            })
        };
        let (of, beside) = (many.list(&listing)?.len(), size.sessions);
        let name = format!("search: first {of} for `{typed}` in {beside} sessions, beside {FEW}");
        let took = first(&many)?;
        if of == 0 {
            bars.timed(
                &name,
                &format!("{took:.2?}"),
                &format!("at most {NOTHING_BAR:?}"),
                took <= NOTHING_BAR,
            );
        } else {
            bars.ratio(&name, (took, first(&few)?), SEARCH_BAR);
        }
    }
    Ok(())
}

fn hide(directory: &Path, statement: &str) -> Done {
    let connection = rusqlite::Connection::open(directory.join("sessions.db"))?;
    Ok(connection.execute_batch(statement)?)
}

fn file_size(size: &Size, bars: &mut Bars) -> Done {
    let directory = tempfile::tempdir()?;
    let session = SessionId::from_number(1);
    let talk = Talk::of(size.events, 400);
    let mut store = SqliteStore::at(directory.path())?;
    keep(&mut store, &session, &talk.events)?;
    drop(store);
    let file: u64 = std::fs::read_dir(directory.path())?
        .map(|entry| Ok(entry?.metadata()?.len()))
        .sum::<std::io::Result<u64>>()?;
    let records: usize = talk.events.iter().map(|event| record::encode(event).len() + 1).sum();
    let said: usize = talk.events.iter().map(|event| said(&event.body)).sum();
    let times = file as f64 / said as f64;
    bars.note(
        "size",
        &format!(
            "file {file}, records {records}, bare text {said} bytes ({times:.1} x, with index and snapshot)"
        ),
    );
    bars.counted("size: file, in hundredths of the records in it", file * 100 / records as u64, FILE_BAR);
    Ok(())
}

/// The bytes that somebody said.
fn said(body: &Body) -> usize {
    match body {
        Body::Message(
            MessageEvent::Delta { text, .. } | MessageEvent::PartAdded { part: Part::Text(text), .. },
        ) => text.len(),
        Body::Tool(ToolEvent::Proposed { args, .. }) => args.as_str().len(),
        Body::Tool(ToolEvent::Ended { result, .. }) => result.text.len(),
        _ => 0,
    }
}
