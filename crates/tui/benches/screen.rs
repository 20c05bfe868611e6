//! The built program in a pseudo-terminal, against the bars that it must hold: how soon the screen is usable, how many bytes a token
//! costs, how long a key takes to show while text streams in, and what it does when nothing happens. Ends with a failure when a bar is
//! missed. `cargo bench -p tui --bench screen`, or only `-- start`, `idle`, `bytes` or `echo`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench prints its figures, or breaks"
)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// How long anything may take before the bench gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Starts of each program.
const STARTS: usize = 31;
/// Start to usable screen: at most this many times a bare ratatui program.
const START_BAR: f64 = 3.0;
/// Bytes on the terminal for a byte of streamed text, at most.
const BYTES_BAR: f64 = 3.0;
/// From a key to its echo, for all but one of a hundred.
const ECHO_BAR: Duration = Duration::from_millis(8);
/// Keys typed while text streams in.
const KEYS: usize = 400;
/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(5);
/// What the composer shows when the screen is usable.
const USABLE: &str = "ask for something";

fn main() {
    let bins = Bins::build();
    let place = tempfile::tempdir().unwrap();
    let mut bars = Bars::default();
    let wanted: Vec<String> = std::env::args_os()
        .filter_map(|word| word.into_string().ok())
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    if wants("start") {
        start(&bins, place.path(), &mut bars);
    }
    for inline in [false, true] {
        if wants("idle") {
            idle(&bins, place.path(), inline, &mut bars);
        }
        for rate in [1_000, 100].into_iter().filter(|_| wants("bytes")) {
            stream(&bins, place.path(), inline, rate, &mut bars);
        }
        if wants("echo") {
            echo(&bins, place.path(), inline, &mut bars);
        }
    }
    bars.end();
}

/// Figures with their bars.
#[derive(Default)]
struct Bars {
    missed: usize,
}

impl Bars {
    fn tell(&mut self, what: &str, figure: &str, bar: &str, holds: bool) {
        self.missed += usize::from(!holds);
        println!("{} {what}: {figure} (bar: {bar})", if holds { "ok    " } else { "MISSED" });
    }

    fn end(self) {
        if self.missed > 0 {
            println!("{} bars missed", self.missed);
            std::process::exit(1);
        }
    }
}

/// The programs under test.
struct Bins {
    parlor: PathBuf,
    hello: PathBuf,
}

impl Bins {
    /// Builds them as they are released, beside this bench; `PARLOR_BIN` names a program that is built already.
    fn build() -> Bins {
        let built = |arguments: &[&str]| {
            let mut cargo = Command::new(env!("CARGO"));
            // What cargo tells this bench about itself would make it build the dependencies once more.
            for (name, _) in
                std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CARGO_"))
            {
                if name != "CARGO_HOME" && name != "CARGO_TARGET_DIR" {
                    cargo.env_remove(name);
                }
            }
            let status = cargo.args(["build", "--release"]).args(arguments).status();
            assert!(status.unwrap().success(), "cargo build failed");
        };
        let exe = std::env::current_exe().unwrap();
        let folder = exe.parent().and_then(Path::parent).unwrap();
        let parlor = std::env::var_os("PARLOR_BIN").map(PathBuf::from).unwrap_or_else(|| {
            built(&["-p", "parlor", "--bin", "parlor"]);
            folder.join("parlor")
        });
        built(&["-p", "tui", "--example", "hello"]);
        Bins { parlor, hello: folder.join("examples/hello") }
    }

    fn parlor(&self, place: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.parlor);
        command.args(arguments).current_dir(place).env_clear().env("HOME", place);
        command.env("PARLOR_DATA_DIR", place.join("data")).env("PARLOR_CONFIG_DIR", place.join("config"));
        command.env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color");
        command
    }
}

/// A terminal with a program in it.
struct Pty {
    master: File,
    child: Child,
    bytes: Vec<u8>,
}

impl Pty {
    fn start(command: &mut Command) -> Pty {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let size = rustix::termios::Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size).unwrap();
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        let child = command.spawn().unwrap();
        Pty { master: File::from(master), child, bytes: Vec::new() }
    }

    fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads what comes within `wait`; how many bytes.
    fn read(&mut self, wait: Duration) -> usize {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let nanos = i64::from(wait.subsec_nanos());
        let wait = Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap(), tv_nsec: nanos };
        if poll(&mut fds, Some(&wait)).unwrap_or(0) == 0 {
            return 0;
        }
        let mut bytes = [0; 65_536];
        let Ok(count) = self.master.read(&mut bytes) else { return 0 };
        let new = &bytes[..count];
        self.bytes.extend_from_slice(new);
        if contains(new, "\x1b[c") {
            self.send("\x1b[?2026;2$y\x1b[1;1R\x1b[?62;22c");
        } else if contains(new, "\x1b[6n") {
            self.send("\x1b[1;1R");
        }
        count
    }

    /// Reads until `text` was written after `from`.
    fn until(&mut self, from: usize, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !contains(&self.bytes[from.min(self.bytes.len())..], text) {
            let seen = String::from_utf8_lossy(&self.bytes[self.bytes.len().saturating_sub(2_000)..]);
            assert!(Instant::now() < end, "never seen: {text}\n{seen:?}");
            self.read(Duration::from_millis(100));
        }
    }

    /// Reads for a while.
    fn listen(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.read(left);
        }
    }

    /// Reads until nothing was written for `quiet`.
    fn settle(&mut self, quiet: Duration) {
        let end = Instant::now() + PATIENCE;
        while self.read(quiet) > 0 && Instant::now() < end {}
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// From the start of the process to a screen that can be used.
fn start(bins: &Bins, place: &Path, bars: &mut Bars) {
    let timed = |command: &mut Command, text: &str| {
        let begin = Instant::now();
        let mut pty = Pty::start(command);
        pty.until(0, text);
        begin.elapsed()
    };
    let hello = || timed(Command::new(&bins.hello).env("TERM", "xterm-256color"), "hello,");
    let ours = |inline: &'static str| {
        timed(&mut bins.parlor(place, &["--model", "offline/offline", inline]), USABLE)
    };
    // The first start makes the store.
    ours("--inline");
    let (mut bare, mut full, mut inline) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        bare.push(hello());
        full.push(ours("--full-screen"));
        inline.push(ours("--inline"));
    }
    let bare = median(bare);
    for (what, took) in [("full screen", median(full)), ("inline", median(inline))] {
        let ratio = took.as_secs_f64() / bare.as_secs_f64();
        let figure = format!("{ratio:.2} × a bare ratatui program ({took:?} against {bare:?})");
        bars.tell(&format!("start to usable screen, {what}"), &figure, "3 ×", ratio <= START_BAR);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A script that says `count` tokens at about `rate` a second; how many bytes of text that is.
fn script(place: &Path, count: usize, rate: usize) -> (String, usize) {
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
    let path = place.join("stream.script");
    fs::write(&path, line).unwrap();
    (format!("scripted/{}", path.display()), bytes)
}

fn mode(inline: bool) -> (&'static str, &'static str) {
    if inline { ("inline", "--inline") } else { ("full screen", "--full-screen") }
}

fn ready(bins: &Bins, place: &Path, model: &str, inline: bool) -> Pty {
    let mut pty = Pty::start(&mut bins.parlor(place, &["--model", model, mode(inline).1]));
    pty.until(0, USABLE);
    pty.settle(Duration::from_millis(300));
    pty
}

/// Bytes that reach the terminal for a byte of streamed text, with the working line ticking.
fn stream(bins: &Bins, place: &Path, inline: bool, rate: usize, bars: &mut Bars) {
    let (model, text) = script(place, rate * 6, rate);
    let mut pty = ready(bins, place, &model, inline);
    pty.send("go\r");
    pty.settle(Duration::from_millis(1));
    let (from, begin) = (pty.bytes.len(), Instant::now());
    pty.until(from, "THE-END");
    let took = begin.elapsed();
    let written = pty.bytes.len() - from;
    let ratio = written as f64 / text as f64;
    let real = (rate * 6) as f64 / took.as_secs_f64();
    let figure = format!("{ratio:.2} × the text ({written} bytes for {text}, {real:.0} tokens/s)");
    bars.tell(
        &format!("bytes per token, {}, {rate} tokens/s", mode(inline).0),
        &figure,
        "3 ×",
        ratio <= BYTES_BAR,
    );
}

/// From a key to its echo while a thousand tokens a second stream in.
fn echo(bins: &Bins, place: &Path, inline: bool, bars: &mut Bars) {
    let (model, _) = script(place, 60_000, 1_000);
    let mut pty = ready(bins, place, &model, inline);
    pty.send("go\r");
    pty.until(pty.bytes.len(), "text");
    let mut times = Vec::new();
    // Letters that the text has not, never the same twice in a row.
    for (number, key) in ["Q", "X", "Z", "J"].into_iter().cycle().take(KEYS).enumerate() {
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
    bars.tell(&format!("key to echo, {}", mode(inline).0), &figure, "8 ms", most < ECHO_BAR);
}

/// What the program does while nothing happens.
fn idle(bins: &Bins, place: &Path, inline: bool, bars: &mut Bars) {
    let mut pty = ready(bins, place, "offline/offline", inline);
    pty.settle(Duration::from_secs(1));
    let before = (spent(&pty.child), pty.bytes.len());
    pty.listen(IDLE);
    let ((ticks, wakes), (ticks_before, wakes_before)) = (spent(&pty.child), before.0);
    let bytes = pty.bytes.len() - before.1;
    let (ticks, wakes) = (ticks - ticks_before, wakes - wakes_before);
    let figure = format!("{ticks} ticks of CPU, {wakes} wake-ups, {bytes} bytes in {IDLE:?}");
    let holds = ticks == 0 && wakes == 0 && bytes == 0;
    bars.tell(&format!("idle, {}", mode(inline).0), &figure, "nothing at all", holds);
}

/// Clock ticks of CPU and voluntary switches of all threads of a process.
fn spent(child: &Child) -> (u64, u64) {
    let folder = PathBuf::from(format!("/proc/{}/task", child.id()));
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
