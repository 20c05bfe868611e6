//! What a frame costs, and what opening, searching and resizing do: long sessions against short ones, in one run. Ends with a failure when the bar is missed.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use domain::content::{Part, Role, TextKind};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, RunEvent, SessionEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, Seq, SessionId, TurnId};
use domain::port::{Abilities, News};
use domain::signal::Board;
use std::sync::Arc;
use std::time::{Duration, Instant};
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

/// Whether opening, searching and resizing grow no faster than the session.
fn grows_with_its_length() -> bool {
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        small.push(whole(10_000));
        large.push(whole(100_000));
    }
    let middle = |all: &[[Duration; 3]], at: usize| {
        let mut times: Vec<Duration> = all.iter().map(|times| times[at]).collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let mut holds = true;
    for (at, what) in ["opened", "searched", "resized"].into_iter().enumerate() {
        let (ten, hundred) = (middle(&small, at), middle(&large, at));
        let ratio = hundred.as_secs_f64() / ten.as_secs_f64();
        let word = if ratio <= WHOLE_BAR { "ok    " } else { "MISSED" };
        println!(
            "{word} 100,000 entries {what}: {ratio:.2} × 10,000 ({hundred:?} against {ten:?} of work) (bar: {WHOLE_BAR} ×)"
        );
        holds &= ratio <= WHOLE_BAR;
    }
    holds
}

fn main() {
    let linear = grows_with_its_length();
    let (mut short, mut long) = (session(100), session(100_000));
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        quick.push(frames(&mut short, 100));
        slow.push(frames(&mut long, 100));
    }
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (quick, slow) = (middle(&mut quick), middle(&mut slow));
    let ratio = slow.as_secs_f64() / quick.as_secs_f64();
    let word = if ratio <= BAR { "ok    " } else { "MISSED" };
    println!(
        "{word} a frame of 100,000 entries: {ratio:.2} × one of 100 ({slow:?} against {quick:?}) (bar: 2 ×)"
    );
    for (entries, ui) in [(100, &mut short), (100_000, &mut long)] {
        ui.keys("<ctrl-end>");
        let (token, key) = stream(ui, entries);
        println!("       {entries} entries: token {token:?}, key to drawn frame p99 {key:?}");
    }
    if ratio > BAR || !linear {
        std::process::exit(1);
    }
}
