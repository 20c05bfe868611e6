//! A trace as text: what it comes to, then every line with its time, direction and words.

use super::{SpanKind, Trace, seconds};
use crate::notation::Side;
use std::fmt;

/// Columns between levels.
const INDENT: usize = 2;

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dialect)?;
        if let Some(title) = &self.title {
            write!(f, " · {title}")?;
        }
        writeln!(f)?;
        let summary: Vec<String> =
            self.summary().into_iter().map(|(label, value)| format!("{label} {value}")).collect();
        writeln!(f, "{}\n", summary.join(" · "))?;
        for line in &self.lines {
            let sign = match line.side {
                Side::Ui => '>',
                Side::Runtime => '<',
            };
            let lane = if line.lane == 0 { " ".to_owned() } else { line.lane.to_string() };
            let time = format!("{}.{:03}", line.at / 1000, line.at % 1000);
            let indent = " ".repeat(line.depth * INDENT);
            writeln!(f, "{time:>9}  {sign}{lane} {indent}{}", line.words.join(" · "))?;
        }
        if self.left_out > 0 {
            writeln!(f, "… and {} lines more", self.left_out)?;
        }
        let telling: Vec<_> =
            self.spans.iter().filter(|span| matches!(span.kind, SpanKind::Tool | SpanKind::Ask)).collect();
        if !telling.is_empty() {
            writeln!(f)?;
        }
        for span in telling {
            let lasted = span.to.map_or_else(|| "open".to_owned(), |to| seconds(to - span.from));
            writeln!(f, "{:>9}  {:<4} {:<11} {}", lasted, span.kind.word(), span.outcome, span.label)?;
        }
        Ok(())
    }
}
