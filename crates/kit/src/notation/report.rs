//! What a run of a transcript found, and its readable difference: what was expected, what came, where it stands.

use std::fmt;

use serde_json::Value;

use super::{Kind, Side, Step, Transcript};
use crate::pattern::{Mismatch, clip};

/// How much of a line a report shows.
const MAX_SHOWN: usize = 600;
/// How many steps before the first difference are shown.
const CONTEXT: usize = 4;

/// Something the tested side said.
#[derive(Debug, Clone, PartialEq)]
pub enum Came {
    /// A line that is JSON.
    Json(Value),
    /// Anything else: a line that is not JSON, an event in short notation, a screen.
    Text(String),
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The line the step begins on; for something unexpected, the last line reached before it.
    pub line_no: usize,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of an expectation.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It came as expected.
    Met,
    /// Something else came in its place.
    Differs {
        came: Came,
        /// The first place where it differs.
        why: Mismatch,
    },
    /// Nothing came.
    Missing {
        /// How that is known: the time was over, the peer closed.
        why: String,
    },
    /// Something came that nothing expected.
    Unexpected {
        side: Side,
        /// On which lane.
        lane: u8,
        came: Came,
    },
}

impl Came {
    /// A line from a wire.
    pub fn line(line: &str) -> Self {
        serde_json::from_str(line).map_or_else(|_| Self::Text(line.to_owned()), Self::Json)
    }
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The outcomes of a run beside the transcript they belong to; its `Display` is the difference.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// What to call the transcript, such as its path.
    pub name: &'a str,
    pub transcript: &'a Transcript,
    pub outcomes: &'a [Outcome],
}

impl Report<'_> {
    /// Whether everything expected came and nothing else.
    pub fn passed(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.verdict == Verdict::Met)
    }

    fn step(&self, line_no: usize) -> Option<&Step> {
        let inner = |step: &'_ Step| step.line_no <= line_no && line_no <= step.last_line;
        let outer = self.transcript.steps.iter().find(|step| inner(step))?;
        match &outer.kind {
            Kind::AnyOrder(steps) => steps.iter().find(|step| step.line_no == line_no),
            _ => Some(outer),
        }
    }

    /// The steps just before a line, as they are written.
    fn before(&self, line_no: usize) -> impl Iterator<Item = &Step> {
        let telling = |step: &&Step| !matches!(step.kind, Kind::Note(_));
        let earlier: Vec<_> = self
            .transcript
            .steps
            .iter()
            .filter(telling)
            .take_while(|step| step.last_line < line_no)
            .collect();
        let skipped = earlier.len().saturating_sub(CONTEXT);
        earlier.into_iter().skip(skipped)
    }

    fn failure(&self, outcome: &Outcome, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, line_no) = (self.name, outcome.line_no);
        let expected = self.step(line_no).map_or_else(String::new, |step| step.kind.to_string());
        match &outcome.verdict {
            Verdict::Met => Ok(()),
            Verdict::Differs { came, why } => {
                writeln!(f, "{name}:{line_no}: differs")?;
                entry(f, "expected", &expected)?;
                entry(f, "came", &self.as_said(line_no, came))?;
                entry(f, "where", &why.to_string())
            }
            Verdict::Missing { why } => {
                writeln!(f, "{name}:{line_no}: missing")?;
                entry(f, "expected", &expected)?;
                entry(f, "came", &format!("nothing: {why}"))
            }
            Verdict::Unexpected { side, lane, came } => {
                match line_no {
                    0 => writeln!(f, "{name}: before the first step: not expected")?,
                    line_no => writeln!(f, "{name}: after line {line_no}: not expected")?,
                }
                let lane = if *lane == 0 { String::new() } else { format!("@{lane}") };
                entry(f, "came", &format!("{}{lane} {came}", side.sign()))
            }
        }
    }

    /// What came, with the sign of the line it came for.
    fn as_said(&self, line_no: usize, came: &Came) -> String {
        match self.step(line_no).and_then(Step::say) {
            Some(say) => format!("{} {came}", say.side.sign()),
            None => came.to_string(),
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut failures = self.outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Met).peekable();
        let Some(first) = failures.peek() else {
            return writeln!(f, "{}: {} as expected", self.name, self.outcomes.len());
        };
        // Something unexpected came after its line, anything else in place of it.
        let unexpected = matches!(first.verdict, Verdict::Unexpected { .. });
        for step in self.before(first.line_no + usize::from(unexpected)) {
            let text = clip(&step.to_string(), MAX_SHOWN);
            writeln!(f, "{:>6} | {}", step.line_no, text.replace('\n', "\n       | "))?;
        }
        let mut failed = 0;
        for outcome in failures {
            failed += 1;
            self.failure(outcome, f)?;
        }
        let met = self.outcomes.len() - failed;
        writeln!(f, "{}: {met} as expected, {failed} not", self.name)
    }
}

/// A label and a text, the text's further lines below its first.
fn entry(f: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    writeln!(f, "  {label:<9} {}", clip(text, MAX_SHOWN).replace('\n', "\n            "))
}
