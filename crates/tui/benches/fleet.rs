//! What the fleet costs: 500 sessions against 20, in one run. Ends with a failure when the bar is missed.

use domain::content::Usage;
use domain::fleet::{Doing, Fleet, FleetFact, Member};
use domain::ids::{Millis, SessionId};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{Bars, Depth, median};
use tui::Headless;

/// A frame of the large fleet costs at most this many times one of the small.
const BAR: f64 = 3.0;
/// Rounds of each, taken in turns.
const ROUNDS: usize = 300;

fn member(number: u64, doing: Doing) -> Member {
    Member {
        session: SessionId::from_number(number),
        title: format!("session {number} with a title of some length"),
        cwd: format!("/home/ann/src/project-{}", number % 40),
        project: String::new(),
        runtime: None,
        doing,
        tasks: Vec::new(),
        since: Millis(number),
        usage: Usage { cost_micros: number * 1_000, ..Usage::default() },
    }
}

/// Sessions of ten processes.
fn fleet(sessions: u64) -> Fleet {
    let mut fleet = Fleet::default();
    for number in 0..sessions {
        let pid = u32::try_from(number % 10).unwrap_or(0);
        let members = vec![member(number, Doing::Running)];
        fleet.take(FleetFact::Changed { pid, members, closed: Vec::new() });
    }
    fleet
}

/// One session changes, the rows are made anew, told, and drawn; then a key and a frame.
fn round(fleet: &mut Fleet, ui: &mut Headless, at: u64) -> (Duration, Duration) {
    let begin = Instant::now();
    let asks = Doing::Waiting { asks: at, question: "Run `make`?".to_owned(), ask: None };
    fleet.take(FleetFact::Changed { pid: 3, members: vec![member(3, asks)], closed: Vec::new() });
    ui.survey(Arc::new(fleet.rows()));
    ui.draw();
    let told = begin.elapsed();
    let begin = Instant::now();
    ui.keys(if at % 8 < 4 { "<down>" } else { "<pagedown>" });
    ui.draw();
    (told, begin.elapsed())
}

fn main() {
    let (depth, _) = Depth::from_args();
    let mut bars = Bars::new(depth);
    let mut all: Vec<(Fleet, Headless, Vec<Duration>, Vec<Duration>)> =
        [20, 500].map(|sessions| (fleet(sessions), Headless::new(120, 40), Vec::new(), Vec::new())).into();
    for at in 0..depth.times(ROUNDS) as u64 {
        for (fleet, ui, told, keys) in &mut all {
            let (one, other) = round(fleet, ui, at);
            told.push(one);
            keys.push(other);
        }
    }
    let mut figures = all
        .into_iter()
        .map(|(_, _, told, keys)| (median(told), median(keys)))
        .collect::<Vec<_>>()
        .into_iter();
    let (few, many) = (figures.next().unwrap_or_default(), figures.next().unwrap_or_default());
    bars.ratio("a key in a fleet of 500 sessions, beside one of 20", (many.1, few.1), BAR);
    bars.note("a change told and drawn", &format!("{:?} against {:?}", many.0, few.0));
    bars.end();
}
