//! Planted defects: what a program might get wrong, led between it and the kit, so that the kit itself can be tested.
//!
//! Each defect says which scenarios find it. Most are the same on every wire: they know the wire's lines by the same tables that the
//! scenarios use, so a table that recognises nothing plants nothing and is found out. Invariant: a defect changes what passes; it never
//! looks at what the scenario is.

mod channel;
pub(crate) mod making;
mod runtime;
mod ui;

use super::Tested;
use super::wires;
use crate::peer::Peer;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What a program gets wrong, and which scenarios find it.
pub struct Defect {
    /// What is wrong, in a few words.
    pub name: &'static str,
    /// The scenarios that must turn red.
    pub found_by: &'static [&'static str],
    make: Box<dyn Fn() -> Filter + Send + Sync>,
}

impl Defect {
    /// Everything that can be planted in a program of this wire and role.
    pub fn all(dialect: &str, tested: Tested) -> Vec<Defect> {
        match tested {
            Tested::Runtime => {
                let Some(wire) = wires::runtime(dialect) else { return Vec::new() };
                let mut all = runtime::defects(wire);
                all.extend((wire.defects)());
                all
            }
            Tested::Ui => wires::ui(dialect).map(ui::defects).unwrap_or_default(),
        }
    }

    /// What a runtime of this wire may do and does not have to: no defect, and no scenario may take it for one.
    pub fn permitted(dialect: &str) -> Vec<Defect> {
        wires::runtime(dialect).map(|wire| (wire.permitted)()).unwrap_or_default()
    }

    /// The program with this defect.
    #[must_use]
    pub fn plant(&self, peer: Peer) -> Peer {
        channel::lead(peer, (self.make)())
    }

    pub(super) fn new(
        name: &'static str,
        found_by: &'static [&'static str],
        make: impl Fn() -> Filter + Send + Sync + 'static,
    ) -> Defect {
        Defect { name, found_by, make: Box::new(make) }
    }
}

/// A liberty: something that passes unnoticed.
pub(super) fn liberty(name: &'static str, make: impl Fn() -> Filter + Send + Sync + 'static) -> Defect {
    Defect::new(name, &[], make)
}

/// Changes the JSON lines of both sides.
pub(super) fn both(
    on_said: impl FnMut(Value) -> Vec<Value> + Send + 'static,
    on_heard: impl FnMut(Value) -> Vec<Value> + Send + 'static,
) -> Filter {
    Filter { said: said(on_said).said, ..heard(on_heard) }
}

/// What becomes of something that passes.
pub(super) enum Fate {
    /// These lines pass instead.
    Pass(Vec<Vec<u8>>),
    /// The program dies of it.
    Dies,
}

type OnLine = Box<dyn FnMut(&[u8]) -> Fate + Send>;
type OnChunk = Box<dyn FnMut(&[u8]) -> Vec<u8> + Send>;

/// What stands between the kit and the program.
#[derive(Default)]
pub(super) struct Filter {
    /// With each line of the program.
    said: Option<OnLine>,
    /// With each line of the kit.
    heard: Option<OnLine>,
    /// With each piece of the kit, before it is cut into lines.
    chunk: Option<OnChunk>,
    at_end: AtEnd,
    /// Dies when nobody reads for a while.
    impatient: bool,
}

/// What happens when the kit leaves.
#[derive(Default)]
pub(super) enum AtEnd {
    #[default]
    Ends,
    /// The program never learns of it.
    Stays,
    /// The program hears these before.
    Says(Arc<Mutex<Vec<Value>>>),
    /// The program crashes.
    Dies,
}

/// Changes the JSON lines of the program.
pub(super) fn said(mut change: impl FnMut(Value) -> Vec<Value> + Send + 'static) -> Filter {
    let said: OnLine = Box::new(move |line| match json(line) {
        Some(value) => Fate::Pass(change(value).iter().map(written).collect()),
        None => Fate::Pass(vec![line.to_vec()]),
    });
    Filter { said: Some(said), ..Filter::default() }
}

/// Changes the JSON lines of the kit.
pub(super) fn heard(mut change: impl FnMut(Value) -> Vec<Value> + Send + 'static) -> Filter {
    let heard: OnLine = Box::new(move |line| match json(line) {
        Some(value) => Fate::Pass(change(value).iter().map(written).collect()),
        None => Fate::Pass(vec![line.to_vec()]),
    });
    Filter { heard: Some(heard), ..Filter::default() }
}

/// Dies of some lines of the kit.
fn dies_of(mut of: impl FnMut(&[u8]) -> bool + Send + 'static) -> Filter {
    let heard: OnLine =
        Box::new(move |line| if of(line) { Fate::Dies } else { Fate::Pass(vec![line.to_vec()]) });
    Filter { heard: Some(heard), ..Filter::default() }
}

/// Treats every piece that arrives as it likes.
fn by_chunk(change: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static) -> Filter {
    Filter { chunk: Some(Box::new(change)), ..Filter::default() }
}

/// A text that is no JSON where a line of the program was: it is written as it is.
fn written(value: &Value) -> Vec<u8> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{text}\n").into_bytes()
}

fn json(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok()
}

/// The shared value, also after a panic elsewhere: a defect only changes lines.
pub(super) fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether two lines are of one sort: the same keys, and the same words where words say what a line is.
pub(super) fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| match other.get(key) {
                    None => false,
                    Some(there) if matches!(key.as_str(), "type" | "method" | "kind" | "status") => {
                        value == there
                    }
                    Some(there) => alike(value, there),
                })
        }
        (Value::Object(_), _) | (_, Value::Object(_)) => false,
        _ => true,
    }
}

/// The line with the id of another, where both have one.
fn with_id_of(mut line: Value, other: &Value) -> Value {
    for place in ["/id", "/command/ticket"] {
        if let (Some(at), Some(id)) = (line.pointer_mut(place), other.pointer(place)) {
            *at = id.clone();
        }
    }
    line
}
