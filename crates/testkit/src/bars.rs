//! Figures, and the bars that they must hold. Times differ from machine to machine, and from one moment to the next: a bench judges
//! their ratios, a test judges only what is counted.

use std::time::Duration;

/// How thoroughly is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Often enough for a median; every bar counts.
    Whole,
    /// Once, in the tests: a row that cannot be measured breaks, and so does a bar on what is counted.
    Short,
}

impl Depth {
    /// What the words of a bench ask for, and which of its parts: `--short`, and names.
    pub fn from_args() -> (Depth, Vec<String>) {
        let words: Vec<String> =
            std::env::args_os().skip(1).filter_map(|word| word.into_string().ok()).collect();
        let depth = if words.iter().any(|word| word == "--short") { Depth::Short } else { Depth::Whole };
        (depth, words.into_iter().filter(|word| !word.starts_with("--")).collect())
    }

    /// The first for a whole measure, the second for a short one.
    pub fn pick<T>(self, whole: T, short: T) -> T {
        if self == Depth::Whole { whole } else { short }
    }

    /// So often, or once.
    pub fn times(self, often: usize) -> usize {
        if self == Depth::Whole { often } else { 1 }
    }
}

/// Figures that were told so far.
#[derive(Debug)]
pub struct Bars {
    depth: Depth,
    missed: Vec<String>,
}

impl Bars {
    /// None yet.
    pub fn new(depth: Depth) -> Bars {
        Bars { depth, missed: Vec::new() }
    }

    /// A figure that is counted: the same wherever and whenever it is measured, up to a tolerance that the bar includes.
    pub fn counted(&mut self, what: &str, figure: u64, bar: u64) {
        self.tell(what, &figure.to_string(), &format!("at most {bar}"), figure <= bar, true);
    }

    /// A ratio of two times of the same run.
    pub fn ratio(&mut self, what: &str, (took, against): (Duration, Duration), bar: f64) {
        let ratio =
            if against.is_zero() { f64::INFINITY } else { took.as_secs_f64() / against.as_secs_f64() };
        let figure = format!("{ratio:.2} × ({took:.2?} against {against:.2?})");
        self.tell(what, &figure, &format!("at most {bar} ×"), ratio <= bar, false);
    }

    /// A figure that holds or not, by the clock.
    pub fn timed(&mut self, what: &str, figure: &str, bar: &str, holds: bool) {
        self.tell(what, figure, bar, holds, false);
    }

    /// A figure without a bar.
    pub fn note(&self, what: &str, figure: &str) {
        println!("       {what}: {figure}");
    }

    fn tell(&mut self, what: &str, figure: &str, bar: &str, holds: bool, is_counted: bool) {
        let counts = is_counted || self.depth == Depth::Whole;
        if !holds && counts {
            self.missed.push(what.to_owned());
        }
        let mark = match (holds, counts) {
            (true, _) => "ok    ",
            (false, true) => "MISSED",
            (false, false) => "slow  ",
        };
        println!("{mark} {what}: {figure} (bar: {bar})");
    }

    /// Ends the program with a failure when a bar was missed.
    pub fn end(self) {
        if !self.missed.is_empty() {
            println!("{} missed: {}", self.missed.len(), self.missed.join("; "));
            std::process::exit(1);
        }
    }
}

/// The middle one.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_judges_counts_and_no_times() {
        for (depth, missed) in [(Depth::Short, vec!["calls"]), (Depth::Whole, vec!["calls", "time"])] {
            let mut bars = Bars::new(depth);
            bars.counted("calls", 11, 10);
            bars.ratio("time", (Duration::from_secs(4), Duration::from_secs(1)), 3.0);
            bars.counted("fewer calls", 10, 10);
            assert_eq!(bars.missed, missed, "{depth:?}");
        }
    }
}
