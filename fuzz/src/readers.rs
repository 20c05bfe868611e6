//! What reads bytes that others wrote, apart from the wires: the framing, the shell's reader, kept records, Markdown.

use crate::role::SESSION;
use domain::event::Outcome;
use domain::port::{Abilities, News};
use domain::signal::Board;
use export::Destination;
use roles::Greeting;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use testkit::bench::{RuntimeBench, session};
use tools::shell::{Surroundings, judge};
use tui::Headless;
use wire::lines::{Frame, Framer};

/// The cap of the framer under test, so small that inputs of a few bytes meet it.
const CAP: usize = 64;

/// Whatever the pieces in which bytes come, the frames are the same, and nothing is held beyond the cap.
pub(crate) fn framer(bytes: &[u8]) {
    let mut whole = Framer::with_cap(CAP);
    whole.push(bytes);
    let whole: Vec<Frame> = std::iter::from_fn(|| whole.finish()).collect();
    let mut pieces = Framer::with_cap(CAP);
    let mut seen = Vec::new();
    for piece in bytes.chunks(usize::from(bytes.first().copied().unwrap_or(1)).max(1)) {
        pieces.push(piece);
        seen.extend(std::iter::from_fn(|| pieces.next()));
        assert!(pieces.held() <= CAP + piece.len(), "held {} bytes", pieces.held());
    }
    seen.extend(std::iter::from_fn(|| pieces.finish()));
    assert_eq!(whole, seen);
}

/// A place without a file system, so that an input means the same everywhere.
struct Nowhere;

impl Surroundings for Nowhere {
    fn workdir(&self) -> &Path {
        Path::new("/w")
    }
    fn variable(&self, _: &str) -> Option<&OsStr> {
        None
    }
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        Some(Path::new("/w").join(path))
    }
    fn resolve(&self, text: &str) -> Option<PathBuf> {
        self.follow(Path::new(text))
    }
    fn inside(&self, path: &Path) -> bool {
        path.starts_with("/w")
    }
    fn readable(&self, path: &Path) -> bool {
        self.inside(path)
    }
    fn steering(&self, path: &Path) -> Option<String> {
        path.ends_with(".git").then(|| ".git".to_owned())
    }
    fn writable(&self) -> &[PathBuf] {
        &[]
    }
    fn digest(&self, _: &Path) -> Option<String> {
        None
    }
}

/// A command line is judged, and what only looks here has no doubt in it.
pub(crate) fn shell(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    let judged = judge(line, &Nowhere);
    if judged.read_only() {
        assert!(judged.looks(), "read-only, and does not only look: {line:?}");
    }
}

/// A session as a file: it is refused, or written again it is read again as the same.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let place = Destination { cwd: "/w".to_owned(), project: "/w".to_owned() };
    if let Ok(first) = export::read(text, &place) {
        let again = export::jsonl(&session(SESSION), &first.state, &first.events);
        let second = export::read(&again, &place).expect("what we wrote can be read");
        assert_eq!(first.state.hash(), second.state.hash());
    }
}

/// An answer in Markdown on a screen, whole and as it streams: it is drawn, and ends the same.
pub(crate) fn markdown(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let id = session(SESSION);
    let greeting = Greeting { version: "1".to_owned(), cwd: "/w".to_owned(), ..Greeting::default() };
    let mut bench = RuntimeBench::of(dialects::native::DIALECT.runtime_role(), id.clone(), &greeting);
    bench.opened("/w");
    bench.begin("?");
    let (step, message) = bench.step();
    let half = text.floor_char_boundary(text.len() / 2);
    for piece in [&text[..half], &text[half..]] {
        bench.delta(message, piece);
    }
    bench.end_message(message);
    bench.end_step(step, Default::default());
    bench.end_turn();
    bench.end(Outcome::Done);
    let mut screen = Headless::new(40, 12);
    screen.hear(News::Attached {
        session: id.clone(),
        replay: Vec::new(),
        board: Board::default(),
        abilities: Abilities::all("parlor"),
    });
    for event in bench.events().to_vec() {
        screen.hear(News::Happened { session: id.clone(), event: std::sync::Arc::new(event) });
    }
    screen.screen();
    export::html(screen.state());
    export::markdown(screen.state());
}
