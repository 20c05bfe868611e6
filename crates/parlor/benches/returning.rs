//! A thousand pages that return at once, as after a night's sleep or a restart of the network: `cargo bench -p parlor --bench returning`.
//!
//! The built program, as it is used: one `parlor web` and as many rooms as a thousand pages need, because a process takes 64 visitors.
//! The pages come in peace, and what the server and the rooms hold then is the measure. All of them drop and return at once with the
//! cursors that they have: first while nothing has happened, then after every session went on without them, so that each is told the
//! whole of it. It fails when a page's own fold of what it was told has another hash than the session, or when more than twice the
//! memory of peace is held at any moment. `--short` takes fewer pages. Ratios within one run; what it took is printed and judged by nobody.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench says what it found, and fails by panic"
)]

#[path = "../../web/tests/page/client.rs"]
#[allow(dead_code, reason = "shared with the tests of the server, which use more of it")]
mod client;
#[path = "../tests/page/web/world.rs"]
#[allow(dead_code, reason = "shared with the tests of the page, which use more of it")]
mod world;

use client::{Browser, Page};
use dialects::native::wire::{Attached, Cursor, FromRuntime};
use domain::ids::SessionId;
use domain::state::State;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::Depth;
use tokio::task::JoinSet;
use world::{Web, World};

/// Pages that return, and in a short run.
const PAGES: usize = 1_000;
const FEW_PAGES: usize = 75;
/// Pages of one session: its process takes 64 visitors, and whoever gathers the fleet is one.
const IN_ROOM: usize = 60;
/// Pages that come together in peace.
const IN_PEACE: usize = 25;
/// Prompts of a session before anybody looks, and the bytes of each.
const PROMPTS: usize = 10;
const PROMPT_BYTES: usize = 6_000;
/// How long a page waits before its next try, and how many it makes.
const TRY_AGAIN: Duration = Duration::from_millis(250);
const MAX_TRIES: usize = 240;

fn main() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let all = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, all);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (depth, _) = Depth::from_args();
    runtime.block_on(bench(if depth == Depth::Whole { PAGES } else { FEW_PAGES }));
}

async fn bench(count: usize) {
    let world = World::new();
    let web = world.web(&[]);
    let browser = Arc::new(web.browser().await);
    let mut sessions = Vec::new();
    for _ in 0..count.div_ceil(IN_ROOM) {
        sessions.push(Session::begin(&browser).await);
    }
    let held = Held::new(&world, &web);
    println!("{count} pages on {} sessions, each in a process of its own", sessions.len());
    let mut pages = Vec::new();
    for page in 0..count {
        let session = sessions[page / IN_ROOM].at.session.clone();
        pages.push(Seen { session, at: None, state: State::new(), page: None });
    }
    for _ in 0..count / IN_PEACE {
        let coming = pages.drain(..IN_PEACE).collect();
        pages.extend(all_come(&browser, coming).await.0);
    }
    let steady = held.now("VmRSS");
    println!("in peace: {steady}");

    for what in ["nothing has happened", "every session went on"] {
        for seen in &mut pages {
            seen.page = None;
        }
        if what.starts_with("every") {
            for session in &mut sessions {
                session.goes_on().await;
            }
        }
        held.forget_peaks();
        let began = Instant::now();
        let (come, tries) = all_come(&browser, pages).await;
        let (took, peak) = (began.elapsed(), held.now("VmHWM"));
        pages = come;
        for (page, seen) in pages.iter().enumerate() {
            let at = &sessions[page / IN_ROOM].at;
            assert_eq!(seen.at.as_ref(), Some(at), "page {page} is not current");
            assert_eq!(Some(seen.state.hash().to_string()), at.hash, "page {page} has another state");
        }
        println!("{what}: all current after {took:.1?}, with {tries} further tries; at the most: {peak}");
        peak.within_twice(&steady);
    }
}

/// A session that goes on without the pages.
struct Session {
    page: Page,
    ticket: u64,
    at: Cursor,
}

impl Session {
    async fn begin(browser: &Browser) -> Session {
        let (mut page, answer) = browser.connect(&json!({"new": {}})).await;
        assert!(answer["welcome"].is_object(), "{answer}");
        page.say(&hello(None));
        page.until("hello").await;
        page.say(&json!({"command": {"ticket": 1, "what": {"new_session": {}}}}));
        let at = serde_json::from_value(page.until("attached").await["at"].clone()).unwrap();
        let mut session = Session { page, ticket: 1, at };
        for _ in 0..PROMPTS {
            session.goes_on().await;
        }
        session
    }

    /// One more run, to its end.
    async fn goes_on(&mut self) {
        self.ticket += 1;
        let text = format!("say {} {}", self.ticket, "some words ".repeat(PROMPT_BYTES / 11));
        let prompt = json!({"prompt": {"input": {"text": text}}});
        self.page.say(&json!({"command": {"ticket": self.ticket, "what": prompt}}));
        let (mut ended, mut last) = (None, 0);
        loop {
            let said = self.page.next().await.unwrap();
            if let Some(event) = said.get("event") {
                last = event["event"]["seq"].as_u64().unwrap();
                ended = event["event"]["body"].get("run_ended").map(|_| last).or(ended);
            }
            // The proof that comes with the end of the run; what follows it is waited for as well.
            if let Some(told) = said.get("hash")
                && ended.is_some()
                && told["seq"] == json!(last)
            {
                self.at = serde_json::from_value(told.clone()).unwrap();
                return;
            }
        }
    }
}

fn hello(to: Option<(&SessionId, Option<&Cursor>)>) -> Value {
    let mut hello = json!({"protocol": 1, "revision": 2, "name": "page", "version": "0.1.0", "capabilities": ["hash", "cursor"]});
    if let Some((session, cursor)) = to {
        hello["session"] = json!(session.as_str());
        hello["cursor"] = json!(cursor);
    }
    json!({"hello": hello})
}

/// What a page knows of its session.
struct Seen {
    session: SessionId,
    at: Option<Cursor>,
    state: State,
    page: Option<Page>,
}

/// All of them at once, each until it is current; and how many tries had to be made again.
async fn all_come(browser: &Arc<Browser>, pages: Vec<Seen>) -> (Vec<Seen>, usize) {
    let again = Arc::new(AtomicUsize::new(0));
    let mut coming = JoinSet::new();
    for (at, mut seen) in pages.into_iter().enumerate() {
        let (browser, again) = (browser.clone(), again.clone());
        coming.spawn(async move {
            for _ in 0..MAX_TRIES {
                if let Some(page) = comes(&browser, &mut seen).await {
                    seen.page = Some(page);
                    return (at, seen);
                }
                again.fetch_add(1, Ordering::AcqRel);
                tokio::time::sleep(TRY_AGAIN).await;
            }
            panic!("page {at} did not get in");
        });
    }
    let mut come = coming.join_all().await;
    come.sort_by_key(|(at, _)| *at);
    (come.into_iter().map(|(_, seen)| seen).collect(), again.load(Ordering::Acquire))
}

/// One try, as the page makes it. `None` when it was sent away.
async fn comes(browser: &Browser, seen: &mut Seen) -> Option<Page> {
    let (mut page, nonce) = browser.challenged().await.ok()?;
    page.say(&browser.shows(&nonce, &browser.host, &json!({"session": seen.session.as_str()})));
    page.next().await?.get("welcome")?;
    page.say(&hello(Some((&seen.session, seen.at.as_ref()))));
    let mut fresh = State::new();
    let mut at = None;
    loop {
        let line = page.next().await?;
        match serde_json::from_value(line).unwrap() {
            FromRuntime::Attached(Attached { at, current, replay, .. }) => {
                if !current {
                    seen.state = folded(fresh, replay);
                }
                seen.at = Some(at);
                return Some(page);
            }
            FromRuntime::AttachedBegin(begun) => at = Some(begun.at),
            FromRuntime::Replay(piece) => fresh = folded(fresh, piece.items),
            FromRuntime::AttachedEnd(_) => {
                (seen.state, seen.at) = (fresh, at);
                return Some(page);
            }
            _ => {}
        }
    }
}

fn folded(mut state: State, told: Vec<(domain::ids::Millis, domain::event::Body)>) -> State {
    for (at, body) in told {
        state.apply(at, &body).unwrap();
    }
    state
}

/// The processes whose memory counts.
struct Held {
    server: u32,
    rooms: Vec<u32>,
}

/// What they hold, in KiB.
struct Memory {
    server: u64,
    rooms: u64,
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "server {:.1} MiB, rooms {:.1} MiB",
            self.server as f64 / 1024.0,
            self.rooms as f64 / 1024.0
        )
    }
}

impl Memory {
    fn within_twice(&self, steady: &Memory) {
        assert!(self.server <= 2 * steady.server, "the server held {self}, in peace {steady}");
        assert!(self.rooms <= 2 * steady.rooms, "the rooms held {self}, in peace {steady}");
    }
}

impl Held {
    fn new(world: &World, web: &Web) -> Held {
        Held { server: web.pid(), rooms: world.rooms() }
    }

    /// What stands under this name; peaks of several processes are added up as if they came together.
    fn now(&self, name: &str) -> Memory {
        let of = |pid: u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap().split_whitespace().next().unwrap().parse::<u64>().unwrap()
        };
        Memory { server: of(self.server), rooms: self.rooms.iter().map(|pid| of(*pid)).sum() }
    }

    fn forget_peaks(&self) {
        for pid in self.rooms.iter().chain([&self.server]) {
            std::fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
        }
    }
}
