//! What it costs that turns can be taken back: `cargo bench -p parlor --bench undo`. Prints; nothing here fails by time.
//!
//! `--short` takes a small tree. Otherwise a tree of 50,000 files in 500 folders: the first look (everything is read and kept), the next one (nothing is), and what a command
//! that changes one file costs in all. Then 1,000 changed files taken back and done again.

#![expect(clippy::print_stdout, reason = "a bench is there to be read")]

use std::path::Path;
use std::time::{Duration, Instant};
use testkit::Depth;
use tools::ToolContext;
use tools::checkpoint::{CallScope, Ledger, ScanBounds};

type Done = Result<(), Box<dyn std::error::Error>>;

/// Files of the tree.
const FILES: usize = 50_000;
/// Files in one folder of it.
const IN_FOLDER: usize = 100;
/// Lines of a file.
const LINES: usize = 60;
/// Files that are taken back.
const TAKEN_BACK: usize = 1_000;
/// What changed less than two seconds before it is read is read again.
const SETTLE: Duration = Duration::from_millis(2_100);

fn main() -> Done {
    let (depth, _) = Depth::from_args();
    let (files, taken_back) =
        if depth == Depth::Whole { (FILES, TAKEN_BACK) } else { (FILES / 50, TAKEN_BACK / 50) };
    let dir = tempfile::tempdir()?;
    let root = dir.path().canonicalize()?.join("work");
    for number in 0..files {
        let folder = root.join(format!("folder-{}", number / IN_FOLDER));
        if number % IN_FOLDER == 0 {
            std::fs::create_dir_all(&folder)?;
        }
        let text: String =
            (0..LINES).map(|line| format!("line {line} of file {number}: some words\n")).collect();
        std::fs::write(folder.join(format!("file-{number}.txt")), text)?;
    }
    std::thread::sleep(SETTLE);
    let vault = parlor::vault::open(Some(&dir.path().join("data")))?;
    let place = ToolContext::new(&root, &dir.path().join("outputs"))?;
    // What it takes is to be seen, also where it is more than a turn waits for.
    let patient = ScanBounds { time: Duration::from_secs(600), ..ScanBounds::default() };
    let ledger = Ledger::new("bench", &place, vault).within(patient);

    ledger.begin("turn-1", "cold");
    told(&format!("first look at {files} files, all kept"), || {
        ledger.prepare(&CallScope::Everything, &|| false)
    })
    .map_err(|why| why.0)?;
    told("before a command, nothing changed", || ledger.before(&CallScope::Everything, &|| false));
    ledger.begin("turn-2", "warm");
    let watched =
        told("before a command of the next turn", || ledger.before(&CallScope::Everything, &|| false));
    std::fs::write(root.join("folder-0/file-0.txt"), "other\n")?;
    told("after a command that changed one file", || ledger.after(watched));

    ledger.begin("turn-3", "many");
    let watched = ledger.before(&CallScope::Everything, &|| false);
    for number in 0..taken_back {
        change(&root, number)?;
    }
    told(&format!("after a command that changed {taken_back} files"), || ledger.after(watched));
    told(&format!("undo of {taken_back} files"), || ledger.undo(false)).map_err(|why| why.words())?;
    told(&format!("redo of {taken_back} files"), || ledger.redo(false)).map_err(|why| why.words())?;
    let size = std::fs::metadata(dir.path().join("data/contents.db"))?.len();
    println!("{:<44} {:>10} MB", "what is kept of it on disk", size / 1024 / 1024);
    Ok(())
}

fn change(root: &Path, number: usize) -> std::io::Result<()> {
    let path = root.join(format!("folder-{}/file-{number}.txt", number / IN_FOLDER));
    std::fs::write(path, format!("changed {number}\n"))
}

/// Prints how long something took.
fn told<T>(name: &str, does: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = does();
    println!("{name:<44} {:>10.1} ms", begun.elapsed().as_secs_f64() * 1000.0);
    done
}
