//! The figures that the hub promises, as ratios within one run: `cargo bench -p hub`. Words after `--` choose those whose name has one
//! of them, such as `bridge` or `codelia on nous`; `--short` measures each once and briefly. Ends with 1 when a promise is broken, or
//! when a figure cannot be measured.

#![expect(clippy::print_stderr, reason = "a bench that cannot measure says why")]

mod bridge;
mod fan_out;
mod middle;
mod script;
mod stage;

use std::process::ExitCode;
use std::time::Duration;
use testkit::{Bars, Depth};

/// What can go wrong in a bench.
type Broken = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let (depth, words) = Depth::from_args();
    let mut figures = Figures { depth, words, bars: Bars::new(depth), unmeasured: 0 };
    for measure in [bridge::measure, fan_out::measure] {
        if let Err(why) = measure(&mut figures) {
            figures.failed("all of them", &why);
        }
    }
    figures.bars.end();
    if figures.unmeasured == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What is measured, and what was found.
struct Figures {
    depth: Depth,
    words: Vec<String>,
    bars: Bars,
    unmeasured: usize,
}

impl Figures {
    /// Whether a figure was asked for.
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// A figure that could not be measured.
    fn failed(&mut self, name: &str, why: &Broken) {
        eprintln!("not measured: {name}: {why}");
        self.unmeasured += 1;
    }

    /// Two times in microseconds, and how many times the second one the first may be.
    fn tell(&mut self, name: &str, (took, against): (f64, f64), promised: f64) {
        let time = |micros: f64| Duration::from_secs_f64(micros.max(0.0) / 1e6);
        self.bars.ratio(name, (time(took), time(against)), promised);
    }
}
