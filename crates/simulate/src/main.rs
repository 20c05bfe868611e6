//! `cargo xtask simulate`: plays schedules on all cores and tells of each that breaks a law, shortened, with the steps that led there.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people: its output is its work"
)]

use simulate::{Found, Plan, Tally, run, shortest, traced};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Schedules that are played unless it is said.
const SCHEDULES: u64 = 100_000;
/// After so many that break a law no more are played.
const MOST_FOUND: usize = 5;

const HELP: &str = "\
cargo xtask simulate [--shared] [--seeds N] [--from SEED] | [--shared] --seed SEED

  --seeds N     play so many schedules (100000)
  --from SEED   the first of them (0)
  --seed SEED   play this one and tell each of its steps
  --shared      on a store that processes of several machines share
";

/// What is asked for.
struct Wanted {
    is_shared: bool,
    what: Schedules,
}

enum Schedules {
    One(u64),
    Many { from: u64, count: u64 },
}

fn wanted(mut words: impl Iterator<Item = String>) -> Option<Wanted> {
    let (mut from, mut count, mut one, mut is_shared) = (0, SCHEDULES, None, false);
    while let Some(word) = words.next() {
        if word == "--shared" {
            is_shared = true;
            continue;
        }
        let number = words.next()?.parse().ok()?;
        match word.as_str() {
            "--seeds" => count = number,
            "--from" => from = number,
            "--seed" => one = Some(number),
            _ => return None,
        }
    }
    let what = one.map_or(Schedules::Many { from, count }, Schedules::One);
    Some(Wanted { is_shared, what })
}

fn main() -> ExitCode {
    let words = std::env::args_os().filter_map(|word| word.into_string().ok()).skip(1);
    let Some(Wanted { is_shared, what }) = wanted(words) else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    let plan = |seed| if is_shared { Plan::of(seed).shared() } else { Plan::of(seed) };
    match what {
        Schedules::One(seed) => tell(&plan(seed)),
        Schedules::Many { from, count } => play((from, count), &plan),
    }
}

/// Plays one and tells its steps.
fn tell(plan: &Plan) -> ExitCode {
    let (played, steps) = traced(plan);
    match played {
        Ok(tally) => {
            steps.iter().for_each(|(at, step)| println!("{at:>8} ms  {step}"));
            println!("{plan}: no law is broken; {}", words(&tally));
            ExitCode::SUCCESS
        }
        Err(found) => {
            println!("{found}");
            if let Some(shortest) = shortest(plan).filter(|shortest| shortest.plan != *plan) {
                println!("\nwith fewer faults:\n{shortest}");
            }
            ExitCode::FAILURE
        }
    }
}

fn play((from, count): (u64, u64), plan: &(impl Fn(u64) -> Plan + Sync)) -> ExitCode {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, began) = (AtomicU64::new(from), Instant::now());
    let found = Mutex::new(Vec::<Found>::new());
    let many = || found.lock().unwrap_or_else(PoisonError::into_inner).len() >= MOST_FOUND;
    let plays = || {
        let mut sum = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from.saturating_add(count) || many() {
                return sum;
            }
            match run(&plan(seed)) {
                Ok(tally) => sum = sum + tally,
                Err(one) => found.lock().unwrap_or_else(PoisonError::into_inner).push(*one),
            }
        }
    };
    let sum = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(plays)).collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .fold(Tally::default(), |sum, one| sum + one)
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for one in &found {
        let shortest = shortest(&one.plan).unwrap_or_else(|| one.clone());
        let shared = if one.plan.is_shared { "--shared " } else { "" };
        println!("{shortest}\nagain: cargo xtask simulate {shared}--seed {}\n", one.plan.seed);
    }
    let played = next.into_inner().min(from.saturating_add(count)) - from;
    let took = began.elapsed().as_secs_f64();
    println!("{played} schedules in {took:.1} s, {} broke a law; {}", found.len(), words(&sum));
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn words(tally: &Tally) -> String {
    let Tally { kept, told, settled, tools, killed, millis } = tally;
    let hours = *millis / 3_600_000;
    format!(
        "{kept} events kept, {told} told, {settled} commands settled, {tools} tools acted, {killed} processes killed, {hours} h of simulated time"
    )
}
