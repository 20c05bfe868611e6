//! What a frame costs, and what opening, searching and resizing do: long sessions against short ones, in one run. Ends with a failure when the bar is missed.

use domain::content::{Part, Role, TextKind};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, RunEvent, SessionEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, Seq, SessionId, TurnId};
use domain::port::{Abilities, News};
use domain::signal::Board;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{Bars, Depth, median};
use tui::Headless;

/// What a runtime tells of a session of so many entries to whoever comes to it.
fn told(entries: u64) -> News {
    let opened = Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None });
    let mut replay = vec![(Millis(0), opened)];
    let (run, turn) = (RunId(1), TurnId(2));
    replay.push((Millis(0), Body::Run(RunEvent::Started { run })));
    replay.push((Millis(0), Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt })));
    for number in 0..entries {
        let message = MessageId(number + 10);
        let parent = (number > 0).then(|| EntryId(number + 9));
        let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
        let text = format!("Message {number} with **some** text, `code` and a list:\n\n- one\n- two\n");
        replay.push((
            Millis(0),
            Body::Message(MessageEvent::Started { message, parent, role, turn: Some(turn), step: None }),
        ));
        replay.push((Millis(0), Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text) })));
        replay.push((Millis(0), Body::Message(MessageEvent::Ended { message, finish: Finish::Complete })));
    }
    let (session, board) = (SessionId::from_number(1), Board::default());
    News::Attached { session, replay, board, abilities: Abilities::all("bench") }
}

fn session(entries: u64) -> Headless {
    let mut ui = Headless::new(120, 40);
    ui.hear(told(entries));
    ui
}

/// What this process has worked so far. Other programs take their share of the hour, which would be half of a ratio.
fn worked() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.try_into().unwrap_or(0), spent.tv_nsec.try_into().unwrap_or(0))
}

fn frames(ui: &mut Headless, count: u32) -> Duration {
    let begin = Instant::now();
    for step in 0..count {
        ui.keys(if step % 8 < 4 { "<pageup>" } else { "<pagedown>" });
        ui.draw();
    }
    begin.elapsed() / count
}

fn stream(ui: &mut Headless, entries: u64) -> (Duration, Duration) {
    let message = MessageId(entries + 10);
    let mut seq = ui.state().seq.0;
    let mut tell = |ui: &mut Headless, body: Body| {
        seq += 1;
        let event = Arc::new(Event { seq: Seq(seq), at: Millis(0), body });
        ui.hear(News::Happened { session: SessionId::from_number(1), event });
    };
    let (parent, turn) = (Some(EntryId(entries + 9)), Some(TurnId(2)));
    tell(
        ui,
        Body::Message(MessageEvent::Started { message, parent, role: Role::Assistant, turn, step: None }),
    );
    let mut keys = Vec::new();
    let begin = Instant::now();
    for token in 0..4_000u32 {
        let text = if token % 60 == 59 { "word.\n\n".to_owned() } else { format!("word{token} ") };
        tell(ui, Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text }));
        if token % 16 == 0 {
            let key = Instant::now();
            ui.keys("x");
            ui.draw();
            keys.push(key.elapsed());
        }
    }
    let each = begin.elapsed() / 4_000;
    keys.sort_unstable();
    (each, keys[keys.len() * 99 / 100])
}

/// A frame of a long session costs at most this many times one of a short session.
const BAR: f64 = 2.0;
/// Rounds of each, taken in turns.
const ROUNDS: usize = 15;

/// What is done to a whole session may cost so many times as much where it is ten times as long: not more than its length, and a
/// little for what no longer fits the processor's caches.
const WHOLE_BAR: f64 = 12.0;

/// Opened and drawn, searched to its first word, resized and drawn.
fn whole(entries: u64) -> [Duration; 3] {
    let timed = |ui: &mut Headless, act: &mut dyn FnMut(&mut Headless)| {
        let begin = worked();
        act(ui);
        ui.draw();
        worked() - begin
    };
    let (mut ui, mut records) = (Headless::new(120, 40), Some(told(entries)));
    let opened = timed(&mut ui, &mut |ui| records.take().into_iter().for_each(|told| ui.hear(told)));
    let searched = timed(&mut ui, &mut |ui| ui.keys("<ctrl-f>Message 1 <enter>"));
    ui.keys("<esc>");
    let resized = timed(&mut ui, &mut |ui| ui.resize(77, 30));
    [opened, searched, resized]
}

/// Opening, searching and resizing grow no faster than the session.
fn grows_with_its_length(depth: Depth, bars: &mut Bars) {
    let (few, many) = sizes(depth);
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for _ in 0..depth.times(5) {
        small.push(whole(few));
        large.push(whole(many));
    }
    let middle = |all: &[[Duration; 3]], at: usize| median(all.iter().map(|times| times[at]).collect());
    for (at, what) in ["opened", "searched", "resized"].into_iter().enumerate() {
        let what = format!("{many} entries {what}, beside {few}");
        bars.ratio(&what, (middle(&large, at), middle(&small, at)), WHOLE_BAR);
    }
}

/// Entries of a long session, and of one ten times as long.
fn sizes(depth: Depth) -> (u64, u64) {
    if depth == Depth::Whole { (10_000, 100_000) } else { (100, 1_000) }
}

fn main() {
    let (depth, _) = Depth::from_args();
    let mut bars = Bars::new(depth);
    grows_with_its_length(depth, &mut bars);
    let entries = sizes(depth).1;
    let (mut short, mut long) = (session(100), session(entries));
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    for _ in 0..depth.times(ROUNDS) {
        quick.push(frames(&mut short, 100));
        slow.push(frames(&mut long, 100));
    }
    bars.ratio(
        &format!("a frame of {entries} entries, beside one of 100"),
        (median(slow), median(quick)),
        BAR,
    );
    for (entries, ui) in [(100, &mut short), (entries, &mut long)] {
        ui.keys("<ctrl-end>");
        let (token, key) = stream(ui, entries);
        bars.note(&format!("{entries} entries"), &format!("token {token:?}, key to drawn frame p99 {key:?}"));
    }
    bars.end();
}
