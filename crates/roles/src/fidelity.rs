//! Fidelity tables: for every item of the vocabulary, how a dialect carries it.

use crate::item::Item;

/// How an item is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fidelity {
    /// Survives lower and lift unchanged.
    Exact,
    /// Carried another way: how.
    Emulated(&'static str),
    /// Not carried: why that is bearable.
    Dropped(&'static str),
    /// Refused with the dialect's own error: why.
    Refused(&'static str),
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub item: Item,
    /// Where the document or the programs say so.
    pub wire: &'static str,
    /// How it is carried.
    pub fidelity: Fidelity,
}

/// A deviation of an existing program from its own document, and what we do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// A short name.
    pub name: &'static str,
    /// What the program does.
    pub what: &'static str,
    /// What we do.
    pub ours: &'static str,
}

/// Items that do not have exactly one row: there must be none.
pub fn holes(table: &[Row]) -> Vec<Item> {
    let rows = |item: Item| table.iter().filter(|row| row.item == item).count();
    Item::ALL.iter().copied().filter(|item| rows(*item) != 1).collect()
}

/// What becomes of an item on its way over two wires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// It arrives as it was.
    Exact,
    /// It arrives another way: how.
    Emulated(String),
    /// It does not arrive: why that is bearable.
    Dropped(String),
    /// It is refused: why.
    Refused(String),
}

/// What becomes of each item between a UI of one wire and a runtime of another: the weaker of the two decides.
pub fn pair(ui: &[Row], runtime: &[Row]) -> Vec<(Item, Carried)> {
    let row = |table: &[Row], item: Item| table.iter().find(|row| row.item == item).map(|row| row.fidelity);
    let carried = |item: &Item| {
        let both = [row(ui, *item), row(runtime, *item)];
        let words = |pick: fn(Fidelity) -> Option<&'static str>| {
            let said: Vec<&str> = both.iter().flatten().filter_map(|fidelity| pick(*fidelity)).collect();
            (!said.is_empty()).then(|| said.join("; "))
        };
        let refused = words(|fidelity| match fidelity {
            Fidelity::Refused(why) => Some(why),
            Fidelity::Exact | Fidelity::Emulated(_) | Fidelity::Dropped(_) => None,
        });
        let dropped = words(|fidelity| match fidelity {
            Fidelity::Dropped(why) => Some(why),
            Fidelity::Exact | Fidelity::Emulated(_) | Fidelity::Refused(_) => None,
        });
        let emulated = words(|fidelity| match fidelity {
            Fidelity::Emulated(how) => Some(how),
            Fidelity::Exact | Fidelity::Dropped(_) | Fidelity::Refused(_) => None,
        });
        let how = match (refused, dropped, emulated) {
            (Some(why), _, _) => Carried::Refused(why),
            (None, Some(why), _) => Carried::Dropped(why),
            (None, None, Some(how)) => Carried::Emulated(how),
            (None, None, None) => Carried::Exact,
        };
        (*item, how)
    };
    Item::ALL.iter().map(carried).collect()
}
