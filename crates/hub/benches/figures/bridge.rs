//! What a bridge costs per message, against copying the same lines through the same sockets.
//!
//! Messages come one by one, each flushed, as tokens and answers do; what a backlog costs, where copying is next to nothing, is told
//! beside it. What it costs to begin is taken off: a long conversation is measured against its own beginning.

use crate::middle::Used;
use crate::script::Pace;
use crate::stage::{self, Bridged, Talk};
use crate::{Broken, Figures, middle};
use dialects::Dialect;
use std::time::Duration;

/// A bridge may cost so many times what copying costs.
const PROMISED: f64 = 3.0;
/// And so many times when everything that is due comes in one piece.
const PROMISED_AT_ONCE: f64 = 12.0;
/// Each is measured so often, copies and bridges by turns; the least counts, since whatever disturbs only adds.
const TIMES: usize = 3;
/// Time before each line: between two tokens, and about what an answer takes.
const TOKEN: Duration = Duration::from_micros(50);
const ANSWER: Duration = Duration::from_millis(1);
/// Long answers that come token by token, and short ones to many prompts.
const TALKS: [(&str, Talk, Duration); 2] =
    [("tokens", Talk { turns: 5, tokens: 400 }, TOKEN), ("turns", Talk { turns: 21, tokens: 1 }, ANSWER)];
const SHORT_TALKS: [(&str, Talk, Duration); 2] =
    [("tokens", Talk { turns: 2, tokens: 20 }, TOKEN), ("turns", Talk { turns: 3, tokens: 1 }, ANSWER)];
/// UIs of this wire get the answer to a prompt alone, with a pause after it, which copying has not: turns cannot be compared.
const ALONE: &str = "codelia";
/// A UI and a runtime of these wires meet. Not a runtime of nous: what is asked of it over two sockets has no order that plays again.
const PAIRS: [(&str, &str); 8] = [
    ("codelia", "codelia"),
    ("nous", "lemon"),
    ("lemon", "codelia"),
    ("native", "codelia"),
    ("codelia", "native"),
    ("openagent", "asst"),
    ("asst", "openagent"),
    ("native", "native"),
];

pub(crate) fn measure(figures: &mut Figures) -> Result<(), Broken> {
    for (ui, runtime) in PAIRS {
        let (ui, runtime) = (wire(ui)?, wire(runtime)?);
        for (what, talk, pause) in figures.depth.pick(TALKS, SHORT_TALKS) {
            if what == "turns" && ui.name() == ALONE {
                continue;
            }
            let paces =
                [("", Pace::OneByOne(pause), PROMISED), (", at once", Pace::AtOnce, PROMISED_AT_ONCE)];
            for (how, pace, promised) in paces {
                let name = format!("bridge: {ui} on {runtime}, {what}{how}");
                if figures.wants(&name) {
                    match compare(ui, runtime, talk, pace, figures.depth.times(TIMES)) {
                        Ok((copy, bridge)) => figures.tell(&name, (bridge, copy), promised),
                        Err(why) => figures.failed(&name, &why),
                    }
                }
            }
        }
    }
    Ok(())
}

/// CPU per line when lines are copied, and when they are bridged.
fn compare(
    ui: Dialect,
    runtime: Dialect,
    talk: Talk,
    pace: Pace,
    times: usize,
) -> Result<(f64, f64), Broken> {
    let recording = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let whole = recording.block_on(stage::bridged(ui, runtime, talk))?;
    let beginning = recording.block_on(stage::bridged(ui, runtime, Talk { turns: 1, ..talk }))?;
    let (mut of_ui, mut of_runtime, mut of_bridge) = (Cost::NONE, Cost::NONE, Cost::NONE);
    for _ in 0..times {
        of_ui.measure(&beginning, &whole, |talk| middle::copy(&talk.ui, ui, pace))?;
        of_runtime.measure(&beginning, &whole, |talk| middle::copy(&talk.runtime, runtime, pace))?;
        of_bridge.measure(&beginning, &whole, |talk| middle::bridge(talk, ui, runtime, pace))?;
    }
    Ok(((of_ui.per_line() + of_runtime.per_line()) / 2.0, of_bridge.per_line()))
}

/// The least that a beginning and a whole conversation took so far.
struct Cost {
    beginning: Used,
    whole: Used,
}

impl Cost {
    const NONE: Cost = Cost { beginning: Used::NEVER, whole: Used::NEVER };

    fn measure(
        &mut self,
        beginning: &Bridged,
        whole: &Bridged,
        play: impl Fn(&Bridged) -> Result<Used, Broken>,
    ) -> Result<(), Broken> {
        self.beginning = self.beginning.least(play(beginning)?);
        self.whole = self.whole.least(play(whole)?);
        Ok(())
    }

    fn per_line(&self) -> f64 {
        (self.whole.micros - self.beginning.micros) / (self.whole.lines - self.beginning.lines) as f64
    }
}

fn wire(name: &str) -> Result<Dialect, Broken> {
    dialects::named(name).map_err(|_| format!("no wire is called {name}").into())
}
