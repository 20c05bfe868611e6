//! Ways to get something wrong, of which a wire makes the defects that only it can have.

use super::{Defect, dies_of, heard, json, said};
use serde_json::Value;

/// Puts something in a place of every line that has it.
pub(crate) fn sets(
    name: &'static str,
    found_by: &'static [&'static str],
    place: &'static str,
    to: fn(&Value) -> Value,
) -> Defect {
    Defect::new(name, found_by, move || {
        said(move |mut line| {
            if let Some(at) = line.pointer_mut(place) {
                *at = to(at);
            }
            vec![line]
        })
    })
}

/// Says some lines not at all.
pub(crate) fn omits(
    name: &'static str,
    found_by: &'static [&'static str],
    which: fn(&Value) -> bool,
) -> Defect {
    Defect::new(name, found_by, move || said(move |line| if which(&line) { vec![] } else { vec![line] }))
}

/// Holds a line back until another is said.
pub(crate) fn swaps(
    name: &'static str,
    found_by: &'static [&'static str],
    which: fn(&Value) -> bool,
    until: fn(&Value) -> bool,
) -> Defect {
    Defect::new(name, found_by, move || {
        let mut held: Option<Value> = None;
        said(move |line| match which(&line) {
            true => held.replace(line).into_iter().collect(),
            false if until(&line) => std::iter::once(line).chain(held.take()).collect(),
            false => vec![line],
        })
    })
}

/// Does not hear some lines.
pub(crate) fn ignores(
    name: &'static str,
    found_by: &'static [&'static str],
    which: fn(&Value) -> bool,
) -> Defect {
    Defect::new(name, found_by, move || heard(move |line| if which(&line) { vec![] } else { vec![line] }))
}

/// Dies of some lines.
pub(crate) fn dies(
    name: &'static str,
    found_by: &'static [&'static str],
    which: fn(&Value) -> bool,
) -> Defect {
    Defect::new(name, found_by, move || dies_of(move |line| json(line).is_some_and(|line| which(&line))))
}

/// Whether this text stands at a place of a line.
pub(crate) fn is(line: &Value, place: &str, text: &str) -> bool {
    line.pointer(place).and_then(Value::as_str) == Some(text)
}
