//! What a UI of another program is given over a long time: the memory of one session that goes on for a working day (lemon), and how soon
//! a query is accepted (openagent), by its document's figure and beside an answer that needs nothing. Ends with a failure when a bar is
//! missed. `cargo bench -p parlor --bench served`, or only `-- session` or `query`; `--short` says a few prompts and judges nothing.
//! `PARLOR_BIN` names a program that is built already.

#![allow(clippy::expect_used, reason = "a bench that cannot measure ends")]

use std::process::Command;
use std::time::{Duration, Instant};
use testkit::{Bars, Depth, Home, Lines, Program, median, resident_kib};

/// Prompts of the long session, and how often it is saved and told how much it holds.
const PROMPTS: usize = 1_800;
const PROMPTS_SHORT: usize = 40;
const SAVED_EVERY: usize = 20;
/// What such a session may need.
const MEMORY_BAR_KIB: u64 = 40 * 1024;
/// What is said, in turns: words, a tool that reads, one that lists, and one that runs a command.
const SAID: &[&str] = &["say lanterns and owls", "read notes.txt", "list files", "run `echo lanterns`"];

/// Queries that are timed.
const QUERIES: usize = 101;
/// The document's figure for an accepted query.
const ACCEPTED_BAR: Duration = Duration::from_millis(10);
/// The same beside a request that is refused at once: a query is written to the disk before it is accepted.
const ACCEPTED_RATIO: f64 = 40.0;

fn main() {
    let (depth, parts) = Depth::from_args();
    let mut bars = Bars::new(depth);
    let program = Program::find();
    for (name, measure) in [("session", session as fn(&Program, Depth, &mut Bars)), ("query", query)] {
        if parts.is_empty() || parts.iter().any(|part| part == name) {
            measure(&program, depth, &mut bars);
        }
    }
    bars.end();
}

fn serve(program: &Program, home: &Home, wire: &str) -> Command {
    let notes: String = (0..200).map(|line| format!("line {line} about lanterns\n")).collect();
    std::fs::write(home.path("work/notes.txt"), notes).expect("a file");
    let words = ["--model", "offline/offline", "--policy", "full", "serve", "--dialect", wire, "--stdio"];
    home.start(program.path(), &words)
}

/// One session that goes on and on, with tools and saves.
fn session(program: &Program, depth: Depth, bars: &mut Bars) {
    let home = Home::new();
    let mut lines = Lines::start(&mut serve(program, &home, "lemon"));
    lines.until(r#""ready""#);
    let prompts = depth.pick(PROMPTS, PROMPTS_SHORT);
    for number in 1..=prompts {
        let said = SAID[number % SAID.len()];
        lines.say(&format!(r#"{{"type":"prompt","text":"{said}"}}"#));
        lines.until(r#""agent_end""#);
        if number % SAVED_EVERY == 0 {
            lines.say(r#"{"type":"save"}"#);
            let saved = lines.until(r#""save_result""#);
            assert!(saved.contains(r#""ok":true"#), "{saved}");
            lines.say(r#"{"type":"stats"}"#);
            lines.until(r#""stats""#);
        }
        if number == prompts / 2 {
            bars.note("resident KiB after half of it", &resident_kib(lines.id()).to_string());
        }
    }
    let what = format!("memory after {prompts} prompts in one session, with tools and saves");
    let kib = resident_kib(lines.id());
    let bar = format!("{MEMORY_BAR_KIB} KiB");
    bars.timed(&what, &format!("{kib} KiB"), &bar, kib <= MEMORY_BAR_KIB);
}

/// From a query to the word that it is accepted, and the same for a request that nobody knows, in turns.
fn query(program: &Program, depth: Depth, bars: &mut Bars) {
    let home = Home::new();
    let mut lines = Lines::start(&mut serve(program, &home, "openagent"));
    lines.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocol_version":"1.0","client_info":{"name":"bench","version":"0"},"capabilities":[]}}"#);
    lines.until(r#""result""#);
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for number in 1..=depth.times(QUERIES) * 2 {
        let (method, params, times) = match number % 2 {
            0 => ("agent.query", r#"{"message":"say lanterns"}"#, &mut accepted),
            _ => ("no.such", "{}", &mut refused),
        };
        let begin = Instant::now();
        lines.say(&format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#));
        lines.until(&format!(r#""id":{number},"#));
        times.push(begin.elapsed());
        if number % 2 == 0 {
            lines.until(r#""stream.complete""#);
        }
    }
    let (accepted, refused) = (median(accepted), median(refused));
    let figure = format!("{accepted:.2?}");
    bars.timed("an accepted query, by the clock", &figure, "at most 10 ms", accepted <= ACCEPTED_BAR);
    bars.ratio("an accepted query beside a refused request", (accepted, refused), ACCEPTED_RATIO);
}
