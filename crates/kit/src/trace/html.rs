//! A trace as one page of HTML: a timeline of spans above the lines they stand in. The page is a template with one block of data.
//!
//! Invariants: nothing is fetched from elsewhere; whatever stands in the data cannot become markup.

use super::{SpanKind, Trace};
use crate::notation::Side;
use crate::pattern::clip;
use serde_json::{Value, json};

const PAGE: &str = include_str!("page.html");
/// Where the data goes.
const DATA: &str = "__DATA__";
/// Where the title goes.
const TITLE: &str = "__TITLE__";
/// How much of one line the page carries.
const MAX_RAW: usize = 16 * 1024;

/// The trace as one page that needs nothing else.
pub(super) fn page(trace: &Trace) -> String {
    let title = trace.title.as_deref().unwrap_or("a conversation");
    let title = format!("{title} · {}", trace.dialect);
    // The template is trusted; the title goes in first, so that nothing in the data can stand for it.
    PAGE.replacen(TITLE, &escaped(&title), 1).replacen(DATA, &embedded(&data(trace)), 1)
}

fn data(trace: &Trace) -> Value {
    let lines: Vec<Value> = trace
        .lines
        .iter()
        .map(|line| {
            let side = if line.side == Side::Ui { "ui" } else { "rt" };
            json!([line.at, side, line.lane, line.depth, line.words, clip(&line.raw, MAX_RAW)])
        })
        .collect();
    let spans: Vec<Value> = trace
        .spans
        .iter()
        .map(|span| {
            json!([
                span.kind.word(),
                span.label,
                span.from,
                span.to,
                span.outcome,
                span.first_line,
                span.last_line
            ])
        })
        .collect();
    let kinds: Vec<&str> = SpanKind::ALL.iter().map(|kind| kind.word()).collect();
    json!({
        "dialect": trace.dialect,
        "title": trace.title,
        "millis": trace.totals.millis,
        "summary": trace.summary(),
        "kinds": kinds,
        "lines": lines,
        "spans": spans,
        "leftOut": trace.left_out,
    })
}

/// JSON that is safe inside a script element.
fn embedded(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
