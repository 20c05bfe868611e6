//! The figures that the hub promises, as ratios within one run: `cargo bench -p hub`. Words after `--` choose those whose name has one
//! of them, such as `bridge` or `codelia on nous`. Ends with 1 when a promise is broken.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench is there to be read")]

mod bridge;
mod fan_out;
mod middle;
mod script;
mod stage;

use std::process::ExitCode;

/// What can go wrong in a bench.
type Broken = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .filter_map(|word| word.into_string().ok())
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let mut figures = Figures { words, broken: 0 };
    for measure in [bridge::measure, fan_out::measure] {
        if let Err(why) = measure(&mut figures) {
            eprintln!("error: {why}");
            figures.broken += 1;
        }
    }
    if figures.broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What is measured, and how many promises were broken.
struct Figures {
    words: Vec<String>,
    broken: usize,
}

impl Figures {
    /// Whether a figure was asked for.
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// A figure that could not be measured.
    fn failed(&mut self, name: &str, why: &Broken) {
        println!("{name:<48} not measured: {why}");
        self.broken += 1;
    }

    /// Prints a figure beside its promise.
    fn tell(&mut self, name: &str, measured: f64, promised: f64, more: &str) {
        let holds = measured <= promised;
        let word = if holds { "holds" } else { "BROKEN" };
        println!("{name:<48} {measured:>6.2}  promised <= {promised:<4} {word:<6}  {more}");
        self.broken += usize::from(!holds);
    }
}
