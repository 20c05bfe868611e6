//! Makes a recording fit to be played again: what is made anew in every conversation (ids, times) becomes names and `...`.
//!
//! An id that the tested side said first becomes a name, everywhere it stands, so that the played side uses the one that comes this
//! time. What the played side said first stays as it is. Pure; a transcript that already has names keeps them.

use crate::notation::{Kind, Say, Side, Step, Transcript};
use crate::pattern::{Item, Pattern, Piece, Text};
use std::collections::BTreeMap;

/// Shorter ids are not searched for inside longer texts: they would hit by chance.
const MIN_INSIDE: usize = 8;
/// Numbers this large are taken for points in time, in milliseconds.
const FIRST_TIME: f64 = 1.0e12;

/// The transcript with ids as names and times as `...`, as seen from the side that is tested.
#[must_use]
pub fn loosen(transcript: &Transcript, tested: Side) -> Transcript {
    let mut ids = Ids { tested, known: BTreeMap::new(), count: 0 };
    let mut loose = transcript.clone();
    for step in &mut loose.steps {
        ids.step(step);
    }
    loose
}

struct Ids {
    tested: Side,
    /// By value: the name it got, or `None` when it stays as it is.
    known: BTreeMap<String, Option<String>>,
    count: usize,
}

impl Ids {
    fn step(&mut self, step: &mut Step) {
        match &mut step.kind {
            Kind::Say(say) | Kind::Optional(say) => self.say(say),
            Kind::AnyOrder(steps) => steps.iter_mut().for_each(|step| self.step(step)),
            _ => {}
        }
    }

    fn say(&mut self, say: &mut Say) {
        self.learn(None, &say.pattern, say.side);
        let tested = say.side == self.tested;
        self.rewrite(None, &mut say.pattern, tested);
    }

    /// Notes the ids of a line and who said them first.
    fn learn(&mut self, key: Option<&str>, value: &Pattern, side: Side) {
        match value {
            Pattern::Text(text) => {
                let Some(text) = whole(text).filter(|text| !text.is_empty()) else { return };
                if self.known.contains_key(&text) {
                    return;
                }
                if side != self.tested {
                    self.known.insert(text, None);
                } else if key.is_some_and(is_id) {
                    self.count += 1;
                    self.known.insert(text, Some(format!("id{}", self.count)));
                }
            }
            Pattern::Array(items) => items.iter().for_each(|item| {
                if let Item::One(value) = item {
                    self.learn(key, value, side);
                }
            }),
            Pattern::Object(object) => {
                object.members.iter().for_each(|(key, value)| self.learn(Some(key), value, side));
            }
            _ => {}
        }
    }

    fn rewrite(&self, key: Option<&str>, value: &mut Pattern, tested: bool) {
        match value {
            Pattern::Text(text) => {
                let Some(plain) = whole(text) else { return };
                match self.known.get(&plain) {
                    Some(Some(name)) => *value = Pattern::Name(name.clone()),
                    _ if tested && (key.is_some_and(is_time) || is_stamp(&plain)) => {
                        *value = Pattern::Anything;
                    }
                    _ => *text = self.inside(&plain),
                }
            }
            Pattern::Number(number) => {
                let large = number.to_string().parse::<f64>().is_ok_and(|number| number >= FIRST_TIME);
                if tested && (large || key.is_some_and(is_time)) {
                    *value = Pattern::Anything;
                }
            }
            Pattern::Array(items) => items.iter_mut().for_each(|item| {
                if let Item::One(value) = item {
                    self.rewrite(key, value, tested);
                }
            }),
            Pattern::Object(object) => {
                object.members.iter_mut().for_each(|(key, value)| self.rewrite(Some(key), value, tested));
            }
            _ => {}
        }
    }

    /// A text with the ids inside it as names.
    fn inside(&self, text: &str) -> Text {
        let mut pieces = vec![Piece::Plain(text.to_owned())];
        for (id, name) in &self.known {
            let Some(name) = name.as_ref().filter(|_| id.len() >= MIN_INSIDE && text.contains(id.as_str()))
            else {
                continue;
            };
            pieces = pieces.into_iter().flat_map(|piece| split(piece, id, name)).collect();
        }
        Text::from_pieces(pieces)
    }
}

fn split(piece: Piece, id: &str, name: &str) -> Vec<Piece> {
    let Piece::Plain(text) = piece else { return vec![piece] };
    let mut pieces = Vec::new();
    for (index, part) in text.split(id).enumerate() {
        if index > 0 {
            pieces.push(Piece::Name(name.to_owned()));
        }
        pieces.push(Piece::Plain(part.to_owned()));
    }
    pieces
}

/// A text without names, as it stands.
fn whole(text: &Text) -> Option<String> {
    match text.pieces() {
        [] => Some(String::new()),
        [Piece::Plain(plain)] => Some(plain.clone()),
        _ => None,
    }
}

fn is_id(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    lower.ends_with("id") || matches!(lower.as_str(), "session" | "digest")
}

fn is_time(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    ["_at", "_ms", "_time"].iter().any(|end| lower.ends_with(end))
        || key.ends_with("At")
        || matches!(
            lower.as_str(),
            "ts" | "at" | "time" | "timestamp" | "created" | "updated" | "hash" | "pid" | "uptime"
        )
        || lower.contains("duration")
        || lower.contains("elapsed")
}

/// `2026-01-31T…`
fn is_stamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 19
        && bytes.iter().take(4).all(u8::is_ascii_digit)
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':')]
            .iter()
            .all(|(at, sign)| bytes.get(*at) == Some(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_tested_side_become_names_and_times_anything() {
        let recorded = r#"> {"id":"1","method":"run.start"}
< {"id":"1","result":{"run_id":"run-abc12345","at":"2026-01-31T10:00:00Z","n":3}}
< {"method":"log","params":{"text":"see run-abc12345!","ms":1760000000000}}
> {"id":"2","params":{"run_id":"run-abc12345"}}
"#;
        let transcript = Transcript::parse(recorded).unwrap();
        let loose = loosen(&transcript, Side::Runtime).to_string();
        assert_eq!(
            loose,
            r#"> {"id":"1","method":"run.start"}
< {"id":"1","result":{"run_id":"$id1","at":...,"n":3}}
< {"method":"log","params":{"text":"see ${id1}!","ms":...}}
> {"id":"2","params":{"run_id":"$id1"}}
"#
        );
        assert!(Transcript::parse(&loose).is_ok());
        let as_ui = loosen(&transcript, Side::Ui).to_string();
        assert!(as_ui.contains(r#"{"id":"$id1","method":"run.start"}"#), "{as_ui}");
    }
}
