//! Rewriting a transcript's text by what came: the update of expectations with one command.
//!
//! Only lines with an outcome that is not [`Verdict::Met`] change; comments, spacing and every pattern that still
//! matches stay as they are written. Missing lines go, unexpected ones are put where they came.

use std::collections::BTreeMap;

use super::{
    Came, Kind, NotationError, Outcome, Raw, RawBytes, Say, Screen, Side, Step, Transcript, Verdict,
};
use crate::pattern::{Bindings, Pattern};

/// The text with expectations that fit what came. Names that are bound stay names where their value came.
pub fn accept(text: &str, outcomes: &[Outcome], bindings: &Bindings) -> Result<String, NotationError> {
    let transcript = Transcript::parse(text)?;
    let heads_end =
        transcript.steps.first().map_or(text.lines().count(), |step| step.line_no.saturating_sub(1));
    let mut edits = Edits::default();
    for outcome in outcomes {
        let step = find(&transcript.steps, outcome.line_no);
        match (&outcome.verdict, step) {
            (Verdict::Unexpected { side, lane, came }, _) => {
                let kind = new_line(*side, *lane, came, bindings);
                edits.added.entry(outcome.line_no.max(heads_end)).or_default().push(kind.to_string());
            }
            (Verdict::Differs { came, .. }, Some(step)) => {
                let after = step.after;
                let kind = rewritten(&step.kind, came, bindings);
                edits.replace(step, Some(Step { after, ..Step::new(kind) }.to_string()));
            }
            (Verdict::Missing { .. }, Some(step)) => edits.replace(step, None),
            (Verdict::Met, _) | (_, None) => {}
        }
    }
    Ok(edits.apply(text))
}

fn find(steps: &[Step], line_no: usize) -> Option<&Step> {
    steps.iter().find_map(|step| match &step.kind {
        Kind::AnyOrder(inner) => find(inner, line_no),
        _ if step.line_no == line_no => Some(step),
        _ => None,
    })
}

fn rewritten(kind: &Kind, came: &Came, bindings: &Bindings) -> Kind {
    match (kind, came) {
        (Kind::Say(say), Came::Json(value)) => {
            Kind::Say(Say { pattern: say.pattern.adapt(value, bindings), ..say.clone() })
        }
        (Kind::Optional(say), Came::Json(value)) => {
            Kind::Optional(Say { pattern: say.pattern.adapt(value, bindings), ..say.clone() })
        }
        (Kind::Say(say) | Kind::Optional(say), came) => new_line(say.side, say.lane, came, bindings),
        (Kind::Raw(raw), came) => new_line(raw.side, raw.lane, came, bindings),
        (Kind::Event(_), came) => Kind::Event(came.to_string().trim().replace('\n', " ")),
        (Kind::Screen(screen), came) => {
            let mut lines: Vec<_> = came.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
            while lines.last().is_some_and(String::is_empty) {
                lines.pop();
            }
            Kind::Screen(Screen { size: screen.size, lines })
        }
        (other, _) => other.clone(),
    }
}

fn new_line(side: Side, lane: u8, came: &Came, bindings: &Bindings) -> Kind {
    match came {
        Came::Json(value) => {
            Kind::Say(Say { side, lane, pattern: Pattern::literal_with_names(value, bindings) })
        }
        Came::Text(text) => Kind::Raw(Raw { side, lane, bytes: RawBytes::line(text.as_bytes()) }),
    }
}

/// Changes by line number.
#[derive(Default)]
struct Edits {
    /// First line → last line and what stands there instead.
    replaced: BTreeMap<usize, (usize, Option<String>)>,
    /// Lines to put after a line.
    added: BTreeMap<usize, Vec<String>>,
}

impl Edits {
    fn replace(&mut self, step: &Step, with: Option<String>) {
        self.replaced.insert(step.line_no, (step.last_line, with));
    }

    fn apply(&self, text: &str) -> String {
        let mut out: Vec<&str> = Vec::new();
        out.extend(self.added.get(&0).into_iter().flatten().map(String::as_str));
        let mut gone_until = 0;
        for (line_no, line) in (1..).zip(text.lines()) {
            if let Some((last, with)) = self.replaced.get(&line_no) {
                gone_until = *last;
                out.extend(with.as_deref());
            }
            if line_no > gone_until {
                out.push(line);
            }
            out.extend(self.added.get(&line_no).into_iter().flatten().map(String::as_str));
        }
        out.push("");
        out.join("\n")
    }
}
