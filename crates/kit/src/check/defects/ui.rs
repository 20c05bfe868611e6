//! What any UI may get wrong, on every wire.

use super::{AtEnd, Defect, Filter, by_chunk, dies_of, json, said};
use crate::check::ui::ASK;
use crate::check::wires::UiWire;
use crate::pattern::{Bindings, Pattern, matches};
use serde_json::Value;
use wire::lines::MAX_LINE;

/// Longest piece that is taken for one that was torn on purpose.
const PIECE: usize = 16;

/// What UIs of every wire may get wrong.
pub(super) fn defects(wire: &'static UiWire) -> Vec<Defect> {
    let lines = move |part: &str| -> Vec<&'static Pattern> {
        wire.lines(part).into_iter().map(|(_, line)| line).collect()
    };
    let mut all = vec![
        Defect::new("says no prompt", &["prompts"], move || {
            said(
                move |line| {
                    if wire.prompt(&line, &mut Bindings::new()).is_some() { vec![] } else { vec![line] }
                },
            )
        }),
        Defect::new("says an empty prompt", &["prompts"], move || {
            said(move |line| match wire.prompt(&line, &mut Bindings::new()) {
                Some(text) => vec![emptied(line, &text)],
                None => vec![line],
            })
        }),
        Defect::new("dies of the end of a run", &["whole-run"], move || {
            let ends = lines("end");
            dies_of(move |line| is_one_of(line, &ends))
        }),
        Defect::new("dies of a failure", &["failed-run"], move || {
            let ends = lines("end");
            let fails: Vec<&Pattern> =
                lines("fail").into_iter().filter(|line| !ends.contains(line)).collect();
            dies_of(move |line| is_one_of(line, &fails))
        }),
        Defect::new("dies of unknown words", &["unknown-words"], move || {
            let unknown = lines("unknown");
            dies_of(move |line| is_one_of(line, &unknown))
        }),
        Defect::new("dies of what is no JSON", &["garbage"], || {
            dies_of(|line| line.starts_with(b"not json"))
        }),
        Defect::new("dies of long lines", &["oversized-line"], || dies_of(|line| line.len() > MAX_LINE)),
        Defect::new("takes a piece for a line", &["torn-lines"], || {
            // What is left of a line without its beginning is no JSON: it dies of it.
            let by_piece = by_chunk(|piece| {
                if piece.ends_with(b"\n") || piece.len() > PIECE { piece.to_vec() } else { b"?\n".to_vec() }
            });
            let dying = dies_of(|line| line == b"?\n");
            Filter { heard: dying.heard, ..by_piece }
        }),
        Defect::new("dies with its runtime", &["runtime-dies"], || Filter {
            at_end: AtEnd::Dies,
            ..Filter::default()
        }),
        Defect::new("dies of a second end", &["after-the-end"], move || {
            let (ends, mut seen) = (lines("end"), 0);
            let last: Vec<&Pattern> = ends.last().copied().into_iter().collect();
            dies_of(move |line| {
                seen += usize::from(is_one_of(line, &last));
                seen > 1
            })
        }),
        Defect::new("logs to its runtime", &["only-protocol"], move || {
            said(move |line| match wire.prompt(&line, &mut Bindings::new()) {
                Some(_) => vec![line, Value::from("INFO prompt sent")],
                None => vec![line],
            })
        }),
    ];
    let asks = lines("ask");
    if !asks.is_empty() {
        all.push(Defect::new("answers twice", &["answers-once"], move || {
            said(move |line| match wire.answered(&line, ASK) {
                Some(_) => vec![line.clone(), line],
                None => vec![line],
            })
        }));
        all.push(Defect::new("never answers", &["answers-once"], move || {
            said(move |line| match wire.answered(&line, ASK) {
                Some(_) => vec![],
                None => vec![line],
            })
        }));
        all.push(Defect::new("dies of a question that is withdrawn", &["question-withdrawn"], move || {
            let (asks, ends, mut open) = (asks.clone(), lines("end"), false);
            dies_of(move |line| {
                open |= is_one_of(line, &asks);
                open && is_one_of(line, &ends)
            })
        }));
    }
    all
}

/// Whether a line is one of these, whatever its id and number.
fn is_one_of(line: &[u8], lines: &[&Pattern]) -> bool {
    let mut names = Bindings::new();
    names.bind("ask", Value::from(ASK));
    json(line).is_some_and(|line| lines.iter().any(|other| matches(other, &line, &mut names.clone()).is_ok()))
}

/// A line with nothing where this text stood.
fn emptied(line: Value, text: &str) -> Value {
    match line {
        Value::String(said) if said == text => Value::from(""),
        Value::Array(items) => items.into_iter().map(|item| emptied(item, text)).collect(),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(key, value)| (key, emptied(value, text))).collect())
        }
        other => other,
    }
}
