//! What the shell is beside an empty window of the same toolkit, in the same run: how long a start takes until nothing on the screen changes
//! any more, what it needs of memory, and what it does while nobody does anything. Prints a table, and fails where a bar is missed.
//!
//! Who starts and who is measured take turns, so that a machine that has other things to do has them for both. No driver is there: the
//! screen is read where the X server keeps it.

#![cfg(target_os = "linux")]

// What a test drives and asks is not all asked here.
#[allow(dead_code)]
#[path = "../tests/it/desk.rs"]
mod desk;
#[allow(dead_code)]
#[path = "../tests/it/driver.rs"]
mod driver;
#[allow(dead_code)]
#[path = "../tests/it/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::{Duration, Instant};
use world::{PATIENCE, SHELL, World};

/// Starts of each; the middle one counts.
const ROUNDS: usize = 7;
/// Between two looks at the screen.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A screen that stood still for so long is the one that was waited for.
const STILL_FOR: Duration = Duration::from_millis(2_500);
/// How long it is watched at rest, once it stands still.
const RESTS_FOR: Duration = Duration::from_secs(10);
/// Of the rows of the screen each so-manyth is looked at.
const ROW_STEP: usize = 3;
const ROW_BYTES: usize = 1280 * 4;

/// A start may take so many times what an empty window takes.
const MOST_START: f64 = 1.3;
/// At rest, processor time above the empty window's that is no more than what two empty windows differ by: milliseconds in a second.
const REST_NOISE: f64 = 1.0;

fn main() -> ExitCode {
    // `cargo test --benches` asks for nothing that could be told without the other program.
    let Some(empty) = std::env::var_os("PARLOR_EMPTY_WINDOW").map(PathBuf::from) else {
        println!("PARLOR_EMPTY_WINDOW names no empty window: `cargo xtask desktop --figures` measures");
        return ExitCode::SUCCESS;
    };
    let [mut shells, mut cold, mut empties] = [(); 3].map(|()| Vec::new());
    for _ in 0..ROUNDS {
        let world = World::new();
        // The first start of a login begins the server too; every other one finds it.
        cold.push(measured(&world, Path::new(SHELL), Duration::ZERO));
        shells.push(measured(&world, Path::new(SHELL), RESTS_FOR));
        empties.push(measured(&world, &empty, RESTS_FOR));
    }
    let [shell, cold, empty] = [shells, cold, empties].map(Figures::middle);
    println!("| | empty window | Parlor's | |\n|---|---|---|---|");
    let ratio = shell.start_ms / empty.start_ms;
    println!(
        "| start to a screen that stands still | {:.0} ms | {:.0} ms | {ratio:.2} × (bar {MOST_START}) |",
        empty.start_ms, shell.start_ms
    );
    println!(
        "| the same where the server is begun too | | {:.0} ms | {:.2} × |",
        cold.start_ms,
        cold.start_ms / empty.start_ms
    );
    println!(
        "| memory (PSS of all its processes) | {:.1} MB | {:.1} MB | {:.2} × |",
        empty.memory_mb,
        shell.memory_mb,
        shell.memory_mb / empty.memory_mb
    );
    println!("| processor time at rest, in a second | {:.2} ms | {:.2} ms | |", empty.rest_ms, shell.rest_ms);
    let size = std::fs::metadata(SHELL).map(|data| data.len()).unwrap_or_default();
    println!("| the program on the disk | | {:.1} MB | |", size as f64 / 1e6);
    let missed = [
        (ratio > MOST_START, "a start takes too long"),
        (shell.rest_ms > empty.rest_ms + REST_NOISE, "it does too much while nobody does anything"),
    ];
    let mut code = ExitCode::SUCCESS;
    for (_, what) in missed.iter().filter(|(is_missed, _)| *is_missed) {
        println!("missed: {what}");
        code = ExitCode::FAILURE;
    }
    code
}

#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    start_ms: f64,
    memory_mb: f64,
    rest_ms: f64,
}

impl Figures {
    /// Of each figure the middle one.
    fn middle(all: Vec<Figures>) -> Figures {
        let middle = |of: fn(&Figures) -> f64| {
            let mut all: Vec<f64> = all.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Figures {
            start_ms: middle(|one| one.start_ms),
            memory_mb: middle(|one| one.memory_mb),
            rest_ms: middle(|one| one.rest_ms),
        }
    }
}

/// One start of a program, until it stands still and, if so wanted, has rested.
fn measured(world: &World, program: &Path, rests: Duration) -> Figures {
    let before = screen(world);
    let mut command = world.command(&program.display().to_string());
    command.env_remove("TAURI_WEBVIEW_AUTOMATION").stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let start_ms = stands_still(world, &before, began).as_secs_f64() * 1_000.0;
    let (memory, worked) = (memory_kb(child.id()), worked(child.id()));
    std::thread::sleep(rests);
    let rest_ns: u64 = at_rest(&worked, &self::worked(child.id()));
    end(world, &mut child);
    let rest_ms = if rests.is_zero() { 0.0 } else { rest_ns as f64 / 1e6 / rests.as_secs_f64() };
    Figures { start_ms, memory_mb: memory as f64 / 1024.0, rest_ms }
}

/// When the last change came that was followed by none.
fn stands_still(world: &World, before: &[u8], began: Instant) -> Duration {
    let (mut last, mut changed, mut has_changed) = (before.to_vec(), began, false);
    loop {
        std::thread::sleep(LOOK_EVERY);
        let now = screen(world);
        if now != last {
            (last, changed, has_changed) = (now, Instant::now(), true);
        }
        if has_changed && changed.elapsed() >= STILL_FOR {
            return changed - began;
        }
        assert!(began.elapsed() < PATIENCE, "the screen never stands still");
    }
}

/// What is on the screen, as far as it is looked at.
fn screen(world: &World) -> Vec<u8> {
    let all = std::fs::read(world.path("screen/Xvfb_screen0")).unwrap();
    all.chunks_exact(ROW_BYTES).step_by(ROW_STEP).flatten().copied().collect()
}

/// A process and all that it has started, but for the server, which is nobody's child once it runs.
fn family(of: u32) -> Vec<u32> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name stands in parentheses and may hold anything.
        let parent =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        parents.insert(pid, parent.unwrap_or_default());
    }
    let is_of = |pid: &u32| {
        let mut at = *pid;
        while at > 1 && at != of {
            at = parents.get(&at).copied().unwrap_or_default();
        }
        at == of
    };
    parents.keys().copied().filter(is_of).collect()
}

fn memory_kb(of: u32) -> u64 {
    let pss = |pid: u32| {
        let all = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = all.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default()
    };
    family(of).into_iter().map(pss).sum()
}

/// The processor time of each of its threads so far, in nanoseconds.
fn worked(of: u32) -> BTreeMap<PathBuf, u64> {
    let mut threads = BTreeMap::new();
    for pid in family(of) {
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let said = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let ns = said.split_whitespace().next().and_then(|ns| ns.parse().ok());
            threads.insert(task.path(), ns.unwrap_or_default());
        }
    }
    threads
}

/// What was worked between two looks; a thread that began in between counts from its beginning.
fn at_rest(before: &BTreeMap<PathBuf, u64>, after: &BTreeMap<PathBuf, u64>) -> u64 {
    after.iter().map(|(task, ns)| ns.saturating_sub(before.get(task).copied().unwrap_or_default())).sum()
}

/// Ends it, and waits until the screen is empty again for the next one.
fn end(world: &World, child: &mut Child) {
    let _ = world.command("kill").arg(child.id().to_string()).status();
    let _ = child.wait();
    world::until("its windows are gone", || {
        let found =
            world.command("xdotool").args(["search", "--onlyvisible", "--name", "^(Parlor|Empty)"]).output();
        found.is_ok_and(|found| found.stdout.is_empty())
    });
}
