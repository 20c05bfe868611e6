//! What a transcript tells: its lines in a few words each, and the runs, turns, steps, tools and asks that stand in it as spans of
//! time. Pure; `trace/html.rs` and `trace/text.rs` show it.
//!
//! The runtime's lines are lifted by the dialect's UI role and the canon, exactly as when our UI is attached; the UI's lines by its
//! runtime role. A line that neither understands is still shown by its own words.

mod hands;
mod html;
mod lift;
#[cfg(test)]
mod tests;
mod text;
mod words;

use crate::notation::{Kind, Millis, RawBytes, Side, Step, Transcript};
use crate::pattern::{Bindings, Missing};
use domain::content::Usage;
use lift::Lift;
use roles::dialect::Dialect;

/// Lines of a transcript that are looked at; the rest is counted.
pub const MAX_LINES: usize = 50_000;

/// A transcript, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The wire.
    pub dialect: String,
    /// What the file says about itself.
    pub title: Option<String>,
    /// Every line, in order.
    pub lines: Vec<TraceLine>,
    /// What stands in them, in the order it began.
    pub spans: Vec<Span>,
    /// What it comes to.
    pub totals: Totals,
    /// Lines past [`MAX_LINES`].
    pub left_out: usize,
}

/// One line of the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// Milliseconds since the first line.
    pub at: u64,
    pub side: Side,
    /// On which lane.
    pub lane: u8,
    /// What it means, in a few words each.
    pub words: Vec<String>,
    /// How deep inside run, turn and step it stands.
    pub depth: usize,
    /// As it was said.
    pub raw: String,
}

/// What lasted from the start to the end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanKind {
    /// From a prompt to its end.
    Run,
    /// One input of a run.
    Turn,
    /// One answer of the model with its tools.
    Step,
    /// Until the model's first word of a step.
    Waiting,
    Message,
    /// A tool run.
    Tool,
    /// A question to the person.
    Ask,
}

/// Something that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub kind: SpanKind,
    /// What to call it.
    pub label: String,
    pub from: u64,
    /// When it ended; `None` when the transcript ends first.
    pub to: Option<u64>,
    /// How it ended, in a word or two.
    pub outcome: String,
    /// The line it began with.
    pub first_line: usize,
    /// The line it ended with, or the last one that told of it.
    pub last_line: usize,
}

/// What a transcript comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// From the first line to the last.
    pub millis: u64,
    /// While a question was open.
    pub person_millis: u64,
    /// While the model had not said a word yet.
    pub model_millis: u64,
    /// While a tool ran.
    pub tool_millis: u64,
    /// Tokens and cost, where the wire told them.
    pub usage: Usage,
    /// Lines that the UI said, and their bytes.
    pub from_ui: (usize, usize),
    /// Lines that the runtime said, and their bytes.
    pub from_runtime: (usize, usize),
}

impl SpanKind {
    /// All, outermost first.
    pub const ALL: [SpanKind; 7] = [
        SpanKind::Run,
        SpanKind::Turn,
        SpanKind::Step,
        SpanKind::Waiting,
        SpanKind::Message,
        SpanKind::Tool,
        SpanKind::Ask,
    ];

    /// As it stands in the trace's text and page.
    pub fn word(self) -> &'static str {
        match self {
            SpanKind::Run => "run",
            SpanKind::Turn => "turn",
            SpanKind::Step => "step",
            SpanKind::Waiting => "waiting",
            SpanKind::Message => "message",
            SpanKind::Tool => "tool",
            SpanKind::Ask => "ask",
        }
    }
}

impl Trace {
    /// Reads a transcript of a dialect.
    pub fn of(transcript: &Transcript, dialect: Dialect) -> Trace {
        let mut trace = Trace {
            dialect: dialect.name().to_owned(),
            title: transcript.heads.title.clone(),
            lines: Vec::new(),
            spans: Vec::new(),
            totals: Totals::default(),
            left_out: 0,
        };
        let mut lift = Lift::new(dialect, &transcript.heads);
        let mut bindings = Bindings::new();
        let mut at = 0;
        for step in &transcript.steps {
            at += step.after.unwrap_or_default().0;
            trace.step(step, at, &mut lift, &mut bindings);
            if let Kind::Wait(Millis(time)) = step.kind {
                at += time;
            }
        }
        trace.totals.millis = trace.lines.last().map_or(0, |line| line.at);
        trace.spans = lift.finish();
        trace.sum();
        trace
    }

    fn step(&mut self, step: &Step, at: u64, lift: &mut Lift, bindings: &mut Bindings) {
        let (side, lane, raw) = match &step.kind {
            Kind::Say(say) | Kind::Optional(say) => {
                let Ok(raw) = say.pattern.fill(bindings, Missing::Invent) else { return };
                (say.side, say.lane, raw)
            }
            Kind::Raw(raw) => {
                let text = match &raw.bytes {
                    RawBytes::Line(line) => line.clone(),
                    RawBytes::Exact(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                };
                (raw.side, raw.lane, text)
            }
            Kind::AnyOrder(steps) => {
                return steps.iter().for_each(|step| self.step(step, at, lift, bindings));
            }
            _ => return,
        };
        let count = match side {
            Side::Ui => &mut self.totals.from_ui,
            Side::Runtime => &mut self.totals.from_runtime,
        };
        *count = (count.0 + 1, count.1 + raw.len() + 1);
        if self.lines.len() >= MAX_LINES {
            self.left_out += 1;
            return;
        }
        let (words, depth) = lift.line(self.lines.len(), at, side, lane, &raw);
        self.lines.push(TraceLine { at, side, lane, words, depth, raw });
        self.totals.usage = lift.usage();
    }

    fn sum(&mut self) {
        let end = self.totals.millis;
        let lasting = |kind: SpanKind| union(self.spans.iter().filter(|span| span.kind == kind), end);
        self.totals.person_millis = lasting(SpanKind::Ask);
        self.totals.model_millis = lasting(SpanKind::Waiting);
        self.totals.tool_millis = lasting(SpanKind::Tool).saturating_sub(self.totals.person_millis);
    }

    /// How many spans of a kind there are.
    pub fn count(&self, kind: SpanKind) -> usize {
        self.spans.iter().filter(|span| span.kind == kind).count()
    }

    /// The totals as labelled words, for either view.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let t = &self.totals;
        let mut all = vec![("lasted", seconds(t.millis))];
        for kind in [SpanKind::Run, SpanKind::Turn, SpanKind::Step, SpanKind::Tool, SpanKind::Ask] {
            all.push((plural(kind), self.count(kind).to_string()));
        }
        all.push(("waited for the model", seconds(t.model_millis)));
        all.push(("waited for the person", seconds(t.person_millis)));
        all.push(("tools took", seconds(t.tool_millis)));
        if t.usage.total() > 0 {
            all.push(("tokens in", t.usage.input.to_string()));
            all.push(("tokens out", t.usage.output.to_string()));
        }
        if t.usage.cost_micros > 0 {
            all.push((
                "cost",
                format!("${}.{:06}", t.usage.cost_micros / 1_000_000, t.usage.cost_micros % 1_000_000),
            ));
        }
        all.push(("UI said", format!("{} lines, {} bytes", t.from_ui.0, t.from_ui.1)));
        all.push(("runtime said", format!("{} lines, {} bytes", t.from_runtime.0, t.from_runtime.1)));
        all
    }

    /// The page to look at: one file, nothing from elsewhere.
    pub fn to_html(&self) -> String {
        html::page(self)
    }
}

/// `1.234 s`
fn seconds(millis: u64) -> String {
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

fn plural(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Run => "runs",
        SpanKind::Turn => "turns",
        SpanKind::Step => "steps",
        SpanKind::Waiting => "waits",
        SpanKind::Message => "messages",
        SpanKind::Tool => "tools",
        SpanKind::Ask => "asks",
    }
}

/// How long at least one of the spans lasted. They come in the order they began.
fn union<'s>(spans: impl Iterator<Item = &'s Span>, end: u64) -> u64 {
    let (mut total, mut covered) = (0, 0);
    for span in spans {
        let (from, to) = (span.from.max(covered), span.to.unwrap_or(end));
        total += to.saturating_sub(from);
        covered = covered.max(to);
    }
    total
}
