//! What it costs to look at a workspace around a command, against `git status` of the same tree in the same run:
//! `cargo bench -p tools --bench walk`. Ends with a failure when a bar is missed.
//!
//! At 20,000 and at 50,000 files (`--short`: at 500): the first look of a session that finds everything as the last one left it, the looks
//! before and after a command that changes a file, and what a command costs in all that does nothing; for commands that the kernel keeps
//! from git's records, as usual ones are. Time by the clock and of the processor, ours and git's. Beside it, without a bar, what the very
//! first look costs, which has to read every file once.

#![expect(clippy::expect_used, reason = "a bench that cannot measure breaks")]

use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{Bars, Depth, median};
use tokio_util::sync::CancellationToken;
use tools::checkpoint::{CallScope, Ledger, MemoryVault, ScanBounds};
use tools::{Bash, Port, Tool as _, ToolContext};

/// A look costs at most this many times a `git status`.
const BAR: f64 = 1.5;
/// What changed less than two seconds before it is read is read again.
const SETTLE: Duration = Duration::from_millis(2_100);
/// Files in one folder.
const IN_FOLDER: usize = 20;
/// Rounds of each, taken in turns.
const ROUNDS: usize = 15;

/// By the clock, and of the processor.
#[derive(Default)]
struct Took {
    clock: Vec<Duration>,
    /// All rounds together: the system counts it in hundredths of a second.
    processor: Duration,
}

impl Took {
    /// Measures one round; `whose` is where the system counts it.
    fn add<T>(&mut self, whose: Whose, does: impl FnOnce() -> T) -> T {
        let (begun, before) = (Instant::now(), processor(whose));
        let done = does();
        self.clock.push(begun.elapsed());
        self.processor += processor(whose).saturating_sub(before);
        done
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    Childrens,
}

/// Time of the processor so far.
fn processor(whose: Whose) -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system tells it");
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .expect("there is a name")
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    let at = if whose == Whose::Ours { 11 } else { 13 };
    let ticks = fields.get(at..at + 2).expect("they are there").iter().sum::<u64>();
    Duration::from_millis(ticks * 10)
}

fn main() {
    let (depth, _) = Depth::from_args();
    let mut bars = Bars::new(depth);
    for files in depth.pick(vec![20_000, 50_000], vec![500]) {
        measure(files, depth, &mut bars);
    }
    bars.end();
}

fn git(root: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(args);
    let status = git.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("git is there");
    assert!(status.success(), "{args:?}");
}

/// A tree as projects have it: folders in folders, rules at the top and in some of them.
fn plant(root: &Path, files: usize) {
    for number in 0..files {
        let folder = number / IN_FOLDER;
        let folder = root.join(format!("part-{}/module-{}/src-{folder}", folder % 10, folder % 100));
        if number % IN_FOLDER == 0 {
            std::fs::create_dir_all(&folder).expect("there is room");
        }
        let text: String =
            (0..30).map(|line| format!("line {line} of file {number}: some words\n")).collect();
        std::fs::write(folder.join(format!("file-{number}.txt")), text).expect("there is room");
    }
    std::fs::write(root.join(".gitignore"), "*.o\n*.log\n/dist/\nbuild/\n.env\n").expect("there is room");
    std::fs::write(root.join("part-0/.gitignore"), "generated/\n").expect("there is room");
    std::fs::write(root.join("AGENTS.md"), "be kind\n").expect("there is room");
    git(root, &["init", "-q"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "all"]);
}

fn measure(files: usize, depth: Depth, bars: &mut Bars) {
    let dir = tempfile::tempdir().expect("there is a temp folder");
    let root = dir.path().canonicalize().expect("it is there").join("work");
    plant(&root, files);
    std::thread::sleep(SETTLE);
    // The first one writes its index anew.
    git(&root, &["status", "--porcelain"]);
    let vault = Arc::new(MemoryVault::default());
    let place = || ToolContext::new(&root, &dir.path().join("outputs")).expect("it is a folder");
    // What it takes is to be seen, also where it is more than a turn waits for.
    let patient = ScanBounds { time: Duration::from_secs(600), ..ScanBounds::default() };
    let ledger = |place: &ToolContext| Ledger::new("bench", place, vault.clone()).within(patient);
    let everything = CallScope::AllButGit;

    let mut very_first = Took::default();
    let here = ledger(&place());
    here.begin("turn-0", "the very first");
    let watched = very_first.add(Whose::Ours, || here.before(&everything, &|| false));
    here.after(watched);

    let (mut status, mut first, mut before, mut after, mut whole) =
        (Took::default(), Took::default(), Took::default(), Took::default(), Took::default());
    let work_place = place();
    let work = ledger(&work_place);
    work.begin("turn-1", "to know it");
    work.after(work.before(&everything, &|| false));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("there are threads");
    for round in 0..depth.times(ROUNDS) {
        status.add(Whose::Childrens, || git(&root, &["status", "--porcelain"]));
        let session = ledger(&place());
        session.begin("turn", "first of a session");
        let watched = first.add(Whose::Ours, || session.before(&everything, &|| false));
        session.after(watched);

        work.begin(&format!("turn-{round}-changes"), "changes a file");
        let watched = before.add(Whose::Ours, || work.before(&everything, &|| false));
        std::fs::write(root.join("changed.txt"), format!("{round}\n")).expect("there is room");
        after.add(Whose::Ours, || work.after(watched));

        work.begin(&format!("turn-{round}-nothing"), "does nothing");
        whole.add(Whose::Ours, || {
            let watched = work.before(&everything, &|| false);
            runtime.block_on(run(&work_place));
            work.after(watched);
        });
    }
    let rounds = u32::try_from(depth.times(ROUNDS)).unwrap_or(1);
    let git_clock = median(status.clock);
    for (what, took, bar) in [
        ("the first look of a session", first, BAR),
        ("the look before a command", before, BAR),
        ("the look after a command that changed a file", after, BAR),
        ("a command that does nothing, both looks and a shell", whole, 2.0 * BAR),
    ] {
        let clock = median(took.clock);
        bars.ratio(&format!("{files} files, {what}, clock"), (clock, git_clock), bar);
        let processor = (took.processor / rounds, status.processor / rounds);
        bars.ratio(&format!("{files} files, {what}, processor"), processor, bar);
    }
    let (clock, processor) = (very_first.clock.iter().sum::<Duration>(), very_first.processor);
    let very_first = format!("{clock:.2?} by the clock, {processor:.2?} of the processor");
    bars.note(&format!("{files} files, the very first look, every file read and none copied"), &very_first);
}

/// Runs a command that may write and does not, with files that steer looked at.
async fn run(place: &ToolContext) {
    let bash = Bash::default();
    let plan = bash.plan(&json!({ "command": "sh -c :" }), place).expect("it is a line");
    let (progress, _news) = tokio::sync::mpsc::channel(16);
    let (asks, _questions) = tokio::sync::mpsc::channel(1);
    bash.run(plan, Port { progress, asks, gate: None, cancel: CancellationToken::new() }).await;
}
