//! What tests and benches of several crates need: the built program as a person or another program uses it (a place of its own, a
//! terminal to type into and the screen that it shows, lines to write and read, what it cost, bars to hold it against), any value of the
//! vocabulary ([`arb`]), either role of a wire with the hub played by hand ([`bench`]), and lines held against the schema of their wire
//! ([`contract`]). It is linked into no program that is shipped, and of our crates it knows the vocabulary and the roles alone.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test or a bench that cannot go on breaks, and a bench prints its figures"
)]

pub mod arb;
mod bars;
pub mod bench;
mod cases;
pub mod contract;
mod cost;
mod instructions;
mod lines;
mod person;
pub mod postgres;
mod program;
mod screen;
mod terminal;

pub use bars::{Bars, Depth, median};
pub use cases::cases;
pub use cost::{Cost, Counted, resident_kib};
pub use instructions::instructions;
pub use lines::Lines;
pub use person::{Person, said, stderr, stdout};
pub use program::{Home, Program, ask_offline, asked_first, in_world, ps_until};
pub use screen::Screen;
pub use terminal::{Terminal, opened};

use rustix::process::{Pid, Signal, kill_process_group};
use std::process::Child;
use std::time::{Duration, Instant};

/// How long anything may take before it is given up; longer than a starved machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long a program may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A program that goes on until the test is over, and is killed then.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

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
