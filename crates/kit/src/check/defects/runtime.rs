//! What any runtime may get wrong, on every wire.

use super::{AtEnd, Defect, Filter, alike, by_chunk, dies_of, heard, json, locked, said, with_id_of};
use crate::check::wires::{End, Greeting, RuntimeWire};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use wire::lines::MAX_LINE;

/// Longest piece that is still taken for one that was torn on purpose.
const SHORT: usize = 1_000;

/// What runtimes of every wire may get wrong.
pub(super) fn defects(wire: &'static RuntimeWire) -> Vec<Defect> {
    let mut all = framing(wire);
    all.extend(runs(wire));
    if wire.cancel.is_some() {
        all.extend(cancels(wire));
    }
    if wire.asked.is_some() {
        all.extend(consents(wire));
    }
    if wire.ends_with_stdin {
        all.push(Defect::new("outlives its stdin", &["end-of-stdin"], || Filter {
            at_end: AtEnd::Stays,
            ..Filter::default()
        }));
    }
    all
}

fn framing(wire: &'static RuntimeWire) -> Vec<Defect> {
    let probed = |line: &Value| (0..64).any(|id| (wire.probed)(line, id));
    let mut all = vec![
        Defect::new("answers twice", &["answers"], move || {
            said(move |line| if probed(&line) { vec![line.clone(), line] } else { vec![line] })
        }),
        Defect::new("never answers", &["answers"], move || {
            said(move |line| if probed(&line) { vec![] } else { vec![line] })
        }),
        Defect::new("reads one request per piece", &["two-in-one-write"], || by_chunk(first_line)),
        Defect::new("takes a piece for a line", &["torn-line"], || by_chunk(whole_lines)),
        Defect::new("dies of blank lines", &["blank-lines"], || dies_of(|line| line.trim_ascii().is_empty())),
        Defect::new("dies of a carriage return", &["blank-lines"], || {
            dies_of(|line| line.len() > 3 && line.ends_with(b"\r\n"))
        }),
        Defect::new("dies of what is no JSON", &["garbage"], || {
            dies_of(|line| {
                let text = std::str::from_utf8(line).is_ok_and(|text| !text.trim().is_empty());
                text && line.len() < SHORT && json(line).is_none()
            })
        }),
        Defect::new("dies of bytes that are no text", &["not-utf8"], || {
            dies_of(|line| std::str::from_utf8(line).is_err())
        }),
        Defect::new("dies of long lines", &["oversized-line"], || dies_of(|line| line.len() > MAX_LINE)),
        Defect::new("logs to stdout", &["only-protocol"], move || {
            let mut logged = false;
            said(move |line| {
                let first = (wire.of_run)(&line) && !std::mem::replace(&mut logged, true);
                if first { vec![Value::from("INFO a run begins"), line] } else { vec![line] }
            })
        }),
    ];
    if !matches!(wire.greeting, Greeting::None) {
        all.push(Defect::new("does not greet", &["greets"], move || {
            said(move |line| if (wire.greeted)(&line) { vec![] } else { vec![line] })
        }));
    }
    all
}

fn runs(wire: &'static RuntimeWire) -> Vec<Defect> {
    let prompt = (wire.prompt)(0, "");
    let second = prompt.clone();
    vec![
        Defect::new("never ends a run", &["run-ends"], move || {
            said(move |line| {
                let over = (wire.ended)(&line).is_some() || (wire.last_word)(&line);
                if over { vec![] } else { vec![line] }
            })
        }),
        Defect::new("ends a run twice", &["run-ends"], move || {
            said(
                move |line| {
                    if (wire.ended)(&line).is_some() { vec![line.clone(), line] } else { vec![line] }
                },
            )
        }),
        Defect::new("speaks of a run after its end", &["run-ends"], move || {
            let mut before: Option<Value> = None;
            said(move |line| match (wire.ended)(&line) {
                Some(_) => std::iter::once(line).chain(before.take()).collect(),
                None if (wire.of_run)(&line) => before.replace(line).into_iter().collect(),
                None => vec![line],
            })
        }),
        Defect::new("is deaf after the first prompt", &["second-run"], move || {
            let (mut prompts, prompt) = (0, second.clone());
            heard(move |line| {
                prompts += usize::from(alike(&line, &prompt));
                if prompts > 1 { vec![] } else { vec![line] }
            })
        }),
        Defect::new("is deaf", &["run-ends", "slow-reader"], move || {
            let prompt = prompt.clone();
            heard(move |line| if alike(&line, &prompt) { vec![] } else { vec![line] })
        }),
        Defect::new("dies of a slow reader", &["slow-reader"], move || {
            // What it had said is lost with it.
            let mut told = false;
            let filter = said(move |line| {
                told |= (wire.of_run)(&line);
                if told { vec![with_weight(line)] } else { vec![line] }
            });
            Filter { impatient: true, ..filter }
        }),
    ]
}

/// A line that a reader has to take before the next one fits.
fn with_weight(line: Value) -> Value {
    match line {
        Value::Object(mut object) => {
            object.insert("weight".to_owned(), Value::from(" ".repeat(SHORT)));
            // As its last words nobody hears, it is not heard of again: what a run is called is gone.
            for key in ["type", "method", "event"] {
                object.remove(key);
            }
            Value::Object(object)
        }
        other => other,
    }
}

fn cancels(wire: &'static RuntimeWire) -> Vec<Defect> {
    let Some(cancel) = wire.cancel else { return Vec::new() };
    let cancel = move || cancel(0, &Value::from("a run"));
    vec![
        Defect::new("does not cancel", &["cancel", "cancel-nothing"], move || {
            // And what it does not know it dies of.
            let cancel = cancel();
            dies_of(move |line| json(line).is_some_and(|line| alike(&line, &cancel)))
        }),
        Defect::new("ends a cancelled run twice", &["cancel"], move || {
            said(move |line| match (wire.ended)(&line) {
                Some(End::Cancelled) => vec![line.clone(), line],
                _ => vec![line],
            })
        }),
        Defect::new("calls a cancel a failure", &["cancel"], move || {
            said(move |line| match (wire.ended)(&line) {
                Some(End::Cancelled) => vec![failed(line)],
                _ => vec![line],
            })
        }),
    ]
}

/// The line that ends a run, with another end.
fn failed(line: Value) -> Value {
    let text = line.to_string();
    let text = text.replace("\"cancelled\"", "\"error\"").replace("\"interrupted\"", "\"error\"");
    serde_json::from_str(&text).unwrap_or(line)
}

/// What is known of the question that is open.
type OpenQuestion = Arc<Mutex<Option<Value>>>;

/// Remembers the questions of the program while lines of the kit are changed.
fn asking(
    wire: &'static RuntimeWire,
    mut change: impl FnMut(Value, Option<&Value>) -> Vec<Value> + Send + 'static,
) -> Filter {
    let asked = OpenQuestion::default();
    let noting = asked.clone();
    let watching = said(move |line| {
        if let Some(ask) = wire.asked.and_then(|asked| asked(&line)) {
            *locked(&noting) = Some(ask);
        }
        vec![line]
    });
    let changing = heard(move |line| {
        let ask = locked(&asked).clone();
        change(line, ask.as_ref())
    });
    Filter { said: watching.said, ..changing }
}

/// Whether a line of the kit is this answer.
fn answers(wire: &RuntimeWire, line: &Value, ask: Option<&Value>, yes: bool) -> bool {
    ask.is_some_and(|ask| with_id_of((wire.answer)(0, ask, yes), line) == *line)
}

fn consents(wire: &'static RuntimeWire) -> Vec<Defect> {
    let turned = move |from: bool| {
        asking(wire, move |line, ask| match ask {
            Some(there) if answers(wire, &line, ask, from) => {
                vec![with_id_of((wire.answer)(0, there, !from), &line)]
            }
            _ => vec![line],
        })
    };
    let mut all = vec![
        Defect::new("takes a no for a yes", &["consent-no", "consent-twice"], move || turned(false)),
        Defect::new("takes a yes for a no", &["consent-yes"], move || turned(true)),
        Defect::new("lets the last answer count", &["consent-twice"], move || {
            asking(wire, move |line, ask| {
                // The first is put off until there is none after it: here, for ever.
                if answers(wire, &line, ask, false) { vec![] } else { vec![line] }
            })
        }),
        Defect::new("goes on when everybody has left", &["leave-while-asked"], move || {
            let yes: Arc<Mutex<Vec<Value>>> = Arc::default();
            let noting = yes.clone();
            let watching = said(move |line| {
                if let Some(ask) = wire.asked.and_then(|asked| asked(&line)) {
                    *locked(&noting) = vec![(wire.answer)(99, &ask, true)];
                }
                vec![line]
            });
            Filter { at_end: AtEnd::Says(yes), ..watching }
        }),
    ];
    if let Some(cancel) = wire.cancel {
        all.push(Defect::new("forgets a cancel while it asks", &["consent-after-cancel"], move || {
            let cancel = cancel(0, &Value::from("a run"));
            asking(
                wire,
                move |line, ask| {
                    if ask.is_some() && alike(&line, &cancel) { vec![] } else { vec![line] }
                },
            )
        }));
    }
    all
}

/// Only the first line of a piece that has several whole ones.
fn first_line(piece: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = piece.split_inclusive(|byte| *byte == b'\n').collect();
    let several = lines.len() == 2 && lines.iter().all(|line| json(line).is_some());
    match lines.first() {
        Some(first) if several => first.to_vec(),
        _ => piece.to_vec(),
    }
}

/// Nothing of a short piece that does not end a line. Long ones come in pieces however they are written.
fn whole_lines(piece: &[u8]) -> Vec<u8> {
    if piece.ends_with(b"\n") || piece.len() > SHORT { piece.to_vec() } else { Vec::new() }
}
