//! The built program in a pseudo-terminal, against the bars that it must hold: how many bytes a token costs, how long a key takes to
//! show while text streams in, and what it does when nothing happens. Ends with a failure when a bar is missed. `cargo bench -p tui
//! --bench screen`, or only `-- idle`, `bytes` or `echo`; `--short` measures briefly and judges counts only. How soon the screen is
//! there is measured by `cargo bench -p parlor --bench start`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on breaks")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::{Bars, Depth, Home, Program, Terminal};

/// Bytes on the terminal for a byte of streamed text, at most.
const BYTES_BAR: f64 = 3.0;
/// From a key to its echo, for all but one of a hundred.
const ECHO_BAR: Duration = Duration::from_millis(8);
/// Keys typed while text streams in.
const KEYS: usize = 400;
/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(5);
/// What the composer shows when the screen is usable.
const USABLE: &str = "ask anything";

fn main() {
    let (depth, parts) = Depth::from_args();
    let stage = Stage { program: Program::find(), home: Home::new(), depth };
    let mut bars = Bars::new(depth);
    let wants = |name: &str| parts.is_empty() || parts.iter().any(|part| part == name);
    for inline in [false, true] {
        if wants("idle") {
            idle(&stage, inline, &mut bars);
        }
        for rate in [1_000, 100].into_iter().filter(|_| wants("bytes")) {
            stream(&stage, inline, rate, &mut bars);
        }
        if wants("echo") {
            echo(&stage, inline, &mut bars);
        }
    }
    bars.end();
}

/// What is measured, where, and how thoroughly.
struct Stage {
    program: Program,
    home: Home,
    depth: Depth,
}

impl Stage {
    fn ready(&self, model: &str, inline: bool) -> Terminal {
        let mut command = self.home.start(self.program.path(), &["--model", model, mode(inline).1]);
        let mut terminal = Terminal::start(&mut command);
        terminal.until(0, USABLE);
        terminal.settle(Duration::from_millis(300));
        terminal
    }

    /// A part of something long.
    fn of(&self, long: usize) -> usize {
        if self.depth == Depth::Whole { long } else { long / 6 }
    }
}

/// A script that says `count` tokens at about `rate` a second; how many bytes of text that is.
fn script(home: &Home, count: usize, rate: usize) -> (String, usize) {
    let each = (rate / 100).max(1);
    let wait = 1_000 * each / rate;
    let (mut line, mut bytes) = (String::from("model "), 0);
    for token in 0..count {
        let text = match token % 60 {
            59 => "ends.\\n\\n".to_owned(),
            // No two rows are alike: rows that repeat would cost nothing.
            _ => format!("{}{} ", ["words", "of", "text", "some"][token % 4], token * 7_919 % 997),
        };
        bytes += text.replace("\\n", "\n").len();
        let _ = write!(line, "text \"{text}\" | ");
        if token % each == each - 1 {
            let _ = write!(line, "pause {wait}ms | ");
        }
    }
    line.push_str("text \"THE-END\"\n");
    let path = home.path("stream.script");
    fs::write(&path, line).unwrap();
    (format!("scripted/{}", path.display()), bytes)
}

fn mode(inline: bool) -> (&'static str, &'static str) {
    if inline { ("inline", "--inline") } else { ("full screen", "--full-screen") }
}

/// Bytes that reach the terminal for a byte of streamed text, with the working line ticking.
fn stream(stage: &Stage, inline: bool, rate: usize, bars: &mut Bars) {
    let count = stage.of(rate * 6);
    let (model, text) = script(&stage.home, count, rate);
    let mut pty = stage.ready(&model, inline);
    pty.send("go\r");
    pty.settle(Duration::from_millis(1));
    let (from, begin) = (pty.bytes.len(), Instant::now());
    pty.until(from, "THE-END");
    let took = begin.elapsed();
    let written = pty.bytes.len() - from;
    let ratio = written as f64 / text as f64;
    let real = count as f64 / took.as_secs_f64();
    let figure = format!("{ratio:.2} × the text ({written} bytes for {text}, {real:.0} tokens/s)");
    bars.timed(
        &format!("bytes per token, {}, {rate} tokens/s", mode(inline).0),
        &figure,
        "3 ×",
        ratio <= BYTES_BAR,
    );
}

/// From a key to its echo while a thousand tokens a second stream in.
fn echo(stage: &Stage, inline: bool, bars: &mut Bars) {
    let (model, _) = script(&stage.home, 60_000, 1_000);
    let mut pty = stage.ready(&model, inline);
    pty.send("go\r");
    pty.until(pty.bytes.len(), "text");
    let mut times = Vec::new();
    // Letters that the text has not, never the same twice in a row.
    for (number, key) in ["Q", "X", "Z", "J"].into_iter().cycle().take(stage.of(KEYS)).enumerate() {
        let from = pty.bytes.len();
        let begin = Instant::now();
        pty.send(key);
        pty.until(from, key);
        times.push(begin.elapsed());
        // Keys fall anywhere between two frames.
        pty.listen(Duration::from_micros(7_300 + 1_700 * (number as u64 % 5)));
        if number % 40 == 39 {
            pty.send("\x15");
            pty.listen(Duration::from_millis(100));
        }
    }
    times.sort_unstable();
    let (middle, most) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let figure = format!("p99 {most:?}, median {middle:?}");
    bars.timed(&format!("key to echo, {}", mode(inline).0), &figure, "8 ms", most < ECHO_BAR);
}

/// What the program does while nothing happens.
fn idle(stage: &Stage, inline: bool, bars: &mut Bars) {
    let mut pty = stage.ready("offline/offline", inline);
    pty.settle(Duration::from_secs(1));
    let before = (spent(pty.id()), pty.bytes.len());
    pty.listen(IDLE);
    let ((ticks, wakes), (ticks_before, wakes_before)) = (spent(pty.id()), before.0);
    let bytes = pty.bytes.len() - before.1;
    let (ticks, wakes) = (ticks - ticks_before, wakes - wakes_before);
    let figure = format!("{ticks} ticks of CPU, {wakes} wake-ups, {bytes} bytes in {IDLE:?}");
    let holds = ticks == 0 && wakes == 0 && bytes == 0;
    bars.timed(&format!("idle, {}", mode(inline).0), &figure, "nothing at all", holds);
}

/// Clock ticks of CPU and voluntary switches of all threads of a process.
fn spent(process: u32) -> (u64, u64) {
    let folder = PathBuf::from(format!("/proc/{process}/task"));
    let (mut ticks, mut wakes) = (0, 0);
    for thread in fs::read_dir(folder).unwrap().flatten() {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(") ").next().unwrap_or("");
        let number = |at: usize| after.split(' ').nth(at).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        ticks += number(11) + number(12);
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        wakes += switches.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    (ticks, wakes)
}
