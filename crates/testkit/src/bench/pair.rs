//! Both roles of a wire facing each other. Lines go across when the test says so; the test is the hub on both sides.

use super::{RuntimeBench, UiBench};

/// A UI and a runtime of one wire, and the lines between them.
pub struct Pair {
    pub runtime: RuntimeBench,
    pub ui: UiBench,
    /// All lines so far, `>` from the UI and `<` from the runtime.
    pub lines: Vec<String>,
}

impl Pair {
    pub fn new(runtime: RuntimeBench, ui: UiBench) -> Pair {
        Pair { runtime, ui, lines: Vec::new() }
    }

    /// Moves lines until both are silent.
    pub fn exchange(&mut self) {
        self.exchange_with(|line| line);
    }

    /// As [`Pair::exchange`]; each line is changed, or looked at, on its way.
    pub fn exchange_with(&mut self, on_the_way: impl Fn(String) -> String) {
        self.ui.now = self.ui.now.max(self.runtime.now);
        loop {
            let (up, down) = (self.ui.link.outgoing(None), self.runtime.link.outgoing(None));
            if up.is_empty() && down.is_empty() {
                return;
            }
            for sent in up {
                let line = on_the_way(sent.line);
                self.lines.push(format!("> {line}"));
                self.runtime.say_on(sent.lane, &line);
            }
            for sent in down {
                let line = on_the_way(sent.line);
                self.lines.push(format!("< {line}"));
                self.ui.hear_on(sent.lane, &line);
            }
        }
    }

    /// Looks at nothing of what was said so far.
    pub fn forget(&mut self) {
        self.runtime.forget();
        self.ui.forget();
        self.lines.clear();
    }
}
