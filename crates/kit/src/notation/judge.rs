//! The judge of a run: which step is next, and whether what came is what the transcript expects.
//!
//! It is pure. Whoever plays a transcript asks [`Judge::advance`]; does what it is told (says the other side's lines,
//! moves the clock, presses keys), or waits and hands over what the tested side said with [`Judge::came`].
//!
//! Order: steps happen as written; expected lines that stand together, with nothing to do between them, form one
//! window. Within a window each lane has its own order, a block has none, and an optional line is accepted from its
//! place on until the end. Every expected line gets exactly one outcome, unless it was optional and never came.

use super::{Came, Kind, Outcome, Raw, Side, Step, Transcript, Verdict};
use crate::pattern::{Bindings, Mismatch, matches};

/// What has to happen now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<'t> {
    /// The tested side has to say something: wait for it and hand it to [`Judge::came`].
    Await,
    Do(&'t Step),
    /// The transcript is over.
    Done,
}

/// Follows a transcript while one side is tested.
#[derive(Debug)]
pub struct Judge<'t> {
    tested: Side,
    /// All steps, blocks laid flat.
    plan: Vec<Planned<'t>>,
    at: usize,
    window: Vec<Planned<'t>>,
    bindings: Bindings,
    outcomes: Vec<Outcome>,
    /// The end of the last step that was done or met, where an unexpected line belongs.
    reached: usize,
}

#[derive(Debug, Clone, Copy)]
struct Planned<'t> {
    step: &'t Step,
    /// The line its block begins on.
    block: Option<usize>,
    /// The line its block, or else the step, ends on.
    ends: usize,
}

impl<'t> Judge<'t> {
    /// A judge of this side's lines.
    pub fn new(transcript: &'t Transcript, tested: Side) -> Self {
        let mut plan = Vec::new();
        for step in &transcript.steps {
            match &step.kind {
                Kind::Note(_) => {}
                Kind::AnyOrder(inner) => {
                    let said = inner.iter().filter(|step| step.say().is_some());
                    plan.extend(said.map(|inner| Planned {
                        step: inner,
                        block: Some(step.line_no),
                        ends: step.last_line,
                    }));
                }
                _ => plan.push(Planned { step, block: None, ends: step.last_line }),
            }
        }
        Self {
            tested,
            plan,
            at: 0,
            window: Vec::new(),
            bindings: Bindings::new(),
            outcomes: Vec::new(),
            reached: 0,
        }
    }

    /// What has to happen now. A step to do is given out once.
    pub fn advance(&mut self) -> Next<'t> {
        while let Some(planned) = self.plan.get(self.at).copied() {
            if planned.awaited(self.tested) {
                self.window.push(planned);
                self.at += 1;
                continue;
            }
            if self.waits() {
                return Next::Await;
            }
            self.at += 1;
            self.reached = planned.ends;
            return Next::Do(planned.step);
        }
        if self.waits() { Next::Await } else { Next::Done }
    }

    /// The tested side said something on a lane.
    pub fn came(&mut self, lane: u8, came: Came) {
        let candidates = self.candidates(lane);
        let mut first_miss = None;
        for &index in &candidates {
            let Some(planned) = self.window.get(index).copied() else { continue };
            match planned.fits(&came, &mut self.bindings) {
                Ok(()) => {
                    self.settle(index, Verdict::Met);
                    return;
                }
                Err(why) if !planned.optional() && first_miss.is_none() => first_miss = Some((index, why)),
                Err(_) => {}
            }
        }
        match first_miss {
            Some((index, why)) => self.settle(index, Verdict::Differs { came, why }),
            None => self.outcomes.push(Outcome {
                line_no: self.reached,
                verdict: Verdict::Unexpected { side: self.tested, lane, came },
            }),
        }
    }

    /// Nothing more will come for what is awaited now: the time is over, or the peer is gone.
    pub fn gave_up(&mut self, why: &str) {
        for planned in std::mem::take(&mut self.window) {
            if planned.optional() {
                self.window.push(planned);
            } else {
                let verdict = Verdict::Missing { why: why.to_owned() };
                self.outcomes.push(Outcome { line_no: planned.step.line_no, verdict });
            }
        }
    }

    /// Notes the outcome of a step that the player judges itself: an event, a screen.
    pub fn note(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// What names stand for so far; also to be used where lines are sent.
    pub fn bindings(&mut self) -> &mut Bindings {
        &mut self.bindings
    }

    /// What was found so far, in the order it happened.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    fn waits(&self) -> bool {
        self.window.iter().any(|planned| !planned.optional())
    }

    fn settle(&mut self, index: usize, verdict: Verdict) {
        let planned = self.window.remove(index);
        self.reached = self.reached.max(planned.ends);
        self.outcomes.push(Outcome { line_no: planned.step.line_no, verdict });
    }

    /// The places in the window that a line on this lane may fill: the first required line, its block with it, and
    /// optional lines up to there. Required lines come first, so that an optional one takes nothing from them.
    fn candidates(&self, lane: u8) -> Vec<usize> {
        let (mut required, mut optional, mut first) = (Vec::new(), Vec::new(), None);
        for (index, planned) in self.window.iter().enumerate().filter(|(_, planned)| planned.lane() == lane) {
            match first {
                Some(None) => break,
                Some(block) if planned.block != block => break,
                _ if planned.optional() => optional.push(index),
                _ => {
                    first = Some(planned.block);
                    required.push(index);
                }
            }
        }
        required.extend(optional);
        required
    }
}

impl Planned<'_> {
    fn awaited(&self, tested: Side) -> bool {
        match &self.step.kind {
            Kind::Say(say) | Kind::Optional(say) => say.side == tested,
            Kind::Raw(raw) => raw.side == tested,
            _ => false,
        }
    }

    fn optional(&self) -> bool {
        matches!(self.step.kind, Kind::Optional(_))
    }

    fn lane(&self) -> u8 {
        match &self.step.kind {
            Kind::Say(say) | Kind::Optional(say) => say.lane,
            Kind::Raw(raw) => raw.lane,
            _ => 0,
        }
    }

    fn fits(&self, came: &Came, bindings: &mut Bindings) -> Result<(), Mismatch> {
        let expected = match (&self.step.kind, came) {
            (Kind::Say(say) | Kind::Optional(say), Came::Json(value)) => {
                return matches(&say.pattern, value, bindings);
            }
            (Kind::Raw(raw), Came::Text(text)) if raw_is(raw, text) => return Ok(()),
            (Kind::Say(say) | Kind::Optional(say), Came::Text(_)) => say.pattern.to_string(),
            (kind, _) => kind.to_string(),
        };
        Err(Mismatch { path: String::new(), expected, got: came.to_string() })
    }
}

/// A raw line that came is known as text, so bytes compare as they would be shown.
fn raw_is(raw: &Raw, text: &str) -> bool {
    let wire = raw.bytes.to_wire();
    let line = wire.strip_suffix(b"\n").unwrap_or(&wire);
    String::from_utf8_lossy(line) == text
}
