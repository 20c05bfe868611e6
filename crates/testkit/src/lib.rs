//! What tests and benches of several crates need to use the built program as a person or another program does: a place of its own, a
//! terminal to type into, lines to write and read, what it cost, and bars to hold it against. It is linked into no program that is
//! shipped, and it knows none of our crates: what it drives is the program.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test or a bench that cannot go on breaks, and a bench prints its figures"
)]

mod bars;
mod cost;
mod instructions;
mod lines;
mod program;
mod terminal;

pub use bars::{Bars, Depth, median};
pub use cost::{Cost, Counted, resident_kib};
pub use instructions::instructions;
pub use lines::Lines;
pub use program::{Home, Program};
pub use terminal::Terminal;

use rustix::process::{Pid, Signal, kill_process_group};
use std::process::Child;
use std::time::{Duration, Instant};

/// How long anything may take before it is given up; longer than a starved machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long a program may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Asks a program and all of its group to end, waits for it, and kills what is left of the group: whoever watches a program may end
/// without it.
fn ended(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let tell = |signal| group.map(|group| kill_process_group(group, signal));
    let _ = tell(Signal::TERM);
    let end = Instant::now() + GRACE;
    while let Ok(None) = child.try_wait() {
        if Instant::now() > end {
            let _ = tell(Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = tell(Signal::KILL);
}
