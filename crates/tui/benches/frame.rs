//! What a frame costs: long sessions against short ones, in one run. Ends with a failure when the bar is missed.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use domain::content::{Part, Role, TextKind};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, RunEvent, SessionEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, Seq, SessionId, TurnId};
use domain::port::{Abilities, News};
use domain::signal::Board;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tui::Headless;

fn session(entries: u64) -> Headless {
    let mut ui = Headless::new(120, 40);
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
    ui.hear(News::Attached { session, replay, board, abilities: Abilities::all("bench") });
    ui
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
    let mut seq = ui.model.world.state().seq.0;
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

fn main() {
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
    if ratio > BAR {
        std::process::exit(1);
    }
}
